/* gaussian_posterior.c - mean and deviation of a Gaussian process, for many points by products of matrices, for one with
 * slopes. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "stats/gaussian_kernel.h"

static double deviation_left(const spot_gp *g, double taken)
{
    return g->scale * sqrt(fmax(g->kernel.amplitude - taken, 0));
}

enum { BLOCK = 32 };       /* side of a triangle that LAPACK inverts as a whole */

/* The inverse of a lower triangle in its place, by halves: (A 0; B C)^-1 = (A^-1 0; -C^-1 B A^-1 C^-1). LAPACK's own goes
 * column by column up to sides as great as ours. */
static void invert_triangle(double *a, int n, int side)
{
    const int half = n / 2, rest = n - half;
    double *b = a + (size_t)half * (size_t)side, *c = b + half;

    if (n <= BLOCK) {
        LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', n, a, side);
        return;
    }
    invert_triangle(a, half, side);
    invert_triangle(c, rest, side);
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rest, half, -1, c, side, b, side);
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, rest, half, 1, a, side, b, side);
}

/* For many points a product with the inverse of the factor takes less than half the time of a solution; the inverse is a
 * third of the points' number of such products. */
static bool invert_for(spot_gp *g, int m)
{
    const size_t side = (size_t)g->most;

    if (m < g->n / 2) return false;
    for (size_t i = 0; i < (size_t)g->n; i++) memcpy(g->inverse + i * side, g->factor + i * side, (i + 1) * sizeof *g->factor);
    invert_triangle(g->inverse, g->n, g->most);
    return true;
}

/* inverted: g->inverse is L^-1. */
static void rows_posterior(spot_gp *g, const double *x, int m, double *mean, double *deviation, double *rows, bool inverted)
{
    double over[SPOT_GP_FEATURES];

    for (int i = 0; i < m; i++) {
        double *k = rows + (size_t)i * (size_t)g->most;
        spot_gp_over(g, x + (size_t)i * (size_t)g->shape.features, over);
        spot_gp_row(g, over, g->n, k, NULL);
        mean[i] = g->mean + g->scale * cblas_ddot(g->n, k, 1, g->weight, 1);
    }
    if (!deviation) return;
    if (inverted) cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, g->n, 1, g->inverse, g->most,
                              rows, g->most);
    else cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, g->n, 1, g->factor, g->most, rows,
                     g->most);
    for (int i = 0; i < m; i++) {
        const double *v = rows + (size_t)i * (size_t)g->most;
        deviation[i] = deviation_left(g, cblas_ddot(g->n, v, 1, v, 1));
    }
}

static void prior(const spot_gp *g, int m, double *mean, double *deviation)
{
    for (int i = 0; i < m; i++) {
        mean[i] = g->mean;
        if (deviation) deviation[i] = deviation_left(g, 0);
    }
}

void spot_gp_posterior(spot_gp *g, const double *x, int m, double *mean, double *deviation)
{
    bool inverted;

    if (!g->n) {
        prior(g, m, mean, deviation);
        return;
    }
    inverted = deviation && invert_for(g, m);
    for (int i = 0; i < m; i += SPOT_GP_ROWS)
        rows_posterior(g, x + (size_t)i * (size_t)g->shape.features, m - i < SPOT_GP_ROWS ? m - i : SPOT_GP_ROWS, mean + i,
                       deviation ? deviation + i : NULL, g->row, inverted);
}

void spot_gp_look(spot_gp *g, const double *x, int m, double *mean, double *deviation, double *solved)
{
    if (g->n) rows_posterior(g, x, m, mean, deviation, solved, deviation && invert_for(g, m));
    else prior(g, m, mean, deviation);
}

