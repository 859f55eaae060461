/* pca.cu - a block owns 64 x 64 entries of a covariance, a thread 4 x 4 of them: rows pass by in slabs, centred, through
 * shared memory. Means and scores have a thread each. */
#include "core/cuda.cuh"
#include "map/pca.h"

enum { TILE = 64, SIDE = 16, OWN = TILE / SIDE, SLAB = 16, THREADS = 256, BATCH = 40 };

typedef struct { spot_pca_problem problem[BATCH]; } batch;      /* a launch's argument, of at most 4 kB */

/* grid (ceil(d / 256), problems) */
static __global__ void __launch_bounds__(THREADS) mean_kernel(const __grid_constant__ batch all)
{
    const spot_pca_problem *p = &all.problem[blockIdx.y];
    const int j = blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;

    if (j >= p->d) return;
    for (int i = 0; i < p->n; i++) sum += p->x[(size_t)i * p->d + j];
    p->mean[j] = sum / p->n;
}

/* slab[i][j] = x[i0+i, j0+j] less its mean; 0 past the last column, and past the last row, where it adds nothing. */
static __device__ void centre(double *slab, const spot_pca_problem *p, int i0, int j0)
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
    const spot_pca_problem *p = &all.problem[blockIdx.z];
    const int j0 = blockIdx.y * TILE, k0 = blockIdx.x * TILE;
    double sum[OWN][OWN] = { { 0 } };

    if (k0 < j0 || k0 >= p->d) return;      /* the whole block */
    for (int i0 = 0; i0 < p->n; i0 += SLAB) {
        centre(slab_a, p, i0, j0);
        centre(slab_b, p, i0, k0);
        __syncthreads();
        for (int i = 0; i < min((int)SLAB, p->n - i0); i++)
            for (int a = 0; a < OWN; a++)
                for (int b = 0; b < OWN; b++)
                    sum[a][b] = fma(slab_a[i * TILE + a * SIDE + threadIdx.y], slab_b[i * TILE + b * SIDE + threadIdx.x],
                                    sum[a][b]);
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
    const spot_pca_problem *p = &all.problem[blockIdx.y];
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;

    if (e >= (size_t)p->n * p->kept) return;
    const float *x = p->x + e / p->kept * p->d;
    const double *axis = p->axis + e % p->kept * p->d;
    for (int j = 0; j < p->d; j++) sum = fma(x[j] - p->mean[j], axis[j], sum);
    p->score[e] = (float)sum;
}

static int pieces(size_t whole, int piece) { return (int)((whole + piece - 1) / piece); }

static spot_status covariance_cuda(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    cudaStream_t stream = spot_cuda_stream(c);

    for (int first = 0; first < problems; first += BATCH) {
        batch all;
        int count = min((int)BATCH, problems - first), n = 0, d = 0;

        for (int q = 0; q < count; q++) {
            const spot_pca_problem *one = &all.problem[q];
            all.problem[q] = p[first + q];
            SPOT_TRY(spot_cuda_needs(c, one->x, "pca.covariance: x"));
            SPOT_TRY(spot_cuda_needs(c, one->mean, "pca.covariance: mean"));
            SPOT_TRY(spot_cuda_needs(c, one->cov, "pca.covariance: cov"));
            n = max(n, one->n);
            d = max(d, one->d);
        }
        SPOT_LAUNCH(mean_kernel, dim3(pieces(d, THREADS), count), THREADS, 0, stream, all);
        SPOT_LAUNCH(covariance_kernel, dim3(pieces(d, TILE), pieces(d, TILE), count), dim3(SIDE, SIDE), 0, stream, all);
        SPOT_TRY(spot_cuda_launched(c, "pca.covariance of %d problems, at most (%d,%d)", count, n, d));
    }
    return SPOT_OK;
}

static spot_status project_cuda(spot_ctx *c, int problems, const spot_pca_problem *p)
{
    for (int first = 0; first < problems; first += BATCH) {
        batch all;
        int count = min((int)BATCH, problems - first);
        size_t scores = 0;

        for (int q = 0; q < count; q++) {
            const spot_pca_problem *one = &all.problem[q];
            all.problem[q] = p[first + q];
            SPOT_TRY(spot_cuda_needs(c, one->x, "pca.project: x"));
            SPOT_TRY(spot_cuda_needs(c, one->mean, "pca.project: mean"));
            SPOT_TRY(spot_cuda_needs(c, one->axis, "pca.project: axis"));
            SPOT_TRY(spot_cuda_needs(c, one->score, "pca.project: score"));
            scores = max(scores, (size_t)one->n * one->kept);
        }
        SPOT_LAUNCH(project_kernel, dim3(pieces(scores, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "pca.project of %d problems, at most %zu scores", count, scores));
    }
    return SPOT_OK;
}

extern const spot_pca_ops spot_pca_cuda = { .covariance = covariance_cuda, .project = project_cuda };
