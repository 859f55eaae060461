#include "study/method_timing.h"

#include <math.h>
#include <string.h>

#include "spotter/rng.h"

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
    SPOT_TRY(SPOT_TAKE(c, a, centre, (size_t)SPOT_TIMING_CENTRES * (size_t)v->d));
    memset(truth->mask, 0, (size_t)v->n * sizeof *truth->mask);
    for (int j = 0; j < v->d; j++) v->head[j] = (float)spot_rng_normal(&r);
    for (int j = 0; j < SPOT_TIMING_CENTRES * v->d; j++) centre[j] = (float)spot_rng_normal(&r);
    for (int i = 0; i < v->n; i++) {
        int k = i % SPOT_TIMING_CENTRES;
        for (int j = 0; j < v->d; j++)
            v->feature[(size_t)i * v->d + j] = fmaxf(0, centre[k * v->d + j] + 0.4f * (float)spot_rng_normal(&r));
        v->confidence[i] = (float)((k < 3 ? 0.1 : 0.99) + (k < 3 ? 0.5 : 0.01) * spot_rng_uniform(&r));
        v->image[i] = i;
    }
    return SPOT_OK;
}

/* *alone, *map: time of the method and of its reduction on such a view. *here: seconds that the timing took. */
static spot_status time_method(spot_ctx *c, spot_arena *a, spot_spent *alone, spot_reducer_timing *map, double *here,
                               const spot_config *cfg, int b, int rows, int features)
{
    const spot_embed_config *embed = &cfg->bdm[b].embed;
    const spot_seed seed = { 0, 0 };
    spot_spent at, begin;
    spot_points points;
    spot_hypotheses found;
    spot_truth truth;
    spot_view view;

    SPOT_TRY(spot_method_timing_view(c, a, &view, &truth, cfg->seed, rows, features));
    begin = spot_spent_now();
    points = (spot_points){ .n = view.n, .d = view.d, .at = view.feature, .objective = NAN };
    *map = (spot_reducer_timing){ .rows = 0 };
    if (!spot_embed_is_nothing(embed)) SPOT_TRY(spot_reducer_timing_take(c, a, map, &points, &view, embed));
    at = spot_spent_now();
    *alone = (spot_spent){ 0, 0 };
    SPOT_TRY(spot_bdm_find(c, a, 1, &found, &view, &points, &seed, &cfg->bdm[b]));
    spot_spend(alone, &at);
    *here = at.wall - begin.wall;
    if (spot_has_points_before(cfg->bdm, b, false)) map->rows = 0;
    return spot_check_stop(c);
}

/* The exponent follows from views of at least twice the rows: between closer ones a moment of another program would decide. */
spot_status spot_method_timing_take(spot_ctx *c, spot_arena *a, spot_method_timing *t, const spot_config *cfg, int b, int least,
                                    int most, int features, double patience)
{
    enum { SMALL = 400 };
    int rows = least < SMALL ? least : SMALL;
    size_t mark = a->used;

    *t = (spot_method_timing){ .rows = 0, .power = 1 };
    for (;;) {
        spot_reducer_timing map;
        spot_spent now;
        double here;
        spot_status s = time_method(c, a, &now, &map, &here, cfg, b, rows, features);
        a->used = mark;
        if (spot_is_verdict(s)) {                      /* the sweep would record it and continue with the next method */
            spot_forget(c);
            return SPOT_OK;
        }
        SPOT_TRY(s);
        if (t->rows && t->at.cpu > 0 && now.cpu > 0)
            t->power = fmin(fmax(log(now.cpu / t->at.cpu) / log(rows / t->rows), 0), 2.5);
        t->rows = rows;
        t->at = now;
        t->map = map;
        if (rows >= most || rows * sqrt(patience / here) < 2 * rows) return SPOT_OK;
        rows = (int)fmin(most, rows * sqrt(patience / here));
    }
}

spot_spent spot_method_timing_at(const spot_method_timing *t, const spot_embed_config *embed, int rows)
{
    double k = t->rows ? pow(rows / t->rows, t->power) : 1;
    spot_spent map = { 0, 0 };

    if (t->map.rows) map = spot_reducer_timing_at(&t->map, embed, rows);
    return (spot_spent){ t->at.wall * k + map.wall, t->at.cpu * k + map.cpu };
}
