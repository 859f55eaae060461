/* tsne.cu - t-SNE's steps for many maps at once. Kernel 1: a block owns 256 rows of one map, a thread one row's repulsion,
 * a half-warp a row's attraction; Z leaves as one sum a block. Kernel 2 adds those in order and takes the step. Two
 * launches an iteration, whatever the number of maps, and those of tsne_fft.cu for each that is interpolated; partial sums
 * have the CPU's shape (tsne.h), and so its bits. */
#include "core/sums.cuh"
#include "map/tsne_fft.cuh"
#include "map/tsne_step.h"

/* Maps of more than MAX_DIM dimensions are WIDE: a thread's registers hold MAX_DIM dimensions of the forces at a time, and each
 * slice computes the distances over all dimensions again. */
enum { ROWS = SPOT_TSNE_ROWS, WARP = SPOT_WARP, WARPS = ROWS / WARP, LANES = SPOT_TSNE_LANES, MAX_DIM = 8 };

/* The block's sum: each warp's, then the warps in order. All threads call. A kernel's first call is number 0, its second 1:
 * each has its own room, so that no thread writes where another still reads. */
static __device__ double block_sum(double v, int call)
{
    SPOT_SHARED(double, warp_sum, 2 * WARPS);
    double sum = 0;

    v = spot_warp_sum(v);
    if (threadIdx.x % WARP == 0) warp_sum[call * WARPS + threadIdx.x / WARP] = v;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) sum += warp_sum[call * WARPS + w];
    return sum;
}

/* 1 + |y_i - y_j|^2 / f over all dimensions; the padding behind the points is far away. */
static __device__ float apart(const spot_tsne_problem *t, int i, int j, float inverse)
{
    float a = 1.0f;

    for (int k = 0; k < t->dim; k++) {
        const float *y = t->y + (size_t)k * t->stride;
        float u = y[i] - (j < t->n ? y[j] : SPOT_TSNE_FAR_AWAY);
        a = fmaf(u * inverse, u, a);
    }
    return a;
}

/* The repulsion of row i into force[dim], for `dim` dimensions from `from` on; returns the row's part of Z, itself included.
 * DIM is dim, or its bound. */
template <int DIM, bool WIDE>
static __device__ double repel(const spot_tsne_problem *t, int from, int dim, int i, double *force)
{
    SPOT_SHARED(float, point, DIM * ROWS);      /* (DIM, ROWS): the points that pass by */
    const int f = spot_tsne_freedom(WIDE ? t->dim : dim);
    const float inverse = 1.0f / (float)f;
    float self[DIM];
    double total = 0;

    for (int k = 0; k < dim; k++) {
        self[k] = t->y[(size_t)(from + k) * t->stride + i];
        force[k] = 0;
    }
    for (int chunk = 0; chunk < t->stride; chunk += SPOT_TSNE_FLUSH) {
        int end = min(chunk + (int)SPOT_TSNE_FLUSH, t->stride);
        float z[LANES] = { 0 }, sum[DIM][LANES] = { { 0 } };

        for (int j0 = chunk; j0 < end; j0 += ROWS) {
            int count = min((int)ROWS, end - j0), own = j0 + threadIdx.x;

            for (int k = 0; k < dim && own < end; k++)
                point[k * ROWS + threadIdx.x] = own < t->n ? t->y[(size_t)(from + k) * t->stride + own]
                                                                     : SPOT_TSNE_FAR_AWAY;
            __syncthreads();
            for (int j = 0; j < count; j += 2 * LANES)
                for (int l = 0; l < LANES; l++) {      /* one division serves two pairs: 1/a = b/(ab) */
                    float u[DIM], v[DIM], a = 1.0f, b = 1.0f;
                    for (int k = 0; k < dim; k++) {
                        u[k] = self[k] - point[k * ROWS + j + l];
                        v[k] = self[k] - point[k * ROWS + j + l + LANES];
                        a = WIDE ? a : fmaf(u[k] * inverse, u[k], a);
                        b = WIDE ? b : fmaf(v[k] * inverse, v[k], b);
                    }
                    if (WIDE) {
                        a = apart(t, i, j0 + j + l, inverse);
                        b = apart(t, i, j0 + j + l + LANES, inverse);
                    }
                    float both = 1.0f / (a * b), qa = both * b, qb = both * a;
                    float wa = spot_student(qa, f), wb = spot_student(qb, f);
                    z[l] += wa + wb;
                    for (int k = 0; k < dim; k++) sum[k][l] = fmaf(wa * qa, u[k], fmaf(wb * qb, v[k], sum[k][l]));
                }
            __syncthreads();
        }
        total += spot_fold(z);
        for (int k = 0; k < dim; k++) force[k] += spot_fold(sum[k]);
    }
    return total;
}

