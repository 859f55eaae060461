/* distance.cu - a block owns 64 x 64 pairs (tile.cuh). Each pair's chain runs in the order of k, as distance.h demands. */
#include "core/tile.cuh"
#include "map/distance.h"

enum { TILE = SPOT_TILE, SIDE = SPOT_TILE_SIDE, OWN = SPOT_TILE_OWN, SLAB = SPOT_TILE_SLAB, BATCH = 64,
       PITCH = TILE + 1 };      /* against bank conflicts: neighbouring threads write neighbouring rows of a slab */

typedef struct { float *d; const float *a, *b; int n, m, k; } pairs;
typedef spot_batch<pairs, BATCH> batch;

/* slab[t][r] = x[row0 + r][k0 + t]; rows and features past the end repeat the last, and their pairs are not written. */
static __device__ void load_slab(float *slab, const float *x, int row0, int rows, int k0, int k)
{
    int thread = threadIdx.y * SIDE + threadIdx.x;

    for (int e = thread; e < TILE * SLAB; e += SIDE * SIDE) {
        int r = e / SLAB, t = e % SLAB;
        size_t row = min(row0 + r, rows - 1);
        slab[t * PITCH + r] = x[row * k + min(k0 + t, k - 1)];
    }
}

/* grid (ceil(m / 64), ceil(n / 64), problems) over the largest problem */
static __global__ void __launch_bounds__(SIDE * SIDE) squared_kernel(const __grid_constant__ batch all)
{
    SPOT_SHARED(float, slab_a, SLAB * PITCH);
    SPOT_SHARED(float, slab_b, SLAB * PITCH);
    const pairs *p = &all.of[blockIdx.z];
    int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE;
    float sum[OWN][OWN] = { { 0 } };

    if (i0 >= p->n || j0 >= p->m) return;   /* the whole block */
    for (int k0 = 0; k0 < p->k; k0 += SLAB) {
        load_slab(slab_a, p->a, i0, p->n, k0, p->k);
        load_slab(slab_b, p->b, j0, p->m, k0, p->k);
        __syncthreads();
        spot_tile_add<spot_tile_distance, PITCH>(sum, slab_a, slab_b, min((int)SLAB, p->k - k0));
        __syncthreads();
    }
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j++) {
            int row = i0 + i * SIDE + threadIdx.y, col = j0 + j * SIDE + threadIdx.x;
            if (row < p->n && col < p->m) p->d[(size_t)row * p->m + col] = sum[i][j];
        }
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
        SPOT_LAUNCH(squared_kernel, dim3(spot_blocks(m, TILE), spot_blocks(n, TILE), count), dim3(SIDE, SIDE), 0,
                    spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "distance.squared of %d problems, at most (%d,%d) to (%d,%d)", count, n, k, m, k);
    });
}

extern const spot_distance_ops spot_distance_cuda = { .squared = squared_cuda };
