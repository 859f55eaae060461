/* interval.h - a number with its 95 % interval. low and high are NaN where there is none. */
#ifndef SPOTTER_INTERVAL_H
#define SPOTTER_INTERVAL_H

#include "spotter/ctx.h"
#include "spotter/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { double value, low, high; } spot_interval;

/* hits / n with Wilson's 95 % interval. NaN, from 0 to 1, for n = 0. */
spot_interval spot_share_of(int hits, int n);

/* P(at least `hits` of n), each with probability p in (0, 1), independent: the upper tail of the binomial distribution. 1 for
 * hits <= 0. Exact but for rounding; time grows with n. */
double spot_binomial_tail(int hits, int n, double p);

/* The q-quantile of n ascending numbers as numpy.percentile does it, linear between neighbours; NaN for n = 0. */
double spot_quantile(const double *ascending, int n, double q);

/* Spearman's rank correlation, equal numbers with the mean of their ranks, with its interval by a bootstrap over pairs:
 * percentiles of 2,000 draws. Pairs with a number that is not finite are left out. value NaN where a side does not vary, as
 * below two pairs; no interval where it varies in under half of the draws. */
spot_status spot_rank_correlation(spot_ctx *c, spot_interval *rho, const double *x, const double *y, int n, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
