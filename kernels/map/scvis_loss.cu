/* scvis_loss.cu - P of the batch, and the t-SNE term: half a warp owns a row, and its 16 lanes have the sums of the
 * CPU's 16 lanes, so butterflies give the CPU's bits. */
#include "map/affinity_step.h"
#include "map/scvis_tiles.cuh"

enum { THREADS = SPOT_SCVIS_THREADS, ROWS = SPOT_SCVIS_ROWS, TILE = SPOT_SCVIS_TILE, LANES = SPOT_HALF_WARP, TRIES = 51 };

#define TOLERANCE 1e-4    /* of the entropy, in nats */

/* The search of spot_affinity_row, two rows a warp: a row that has found its beta repeats its last try until the other one
 * has, too. */
static __device__ void affinity_row(float *p, const float *d, int k, int lane, float least, double entropy)
{
    spot_affinity_beta b = { 1, 0, INFINITY };
    float sum = 1;
    bool done = !k;

    for (int tried = 1; __any_sync(~0u, !done); tried++) {
        float s = 0, dot = 0;
        for (int j = lane; j < k; j += LANES) {
            float x = d[j] - least, e = spot_expf(-(float)b.beta * x);
            s += e;
            dot = fmaf(x, e, dot);
        }
        s = spot_half_warp_sum(s, ~0u);
        dot = spot_half_warp_sum(dot, ~0u);
        if (done) continue;
        sum = s;
        double over = spot_philox_log(sum) + b.beta * dot / sum - entropy;
        done = fabs(over) <= TOLERANCE || tried >= TRIES;
        if (done) continue;
        spot_affinity_bisect(&b, over);
    }
    for (int j = lane; j < k; j += LANES)
        p[j] = d[j] < SPOT_FAR ? spot_expf(-(float)b.beta * (d[j] - least)) / sum : 0.0f;
}

/* grid (ceil(batch / ROWS), problems) */
static __global__ void __launch_bounds__(THREADS) affinities_kernel(const spot_scvis_device *nets,
                                                                    const __grid_constant__ spot_scvis_now t)
{
    const spot_scvis_device *net = nets + blockIdx.y;
    int lane = threadIdx.x % LANES, own = blockIdx.x * ROWS + threadIdx.x / LANES, rows = net->rows;

    if (spot_scvis_idle(net, &t) || (int)blockIdx.x * ROWS >= rows) return;
    int i = min(own, rows - 1), k = own < rows ? rows : 0;
    const float *far = net->far + (net->gathered ? i : net->row[i]) * net->far_stride;
    float *near = net->both + (size_t)i * net->batch, least = SPOT_FAR;

    for (int j = lane; j < k; j += LANES) {
        near[j] = j == own ? SPOT_FAR : far[net->gathered ? j : net->row[j]];
        least = near[j] < least ? near[j] : least;
    }
    affinity_row(net->p + (size_t)i * net->batch, near, k, lane, spot_half_warp_min(least, ~0u), t.entropy);
}

/* q = 1 / (1 + d2/f) of rows i and j. */
static __device__ float closeness(const float *z, int dim, int i, int j, float inverse)
{
    float a = 1.0f;

    for (int k = 0; k < dim; k++) {
        float u = z[i * dim + k] - z[j * dim + k];
        a = fmaf(u * inverse, u, a);
    }
    return 1.0f / a;
}

/* 1 / row sum of s for row i; the half warp's first lane stores it where `store` is set. */
static __device__ void share_of_row(const spot_scvis_device *net, int i, int lane, bool store)
{
    int f = net->dim > 2 ? net->dim - 1 : 1;
    float s = 0;

    for (int j = lane; j < net->rows; j += LANES) {
        float w = spot_student(closeness(net->z, net->dim, i, j, 1.0f / (float)f), f);
        s += j == i ? 0.0f : w;
    }
    s = spot_half_warp_sum(s, ~0u);
    if (store && !lane) net->shares[i] = 1.0f / (s > 1e-30f ? s : 1e-30f);
}

/* P' + its transpose, rows r .. r+n, tile by tile through shared memory, where the columns of P are summed in passing. */
static __device__ void symmetrise(const spot_scvis_device *net, int r, int n, bool column_weight)
{
    SPOT_SHARED(float, turned, TILE * (TILE + 1));
    float flat = 0.1f / (float)net->rows, column = 0;
    size_t stride = net->batch;
    int thread = threadIdx.x;

    for (int j0 = 0; j0 < net->rows; j0 += TILE) {
        int wide = min((int)TILE, net->rows - j0);
        for (int e = thread; e < TILE * TILE; e += THREADS)
            if (e / TILE < wide && e % TILE < n)
                turned[e / TILE * (TILE + 1) + e % TILE] = net->p[(j0 + e / TILE) * stride + r + e % TILE];
        __syncthreads();
        for (int j = 0; thread < n && j < wide; j++) column += turned[j * (TILE + 1) + thread];
        for (int e = thread; e < TILE * TILE; e += THREADS) {
            int i = e / TILE, j = e % TILE;
            size_t at = (r + i) * stride + j0 + j;
            if (i < n && j < wide) net->both[at] = (net->p[at] + turned[j * (TILE + 1) + i] + 2 * flat) / 1.1f;
        }
        __syncthreads();
    }
    if (thread < n) net->weight[r + thread] = !column_weight ? 1.0f : column < 0.01f ? 0.01f : column > 2.0f ? 2.0f : column;
}

