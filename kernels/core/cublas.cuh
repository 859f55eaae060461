/* cublas.cuh - one large matrix product by cuBLAS: the ceiling that `spotter bench` holds convolutions against. */
#ifndef SPOTTER_CUBLAS_CUH
#define SPOTTER_CUBLAS_CUH

#include "core/cuda.cuh"

/* spot_device_multiply (core/device.h) on CUDA. cuBLAS stays open until spot_cublas_forget. */
spot_status spot_cublas_multiply(spot_ctx *c, void *product, const void *a, const void *b, int n);
void        spot_cublas_forget(spot_cuda *cuda);

#endif
