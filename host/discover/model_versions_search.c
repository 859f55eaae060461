/* model_versions_search.c - slices in the errors of both versions together, or of each version outside each part. */
#include "discover/model_versions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/search.h"
#include "discover/subject_memory.h"
#include "discover/vote.h"

/* ---- parts and their complements ---- */

/* part (n): the part of each row, each class divided by itself; rows of several classes are divided together. */
static spot_status divide_rows(spot_ctx *c, int *part, const spot_subject *s, const spot_versions_options *o)
{
    uint32_t *order = malloc((size_t)s->n * sizeof *order);
    int *row = malloc((size_t)s->n * sizeof *row);

    for (int k = 0; order && row && k < (s->target ? s->classes : 1); k++) {
        spot_rng r = spot_rng_at(o->seed, SPOT_RNG_VERSIONS, (uint32_t)k, 0);
        int n = 0;
        for (int i = 0; i < s->n; i++)
            if (!s->target || s->target[i] == k) row[n++] = i;
        if (n) spot_rng_shuffle(&r, order, (uint32_t)n);
        for (int i = 0; i < n; i++) part[row[order[i]]] = i % o->rotations;
    }
    if (!order || !row) {
        free(order), free(row);
        return spot_fail(c, SPOT_NOMEM, "no memory to divide %d rows", s->n);
    }
    free(order), free(row);
    return SPOT_OK;
}

/* A search: rows outside a part, seen by one version. */
typedef struct {
    spot_ctx *c;
    const spot_subject *const *s;
    const spot_versions_options *o;
    spot_carried_list *list;
    int *part;                 /* (n) */
    int  rotation, version;
    int *outside, n;           /* (n): rows outside the part */
    spot_subject seen;
    spot_arena arena;          /* of `outside` and `seen` */
} outside_search;

/* to: the rows of an array of `each` numbers a row; NULL stays NULL. */
static spot_status take_rows(outside_search *q, void **to, const void *from, size_t each)
{
    unsigned char *bytes;

    *to = NULL;
    if (!from) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(q->c, &q->arena, bytes, (size_t)q->n * each));
    *to = bytes;
    for (int i = 0; i < q->n && bytes; i++)
        memcpy(bytes + (size_t)i * each, (const unsigned char *)from + (size_t)q->outside[i] * each, each);
    return SPOT_OK;
}

/* The answers of the current version on the rows outside the part. */
static spot_status take_answers(outside_search *q)
{
    const spot_subject *s = q->s[q->version];

    SPOT_TRY(take_rows(q, (void **)&q->seen.prob, s->prob, (size_t)s->classes * sizeof *s->prob));
    SPOT_TRY(take_rows(q, (void **)&q->seen.confidence, s->confidence, sizeof *s->confidence));
    SPOT_TRY(take_rows(q, (void **)&q->seen.predicted, s->predicted, sizeof *s->predicted));
    q->seen.head = q->version ? NULL : s->head;
    return SPOT_OK;
}

static spot_status take_labels(outside_search *q)
{
    const spot_subject *s = q->s[0];

    q->seen = (spot_subject){ .n = q->n, .d = s->d, .classes = s->classes, .class_name = s->class_name };
    memcpy(q->seen.encoder, s->encoder, sizeof s->encoder);
    snprintf(q->seen.source, sizeof q->seen.source, "%d of %d rows", q->n, s->n);
    SPOT_TRY(take_rows(q, (void **)&q->seen.feature, s->feature, (size_t)s->d * sizeof *s->feature));
    SPOT_TRY(take_rows(q, (void **)&q->seen.target, s->target, sizeof *s->target));
    return take_rows(q, (void **)&q->seen.has, s->has, (size_t)s->classes);
}

/* ---- from a search to the part ---- */

static spot_status add_piece(outside_search *q, spot_carried *piece)
{
    spot_carried_list *l = q->list;

    if (l->n == l->room) {
        const int room = l->room ? 2 * l->room : 32;
        spot_carried *more = realloc(l->of, (size_t)room * sizeof *more);
        if (!more) return spot_fail(q->c, SPOT_NOMEM, "no memory for %d slices", room);
        l->of = more;
        l->room = room;
    }
    l->of[l->n++] = *piece;
    return SPOT_OK;
}

