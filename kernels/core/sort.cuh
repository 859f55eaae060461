/* sort.cuh - a block sorts n keys in shared or global memory: a bitonic network whose comparisons all ascend, so that n need
 * not be a power of two. The order of equal keys is not defined. A key is a number, or a struct with operator<. */
#ifndef SPOTTER_SORT_CUH
#define SPOTTER_SORT_CUH

#include "core/cuda.cuh"
#include "core/sort.h"

template <typename T> static __device__ inline void spot_ascend(T *key, int i, int j, int n)
{
    if (j < n && key[j] < key[i]) {
        const T k = key[i];
        key[i] = key[j];
        key[j] = k;
    }
}

/* Every thread of the block calls it. */
template <typename T> static __device__ inline void spot_block_sort(T *key, int n)
{
    const int threads = blockDim.x;

    __syncthreads();
    for (int run = 2; run / 2 < n; run *= 2) {
        for (int t = threadIdx.x; t < n; t += threads) {       /* pairs: fewer than n */
            int first = t / (run / 2) * run, at = t % (run / 2);
            spot_ascend(key, first + at, first + run - 1 - at, n);
        }
        __syncthreads();
        for (int half = run / 4; half; half /= 2) {
            for (int t = threadIdx.x; t < n; t += threads) spot_ascend(key, t / half * 2 * half + t % half,
                                                                       t / half * 2 * half + t % half + half, n);
            __syncthreads();
        }
    }
}

#endif
