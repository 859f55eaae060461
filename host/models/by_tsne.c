/* by_tsne.c - prepares t-SNE's descent: neighbours, the sparse symmetric P, the start. As in scikit-learn's Barnes-Hut, so that
 * both minimise the same function. */
#include <math.h>
#include <stdlib.h>

#include "base/twin.h"
#include "core/device.h"
#include "map/affinity.h"
#include "map/neighbours.h"
#include "map/tsne.h"
#include "models/reduce.h"
#include "spotter/rng.h"

enum { GROUP = 16 };   /* problems in one search of neighbours */

/* Scratch memory of a group of problems until P is complete. */
typedef struct {
    spot_neighbours search[GROUP];
    spot_mat near[GROUP], p[GROUP];           /* (n, k): squared distances, conditional probabilities */
    spot_affinity_rule rule[GROUP];
    spot_affinity_graph graph[GROUP];
} group;

/* Allocates a problem's scratch memory. */
static spot_status take_search(spot_ctx *c, spot_arena *a, group *all, int q, const spot_view *v)
{
    spot_affinity_graph *g = &all->graph[q];
    size_t edges = (size_t)g->n * g->k;
    const float *x;
    float *near, *p;
    int *column;

    SPOT_TRY(SPOT_TAKE(c, a, column, edges));
    SPOT_TRY(SPOT_TAKE(c, a, near, edges));
    SPOT_TRY(SPOT_TAKE(c, a, p, edges));
    SPOT_TRY(SPOT_TAKE(c, a, g->begin, g->n + 2));
    SPOT_TRY(SPOT_TAKE(c, a, g->edge, edges));
    SPOT_TRY(spot_reduce_features(c, a, &x, v));
    all->search[q] = (spot_neighbours){ { (float *)x, g->n, v->d }, g->k, column, near };
    all->near[q] = (spot_mat){ near, g->n, g->k };
    all->p[q] = (spot_mat){ p, g->n, g->k };
    g->column = column;
    g->p = p;
    return SPOT_OK;
}

/* Computes the sparse symmetric P of at most GROUP problems. */
static spot_status find_joint(spot_ctx *c, spot_arena *a, int problems, spot_tsne_problem *t, const spot_view *views,
                              const spot_tsne_config *cfg)
{
    group all;
    size_t mark;

    for (int q = 0; q < problems; q++) {
        spot_affinity_graph *g = &all.graph[q];
        int n = views[q].n;
        double perplexity = cfg->perplexity > n - 1 ? fmax((n - 1) / 3.0, 1) : cfg->perplexity;

        if (perplexity < cfg->perplexity && !a->counting)
            spot_log_of(c, SPOT_LOG_WARN, t[q].ec, "%d points have no perplexity of %g, t-SNE uses %.1f", n, cfg->perplexity,
                        perplexity);
        *g = (spot_affinity_graph){ .n = n, .k = (int)fmin(n - 1, floor(3 * perplexity + 1)) };
        all.rule[q] = (spot_affinity_rule){ log(perplexity), 1e-5, 100 };
        SPOT_TRY(SPOT_TAKE(c, a, g->start, n + 1));        /* P outlives the group */
        SPOT_TRY(SPOT_TAKE(c, a, g->to, spot_affinity_room(n, g->k)));
        SPOT_TRY(SPOT_TAKE(c, a, g->joint, spot_affinity_room(n, g->k)));
        t[q].start = g->start;
        t[q].to = g->to;
        t[q].p = g->joint;
    }
    mark = a->used;
    for (int q = 0; q < problems; q++) SPOT_TRY(take_search(c, a, &all, q, &views[q]));
    SPOT_TRY(spot_neighbours_find(c, a, problems, all.search));
    a->used = mark;
    if (a->counting) return SPOT_OK;
    SPOT_TRY(spot_affinity_rows(c, problems, all.p, all.near, all.rule));
    return spot_affinity_joint(c, problems, all.graph);
}

/* A problem's start: the sums of squares of its components, and the columns that they scale. */
typedef struct { spot_twin square, column; float *noise; } start;

static spot_status take_start(spot_ctx *c, spot_arena *h, spot_arena *a, start *s, const spot_tsne_problem *t)
{
    SPOT_TRY(SPOT_TAKE(c, h, s->noise, t->n));
    SPOT_TRY(spot_twin_take(c, h, a, &s->square, (size_t)t->dim * sizeof(double)));
    return spot_twin_take(c, h, a, &s->column, (size_t)t->dim * sizeof(spot_rows_column));
}

