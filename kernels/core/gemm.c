/* gemm.c - 8 x 32 register tiles over packed panels of 32 columns. */
#include "core/gemm.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"

enum { ROWS = 8, COLS = 32, DEPTH = 256 };   /* a panel is 32 kB: it stays in L1 while the rows pass by */

static inline __attribute__((always_inline)) void tile(float sum[ROWS][COLS], const float *const row[ROWS], size_t k_step,
                                                       float panel[DEPTH][COLS], int depth)
{
    float s[ROWS][COLS];

    memcpy(s, sum, sizeof s);
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < ROWS; i++) {
            float a = row[i][(size_t)k * k_step];
            for (int j = 0; j < COLS; j++) s[i][j] = fmaf(a, panel[k][j], s[i][j]);
        }
    memcpy(sum, s, sizeof s);
}

void spot_gemm_add(float *c, size_t ldc, const float *a, size_t row_step, size_t k_step, const float *b, size_t ldb,
                   int rows, int cols, int depth)
{
    float panel[DEPTH][COLS] = { { 0 } }, sum[ROWS][COLS] = { { 0 } };
    const float *row[ROWS];

    for (int j0 = 0; j0 < cols; j0 += COLS)
        for (int k0 = 0; k0 < depth; k0 += DEPTH) {
            int width = cols - j0 < COLS ? cols - j0 : COLS, deep = depth - k0 < DEPTH ? depth - k0 : DEPTH;

            for (int k = 0; k < deep; k++) memcpy(panel[k], b + (k0 + k) * ldb + j0, width * sizeof(float));
            for (int i0 = 0; i0 < rows; i0 += ROWS) {
                int high = rows - i0 < ROWS ? rows - i0 : ROWS;
                for (int i = 0; i < ROWS; i++) row[i] = a + (i0 + (i < high ? i : 0)) * row_step + k0 * k_step;
                for (int i = 0; i < high; i++) memcpy(sum[i], c + (i0 + i) * ldc + j0, width * sizeof(float));
                if (k_step == 1) tile(sum, row, 1, panel, deep);
                else             tile(sum, row, k_step, panel, deep);
                for (int i = 0; i < high; i++) memcpy(c + (i0 + i) * ldc + j0, sum[i], width * sizeof(float));
            }
        }
}
