/* by_tsne.c - what t-SNE needs before its descent: neighbours, the sparse symmetric P, a start. As scikit-learn's
 * Barnes-Hut does it, so that the two minimise the same function. */
#include <math.h>
#include <stdlib.h>

#include "affinity.h"
#include "device.h"
#include "distance.h"
#include "reduce.h"
#include "spotter/rng.h"
#include "tsne.h"

enum { ROW_TILE = 256, GROUP = 16 };   /* rows whose distances are held at a time, of so many problems at a time */

/* A perplexity that n - 1 neighbours cannot have is lowered. */
static double possible(double perplexity, int n) { return perplexity > n - 1 ? fmax((n - 1) / 3.0, 1) : perplexity; }

/* Per point, itself not counted. */
static int neighbours(double perplexity, int n) { return (int)fmin(n - 1, floor(3 * perplexity + 1)); }

/* What the neighbour search of a group of problems works with; all tiles have ROW_TILE rows but the last. */
typedef struct {
    int problems, tallest;
    spot_mat points[GROUP], p[GROUP];         /* (n, d), and the conditional probabilities (n, k) */
    float *dist[GROUP], *near[GROUP];         /* (ROW_TILE, n), (ROW_TILE, k) */
    uint64_t *keys;
    spot_affinity_rule rule[GROUP];
    spot_affinity_graph graph[GROUP];
} group;

/* Memory of t's P, which stays. */
static spot_status take_joint(spot_ctx *c, spot_arena *a, spot_affinity_graph *g)
{
    size_t room = spot_affinity_room(g->n, g->k);

    SPOT_TRY(SPOT_TAKE(c, a, g->start, g->n + 1));
    SPOT_TRY(SPOT_TAKE(c, a, g->to, room));
    return SPOT_TAKE(c, a, g->joint, room);
}

static spot_status take_search(spot_ctx *c, spot_arena *a, group *all, const spot_view *views)
{
    for (int q = 0; q < all->problems; q++) {
        spot_affinity_graph *g = &all->graph[q];
        size_t edges = (size_t)g->n * g->k;
        int *column;

        SPOT_TRY(SPOT_TAKE(c, a, column, edges));
        SPOT_TRY(SPOT_TAKE(c, a, all->p[q].v, edges));
        SPOT_TRY(SPOT_TAKE(c, a, g->begin, g->n + 2));
        SPOT_TRY(SPOT_TAKE(c, a, g->edge, edges));
        SPOT_TRY(SPOT_TAKE(c, a, all->dist[q], (size_t)ROW_TILE * g->n));
        SPOT_TRY(SPOT_TAKE(c, a, all->near[q], (size_t)ROW_TILE * g->k));
        SPOT_TRY(spot_reduce_features(c, a, &all->points[q].v, &views[q]));
        g->column = column;
        g->p = all->p[q].v;
    }
    return SPOT_TAKE(c, a, all->keys, (size_t)c->threads * all->tallest);
}

/* Rows i0 .. i0+255 of every problem that has them: distances, the k nearest, their conditional probabilities. */
static spot_status search_tile(spot_ctx *c, group *all, int i0)
{
    spot_mat tile[GROUP], points[GROUP], dist[GROUP], near[GROUP], p[GROUP];
    spot_affinity_search search[GROUP];
    spot_affinity_rule rule[GROUP];
    int count = 0;

    for (int q = 0; q < all->problems; q++) {
        spot_mat x = all->points[q];
        int k = all->graph[q].k, rows = x.rows - i0 < ROW_TILE ? x.rows - i0 : ROW_TILE;
        size_t first = (size_t)i0 * k;

        if (rows <= 0) continue;
        points[count] = x;
        tile[count] = (spot_mat){ x.v + (size_t)i0 * x.cols, rows, x.cols };
        dist[count] = (spot_mat){ all->dist[q], rows, x.rows };
        near[count] = (spot_mat){ all->near[q], rows, k };
        p[count] = (spot_mat){ all->p[q].v + first, rows, k };
        search[count] = (spot_affinity_search){ dist[count], i0, (int *)all->graph[q].column + first, near[count] };
        rule[count++] = all->rule[q];
    }
    SPOT_TRY(spot_distance_squared(c, count, dist, tile, points));
    SPOT_TRY(spot_affinity_nearest(c, count, search, all->keys));
    return spot_affinity_rows(c, count, p, near, rule);
}

