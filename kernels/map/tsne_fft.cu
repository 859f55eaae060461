/* tsne_fft.cu - t-SNE's repulsion by interpolation, as tsne_grid.h says. A block owns 4,096 numbers of the grid, as many lines
 * as they make, and transforms them in shared memory; a thread owns a point. Only the device knows the size of the grid:
 * launches have the largest size, and blocks beyond the last line return. Ten launches an iteration; three of them return at
 * once unless the grid changed. */
#include "core/cuda.cuh"
#include "map/tsne_fft.cuh"
#include "map/tsne_grid.h"
#include "map/tsne_step.h"

enum { THREADS = 256, WIDE = 1024, WARP = 32, ROOM = SPOT_GRID_MOST, LINES = 8, BLOCKS = 512 };

/* The map's extent, and the grid for it; one block. */
static __global__ void __launch_bounds__(WIDE) lay_kernel(const spot_tsne_walk *w)
{
    SPOT_SHARED(float, bound, 4 * WIDE / WARP);      /* (dim, low and high, warps) */
    const spot_tsne_problem *t = &w->map;

    for (int k = 0; k < t->dim; k++) {
        const float *y = t->y + (size_t)k * t->stride;
        float low = y[0], high = y[0];

        for (int i = threadIdx.x; i < t->n; i += WIDE) {
            low = fminf(low, y[i]);
            high = fmaxf(high, y[i]);
        }
        for (int by = WARP / 2; by; by /= 2) {
            low = fminf(low, __shfl_xor_sync(~0u, low, by));
            high = fmaxf(high, __shfl_xor_sync(~0u, high, by));
        }
        if (threadIdx.x % WARP) continue;
        bound[(2 * k) * (WIDE / WARP) + threadIdx.x / WARP] = low;
        bound[(2 * k + 1) * (WIDE / WARP) + threadIdx.x / WARP] = high;
    }
    __syncthreads();
    if (threadIdx.x) return;
    float low[2], high[2];
    for (int k = 0; k < t->dim; k++) {
        low[k] = bound[2 * k * (WIDE / WARP)];
        high[k] = bound[(2 * k + 1) * (WIDE / WARP)];
        for (int v = 1; v < WIDE / WARP; v++) {
            low[k] = fminf(low[k], bound[2 * k * (WIDE / WARP) + v]);
            high[k] = fmaxf(high[k], bound[(2 * k + 1) * (WIDE / WARP) + v]);
        }
    }
    spot_grid_lay(w->grid.plan, low, high, t->dim, w->grid.most);
}

/* A block's lines: entry i of line j is at i << shift | j. */
typedef struct { float *re, *im; int shift; } lines;

static __device__ lines lines_of(float *shared, int side)
{
    int shift = 0;

    while (side << shift < ROOM) shift++;
    return { shared, shared + ROOM, shift };
}

/* All lines of `side` entries to bit-reversed order. A barrier at both ends: all threads have stored their numbers. */
static __device__ void transform(lines l, int side, const spot_tsne_grid *g)
{
    __syncthreads();
    for (int half = side / 2; half; half /= 2) {
        for (int e = threadIdx.x; e < side / 2 << l.shift; e += THREADS) {
            int k = e >> l.shift & (half - 1), first = 2 * ((e >> l.shift) - k);
            int a = (first + k) << l.shift | (e & ((1 << l.shift) - 1)), b = a + (half << l.shift);
            const float *turn = g->turn + 2 * (size_t)k * (g->most / (2 * half));

            spot_grid_forward(&l.re[a], &l.im[a], &l.re[b], &l.im[b], turn[0], turn[1]);
        }
        __syncthreads();
    }
}

static __device__ void transform_back(lines l, int side, const spot_tsne_grid *g)
{
    __syncthreads();
    for (int half = 1; half < side; half *= 2) {
        for (int e = threadIdx.x; e < side / 2 << l.shift; e += THREADS) {
            int k = e >> l.shift & (half - 1), first = 2 * ((e >> l.shift) - k);
            int a = (first + k) << l.shift | (e & ((1 << l.shift) - 1)), b = a + (half << l.shift);
            const float *turn = g->turn + 2 * (size_t)k * (g->most / (2 * half));

            spot_grid_back(&l.re[a], &l.im[a], &l.re[b], &l.im[b], turn[0], turn[1]);
        }
        __syncthreads();
    }
}

