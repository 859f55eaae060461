/* statistics.c - bootstrap, randomization, Holm. */
#define _DEFAULT_SOURCE     /* lgamma_r */
#include "stats/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/philox.h"

enum { STOP_AT = 200 };                            /* chance results as large as the observed one; then p is precise enough */
static const uint64_t seed = 20230601;             /* constant: the same two runs always get the same verdict */
static const double hair = 1e-9;                   /* tolerance for sums of equal values in another order */

double spot_normal_tail(double z) { return 0.5 * erfc(z / sqrt(2)); }

double spot_gamma_tail(double x, double mean, double variance)
{
    const double shape = mean * mean / variance;

    return spot_normal_tail((cbrt(x / mean) - 1 + 1 / (9 * shape)) * 3 * sqrt(shape));
}

static double log_choose(double n, double k)
{
    int sign;

    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

double spot_hypergeometric_tail(int rows, int group, int covered, int inside)
{
    const int most = covered < group ? covered : group;
    const double all = log_choose(rows, covered);
    double p = 0;

    for (int k = most; k >= inside; k--)
        if (covered - k <= rows - group) p += exp(log_choose(group, k) + log_choose(rows - group, covered - k) - all);
    return p < 1 ? p : 1;
}

/* Uses bisection; it is rarely called. */
double spot_normal_quantile(double p)
{
    double low = -9, high = 9;

    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (spot_normal_tail(-middle) < p) low = middle;
        else high = middle;
    }
    return (low + high) / 2;
}

/* P(T > t), t >= 0: the integral of the density's closed form (Abramowitz and Stegun 26.7.3 and 26.7.4) in the angle
 * atan(t / sqrt(df)). */
static double student_upper(double t, int df)
{
    const double angle = atan2(t, sqrt(df)), cosine = cos(angle), square = cosine * cosine;
    double term = df % 2 ? cosine : 1, sum = df == 1 ? 0 : term;

    for (int k = df % 2 ? 3 : 2; k <= df - 2; k += 2) sum += term *= square * (k - 1) / k;
    sum *= sin(angle);
    return fmax(0, df % 2 ? 0.5 - (angle + sum) / acos(-1) : 0.5 - sum / 2);
}

double spot_student_tail(double t, int df) { return t < 0 ? 1 - student_upper(-t, df) : student_upper(t, df); }

double spot_student_above(double p, int df)
{
    double low = 0, high = 1;

    while (student_upper(high, df) > p && high < 1e12) high *= 2;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        if (student_upper(middle, df) > p) low = middle;
        else high = middle;
    }
    return (low + high) / 2;
}

static double mean_of(const double *v, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += v[i];
    return n ? sum / n : 0;
}

static double mean_of_draws(spot_rng *r, const double *v, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += v[spot_philox_below(r, (uint32_t)n)];
    return n ? sum / n : 0;
}

/* Adds squares and cubes of each value's influence on the difference. */
static void add_influences(double *squares, double *cubes, const double *v, int n, double sign)
{
    double mean = mean_of(v, n);

    for (int i = 0; i < n; i++) {
        double l = sign * (v[i] - mean) / n;
        *squares += l * l;
        *cubes += l * l * l;
    }
}

/* The quantile `level` of the resamples, corrected for bias and acceleration. */
static double bca_quantile(const double *sorted, double level, double bias, double acceleration)
{
    double z = bias + spot_normal_quantile(level), at, part;
    int i;

    at = spot_normal_tail(-(bias + z / (1 - acceleration * z))) * (SPOT_RESAMPLES - 1);
    i = at < 0 ? 0 : at > SPOT_RESAMPLES - 2 ? SPOT_RESAMPLES - 2 : (int)at;
    part = at - i;
    return sorted[i] + (part > 1 ? 1 : part) * (sorted[i + 1] - sorted[i]);
}

