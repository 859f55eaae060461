/* norm_sums.cuh - sums per channel over the places of a batch, for statistics and gradients.
 *
 * A block is 64 channels wide and 16 places high; a thread owns 4 channels of every 16th place of its tile. It sums up to 64
 * places in fp32, then adds them to sums in fp64 that it keeps in shared memory, because 24 of them would leave registers for
 * one block a multiprocessor only. The block adds up its rows in order. The last block to finish of each 32 tiles adds up
 * these tiles, and the last of those adds up all of them: always in the same order, whichever block it is. So the totals need
 * no second kernel. */
#ifndef SPOTTER_NORM_SUMS_CUH
#define SPOTTER_NORM_SUMS_CUH

#include "net/norm.cuh"

enum { OWN = 4, COLUMN = 64, ACROSS = COLUMN / OWN, ROWS = THREADS / ACROSS, SHORT = 64, SUMS = 3, GROUP = 32,
       PARTS = THREADS / COLUMN };

/* The tiles of a sum over places: tile t is the places from t * each. */
typedef struct {
    size_t places, each;
    int count, channels;
    double *partial;            /* (count, SUMS, channels): of the tiles */
    unsigned *ticket;           /* (columns, 1 + groups) */
} tiling;

static inline tiling tiles_of(spot_ctx *c, size_t places, int channels, void *scratch)
{
    int count = spot_norm_tiles(places);

    return { places, (places + count - 1) / count, count, channels, (double *)scratch, spot_cuda_of(c)->tickets };
}

static inline dim3 sums_grid(const tiling *k) { return dim3(k->count, (k->channels + COLUMN - 1) / COLUMN); }

/* The first of the thread's channels, its first place, and the end of its tile. */
static __device__ inline int sums_channel(void) { return blockIdx.y * COLUMN + threadIdx.x % ACROSS * OWN; }
static __device__ inline size_t sums_first(const tiling *k) { return blockIdx.x * k->each + threadIdx.x / ACROSS; }
static __device__ inline size_t sums_end(const tiling *k) { return min((blockIdx.x + 1) * k->each, k->places); }

/* total (SUMS * ROWS * COLUMN): the thread's own sums. Each thread clears, adds to and reads its own until the barrier. */
static __device__ inline double *own_sums(double *total, int which)
{
    return total + (which * ROWS + threadIdx.x / ACROSS) * COLUMN + threadIdx.x % ACROSS * OWN;
}

template <int N> static __device__ inline void clear_sums(double *total)
{
    for (int n = 0; n < N; n++)
        for (int j = 0; j < OWN; j++) own_sums(total, n)[j] = 0;
}

/* Adds the sums of fp32 to those of fp64, and clears them. */
template <int N> static __device__ inline void flush_sums(double *total, float sum[N][OWN])
{
    for (int n = 0; n < N; n++)
        for (int j = 0; j < OWN; j++) {
            own_sums(total, n)[j] += sum[n][j];
            sum[n][j] = 0;
        }
}

/* Whether this block is the last of `blocks` to arrive: what the others wrote before is then visible to all its threads. */
static __device__ inline bool is_last(unsigned *ticket, unsigned blocks)
{
    SPOT_SHARED(int, last, 1);

    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        *last = atomicAdd(ticket, 1) == blocks - 1;
        if (*last) atomicExch(ticket, 0);            /* for the next launch */
    }
    __syncthreads();
    __threadfence();
    return *last;
}

/* Adds up every `step`-th of the tiles from `first` to `end`, in order, into `first`: 4 threads a channel take every 4th of
 * them, then one of the threads adds those. shared (PARTS * COLUMN). */
template <int N>
static __device__ inline void fold_tiles(double *shared, const tiling *k, int first, int end, int step)
{
    int column = threadIdx.x % COLUMN, ch = blockIdx.y * COLUMN + column;

    for (int n = 0; n < N; n++) {
        double sum = 0;
        for (int t = first + threadIdx.x / COLUMN * step; ch < k->channels && t < end; t += PARTS * step)
            sum += k->partial[((size_t)t * SUMS + n) * k->channels + ch];
        shared[threadIdx.x] = sum;
        __syncthreads();
        for (int part = 1; threadIdx.x < COLUMN && part < PARTS; part++) sum += shared[part * COLUMN + column];
        if (threadIdx.x < COLUMN && ch < k->channels) k->partial[((size_t)first * SUMS + n) * k->channels + ch] = sum;
        __syncthreads();
    }
}

/* Ends the block's sums. True in the one block of the column that finishes the totals, for the threads that own a channel: the
 * totals of the channel *ch are then in sum[0 .. N - 1]. All threads of a block call it. */
template <int N> static __device__ inline bool column_totals(double sum[N], int *ch, double *total, const tiling *k)
{
    int column = threadIdx.x, groups = (k->count + GROUP - 1) / GROUP, group = blockIdx.x / GROUP, first = group * GROUP;
    int end = min(first + GROUP, k->count);
    unsigned *ticket = k->ticket + blockIdx.y * (1 + groups);
    bool own;

    *ch = blockIdx.y * COLUMN + column;
    own = column < COLUMN && *ch < k->channels;
    __syncthreads();
    for (int n = 0; own && n < N; n++) {
        double all = 0;
        for (int row = 0; row < ROWS; row++) all += total[(n * ROWS + row) * COLUMN + column];
        k->partial[((size_t)blockIdx.x * SUMS + n) * k->channels + *ch] = all;
    }
    if (!is_last(ticket + 1 + group, end - first)) return false;
    fold_tiles<N>(total, k, first, end, 1);
    if (!is_last(ticket, groups)) return false;
    fold_tiles<N>(total, k, 0, k->count, GROUP);
    for (int n = 0; own && n < N; n++) sum[n] = k->partial[(size_t)n * k->channels + *ch];
    return own;
}

#endif