/* grid (ceil(batch / TILE), problems) */
static __global__ void __launch_bounds__(THREADS) pair_kernel(const spot_scvis_device *nets,
                                                              const __grid_constant__ spot_scvis_now t)
{
    const spot_scvis_device *net = nets + blockIdx.y;
    int r = blockIdx.x * TILE, n = min((int)TILE, net->rows - r);

    if (spot_scvis_idle(net, &t) || n <= 0) return;
    symmetrise(net, r, n, t.cfg.compat.column_weight);
    for (int i = threadIdx.x / LANES; i < TILE; i += ROWS)
        share_of_row(net, r + min(i, n - 1), threadIdx.x % LANES, i < n);
}

/* dz of row i, and its part of n tsne in every lane of the half warp. Coordinates go four at a time, so that their sums are
 * registers. */
static __device__ double force_on_row(const spot_scvis_device *net, int i, int lane, float scale, bool store)
{
    enum { ABREAST = 4 };
    int dim = net->dim, f = dim > 2 ? dim - 1 : 1;
    float power = 0.5f * (float)(f + 1), inverse = 1.0f / (float)f, own = net->shares[i], logs = 0;

    for (int k0 = 0; k0 < dim; k0 += ABREAST) {
        float sum[ABREAST] = { 0 }, part = 0;
        for (int j = lane; j < net->rows; j += LANES) {
            float q = closeness(net->z, dim, i, j, inverse), s = spot_student(q, f);
            float both = net->both[(size_t)i * net->batch + j];
            float pull = q * fmaf(-s, own + net->shares[j], both);
            part = fmaf(both, spot_logf(q), part);
            for (int k = 0; k < ABREAST; k++)
                if (k0 + k < dim) sum[k] = fmaf(pull, net->z[i * dim + k0 + k] - net->z[j * dim + k0 + k], sum[k]);
        }
        logs = part;
        for (int k = 0; k < ABREAST; k++) {
            float whole = spot_half_warp_sum(sum[k], ~0u);
            if (store && !lane && k0 + k < dim) net->dz[i * dim + k0 + k] = scale * 2 * power * inverse * whole;
        }
    }
    return -(0.5 * power * spot_half_warp_sum(logs, ~0u) + spot_philox_log(own));
}

/* grid (ceil(batch / ROWS), problems) */
static __global__ void __launch_bounds__(THREADS) force_kernel(const spot_scvis_device *nets,
                                                               const __grid_constant__ spot_scvis_now t)
{
    const spot_scvis_device *net = nets + blockIdx.y;
    int lane = threadIdx.x % LANES, own = blockIdx.x * ROWS + threadIdx.x / LANES, rows = net->rows;

    if (spot_scvis_idle(net, &t) || (int)blockIdx.x * ROWS >= rows) return;
    float scale = (float)(spot_scvis_tsne_factor(&t.cfg, t.step, net->d) / rows);
    double cost = force_on_row(net, min(own, rows - 1), lane, scale, own < rows);
    double sum = spot_block_sum<SPOT_SCVIS_THREADS>(!lane && own < rows ? cost : 0);
    if (!threadIdx.x) net->force_part[blockIdx.x] = sum;
}

spot_status spot_scvis_affinities(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    SPOT_LAUNCH(affinities_kernel, dim3(spot_scvis_cut(f->batch, ROWS), f->problems), THREADS, 0, spot_cuda_stream(c), f->net,
                *t);
    return spot_cuda_launched(c, "scvis: P of %d problems, batches of up to %d", f->problems, f->batch);
}

spot_status spot_scvis_pairs(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    SPOT_LAUNCH(pair_kernel, dim3(spot_scvis_cut(f->batch, TILE), f->problems), THREADS, 0, spot_cuda_stream(c), f->net, *t);
    SPOT_LAUNCH(force_kernel, dim3(spot_scvis_cut(f->batch, ROWS), f->problems), THREADS, 0, spot_cuda_stream(c), f->net, *t);
    return spot_cuda_launched(c, "scvis: t-SNE forces of %d problems, batches of up to %d", f->problems, f->batch);
}
