/* distance.c - squared distances on the CPU: 8 x 32 register tiles over panels of 32 packed columns. */
#include "map/distance.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"

enum { ROWS = 8, COLS = 32, DEPTH = 256 };   /* a panel is 32 kB: it stays in L1 while all rows of a pass by */

/* sum += squared differences of `depth` features; the 8 x 32 sums live in registers. */
static void add_tile(float sum[ROWS][COLS], const float *const row[ROWS], float panel[DEPTH][COLS], int depth)
{
    float s[ROWS][COLS];

    memcpy(s, sum, sizeof s);
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < ROWS; i++) {
            float a = row[i][k];
            for (int j = 0; j < COLS; j++) {
                float x = a - panel[k][j];
                s[i][j] = fmaf(x, x, s[i][j]);
            }
        }
    memcpy(sum, s, sizeof s);
}

/* Columns j0 .. j0+cols of d. Features come in slices of DEPTH; between slices the sums rest in d, which loses nothing. */
static void fill_columns(spot_mat d, spot_mat a, spot_mat b, int j0)
{
    float panel[DEPTH][COLS], sum[ROWS][COLS];
    int cols = b.rows - j0 < COLS ? b.rows - j0 : COLS;
    int k0 = 0;

    do {
        int depth = a.cols - k0 < DEPTH ? a.cols - k0 : DEPTH;

        for (int j = 0; j < COLS; j++) {
            const float *from = b.v + (size_t)(j0 + (j < cols ? j : 0)) * b.cols + k0;
            for (int k = 0; k < depth; k++) panel[k][j] = from[k];
        }
        for (int i0 = 0; i0 < a.rows; i0 += ROWS) {
            int rows = a.rows - i0 < ROWS ? a.rows - i0 : ROWS;
            const float *row[ROWS];

            memset(sum, 0, sizeof sum);
            for (int i = 0; i < ROWS; i++) {
                size_t at = i0 + (i < rows ? i : 0);
                row[i] = a.v + at * a.cols + k0;
                if (k0) memcpy(sum[i], d.v + at * d.cols + j0, (size_t)cols * sizeof(float));
            }
            add_tile(sum, row, panel, depth);
            for (int i = 0; i < rows; i++)
                memcpy(d.v + (size_t)(i0 + i) * d.cols + j0, sum[i], (size_t)cols * sizeof(float));
        }
        k0 += depth;
    } while (k0 < a.cols);
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
