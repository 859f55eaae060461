/* gemm.h - C += A B on one thread, fp32, for CPU kernels that cut their own tiles.
 *
 * Every element is one fmaf chain in the order of k that starts at the old value of C. The bits depend neither on how the
 * caller cuts the matrices nor on the vector width. (OpenBLAS does not guarantee this, and Debian 12's lacks AVX-512 on some
 * CPUs.) */
#ifndef SPOTTER_GEMM_H
#define SPOTTER_GEMM_H

#include <stddef.h>

/* c (rows, cols) with ldc floats a row; a[i * row_step + k * k_step]; b (depth, cols) with ldb floats a row. */
void spot_gemm_add(float *c, size_t ldc, const float *a, size_t row_step, size_t k_step, const float *b, size_t ldb,
                   int rows, int cols, int depth);

#endif
