/* ridge.cu - a block owns a 64 x 64 tile of a gram (tile.cuh), a thread a column of a moment, a warp a score. */
#include "core/tile.cuh"
#include "core/sums.cuh"
#include "fit/ridge.h"

enum { TILE = SPOT_TILE, SIDE = SPOT_TILE_SIDE, OWN = SPOT_TILE_OWN, SLAB = SPOT_TILE_SLAB, THREADS = 256, BATCH = 64,
       WARP = SPOT_RIDGE_CHAINS, WARPS = THREADS / WARP };

typedef spot_batch<spot_ridge_rows, BATCH> sets_batch;
typedef spot_batch<spot_ridge_fit, BATCH> fits_batch;

static __device__ double centred(const spot_ridge_rows *s, int r, int j)
{
    return s->x[(size_t)s->row[r] * s->d + j] - s->centre[j];
}

/* slab[r][j] of rows r0.. and columns j0..; 0 past the last of either. */
static __device__ void load_centred(double *slab, const spot_ridge_rows *s, int r0, int j0, const double *weight)
{
    for (int e = threadIdx.y * SIDE + threadIdx.x; e < SLAB * TILE; e += SIDE * SIDE) {
        int r = r0 + e / TILE, j = j0 + e % TILE;
        slab[e] = r < s->rows && j < s->d ? (weight ? weight[r] : 1) * centred(s, r, j) : 0.0;
    }
}

/* grid (ceil(d / 64), ceil(d / 64), sets) */
static __global__ void __launch_bounds__(SIDE * SIDE) gram_kernel(const __grid_constant__ sets_batch all)
{
    SPOT_SHARED(double, slab_a, SLAB * TILE);
    SPOT_SHARED(double, slab_b, SLAB * TILE);
    const spot_ridge_rows *s = &all.of[blockIdx.z];
    const int j0 = blockIdx.y * TILE, k0 = blockIdx.x * TILE;
    double sum[OWN][OWN] = { { 0 } };

    if (k0 < j0 || k0 >= s->d) return;      /* the whole block */
    for (int r0 = 0; r0 < s->rows; r0 += SLAB) {
        load_centred(slab_a, s, r0, j0, s->weight);
        load_centred(slab_b, s, r0, k0, NULL);
        __syncthreads();
        spot_tile_add<spot_tile_product>(sum, slab_a, slab_b, min((int)SLAB, s->rows - r0));
        __syncthreads();
    }
    for (int a = 0; a < OWN; a++)
        for (int b = 0; b < OWN; b++) {
            int j = j0 + a * SIDE + threadIdx.y, k = k0 + b * SIDE + threadIdx.x;
            if (j <= k && k < s->d) s->out[(size_t)j * s->d + k] += sum[a][b];
        }
}

/* grid (ceil(d / 256), sets) */
static __global__ void __launch_bounds__(THREADS) moment_kernel(const __grid_constant__ sets_batch all)
{
    const spot_ridge_rows *s = &all.of[blockIdx.y];
    const int j = blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;

    if (j >= s->d) return;
    for (int r = 0; r < s->rows; r++) sum = fma(s->weight ? s->weight[r] : 1, centred(s, r, j), sum);
    s->out[j] = sum;
}

/* grid (ceil(scores n / 8), fits): a warp owns a score, a lane a chain of it; neighbours share a row of x. */
static __global__ void __launch_bounds__(THREADS) score_kernel(const __grid_constant__ fits_batch all)
{
    const spot_ridge_fit *f = &all.of[blockIdx.y];
    const size_t e = (size_t)blockIdx.x * WARPS + threadIdx.x / WARP, i = e / f->scores, v = e % f->scores;
    const int lane = threadIdx.x % WARP;
    double sum = 0;

    if (i >= (size_t)f->n) return;          /* the whole warp */
    for (int j = lane; j < f->d; j += WARP)
        sum = fma(f->x[i * f->d + j] - f->centre[j], f->w[v * f->d + j], sum);
    sum = spot_warp_sum(sum);
    if (!lane) f->score[v * f->n + i] = f->b[v] + sum;
}

static spot_status needs_rows(spot_ctx *c, int count, const spot_ridge_rows *s)
{
    for (int q = 0; q < count; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "ridge", { { s[q].x, "x" }, { s[q].centre, "centre" }, { s[q].row, "row" },
                                     { s[q].weight, "weight", true }, { s[q].out, "out" } }));
    return SPOT_OK;
}

static spot_status gram_cuda(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    const int d = SPOT_MOST(count, sets, d), side = spot_blocks(d, TILE);

    SPOT_TRY(needs_rows(c, count, sets));
    return spot_cuda_batches<sets_batch>(count, sets, [=](auto &all, int some) {
        SPOT_LAUNCH(gram_kernel, dim3(side, side, some), dim3(SIDE, SIDE), 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "ridge.gram of %d sets, at most %d columns", some, d);
    });
}

static spot_status moment_cuda(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    const int d = SPOT_MOST(count, sets, d);

    SPOT_TRY(needs_rows(c, count, sets));
    return spot_cuda_batches<sets_batch>(count, sets, [=](auto &all, int some) {
        SPOT_LAUNCH(moment_kernel, dim3(spot_blocks(d, THREADS), some), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "ridge.moment of %d sets, at most %d columns", some, d);
    });
}

static spot_status score_cuda(spot_ctx *c, int count, const spot_ridge_fit *fits)
{
    size_t scores = 0;

    for (int q = 0; q < count; q++) {
        const spot_ridge_fit *f = &fits[q];
        SPOT_TRY(spot_cuda_needs_all(c, "ridge.score", { { f->x, "x" }, { f->centre, "centre" }, { f->w, "w" }, { f->b, "b" },
                                     { f->score, "score" } }));
        scores = max(scores, (size_t)f->n * f->scores);
    }
    return spot_cuda_batches<fits_batch>(count, fits, [=](auto &all, int some) {
        SPOT_LAUNCH(score_kernel, dim3(spot_blocks(scores, WARPS), some), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "ridge.score of %d fits, at most %zu scores", some, scores);
    });
}

extern const spot_ridge_ops spot_ridge_cuda = { .gram = gram_cuda, .moment = moment_cuda, .score = score_cuda };
