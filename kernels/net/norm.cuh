/* norm.cuh - the loops of norm.cu and norm_back.cu. They run over places: a place is a pixel of a batch (for the pool: a
 * window) with all its channels.
 *
 * A block is 8 groups of channels wide and 32 places high. A group is the channels of 16 bytes, so a row of the block reads
 * 128 bytes at once. Sums go tile by tile: a thread sums every 32nd place of its tile, then one thread per channel sums the 32
 * of its column in order, then a second kernel sums the tiles in order. */
#ifndef SPOTTER_NORM_CUH
#define SPOTTER_NORM_CUH

#include "core/lanes.cuh"
#include "net/norm.h"

enum { WIDE = 8, HIGH = 32, THREADS = WIDE * HIGH, TURNS = 4, SHORT = 64, SUMS = 3, FINISH = 8 };

static __device__ inline bool above_zero(float v) { return !(v <= 0); }        /* true for NaN, so that the loss becomes NaN */
static __device__ inline float keep(float v, bool mask) { return mask ? v : 0.0f; }

/* The first channel of this thread's group. */
template <typename T> static __device__ inline int own_channel()
{
    return (blockIdx.y * WIDE + threadIdx.x % WIDE) * spot_lanes<T>::N;
}

/* The tiles of a sum over places: tile t is the places from t * each. */
typedef struct { size_t places, each; int count, channels; } tiling;

static inline tiling tiles_of(size_t places, int channels)
{
    int count = spot_norm_tiles(places);

    return { places, (places + count - 1) / count, count, channels };
}

/* Adds the sums of the threads of a column into partial (tiles, SUMS, channels), at index `which` of SUMS. */
template <typename T>
static __device__ void column_sums(double *shared, double *partial, const double *mine, int which, int channels)
{
    constexpr int N = spot_lanes<T>::N, PITCH = WIDE * N;
    int column = threadIdx.x, first = blockIdx.y * PITCH;

    for (int j = 0; j < N; j++) shared[threadIdx.x / WIDE * PITCH + threadIdx.x % WIDE * N + j] = mine[j];
    __syncthreads();
    if (column < PITCH && first + column < channels) {
        double sum = 0;
        for (int row = 0; row < HIGH; row++) sum += shared[row * PITCH + column];
        partial[((size_t)blockIdx.x * SUMS + which) * channels + first + column] = sum;
    }
    __syncthreads();
}

/* The sum over tiles in order: 32 threads per channel take every 32nd tile, the first adds their sums. Valid only there. */
static __device__ inline double tile_sums(double *shared, const double *partial, int which, int tiles, int channels, int ch)
{
    double sum = 0, all = 0;

    for (int t = threadIdx.x / FINISH; t < tiles; t += HIGH) sum += partial[((size_t)t * SUMS + which) * channels + ch];
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int row = 0; threadIdx.x < FINISH && row < HIGH; row++) all += shared[row * FINISH + threadIdx.x];
    __syncthreads();
    return all;
}

template <typename T> static dim3 grid_of(size_t blocks, int channels)
{
    return dim3((unsigned)blocks, (channels / spot_lanes<T>::N + WIDE - 1) / WIDE);
}

template <typename T> static dim3 every_place(size_t places, int channels)
{
    return grid_of<T>((places + TURNS * HIGH - 1) / (TURNS * HIGH), channels);
}

static inline size_t pixels_of(int rows, spot_plane p) { return (size_t)rows * p.size * p.size; }

#define SHAPE(p) "%d of %d images, %d channels, size %d, %s", (p).live, (p).rows, (p).channels, (p).size, \
                 (p).precision == SPOT_BF16 ? "bf16" : "fp32"

spot_status spot_norm_back_cuda(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch);
spot_status spot_norm_pool_back_cuda(spot_ctx *c, void *y, const void *da, const void *db, const void *out,
                                     const unsigned char *which, const spot_norm *l, spot_plane p, void *scratch);

#endif
