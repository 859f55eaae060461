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

static spot_status take_search(spot_ctx *c, spot_arena *a, group *all)
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
        all.points[q] = (spot_mat){ views[q].feature, n, views[q].d };
        all.rule[q] = (spot_affinity_rule){ log(perplexity), 1e-5, 100 };
        SPOT_TRY(take_joint(c, a, g));
        t[q].start = g->start;
        t[q].to = g->to;
        t[q].p = g->joint;
    }
    mark = a->used;
    SPOT_TRY(take_search(c, a, &all));
    a->used = mark;
    if (a->counting) return SPOT_OK;
    for (int i0 = 0; i0 < all.tallest; i0 += ROW_TILE) SPOT_TRY(search_tile(c, &all, i0));
    return spot_affinity_joint(c, problems, all.graph);
}

/* Principal components, the first with standard deviation 1e-4. Components that the data lack start as noise of that
 * size, so that equal rows and maps of more dimensions than the data can move at all. LAPACK finds them on the host, in
 * `h`: what lies on a device comes over for it and the start goes back. */
static spot_status begin_at_pca(spot_ctx *c, spot_arena *a, spot_arena *h, const spot_tsne_problem *t, const spot_view *v,
                                spot_seed seed)
{
    size_t mark = h->used, entries = (size_t)t->dim * t->stride, values = (size_t)v->n * v->d;
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_TSNE, seed.ec, 0);
    float *score, *x = v->feature, *y = t->y;
    spot_points start = { .n = v->n, .d = t->dim };
    double first = 0;

    if (c->device) {
        SPOT_TRY(SPOT_TAKE(c, h, x, values));
        SPOT_TRY(SPOT_TAKE(c, h, y, entries));
        if (!h->counting) SPOT_TRY(spot_device_copy(c, x, v->feature, values * sizeof *x));
    }
    SPOT_TRY(SPOT_TAKE(c, h, score, (size_t)v->n * t->dim));
    start.at = score;
    SPOT_TRY(spot_pca_map(c, h, a, 1, &start, &(spot_view){ .n = v->n, .d = v->d, .feature = x }));
    h->used = mark;
    if (h->counting) return SPOT_OK;
    for (int k = 0; k < t->dim; k++) {
        double squares = 0;
        for (int i = 0; i < v->n; i++) squares += (double)score[i * t->dim + k] * score[i * t->dim + k];
        if (k == 0) first = squares;
        for (int i = 0; i < v->n; i++)
            y[(size_t)k * t->stride + i] = (float)(squares > 1e-12 * first ? score[i * t->dim + k] * 1e-4 / sqrt(first / v->n)
                                                                           : 1e-4 * spot_rng_normal(&r));
    }
    return c->device ? spot_device_copy(c, t->y, y, entries * sizeof *y) : SPOT_OK;
}

/* y (dim, stride) to out (n, dim), by way of the host where they lie on a device. */
static spot_status hand_out(spot_ctx *c, spot_arena *h, spot_points *out, const spot_tsne_problem *t)
{
    size_t mark = h->used, entries = (size_t)t->dim * t->stride, values = (size_t)t->n * t->dim;
    float *y = t->y, *at = out->at;

    if (c->device) {
        SPOT_TRY(SPOT_TAKE(c, h, y, entries));
        SPOT_TRY(SPOT_TAKE(c, h, at, values));
        if (!h->counting) SPOT_TRY(spot_device_copy(c, y, t->y, entries * sizeof *y));
    }
    h->used = mark;
    if (h->counting) return SPOT_OK;
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->dim; k++) at[i * t->dim + k] = y[(size_t)k * t->stride + i];
    out->objective = t->kl;
    return c->device ? spot_device_copy(c, out->at, at, values * sizeof *at) : SPOT_OK;
}

/* `h` is memory of the host, and may be `a` where that is. */
static spot_status solve(spot_ctx *c, spot_arena *a, spot_arena *h, spot_tsne_problem *t, int problems, spot_points *out,
                         const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg)
{
    for (int p = 0; p < problems; p++) {
        t[p] = (spot_tsne_problem){ .n = views[p].n, .dim = out[p].d, .stride = spot_tsne_stride(views[p].n),
                                    .ec = seeds[p].ec };
        SPOT_TRY(SPOT_TAKE(c, a, t[p].y, (size_t)t[p].dim * t[p].stride));
        SPOT_TRY(begin_at_pca(c, a, h, &t[p], &views[p], seeds[p]));
    }
    for (int p = 0; p < problems; p += GROUP)
        SPOT_TRY(joint(c, a, problems - p < GROUP ? problems - p : GROUP, t + p, views + p, cfg));
    SPOT_TRY(spot_tsne_fit(c, a, problems, t, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(hand_out(c, h, &out[p], &t[p]));
    return SPOT_OK;
}

/* `a` lies on a device: a piece of host memory for what is still done there. */
static spot_status solve_on_device(spot_ctx *c, spot_arena *a, spot_tsne_problem *t, int problems, spot_points *out,
                                   const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg)
{
    spot_arena sizes = spot_arena_counting(), need = spot_arena_counting(), host;
    spot_status s;

    SPOT_TRY(solve(c, &sizes, &need, t, problems, out, views, seeds, cfg));
    host = (spot_arena){ .base = aligned_alloc(64, (need.peak + 63) / 64 * 64), .size = need.peak };
    s = host.base ? solve(c, a, &host, t, problems, out, views, seeds, cfg)
                  : spot_fail(c, SPOT_NOMEM, "no %.1f MB of host memory for the start of t-SNE", need.peak / 1e6);
    free(host.base);
    return s;
}

spot_status spot_tsne_map(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                          const spot_seed *seeds, const spot_tsne_config *cfg)
{
    size_t mark = a->used;
    spot_tsne_problem *t = calloc((size_t)problems, sizeof *t);
    spot_status s = !t ? spot_fail(c, SPOT_NOMEM, "no memory for %d t-SNE problems", problems)
                  : c->device && !a->counting ? solve_on_device(c, a, t, problems, out, views, seeds, cfg)
                                              : solve(c, a, a, t, problems, out, views, seeds, cfg);

    free(t);
    a->used = mark;
    return s;
}
