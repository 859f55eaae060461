/* norm.cuh - the loops of norm.cu and norm_back.cu that change each number. They run over places: a place is a pixel of a
 * batch (for the pool: a window) with all its channels. A block is 8 groups of channels wide and 32 places high. A group is
 * the channels of 16 bytes, so a row of the block reads 128 bytes at once. */
#ifndef SPOTTER_NORM_CUH
#define SPOTTER_NORM_CUH

#include "core/lanes.cuh"
#include "net/norm.h"

enum { WIDE = 8, HIGH = 32, THREADS = WIDE * HIGH, TURNS = 4 };

static __device__ inline bool above_zero(float v) { return !(v <= 0); }        /* true for NaN, so that the loss becomes NaN */
static __device__ inline float keep(float v, bool mask) { return mask ? v : 0.0f; }

/* The first channel of this thread's group. */
template <typename T> static __device__ inline int own_channel()
{
    return (blockIdx.y * WIDE + threadIdx.x % WIDE) * spot_lanes<T>::N;
}

template <typename T> static dim3 every_place(size_t places, int channels)
{
    return dim3((unsigned)((places + TURNS * HIGH - 1) / (TURNS * HIGH)), (channels / spot_lanes<T>::N + WIDE - 1) / WIDE);
}

static inline size_t pixels_of(int rows, spot_plane p) { return (size_t)rows * p.size * p.size; }

#define SHAPE(p) "%d of %d images, %d channels, size %d, %s", (p).live, (p).rows, (p).channels, (p).size, \
                 (p).precision == SPOT_BF16 ? "bf16" : "fp32"

spot_status spot_norm_back_cuda(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch);
spot_status spot_norm_pool_back_cuda(spot_ctx *c, const spot_norm_pooled *b, const spot_norm *l, spot_plane p, void *scratch);
spot_status spot_norm_fold_cuda(spot_ctx *c, const spot_norm_folding *f);

#endif
