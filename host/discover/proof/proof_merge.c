/* proof_merge.c - pieces that are nearly the same rows become a slice; findings with one list of slices for each class. In: the
 * pieces of all methods, seeds and parts, judged and corrected (judge.h). Out: what spotter discover reports.
 *
 * Indices: i of a piece or a class is its place in the proof's list; row bits, slices' and hypotheses' rows and the view's rows
 * are of the class (0 to k->n - 1); finding->row and the map are the subject's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/fit.h"
#include "discover/proof/judge.h"
#include "discover/search/class_map.h"
#include "discover/search/vote.h"
#include "discover/subject/fit_rules.h"
#include "stats/statistics.h"
#include "study/chain.h"

/* ---- merging ---- */

static int surest_first(const void *a, const void *b)
{
    const spot_judged *x = a, *y = b;

    if (x->class_place != y->class_place) return x->class_place - y->class_place;
    if (x->said.corrected != y->said.corrected) return x->said.corrected < y->said.corrected ? -1 : 1;
    if (x->said.p != y->said.p) return x->said.p < y->said.p ? -1 : 1;
    if (x->said.bdm != y->said.bdm) return x->said.bdm - y->said.bdm;
    if (x->said.seed != y->said.seed) return x->said.seed < y->said.seed ? -1 : 1;
    if (x->said.part != y->said.part) return x->said.part - y->said.part;
    return x->said.rank != y->said.rank ? x->said.rank - y->said.rank : x->said.rule.items - y->said.rule.items;
}

/* The Jaccard index of all rows, found and judged. */
static double overlap(const spot_judged *x, const spot_judged *y, size_t words)
{
    long both = 0, any = 0;

    for (size_t w = 0; w < words; w++) {
        const uint64_t u = x->found[w] | x->judged[w], v = y->found[w] | y->judged[w];
        both += __builtin_popcountll(u & v);
        any += __builtin_popcountll(u | v);
    }
    return any ? (double)both / (double)any : 0;
}

/* Each piece joins the slice whose first piece it overlaps most, the first of equals, or begins one. Only first pieces, the
 * surest, are compared: a slice does not wander from piece to piece. Returns the slices that had no place. */
static int merge_class(const spot_proving *j, spot_judged *first, spot_judged *end)
{
    const spot_judged *head[SPOT_MAX_HYPOTHESES];
    int heads = 0, more = 0;

    for (spot_judged *g = first; g < end; g++) {
        double most = j->p.same;           /* the least overlap that makes two pieces one slice */
        for (int h = 0; h < heads; h++) {
            const double same = overlap(head[h], g, j->cls[g->class_place].words);
            if (same < most || (same == most && g->slice >= 0)) continue;
            most = same;
            g->slice = h;
        }
        if (g->slice >= 0) continue;
        if (heads == SPOT_MAX_HYPOTHESES) {
            more++;
            continue;
        }
        g->slice = heads;
        head[heads++] = g;
    }
    return more;
}

spot_status spot_proof_merge(spot_proving *j)
{
    int more = 0;

    qsort(j->piece, (size_t)j->pieces, sizeof *j->piece, surest_first);
    for (int i = 0, end; i < j->pieces; i = end) {
        for (end = i; end < j->pieces && j->piece[end].class_place == j->piece[i].class_place; end++) { }
        more += merge_class(j, j->piece + i, j->piece + end);
    }
    if (more)
        spot_log(j->c, SPOT_LOG_INFO, "%d more slices are tested but not shown: a class shows its %d surest", more,
                 SPOT_MAX_HYPOTHESES);
    return SPOT_OK;
}

/* ---- findings ---- */

typedef struct {
    spot_proving  *j;
    spot_findings *f;
    spot_arena     work;
    spot_view      view;
    spot_judged   *first, *end;        /* pieces of the class */
    uint64_t      *found, *judged;     /* of a slice */
    spot_rule      rule[SPOT_MAX_HYPOTHESES];  /* of each slice of the class */
} maker;

