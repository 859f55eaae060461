/* gaussian_kernel.c - rows of the kernel: the loops that are as long as the process has points. */
#include "stats/gaussian_kernel.h"

#include "core/vmath.h"

void spot_gp_over(const spot_gp *g, const double *x, double *over)
{
    for (int f = 0; f < g->shape.features; f++) over[f] = x[f] / g->kernel.length[g->shape.scale_of[f]];
}

void spot_gp_matern(int n, double amplitude, double *restrict k)
{
    for (int j = 0; j < n; j++) {
        double s = sqrt(5 * k[j]);
        k[j] = amplitude * (1 + s + 5.0 / 3 * k[j]) * spot_exp(-s);
    }
}

static void matern_with_slope(int n, double amplitude, double *restrict k, double *restrict slope)
{
    for (int j = 0; j < n; j++) {
        double s = sqrt(5 * k[j]), e = amplitude * spot_exp(-s);
        k[j] = (1 + s + 5.0 / 3 * k[j]) * e;
        slope[j] = 5.0 / 3 * (1 + s) * e;
    }
}

/* sum (n) becomes r^2. Four features at a time: each pass loads and stores the sums. */
static void square_distances(const spot_gp *g, const double *point, int n, double *restrict sum)
{
    const size_t most = (size_t)g->most;
    int f = 0;

    for (int j = 0; j < n; j++) sum[j] = 0;
    for (; f + 4 <= g->shape.features; f += 4) {
        const double *restrict x = g->over + (size_t)f * most;
        const double a = point[f], b = point[f + 1], c = point[f + 2], d = point[f + 3];
        for (int j = 0; j < n; j++) {
            const double p = a - x[j], q = b - x[most + (size_t)j], r = c - x[2 * most + (size_t)j];
            const double s = d - x[3 * most + (size_t)j];
            sum[j] = fma(s, s, fma(r, r, fma(q, q, fma(p, p, sum[j]))));
        }
    }
    for (; f < g->shape.features; f++) {
        const double *restrict x = g->over + (size_t)f * most;
        const double a = point[f];
        for (int j = 0; j < n; j++) sum[j] = fma(a - x[j], a - x[j], sum[j]);
    }
}

void spot_gp_row(const spot_gp *g, const double *point, int n, double *k, double *slope)
{
    square_distances(g, point, n, k);
    if (slope) matern_with_slope(n, g->kernel.amplitude, k, slope);
    else spot_gp_matern(n, g->kernel.amplitude, k);
}
