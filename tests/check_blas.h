/* check_blas.h - one thread for OpenBLAS, as spot_ctx_open sets it: the test's contexts come from check_ctx. */
#ifndef SPOTTER_TESTS_CHECK_BLAS_H
#define SPOTTER_TESTS_CHECK_BLAS_H

#include <cblas.h>

__attribute__((constructor)) static void set_blas_threads(void) { openblas_set_num_threads(1); }

#endif
