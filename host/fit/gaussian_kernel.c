/* gaussian_kernel.c - rows of the kernel: the loops that are as long as the process has points. */
#include "fit/gaussian_kernel.h"

#include "core/vmath.h"

void spot_gp_over(const spot_gp *g, const double *x, double *over)
{
    for (int f = 0; f < g->shape.features; f++) over[f] = x[f] / g->kernel.length[g->shape.scale_of[f]];
}

/* k comes with r^2 and is replaced by the kernel. */
static void matern(int n, double amplitude, double *restrict k)
{
    for (int j = 0; j < n; j++) {
        double s = sqrt(5 * k[j]);
        k[j] = amplitude * (1 + s + s * s / 3) * spot_exp(-s);
    }
}

static void matern_with_slope(int n, double amplitude, double *restrict k, double *restrict slope)
{
    for (int j = 0; j < n; j++) {
        double s = sqrt(5 * k[j]), e = amplitude * spot_exp(-s);
        k[j] = (1 + s + s * s / 3) * e;
        slope[j] = 5.0 / 3 * (1 + s) * e;
    }
}

void spot_gp_row(const spot_gp *g, const double *point, int n, double *k, double *slope)
{
    for (int j = 0; j < n; j++) k[j] = 0;
    for (int f = 0; f < g->shape.features; f++) {
        const double *restrict x = g->over + (size_t)f * (size_t)g->most;
        double at = point[f], *restrict sum = k;
        for (int j = 0; j < n; j++) {
            double d = at - x[j];
            sum[j] = fma(d, d, sum[j]);
        }
    }
    if (slope) matern_with_slope(n, g->kernel.amplitude, k, slope);
    else matern(n, g->kernel.amplitude, k);
}
