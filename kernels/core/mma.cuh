/* mma.cuh - products of tiles of 16 x 16 numbers by a warp on tensor cores: bf16 factors, fp32 sums. All lanes of a warp call
 * together. Before a tile is read that other lanes wrote, or written that others read, comes __syncwarp(). */
#ifndef SPOTTER_MMA_CUH
#define SPOTTER_MMA_CUH

#include <mma.h>

#include "core/lanes.cuh"

enum { SPOT_MMA = 16 };

/* Shared memory for tiles: their first numbers lie at multiples of 32 bytes, which the hardware requires. */
struct spot_mma_room { alignas(32) unsigned char byte[32]; };
#define SPOT_MMA_ROOM(T, n) (sizeof(T) * (n) / sizeof(spot_mma_room))      /* n numbers of T: a multiple of 32 bytes */

/* Factors of sum (i, j) += left (i, k) right (k, j). Memory has the numbers of a k beside each other for spot_mma_right, and of
 * a j for spot_mma_turned. */
typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __nv_bfloat16, nvcuda::wmma::row_major> spot_mma_left;
typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __nv_bfloat16, nvcuda::wmma::row_major> spot_mma_right;
typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __nv_bfloat16, nvcuda::wmma::col_major> spot_mma_turned;
typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> spot_mma_sum;

/* pitch: numbers from a row of memory to the next; a multiple of 8. */
template <typename F> static __device__ inline void spot_mma_load(F &f, const spot_bf16 *from, int pitch)
{
    nvcuda::wmma::load_matrix_sync(f, (const __nv_bfloat16 *)from, pitch);
}

/* pitch: a multiple of 4. */
static __device__ inline void spot_mma_store(float *to, const spot_mma_sum &sum, int pitch)
{
    nvcuda::wmma::store_matrix_sync(to, sum, pitch, nvcuda::wmma::mem_row_major);
}

static __device__ inline void spot_mma_clear(spot_mma_sum &sum) { nvcuda::wmma::fill_fragment(sum, 0.0f); }

template <typename F> static __device__ inline void spot_mma_add(spot_mma_sum &sum, const spot_mma_left &left, const F &right)
{
    nvcuda::wmma::mma_sync(sum, left, right, sum);
}

/* Whether all numbers of a tile are below 0, which NaN is not. */
static __device__ inline bool spot_mma_below_0(const spot_mma_sum &sum)
{
    bool below = true;

    for (int i = 0; i < sum.num_elements; i++) below &= sum.x[i] < 0;
    return __all_sync(~0u, below);
}

#endif
