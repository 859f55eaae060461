/* bootstrap.c - see bootstrap.h. */
#include "stats/bootstrap.h"

#include <math.h>

#include "base/order.h"

/* Moves the finite numbers to the front; returns how many there are. */
static int keep_finite(double *v, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++)
        if (isfinite(v[i])) v[kept++] = v[i];
    return kept;
}

int spot_percentiles(spot_interval *v, double *draw, int n, int least)
{
    const int kept = keep_finite(draw, n);

    v->low = v->high = NAN;
    if (!isfinite(v->value) || kept < least) return kept;
    spot_sort_doubles(draw, (size_t)kept);
    v->low = spot_quantile(draw, kept, 0.025);
    v->high = spot_quantile(draw, kept, 0.975);
    return kept;
}

void spot_bootstrap_run(spot_interval *v, const spot_bootstrap *b, int threads, double *scratch)
{
#pragma omp parallel for num_threads(threads < 1 ? 1 : threads)
    for (int d = 0; d < SPOT_REDRAWS; d++) {
        spot_rng r = spot_rng_at(b->seed, SPOT_RNG_BOOTSTRAP, b->unit, (uint32_t)d);
        b->draw(scratch + d, b->of, &r);
    }
    for (int k = 0; k < b->numbers; k++) spot_percentiles(&v[k], scratch + (size_t)k * SPOT_REDRAWS, SPOT_REDRAWS, b->least);
}

typedef struct { const double *value; int n; } sample;

static void draw_mean(double *out, const void *of, spot_rng *r)
{
    const sample *s = of;
    double sum = 0;

    for (int i = 0; i < s->n; i++) sum += s->value[spot_rng_below(r, (uint32_t)s->n)];
    *out = sum / s->n;
}

spot_interval spot_bootstrap_mean(double *value, int n, uint32_t unit, int threads, double *scratch)
{
    const sample s = { value, keep_finite(value, n) };
    spot_interval v = { NAN, NAN, NAN };
    double sum = 0;

    if (!s.n) return v;
    for (int i = 0; i < s.n; i++) sum += value[i];
    v.value = sum / s.n;
    spot_bootstrap_run(&v, &(spot_bootstrap){ 1, unit, 1, 1, draw_mean, &s }, threads, scratch);
    return v;
}
