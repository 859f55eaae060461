/* reducer_timing.c - see reducer_timing.h. The estimate is only shown; no result depends on it. */
#include "study/reducer_timing.h"

#include <math.h>

#include "map/neighbours.h"
#include "map/scvis.h"
#include "map/tsne.h"

enum { FEW = 5, MORE = 25 };       /* iterations */

/* Ratios of time: the filtered search for neighbours to the plain one; interpolated forces to exact ones at SPOT_TSNE_EXACT
 * points. Measured at 20,000 to 100,000 rows. */
#define FILTERED 0.45
#define BY_FFT   0.15

int spot_reducer_iterations(const spot_embed_config *cfg, int n)
{
    return cfg->method == SPOT_REDUCE_TSNE ? cfg->tsne.iterations
         : cfg->method == SPOT_REDUCE_SCVIS ? spot_scvis_iterations(n, &cfg->scvis) : 0;
}

static spot_status time_neighbours(spot_ctx *c, spot_arena *a, spot_reducer_timing *t, const spot_view *v)
{
    enum { K = 16 };
    spot_neighbours s = { .x = { v->feature, v->n, v->d }, .k = K < v->n ? K : v->n - 1 };
    size_t mark = a->used;
    spot_spent at;

    if (c->device || v->n < 2) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, s.column, (size_t)v->n * K));
    SPOT_TRY(SPOT_TAKE(c, a, s.near, (size_t)v->n * K));
    at = spot_spent_now();
    SPOT_TRY(spot_neighbours_find(c, a, 1, &s));
    spot_spend(&t->neighbours, &at);
    a->used = mark;
    return SPOT_OK;
}

spot_status spot_reducer_timing_take(spot_ctx *c, spot_arena *a, spot_reducer_timing *t, spot_points *points,
                                     const spot_view *view, const spot_embed_config *cfg)
{
    const spot_seed seed = { 0, 0 };
    spot_embed_config some = *cfg;
    int *iterations = cfg->method == SPOT_REDUCE_TSNE ? &some.tsne.iterations
                    : cfg->method == SPOT_REDUCE_SCVIS ? &some.scvis.iterations : NULL;
    spot_spent more = { 0, 0 }, at;

    *t = (spot_reducer_timing){ .rows = view->n };
    if (cfg->method == SPOT_REDUCE_TSNE || cfg->method == SPOT_REDUCE_UMAP) SPOT_TRY(time_neighbours(c, a, t, view));
    if (iterations && *iterations && *iterations <= MORE) iterations = NULL;       /* few enough to run all */
    if (iterations) *iterations = FEW;
    at = spot_spent_now();
    SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, &some));
    spot_spend(&t->before, &at);
    if (!iterations) return SPOT_OK;
    *iterations = MORE;
    SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, &some));
    spot_spend(&more, &at);
    t->step.wall = fmax(0, more.wall - t->before.wall) / (MORE - FEW);
    t->step.cpu = fmax(0, more.cpu - t->before.cpu) / (MORE - FEW);
    t->before.wall -= FEW * t->step.wall;
    t->before.cpu -= FEW * t->step.cpu;
    return SPOT_OK;
}

/* Parts of the time on rows that are `rows` in the trial. */
typedef struct { double rows, neighbours, before, step; } parts;

static double seconds_at(parts t, const spot_embed_config *cfg, int n)
{
    double r = n / t.rows, full = SPOT_TSNE_EXACT / t.rows;
    double near = t.neighbours * r * r * (n > SPOT_NEIGHBOURS_MANY ? FILTERED : 1);
    double before = fmax(0, t.before - t.neighbours) * r, steps = t.step * spot_reducer_iterations(cfg, n);
    int batch = cfg->scvis.batch < n ? cfg->scvis.batch : n;

    if (cfg->method == SPOT_REDUCE_TSNE && n <= SPOT_TSNE_EXACT) return near + before + steps * r * r;
    if (cfg->method == SPOT_REDUCE_TSNE) return near + before + BY_FFT * steps * full * full * n / SPOT_TSNE_EXACT;
    if (cfg->method == SPOT_REDUCE_UMAP) return near + before;
    return before + steps * (batch < t.rows ? 1 : batch / t.rows);         /* only scvis has steps */
}

spot_spent spot_reducer_timing_at(const spot_reducer_timing *t, const spot_embed_config *cfg, int n)
{
    return (spot_spent){ seconds_at((parts){ t->rows, t->neighbours.wall, t->before.wall, t->step.wall }, cfg, n),
                         seconds_at((parts){ t->rows, t->neighbours.cpu, t->before.cpu, t->step.cpu }, cfg, n) };
}
