/* gaussian_process.c - points, factor, likelihood. */
#include "stats/gaussian_process.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "stats/gaussian_kernel.h"

spot_status spot_gp_take(spot_ctx *c, spot_arena *a, spot_gp *g, const spot_gp_shape *shape, spot_gp_scaling scaling, int most)
{
    size_t m = (size_t)most, all = m * (size_t)shape->features;

    if (most < 1 || most > 32768 || shape->features < 1 || shape->features > SPOT_GP_FEATURES || shape->scales < 1 ||
        shape->scales > shape->features)
        return spot_fail(c, SPOT_INVALID, "a Gaussian process of %d points, %d features and %d length scales", most,
                         shape->features, shape->scales);
    *g = (spot_gp){ .shape = *shape, .scaling = scaling, .most = most, .scale = 1 };
    SPOT_TRY(SPOT_TAKE(c, a, g->x, all));
    SPOT_TRY(SPOT_TAKE(c, a, g->over, all));
    SPOT_TRY(SPOT_TAKE(c, a, g->y, m));
    SPOT_TRY(SPOT_TAKE(c, a, g->z, m));
    SPOT_TRY(SPOT_TAKE(c, a, g->weight, m));
    SPOT_TRY(SPOT_TAKE(c, a, g->factor, m * m));
    SPOT_TRY(SPOT_TAKE(c, a, g->inverse, m * m));
    SPOT_TRY(SPOT_TAKE(c, a, g->row, m * SPOT_GP_ROWS));
    g->kernel.amplitude = g->kernel.noise = 1;
    for (int s = 0; s < shape->scales; s++) g->kernel.length[s] = 1;
    return SPOT_OK;
}

/* Mean, scale and z of the told y. Equal values have scale 1, as scikit-learn has it. */
static void scale_y(spot_gp *g)
{
    double mean = 0, square = 0;

    for (int i = 0; i < g->n; i++) mean += g->y[i] / g->n;
    for (int i = 0; i < g->n; i++) square += (g->y[i] - mean) * (g->y[i] - mean) / g->n;
    g->mean = g->scaling == SPOT_GP_RAW ? 0 : mean;
    g->scale = g->scaling == SPOT_GP_SCALED && square > 1e-30 * (1 + mean * mean) ? sqrt(square) : 1;
    for (int i = 0; i < g->n; i++) g->z[i] = (g->y[i] - g->mean) / g->scale;
}

static void put_points(spot_gp *g, const double *x, int n)
{
    int d = g->shape.features;

    for (int i = 0; i < n; i++)
        for (int f = 0; f < d; f++)
            g->x[(size_t)f * (size_t)g->most + (size_t)(g->n + i)] = x[(size_t)i * (size_t)d + (size_t)f];
}

/* The features of points [first, end) over the kernel's length scales. */
static void scale_x(spot_gp *g, int first, int end)
{
    for (int f = 0; f < g->shape.features; f++) {
        double length = g->kernel.length[g->shape.scale_of[f]];
        for (int i = first; i < end; i++) {
            size_t at = (size_t)f * (size_t)g->most + (size_t)i;
            g->over[at] = g->x[at] / length;
        }
    }
}

void spot_gp_set(spot_gp *g, const double *x, const double *y, int n)
{
    g->n = 0;
    put_points(g, x, n);
    memcpy(g->y, y, (size_t)n * sizeof *y);
    g->n = n;
    scale_y(g);
}

static void point_over(const spot_gp *g, int i, double *point)
{
    for (int f = 0; f < g->shape.features; f++) point[f] = g->over[(size_t)f * (size_t)g->most + (size_t)i];
}

/* LAPACK's columns are our rows, so its upper triangle is our lower one. */
static bool try_factor(spot_gp *g, double noise)
{
    size_t m = (size_t)g->most;
    double point[SPOT_GP_FEATURES];

    for (int i = 0; i < g->n; i++) {
        point_over(g, i, point);
        spot_gp_row(g, point, i + 1, g->factor + (size_t)i * m, NULL);
        g->factor[(size_t)i * m + (size_t)i] = g->kernel.amplitude + noise;
    }
    return !LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', g->n, g->factor, g->most);
}

static void solve_weights(spot_gp *g)
{
    memcpy(g->weight, g->z, (size_t)g->n * sizeof *g->z);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, g->n, g->factor, g->most, g->weight, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, g->n, g->factor, g->most, g->weight, 1);
}

