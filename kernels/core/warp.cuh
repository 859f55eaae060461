/* warp.cuh - sums over the lanes of a warp. A butterfly: every lane gets the same bits. All lanes of the mask must call. */
#ifndef SPOTTER_WARP_CUH
#define SPOTTER_WARP_CUH

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

#endif
