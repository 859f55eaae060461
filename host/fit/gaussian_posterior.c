/* gaussian_posterior.c - mean and deviation of a Gaussian process, for many points by products of matrices, for one with
 * slopes. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "core/vmath.h"
#include "fit/gaussian_kernel.h"

static double deviation_left(const spot_gp *g, double taken)
{
    return g->scale * sqrt(fmax(g->kernel.amplitude - taken, 0));
}

static void rows_posterior(spot_gp *g, const double *x, int m, double *mean, double *deviation, double *rows)
{
    double over[SPOT_GP_FEATURES];

    for (int i = 0; i < m; i++) {
        double *k = rows + (size_t)i * (size_t)g->most;
        spot_gp_over(g, x + (size_t)i * (size_t)g->shape.features, over);
        spot_gp_row(g, over, g->n, k, NULL);
        mean[i] = g->mean + g->scale * cblas_ddot(g->n, k, 1, g->weight, 1);
    }
    if (!deviation) return;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, g->n, 1, g->factor, g->most, rows, g->most);
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
    if (!g->n) {
        prior(g, m, mean, deviation);
        return;
    }
    for (int i = 0; i < m; i += SPOT_GP_ROWS)
        rows_posterior(g, x + (size_t)i * (size_t)g->shape.features, m - i < SPOT_GP_ROWS ? m - i : SPOT_GP_ROWS, mean + i,
                       deviation ? deviation + i : NULL, g->row);
}

void spot_gp_look(spot_gp *g, const double *x, int m, double *mean, double *deviation, double *solved)
{
    if (g->n) rows_posterior(g, x, m, mean, deviation, solved);
    else prior(g, m, mean, deviation);
}

/* A further row of the factor gives every solved row one more element. */
void spot_gp_again(spot_gp *g, const double *x, int m, double *deviation, double *solved)
{
    int last = g->n - 1;
    const double *row = g->factor + (size_t)last * (size_t)g->most;
    double over[SPOT_GP_FEATURES];

    for (int i = 0; i < m; i++) {
        double *v = solved + (size_t)i * (size_t)g->most, d2 = 0, k, s, left = deviation[i] / g->scale;
        spot_gp_over(g, x + (size_t)i * (size_t)g->shape.features, over);
        for (int f = 0; f < g->shape.features; f++) {
            double d = over[f] - g->over[(size_t)f * (size_t)g->most + (size_t)last];
            d2 += d * d;
        }
        s = sqrt(5 * d2);
        k = g->kernel.amplitude * (1 + s + s * s / 3) * spot_exp(-s);
        v[last] = (k - cblas_ddot(last, v, 1, row, 1)) / row[last];
        deviation[i] = g->scale * sqrt(fmax(left * left - v[last] * v[last], 0));
    }
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
