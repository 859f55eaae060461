/* by_tsne.c - prepares t-SNE's descent: neighbours, the sparse symmetric P, the start. As in scikit-learn's Barnes-Hut, so that
 * both minimise the same function. */
#include <math.h>
#include <stdlib.h>

#include "core/device.h"
#include "embed/reduce.h"
#include "map/affinity.h"
#include "map/neighbours.h"
#include "map/tsne.h"
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

/* Starts from the principal components in `out`, scaled so that the first has standard deviation 1e-4. Components that the data
 * lack start as noise of that size; otherwise equal rows, and maps with more dimensions than the data, could not move. */
static spot_status start_map(spot_ctx *c, spot_arena *h, const spot_tsne_problem *t, const spot_points *out, spot_seed seed)
{
    size_t mark = h->used, entries = (size_t)t->dim * t->stride;
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_TSNE, seed.ec, 0);
    const float *score = out->at;
    float *y = t->y;
    double first = 0;

    if (c->device) SPOT_TRY(SPOT_TAKE(c, h, y, entries));
    h->used = mark;
    if (h->counting) return SPOT_OK;
    for (int k = 0; k < t->dim; k++) {
        double squares = 0;
        for (int i = 0; i < t->n; i++) squares += (double)score[i * t->dim + k] * score[i * t->dim + k];
        if (k == 0) first = squares;
        for (int i = 0; i < t->n; i++)
            y[(size_t)k * t->stride + i] = (float)(squares > 1e-12 * first ? score[i * t->dim + k] * 1e-4 / sqrt(first / t->n)
                                                                           : 1e-4 * spot_rng_normal(&r));
    }
    return c->device ? spot_device_copy(c, t->y, y, entries * sizeof *y) : SPOT_OK;
}

/* y (dim, stride) to out (n, dim). */
static spot_status copy_map(spot_ctx *c, spot_arena *h, spot_points *out, const spot_tsne_problem *t)
{
    size_t mark = h->used, entries = (size_t)t->dim * t->stride;
    float *y = t->y;

    if (c->device) SPOT_TRY(SPOT_TAKE(c, h, y, entries));
    h->used = mark;
    if (h->counting) return SPOT_OK;
    if (c->device) SPOT_TRY(spot_device_copy(c, y, t->y, entries * sizeof *y));
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->dim; k++) out->at[i * t->dim + k] = y[(size_t)k * t->stride + i];
    out->objective = t->kl;
    return spot_points_copy(c, out);
}

static spot_status map_all(spot_ctx *c, spot_arena *h, spot_arena *a, spot_tsne_problem *t, int problems, spot_points *out,
                           const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg)
{
    for (int p = 0; p < problems; p++) {
        t[p] = (spot_tsne_problem){ .n = views[p].n, .dim = out[p].d, .stride = spot_tsne_stride(views[p].n),
                                    .ec = seeds[p].ec };
        SPOT_TRY(SPOT_TAKE(c, a, t[p].y, (size_t)t[p].dim * t[p].stride));
    }
    SPOT_TRY(spot_pca_map(c, h, a, problems, out, views));
    for (int p = 0; p < problems; p++) SPOT_TRY(start_map(c, h, &t[p], &out[p], seeds[p]));
    for (int p = 0; p < problems; p += GROUP)
        SPOT_TRY(find_joint(c, a, problems - p < GROUP ? problems - p : GROUP, t + p, views + p, cfg));
    SPOT_TRY(spot_tsne_fit(c, a, problems, t, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(copy_map(c, h, &out[p], &t[p]));
    return SPOT_OK;
}

spot_status spot_tsne_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                          const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg)
{
    size_t mark = work->used;
    spot_tsne_problem *t = calloc((size_t)problems, sizeof *t);
    spot_status s = t ? map_all(c, host, work, t, problems, out, views, seeds, cfg)
                      : spot_fail(c, SPOT_NOMEM, "no memory for %d t-SNE problems", problems);

    free(t);
    work->used = mark;
    return s;
}