/* Rows of K + V_x -> rows of their transform. */
static __global__ void __launch_bounds__(THREADS) kernel_rows_kernel(const spot_tsne_walk *w)
{
    SPOT_SHARED(float, shared, 2 * ROOM);
    const spot_tsne_grid *g = &w->grid;
    const spot_tsne_plan *p = g->plan;
    const lines l = lines_of(shared, p->side);
    const int many = 1 << l.shift;
    float *re = g->spectrum, *im = re + (size_t)p->rows * p->side;

    for (int r0 = blockIdx.x * many; p->fresh && r0 < p->rows; r0 += gridDim.x * many) {
        for (int e = threadIdx.x; e < ROOM; e += THREADS) {
            l.re[e] = spot_grid_kernel(p, min(r0 + e % many, p->rows - 1), e / many);
            l.im[e] = 0;
        }
        transform(l, p->side, g);
        for (int e = threadIdx.x; e < ROOM; e += THREADS) {
            int row = r0 + e / p->side, i = e % p->side, at = i * many + e / p->side;
            if (row >= p->rows) continue;
            re[(size_t)row * p->side + i] = l.re[at];
            im[(size_t)row * p->side + i] = l.im[at];
        }
        __syncthreads();
    }
}

/* Columns of the kernels' transform, divided by the splines' transform. */
static __global__ void __launch_bounds__(THREADS) kernel_columns_kernel(const spot_tsne_walk *w)
{
    SPOT_SHARED(float, shared, 2 * ROOM);
    const spot_tsne_grid *g = &w->grid;
    const spot_tsne_plan *p = g->plan;
    const lines l = lines_of(shared, p->side);
    const int many = 1 << l.shift, room = p->rows * many;
    float *re = g->spectrum, *im = re + (size_t)p->rows * p->side;

    for (int c0 = blockIdx.x * many; p->fresh && c0 < p->side; c0 += gridDim.x * many) {
        for (int e = threadIdx.x; e < room; e += THREADS) {
            size_t at = (size_t)(e / many) * p->side + c0 + e % many;
            l.re[e] = re[at];
            l.im[e] = im[at];
        }
        transform(l, p->rows, g);
        for (int e = threadIdx.x; e < room; e += THREADS) {
            size_t at = (size_t)(e / many) * p->side + c0 + e % many;
            float spline = (p->rows > 1 ? spot_grid_spline(g, p->rows, e / many) : 1.0f)
                         * spot_grid_spline(g, p->side, c0 + e % many);
            re[at] = l.re[e] / spline;
            im[at] = l.im[e] / spline;
        }
        __syncthreads();
    }
}

/* B is A's transpose. */
static __global__ void __launch_bounds__(THREADS) kernel_transpose_kernel(const spot_tsne_walk *w)
{
    const spot_tsne_plan *p = w->grid.plan;
    const size_t all = (size_t)p->rows * p->side;
    const float *a = w->grid.spectrum + all;
    float *b = w->grid.spectrum + 2 * all;

    for (size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x; p->fresh && e < all; e += (size_t)gridDim.x * THREADS)
        b[e] = p->rows > 1 ? a[e % p->side * p->side + e / p->side] : 0.0f;
}

/* The first node under point i, and its weights along columns and rows. */
static __device__ void place_point(const spot_tsne_walk *w, int i, int *column, int *row, float *along, float *down)
{
    const spot_tsne_plan *p = w->grid.plan;

    *column = spot_grid_place(p, w->map.y[i], p->low[0], along);
    *row = 0;
    down[0] = 1;
    if (p->rows > 1) *row = spot_grid_place(p, w->map.y[w->map.stride + i], p->low[1], down);
}

/* grid (ceil(n / 256)) */
static __global__ void __launch_bounds__(THREADS) spread_kernel(const spot_tsne_walk *w)
{
    const spot_tsne_plan *p = w->grid.plan;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    float along[SPOT_GRID_SPLINE], down[SPOT_GRID_SPLINE];
    int column, row;

    if (i >= w->map.n) return;
    place_point(w, i, &column, &row, along, down);
    for (int r = 0; r < (p->rows > 1 ? SPOT_GRID_SPLINE : 1); r++)     /* charges are integers: no order changes a sum */
        for (int k = 0; k < SPOT_GRID_SPLINE; k++)
            atomicAdd((unsigned long long *)&w->grid.charge[(size_t)(row + r) * spot_grid_nodes(p->side) + column + k],
                      (unsigned long long)spot_grid_charge(down[r] * along[k]));
}

