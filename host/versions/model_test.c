/* model_test.c - see model_test.h. */
#include "versions/model_test.h"

#include <math.h>

#include "stats/group_sums.h"
#include "stats/statistics.h"

/* ---- answers and shares ---- */

static spot_status test_shares(spot_ctx *c, spot_model_test *t, const double *worsening, int n, uint32_t address)
{
    const bool by_size = t->scale == SPOT_MODEL_SHARE;
    spot_group_sums sums;
    double up = 0, down = 0;

    for (int i = 0; i < n; i++) up += fmax(0, worsening[i]), down += fmax(0, -worsening[i]);
    if (by_size) {
        SPOT_TRY(spot_group_sums_open(c, &sums, n));
        for (int i = 0; i < n; i++) spot_group_sums_add(&sums, i, worsening[i]);
    }
    t->share = spot_change_test_of(up, down, n, 1, by_size ? &sums : NULL, address);
    t->interval = spot_change_interval(&t->share, 0.025, 0.025);
    if (by_size) spot_group_sums_close(&sums);
    return SPOT_OK;
}

/* ---- numbers ---- */

static double error_of(const double *x, int n, double mean)
{
    double square = 0;

    for (int i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    return n < 2 ? 0 : sqrt(square / (n - 1) / n);
}

static spot_status test_numbers(spot_ctx *c, spot_model_test *t, const double *worsening, int n, uint32_t address)
{
    spot_difference d;
    int changed = 0;

    SPOT_TRY(spot_difference_of(c, &d, worsening, n, NULL, 0, address));
    for (int i = 0; i < n; i++) changed += worsening[i] != 0;
    t->n = n, t->mean = d.mean, t->error = error_of(worsening, n, d.mean);
    t->exact[0] = t->exact[1] = 1;
    t->exact[d.mean < 0] = fmax(d.p, ldexp(1, -changed));              /* drawn signs may miss the least p */
    t->interval = (spot_interval){ d.mean, d.low, d.high };
    return SPOT_OK;
}

/* n objects that all lie on one side of `by` have p 2^-n if either side is as likely. */
static double numbers_above(double mean, double error, int n, double exact, double by)
{
    const double distance = mean - by;
    const double p = error > 0 ? spot_student_tail(distance / error, n - 1) : n > 1 && distance > 0 ? 0 : 1;

    return fmax(by >= 0 ? exact : 0, fmax(p, ldexp(1, -n)));
}

static double numbers_needed(const spot_model_test *t, double by, double tail)
{
    const double z = -spot_normal_quantile(tail) + spot_normal_quantile(0.8), distance = fabs(t->mean - by);

    return distance > 0 ? fmax(-log2(tail), t->error * t->error * t->n * z * z / (distance * distance)) : INFINITY;
}

/* ---- all ---- */

spot_status spot_model_test_of(spot_ctx *c, spot_model_test *t, spot_model_scale scale, const double *worsening, int n,
                               uint32_t address)
{
    *t = (spot_model_test){ .scale = scale };
    return scale == SPOT_MODEL_NUMBER ? test_numbers(c, t, worsening, n, address) : test_shares(c, t, worsening, n, address);
}

double spot_model_above(const spot_model_test *t, double by)
{
    return t->scale == SPOT_MODEL_NUMBER ? numbers_above(t->mean, t->error, t->n, t->exact[0], by)
                                         : spot_change_above(&t->share, by);
}

double spot_model_below(const spot_model_test *t, double by)
{
    return t->scale == SPOT_MODEL_NUMBER ? numbers_above(-t->mean, t->error, t->n, t->exact[1], -by)
                                         : spot_change_below(&t->share, by);
}

double spot_model_needed(const spot_model_test *t, double by, double tail)
{
    return t->scale == SPOT_MODEL_NUMBER ? numbers_needed(t, by, tail) : spot_change_needed(&t->share, by, tail);
}
