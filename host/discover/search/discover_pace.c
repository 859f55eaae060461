/* discover_pace.c - estimates the time of a search: runs every method for a few iterations on some rows of the largest class
 * and scales its parts by their known growth. The estimate is only shown; no result depends on it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/describe/suspect_labels.h"
#include "discover/proof/judge.h"
#include "discover/search/vote.h"
#include "discover/subject/attribute_rows.h"
#include "study/chain.h"
#include "study/reducer_timing.h"

enum { SAMPLE = 2000, TRIED = 500, LONG = 8000 };      /* rows of the timed map and search; of a shorter and a longer search */

#define PATIENCE 1.2                   /* seconds after which no other method is tried */

/* Takes `rows` rows of v at equal distances, or all where it has fewer. */
static spot_status sample_rows(spot_ctx *c, spot_arena *a, spot_view *few, const spot_view *v, int rows)
{
    size_t d = (size_t)v->d;

    *few = *v;
    few->n = v->n < rows ? v->n : rows;
    SPOT_TRY(SPOT_TAKE(c, a, few->feature, (size_t)few->n * d));
    SPOT_TRY(SPOT_TAKE(c, a, few->confidence, few->n));
    SPOT_TRY(SPOT_TAKE(c, a, few->image, few->n));
    for (int i = 0; i < few->n; i++) {
        size_t row = (size_t)i * (size_t)v->n / (size_t)few->n;
        memcpy(few->feature + (size_t)i * d, v->feature + row * d, d * sizeof(float));
        few->confidence[i] = v->confidence[row];
        few->image[i] = v->image[row];
    }
    return SPOT_OK;
}

/* Searches of a class that a proof makes, for its slices and in errors without structure. */
static int searches_of(const spot_proof_options *p)
{
    return p ? p->parts * (1 + p->chance) : 1;
}

typedef struct { double each, pair; } search_time;     /* seconds for each row, and for each pair of rows */

static double seconds_of(const search_time *t, double n) { return t->each * n + t->pair * n * n; }

/* The line and square through two times; the line alone where time grows more slowly than the rows, and the square alone where
 * it grows faster than their square. */
static search_time growth_of(int few, double first, int more, double second)
{
    const double n = few, m = more, pair = (second / m - first / n) / (m - n), most = second / (m * m);

    if (!(pair > 0)) return (search_time){ second / m, 0 };
    return pair < most ? (search_time){ second / m - pair * m, pair } : (search_time){ 0, most };
}

/* Times a search of the first rows; the lesser of two times if they are short, because another program may delay one. */
static spot_status time_search(spot_ctx *c, spot_arena *a, double *seconds, const spot_view *v, const spot_points *at, int rows,
                               const spot_bdm_config *cfg)
{
    const spot_seed seed = { 0, 0 };
    const size_t mark = a->used;
    spot_points points = *at;
    spot_view few = *v;
    spot_hypotheses found;

    few.n = points.n = rows;
    *seconds = INFINITY;
    for (int i = 0; i < 2 && (!i || *seconds < PATIENCE / 16); i++) {
        const double start = spot_clock();
        SPOT_TRY(spot_bdm_find(c, a, 1, &found, &few, &points, &seed, cfg));
        *seconds = fmin(*seconds, spot_clock() - start);
        a->used = mark;
    }
    return SPOT_OK;
}

/* Some methods take time with the rows, others with their square, and some change from one to the other: the last two of up to
 * three sizes tell. Times below a hundredth of a second tell nothing. longer: v with more rows; without rows: none is tried. */
static spot_status time_searches(spot_ctx *c, spot_arena *a, search_time *t, const spot_view *v, const spot_points *at,
                                 const spot_view *longer, const spot_bdm_config *cfg)
{
    const spot_points all = { .n = longer->n, .d = longer->d, .at = longer->feature, .objective = NAN };
    int few = v->n < TRIED ? v->n : TRIED, more = v->n < SAMPLE ? v->n : SAMPLE;
    double first, second;

    SPOT_TRY(time_search(c, a, &first, v, at, few, cfg));
    *t = (search_time){ first / few, 0 };
    if (more < 2 * few || first > PATIENCE / 16) return SPOT_OK;
    SPOT_TRY(time_search(c, a, &second, v, at, more, cfg));
    *t = second > 0.01 ? growth_of(few, first, more, second) : (search_time){ second / more, 0 };
    if (longer->n < 2 * more || second > PATIENCE / 8) return SPOT_OK;
    few = more, more = longer->n, first = second;
    SPOT_TRY(time_search(c, a, &second, longer, &all, more, cfg));
    *t = growth_of(few, first, more, second);
    return SPOT_OK;
}