/* The sparse symmetric P of at most GROUP problems. */
static spot_status joint(spot_ctx *c, spot_arena *a, int problems, spot_tsne_problem *t, const spot_view *views,
                         const spot_tsne_config *cfg)
{
    group all = { .problems = problems };
    size_t mark;

    for (int q = 0; q < problems; q++) {
        spot_affinity_graph *g = &all.graph[q];
        int n = views[q].n;
        double perplexity = possible(cfg->perplexity, n);

        if (perplexity < cfg->perplexity && !a->counting)
            spot_log(c, SPOT_LOG_WARN, "EC %u: %d points have no perplexity of %g, t-SNE uses %.1f", t[q].ec, n,
                     cfg->perplexity, perplexity);
        g->n = n;
        g->k = neighbours(perplexity, n);
        all.tallest = n > all.tallest ? n : all.tallest;
        all.points[q] = (spot_mat){ NULL, n, views[q].d };
        all.rule[q] = (spot_affinity_rule){ log(perplexity), 1e-5, 100 };
        SPOT_TRY(take_joint(c, a, g));
        t[q].start = g->start;
        t[q].to = g->to;
        t[q].p = g->joint;
    }
    mark = a->used;
    SPOT_TRY(take_search(c, a, &all, views));
    a->used = mark;
    if (a->counting) return SPOT_OK;
    for (int i0 = 0; i0 < all.tallest; i0 += ROW_TILE) SPOT_TRY(search_tile(c, &all, i0));
    return spot_affinity_joint(c, problems, all.graph);
}

/* From principal components (in `out`, where the map will be), the first with standard deviation 1e-4. Components that the
 * data lack start as noise of that size, so that equal rows and maps of more dimensions than the data can move at all. */
static spot_status begin(spot_ctx *c, spot_arena *h, const spot_tsne_problem *t, const spot_points *out, spot_seed seed)
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
static spot_status hand_out(spot_ctx *c, spot_arena *h, spot_points *out, const spot_tsne_problem *t)
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
    return SPOT_OK;
}

static spot_status solve(spot_ctx *c, spot_arena *h, spot_arena *a, spot_tsne_problem *t, int problems, spot_points *out,
                         const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg)
{
    for (int p = 0; p < problems; p++) {
        t[p] = (spot_tsne_problem){ .n = views[p].n, .dim = out[p].d, .stride = spot_tsne_stride(views[p].n),
                                    .ec = seeds[p].ec };
        SPOT_TRY(SPOT_TAKE(c, a, t[p].y, (size_t)t[p].dim * t[p].stride));
    }
    SPOT_TRY(spot_pca_map(c, h, a, problems, out, views));
    for (int p = 0; p < problems; p++) SPOT_TRY(begin(c, h, &t[p], &out[p], seeds[p]));
    for (int p = 0; p < problems; p += GROUP)
        SPOT_TRY(joint(c, a, problems - p < GROUP ? problems - p : GROUP, t + p, views + p, cfg));
    SPOT_TRY(spot_tsne_fit(c, a, problems, t, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(hand_out(c, h, &out[p], &t[p]));
    return SPOT_OK;
}

spot_status spot_tsne_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                          const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg)
{
    size_t mark = work->used;
    spot_tsne_problem *t = calloc((size_t)problems, sizeof *t);
    spot_status s = t ? solve(c, host, work, t, problems, out, views, seeds, cfg)
                      : spot_fail(c, SPOT_NOMEM, "no memory for %d t-SNE problems", problems);

    free(t);
    work->used = mark;
    return s;
}
