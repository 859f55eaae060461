/* gemm.c - 8 x 32 register tiles over packed panels of 32 columns. */
#include "core/gemm.h"

enum { ROWS = SPOT_GEMM_ROWS, COLS = SPOT_GEMM_COLS, DEPTH = 256 };   /* a panel of 32 kB stays in L1 */

/* panel (depth, 32) = b (depth, width), or the transpose of b (width, depth). Columns past the last are 0. */
static void pack_panel(float panel[DEPTH][COLS], const float *b, size_t ldb, int width, int depth, int transposed)
{
    for (int k = 0; k < depth && !transposed; k++) memcpy(panel[k], b + k * ldb, width * sizeof(float));
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
                else for (int i = 0; i < high; i++) memcpy(sum[i], c + (i0 + i) * ldc + j0, width * sizeof(float));
                spot_gemm_tile(sum, row, a.step, panel, deep, squares);
                for (int i = 0; i < high; i++) memcpy(c + (i0 + i) * ldc + j0, sum[i], width * sizeof(float));
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
