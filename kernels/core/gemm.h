/* gemm.h - C += A B on one thread, fp32, for CPU kernels that cut their own tiles.
 *
 * Every element is one fmaf chain in the order of k, from what C held: the bits depend neither on how the caller cuts the
 * matrices nor on the vector width. (OpenBLAS keeps no such promise, and Debian 12's does not know AVX-512 on all CPUs.) */
#ifndef SPOTTER_GEMM_H
#define SPOTTER_GEMM_H

#include <stddef.h>

/* c (rows, cols) with ldc floats a row; a[i * row_step + k * k_step]; b (depth, cols) with ldb floats a row. */
void spot_gemm_add(float *c, size_t ldc, const float *a, size_t row_step, size_t k_step, const float *b, size_t ldb,
                   int rows, int cols, int depth);

#endif
