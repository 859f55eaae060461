/* column_sums.h - means and squared deviations of the columns of x (n, d), for CPU kernels. A column's sum is one fp64 chain in
 * the order of the rows. Callers pass few columns at a time, j0 .. j0+cols-1, so that the sums stay in the cache. */
#ifndef SPOTTER_COLUMN_SUMS_H
#define SPOTTER_COLUMN_SUMS_H

#include <stddef.h>

static inline void spot_column_means(double *mean, const float *x, int n, int d, int j0, int cols)
{
    for (int j = 0; j < cols; j++) mean[j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < cols; j++) mean[j] += x[(size_t)i * d + j0 + j];
    for (int j = 0; j < cols; j++) mean[j] /= n;
}

/* square[j] = sum over the rows of (x - mean)^2 */
static inline void spot_column_squares(double *square, const double *mean, const float *x, int n, int d, int j0, int cols)
{
    for (int j = 0; j < cols; j++) square[j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < cols; j++) {
            double off = x[(size_t)i * d + j0 + j] - mean[j];
            square[j] += off * off;
        }
}

/* The mean of the columns' variances. */
static inline double spot_mean_variance(const float *x, int n, int d)
{
    enum { COLUMNS = 64 };
    double sum = 0;

    for (int j0 = 0; j0 < d; j0 += COLUMNS) {
        double mean[COLUMNS], square[COLUMNS];
        int cols = d - j0 < COLUMNS ? d - j0 : COLUMNS;
        spot_column_means(mean, x, n, d, j0, cols);
        spot_column_squares(square, mean, x, n, d, j0, cols);
        for (int j = 0; j < cols; j++) sum += square[j] / n;
    }
    return sum / d;
}

#endif
