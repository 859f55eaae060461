/* draws.c - intervals from bootstrap draws: of shifts, of categories, of their differences. */
#include "shifts/draws.h"

#include <math.h>
#include <stdlib.h>

#include "stats/bootstrap.h"
#include "stats/statistics.h"

/* Sets low and high from the n draws, and the standard error of those that have a value. Returns how many have. */
static int set_interval(spot_interval *v, double *error, const double *draw, int n, double *scratch)
{
    const int least = n > 3 ? (n + 1) / 2 : 2;
    double mean = 0, squares = 0;
    int have = 0;

    for (int i = 0; i < n; i++)
        if (isfinite(draw[i])) mean += scratch[have++] = draw[i];
    mean /= have;
    for (int i = 0; i < have; i++) squares += (scratch[i] - mean) * (scratch[i] - mean);
    *error = have < least || !isfinite(v->value) ? NAN : sqrt(squares / (have - 1));
    return spot_percentiles(v, scratch, have, least);
}

/* The difference of two rows of draws. p: not adjusted. */
static void set_difference(spot_interval *v, double *p, double *error, double a, double b, const double *draw_a,
                           const double *draw_b, int n, double *scratch)
{
    double *difference = scratch + n;

    v->value = a - b;
    for (int i = 0; i < n; i++) difference[i] = draw_a[i] - draw_b[i];
    set_interval(v, error, difference, n, scratch);
    *p = !isfinite(*error) ? NAN : *error > 0 ? fmin(1, 2 * spot_normal_tail(fabs(v->value) / *error)) : v->value != 0 ? 0 : 1;
}

/* Holm over the pairs whose p-value is a number. scratch (3 n) */
static void adjust(spot_shift_difference *d, int n, bool of_slopes, double *scratch)
{
    spot_ranked_p *ranked = (spot_ranked_p *)(void *)(scratch + n);
    int have = 0;

    for (int i = 0; i < n; i++) {
        const double p = of_slopes ? d[i].slope_p : d[i].impact_p;
        if (isfinite(p)) scratch[have++] = p;
    }
    spot_holm(scratch, have, ranked);
    have = 0;
    for (int i = 0; i < n; i++) {
        double *p = of_slopes ? &d[i].slope_p : &d[i].impact_p;
        if (isfinite(*p)) *p = scratch[have++];
    }
}

/* All pairs of n things with values and draws (n, d->n). */
static void compare_pairs(spot_shift_difference *out, int n, const spot_interval *impact[], const spot_interval
                          *slope[], const spot_shift_draws *d, double *scratch)
{
    int pairs = 0;

    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++, pairs++) {
            const size_t at = (size_t)a * d->n, bt = (size_t)b * d->n;
            out[pairs].a = a, out[pairs].b = b;
            set_difference(&out[pairs].impact, &out[pairs].impact_p, &out[pairs].impact_error, impact[a]->value,
                           impact[b]->value, d->impact + at, d->impact + bt, d->n, scratch);
            set_difference(&out[pairs].slope, &out[pairs].slope_p, &out[pairs].slope_error, slope[a]->value, slope[b]->value,
                           d->slope + at, d->slope + bt, d->n, scratch);
        }
    adjust(out, pairs, false, scratch);
    adjust(out, pairs, true, scratch);
}

/* ---- categories ---- */

/* value: of shift s at value[s * stride]. */
static double mean_of_category(const spot_shift_table *t, int g, const double *value, size_t stride, int *n)
{
    double sum = 0;

    *n = 0;
    for (int s = 0; s < t->shifts; s++)
        if (t->category[s] == g && isfinite(value[(size_t)s * stride])) sum += value[(size_t)s * stride], ++*n;
    return *n ? sum / *n : NAN;
}

/* Values and draws of the categories; drawn is (categories, d->n) for impact and slope. */
static void average_categories(spot_shift_estimates *e, const spot_shift_table *t, const spot_shift_draws *d,
                               spot_shift_draws *drawn, double *scratch)
{
    double impact[SPOT_MAX_SHIFTS], slope[SPOT_MAX_SHIFTS], error;
    int n;

    for (int s = 0; s < t->shifts; s++) impact[s] = e->shift[s].impact.value, slope[s] = e->shift[s].slope.value;
    for (int g = 0; g < t->categories; g++) {
        spot_shift_category *y = &e->category[g];
        y->slope.value = mean_of_category(t, g, slope, 1, &n);
        y->impact.value = mean_of_category(t, g, impact, 1, &y->shifts);
        for (int i = 0; i < d->n; i++) {
            drawn->impact[(size_t)g * d->n + i] = mean_of_category(t, g, d->impact + i, (size_t)d->n, &n);
            drawn->slope[(size_t)g * d->n + i] = mean_of_category(t, g, d->slope + i, (size_t)d->n, &n);
        }
        set_interval(&y->impact, &error, drawn->impact + (size_t)g * d->n, d->n, scratch);
        set_interval(&y->slope, &error, drawn->slope + (size_t)g * d->n, d->n, scratch);
    }
}

/* ---- all ---- */

static void compare_all(spot_shift_estimates *e, const spot_shift_table *t, const spot_shift_draws *d, spot_shift_draws *drawn,
                        double *scratch)
{
    const spot_interval *impact[SPOT_MAX_SHIFTS], *slope[SPOT_MAX_SHIFTS];

    for (int s = 0; s < t->shifts; s++) {
        set_interval(&e->shift[s].impact, &e->shift[s].impact_error, d->impact + (size_t)s * d->n, d->n, scratch);
        e->shift[s].draws = set_interval(&e->shift[s].slope, &e->shift[s].slope_error, d->slope + (size_t)s * d->n, d->n,
                                         scratch);
        impact[s] = &e->shift[s].impact, slope[s] = &e->shift[s].slope;
    }
    compare_pairs(e->between, t->shifts, impact, slope, d, scratch);
    if (!t->categories) return;
    average_categories(e, t, d, drawn, scratch);
    for (int g = 0; g < t->categories; g++) impact[g] = &e->category[g].impact, slope[g] = &e->category[g].slope;
    compare_pairs(e->across, t->categories, impact, slope, drawn, scratch);
}

spot_status spot_shift_compare(spot_ctx *c, spot_shift_estimates *e, const spot_shift_table *t, const spot_shift_draws *d)
{
    const size_t n = (size_t)d->n, pairs = (size_t)t->shifts * t->shifts + (size_t)t->categories * t->categories;
    double *memory = malloc((2 * n * (size_t)t->categories + 2 * n + 2 * pairs + 1) * sizeof *memory);
    spot_shift_draws drawn = { d->n, memory, memory ? memory + n * (size_t)t->categories : NULL };

    if (!memory) return spot_fail(c, SPOT_NOMEM, "no memory for the intervals of %d shifts", t->shifts);
    compare_all(e, t, d, &drawn, drawn.slope + n * (size_t)t->categories);
    free(memory);
    return SPOT_OK;
}