static void find_intervals(spot_difference *d, double *drawn, const double *x, int n, const double *y, int m, uint32_t address)
{
    double squares = 0, cubes = 0, below = 0, acceleration, bias;

    for (int i = 0; i < SPOT_RESAMPLES; i++) {
        spot_rng r = spot_philox_at(seed, SPOT_RNG_BOOTSTRAP, address, (uint32_t)i);
        drawn[i] = mean_of_draws(&r, x, n);
        if (m) drawn[i] -= mean_of_draws(&r, y, m);
        below += drawn[i] < d->mean - hair ? 1 : drawn[i] <= d->mean + hair ? 0.5 : 0;
    }
    spot_sort_doubles(drawn, SPOT_RESAMPLES);
    add_influences(&squares, &cubes, x, n, 1);
    add_influences(&squares, &cubes, y, m, -1);
    acceleration = squares > 0 ? cubes / (6 * squares * sqrt(squares)) : 0;
    bias = spot_normal_quantile(fmin(fmax(below / SPOT_RESAMPLES, 1e-4), 1 - 1e-4));
    d->low = bca_quantile(drawn, 0.025, bias, acceleration);
    d->high = bca_quantile(drawn, 0.975, bias, acceleration);
    d->inner_low = bca_quantile(drawn, 0.05, bias, acceleration);
    d->inner_high = bca_quantile(drawn, 0.95, bias, acceleration);
}

/* The sum of v with random signs. */
static double sum_with_signs(spot_rng *r, const double *v, int n)
{
    double sum = 0;
    uint32_t bits = 0;

    for (int i = 0; i < n; i++, bits >>= 1) {
        if (i % 32 == 0) bits = spot_philox_u32(r);
        sum += bits & 1 ? v[i] : -v[i];
    }
    return sum;
}

/* The sum of k of the n values, drawn without replacement; moves them to the front of v. */
static double sum_of_part(spot_rng *r, double *v, int n, int k)
{
    double sum = 0;

    for (int i = 0; i < k; i++) {
        int j = i + (int)spot_philox_below(r, (uint32_t)(n - i));
        double t = v[j];
        v[j] = v[i];
        v[i] = t;
        sum += t;
    }
    return sum;
}

/* The chance of a difference as large in the same direction. Stops after STOP_AT such results (Besag and Clifford 1991), so
 * that only small p-values cost many draws. v is scratch of n + m. */
static double probability(const double *x, int n, const double *y, int m, double difference, double *v, uint32_t address)
{
    double sign = difference < 0 ? -1 : 1, sum;
    int used = 0, hits = 0;

    if (fabs(difference) <= hair) return 1;
    for (int i = 0; i < n; i++)
        if (m || x[i] != 0) v[used++] = x[i];              /* a difference of 0 has no sign */
    if (m) memcpy(v + used, y, (size_t)m * sizeof *v);
    sum = m ? mean_of(v, n + m) * n : 0;                   /* expected sum of x's part */
    for (int i = 1; i <= SPOT_RANDOMIZATIONS; i++) {
        spot_rng r = spot_philox_at(seed, SPOT_RNG_BOOTSTRAP, address, 0x80000000u + (uint32_t)i);
        double now = m ? sum_of_part(&r, v, n + m, n) - sum : sum_with_signs(&r, v, used);
        double ours = m ? difference * n * m / (n + m) : difference * n;
        hits += sign * now >= sign * ours - hair;
        if (hits == STOP_AT) return (double)hits / i;
    }
    return (hits + 1.0) / (SPOT_RANDOMIZATIONS + 1.0);
}

spot_status spot_difference_of(spot_ctx *c, spot_difference *d, const double *x, int n, const double *y, int m,
                               uint32_t address)
{
    size_t room = SPOT_RESAMPLES > n + m ? SPOT_RESAMPLES : (size_t)(n + m);
    double *scratch = malloc(room * sizeof *scratch);

    if (!scratch) return spot_fail(c, SPOT_NOMEM, "no memory to resample %d values", n + m);
    *d = (spot_difference){ .mean = mean_of(x, n) - (m ? mean_of(y, m) : 0), .equal = !m };
    for (int i = 0; i < n && d->equal; i++) d->equal = x[i] == 0;
    find_intervals(d, scratch, x, n, y, m, address);
    d->p = probability(x, n, y, m, d->mean, scratch, address);
    free(scratch);
    return SPOT_OK;
}

static int least_first(const void *a, const void *b)
{
    const spot_ranked_p *x = a, *y = b;

    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : x->at - y->at;
}

void spot_rank_p(spot_ranked_p *r, const double *p, int n)
{
    for (int i = 0; i < n; i++) r[i] = (spot_ranked_p){ p[i], i };
    if (n) qsort(r, (size_t)n, sizeof *r, least_first);
}

void spot_holm(double *p, int n, spot_ranked_p *r)
{
    double most = 0;

    spot_rank_p(r, p, n);
    for (int i = 0; i < n; i++) {
        most = fmax(most, (n - i) * r[i].p);
        p[r[i].at] = fmin(most, 1);
    }
}
