/* interval.h - a number with its 95 % interval. low and high are NaN where there is none. */
#ifndef SPOTTER_INTERVAL_H
#define SPOTTER_INTERVAL_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { double value, low, high; } spot_interval;

/* hits / n with Wilson's 95 % interval. NaN, from 0 to 1, for n = 0. */
spot_interval spot_share_of(int hits, int n);

/* The q-quantile of n ascending numbers as numpy.percentile does it, linear between neighbours; NaN for n = 0. */
double spot_quantile(const double *ascending, int n, double q);

#ifdef __cplusplus
}
#endif
#endif
