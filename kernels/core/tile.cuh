/* tile.cuh - a 64 x 64 tile of a matrix product in fp64: a block of 16 x 16 threads owns it, a thread 4 x 4 of its numbers. The
 * factors pass through shared memory in slabs of 16 rows. A number is one fma chain in the order of the rows. */
#ifndef SPOTTER_TILE_CUH
#define SPOTTER_TILE_CUH

#include "core/cuda.cuh"

enum { SPOT_TILE = 64, SPOT_TILE_SIDE = 16, SPOT_TILE_OWN = SPOT_TILE / SPOT_TILE_SIDE, SPOT_TILE_SLAB = 16 };

/* sum[a][b] += left[t][16 a + y] right[t][16 b + x] for t < rows, (x, y) the thread. left, right (16, 64): slabs. */
static __device__ inline void spot_tile_add(double sum[SPOT_TILE_OWN][SPOT_TILE_OWN], const double *left, const double *right,
                                            int rows)
{
    for (int t = 0; t < rows; t++)
        for (int a = 0; a < SPOT_TILE_OWN; a++)
            for (int b = 0; b < SPOT_TILE_OWN; b++)
                sum[a][b] = fma(left[t * SPOT_TILE + a * SPOT_TILE_SIDE + threadIdx.y],
                                right[t * SPOT_TILE + b * SPOT_TILE_SIDE + threadIdx.x], sum[a][b]);
}

#endif
