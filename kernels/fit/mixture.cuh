/* mixture.cuh - a block's workspace, for mixture.cu and mixture_start.cu.
 *
 * A sum over points is one warp's (each lane in the order of points, then a butterfly), or the block's (its warps' sums in
 * order). */
#ifndef SPOTTER_MIXTURE_CUH
#define SPOTTER_MIXTURE_CUH

#include "core/sums.cuh"
#include "fit/mixture_scratch.h"

enum { THREADS = 256, WARP = SPOT_MIXTURE_WARP, WARPS = THREADS / WARP, TRIALS = 6 };   /* 2 + floor(ln 64) trials */

static inline __device__ int thread() { return threadIdx.x; }
static inline __device__ int lane()   { return threadIdx.x % WARP; }
static inline __device__ int warp()   { return threadIdx.x / WARP; }

typedef struct {
    double *moment, *point, *tile;   /* the block's part of the scratch */
} work;

static inline __device__ work work_of(const spot_mixture_space *m)
{
    return { m->moment + blockIdx.x * m->moments, m->point + blockIdx.x * m->points, m->tile + blockIdx.x * m->tiles };
}

/* Blocks take fits in their order. No result depends on the block. */
static inline __device__ unsigned next_fit(const spot_mixture_space *m, unsigned *turn)
{
    unsigned own;

    if (!thread()) *turn = atomicAdd(m->counter, 1u);
    __syncthreads();
    own = *turn;
    __syncthreads();
    return own;
}

/* Labels by k-means for every fit that has no responsibilities to start from. */
spot_status spot_mixture_start_cuda(spot_ctx *c, const spot_mixture_space *m, int count);

#endif
