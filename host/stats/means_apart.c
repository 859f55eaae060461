/* means_apart.c - whether the mean of one group is above that of another by more than a margin, where values lie in [0, 1]. */
#define _DEFAULT_SOURCE     /* lgamma_r */
#include <math.h>
#include <stdlib.h>

#include "stats/means_apart.h"

/* Points of the grid over the unknown share, and of the finer one around the best of them. */
enum { COARSE = 200, FINE = 20 };

static const double edge = 1e-12, hair = 1e-9;     /* shares stay so far from 0 and 1; scores that differ by less are equal */

/* Counts of two binomials, i of n and j of m. from (n + 1): those with j <= from[i] are as extreme as what was seen. */
typedef struct {
    int     n, m, *from;
    double  margin;
    double *choose_n, *choose_m;       /* (n + 1), (m + 1): logarithms of binomial coefficients */
    double *below;                     /* (m + 1) scratch: P(Y <= j) */
} tables;

static double log_choose(int n, int k)
{
    int sign;

    return lgamma_r(n + 1.0, &sign) - lgamma_r(k + 1.0, &sign) - lgamma_r(n - k + 1.0, &sign);
}

/* The difference beyond the margin in standard errors. One success and one failure more in each group keep the error above 0
 * (Agresti and Caffo 2000). */
static double score_of(double x, int n, double y, int m, double margin)
{
    const double p = (n * x + 1) / (n + 2), q = (m * y + 1) / (m + 2);

    return (x - y - margin) / sqrt(p * (1 - p) / n + q * (1 - q) / m);
}

/* Where j of m is extreme, so are fewer, and so is it beside a greater i: the region can only become too large by that. */
static void find_region(tables *t, double seen)
{
    for (int i = 0, last = -1; i <= t->n; i++) {
        const double x = (double)i / t->n;
        int j = (int)fmin(t->m, floor(t->m * (x - t->margin) + hair));
        while (j > last && score_of(x, t->n, (double)j / t->m, t->m, t->margin) < seen - hair) j--;
        t->from[i] = last = j > last ? j : last;
    }
}

/* Logarithms of a share and of the rest. */
typedef struct { double yes, no; } log_share;

static log_share log_share_of(double p)
{
    p = fmin(fmax(p, edge), 1 - edge);
    return (log_share){ log(p), log1p(-p) };
}

static double term(const double *choose, int n, int k, log_share p) { return exp(choose[k] + k * p.yes + (n - k) * p.no); }

/* The chance of the region where the second share is q and the first q + margin. */
static double chance_at(tables *t, double q)
{
    const log_share p = log_share_of(q + t->margin), other = log_share_of(q);
    double sum = 0;

    for (int j = 0; j <= t->m; j++) t->below[j] = sum += term(t->choose_m, t->m, j, other);
    sum = 0;
    for (int i = 0; i <= t->n; i++)
        if (t->from[i] >= 0) sum += term(t->choose_n, t->n, i, p) * t->below[t->from[i]];
    return fmin(sum, 1);
}

/* The greatest chance over the unknown share. */
static double greatest_chance(tables *t)
{
    const double step = (1 - t->margin) / COARSE;
    double best = 0, at = 0;

    for (int i = 0; i <= COARSE; i++) {
        const double p = chance_at(t, i * step);
        if (p > best) best = p, at = i * step;
    }
    for (int i = 1 - FINE; i < FINE; i++) best = fmax(best, chance_at(t, fmin(fmax(at + i * step / FINE, 0), 1 - t->margin)));
    return best;
}

spot_status spot_mean_exceeds(spot_ctx *c, double *p, spot_counted_mean x, spot_counted_mean y, double margin)
{
    const size_t n = (size_t)x.n + 1, m = (size_t)y.n + 1;
    double *memory;
    tables t = { .n = x.n, .m = y.n, .margin = margin };

    *p = 1;
    if (x.mean - y.mean - margin <= hair) return SPOT_OK;
    memory = malloc((n + 2 * m) * sizeof *memory + n * sizeof *t.from);
    if (!memory) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d values with %d", x.n, y.n);
    t.choose_n = memory, t.choose_m = memory + n, t.below = t.choose_m + m, t.from = (int *)(void *)(t.below + m);
    for (int i = 0; i <= x.n; i++) t.choose_n[i] = log_choose(x.n, i);
    for (int j = 0; j <= y.n; j++) t.choose_m[j] = log_choose(y.n, j);
    find_region(&t, score_of(x.mean, x.n, y.mean, y.n, margin));
    *p = greatest_chance(&t);
    free(memory);
    return SPOT_OK;
}