void spot_carried_free(spot_carried_list *list)
{
    for (int i = 0; i < list->n; i++) free(list->of[i].row);
    free(list->of);
    *list = (spot_carried_list){ 0 };
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Rows of a class inside and outside the part, and of each inside its k nearest ones outside. */
typedef struct { int *inside, ins, *outside, outs, *nearest, k; } neighbourhood;

/* The slice's rows, and those of the part of which most nearest rows are in the slice. member (n): scratch, zeros. */
static spot_status carry_slice(outside_search *q, const spot_slice *p, const neighbourhood *h, int cls, uint8_t *member)
{
    spot_carried piece = { .is = { .version = q->version, .rotation = q->rotation, .cls = cls, .found = p->size,
                                   .found_wrong = p->wrong, .proof_p = p->proof->p } };
    int at = p->size;

    piece.row = malloc(((size_t)p->size + 2 * (size_t)h->ins + 1) * sizeof *piece.row);
    if (!piece.row) return spot_fail(q->c, SPOT_NOMEM, "no memory for a slice of %d rows", p->size);
    piece.at = piece.row + p->size + h->ins;
    for (int i = 0; i < p->size; i++) member[piece.row[i] = q->outside[p->row[i]]] = 1;
    for (int i = 0; i < h->ins; i++) {
        int votes = 0;
        for (int t = 0; t < h->k; t++) votes += member[h->outside[h->nearest[(size_t)i * (size_t)h->k + (size_t)t]]];
        if (2 * votes <= h->k) continue;
        piece.at[at - p->size] = h->inside[i];
        piece.row[at++] = h->inside[i];
        spot_version_count(&piece.is.counts, q->s, h->inside[i], cls);
    }
    for (int i = 0; i < p->size; i++) member[q->outside[p->row[i]]] = 0;
    piece.rows = at;
    qsort(piece.row, (size_t)at, sizeof *piece.row, ascending);
    return add_piece(q, &piece);
}

static spot_status find_neighbourhood(outside_search *q, spot_arena *a, neighbourhood *h, int cls)
{
    const spot_subject *s = q->s[0];

    SPOT_TRY(SPOT_TAKE(q->c, a, h->inside, s->n));
    SPOT_TRY(SPOT_TAKE(q->c, a, h->outside, s->n));
    h->ins = h->outs = 0;
    for (int i = 0; i < s->n; i++) {
        if (!spot_subject_is_of(s, i, cls)) continue;
        if (q->part[i] == q->rotation) { if (!a->counting) h->inside[h->ins] = i; h->ins++; }
        else                           { if (!a->counting) h->outside[h->outs] = i; h->outs++; }
    }
    if (!h->ins || !h->outs) return SPOT_OK;
    h->k = spot_voters(h->outs, q->o->proof.neighbours);
    const int *in = a->counting ? &s->n : h->inside, *out = a->counting ? &s->n : h->outside;      /* counted as lists */
    SPOT_TRY(SPOT_TAKE(q->c, a, h->nearest, (size_t)h->ins * (size_t)h->k));
    return spot_nearest_rows(q->c, a, h->nearest, (spot_some_rows){ s->feature, in, h->ins },
                             (spot_some_rows){ s->feature, out, h->outs }, s->d, h->k);
}

static bool is_confirmed(const spot_slice *p) { return p->proof && p->proof->claim == SPOT_CLAIM_CONFIRMED; }

/* Whether a slice of both versions' errors is compared: confirmed, or it would be if it were the only one. */
static bool is_compared(const spot_slice *p, double level)
{
    bool alone = false;

    for (int i = 0; p->proof && i < p->proof->pieces; i++) alone |= p->proof->piece[i].p <= level;
    return alone || is_confirmed(p);
}

/* The rows that joined the slice by votes are compared. */
static spot_status keep_paired(outside_search *q, const spot_slice *p, int cls)
{
    spot_carried piece = { .is = { .version = SPOT_BOTH_VERSIONS, .cls = cls, .found = p->size, .found_wrong = p->wrong,
                                   .proof_p = p->proof->p }, .rows = p->size };
    int n = 0;

    piece.row = malloc((2 * (size_t)p->size + 1) * sizeof *piece.row);
    if (!piece.row) return spot_fail(q->c, SPOT_NOMEM, "no memory for a slice of %d rows", p->size);
    piece.at = piece.row + p->size;
    for (int i = 0; i < p->size; i++) {
        piece.row[i] = p->row[i];
        if (p->proof->origin[i] == SPOT_ORIGIN_FOUND) continue;
        piece.at[n++] = p->row[i];
        spot_version_count(&piece.is.counts, q->s, p->row[i], cls);
    }
    return add_piece(q, &piece);
}

static spot_status keep_paired_all(outside_search *q, const spot_finding *g)
{
    for (int k = 0; k < g->slices; k++)
        if (is_compared(&g->slice[k], q->o->proof.level)) SPOT_TRY(keep_paired(q, &g->slice[k], g->cls));
    return SPOT_OK;
}

static spot_status carry_finding(outside_search *q, const spot_finding *g)
{
    spot_arena a = spot_arena_counting();
    neighbourhood h = { 0 };
    int confirmed = 0;
    uint8_t *member;
    spot_status s;

    if (!q->o->rotations) return g->status ? SPOT_OK : keep_paired_all(q, g);
    for (int k = 0; !g->status && k < g->slices; k++) confirmed += is_confirmed(&g->slice[k]);
    if (!confirmed) return SPOT_OK;
    SPOT_TRY(find_neighbourhood(q, &a, &h, g->cls));
    SPOT_TRY(spot_arena_open(q->c, &a, a.peak + 64));
    s = find_neighbourhood(q, &a, &h, g->cls);
    member = s ? NULL : calloc((size_t)q->s[0]->n, 1);
    if (!s && !member) s = spot_fail(q->c, SPOT_NOMEM, "no memory for %d rows", q->s[0]->n);
    for (int k = 0; !s && k < g->slices; k++)
        if (is_confirmed(&g->slice[k])) s = carry_slice(q, &g->slice[k], &h, g->cls, member);
    free(member);
    spot_arena_close(&a);
    return s;
}

/* ---- searches ---- */

/* Whether a class has rows and errors enough; if not, the search has nothing to do. */
static bool has_work(const spot_subject *s, const spot_discover_options *o)
{
    const bool all = o->cls == SPOT_ALL_CLASSES;

    for (int k = all ? SPOT_ALL_CLASSES : o->cls >= 0 ? o->cls : 0; k < s->classes; k++) {
        int rows = 0, wrong = 0;
        for (int i = 0; i < s->n; i++) {
            if (!spot_subject_is_of(s, i, k)) continue;
            rows++;
            wrong += spot_subject_wrong(s, i, k);
        }
        if (rows >= o->least && wrong) return true;
        if (all || o->cls >= 0) return false;
    }
    return false;
}

static spot_status search_outside(outside_search *q)
{
    spot_discover_options d = q->o->search ? *q->o->search : spot_discover_defaults();
    spot_findings f = { 0 };
    spot_status s;

    d.proof = &q->o->proof;
    d.cache = NULL;
    d.fit = false;
    d.attributes = NULL;
    d.neighbours = 0;
    if (q->o->rotations) d.least = (int)ceil((double)d.least * (q->o->rotations - 1) / q->o->rotations);
    SPOT_TRY(spot_check_stop(q->c));
    if (!has_work(&q->seen, &d)) return SPOT_OK;
    s = spot_discover(q->c, &f, &q->seen, &d);
    for (int i = 0; !s && i < f.count; i++) s = carry_finding(q, &f.finding[i]);
    spot_findings_close(&f);
    return s;
}

/* Takes the rows outside the part into an arena that is open or counting. */
static spot_status take_outside(outside_search *q)
{
    SPOT_TRY(SPOT_TAKE(q->c, &q->arena, q->outside, q->s[0]->n));
    q->n = 0;
    for (int i = 0; i < q->s[0]->n; i++) {
        if (q->part[i] == q->rotation) continue;
        if (q->outside) q->outside[q->n] = i;
        q->n++;
    }
    return take_labels(q);
}

static spot_status search_versions(outside_search *q)
{
    spot_status s = take_outside(q);
    const size_t mark = q->arena.used;

    for (q->version = 0; !s && q->version < SPOT_VERSIONS; q->version++) {
        q->arena.used = mark;
        s = take_answers(q);
        if (!s && !q->arena.counting) s = search_outside(q);
    }
    return s;
}

static spot_status search_rotation(outside_search *q)
{
    spot_status s;

    q->arena = spot_arena_counting();
    SPOT_TRY(search_versions(q));
    SPOT_TRY(spot_arena_open(q->c, &q->arena, q->arena.peak + 64));
    s = search_versions(q);
    spot_arena_close(&q->arena);
    return s;
}

/* ---- one search in errors that do not tell the versions apart ---- */

/* The answers of both versions as those of one classifier, the same if the versions change places: the lesser confidence, and a
 * wrong class where one of them is wrong. */
static void pair_row(spot_subject *pair, const spot_subject *const s[SPOT_VERSIONS], int i)
{
    int guess[SPOT_VERSIONS];

    for (int u = 0; u < SPOT_VERSIONS; u++) guess[u] = spot_subject_predicted(s[u], i);
    pair->confidence[i] = fminf(s[0]->confidence[i], s[1]->confidence[i]);
    if (!pair->predicted) return;
    if (guess[0] == pair->target[i]) pair->predicted[i] = guess[1];
    else if (guess[1] == pair->target[i]) pair->predicted[i] = guess[0];
    else pair->predicted[i] = guess[0] < guess[1] ? guess[0] : guess[1];
}

static spot_status make_pair(outside_search *q)
{
    const spot_subject *s = q->s[0];
    const size_t cells = (size_t)s->n * (size_t)s->classes;

    q->seen = *s;
    q->seen.prob = NULL, q->seen.predicted = NULL, q->seen.head = NULL, q->seen.owned = NULL;
    q->n = s->n;
    SPOT_TRY(SPOT_TAKE(q->c, &q->arena, q->outside, s->n));
    if (s->has) SPOT_TRY(SPOT_TAKE(q->c, &q->arena, q->seen.prob, cells));
    else SPOT_TRY(SPOT_TAKE(q->c, &q->arena, q->seen.confidence, s->n));
    if (s->target && spot_knows_predicted(s)) SPOT_TRY(SPOT_TAKE(q->c, &q->arena, q->seen.predicted, s->n));
    if (q->arena.counting) return SPOT_OK;
    for (int i = 0; i < s->n; i++) q->outside[i] = i;
    for (size_t e = 0; s->has && e < cells; e++) q->seen.prob[e] = fminf(s->prob[e], q->s[1]->prob[e]);
    for (int i = 0; s->target && i < s->n; i++) pair_row(&q->seen, q->s, i);
    return SPOT_OK;
}

static spot_status search_pair(outside_search *q)
{
    spot_status s;

    q->arena = spot_arena_counting();
    SPOT_TRY(make_pair(q));
    SPOT_TRY(spot_arena_open(q->c, &q->arena, q->arena.peak + 64));
    s = make_pair(q);
    if (!s) s = search_outside(q);
    spot_arena_close(&q->arena);
    return s;
}

/* ---- progress over all searches ---- */

typedef struct { spot_ctx *outer; const outside_search *search; } searching;

static void pass_log(void *user, spot_log_level level, const char *text)
{
    const searching *k = user;

    if (k->outer->on_log) k->outer->on_log(k->outer->user, level, text);
}

static void pass_progress(void *user, const spot_progress *p)
{
    const searching *k = user;
    const int before = SPOT_VERSIONS * k->search->rotation + k->search->version;
    spot_progress whole = *p;

    if (k->search->o->rotations) {
        whole.total = p->total * SPOT_VERSIONS * k->search->o->rotations;
        whole.done = p->total * before + p->done;
    }
    if (k->outer->on_progress) k->outer->on_progress(k->outer->user, &whole);
}

spot_status spot_versions_search(spot_ctx *c, spot_carried_list *list, const spot_subject *const s[SPOT_VERSIONS],
                                 const spot_versions_options *o)
{
    spot_ctx inner = *c;
    outside_search q = { .c = &inner, .s = s, .o = o, .list = list, .part = malloc((size_t)s[0]->n * sizeof *q.part) };
    searching k = { c, &q };
    spot_status status = !q.part ? spot_fail(c, SPOT_NOMEM, "no memory for %d rows", s[0]->n)
                       : o->rotations ? divide_rows(c, q.part, s[0], o) : SPOT_OK;

    inner.on_log = pass_log;
    inner.on_progress = pass_progress;
    inner.user = &k;
    if (!status) {
        if (!o->rotations) status = search_pair(&q);
        for (; !status && q.rotation < o->rotations; q.rotation++) status = search_rotation(&q);
        if (status) status = spot_fail(c, status, "%s", spot_message(&inner, status));
    }
    free(q.part);
    return status;
}