/* Rows of charges -> rows of their transform. */
static __global__ void __launch_bounds__(THREADS) charge_rows_kernel(const spot_tsne_walk *w)
{
    SPOT_SHARED(float, shared, 2 * ROOM);
    const spot_tsne_grid *g = &w->grid;
    const spot_tsne_plan *p = g->plan;
    const lines l = lines_of(shared, p->side);
    const int many = 1 << l.shift, nodes = spot_grid_nodes(p->side), rows = spot_grid_node_rows(p);
    float *re = g->wave, *im = re + (size_t)rows * p->side;

    for (int r0 = blockIdx.x * many; r0 < rows; r0 += gridDim.x * many) {
        for (int e = threadIdx.x; e < ROOM; e += THREADS) {
            int row = r0 + e / p->side, i = e % p->side, at = i * many + e / p->side;
            l.re[at] = row < rows && i < nodes ? spot_grid_value(g->charge[(size_t)row * nodes + i]) : 0.0f;
            l.im[at] = 0;
        }
        transform(l, p->side, g);
        for (int e = threadIdx.x; e < ROOM; e += THREADS) {
            int row = r0 + e / p->side, i = e % p->side, at = i * many + e / p->side;
            if (row >= rows) continue;
            re[(size_t)row * p->side + i] = l.re[at];
            im[(size_t)row * p->side + i] = l.im[at];
        }
        __syncthreads();
    }
}

/* Columns of the charges' transform -> of the field's, transformed back along them; and their part of Z, of which every
 * 32nd row makes a term. */
static __global__ void __launch_bounds__(THREADS) columns_kernel(const spot_tsne_walk *w)
{
    SPOT_SHARED(float, shared, 2 * ROOM);
    SPOT_SHARED(double, term, (int)SPOT_GRID_TERMS * (int)LINES);
    const spot_tsne_grid *g = &w->grid;
    const spot_tsne_plan *p = g->plan;
    const lines l = lines_of(shared, p->side);
    const int many = 1 << l.shift, room = p->rows * many, rows = spot_grid_node_rows(p);
    const size_t all = (size_t)p->rows * p->side;
    float *re = g->wave, *im = re + (size_t)rows * p->side;

    for (int c0 = blockIdx.x * many; c0 < p->side; c0 += gridDim.x * many) {
        for (int e = threadIdx.x; e < room; e += THREADS) {
            size_t at = (size_t)(e / many) * p->side + c0 + e % many;
            l.re[e] = e / many < rows ? re[at] : 0.0f;
            l.im[e] = e / many < rows ? im[at] : 0.0f;
        }
        transform(l, p->rows, g);
        if ((int)threadIdx.x < SPOT_GRID_TERMS * many) {      /* at most 256 */
            double sum = 0;
            for (int e = threadIdx.x; e < room; e += SPOT_GRID_TERMS * many) {
                const float *k = g->spectrum + (size_t)(e / many) * p->side + c0 + e % many;
                sum += spot_grid_times(&l.re[e], &l.im[e], k[0], k[all], k[2 * all]);
            }
            term[threadIdx.x] = sum;
        }
        __syncthreads();
        if ((int)threadIdx.x < many) {
            double sum = 0;
            for (int t = 0; t < SPOT_GRID_TERMS; t++) sum += term[t * many + threadIdx.x];
            g->line[c0 + threadIdx.x] = sum;
        }
        transform_back(l, p->rows, g);
        for (int e = threadIdx.x; e < rows * many; e += THREADS) {
            size_t at = (size_t)(e / many) * p->side + c0 + e % many;
            re[at] = l.re[e];
            im[at] = l.im[e];
        }
        __syncthreads();
    }
}

