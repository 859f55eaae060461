/* slice_versions_search.c - slices in the errors of both versions together, by a search that cannot tell whose error one is. */
#include "versions/slice_versions_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/feature_blocks.h"
#include "discover/subject/subject_memory.h"

/* A search in the errors of both versions together, and where its slices go. */
typedef struct {
    spot_ctx *c;
    const spot_subject *const *s;
    const spot_versions_options *o;
    spot_compared_list *list;
    spot_subject seen;         /* the one classifier that the search sees */
    spot_arena arena;          /* of the answers of `seen` */
} pair_search;

/* ---- slices that are compared ---- */

static spot_status add_piece(pair_search *q, spot_compared *piece)
{
    spot_compared_list *l = q->list;

    if (l->n == l->room) {
        const int room = l->room ? 2 * l->room : 32;
        spot_compared *more = realloc(l->of, (size_t)room * sizeof *more);
        if (!more) return spot_fail(q->c, SPOT_NOMEM, "no memory for %d slices", room);
        l->of = more;
        l->room = room;
    }
    l->of[l->n++] = *piece;
    return SPOT_OK;
}

void spot_compared_free(spot_compared_list *list)
{
    for (int i = 0; i < list->n; i++) free(list->of[i].row), free(list->of[i].rule);
    free(list->of);
    *list = (spot_compared_list){ 0 };
}

static bool is_confirmed(const spot_slice *p) { return p->proof && p->proof->claim == SPOT_CLAIM_CONFIRMED; }

/* Whether a slice is compared: confirmed, or it would be if it were the only one. */
static bool is_compared(const spot_slice *p, double level)
{
    bool alone = false;

    for (int i = 0; p->proof && i < p->proof->pieces; i++) alone |= p->proof->piece[i].p <= level;
    return alone || is_confirmed(p);
}

/* "colour=grey & px=16", malloc'd; NULL without memory. */
static char *rule_of(const spot_proof *p)
{
    size_t size = 1;
    char *rule;

    for (int i = 0; i < p->rule_items; i++) size += strlen(p->rule[i]) + 3;
    rule = calloc(1, size);
    for (int i = 0; rule && i < p->rule_items; i++) {
        if (i) strcat(rule, " & ");
        strcat(rule, p->rule[i]);
    }
    return rule;
}

/* The rows that joined the slice by votes, or by its rule, are compared. */
static spot_status keep_slice(pair_search *q, const spot_slice *p, int cls)
{
    spot_compared piece = { .is = { .cls = cls, .found = p->size, .found_wrong = p->wrong, .proof_p = p->proof->p },
                            .rows = p->size };

    piece.row = malloc((2 * (size_t)p->size + 1) * sizeof *piece.row);
    if (p->proof->rule_items) piece.rule = rule_of(p->proof);
    if (!piece.row || (p->proof->rule_items && !piece.rule)) {
        free(piece.row), free(piece.rule);
        return spot_fail(q->c, SPOT_NOMEM, "no memory for a slice of %d rows", p->size);
    }
    piece.at = piece.row + p->size;
    for (int i = 0; i < p->size; i++) {
        piece.row[i] = p->row[i];
        if (p->proof->origin[i] != SPOT_ORIGIN_FOUND) piece.at[piece.is.compared++] = p->row[i];
    }
    return add_piece(q, &piece);
}

static spot_status keep_compared(pair_search *q, const spot_finding *g)
{
    for (int k = 0; k < g->slices; k++)
        if (is_compared(&g->slice[k], q->o->proof.level)) SPOT_TRY(keep_slice(q, &g->slice[k], g->cls));
    return SPOT_OK;
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

static spot_status search_slices(pair_search *q)
{
    spot_discover_options d = q->o->search ? *q->o->search : spot_discover_defaults();
    spot_findings f = { 0 };
    spot_status s;

    d.proof = &q->o->proof;
    d.cache = NULL;
    d.fit = false;
    d.neighbours = 0;
    SPOT_TRY(spot_check_stop(q->c));
    if (!has_work(&q->seen, &d)) return SPOT_OK;
    s = spot_discover(q->c, &f, &q->seen, &d);
    for (int i = 0; !s && i < f.count; i++)
        if (!f.finding[i].status) s = keep_compared(q, &f.finding[i]);
    spot_findings_close(&f);
    return s;
}

/* ---- one classifier that has wrong what either version has wrong ---- */

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

/* Whether version 2 brings features of its own. */
static bool has_two(const spot_subject *const s[SPOT_VERSIONS])
{
    return s[0]->feature && s[1]->feature && s[0]->feature != s[1]->feature
        && (s[0]->d != s[1]->d || memcmp(s[0]->feature, s[1]->feature, (size_t)s[0]->n * (size_t)s[0]->d * sizeof(float)));
}

/* Features of both versions side by side, in an order that does not depend on which is first: the narrower ones lead, of equal
 * widths those with the lesser bytes. */
static spot_status join_features(pair_search *q)
{
    const spot_subject *a = q->s[0], *b = q->s[1];
    const size_t bytes = (size_t)a->n * (size_t)a->d * sizeof *a->feature;
    const bool turn = a->d > b->d || (a->d == b->d && memcmp(a->feature, b->feature, bytes) > 0);
    const spot_subject *first = turn ? b : a, *second = turn ? a : b;

    q->seen.feature = NULL;
    q->seen.d = q->seen.blocks = 0;
    SPOT_TRY(spot_block_add(q->c, &q->seen, first->feature, first->d, first->encoder));
    SPOT_TRY(spot_block_add(q->c, &q->seen, second->feature, second->d, second->encoder));
    return spot_blocks_scale(q->c, &q->seen, NULL, 0);
}

static spot_status make_pair(pair_search *q)
{
    const spot_subject *s = q->s[0];
    const size_t cells = (size_t)s->n * (size_t)s->classes;

    q->seen = *s;
    q->seen.prob = NULL, q->seen.predicted = NULL, q->seen.head = NULL, q->seen.owned = NULL;
    if (s->has) SPOT_TRY(SPOT_TAKE(q->c, &q->arena, q->seen.prob, cells));
    else SPOT_TRY(SPOT_TAKE(q->c, &q->arena, q->seen.confidence, s->n));
    if (s->target && spot_knows_predicted(s)) SPOT_TRY(SPOT_TAKE(q->c, &q->arena, q->seen.predicted, s->n));
    if (q->arena.counting) return SPOT_OK;
    for (size_t e = 0; s->has && e < cells; e++) q->seen.prob[e] = fminf(s->prob[e], q->s[1]->prob[e]);
    for (int i = 0; s->target && i < s->n; i++) pair_row(&q->seen, q->s, i);
    return SPOT_OK;
}

spot_status spot_versions_search(spot_ctx *c, spot_compared_list *list, const spot_subject *const s[SPOT_VERSIONS],
                                 const spot_versions_options *o, spot_version_features *features)
{
    pair_search q = { .c = c, .s = s, .o = o, .list = list, .arena = spot_arena_counting() };
    spot_status how;

    *features = has_two(s) ? SPOT_FEATURES_BOTH : o->features;
    SPOT_TRY(make_pair(&q));
    SPOT_TRY(spot_arena_open(c, &q.arena, q.arena.peak));
    how = make_pair(&q);
    if (!how && has_two(s)) how = join_features(&q);
    if (!how) how = search_slices(&q);
    spot_subject_close(&q.seen);
    spot_arena_close(&q.arena);
    return how;
}
