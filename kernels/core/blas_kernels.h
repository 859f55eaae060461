/* blas_kernels.h - the instructions that OpenBLAS computes with. */
#ifndef SPOTTER_BLAS_KERNELS_H
#define SPOTTER_BLAS_KERNELS_H

#include <stdbool.h>

/* OpenBLAS gives a CPU that is newer than itself the kernels of a Prescott of 2004, two to four times slower than those it has.
 * The first call makes it choose again, the best of its kernels for this CPU's instructions, unless OPENBLAS_CORETYPE says
 * which. Call it before any product. */
void spot_blas_kernels(void);

/* OPENBLAS_CORETYPE for a CPU with these instructions for which OpenBLAS chose `core`; NULL where that is as good. */
const char *spot_blas_kernels_for(const char *core, bool avx2, bool avx512);

#endif
