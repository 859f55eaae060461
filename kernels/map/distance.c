/* distance.c - squared distances on the CPU: a thread owns 32 columns. */
#include "map/distance.h"

#include "core/gemm.h"

static spot_status squared_cpu(spot_ctx *c, int problems, const spot_mat *d, const spot_mat *a, const spot_mat *b)
{
    for (int p = 0; p < problems; p++) {
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int j0 = 0; j0 < b[p].rows; j0 += SPOT_GEMM_COLS) {
            int cols = b[p].rows - j0 < SPOT_GEMM_COLS ? b[p].rows - j0 : SPOT_GEMM_COLS;
            spot_gemm_squares(d[p].v + j0, d[p].cols, (spot_gemm_factor){ a[p].v, a[p].cols, 1 },
                              (spot_gemm_factor){ b[p].v + (size_t)j0 * b[p].cols, b[p].cols, 1 }, a[p].rows, cols, a[p].cols);
        }
    }
    return SPOT_OK;
}

const spot_distance_ops spot_distance_cpu = { .squared = squared_cpu };

spot_status spot_distance_squared(spot_ctx *c, int problems, const spot_mat *d, const spot_mat *a, const spot_mat *b)
{
    for (int p = 0; p < problems; p++)
        if (a[p].cols != b[p].cols || d[p].rows != a[p].rows || d[p].cols != b[p].rows || a[p].rows < 0 || a[p].cols < 0
            || b[p].rows < 0)
            return spot_fail(c, SPOT_INVALID, "{distance.sizes} distance.squared, problem %d: (%d,%d) to (%d,%d) into (%d,%d)",
                             p, a[p].rows, a[p].cols, b[p].rows, b[p].cols, d[p].rows, d[p].cols);
    SPOT_DISPATCH(c, distance, squared, problems, d, a, b);
}