/* Starts from the principal components in `out`, scaled so that the first has standard deviation 1e-4. Components that the data
 * lack start as noise of that size; otherwise equal rows, and maps with more dimensions than the data, could not move. */
static spot_status start_map(spot_ctx *c, const start *s, const spot_tsne_problem *t, const spot_points *out, spot_seed seed)
{
    const float *score = spot_points_target(c, out);
    const spot_rows_squares_problem sum = { t->n, t->dim, score, s->square.on_device };
    const spot_rows_pick_problem pick = { .n = t->n, .d = t->dim, .x = score, .x_row = (size_t)t->dim, .x_column = 1,
                                          .column = s->column.on_device, .y = t->y, .y_row = 1, .y_column = (size_t)t->stride };
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_TSNE, seed.ec, 0);
    const double *square = s->square.here;
    spot_rows_column *column = s->column.here;

    SPOT_TRY(spot_rows_squares(c, 1, &sum));
    SPOT_TRY(spot_twin_pull(c, &s->square));
    for (int k = 0; k < t->dim; k++) column[k] = (spot_rows_column){ k, 0, 1e-4, sqrt(square[0] / t->n) };
    SPOT_TRY(spot_twin_push(c, &s->column));
    SPOT_TRY(spot_rows_pick(c, 1, &pick));
    for (int k = 0; k < t->dim; k++) {
        if (square[k] > 1e-12 * square[0]) continue;
        for (int i = 0; i < t->n; i++) s->noise[i] = (float)(1e-4 * spot_rng_normal(&r));
        SPOT_TRY(spot_device_copy(c, t->y + (size_t)k * t->stride, s->noise, (size_t)t->n * sizeof *s->noise));
    }
    return SPOT_OK;
}

static spot_status start_maps(spot_ctx *c, spot_arena *h, spot_arena *a, int problems, const spot_tsne_problem *t,
                              const spot_points *out, const spot_seed *seeds)
{
    for (int p = 0; p < problems; p++) {
        size_t mark = h->used, mark_there = a->used;
        start s;
        SPOT_TRY(take_start(c, h, a, &s, &t[p]));
        if (!h->counting) SPOT_TRY(start_map(c, &s, &t[p], &out[p], seeds[p]));
        h->used = mark;
        a->used = mark_there;
    }
    return SPOT_OK;
}

/* y (dim, stride) to out (n, dim). */
static spot_status copy_map(spot_ctx *c, spot_points *out, const spot_tsne_problem *t)
{
    const spot_rows_pick_problem pick = { .n = t->n, .d = t->dim, .x = t->y, .x_row = 1, .x_column = (size_t)t->stride,
                                          .y = spot_points_target(c, out), .y_row = (size_t)t->dim, .y_column = 1 };

    out->objective = t->kl;
    return spot_rows_pick(c, 1, &pick);
}

static spot_status map_all(spot_ctx *c, spot_arena *h, spot_arena *a, spot_tsne_problem *t, const spot_reduction *r,
                           const spot_tsne_config *cfg)
{
    for (int p = 0; p < r->problems; p++) {
        t[p] = (spot_tsne_problem){ .n = r->views[p].n, .dim = r->out[p].d, .stride = spot_tsne_stride(r->views[p].n),
                                    .ec = r->seeds[p].ec };
        SPOT_TRY(SPOT_TAKE(c, a, t[p].y, (size_t)t[p].dim * t[p].stride));
    }
    SPOT_TRY(spot_pca_map(c, h, a, r->problems, r->out, r->views));
    SPOT_TRY(start_maps(c, h, a, r->problems, t, r->out, r->seeds));
    for (int p = 0; p < r->problems; p += GROUP)
        SPOT_TRY(find_joint(c, a, r->problems - p < GROUP ? r->problems - p : GROUP, t + p, r->views + p, cfg));
    SPOT_TRY(spot_tsne_fit(c, a, r->problems, t, cfg));
    for (int p = 0; p < r->problems && !a->counting; p++) SPOT_TRY(copy_map(c, &r->out[p], &t[p]));
    return SPOT_OK;
}

spot_status spot_tsne_map(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_reduction *r, const spot_tsne_config *cfg)
{
    size_t mark = work->used;
    spot_tsne_problem *t = calloc((size_t)r->problems, sizeof *t);
    spot_status s = t ? map_all(c, host, work, t, r, cfg)
                      : spot_fail(c, SPOT_NOMEM, "no memory for %d t-SNE problems", r->problems);

    free(t);
    work->used = mark;
    return s;
}
