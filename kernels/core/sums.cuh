/* sums.cuh - sums over the lanes of a warp and over the threads of a block, in an order that is always the same. A warp adds
 * up in a butterfly, so that every lane gets the same bits. All lanes of the mask, all threads of the block must call. */
#ifndef SPOTTER_SUMS_CUH
#define SPOTTER_SUMS_CUH

#include "core/cuda.cuh"

#define SPOT_WARP 32
#define SPOT_HALF_WARP 16

template <typename T> static __device__ inline T spot_warp_sum(T v)
{
    for (int by = SPOT_WARP / 2; by; by /= 2) v += __shfl_xor_sync(~0u, v, by);
    return v;
}

/* Over each half-warp: the order in which spot_fold (vmath.h) sums 16 lanes. */
static __device__ inline float spot_half_warp_sum(float v, unsigned mask)
{
    for (int by = SPOT_HALF_WARP / 2; by; by /= 2) v += __shfl_xor_sync(mask, v, by);
    return v;
}

static __device__ inline float spot_half_warp_min(float v, unsigned mask)
{
    for (int by = SPOT_HALF_WARP / 2; by; by /= 2) {
        float other = __shfl_xor_sync(mask, v, by);
        v = other < v ? other : v;
    }
    return v;
}

/* The squared distance of points of d coordinates, by one thread: a chain in their order. */
template <typename T> static __device__ inline double spot_squared_distance(const float *x, const T *y, int d)
{
    double sum = 0;

    for (int j = 0; j < d; j++) {
        double off = (double)x[j] - (double)y[j];
        sum = fma(off, off, sum);
    }
    return sum;
}

/* The block's sum, the same in every thread: each warp's, then the warps in order. Also a barrier for memory. */
template <int THREADS> static __device__ inline double spot_block_sum(double v)
{
    SPOT_SHARED(double, warp, THREADS / SPOT_WARP);
    double sum = 0;

    v = spot_warp_sum(v);
    __syncthreads();                  /* other threads may still read the last sum */
    if (threadIdx.x % SPOT_WARP == 0) warp[threadIdx.x / SPOT_WARP] = v;
    __syncthreads();
    for (int w = 0; w < THREADS / SPOT_WARP; w++) sum += warp[w];
    return sum;
}

#endif