/* views: each of the features, and of the attributes if there are any; the second has more rows, or none. */
static spot_status time_methods(spot_ctx *c, spot_arena *a, double *seconds, spot_view (*views)[2],
                                const spot_discover_options *o, const spot_candidate *candidates, int count)
{
    const spot_view none = { .n = 0 };
    double start = spot_clock();

    for (int b = 0; b < o->bdms; b++) {
        const spot_bdm_config *cfg = &o->bdm[b];
        const spot_view *v = &views[0][spot_by_table(o, b)];
        bool same = !o->attributes, reduces = !spot_embed_is_nothing(&cfg->embed);
        int maps = !reduces || spot_has_points_before(o->bdm, b, same) ? 0 : spot_is_seedless(&cfg->embed) ? 1 : o->seeds;
        spot_points points = { .n = v->n, .d = v->d, .at = v->feature, .objective = NAN };
        spot_reducer_timing t = { .rows = v->n };
        size_t mark = a->used;
        search_time find;
        if (spot_clock() - start > PATIENCE) return SPOT_UNSUPPORTED;
        if (reduces) SPOT_TRY(spot_reducer_timing_take(c, a, &t, &points, v, &cfg->embed, true));
        SPOT_TRY(time_searches(c, a, &find, v, &points, reduces ? &none : &views[1][spot_by_table(o, b)], cfg));
        a->used = mark;
        for (int i = 0; i < count; i++) {
            const double n = spot_proof_share(o->proof) * candidates[i].n;
            *seconds += searches_of(o->proof) * (maps * spot_reducer_timing_seconds(&t, &cfg->embed, (int)n)
                                                 + o->seeds * seconds_of(&find, n));
        }
    }
    return SPOT_OK;
}

/* Pairs of n rows that are compared for the neighbours of judging rows and of finding rows that are asked; `finders` of a part
 * find at most. */
static double pairs_of(const spot_proof_options *p, int n, double finders)
{
    const double found = fmin(spot_proof_share(p) * n, finders);

    return p->parts * found * ((1 - spot_proof_share(p)) * n + fmin(found, SPOT_FINDERS));
}

/* The votes of a proof: each judging row's nearest rows, once, however many searches there are; and the neighbours of labels
 * that may be wrong. Timed: one half of v's rows against the other. suspects: the pairs of rows that are compared for these
 * neighbours; rows: of the subject. */
static spot_status time_votes(spot_ctx *c, spot_arena *a, double *seconds, const spot_view *v, const spot_proof_options *p,
                              const spot_candidate *candidates, int count, int rows, double suspects)
{
    const int half = v->n / 2, k = half ? spot_voters(half, p->neighbours) : 0;
    const spot_some_rows x = { v->feature, NULL, half }, y = { v->feature + (size_t)half * (size_t)v->d, NULL, half };
    double start = spot_clock(), all = suspects;
    int *nearest;

    if (!half) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, nearest, (size_t)half * (size_t)k));
    SPOT_TRY(spot_nearest_rows(c, a, nearest, x, y, v->d, k));
    for (int i = 0; i < count; i++) {
        const bool across = candidates[i].cls < 0 && count > 1;
        all += pairs_of(p, across ? rows : candidates[i].n, across ? SPOT_FINDERS : INFINITY);
    }
    *seconds += (spot_clock() - start) * all / ((double)half * half);
    return SPOT_OK;
}

static size_t votes_bytes(spot_ctx *c, const spot_subject *s, const spot_proof_options *p)
{
    const spot_some_rows half = { NULL, NULL, SAMPLE / 2 };
    spot_arena a = spot_arena_counting();

    if (spot_nearest_rows(c, &a, NULL, half, half, s->d, spot_voters(half.n, p->neighbours))) spot_forget(c);
    return a.peak + (size_t)SAMPLE * (size_t)p->neighbours * sizeof(int) + 4096;
}

/* Rows that may be searched longer: a class so large that the search itself takes more memory than the longer trial. */
static int long_rows(const spot_candidate *largest) { return largest->n < 2 * LONG ? 0 : LONG; }

