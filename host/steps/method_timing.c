/* method_timing.c - how the time of a method grows with the rows of a view: a few iterations on a small view and on a larger one. */
#include "steps/method_timing.h"

#include <math.h>
#include <string.h>

#include "spotter/rng.h"
#include "store/keys.h"

spot_status spot_method_timing_view(spot_ctx *c, spot_arena *a, spot_view *v, spot_truth *truth, uint64_t seed, int rows,
                             int features)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);
    float *centre;

    *v = (spot_view){ .n = rows, .d = features };
    *truth = (spot_truth){ .n = rows };
    SPOT_TRY(SPOT_TAKE(c, a, v->feature, (size_t)v->n * (size_t)v->d));
    SPOT_TRY(SPOT_TAKE(c, a, v->head, v->d));
    SPOT_TRY(SPOT_TAKE(c, a, v->confidence, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, v->image, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, truth->mask, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, centre, (size_t)SPOT_GROWTH_CENTRES * (size_t)v->d));
    memset(truth->mask, 0, (size_t)v->n * sizeof *truth->mask);
    for (int j = 0; j < v->d; j++) v->head[j] = (float)spot_rng_normal(&r);
    for (int j = 0; j < SPOT_GROWTH_CENTRES * v->d; j++) centre[j] = (float)spot_rng_normal(&r);
    for (int i = 0; i < v->n; i++) {
        int k = i % SPOT_GROWTH_CENTRES;
        for (int j = 0; j < v->d; j++)
            v->feature[(size_t)i * v->d + j] = fmaxf(0, centre[k * v->d + j] + 0.4f * (float)spot_rng_normal(&r));
        v->confidence[i] = (float)((k < 3 ? 0.1 : 0.99) + (k < 3 ? 0.5 : 0.01) * spot_rng_uniform(&r));
        v->image[i] = i;
    }
    return SPOT_OK;
}

static int *iterations_of(spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_TSNE ? &cfg->tsne.iterations
         : cfg->method == SPOT_REDUCE_SCVIS ? &cfg->scvis.iterations : NULL;
}

/* The original's rule for scvis; embed.h. */
static int iterations_meant(const spot_embed_config *cfg, int rows)
{
    int batch, n;

    if (cfg->method == SPOT_REDUCE_TSNE) return cfg->tsne.iterations;
    if (cfg->scvis.iterations) return cfg->scvis.iterations;
    batch = cfg->scvis.batch < rows ? cfg->scvis.batch : rows;
    n = 100 * (int)lround((double)rows / batch);
    return n < 3000 ? 3000 : n > 30000 ? 30000 : n;
}

/* Few iterations, and some more, which lead to all of them. */
static spot_status time_embedding(spot_ctx *c, spot_arena *a, spot_points *points, spot_spent *took, const spot_view *view,
                                  const spot_embed_config *cfg)
{
    enum { FEW = 5, MORE = 25 };
    const spot_seed seed = { 0, 0 };
    spot_embed_config some = *cfg;
    int *iterations = iterations_of(&some);
    spot_spent few = { 0, 0 }, more = few, at = spot_spent_now();
    double k;

    if (iterations && *iterations && *iterations <= MORE) iterations = NULL;
    if (iterations) *iterations = FEW;
    SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, &some));
    spot_spend(&few, &at);
    *took = few;
    if (!iterations) return SPOT_OK;
    *iterations = MORE;
    SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, &some));
    spot_spend(&more, &at);
    k = (double)(iterations_meant(cfg, view->n) - FEW) / (MORE - FEW);
    took->wall += k * fmax(0, more.wall - few.wall);
    took->cpu += k * fmax(0, more.cpu - few.cpu);
    return SPOT_OK;
}

bool spot_has_points_before(const spot_config *cfg, int b)
{
    spot_key k = spot_key_of_reduction(&cfg->bdm[b]);

    for (int i = 0; i < b; i++) {
        spot_key other = spot_key_of_reduction(&cfg->bdm[i]);
        if (other.hi == k.hi && other.lo == k.lo) return true;
    }
    return false;
}

/* What it would take, into *full, and what this took. */
static spot_status time_method(spot_ctx *c, spot_arena *a, spot_spent *full, double *here, const spot_config *cfg, int b,
                               int rows, int features)
{
    const spot_seed seed = { 0, 0 };
    spot_spent embed = { 0, 0 }, at, begin;
    spot_points points;
    spot_hypotheses found;
    spot_truth truth;
    spot_view view;

    SPOT_TRY(spot_method_timing_view(c, a, &view, &truth, cfg->seed, rows, features));
    begin = at = spot_spent_now();
    points = (spot_points){ view.n, view.d, view.feature, NAN };
    if (!spot_embed_is_nothing(&cfg->bdm[b].embed))
        SPOT_TRY(time_embedding(c, a, &points, &embed, &view, &cfg->bdm[b].embed));
    at = spot_spent_now();
    *full = (spot_spent){ 0, 0 };
    SPOT_TRY(spot_bdm_find(c, a, 1, &found, &view, &points, &seed, &cfg->bdm[b]));
    spot_spend(full, &at);
    *here = at.wall - begin.wall;
    if (!spot_has_points_before(cfg, b)) {
        full->wall += embed.wall;
        full->cpu += embed.cpu;
    }
    return spot_check_stop(c);
}

spot_status spot_method_timing_take(spot_ctx *c, spot_arena *a, spot_method_timing *g, const spot_config *cfg, int b, int least, int most,
                             int features, double patience)
{
    enum { SMALL = 400 };
    int rows = least < SMALL ? least : SMALL;
    size_t mark = a->used;

    *g = (spot_method_timing){ .rows = 0, .power = 1 };
    for (;;) {
        spot_spent now;
        double here, next;
        spot_status s = time_method(c, a, &now, &here, cfg, b, rows, features);
        a->used = mark;
        if (spot_is_verdict(s)) {                      /* it would be one in the sweep, and the next method's turn */
            spot_forget(c);
            return SPOT_OK;
        }
        SPOT_TRY(s);
        if (g->rows && g->at.cpu > 0 && now.cpu > 0)
            g->power = fmin(fmax(log(now.cpu / g->at.cpu) / log(rows / g->rows), 0), 2.5);
        g->rows = rows;
        g->at = now;
        next = fmin(most, rows * sqrt(patience / here));
        if (next < 1.25 * rows) return SPOT_OK;
        rows = (int)next;
    }
}

spot_spent spot_method_timing_at(const spot_method_timing *g, int rows)
{
    double k = g->rows ? pow(rows / g->rows, g->power) : 1;

    return (spot_spent){ g->at.wall * k, g->at.cpu * k };
}
