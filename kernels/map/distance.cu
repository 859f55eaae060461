/* distance.cu - a block owns 64 x 64 pairs (tile.cuh), or 128 x 128 where they are enough for all multiprocessors: a thread's
 * 64 pairs take 16 loads from shared memory a feature and 128 instructions, 16 pairs 8 and 32, and a multiprocessor does four
 * instructions in the time of a load. Each pair's chain runs in the order of k, as distance.h demands. */
#include "core/tile.cuh"
#include "map/distance.h"

enum { SIDE = SPOT_TILE_SIDE, SLAB = SPOT_TILE_SLAB, BATCH = 64, NARROW = 4, WIDE = 8,     /* times 16: a tile's rows */
       ENOUGH = 264 };          /* wide tiles: two for each of 132 multiprocessors */

/* Rows of a slab lie a number further on: else neighbouring threads, which write them, would meet in a bank. */
template <int OWN> static constexpr int pitch = OWN * SIDE + 1;

typedef struct { float *d; const float *a, *b; int n, m, k; } pairs;
typedef spot_batch<pairs, BATCH> batch;

/* slab[t][r] = x[row0 + r][k0 + t]; rows and features past the end repeat the last, and their pairs are not written. */
template <int OWN>
static __device__ void load_slab(float *slab, const float *x, int row0, int rows, int k0, int k)
{
    int thread = threadIdx.y * SIDE + threadIdx.x;

    for (int e = thread; e < OWN * SIDE * SLAB; e += SIDE * SIDE) {
        int r = e / SLAB, t = e % SLAB;
        size_t row = min(row0 + r, rows - 1);
        slab[t * pitch<OWN> + r] = x[row * k + min(k0 + t, k - 1)];
    }
}

/* grid (ceil(m / tile), ceil(n / tile), problems) over the largest problem */
template <int OWN>
static __global__ void __launch_bounds__(SIDE * SIDE, OWN == WIDE ? 2 : 5) squared_kernel(const __grid_constant__ batch all)
{
    SPOT_SHARED(float, slab_a, SLAB * pitch<OWN>);
    SPOT_SHARED(float, slab_b, SLAB * pitch<OWN>);
    const pairs *p = &all.of[blockIdx.z];
    int i0 = blockIdx.y * OWN * SIDE, j0 = blockIdx.x * OWN * SIDE;
    float sum[OWN][OWN] = { { 0 } };

    if (i0 >= p->n || j0 >= p->m) return;   /* the whole block */
    for (int k0 = 0; k0 < p->k; k0 += SLAB) {
        load_slab<OWN>(slab_a, p->a, i0, p->n, k0, p->k);
        load_slab<OWN>(slab_b, p->b, j0, p->m, k0, p->k);
        __syncthreads();
        spot_tile_add<spot_tile_distance, pitch<OWN>, OWN, OWN>(sum, slab_a, slab_b, min((int)SLAB, p->k - k0));
        __syncthreads();
    }
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j++) {
            int row = i0 + i * SIDE + threadIdx.y, col = j0 + j * SIDE + threadIdx.x;
            if (row < p->n && col < p->m) p->d[(size_t)row * p->m + col] = sum[i][j];
        }
}

template <int OWN> static dim3 tiles(int n, int m, int problems)
{
    return dim3(spot_blocks(m, OWN * SIDE), spot_blocks(n, OWN * SIDE), problems);
}

/* Whether wide tiles are enough, and compute at most a sixteenth more pairs beyond the end than narrow ones. */
static bool takes_wide(int n, int m, int problems)
{
    const dim3 wide = tiles<WIDE>(n, m, problems), narrow = tiles<NARROW>(n, m, problems);
    const size_t wides = (size_t)wide.x * wide.y, narrows = (size_t)narrow.x * narrow.y;

    return wides * (size_t)problems >= ENOUGH && 64 * wides <= 17 * narrows;
}

static spot_status squared_cuda(spot_ctx *c, int problems, const spot_mat *d, const spot_mat *a, const spot_mat *b)
{
    int n = 0, m = 0, k = 0;

    for (int p = 0; p < problems; p++) {
        if (!a[p].rows || !b[p].rows) continue;
        SPOT_TRY(spot_cuda_needs(c, d[p].v, "distance.squared: d"));
        if (a[p].cols) SPOT_TRY(spot_cuda_needs_all(c, "distance.squared", { { a[p].v, "a" }, { b[p].v, "b" } }));
        n = max(n, a[p].rows);
        m = max(m, b[p].rows);
        k = max(k, a[p].cols);
    }
    if (!n) return SPOT_OK;
    const auto fill = [=](pairs *one, int p) { *one = { d[p].v, a[p].v, b[p].v, a[p].rows, b[p].rows, a[p].cols }; };
    return spot_cuda_fill_batches<batch>(problems, fill, [=](auto &all, int count) {
        const dim3 block(SIDE, SIDE);
        if (takes_wide(n, m, count))
            SPOT_LAUNCH(squared_kernel<WIDE>, tiles<WIDE>(n, m, count), block, 0, spot_cuda_stream(c), all);
        else
            SPOT_LAUNCH(squared_kernel<NARROW>, tiles<NARROW>(n, m, count), block, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "distance.squared of %d problems, at most (%d,%d) to (%d,%d)", count, n, k, m, k);
    });
}

extern const spot_distance_ops spot_distance_cuda = { .squared = squared_cuda };
