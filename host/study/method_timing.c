#include "study/method_timing.h"

#include <math.h>
#include <string.h>

#include "spotter/rng.h"
#include "study/reducer_timing.h"

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

/* *full: time of the whole method on such a view. *here: seconds that the timing took. */
static spot_status time_method(spot_ctx *c, spot_arena *a, spot_spent *full, double *here, const spot_config *cfg, int b,
                               int rows, int features)
{
    const spot_embed_config *embed = &cfg->bdm[b].embed;
    const spot_seed seed = { 0, 0 };
    spot_reducer_timing t = { 0 };
    spot_spent at, begin;
    spot_points points;
    spot_hypotheses found;
    spot_truth truth;
    spot_view view;

    SPOT_TRY(spot_method_timing_view(c, a, &view, &truth, cfg->seed, rows, features));
    begin = spot_spent_now();
    points = (spot_points){ .n = view.n, .d = view.d, .at = view.feature, .objective = NAN };
    if (!spot_embed_is_nothing(embed)) SPOT_TRY(spot_reducer_timing_take(c, a, &t, &points, &view, embed, false));
    at = spot_spent_now();
    *full = (spot_spent){ 0, 0 };
    SPOT_TRY(spot_bdm_find(c, a, 1, &found, &view, &points, &seed, &cfg->bdm[b]));
    spot_spend(full, &at);
    *here = at.wall - begin.wall;
    if (!spot_has_points_before(cfg->bdm, b, false)) {
        full->wall += t.before.wall + spot_reducer_iterations(embed, rows) * t.step.wall;
        full->cpu += t.before.cpu + spot_reducer_iterations(embed, rows) * t.step.cpu;
    }
    return spot_check_stop(c);
}

spot_status spot_method_timing_take(spot_ctx *c, spot_arena *a, spot_method_timing *t, const spot_config *cfg, int b, int least,
                                    int most, int features, double patience)
{
    enum { SMALL = 400 };
    int rows = least < SMALL ? least : SMALL;
    size_t mark = a->used;

    *t = (spot_method_timing){ .rows = 0, .power = 1 };
    for (;;) {
        spot_spent now;
        double here, next;
        spot_status s = time_method(c, a, &now, &here, cfg, b, rows, features);
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
        next = fmin(most, rows * sqrt(patience / here));
        if (next < 1.25 * rows) return SPOT_OK;
        rows = (int)next;
    }
}

spot_spent spot_method_timing_at(const spot_method_timing *t, int rows)
{
    double k = t->rows ? pow(rows / t->rows, t->power) : 1;

    return (spot_spent){ t->at.wall * k, t->at.cpu * k };
}
