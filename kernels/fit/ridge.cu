/* ridge.cu - a block owns 64 x 64 entries of a gram, a thread 4 x 4 of them: rows pass by in slabs, centred, through shared
 * memory. A column of a moment has a thread, a score a warp. */
#include "core/cuda.cuh"
#include "fit/ridge.h"

enum { TILE = 64, SIDE = 16, OWN = TILE / SIDE, SLAB = 16, THREADS = 256, BATCH = 64,
       WARP = SPOT_RIDGE_CHAINS, WARPS = THREADS / WARP };

typedef struct { spot_ridge_rows set[BATCH]; } sets_batch;      /* launches' arguments, of at most 4 kB */
typedef struct { spot_ridge_fit fit[BATCH]; } fits_batch;

static __device__ double centred(const spot_ridge_rows *s, int r, int j)
{
    return s->x[(size_t)s->row[r] * s->d + j] - s->centre[j];
}

/* slab[r][j] of rows r0.. and columns j0..; 0 past the last of either. */
static __device__ void load(double *slab, const spot_ridge_rows *s, int r0, int j0, const double *weight)
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
    const spot_ridge_rows *s = &all.set[blockIdx.z];
    const int j0 = blockIdx.y * TILE, k0 = blockIdx.x * TILE;
    double sum[OWN][OWN] = { { 0 } };

    if (k0 < j0 || k0 >= s->d) return;      /* the whole block */
    for (int r0 = 0; r0 < s->rows; r0 += SLAB) {
        load(slab_a, s, r0, j0, s->weight);
        load(slab_b, s, r0, k0, NULL);
        __syncthreads();
        for (int r = 0; r < min((int)SLAB, s->rows - r0); r++)
            for (int a = 0; a < OWN; a++)
                for (int b = 0; b < OWN; b++)
                    sum[a][b] = fma(slab_a[r * TILE + a * SIDE + threadIdx.y], slab_b[r * TILE + b * SIDE + threadIdx.x],
                                    sum[a][b]);
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
    const spot_ridge_rows *s = &all.set[blockIdx.y];
    const int j = blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;

    if (j >= s->d) return;
    for (int r = 0; r < s->rows; r++) sum = fma(s->weight ? s->weight[r] : 1, centred(s, r, j), sum);
    s->out[j] = sum;
}

/* grid (ceil(scores n / 8), fits): a warp owns a score, a lane a chain of it; neighbours share a row of x. */
static __global__ void __launch_bounds__(THREADS) score_kernel(const __grid_constant__ fits_batch all)
{
    const spot_ridge_fit *f = &all.fit[blockIdx.y];
    const size_t e = (size_t)blockIdx.x * WARPS + threadIdx.x / WARP, i = e / f->scores, v = e % f->scores;
    const int lane = threadIdx.x % WARP;
    double sum = 0;

    if (i >= (size_t)f->n) return;          /* the whole warp */
    for (int j = lane; j < f->d; j += WARP)
        sum = fma(f->x[i * f->d + j] - f->centre[j], f->w[v * f->d + j], sum);
    for (int by = WARP / 2; by; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    if (!lane) f->score[v * f->n + i] = f->b[v] + sum;
}

static int pieces(size_t whole, int piece) { return (int)((whole + piece - 1) / piece); }

static spot_status needs(spot_ctx *c, const spot_ridge_rows *s)
{
    SPOT_TRY(spot_cuda_needs(c, s->x, "ridge: x"));
    SPOT_TRY(spot_cuda_needs(c, s->centre, "ridge: centre"));
    SPOT_TRY(spot_cuda_needs(c, s->row, "ridge: row"));
    if (s->weight) SPOT_TRY(spot_cuda_needs(c, s->weight, "ridge: weight"));
    return spot_cuda_needs(c, s->out, "ridge: out");
}

/* The sets from `first` on that go into one launch, and the largest d of them. */
static spot_status gather(spot_ctx *c, sets_batch *all, int some, const spot_ridge_rows *sets, int *d)
{
    *d = 0;
    for (int q = 0; q < some; q++) {
        SPOT_TRY(needs(c, &sets[q]));
        all->set[q] = sets[q];
        *d = max(*d, sets[q].d);
    }
    return SPOT_OK;
}

static spot_status gram_cuda(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    for (int first = 0; first < count; first += BATCH) {
        sets_batch all;
        int some = min((int)BATCH, count - first), d;

        SPOT_TRY(gather(c, &all, some, sets + first, &d));
        SPOT_LAUNCH(gram_kernel, dim3(pieces(d, TILE), pieces(d, TILE), some), dim3(SIDE, SIDE), 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "ridge.gram of %d sets, at most %d columns", some, d));
    }
    return SPOT_OK;
}

static spot_status moment_cuda(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    for (int first = 0; first < count; first += BATCH) {
        sets_batch all;
        int some = min((int)BATCH, count - first), d;

        SPOT_TRY(gather(c, &all, some, sets + first, &d));
        SPOT_LAUNCH(moment_kernel, dim3(pieces(d, THREADS), some), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "ridge.moment of %d sets, at most %d columns", some, d));
    }
    return SPOT_OK;
}

static spot_status score_cuda(spot_ctx *c, int count, const spot_ridge_fit *fits)
{
    for (int first = 0; first < count; first += BATCH) {
        fits_batch all;
        int some = min((int)BATCH, count - first);
        size_t scores = 0;

        for (int q = 0; q < some; q++) {
            const spot_ridge_fit *f = &all.fit[q];
            all.fit[q] = fits[first + q];
            SPOT_TRY(spot_cuda_needs(c, f->x, "ridge.score: x"));
            SPOT_TRY(spot_cuda_needs(c, f->centre, "ridge.score: centre"));
            SPOT_TRY(spot_cuda_needs(c, f->w, "ridge.score: w"));
            SPOT_TRY(spot_cuda_needs(c, f->b, "ridge.score: b"));
            SPOT_TRY(spot_cuda_needs(c, f->score, "ridge.score: score"));
            scores = max(scores, (size_t)f->n * f->scores);
        }
        SPOT_LAUNCH(score_kernel, dim3(pieces(scores, WARPS), some), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "ridge.score of %d fits, at most %zu scores", some, scores));
    }
    return SPOT_OK;
}

extern const spot_ridge_ops spot_ridge_cuda = { .gram = gram_cuda, .moment = moment_cuda, .score = score_cuda };
