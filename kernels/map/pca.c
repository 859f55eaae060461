/* pca.c - covariance and projection on the CPU: threads own 64 x 96 tiles of the covariance and of the scores. */
#include "map/pca.h"

#include "core/column_sums.h"
#include "core/outer.h"

enum { HIGH = SPOT_OUTER_HIGH, WIDE = SPOT_OUTER_WIDE, DEPTH = SPOT_OUTER_DEPTH, COLUMNS = 64 };

/* Means of columns j0 .. j0+63. */
static void mean_of_columns(const spot_pca_problem *p, int j0)
{
    double mean[COLUMNS];
    int cols = p->d - j0 < COLUMNS ? p->d - j0 : COLUMNS;

    spot_column_means(mean, p->x, p->n, p->d, j0, cols);
    memcpy(p->mean + j0, mean, (size_t)cols * sizeof *mean);
}

static void covariance_tile(const spot_pca_problem *p, int j0, int k0)
{
    const spot_outer_rows all = { p->d, p->n, p->x, p->mean, NULL, NULL, false };
    double sum[HIGH][WIDE] = { { 0 } };

    spot_outer_add(sum, &all, j0, k0);
    for (int j = j0; j < j0 + HIGH && j < p->d; j++)
        for (int k = k0 > j ? k0 : j; k < k0 + WIDE && k < p->d; k++) p->cov[(size_t)j * p->d + k] = sum[j - j0][k - k0];
}

static spot_status covariance_cpu(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    for (int q = 0; q < problems; q++) {
        int d = p[q].d, high = (d + HIGH - 1) / HIGH, wide = (d + WIDE - 1) / WIDE;
#pragma omp parallel num_threads(c->threads)
        {
#pragma omp for schedule(dynamic)
            for (int j0 = 0; j0 < d; j0 += COLUMNS) mean_of_columns(&p[q], j0);
#pragma omp for schedule(dynamic)
            for (int t = 0; t < high * wide; t++)
                if (t / wide * HIGH < (t % wide + 1) * WIDE) covariance_tile(&p[q], t / wide * HIGH, t % wide * WIDE);
        }
    }
    return SPOT_OK;
}

/* Scores of rows i0 .. i0+95 on axes k0 .. k0+63. */
static void project_tile(const spot_pca_problem *p, int i0, int k0)
{
    int rows = p->n - i0 < WIDE ? p->n - i0 : WIDE, axes = p->kept - k0 < HIGH ? p->kept - k0 : HIGH;
    double sum[HIGH][WIDE] = { { 0 } };
    spot_outer_slabs s;

    for (int j0 = 0; j0 < p->d; j0 += DEPTH) {
        int deep = p->d - j0 < DEPTH ? p->d - j0 : DEPTH;
        for (int k = 0; k < (axes + SPOT_OUTER_A - 1) / SPOT_OUTER_A * SPOT_OUTER_A; k++) {
            const double *axis = p->axis + (size_t)(k0 + (k < axes ? k : 0)) * p->d + j0;
            double *to = spot_outer_at(s.a, 0, k, SPOT_OUTER_A);
            for (int j = 0; j < deep; j++) to[j * SPOT_OUTER_A] = axis[j];
        }
        for (int i = 0; i < (rows + SPOT_OUTER_B - 1) / SPOT_OUTER_B * SPOT_OUTER_B; i++) {
            const float *x = p->x + (size_t)(i0 + (i < rows ? i : 0)) * p->d + j0;
            double *to = spot_outer_at(s.b, 0, i, SPOT_OUTER_B);
            for (int j = 0; j < deep; j++) to[j * SPOT_OUTER_B] = x[j] - p->mean[j0 + j];
        }
        for (int i = 0; i < rows; i += SPOT_OUTER_B) spot_outer_strip(sum, &s, 0, axes, i, deep);
    }
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < axes; k++) p->score[(size_t)(i0 + i) * p->kept + k0 + k] = (float)sum[k][i];
}

static spot_status project_cpu(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    for (int q = 0; q < problems; q++) {
        int high = (p[q].n + WIDE - 1) / WIDE, wide = (p[q].kept + HIGH - 1) / HIGH;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int t = 0; t < high * wide; t++) project_tile(&p[q], t / wide * WIDE, t % wide * HIGH);
    }
    return SPOT_OK;
}

const spot_pca_ops spot_pca_cpu = { .covariance = covariance_cpu, .project = project_cpu };

spot_status spot_pca_covariance(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1)
            return spot_fail(c, SPOT_INVALID, "{pca.covariance_sizes} pca.covariance, problem %d: (%d,%d)", q, p[q].n, p[q].d);
    SPOT_DISPATCH(c, pca, covariance, problems, p);
}

spot_status spot_pca_project(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1 || p[q].kept < 1 || p[q].kept > p[q].d)
            return spot_fail(c, SPOT_INVALID, "{pca.project_sizes} pca.project, problem %d: (%d,%d) on %d axes", q, p[q].n,
                             p[q].d, p[q].kept);
    SPOT_DISPATCH(c, pca, project, problems, p);
}
