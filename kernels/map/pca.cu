/* pca.cu - a block owns a 64 x 64 tile of a covariance (tile.cuh) of centred rows. A thread owns a mean or a score. */
#include "core/tile.cuh"
#include "map/pca.h"

enum { TILE = SPOT_TILE, SIDE = SPOT_TILE_SIDE, OWN = SPOT_TILE_OWN, SLAB = SPOT_TILE_SLAB, THREADS = 256, BATCH = 40 };

typedef spot_batch<spot_pca_problem, BATCH> batch;

/* grid (ceil(d / 256), problems) */
static __global__ void __launch_bounds__(THREADS) mean_kernel(const __grid_constant__ batch all)
{
    const spot_pca_problem *p = &all.of[blockIdx.y];
    const int j = blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;

    if (j >= p->d) return;
    for (int i = 0; i < p->n; i++) sum += p->x[(size_t)i * p->d + j];
    p->mean[j] = sum / p->n;
}

/* slab[i][j] = x[i0+i, j0+j] less its mean; 0 past the last column, and past the last row, where it adds nothing. */
static __device__ void load_centred(double *slab, const spot_pca_problem *p, int i0, int j0)
{
    for (int e = threadIdx.y * SIDE + threadIdx.x; e < SLAB * TILE; e += SIDE * SIDE) {
        int i = i0 + e / TILE, j = j0 + e % TILE;
        slab[e] = i < p->n && j < p->d ? p->x[(size_t)i * p->d + j] - p->mean[j] : 0.0;
    }
}

/* grid (ceil(d / 64), ceil(d / 64), problems) */
static __global__ void __launch_bounds__(SIDE * SIDE) covariance_kernel(const __grid_constant__ batch all)
{
    SPOT_SHARED(double, slab_a, SLAB * TILE);
    SPOT_SHARED(double, slab_b, SLAB * TILE);
    const spot_pca_problem *p = &all.of[blockIdx.z];
    const int j0 = blockIdx.y * TILE, k0 = blockIdx.x * TILE;
    double sum[OWN][OWN] = { { 0 } };

    if (k0 < j0 || k0 >= p->d) return;      /* the whole block */
    for (int i0 = 0; i0 < p->n; i0 += SLAB) {
        load_centred(slab_a, p, i0, j0);
        load_centred(slab_b, p, i0, k0);
        __syncthreads();
        spot_tile_add<spot_tile_product>(sum, slab_a, slab_b, min((int)SLAB, p->n - i0));
        __syncthreads();
    }
    for (int a = 0; a < OWN; a++)
        for (int b = 0; b < OWN; b++) {
            int j = j0 + a * SIDE + threadIdx.y, k = k0 + b * SIDE + threadIdx.x;
            if (j <= k && k < p->d) p->cov[(size_t)j * p->d + k] = sum[a][b];
        }
}

/* grid (ceil(n kept / 256), problems): neighbours share a row of x or its axis. */
static __global__ void __launch_bounds__(THREADS) project_kernel(const __grid_constant__ batch all)
{
    const spot_pca_problem *p = &all.of[blockIdx.y];
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;

    if (e >= (size_t)p->n * p->kept) return;
    const float *x = p->x + e / p->kept * p->d;
    const double *axis = p->axis + e % p->kept * p->d;
    for (int j = 0; j < p->d; j++) sum = fma(x[j] - p->mean[j], axis[j], sum);
    p->score[e] = (float)sum;
}

static spot_status covariance_cuda(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    const int n = SPOT_MOST(problems, p, n), d = SPOT_MOST(problems, p, d), side = spot_blocks(d, TILE);

    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "pca.covariance", { { p[q].x, "x" }, { p[q].mean, "mean" }, { p[q].cov, "cov" } }));
    return spot_cuda_batches<batch>(problems, p, [=](auto &all, int count) {
        SPOT_LAUNCH(mean_kernel, dim3(spot_blocks(d, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_LAUNCH(covariance_kernel, dim3(side, side, count), dim3(SIDE, SIDE), 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "pca.covariance of %d problems, at most (%d,%d)", count, n, d);
    });
}

static spot_status project_cuda(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    size_t scores = 0;

    for (int q = 0; q < problems; q++) {
        SPOT_TRY(spot_cuda_needs_all(c, "pca.project", { { p[q].x, "x" }, { p[q].mean, "mean" }, { p[q].axis, "axis" },
                                     { p[q].score, "score" } }));
        scores = max(scores, (size_t)p[q].n * p[q].kept);
    }
    return spot_cuda_batches<batch>(problems, p, [=](auto &all, int count) {
        SPOT_LAUNCH(project_kernel, dim3(spot_blocks(scores, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "pca.project of %d problems, at most %zu scores", count, scores);
    });
}

extern const spot_pca_ops spot_pca_cuda = { .covariance = covariance_cuda, .project = project_cuda };