/* Rows of the field's transform -> the field at the nodes. */
static __global__ void __launch_bounds__(THREADS) field_rows_kernel(const spot_tsne_walk *w)
{
    SPOT_SHARED(float, shared, 2 * ROOM);
    const spot_tsne_grid *g = &w->grid;
    const spot_tsne_plan *p = g->plan;
    const lines l = lines_of(shared, p->side);
    const int many = 1 << l.shift, nodes = spot_grid_nodes(p->side), rows = spot_grid_node_rows(p);
    const float scale = 1.0f / ((float)p->side * (float)p->rows);
    float *re = g->wave, *im = re + (size_t)rows * p->side;

    for (int r0 = blockIdx.x * many; r0 < rows; r0 += gridDim.x * many) {
        for (int e = threadIdx.x; e < ROOM; e += THREADS) {
            size_t at = (size_t)min(r0 + e / p->side, rows - 1) * p->side + e % p->side;
            l.re[e % p->side * many + e / p->side] = re[at];
            l.im[e % p->side * many + e / p->side] = im[at];
        }
        transform_back(l, p->side, g);
        for (int e = threadIdx.x; e < ROOM; e += THREADS) {
            int row = r0 + e / p->side, i = e % p->side, at = i * many + e / p->side;
            if (row >= rows || i >= nodes) continue;
            re[(size_t)row * p->side + i] = l.re[at] * scale;
            im[(size_t)row * p->side + i] = l.im[at] * scale;
        }
        __syncthreads();
    }
}

/* grid (ceil(n / 256)); the first block also adds up Z, every 256th line first. */
static __global__ void __launch_bounds__(THREADS) gather_kernel(const spot_tsne_walk *w)
{
    SPOT_SHARED(double, part, SPOT_GRID_FOLD);
    const spot_tsne_plan *p = w->grid.plan;
    const int i = blockIdx.x * THREADS + threadIdx.x, dim = w->map.dim, tiles = spot_tsne_tiles(w->map.n);
    const float *re = w->grid.wave, *im = re + (size_t)spot_grid_node_rows(p) * p->side;
    float along[SPOT_GRID_SPLINE], down[SPOT_GRID_SPLINE], x = 0, y = 0;
    int column, row;

    if (i < w->map.n) {
        place_point(w, i, &column, &row, along, down);
        for (int r = 0; r < (p->rows > 1 ? SPOT_GRID_SPLINE : 1); r++)
            for (int k = 0; k < SPOT_GRID_SPLINE; k++) {
                size_t at = (size_t)(row + r) * p->side + column + k;
                x = fmaf(down[r] * along[k], re[at], x);
                y = fmaf(down[r] * along[k], im[at], y);
            }
        w->repel[(size_t)i * dim] = x;
        if (dim > 1) w->repel[(size_t)i * dim + 1] = y;
    }
    if (blockIdx.x) return;
    double sum = 0;
    for (int e = threadIdx.x; e < p->side; e += THREADS) sum += w->grid.line[e];
    part[threadIdx.x] = sum;
    for (int tile = threadIdx.x + 1; tile < tiles; tile += THREADS) w->partial[tile] = 0;
    __syncthreads();
    if (threadIdx.x) return;
    sum = 0;
    for (int t = 0; t < SPOT_GRID_FOLD; t++) sum += part[t];
    w->partial[0] = spot_grid_z(p, sum, w->map.n);
}

spot_status spot_tsne_interpolate_cuda(spot_ctx *c, const spot_tsne_walk *host, const spot_tsne_walk *device)
{
    const int n = host->map.n, nodes = spot_grid_nodes(host->grid.most), points = spot_blocks(n, THREADS);
    const size_t charges = (size_t)nodes * (host->map.dim == 2 ? nodes : 1);
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(host->grid.charge, 0, charges * sizeof *host->grid.charge, stream),
                             "tsne.fit: clearing the grid of %d points", n));
    SPOT_LAUNCH(lay_kernel, 1, WIDE, 0, stream, device);
    SPOT_LAUNCH(kernel_rows_kernel, BLOCKS, THREADS, 0, stream, device);
    SPOT_LAUNCH(kernel_columns_kernel, BLOCKS, THREADS, 0, stream, device);
    SPOT_LAUNCH(kernel_transpose_kernel, BLOCKS, THREADS, 0, stream, device);
    SPOT_LAUNCH(spread_kernel, points, THREADS, 0, stream, device);
    SPOT_LAUNCH(charge_rows_kernel, BLOCKS, THREADS, 0, stream, device);
    SPOT_LAUNCH(columns_kernel, BLOCKS, THREADS, 0, stream, device);
    SPOT_LAUNCH(field_rows_kernel, BLOCKS, THREADS, 0, stream, device);
    SPOT_LAUNCH(gather_kernel, points, THREADS, 0, stream, device);
    return spot_cuda_launched(c, "tsne.fit: interpolated forces of %d points to %d", n, host->map.dim);
}
