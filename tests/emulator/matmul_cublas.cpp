/* matmul_cublas.cpp - stands in for cuBLAS on the emulator: plain loops, so that what is around a library can be seen. */
#include <cstdlib>

#include "core/cublas.cuh"
#include "core/lanes.cuh"
#include "runtime.h"

spot_status spot_cublas_multiply(spot_ctx *, void *product, const void *a, const void *b, int n)
{
    const spot_bf16 *x = (const spot_bf16 *)a, *y = (const spot_bf16 *)b;

    emu_open_memory(true);                     /* a library computes on the device */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += (double)spot_widen(x[i * n + k]) * spot_widen(y[k * n + j]);
            spot_round(&((spot_bf16 *)product)[i * n + j], (float)sum);
        }
    emu_open_memory(false);
    return SPOT_OK;
}

void spot_cublas_forget(spot_cuda *) {}