/* The piece whose numbers are the slice's: the surest confirmed rule, else the surest piece. */
static const spot_judged *head_of(const maker *m, int slice, int *pieces)
{
    const spot_judged *head = NULL, *rule = NULL;

    *pieces = 0;
    for (const spot_judged *g = m->first; g < m->end; g++) {
        if (g->slice != slice) continue;
        ++*pieces;
        if (!head) head = g;
        if (!rule && g->said.rule.items && spot_is_significant(g->said.corrected, m->j->p.level)) rule = g;
    }
    return rule ? rule : head;
}

/* Whether the piece's rows are the slice's: where the head is a rule, those of pieces that are this rule, which each part may
 * have found. */
static bool is_united(const spot_judged *g, const spot_judged *head, int slice)
{
    return g->slice == slice && (!head->said.rule.items || spot_same_rule(&g->said.rule, &head->said.rule));
}

/* Unites the rows of the slice's pieces. *least: the least p that their judged rows can give. Returns the head. */
static const spot_judged *unite(maker *m, int slice, size_t words, int *pieces, double *least)
{
    const spot_judged *head = head_of(m, slice, pieces);

    *least = 1;
    memset(m->found, 0, words * sizeof *m->found);
    memset(m->judged, 0, words * sizeof *m->judged);
    for (const spot_judged *g = m->first; g < m->end; g++) {
        if (!is_united(g, head, slice)) continue;
        *least = fmin(*least, g->least);
        for (size_t w = 0; w < words; w++) {
            m->found[w] |= g->found[w];
            m->judged[w] |= g->judged[w];
        }
    }
    return head;
}

/* The next slice in the order of their first pieces, surest first, which is the order of the numbers that merge_class gave. */
static spot_status list_slice(maker *m, spot_hypotheses *out, const spot_proved *k)
{
    spot_hypothesis *h = &out->h[out->len];
    double least;
    int pieces;
    const spot_judged *head = unite(m, out->len, k->words, &pieces, &least);

    *h = (spot_hypothesis){ .score = head->score };
    for (size_t w = 0; w < k->words; w++) h->len += __builtin_popcountll(m->found[w] | m->judged[w]);
    SPOT_TRY(SPOT_TAKE(m->j->c, &m->work, h->row, h->len));
    for (int i = 0, n = 0; i < k->n; i++)
        if (spot_has_bit(m->found, i) || spot_has_bit(m->judged, i)) h->row[n++] = i;
    out->len++;
    return SPOT_OK;
}

static spot_status keep_rule(maker *m, spot_proof *p, const spot_rule *rule)
{
    spot_arena *a = &m->f->arena;

    p->rule_items = rule->items;
    SPOT_TRY(SPOT_TAKE(m->j->c, a, p->rule, rule->items));
    for (int i = 0; i < rule->items; i++) {
        const char *name = m->j->o->attributes->name[rule->item[i]];
        SPOT_TRY(SPOT_TAKE(m->j->c, a, p->rule[i], strlen(name) + 1));
        memcpy(p->rule[i], name, strlen(name) + 1);
    }
    return SPOT_OK;
}

static spot_status prove_slice(maker *m, const spot_proved *k, spot_slice *s, int slice, const int *row)
{
    spot_proving *j = m->j;
    spot_arena *a = &m->f->arena;
    spot_proof *p;
    double least;
    int pieces, n = 0;
    const spot_judged *head = unite(m, slice, k->words, &pieces, &least);

    SPOT_TRY(SPOT_TAKE(j->c, a, s->proof, 1));
    p = s->proof;
    *p = (spot_proof){ .p = head->said.corrected, .pieces = pieces, .tests = j->pieces, .least_p = least };
    p->claim = spot_is_significant(p->p, j->p.level) ? SPOT_CLAIM_CONFIRMED    /* suggested: surer than all in chance errors */
             : j->p.chance && head->alone < j->best ? SPOT_CLAIM_SUGGESTED : SPOT_CLAIM_CHANCE;
    SPOT_TRY(keep_rule(m, p, &head->said.rule));
    m->rule[slice] = head->said.rule;
    SPOT_TRY(SPOT_TAKE(j->c, a, p->piece, pieces));
    SPOT_TRY(SPOT_TAKE(j->c, a, p->origin, s->size));
    for (const spot_judged *g = m->first; g < m->end; g++)
        if (g->slice == slice) p->piece[n++] = g->said;
    for (int i = 0; i < s->size; i++)
        p->origin[i] = (uint8_t)(SPOT_ORIGIN_FOUND * spot_has_bit(m->found, row[i])
                               + SPOT_ORIGIN_JUDGED * spot_has_bit(m->judged, row[i]));
    spot_proof_facts(j, k, m->judged, s);
    return SPOT_OK;
}

