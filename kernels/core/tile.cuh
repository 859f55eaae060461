/* tile.cuh - a 64 x 64 tile of numbers that are chains over the rows of two factors: a block of 16 x 16 threads owns it, a
 * thread 4 x 4 of its numbers. The factors pass through shared memory in slabs of 16 rows. A number is one chain in the order
 * of the rows. */
#ifndef SPOTTER_TILE_CUH
#define SPOTTER_TILE_CUH

#include "core/cuda.cuh"

enum { SPOT_TILE = 64, SPOT_TILE_SIDE = 16, SPOT_TILE_OWN = SPOT_TILE / SPOT_TILE_SIDE, SPOT_TILE_SLAB = 16 };

/* The steps of a chain. */
struct spot_tile_product { static __device__ inline double step(double sum, double a, double b) { return fma(a, b, sum); } };
struct spot_tile_distance {
    static __device__ inline float step(float sum, float a, float b) { float x = a - b; return fmaf(x, x, sum); }
    static __device__ inline double step(double sum, double a, double b) { double x = a - b; return fma(x, x, sum); }
};

/* sum[a][b] takes the step with left[t][16 a + y] and right[t][16 b + x] for t < rows, (x, y) the thread. left, right
 * (16, PITCH): slabs. A tile of other than 64 x 64 numbers has 16 ROWS x 16 COLUMNS. columns: those of right; sixteens behind
 * them are passed over. */
template <typename STEP, int PITCH = SPOT_TILE, int ROWS = SPOT_TILE_OWN, int COLUMNS = SPOT_TILE_OWN, typename T>
static __device__ inline void spot_tile_add(T sum[ROWS][COLUMNS], const T *left, const T *right, int rows,
                                            int columns = COLUMNS * SPOT_TILE_SIDE)
{
    for (int t = 0; t < rows; t++)
        for (int a = 0; a < ROWS; a++)
            for (int b = 0; b < COLUMNS && b * SPOT_TILE_SIDE < columns; b++)
                sum[a][b] = STEP::step(sum[a][b], left[t * PITCH + a * SPOT_TILE_SIDE + threadIdx.y],
                                       right[t * PITCH + b * SPOT_TILE_SIDE + threadIdx.x]);
}

#endif
