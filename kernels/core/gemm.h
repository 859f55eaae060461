/* gemm.h - sums of products on one thread, fp32, for CPU kernels that cut their own tiles.
 *
 * Every element is one fmaf chain in the order of k that starts at the old value of C, or at 0 for squares. The bits depend
 * neither on how the caller cuts the matrices nor on the vector width. (OpenBLAS does not guarantee this, and Debian 12's
 * lacks AVX-512 on some CPUs.) */
#ifndef SPOTTER_GEMM_H
#define SPOTTER_GEMM_H

#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
#define SPOT_GEMM_AVX2 1
#include <immintrin.h>
#else
#define SPOT_GEMM_AVX2 0
#endif
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/lanes.h"

enum { SPOT_GEMM_ROWS = 8, SPOT_GEMM_COLS = 32 };

/* A matrix of a product: number (i, k) lies at v[i * row + k * step]. */
typedef struct { const float *v; size_t row, step; } spot_gemm_factor;

/* C, with `row` floats a row, and the numbers that it starts from, with start_row floats a row: 0 is one row for all. */
typedef struct { float *v; size_t row; const float *start; size_t start_row; } spot_gemm_sum;

/* C += A B: c (rows, cols) with ldc floats a row; a (rows, depth); b (depth, cols), whose step is 1. */
void spot_gemm_add(float *c, size_t ldc, spot_gemm_factor a, spot_gemm_factor b, int rows, int cols, int depth);

/* c[i,j] = sum over k of (a[i,k] - b[j,k])^2: a (rows, depth), b (cols, depth), whose steps are 1. */
void spot_gemm_squares(float *c, size_t ldc, spot_gemm_factor a, spot_gemm_factor b, int rows, int cols, int depth);

/* Where number (k, j) lies in a B (depth, cols) that is kept in panels of 32 columns, and their length. Columns past the
 * last are in the last panel, and are 0. */
static inline size_t spot_gemm_at(int depth, int k, int j)
{
    return ((size_t)(j / SPOT_GEMM_COLS) * (size_t)depth + (size_t)k) * SPOT_GEMM_COLS + (size_t)(j % SPOT_GEMM_COLS);
}

static inline size_t spot_gemm_room(int depth, int cols)
{
    return (size_t)(cols + SPOT_GEMM_COLS - 1) / SPOT_GEMM_COLS * SPOT_GEMM_COLS * (size_t)depth;
}

/* C = start + A B, with B in panels: for a B that serves many calls. */
void spot_gemm_panels(spot_gemm_sum c, spot_gemm_factor a, const float *b, int rows, int cols, int depth);

#if SPOT_GEMM_AVX2
/* AVX2 has 16 registers of 8 floats, which cannot hold 8 x 32 sums: 4 x 16 from column j0 on are in half of them. */
static inline __attribute__((always_inline)) void spot_gemm_part(float sum[][SPOT_GEMM_COLS], const float *const *row,
                                                                 size_t k_step, float (*panel)[SPOT_GEMM_COLS],
                                                                 int depth, int squares, int j0)
{
    const float *a[] = { row[0], row[1], row[2], row[3] };
    __m256 s[4][2];

    for (int i = 0; i < 4; i++) s[i][0] = _mm256_loadu_ps(sum[i] + j0), s[i][1] = _mm256_loadu_ps(sum[i] + j0 + 8);
    for (int k = 0; k < depth; k++) {
        const __m256 b0 = _mm256_loadu_ps(panel[k] + j0), b1 = _mm256_loadu_ps(panel[k] + j0 + 8);
        __asm__("" : : "x"(b0), "x"(b1));      /* gcc would load them again for each row, and loads would bound the loop */
        for (int i = 0; i < 4; i++) {
            const __m256 own = _mm256_set1_ps(a[i][(size_t)k * k_step]);
            const __m256 x0 = squares ? _mm256_sub_ps(own, b0) : own, x1 = squares ? _mm256_sub_ps(own, b1) : own;
            s[i][0] = _mm256_fmadd_ps(x0, squares ? x0 : b0, s[i][0]);
            s[i][1] = _mm256_fmadd_ps(x1, squares ? x1 : b1, s[i][1]);
        }
    }
    for (int i = 0; i < 4; i++) _mm256_storeu_ps(sum[i] + j0, s[i][0]), _mm256_storeu_ps(sum[i] + j0 + 8, s[i][1]);
}
#endif

/* sum[i][j] += the sum over k of row[i][k * k_step] panel[k][j], or of the squares of their differences: 8 x 32 sums, which
 * stay in registers. */
static inline __attribute__((always_inline)) void spot_gemm_tile(float sum[][SPOT_GEMM_COLS], const float *const *row,
                                                                 size_t k_step, float (*panel)[SPOT_GEMM_COLS],
                                                                 int depth, int squares)
{
#if SPOT_GEMM_AVX2
    for (int j0 = 0; j0 < SPOT_GEMM_COLS; j0 += 16)
        for (int i0 = 0; i0 < SPOT_GEMM_ROWS; i0 += 4) spot_gemm_part(sum + i0, row + i0, k_step, panel, depth, squares, j0);
#else
    float s[SPOT_GEMM_ROWS][SPOT_GEMM_COLS];

    memcpy(s, sum, sizeof s);
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < SPOT_GEMM_ROWS; i++) {
            float a = row[i][(size_t)k * k_step];
            for (int j = 0; j < SPOT_GEMM_COLS; j++) {
                float x = squares ? a - panel[k][j] : a, y = squares ? x : panel[k][j];
                s[i][j] = fmaf(x, y, s[i][j]);
            }
        }
    memcpy(sum, s, sizeof s);
#endif
}

#endif