bool spot_gp_factor(spot_gp *g, const spot_gp_kernel *kernel)
{
    if (kernel != &g->kernel) g->kernel = *kernel;
    scale_x(g, 0, g->n);
    if (!g->n) return true;
    for (double more = 0; more < 2e-2; more = more > 0 ? 10 * more : 1e-10)
        if (try_factor(g, g->kernel.noise + more * g->kernel.amplitude)) {
            g->kernel.noise += more * g->kernel.amplitude;
            solve_weights(g);
            return true;
        }
    return false;
}

/* The row of the factor for a further point, which lies in g->over. */
static bool append_row(spot_gp *g, int i)
{
    double *row = g->factor + (size_t)i * (size_t)g->most, point[SPOT_GP_FEATURES];
    double left = g->kernel.amplitude + g->kernel.noise;

    point_over(g, i, point);
    spot_gp_row(g, point, i, row, NULL);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, i, g->factor, g->most, row, 1);
    left -= cblas_ddot(i, row, 1, row, 1);
    if (!(left > 1e-14 * g->kernel.amplitude)) return false;
    row[i] = sqrt(left);
    return true;
}

bool spot_gp_append(spot_gp *g, const double *x, const double *y, int count)
{
    if (count < 0 || count > g->most - g->n) return false;
    put_points(g, x, count);
    scale_x(g, g->n, g->n + count);
    for (int i = 0; i < count; i++)
        if (!append_row(g, g->n + i)) return false;
    memcpy(g->y + g->n, y, (size_t)count * sizeof *y);
    g->n += count;
    scale_y(g);
    solve_weights(g);
    return true;
}

bool spot_gp_believe(spot_gp *g, const double *x)
{
    if (g->n == g->most) return false;
    put_points(g, x, 1);
    scale_x(g, g->n, g->n + 1);
    if (!append_row(g, g->n)) return false;
    g->y[g->n] = g->z[g->n] = g->weight[g->n] = 0;      /* a point at its own mean pulls at nothing */
    g->n++;
    return true;
}

void spot_gp_forget(spot_gp *g, int n)
{
    if (n >= 0 && n < g->n) g->n = n;
}

/* The slope by log length s is half the sum over pairs of (w w' - K^-1) dk / d(log length), and dk / d(log length s) is the
 * kernel's slope times the pair's squared distance in the features of s. Pairs count twice, the diagonal has no distance. */
static void length_slopes(const spot_gp *g, double *slope)
{
    double point[SPOT_GP_FEATURES], *pull = g->row, *k = g->row + g->most;

    for (int s = 0; s < g->shape.scales; s++) slope[s] = 0;
    for (int i = 1; i < g->n; i++) {
        const double *restrict inverse = g->inverse + (size_t)i * (size_t)g->most;
        double own = g->weight[i];
        point_over(g, i, point);
        spot_gp_row(g, point, i, k, pull);
        for (int j = 0; j < i; j++) pull[j] *= own * g->weight[j] - inverse[j];
        for (int f = 0; f < g->shape.features; f++) {
            const double *restrict x = g->over + (size_t)f * (size_t)g->most;
            double at = point[f];
            for (int j = 0; j < i; j++) k[j] = (at - x[j]) * (at - x[j]);
            slope[g->shape.scale_of[f]] += cblas_ddot(i, pull, 1, k, 1);
        }
    }
}

double spot_gp_likelihood(spot_gp *g, const spot_gp_kernel *kernel, double *slope)
{
    const double log_turn = 1.8378770664093453;        /* log(2 pi) */
    size_t m = (size_t)g->most;
    double fit = 0, size = 0, trace = 0, square = 0;

    if (kernel != &g->kernel) g->kernel = *kernel;
    scale_x(g, 0, g->n);
    if (!try_factor(g, g->kernel.noise)) return -INFINITY;
    solve_weights(g);
    for (int i = 0; i < g->n; i++) fit += g->z[i] * g->weight[i], size += log(g->factor[(size_t)i * m + (size_t)i]);
    if (slope) {
        for (int i = 0; i < g->n; i++)
            memcpy(g->inverse + (size_t)i * m, g->factor + (size_t)i * m, ((size_t)i + 1) * sizeof *g->factor);
        if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', g->n, g->inverse, g->most)) return -INFINITY;
        length_slopes(g, slope);
        for (int i = 0; i < g->n; i++) trace += g->inverse[(size_t)i * m + (size_t)i], square += g->weight[i] * g->weight[i];
        slope[g->shape.scales] = 0.5 * (fit - g->kernel.noise * square - g->n + g->kernel.noise * trace);
        slope[g->shape.scales + 1] = 0.5 * g->kernel.noise * (square - trace);
    }
    return -0.5 * fit - size - 0.5 * g->n * log_turn;
}
