/* gemm.c - 8 x 32 register tiles over packed panels of 32 columns. */
#include "core/gemm.h"

enum { ROWS = SPOT_GEMM_ROWS, COLS = SPOT_GEMM_COLS, DEPTH = 256 };   /* a panel of 32 kB stays in L1 */

/* A whole row of a tile is copied without a call. */
static inline __attribute__((always_inline)) void copy_row(float *to, const float *from, int width)
{
    if (width == COLS) memcpy(to, from, COLS * sizeof(float));
    else memcpy(to, from, (size_t)width * sizeof(float));
}

/* panel (depth, 32) = b (depth, width), or the transpose of b (width, depth). Columns past the last are 0. */
static void pack_panel(float panel[DEPTH][COLS], const float *b, size_t ldb, int width, int depth, int transposed)
{
    for (int k = 0; k < depth && !transposed; k++) copy_row(panel[k], b + k * ldb, width);
    for (int j = 0; j < width && transposed; j++)
        for (int k = 0; k < depth; k++) panel[k][j] = b[j * ldb + k];
    for (int k = 0; k < depth && width < COLS; k++) memset(panel[k] + width, 0, (COLS - width) * sizeof(float));
}

static inline __attribute__((always_inline)) void add_tiles(float *c, size_t ldc, spot_gemm_factor a, spot_gemm_factor b,
                                                            int rows,
                                                            int cols, int depth, int squares)
{
    float panel[DEPTH][COLS], sum[ROWS][COLS] = { { 0 } };
    const float *row[ROWS];

    for (int j0 = 0; j0 < cols; j0 += COLS)
        for (int k0 = 0; k0 == 0 || k0 < depth; k0 += DEPTH) {      /* with depth 0, too: squares sum to 0 */
            int width = cols - j0 < COLS ? cols - j0 : COLS, deep = depth - k0 < DEPTH ? depth - k0 : DEPTH;

            pack_panel(panel, b.v + (squares ? j0 * b.row + k0 : k0 * b.row + j0), b.row, width, deep, squares);
            for (int i0 = 0; i0 < rows; i0 += ROWS) {
                int high = rows - i0 < ROWS ? rows - i0 : ROWS;
                for (int i = 0; i < ROWS; i++) row[i] = a.v + (i0 + (i < high ? i : 0)) * a.row + k0 * a.step;
                if (squares && !k0) memset(sum, 0, sizeof sum);
                else for (int i = 0; i < high; i++) copy_row(sum[i], c + (i0 + i) * ldc + j0, width);
                spot_gemm_tile(sum, row, a.step, panel, deep, squares);
                for (int i = 0; i < high; i++) copy_row(c + (i0 + i) * ldc + j0, sum[i], width);
            }
        }
}

void spot_gemm_add(float *c, size_t ldc, spot_gemm_factor a, spot_gemm_factor b, int rows, int cols, int depth)
{
    if (a.step == 1) add_tiles(c, ldc, (spot_gemm_factor){ a.v, a.row, 1 }, b, rows, cols, depth, 0);
    else             add_tiles(c, ldc, a, b, rows, cols, depth, 0);
}

void spot_gemm_squares(float *c, size_t ldc, spot_gemm_factor a, spot_gemm_factor b, int rows, int cols, int depth)
{
    add_tiles(c, ldc, (spot_gemm_factor){ a.v, a.row, 1 }, b, rows, cols, depth, 1);
}

/* C of one tile, at most 8 x 32. */
static inline void add_panel(spot_gemm_sum c, spot_gemm_factor a, float (*panel)[COLS], int high, int width, int depth)
{
    float sum[ROWS][COLS];
    const float *row[ROWS];

    if (high < ROWS || width < COLS) memset(sum, 0, sizeof sum);
    for (int i = 0; i < ROWS; i++) row[i] = a.v + (i < high ? i : 0) * a.row;
    for (int i = 0; i < high; i++) copy_row(sum[i], c.start + i * c.start_row, width);
    spot_gemm_tile(sum, row, a.step, panel, depth, 0);
    for (int i = 0; i < high; i++) copy_row(c.v + i * c.row, sum[i], width);
}

void spot_gemm_panels(spot_gemm_sum c, spot_gemm_factor a, const float *b, int rows, int cols, int depth)
{
    for (int j0 = 0; j0 < cols; j0 += COLS)
        for (int k0 = 0; k0 < depth; k0 += DEPTH) {
            int width = cols - j0 < COLS ? cols - j0 : COLS, deep = depth - k0 < DEPTH ? depth - k0 : DEPTH;
            float (*panel)[COLS] = (float (*)[COLS])(b + spot_gemm_at(depth, k0, j0));

            for (int i0 = 0; i0 < rows; i0 += ROWS) {
                spot_gemm_sum to = { c.v + i0 * c.row + j0, c.row, c.start + i0 * c.start_row + j0, c.start_row };
                if (k0) to.start = to.v, to.start_row = to.row;
                add_panel(to, (spot_gemm_factor){ a.v + i0 * a.row + k0, a.row, 1 }, panel, rows - i0 < ROWS ? rows - i0 : ROWS,
                          width, deep);
            }
        }
}