/* The class's rows with their slices, for new rows; without slices their features alone, for another version. */
static spot_status keep_fit(maker *m, spot_finding *g, const spot_hypotheses *found)
{
    uint8_t *member;

    if (!m->j->o->fit || (g->cls < 0 && m->j->across && !found->len)) return SPOT_OK;    /* its rows are with their classes */
    SPOT_TRY(SPOT_TAKE(m->j->c, &m->work, member, (size_t)g->n * (size_t)found->len));
    memset(member, 0, (size_t)g->n * (size_t)found->len);
    for (int h = 0; h < found->len; h++)
        for (int i = 0; i < found->h[h].len; i++) member[(size_t)found->h[h].row[i] * (size_t)found->len + (size_t)h] = 1;
    SPOT_TRY(spot_fit_rules_put(m->j->c, &g->fit, m->j->o->attributes, m->rule, found->len));
    return spot_vote_fit(m->j->c, &g->fit, m->view.feature, g->n, m->view.d, member, found->len, m->j->p.neighbours);
}

/* The class in the plane, by PCA: the parts have maps of their own, which do not fit together. */
static spot_status draw_map(maker *m, const spot_finding *g)
{
    const spot_seed seed = { m->j->o->seed[0], (uint32_t)(g->cls < 0 ? m->j->s->classes : g->cls) };

    return spot_class_map_draw(m->j->c, &m->work, m->f->map, g->row, &m->view, &seed);
}

static spot_status make_finding(maker *m, int i)
{
    spot_proving *j = m->j;
    spot_finding *g = &m->f->finding[i];
    const spot_proved *k = &j->cls[i];
    spot_arena *views = j->o->fit ? &m->f->arena : &m->work;
    spot_hypotheses *found;

    *g = (spot_finding){ .cls = k->cls, .n = k->n, .wrong = k->wrong, .merged = true, .seed = j->o->seed[0] };
    SPOT_TRY(SPOT_TAKE(j->c, &m->f->arena, g->row, g->n));
    memcpy(g->row, k->row, (size_t)g->n * sizeof *g->row);
    SPOT_TRY(spot_subject_view(j->c, views, &m->view, j->s, k->cls));
    SPOT_TRY(SPOT_TAKE(j->c, &m->work, found, 1));
    SPOT_TRY(SPOT_TAKE(j->c, &m->work, m->found, k->words));
    SPOT_TRY(SPOT_TAKE(j->c, &m->work, m->judged, k->words));
    found->len = 0;
    found->n = k->n;
    for (const spot_judged *p = m->first; p < m->end; p++)
        if (p->slice == found->len) SPOT_TRY(list_slice(m, found, k));     /* its first piece: list_slice raises len */
    SPOT_TRY(spot_slices_of(j->c, &m->f->arena, &m->work, g, j->s, &m->view, found, j->o->neighbours));
    for (int h = 0; h < g->slices; h++) SPOT_TRY(prove_slice(m, k, &g->slice[h], h, found->h[h].row));
    SPOT_TRY(keep_fit(m, g, found));
    return k == j->across ? SPOT_OK : draw_map(m, g);      /* its rows are on the maps of their classes */
}

/* ---- rows of classes that were left out ---- */

/* Each class is examined or left out, unless one was asked for; then none is left out. */
static int rows_left_out(const spot_proving *j, int left_out)
{
    int rows = j->s->n;

    if (!j->o->fit || !j->s->target || !left_out) return 0;
    for (int i = 0; i < j->classes; i++) rows -= &j->cls[i] == j->across ? 0 : j->cls[i].n;
    return rows;
}

