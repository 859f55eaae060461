/* rbf.cu - variance matrices on CUDA, one problem after another. A block orders a target's images, a block sums a cell's
 * points, a block owns a tile of the matrix and a slice of the targets in the exact method, and a block searches the nearest
 * points of a cell. Only cells from the diagonal on are computed. Every sum of values has a fixed order. */
#include "core/sums.cuh"
#include "map/rbf_scratch.h"

enum { THREADS = 128, TILE_ROWS = 8, TILE_COLUMNS = 32, TILE = TILE_ROWS * TILE_COLUMNS, IMAGES = 64, DIGITS = 256 };

/* A launch's argument. */
typedef struct { spot_rbf_config cfg; spot_rbf_problem p; spot_rbf_space o; } work;

static __device__ size_t plane_of(const work &w) { return (size_t)w.p.targets * w.p.images; }

/* -- images and cells ------------------------------------------------------------------------------------------------ */

/* grid (targets): images in the order of their places, equal ones in their own. */
static __global__ void __launch_bounds__(THREADS) order_kernel(const __grid_constant__ work w)
{
    SPOT_SHARED(float, place, SPOT_RBF_IMAGES);      /* NaN: takes no part */
    const int t = blockIdx.x, m = w.p.images;
    const size_t row = (size_t)t * m;

    for (int i = threadIdx.x; i < m; i += THREADS) {
        const int reason = spot_rbf_reason(&w.p, row + i);
        place[i] = reason == SPOT_RBF_REASONS ? spot_rbf_place(&w.cfg, w.p.range, w.p.distance[row + i]) : NAN;
        if (reason < SPOT_RBF_REASONS) atomicAdd(&w.p.left_out[reason], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += THREADS) {
        int at = 0;
        if (place[i] != place[i]) continue;
        for (int k = 0; k < m; k++) at += place[k] < place[i] || (place[k] == place[i] && k < i);
        w.o.x[row + at] = place[i];
        for (int s = 0; s < w.p.signals; s++) w.o.s[s * plane_of(w) + row + at] = w.p.signal[s * plane_of(w) + row + i];
    }
    if (threadIdx.x == 0) {
        int held = 0;
        for (int k = 0; k < m; k++) held += place[k] == place[k];
        w.o.held[t] = held;
    }
}

/* Images of a target in cell a: from .. to - 1. */
static __device__ void cell_images(const work &w, const float *x, int held, int a, int *from, int *to)
{
    *from = spot_rbf_first(x, held, (float)a);
    *to = a + 1 == w.cfg.grid ? held : spot_rbf_first(x, held, (float)(a + 1));
}

/* grid (cells, cells): points of cell (a, b), and in the binned method their values, into place b + 1 of row a. */
static __global__ void __launch_bounds__(THREADS, 8) cells_kernel(const __grid_constant__ work w)
{
    const int a = blockIdx.y, b = blockIdx.x, planes = w.o.bin_v ? w.p.signals : 0;
    const size_t line = (size_t)w.cfg.grid + 1, at = a * line + b + 1, over = b * line + a + 1;

    if (b < a) return;
    for (int s = -1; s < planes; s++) {
        const float *v = w.o.s + (s < 0 ? 0 : s) * plane_of(w);
        double sum = 0;
        for (int t = threadIdx.x; t < w.p.targets; t += THREADS) {
            const size_t row = (size_t)t * w.p.images;
            int j0, j1, k0, k1;
            cell_images(w, w.o.x + row, w.o.held[t], a, &j0, &j1);
            cell_images(w, w.o.x + row, w.o.held[t], b, &k0, &k1);
            if (s < 0) { sum += (j1 - j0) * (k1 - k0) - (a == b) * (j1 - j0); continue; }
            for (int j = j0; j < j1; j++)
                for (int k = k0; k < k1; k++) sum += fabsf(v[row + j] - v[row + k]);
        }
        sum = spot_block_sum<THREADS>(sum);
        if (threadIdx.x) continue;
        if (s < 0) w.o.bin[at] = w.o.bin[over] = (int)sum;
        else       w.o.bin_v[s * line * w.cfg.grid + at] = w.o.bin_v[s * line * w.cfg.grid + over] = sum;
    }
}

/* grid (ceil(rows / 128), 1 + planes): sums along the rows. */
static __global__ void __launch_bounds__(THREADS) rows_kernel(const __grid_constant__ work w)
{
    const int a = blockIdx.x * THREADS + threadIdx.x, s = (int)blockIdx.y - 1;
    const size_t line = (size_t)w.cfg.grid + 1;

    if (a >= w.cfg.grid) return;
    if (s < 0) {
        int *row = w.o.bin + a * line;
        row[0] = 0;
        for (int b = 0; b < w.cfg.grid; b++) row[b + 1] += row[b];
    } else {
        double *row = w.o.bin_v + (s * (size_t)w.cfg.grid + a) * line;
        row[0] = 0;
        for (int b = 0; b < w.cfg.grid; b++) row[b + 1] += row[b];
    }
}

static __device__ int wanted_of(const work &w)
{
    const size_t line = (size_t)w.cfg.grid + 1;
    int points = 0;

    for (int a = 0; a < w.cfg.grid; a++) points += w.o.bin[a * line + w.cfg.grid];
    return min(points, w.cfg.nearest);
}

/* grid (ceil(cells / 128), cells): where the nearest points end, by their cells. */
static __global__ void __launch_bounds__(THREADS) squares_kernel(const __grid_constant__ work w)
{
    const int a = blockIdx.y, b = blockIdx.x * THREADS + threadIdx.x;

    if (b < a || b >= w.cfg.grid) return;
    w.o.square[(size_t)a * w.cfg.grid + b] = spot_rbf_nearest_square(w.o.bin, w.cfg.grid, a, b, wanted_of(w));
}

/* -- the binned method ----------------------------------------------------------------------------------------------- */

static __device__ void give_value(const work &w, int s, int a, int b, double value)
{
    const size_t grid = w.cfg.grid;

    w.p.value[(s * grid + a) * grid + b] = w.p.value[(s * grid + b) * grid + a] = (float)value;
}

static __device__ void give_count(const work &w, int a, int b, int count)
{
    w.p.count[(size_t)a * w.cfg.grid + b] = w.p.count[(size_t)b * w.cfg.grid + a] = count;
}

/* grid (ceil(cells / 128), cells, signals) */
static __global__ void __launch_bounds__(THREADS) windows_kernel(const __grid_constant__ work w)
{
    const int a = blockIdx.y, b = blockIdx.x * THREADS + threadIdx.x, s = blockIdx.z, grid = w.cfg.grid;
    const int most = (w.cfg.kernel - 1) / 2, wanted = wanted_of(w);
    const size_t line = (size_t)grid + 1;
    const double *v = w.o.bin_v + (size_t)s * grid * line;
    double num = 0, den = 0;
    int count = 0;

    if (b < a || b >= grid) return;
    for (int p = max(a - most, 0); p <= min(a + most, grid - 1); p++) {
        const double high = spot_rbf_phi((float)((a - p) * (a - p)), w.cfg.sigma);
        for (int q = max(b - most, 0); q <= min(b + most, grid - 1); q++) {
            const int square = (a - p) * (a - p) + (b - q) * (b - q);
            const int points = w.o.bin[p * line + q + 1] - w.o.bin[p * line + q];
            if (4 * square >= w.cfg.kernel * w.cfg.kernel) continue;
            const double weight = high * spot_rbf_phi((float)((b - q) * (b - q)), w.cfg.sigma);
            num = fma(weight, v[p * line + q + 1] - v[p * line + q], num);
            den = fma(weight, (double)points, den);
            count += points;
        }
    }
    num += wanted ? spot_rbf_binned_mean(v, w.o.bin, grid, a, b, w.o.square[(size_t)a * grid + b], wanted) : 0;
    give_value(w, s, a, b, wanted ? num / (1 + den) : NAN);
    if (s == 0) give_count(w, a, b, count);
}

/* -- the exact method's windows -------------------------------------------------------------------------------------- */

/* The images of a target that reach a tile, as tables; `rows` by threadIdx.y, `columns` by threadIdx.x. */
typedef struct { float *row_square, *row_phi, *column_square, *column_phi; } tables;

static __device__ void fill_tables(const work &w, const tables &f, const float *x, int held, int a0, int b0, int k0)
{
    const int thread = threadIdx.y * TILE_COLUMNS + threadIdx.x;

    for (int e = thread; k0 == 0 && e < held * TILE_ROWS; e += TILE) {
        f.row_square[e] = spot_rbf_square(a0 + e % TILE_ROWS, x[e / TILE_ROWS]);
        f.row_phi[e] = spot_rbf_phi(f.row_square[e], w.cfg.sigma);
    }
    for (int e = thread; e < min(held - k0, (int)IMAGES) * TILE_COLUMNS; e += TILE) {
        f.column_square[e] = spot_rbf_square(b0 + e % TILE_COLUMNS, x[k0 + e / TILE_COLUMNS]);
        f.column_phi[e] = spot_rbf_phi(f.column_square[e], w.cfg.sigma);
    }
}

typedef struct { float num, den, count; } cell_sums;

/* Points of image k (at `column` of its tables) with all images j. v NULL: denominator and count. */
static __device__ void add_image(const work &w, const tables &f, cell_sums *sum, const float *v, int held, int k, int column)
{
    const int at = column * TILE_COLUMNS + threadIdx.x;
    const float own = f.column_square[at], phi = f.column_phi[at];
    const float radius2 = 0.25f * (float)w.cfg.kernel * (float)w.cfg.kernel;
    float num = 0, den = 0, count = 0;

    if (!(own < radius2)) return;
    for (int j = 0; j < held; j++) {
        if (j == k || !(f.row_square[j * TILE_ROWS + threadIdx.y] + own < radius2)) continue;
        const float weight = f.row_phi[j * TILE_ROWS + threadIdx.y];
        if (v) num = fmaf(weight, fabsf(v[j] - v[k]), num);
        den += weight;
        count += 1;
    }
    sum->num = fmaf(phi, num, sum->num);
    sum->den = fmaf(phi, den, sum->den);
    sum->count += count;
}

/* grid (tiles, tiles, slices x (signals + 1)): sums of a slice of targets. */
static __global__ void __launch_bounds__(TILE, 4) gather_kernel(const __grid_constant__ work w)
{
    SPOT_SHARED(float, row_square, (int)SPOT_RBF_IMAGES * TILE_ROWS);
    SPOT_SHARED(float, row_phi, (int)SPOT_RBF_IMAGES * TILE_ROWS);
    SPOT_SHARED(float, column_square, IMAGES * TILE_COLUMNS);
    SPOT_SHARED(float, column_phi, IMAGES * TILE_COLUMNS);
    const tables f = { row_square, row_phi, column_square, column_phi };
    const int planes = w.p.signals + 1, s = blockIdx.z % planes, slice = blockIdx.z / planes, grid = w.cfg.grid;
    const int a0 = blockIdx.y * TILE_ROWS, b0 = blockIdx.x * TILE_COLUMNS, a = a0 + threadIdx.y, b = b0 + threadIdx.x;
    const int first = slice * w.o.slice, last = min(first + w.o.slice, w.p.targets);
    const float radius = 0.5f * (float)w.cfg.kernel;
    double total[3] = { 0, 0, 0 };

    if (b0 + TILE_COLUMNS <= a0) return;             /* the whole block */
    for (int chunk = first; chunk < last; chunk += SPOT_RBF_CHUNK) {
        cell_sums sum = { 0, 0, 0 };
        for (int t = chunk; t < min(chunk + (int)SPOT_RBF_CHUNK, last); t++) {
            const float *x = w.o.x + (size_t)t * w.p.images;
            const float *v = s < w.p.signals ? w.o.s + s * plane_of(w) + (size_t)t * w.p.images : NULL;
            const int held = w.o.held[t];
            if (spot_rbf_first(x, held, a0 + 0.5f - radius) == spot_rbf_first(x, held, a0 + TILE_ROWS + radius)) continue;
            for (int k0 = 0; k0 < held; k0 += IMAGES) {
                __syncthreads();                     /* other threads may still read the last tables */
                fill_tables(w, f, x, held, a0, b0, k0);
                __syncthreads();
                for (int k = k0; k < min(k0 + (int)IMAGES, held); k++) add_image(w, f, &sum, v, held, k, k - k0);
            }
        }
        total[0] += sum.num, total[1] += sum.den, total[2] += sum.count;
    }
    if (a >= grid || b >= grid || b < a) return;
    const size_t cells = (size_t)grid * grid, at = (size_t)a * grid + b;
    w.o.sum[((size_t)slice * planes + s) * cells + at] = s < w.p.signals ? total[0] : total[1];
    if (s == w.p.signals) w.o.counted[slice * cells + at] = (int)total[2];
}

/* grid (ceil(cells / 128), cells): the slices' sums, with u. */
static __global__ void __launch_bounds__(THREADS) finish_kernel(const __grid_constant__ work w)
{
    const int a = blockIdx.y, b = blockIdx.x * THREADS + threadIdx.x, grid = w.cfg.grid, planes = w.p.signals + 1;
    const size_t cells = (size_t)grid * grid, at = (size_t)a * grid + b;
    double den = 0;
    int count = 0;

    if (b < a || b >= grid) return;
    for (int l = 0; l < w.o.slices; l++) {
        den += w.o.sum[((size_t)l * planes + w.p.signals) * cells + at];
        count += w.o.counted[l * cells + at];
    }
    give_count(w, a, b, count);
    for (int s = 0; s < w.p.signals; s++) {
        double num = 0;
        for (int l = 0; l < w.o.slices; l++) num += w.o.sum[((size_t)l * planes + s) * cells + at];
        give_value(w, s, a, b, (w.o.mean[s * cells + at] + num) / (1 + den));
    }
}

/* -- the exact method's nearest points ------------------------------------------------------------------------------- */

/* Calls visit(square, j, k) for every point of this thread's targets up to `within` of the centre of (a, b); j and k are
 * numbers of images among all targets. */
template <typename VISIT> static __device__ void visit_points(const work &w, int a, int b, float within, VISIT visit)
{
    const float reach = sqrtf(within) * 1.000001f + 1e-4f;

    for (int t = threadIdx.x; t < w.p.targets; t += THREADS) {
        const size_t row = (size_t)t * w.p.images;
        const float *x = w.o.x + row;
        const int held = w.o.held[t];
        for (int j = spot_rbf_first(x, held, a + 0.5f - reach); j < held && x[j] <= a + 0.5f + reach; j++) {
            const float high = spot_rbf_square(a, x[j]);
            const float rest = sqrtf(max(within - high, 0.0f) + 1e-6f * within) * 1.000001f + 1e-4f;
            for (int k = spot_rbf_first(x, held, b + 0.5f - rest); k < held && x[k] <= b + 0.5f + rest; k++) {
                const float square = high + spot_rbf_square(b, x[k]);
                if (j != k && square <= within) visit(square, row + j, row + k);
            }
        }
    }
}

/* The squared distance of the last of the nearest points, by its 32 bits, 8 at a time from the top: a float that is not
 * negative is ordered as its bits. *nearer: points below it; the block's threads all get both. */
static __device__ float last_square(const work &w, int *digit, int a, int b, float within, int wanted, int *nearer)
{
    unsigned known = 0;
    int left = wanted;

    for (int shift = 24; shift >= 0; shift -= 8) {
        for (int e = threadIdx.x; e < DIGITS; e += THREADS) digit[e] = 0;
        __syncthreads();
        visit_points(w, a, b, within, [&](float square, size_t, size_t) {
            const unsigned bits = (unsigned)spot_float_bits(square);
            if (shift == 24 || bits >> (shift + 8) == known >> (shift + 8)) atomicAdd(&digit[bits >> shift & (DIGITS - 1)], 1);
        });
        __syncthreads();
        unsigned e = 0;
        for (; e < DIGITS - 1 && digit[e] < left; e++) left -= digit[e];
        known |= e << shift;
        __syncthreads();                             /* before the digits are cleared */
    }
    *nearer = wanted - left;
    return spot_bits_float((int32_t)known);
}

/* grid (cells, cells): u of cell (a, b). */
static __global__ void __launch_bounds__(THREADS, 8) nearest_kernel(const __grid_constant__ work w)
{
    SPOT_SHARED(int, digit, DIGITS);
    const int a = blockIdx.y, b = blockIdx.x, grid = w.cfg.grid, wanted = wanted_of(w);
    const size_t cells = (size_t)grid * grid, at = (size_t)a * grid + b;
    int nearer;

    if (b < a) return;
    if (!wanted) {
        for (int s = threadIdx.x; s < w.p.signals; s += THREADS) w.o.mean[s * cells + at] = NAN;
        return;
    }
    const float last = last_square(w, digit, a, b, spot_rbf_bound(w.o.square[at]), wanted, &nearer);
    for (int s = 0; s < w.p.signals; s++) {
        const float *v = w.o.s + s * plane_of(w);
        double sum = 0, tie = 0, ties = 0;
        visit_points(w, a, b, last, [&](float square, size_t j, size_t k) {
            const double value = fabsf(v[j] - v[k]);
            if (square < last) sum += value;
            else               tie += value, ties += 1;
        });
        sum = spot_block_sum<THREADS>(sum);
        tie = spot_block_sum<THREADS>(tie);
        ties = spot_block_sum<THREADS>(ties);
        if (threadIdx.x == 0) w.o.mean[s * cells + at] = spot_rbf_mean(sum, nearer, tie, (int)ties, wanted);
    }
}

/* -- the op ---------------------------------------------------------------------------------------------------------- */

static spot_status start_exact(spot_ctx *c, const work &w)
{
    const int grid = w.cfg.grid;
    cudaStream_t stream = spot_cuda_stream(c);
    const dim3 tiles(spot_blocks(grid, TILE_COLUMNS), spot_blocks(grid, TILE_ROWS), w.o.slices * (w.p.signals + 1));

    SPOT_LAUNCH(gather_kernel, tiles, dim3(TILE_COLUMNS, TILE_ROWS), 0, stream, w);
    SPOT_LAUNCH(nearest_kernel, dim3(grid, grid), THREADS, 0, stream, w);
    SPOT_LAUNCH(finish_kernel, dim3(spot_blocks(grid, THREADS), grid), THREADS, 0, stream, w);
    return SPOT_OK;
}

static spot_status start_problem(spot_ctx *c, const work &w)
{
    const int grid = w.cfg.grid, planes = w.o.bin_v ? w.p.signals : 0;
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_TRY(spot_cuda_memory(c)->clear(c, w.p.left_out, SPOT_RBF_REASONS * sizeof *w.p.left_out));
    SPOT_LAUNCH(order_kernel, w.p.targets, THREADS, 0, stream, w);
    SPOT_LAUNCH(cells_kernel, dim3(grid, grid), THREADS, 0, stream, w);
    SPOT_LAUNCH(rows_kernel, dim3(spot_blocks(grid, THREADS), 1 + planes), THREADS, 0, stream, w);
    SPOT_LAUNCH(squares_kernel, dim3(spot_blocks(grid, THREADS), grid), THREADS, 0, stream, w);
    if (w.cfg.method == SPOT_RBF_BINNED)
        SPOT_LAUNCH(windows_kernel, dim3(spot_blocks(grid, THREADS), grid, w.p.signals), THREADS, 0, stream, w);
    else
        SPOT_TRY(start_exact(c, w));
    return spot_cuda_launched(c, "rbf.matrices: %d signals of %d targets with %d images on a grid of %d", w.p.signals,
                              w.p.targets, w.p.images, grid);
}

static spot_status matrices_cuda(spot_ctx *c, spot_arena *scratch, const spot_rbf_config *cfg, int problems,
                                 const spot_rbf_problem *p)
{
    size_t mark = scratch->used;

    for (int q = 0; q < problems; q++) {
        work w = { *cfg, p[q], {} };
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_rbf_take(c, scratch, &w.o, cfg, &p[q], 0));
        scratch->used = mark;
        if (scratch->counting) continue;
        SPOT_TRY(spot_cuda_needs_all(c, "rbf.matrices", { { p[q].distance, "distance" }, { p[q].signal, "signal" },
                                     { p[q].value, "value" }, { p[q].count, "count" }, { p[q].left_out, "left_out" } }));
        SPOT_TRY(start_problem(c, w));
    }
    return SPOT_OK;
}

extern const spot_rbf_ops spot_rbf_cuda = { .matrices = matrices_cuda };
