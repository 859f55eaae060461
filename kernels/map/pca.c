/* pca.c - covariance and projection on the CPU: threads own 64 x 64 tiles of the covariance and of the scores. */
#include "map/pca.h"

#include "core/column_sums.h"
#include "core/outer.h"

enum { TILE = SPOT_OUTER_TILE, DEPTH = SPOT_OUTER_DEPTH, LINE = 16 };

/* Means of columns j0 .. j0+63. */
static void mean_of_columns(const spot_pca_problem *p, int j0)
{
    double mean[TILE];
    int cols = p->d - j0 < TILE ? p->d - j0 : TILE;

    spot_column_means(mean, p->x, p->n, p->d, j0, cols);
    memcpy(p->mean + j0, mean, (size_t)cols * sizeof *mean);
}

static void covariance_tile(const spot_pca_problem *p, int j0, int k0)
{
    const spot_outer_rows all = { p->d, p->n, p->x, p->mean, NULL, NULL };
    double sum[TILE][TILE] = { { 0 } };

    spot_outer_add(sum, &all, j0, k0);
    for (int j = j0; j < j0 + TILE && j < p->d; j++)
        for (int k = k0 > j ? k0 : j; k < k0 + TILE && k < p->d; k++) p->cov[(size_t)j * p->d + k] = sum[j - j0][k - k0];
}

static spot_status covariance_cpu(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    for (int q = 0; q < problems; q++) {
        int d = p[q].d, side = (d + TILE - 1) / TILE;
#pragma omp parallel num_threads(c->threads)
        {
#pragma omp for schedule(dynamic)
            for (int j0 = 0; j0 < d; j0 += TILE) mean_of_columns(&p[q], j0);
#pragma omp for schedule(dynamic)
            for (int t = 0; t < side * side; t++)
                if (t / side <= t % side) covariance_tile(&p[q], t / side * TILE, t % side * TILE);
        }
    }
    return SPOT_OK;
}

/* Scores of rows i0 .. i0+63 on axes k0 .. k0+63: slabs of 128 features, with the slab of rows transposed. */
static void project_tile(const spot_pca_problem *p, int i0, int k0)
{
    int rows = p->n - i0 < TILE ? p->n - i0 : TILE, axes = p->kept - k0 < TILE ? p->kept - k0 : TILE;
    double sum[TILE][TILE] = { { 0 } }, turned[DEPTH][TILE] = { { 0 } }, axis[TILE][DEPTH] = { { 0 } };

    for (int j0 = 0; j0 < p->d; j0 += DEPTH) {
        int deep = p->d - j0 < DEPTH ? p->d - j0 : DEPTH;
        for (int j1 = 0; j1 < deep; j1 += LINE)        /* few enough columns for the cache */
            for (int i = 0; i < rows; i++)
                for (int j = j1; j < j1 + LINE && j < deep; j++)
                    turned[j][i] = p->x[(size_t)(i0 + i) * p->d + j0 + j] - p->mean[j0 + j];
        for (int k = 0; k < axes; k++) memcpy(axis[k], p->axis + (size_t)(k0 + k) * p->d + j0, deep * sizeof **axis);
        spot_outer_strided(sum, axis[0], 1, DEPTH, turned, deep);
    }
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < axes; k++) p->score[(size_t)(i0 + i) * p->kept + k0 + k] = (float)sum[k][i];
}

static spot_status project_cpu(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    for (int q = 0; q < problems; q++) {
        int high = (p[q].n + TILE - 1) / TILE, wide = (p[q].kept + TILE - 1) / TILE;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int t = 0; t < high * wide; t++) project_tile(&p[q], t / wide * TILE, t % wide * TILE);
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