/* Their features, by row, in the fit of the first finding, so that another version can be compared on all rows. */
static spot_status keep_left_out(spot_proving *j, spot_findings *f)
{
    const size_t d = (size_t)j->s->d;
    const int rows = rows_left_out(j, f->left_out);
    float *feature;
    uint8_t *left;
    int at = 0;

    if (!rows) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(j->c, &f->arena, feature, (size_t)rows * d));
    SPOT_TRY(SPOT_TAKE(j->c, &f->arena, left, j->s->classes));
    memset(left, 0, (size_t)j->s->classes);
    for (int k = 0; k < f->left_out; k++) left[f->left_class[k]] = 1;
    for (int i = 0; i < j->s->n; i++)
        if (left[j->s->target[i]]) memcpy(feature + (size_t)at++ * d, j->s->feature + (size_t)i * d, d * sizeof *feature);
    return spot_fit_borrow(j->c, &f->finding[0].fit, SPOT_LEFT_OUT, SPOT_F32, feature, rows, j->s->d);
}

/* ---- memory of the findings ---- */

/* Upper bounds, term by term of what make_finding and what it calls take; the terms at the end are for rounding up. Too
 * little is SPOT_NOMEM. */

static size_t result_bytes(const spot_proving *j, int left_out)
{
    size_t bytes = 2 * (size_t)j->s->n * sizeof(float) + (size_t)left_out * sizeof(int) + (size_t)j->s->classes
                 + (size_t)rows_left_out(j, left_out) * (size_t)j->s->d * sizeof(float) + 4096;

    for (int i = 0; i < j->classes; i++)
        bytes += sizeof(spot_finding) + (size_t)j->cls[i].n * (sizeof(int) + (j->o->fit ? ((size_t)j->s->d + 2) * 4 : 0))
               + 5 * SPOT_ALIGN;
    for (int i = 0; i < j->pieces; i++) {
        const spot_piece *p = &j->piece[i].said;
        bytes += (size_t)(p->found + p->judged) * (sizeof(int) + 1) + sizeof *p + sizeof(spot_proof) + 5 * SPOT_ALIGN;
        for (int k = 0; k < p->rule.items; k++)
            bytes += strlen(j->o->attributes->name[p->rule.item[k]]) + sizeof(char *) + 1 + SPOT_ALIGN;
    }
    return bytes;
}

static size_t work_bytes(const spot_proving *j)
{
    size_t most = 0;

    for (int i = 0; i < j->classes; i++) {
        const size_t n = (size_t)j->cls[i].n, d = (size_t)j->s->d;
        const size_t map = spot_class_map_needs(j->c, j->cls[i].n, j->s->d).host;
        const size_t here = n * (d + 2) * sizeof(float) + SPOT_MAX_HYPOTHESES * (n * 13 + d * 8 + SPOT_ALIGN)
                          + sizeof(spot_hypotheses) + n / 4 + map + 8192;
        if (here > most) most = here;
    }
    return most;
}

static spot_status open_results(spot_proving *j, spot_findings *f, const spot_candidate *candidates, int count)
{
    SPOT_TRY(spot_arena_open(j->c, &f->arena, result_bytes(j, f->left_out)));
    SPOT_TRY(SPOT_TAKE(j->c, &f->arena, f->finding, count));
    memset(f->finding, 0, (size_t)count * sizeof *f->finding);
    f->count = count;
    SPOT_TRY(SPOT_TAKE(j->c, &f->arena, f->map, 2 * (size_t)j->s->n));
    SPOT_TRY(SPOT_TAKE(j->c, &f->arena, f->left_class, f->left_out));
    for (size_t e = 0; e < 2 * (size_t)j->s->n; e++) f->map[e] = NAN;
    for (int k = 0; k < f->left_out; k++) f->left_class[k] = candidates[count + k].cls;
    return SPOT_OK;
}

spot_status spot_proof_findings(spot_proving *j, spot_findings *f, const spot_candidate *candidates, int count)
{
    maker m = { .j = j, .f = f, .end = j->piece };
    spot_status how;

    SPOT_TRY(open_results(j, f, candidates, count));
    SPOT_TRY(spot_arena_open(j->c, &m.work, work_bytes(j)));
    how = SPOT_OK;
    for (int i = 0; i < count && how == SPOT_OK; i++) {
        m.work.used = 0;
        m.first = m.end;
        while (m.end < j->piece + j->pieces && m.end->class_place == i) m.end++;
        how = make_finding(&m, i);
    }
    if (how == SPOT_OK) how = keep_left_out(j, f);
    spot_arena_close(&m.work);
    return how;
}