/* Attraction of a warp's rows row0 .. row0+31, 16 by each half; a thread gets its own row's, and with `kl` its cost. */
template <int DIM, bool WIDE>
static __device__ float attract(const spot_tsne_problem *t, int from, int dim, int row0, int kl, float *pull)
{
    const int lane = threadIdx.x % WARP, own = lane % LANES, f = spot_tsne_freedom(WIDE ? t->dim : dim);
    const unsigned half = 0xffffu << (lane - own);
    const float inverse = 1.0f / (float)f;
    float result = 0;

    for (int r = 0, i = row0 + lane - own; r < LANES && i < t->n; r++, i++) {
        float sum[DIM] = { 0 }, cost = 0;

        for (int e = t->start[i] + own; e < t->start[i + 1]; e += LANES) {
            float u[DIM], a = 1.0f, p = t->p[e];
            int j = t->to[e];

            for (int k = 0; k < dim; k++) {
                u[k] = t->y[(size_t)(from + k) * t->stride + i] - t->y[(size_t)(from + k) * t->stride + j];
                a = WIDE ? a : fmaf(u[k] * inverse, u[k], a);
            }
            if (WIDE) a = apart(t, i, j, inverse);
            for (int k = 0; k < dim; k++) sum[k] = fmaf(p / a, u[k], sum[k]);
            if (kl) cost += p > 0 ? p * (spot_logf(p) + 0.5f * (float)(f + 1) * spot_logf(a)) : 0.0f;
        }
        for (int k = 0; k < dim; k++) {
            float whole = spot_half_warp_sum(sum[k], half);
            if (own == r) pull[k] = whole;
        }
        if (!kl) continue;
        cost = spot_half_warp_sum(cost, half);
        if (own == r) result = cost;
    }
    return result;
}

/* grid (tiles of the largest map, problems). Z and the cost are those of the first slice. */
template <int DIM, bool WIDE> static __global__ void __launch_bounds__(ROWS) force_kernel(const spot_tsne_walk *all, int kl)
{
    const spot_tsne_walk *w = &all[blockIdx.y];
    const spot_tsne_problem *t = &w->map;
    const int whole = DIM < MAX_DIM ? DIM : t->dim, tile = blockIdx.x, i = tile * ROWS + threadIdx.x;
    const bool mine = i < t->n;
    const bool exact = !w->grid.most;              /* else tsne_fft.cu has repel and Z */
    double z = 0;
    float cost = 0;

    if (!w->live || tile * ROWS >= t->n) return;   /* the whole block */
    for (int from = 0; from < (WIDE ? whole : 1); from += DIM) {
        const int dim = WIDE ? min(DIM, whole - from) : whole;
        double force[DIM], part = 0;
        float pull[DIM] = { 0 }, spent;

        if (exact) part = repel<DIM, WIDE>(t, WIDE ? from : 0, dim, min(i, t->n - 1), force);
        spent = attract<DIM, WIDE>(t, WIDE ? from : 0, dim, i - threadIdx.x % WARP, kl && !from, pull);
        for (int k = 0; k < dim && mine; k++) {
            if (exact) w->repel[i * whole + from + k] = force[k];
            w->attract[i * whole + from + k] = pull[k];
        }
        if (!from) z = part, cost = spent;
    }
    z = block_sum(mine ? z - 1.0 : 0.0, 0);        /* a point does not repel itself: its weight is 1 */
    if (threadIdx.x == 0 && exact) w->partial[tile] = z;
    if (!kl) return;
    z = block_sum(mine ? cost : 0.0, 1);
    if (threadIdx.x == 0) w->partial[spot_tsne_tiles(t->n) + tile] = z;
}