/* A further row of the factor gives every solved row one more element; m at most SPOT_GP_ROWS. */
static void one_more(const spot_gp *g, const double *x, int m, double *deviation, double *solved)
{
    const int last = g->n - 1, features = g->shape.features;
    const double *row = g->factor + (size_t)last * (size_t)g->most;
    double k[SPOT_GP_ROWS] = { 0 }, taken[SPOT_GP_ROWS];

    for (int f = 0; f < features; f++) {
        const double at = g->over[(size_t)f * (size_t)g->most + (size_t)last];
        const double length = g->kernel.length[g->shape.scale_of[f]];
        for (int i = 0; i < m; i++) {
            const double d = x[i * features + f] / length - at;
            k[i] = fma(d, d, k[i]);
        }
    }
    spot_gp_matern(m, g->kernel.amplitude, k);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, m, last, 1, solved, g->most, row, 1, 0, taken, 1);
    for (int i = 0; i < m; i++) {
        const double more = (k[i] - (last ? taken[i] : 0)) / row[last], left = deviation[i] / g->scale;
        solved[(size_t)i * (size_t)g->most + (size_t)last] = more;
        deviation[i] = g->scale * sqrt(fmax(left * left - more * more, 0));
    }
}

void spot_gp_again(spot_gp *g, const double *x, int m, double *deviation, double *solved)
{
    for (int i = 0; i < m; i += SPOT_GP_ROWS)
        one_more(g, x + (size_t)i * (size_t)g->shape.features, m - i < SPOT_GP_ROWS ? m - i : SPOT_GP_ROWS, deviation + i,
                 solved + (size_t)i * (size_t)g->most);
}

bool spot_gp_joint(const spot_gp *g, const double *x, int m, const double *solved, double *joint, double *over)
{
    spot_gp at = *g;           /* a process whose points are those of x, for the rows of the kernel among them */
    double point[SPOT_GP_FEATURES];
    size_t side = (size_t)m;

    at.over = over;
    at.most = m;
    for (int i = 0; i < m; i++) {
        spot_gp_over(g, x + (size_t)i * (size_t)g->shape.features, point);
        for (int f = 0; f < g->shape.features; f++) over[(size_t)f * side + (size_t)i] = point[f];
    }
    for (int i = 0; i < m; i++) {
        for (int f = 0; f < g->shape.features; f++) point[f] = over[(size_t)f * side + (size_t)i];
        spot_gp_row(&at, point, i + 1, joint + (size_t)i * side, NULL);
        joint[(size_t)i * side + (size_t)i] += 1e-6 * g->kernel.amplitude;     /* points may lie close together */
    }
    if (g->n) cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, m, g->n, -1, solved, g->most, 1, joint, m);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', m, joint, m)) return false;
    for (int i = 0; i < m; i++) cblas_dscal(i + 1, g->scale, joint + (size_t)i * side, 1);
    return true;
}

/* Features of one row of weights: the sum over points of w_j dk(x, x_j) / dx. dk / dx = -slope (x - x_j) / length^2. */
static void pull_slopes(const spot_gp *g, const double *over, const double *pull, double total, double *slope)
{
    for (int f = 0; f < g->shape.features; f++) {
        const double *x = g->over + (size_t)f * (size_t)g->most;
        slope[f] = (cblas_ddot(g->n, pull, 1, x, 1) - over[f] * total) / g->kernel.length[g->shape.scale_of[f]];
    }
}

void spot_gp_slope(spot_gp *g, const double *x, double *mean, double *deviation, double *mean_slope, double *deviation_slope)
{
    double over[SPOT_GP_FEATURES], *k = g->row, *slope = k + g->most, *pull = slope + g->most, total = 0;

    *mean = g->mean;
    *deviation = deviation_left(g, 0);
    for (int f = 0; f < g->shape.features; f++) mean_slope[f] = deviation_slope[f] = 0;
    if (!g->n) return;
    spot_gp_over(g, x, over);
    spot_gp_row(g, over, g->n, k, slope);
    *mean += g->scale * cblas_ddot(g->n, k, 1, g->weight, 1);
    for (int j = 0; j < g->n; j++) total += pull[j] = g->scale * g->weight[j] * slope[j];
    pull_slopes(g, over, pull, total, mean_slope);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, g->n, g->factor, g->most, k, 1);
    *deviation = deviation_left(g, cblas_ddot(g->n, k, 1, k, 1));
    if (!(*deviation > 0)) return;
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, g->n, g->factor, g->most, k, 1);
    total = 0;
    for (int j = 0; j < g->n; j++) total += pull[j] = -k[j] * slope[j] * g->scale * g->scale / *deviation;
    pull_slopes(g, over, pull, total, deviation_slope);
}
