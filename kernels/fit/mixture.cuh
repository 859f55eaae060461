/* mixture.cuh - what mixture.cu and mixture_start.cu share: a block's workspace and its sums.
 *
 * Whatever is summed over points is summed by one warp, lane by lane in the order of points and then by butterfly, or by
 * the block, whose warps' sums are added in order. */
#ifndef SPOTTER_MIXTURE_CUH
#define SPOTTER_MIXTURE_CUH

#include "core/cuda.cuh"
#include "fit/mixture_scratch.h"

enum { THREADS = 256, WARP = SPOT_MIXTURE_WARP, WARPS = THREADS / WARP, TRIALS = 6 };   /* 2 + floor(ln 64) trials */

static inline __device__ int thread() { return threadIdx.x; }
static inline __device__ int lane()   { return threadIdx.x % WARP; }
static inline __device__ int warp()   { return threadIdx.x / WARP; }

typedef struct {
    double *moment, *point, *tile;   /* the block's part of the scratch */
    double *partial;                 /* shared: (TRIALS, WARPS) */
} work;

static inline __device__ work work_of(const spot_mixture_space *m, double *partial)
{
    return { m->moment + blockIdx.x * m->moments, m->point + blockIdx.x * m->points, m->tile + blockIdx.x * m->tiles,
             partial };
}

/* Fits are handed out in their order. Who gets which changes nothing. */
static inline __device__ unsigned next_fit(const spot_mixture_space *m, unsigned *turn)
{
    unsigned own;

    if (!thread()) *turn = atomicAdd(m->counter, 1u);
    __syncthreads();
    own = *turn;
    __syncthreads();
    return own;
}

/* Over the warp, the same in all its lanes. */
static inline __device__ double warp_sum(double x)
{
    for (int by = WARP / 2; by; by /= 2) x += __shfl_xor_sync(~0u, x, by);
    return x;
}

/* sum[i] becomes the block's, the same in all its threads. What they wrote before is seen after. */
static inline __device__ void block_sums(double *sum, int count, double *partial)
{
    for (int i = 0; i < count; i++) {
        double s = warp_sum(sum[i]);
        if (!lane()) partial[i * WARPS + warp()] = s;
    }
    __syncthreads();
    for (int i = 0; i < count; i++) {
        sum[i] = 0;
        for (int w = 0; w < WARPS; w++) sum[i] += partial[i * WARPS + w];
    }
    __syncthreads();
}

static inline __device__ double block_sum(double x, double *partial)
{
    block_sums(&x, 1, partial);
    return x;
}

/* k-means for every fit that has no responsibilities to start from: their labels. */
spot_status spot_mixture_start_cuda(spot_ctx *c, const spot_mixture_space *m, int count);

#endif