static spot_status sample_views(spot_ctx *c, spot_arena *a, spot_view *to, const spot_view *all, const spot_discover_options *o,
                                int rows)
{
    SPOT_TRY(sample_rows(c, a, &to[0], all, rows));
    to[1] = (spot_view){ .n = 0 };
    return o->attributes && rows ? spot_attribute_view(c, a, &to[1], o->attributes, &to[0]) : SPOT_OK;
}

static void estimate_time(spot_ctx *c, double *seconds, const spot_subject *s, const spot_discover_options *o,
                          const spot_candidate *candidates, int count)
{
    spot_ctx quiet = { .ops = c->ops, .device = c->device, .threads = c->threads, .stop = c->stop };
    const spot_candidate *largest = candidates;
    spot_candidate few;
    spot_status status;
    spot_view all, some[2][2];
    spot_arena a;
    int more;

    for (int i = 1; i < count; i++)
        if (candidates[i].n > largest->n && (candidates[i].cls >= 0 || largest->n < SAMPLE)) largest = &candidates[i];
    more = long_rows(largest);
    few = (spot_candidate){ largest->cls, more ? more : largest->n < SAMPLE ? largest->n : SAMPLE, 1 };
    *seconds = 0;
    status = spot_arena_open(&quiet, &a, 2 * spot_group_needs(&quiet, s, o, &few, 1).host + (size_t)(SAMPLE + more) * 256
                             + (o->proof ? votes_bytes(&quiet, s, o->proof) : 0)
                             + (size_t)((largest->cls < 0 ? s->n : largest->n) + SAMPLE + more) * ((size_t)s->d + 8)
                               * sizeof(float) + 4096);
    if (status == SPOT_OK) status = spot_subject_view(&quiet, &a, &all, s, largest->cls);
    if (status == SPOT_OK) status = sample_views(&quiet, &a, some[0], &all, o, SAMPLE);
    if (status == SPOT_OK) status = sample_views(&quiet, &a, some[1], &all, o, more);
    if (status == SPOT_OK) status = time_methods(&quiet, &a, seconds, some, o, candidates, count);
    if (status == SPOT_OK && o->proof)
        status = time_votes(&quiet, &a, seconds, &some[0][0], o->proof, candidates, count, s->n, spot_suspects_pairs(c, s));
    if (status != SPOT_OK) *seconds = NAN;
    spot_arena_close(&a);
}

/* Rows of both parts that the search of a candidate sees: beside classes, of all rows a sample. */
static int searched_rows(const spot_candidate *k, const spot_subject *s, const spot_discover_options *o)
{
    const bool sample = k->cls < 0 && spot_crosses_classes(s, o);

    return sample && k->n > 2 * SPOT_FINDERS ? 2 * SPOT_FINDERS : k->n;
}

static spot_status list_searched(spot_ctx *c, spot_candidate **list, const spot_candidate *from, int count,
                                 const spot_subject *s, const spot_discover_options *o)
{
    *list = malloc(((size_t)count + 1) * sizeof **list);
    if (!*list) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", count);
    for (int i = 0; i < count; i++) (*list)[i] = (spot_candidate){ from[i].cls, searched_rows(&from[i], s, o), from[i].wrong };
    return SPOT_OK;
}

/* at_once: 0 for all classes. */
static spot_status cost_of(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, int at_once, spot_bytes *bytes,
                           double *seconds)
{
    spot_candidate *candidates = NULL, *searched = NULL;
    int count = 0, left_out;
    spot_status status = spot_discover_check(c, s, o);

    *bytes = (spot_bytes){ 0, 0 };
    if (seconds) *seconds = NAN;
    if (status == SPOT_OK) status = spot_candidates(c, s, o, &candidates, &count, &left_out);
    if (status == SPOT_OK)
        status = spot_discover_needs(c, s, o, (spot_examined){ candidates, count, at_once ? at_once : count }, bytes);
    if (status == SPOT_OK && seconds && candidates->wrong) {
        status = list_searched(c, &searched, candidates, count, s, o);
        if (status == SPOT_OK) estimate_time(c, seconds, s, o, searched, count);
    }
    free(candidates);
    free(searched);
    return status;
}

spot_status spot_discover_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_bytes *bytes,
                               double *seconds)
{
    return cost_of(c, s, o, 0, bytes, seconds);
}

spot_status spot_discover_run_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_bytes *bytes,
                                   double *seconds)
{
    return cost_of(c, s, o, SPOT_CLASSES_AT_ONCE, bytes, seconds);
}