/* grid (tiles of the largest map, problems) */
static __global__ void __launch_bounds__(ROWS) move_kernel(const spot_tsne_walk *all, int first, int look)
{
    SPOT_SHARED(double, z, 1);
    const spot_tsne_walk *w = &all[blockIdx.y];
    const int n = w->map.n, tiles = spot_tsne_tiles(n), tile = blockIdx.x, i = tile * ROWS + threadIdx.x;
    double norm = 0;

    if (!w->live || tile * ROWS >= n) return;      /* the whole block */
    if (threadIdx.x == 0) z[0] = spot_tsne_z(w->partial, tiles);
    __syncthreads();
    if (i < n) norm = spot_tsne_move(w, i, z[0], w->fresh && first);
    if (!look) return;
    norm = block_sum(norm, 0);
    if (threadIdx.x == 0) w->partial[2 * tiles + tile] = norm;
}

static spot_status launch_forces(spot_ctx *c, dim3 grid, const spot_tsne_batch *b, int kl)
{
    cudaStream_t stream = spot_cuda_stream(c);
    int dim = b->walk[0].map.dim;

    for (int p = 0; p < b->problems; p++)
        if (b->walk[p].live && b->walk[p].grid.most) SPOT_TRY(spot_tsne_interpolate_cuda(c, &b->walk[p], &b->copy[p]));
    const auto kernel = dim == 1 ? force_kernel<1, false> : dim == 2 ? force_kernel<2, false> :
                        dim == 3 ? force_kernel<3, false> : dim <= MAX_DIM ? force_kernel<MAX_DIM, false> :
                        force_kernel<MAX_DIM, true>;
    SPOT_LAUNCH(kernel, grid, ROWS, 0, stream, b->copy, kl);
    return spot_cuda_launched(c, "tsne.fit: forces of %d maps, at most %u tiles of points to %d", b->problems, grid.x, dim);
}

static spot_status advance_cuda(spot_ctx *c, const spot_tsne_batch *b, int count, int look)
{
    cudaStream_t stream = spot_cuda_stream(c);
    int largest = 0, dim = b->walk[0].map.dim;
    dim3 grid;

    for (int p = 0; p < b->problems; p++) {
        const spot_tsne_problem *t = &b->walk[p].map;
        if (t->dim != dim)
            return spot_fail(c, SPOT_UNSUPPORTED, "{tsne.mixed} tsne.fit, problem %d: %d dimensions beside %d; on CUDA the "
                             "maps of a call have the same, call once for each", p, t->dim, dim);
        SPOT_TRY(spot_cuda_needs_all(c, "tsne.fit", { { t->start, "start" }, { t->to, "to" }, { t->p, "p" },
                                     { t->y, "y" } }));
        largest = max(largest, t->n);
    }
    SPOT_TRY(spot_cuda_check(c, cudaMemcpyAsync(b->copy, b->walk, b->problems * sizeof *b->walk, cudaMemcpyDefault, stream),
                             "tsne.fit: telling the GPU of %d maps", b->problems));
    grid = dim3(spot_tsne_tiles(largest), b->problems);
    for (int i = 0; i < count; i++) {
        SPOT_TRY(launch_forces(c, grid, b, look && i == count - 1));
        SPOT_LAUNCH(move_kernel, grid, ROWS, 0, stream, b->copy, i == 0, look && i == count - 1);
        SPOT_TRY(spot_cuda_launched(c, "tsne.fit: step of %d maps, at most %d points to %d", b->problems, largest, dim));
    }
    return count ? SPOT_OK : launch_forces(c, grid, b, 1);
}

extern const spot_tsne_ops spot_tsne_cuda = { .advance = advance_cuda };
