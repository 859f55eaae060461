/* gaussian_kernel.h - rows of the kernel of a Gaussian process, for the files of host/stats that share them. */
#ifndef SPOTTER_GAUSSIAN_KERNEL_H
#define SPOTTER_GAUSSIAN_KERNEL_H

#include "stats/gaussian_process.h"

/* k of `point` (features), whose features are divided by the length scales, with the first n points of g. slope (n) unless
 * NULL: -2 dk / d(r^2) = amplitude 5/3 (1 + s) exp(-s). */
void spot_gp_row(const spot_gp *g, const double *point, int n, double *k, double *slope);

/* k (n) comes with r^2, and the kernel takes its place. */
void spot_gp_matern(int n, double amplitude, double *k);

/* The point's features divided by the length scales. */
void spot_gp_over(const spot_gp *g, const double *x, double *over);

#endif
