/* centres.cu - nearest centres on CUDA: a block owns 64 rows; the centres pass by, 64 at a time (tile.cuh). */
#include "core/tile.cuh"
#include "map/centres.h"

#include <math.h>

enum { TILE = SPOT_TILE, SIDE = SPOT_TILE_SIDE, OWN = SPOT_TILE_OWN, SLAB = SPOT_TILE_SLAB, BATCH = 64,
       PITCH = TILE + 1 };      /* against bank conflicts: neighbouring threads write neighbouring rows of a slab */

typedef spot_batch<spot_centres_problem, BATCH> batch;

struct rounded_step {
    static __device__ inline float step(float sum, float a, float b) { float u = a - b; return sum + u * u; }
};

/* slab[t][r]: column j0 + t of row i0 + r of x, or of centre k0 + r. What lies past the end repeats the last. */
static __device__ inline void load_rows(float *slab, const spot_centres_problem *p, int i0, int j0)
{
    for (int e = threadIdx.y * SIDE + threadIdx.x; e < TILE * SLAB; e += SIDE * SIDE) {
        const int r = e / SLAB, t = e % SLAB;
        slab[t * PITCH + r] = p->x[(size_t)min(i0 + r, p->n - 1) * p->d + min(j0 + t, p->d - 1)];
    }
}

static __device__ inline void load_centres(float *slab, const spot_centres_problem *p, int k0, int j0)
{
    for (int e = threadIdx.y * SIDE + threadIdx.x; e < TILE * SLAB; e += SIDE * SIDE) {
        const int r = e % TILE, t = e / TILE;
        slab[t * PITCH + r] = p->centre[(size_t)min(j0 + t, p->d - 1) * p->k + min(k0 + r, p->k - 1)];
    }
}

static __device__ inline void find_squares(float sum[OWN][OWN], float *left, float *right, const spot_centres_problem *p,
                                           int i0, int k0)
{
    for (int a = 0; a < OWN; a++)
        for (int b = 0; b < OWN; b++) sum[a][b] = 0;
    for (int j0 = 0; j0 < p->d; j0 += SLAB) {
        load_rows(left, p, i0, j0);
        load_centres(right, p, k0, j0);
        __syncthreads();
        spot_tile_add<rounded_step, PITCH>(sum, left, right, min((int)SLAB, p->d - j0));
        __syncthreads();
    }
}

static __device__ inline void keep_nearer(float *far, int *near, float other, int centre)
{
    if (!(other < *far || (other == *far && centre < *near))) return;
    *far = other;
    *near = centre;
}

/* grid (ceil(n / 64), problems) */
static __global__ void __launch_bounds__(SIDE * SIDE) nearest_kernel(const __grid_constant__ batch all)
{
    SPOT_SHARED(float, left, SLAB * PITCH);
    SPOT_SHARED(float, right, SLAB * PITCH);
    const spot_centres_problem *p = &all.of[blockIdx.y];
    const int i0 = blockIdx.x * TILE;
    float sum[OWN][OWN], far[OWN];
    int near[OWN];

    if (i0 >= p->n) return;      /* the whole block */
    for (int a = 0; a < OWN; a++) far[a] = INFINITY, near[a] = 0;
    for (int k0 = 0; k0 < p->k; k0 += TILE) {
        find_squares(sum, left, right, p, i0, k0);
        for (int a = 0; a < OWN; a++)
            for (int b = 0; b < OWN; b++) {
                const int centre = k0 + b * SIDE + threadIdx.x;
                if (centre < p->k) keep_nearer(&far[a], &near[a], sum[a][b], centre);
            }
    }
    for (int a = 0; a < OWN; a++)
        for (int by = SIDE / 2; by; by /= 2) {
            const float other = __shfl_xor_sync(~0u, far[a], by);
            const int centre = __shfl_xor_sync(~0u, near[a], by);
            keep_nearer(&far[a], &near[a], other, centre);
        }
    for (int a = 0; a < OWN; a++) {
        const int i = i0 + a * SIDE + threadIdx.y;
        if (!threadIdx.x && i < p->n) p->label[i] = near[a];
    }
}

static spot_status nearest_cuda(spot_ctx *c, int problems, const spot_centres_problem *p)
{
    const int n = SPOT_MOST(problems, p, n);

    for (int q = 0; q < problems; q++)
        if (p[q].n)
            SPOT_TRY(spot_cuda_needs_all(c, "centres.nearest", { { p[q].x, "x" }, { p[q].centre, "centre" },
                                         { p[q].label, "label" } }));
    if (!n) return SPOT_OK;
    return spot_cuda_batches<batch>(problems, p, [=](auto &all, int count) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_LAUNCH(nearest_kernel, dim3(spot_blocks(n, TILE), count), dim3(SIDE, SIDE), 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "centres.nearest of %d problems, at most %d rows", count, n);
    });
}

extern const spot_centres_ops spot_centres_cuda = { .nearest = nearest_cuda };
