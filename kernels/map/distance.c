/* distance.c - squared distances on the CPU: a thread owns 32 columns. */
#include "map/distance.h"

#include <string.h>

#include "core/gemm.h"

enum { COLS = SPOT_GEMM_COLS };

/* Columns j0 .. j0+31 of d. */
static void fill_columns(spot_mat d, spot_mat a, spot_mat b, int j0)
{
    int cols = b.rows - j0 < COLS ? b.rows - j0 : COLS;

    for (int i = 0; i < a.rows; i++) memset(d.v + (size_t)i * d.cols + j0, 0, (size_t)cols * sizeof(float));
    spot_gemm_add_squares(d.v + j0, d.cols, a.v, a.cols, b.v + (size_t)j0 * b.cols, b.cols, a.rows, cols, a.cols);
}

static spot_status squared_cpu(spot_ctx *c, int problems, const spot_mat *d, const spot_mat *a, const spot_mat *b)
{
    for (int p = 0; p < problems; p++) {
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int j0 = 0; j0 < b[p].rows; j0 += COLS)
            fill_columns(d[p], a[p], b[p], j0);
    }
    return SPOT_OK;
}

const spot_distance_ops spot_distance_cpu = { .squared = squared_cpu };

spot_status spot_distance_squared(spot_ctx *c, int problems, const spot_mat *d, const spot_mat *a, const spot_mat *b)
{
    for (int p = 0; p < problems; p++)
        if (a[p].cols != b[p].cols || d[p].rows != a[p].rows || d[p].cols != b[p].rows || a[p].rows < 0 || a[p].cols < 0
            || b[p].rows < 0)
            return spot_fail(c, SPOT_INVALID, "distance.squared, problem %d: (%d,%d) to (%d,%d) into (%d,%d)", p, a[p].rows,
                             a[p].cols, b[p].rows, b[p].cols, d[p].rows, d[p].cols);
    SPOT_DISPATCH(c, distance, squared, problems, d, a, b);
}
