/* statistics_strata.c - counts in several strata: the exact tail of their sum; the difference of two shares. */
#define _DEFAULT_SOURCE     /* lgamma_r */
#include <math.h>
#include <string.h>

#include "stats/means_apart.h"
#include "stats/statistics.h"

static double log_factorial(double n)
{
    int sign;

    return lgamma_r(n + 1, &sign);
}

static double log_choose(double n, double k) { return log_factorial(n) - log_factorial(k) - log_factorial(n - k); }

/* The least and the most of the group's rows among the covered ones. */
static int least_of(const spot_stratum *s) { return s->covered > s->rows - s->group ? s->covered - (s->rows - s->group) : 0; }
static int most_of(const spot_stratum *s) { return s->covered < s->group ? s->covered : s->group; }

static double probability_of(const spot_stratum *s, int k)
{
    return exp(log_choose(s->group, k) + log_choose(s->rows - s->group, s->covered - k) - log_choose(s->rows, s->covered));
}

/* sum (n + 1) becomes the distribution of what it was plus a count of the stratum; returns the new n. All terms are positive:
 * no digits cancel. */
static int add_stratum(double *sum, int n, const spot_stratum *s, double *scratch)
{
    const int least = least_of(s), most = most_of(s), now = n + most;

    memset(scratch, 0, ((size_t)now + 1) * sizeof *scratch);
    for (int k = least; k <= most; k++) {
        const double p = probability_of(s, k);
        for (int i = 0; i <= n; i++) scratch[i + k] += p * sum[i];
    }
    memcpy(sum, scratch, ((size_t)now + 1) * sizeof *sum);
    return now;
}

/* scratch (covered + 1 of 2 (covered + 1)): the distribution of the sum; returns the greatest number. */
static int add_all(double *scratch, const spot_stratum *s, int strata, int covered)
{
    int n = 0;

    scratch[0] = 1;
    for (int k = 0; k < strata; k++)
        if (s[k].covered) n = add_stratum(scratch, n, &s[k], scratch + covered + 1);
    return n;
}

static int covered_of(const spot_stratum *s, int strata)
{
    int covered = 0;

    for (int k = 0; k < strata; k++) covered += s[k].covered;
    return covered;
}

double spot_stratified_tail(const spot_stratum *s, int strata, int inside, double *scratch)
{
    double tail = 0;

    if (strata == 1) return spot_hypergeometric_tail(s->rows, s->group, s->covered, inside);
    for (int i = add_all(scratch, s, strata, covered_of(s, strata)); i >= inside && i >= 0; i--) tail += scratch[i];
    return tail < 1 ? tail : 1;
}

void spot_stratified_tails(double *tail, const spot_stratum *s, int strata, double *scratch)
{
    const int covered = covered_of(s, strata), n = add_all(scratch, s, strata, covered);
    double sum = 0;

    for (int i = covered; i >= 0; i--) {
        sum += i <= n ? scratch[i] : 0;
        tail[i] = sum < 1 ? sum : 1;
    }
}

/* Newcombe's interval of a difference from those of the shares. */
static spot_interval difference_of(spot_interval x, spot_interval y)
{
    const double value = x.value - y.value;

    return (spot_interval){ value, value - hypot(x.value - x.low, y.high - y.value),
                            value + hypot(x.high - x.value, y.value - y.low) };
}

spot_interval spot_share_difference(int a, int n, int b, int m)
{
    return difference_of(spot_share_of(a, n), spot_share_of(b, m));
}

/* The difference to the other rows made to that to all rows, of which these are a part. */
static spot_interval excess_of(spot_interval x, double excess, double part)
{
    double off;

    x = (spot_interval){ part * x.value, part * x.low, part * x.high };
    off = excess - x.value;                      /* 0 within one class */
    return (spot_interval){ x.value + off, x.low + off, x.high + off };
}

spot_interval spot_share_excess(int wrong, int rows, int all_wrong, int all, double base)
{
    if (!rows) return (spot_interval){ NAN, NAN, NAN };
    if (rows == all) return (spot_interval){ 0, 0, 0 };
    return excess_of(spot_share_difference(wrong, rows, all_wrong - wrong, all - rows), (wrong - base) / rows,
                     1 - (double)rows / all);
}

/* Wilson's interval of a share among n rows, n any number above 0. */
static spot_interval wilson(double share, double n)
{
    const double z = 1.959963984540054, scale = n + z * z, middle = (n * share + z * z / 2) / scale;
    const double half = z * sqrt(n * share * (1 - share) + z * z / 4) / scale;

    return (spot_interval){ share, fmax(0, middle - half), fmin(1, middle + half) };
}

spot_interval spot_share_excess_worth(int wrong, int rows, int all_wrong, int all, double base, double worth, double others)
{
    spot_interval x, y;

    if (!rows || rows == all || !(worth > 0) || !(others > 0)) return spot_share_excess(wrong, rows, all_wrong, all, base);
    x = wilson((double)wrong / rows, worth);
    y = wilson((double)(all_wrong - wrong) / (all - rows), others);
    return excess_of(difference_of(x, y), (wrong - base) / rows, 1 - (double)rows / all);
}

spot_interval spot_mean_difference(spot_counted_mean x, spot_counted_mean y)
{
    return difference_of(wilson(x.mean, x.n), wilson(y.mean, y.n));
}
