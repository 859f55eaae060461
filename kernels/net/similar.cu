/* similar.cu - similarities by cuBLASLt (linear.h), a piece of rows at a time: the products of a piece wait in scratch until a
 * kernel has read off the best ones or those of the columns. */
#include <math.h>
#include <stdlib.h>

#include "core/sums.cuh"
#include "net/linear.h"
#include "net/similar.h"

/* PRODUCTS: numbers in scratch, 64 MB. The rows of a piece are a multiple of 4, so that each piece begins at a multiple of 16
 * bytes. */
enum { THREADS = 256, WARPS = THREADS / SPOT_WARP, PRODUCTS = 16 << 20, MOST_ROWS = 4096, COLUMNS = 128 };

struct spot_similar {
    int rows, d, piece;
    spot_linear *plan;
    float *row, *unit;             /* (rows, d): as they are; of length 1 */
    float *a, *y;                  /* (piece, d): rows of length 1; (piece, rows): products */
    void *scratch;
};

/* Columns `first` to first + some - 1, of `columns`, for n rows of products with `rows` rows of the table. */
typedef struct {
    int n, rows, first, some, columns;
    spot_similar_column of[COLUMNS];
} column_list;

/* -- kernels ----------------------------------------------------------------------------------------------------------- */

/* A warp to a row: y = x / |x|, NaN where x is 0. grid (ceil(n / 8)) */
static __global__ void __launch_bounds__(THREADS) unit_kernel(float *y, const float *x, int n, int d)
{
    const int i = (int)(blockIdx.x * WARPS + threadIdx.x / SPOT_WARP), lane = (int)threadIdx.x % SPOT_WARP;
    double square = 0;

    if (i >= n) return;            /* the whole warp */
    for (int k = lane; k < d; k += SPOT_WARP) square = fma((double)x[(size_t)i * d + k], (double)x[(size_t)i * d + k], square);
    square = 1 / sqrt(spot_warp_sum(square));
    for (int k = lane; k < d; k += SPOT_WARP) y[(size_t)i * d + k] = (float)(x[(size_t)i * d + k] * square);
}

static __device__ inline float greater(float a, float b) { return b > a || b != b ? b : a; }   /* NaN stays */

/* The greatest of count numbers, in every lane; NaN if one of them is. */
static __device__ inline float greatest_of(const float *z, int count, int lane)
{
    float most = -INFINITY;

    for (int j = lane; j < count; j += SPOT_WARP) most = most != most ? most : greater(most, z[j]);
    for (int by = SPOT_WARP / 2; by; by /= 2) {
        const float other = __shfl_xor_sync(~0u, most, by);
        most = most != most ? most : greater(most, other);
    }
    return most;
}

/* A warp to a row. grid (ceil(n / 8)) */
static __global__ void __launch_bounds__(THREADS) best_kernel(float *y, const float *z, int n, int rows)
{
    const int i = (int)(blockIdx.x * WARPS + threadIdx.x / SPOT_WARP), lane = (int)threadIdx.x % SPOT_WARP;

    if (i >= n) return;
    const float most = greatest_of(z + (size_t)i * rows, rows, lane);
    if (!lane) y[i] = most;
}

/* A warp to a number: row i, column k of the list. grid (ceil(n some / 8)) */
static __global__ void __launch_bounds__(THREADS) columns_kernel(float *y, const float *z, const int *cls,
                                                                 const __grid_constant__ column_list list)
{
    const size_t e = (size_t)blockIdx.x * WARPS + threadIdx.x / SPOT_WARP;
    const int lane = (int)threadIdx.x % SPOT_WARP, i = (int)(e / list.some), k = (int)(e % list.some);

    if (i >= list.n) return;
    const spot_similar_column of = list.of[k];
    const float *from = z + (size_t)i * list.rows + of.first;
    const float most = of.of_class ? from[cls[i]] : greatest_of(from, of.count, lane);
    if (!lane) y[(size_t)i * list.columns + list.first + k] = most;
}

/* A thread to a column of a round: the CPU's chain. grid (ceil(d / 256), rounds) */
static __global__ void __launch_bounds__(THREADS) sums_kernel(spot_similar_sums_problem p)
{
    const int k = (int)(blockIdx.x * THREADS + threadIdx.x);
    const int *order = p.order + (size_t)blockIdx.y * p.longest;
    float *y = p.y + (size_t)blockIdx.y * p.groups * p.d + k;
    double sum = 0;
    int used = 0;

    if (k >= p.d) return;
    for (int g = 0; g < p.groups; g++) {
        const spot_similar_group group = p.group[g];
        for (; used < group.length; used++) sum += p.x[(size_t)order[used] * p.d + k];
        y[(size_t)group.which * p.d] = (float)(sum * group.factor);
    }
}

/* -- tables ------------------------------------------------------------------------------------------------------------ */

static spot_status make_units(spot_ctx *c, float *y, const float *x, int n, int d)
{
    SPOT_LAUNCH(unit_kernel, dim3(spot_blocks(n, WARPS)), THREADS, 0, spot_cuda_stream(c), y, x, n, d);
    return spot_cuda_launched(c, "similar: %d rows of %d numbers to length 1", n, d);
}

static void close_cuda(spot_ctx *c, spot_similar *t)
{
    if (!t) return;
    void *const all[] = { t->row, t->unit, t->a, t->y, t->scratch };
    for (void *p : all)
        if (p) spot_cuda_memory(c)->give(c, p);
    spot_linear_cuda.close(t->plan);
    free(t);
}

/* The rows of a table are the plan's weights, which fp32 leaves as they are. */
static spot_status take_table(spot_ctx *c, spot_similar *t, const float *row)
{
    const spot_linear_shape s = { .in = t->d, .out = t->rows, .precision = SPOT_FP32 };
    const spot_plugin *memory = spot_cuda_memory(c);

    SPOT_TRY(spot_linear_cuda.open(c, &t->plan, &s));
    SPOT_TRY(memory->take(c, (void **)&t->row, spot_linear_cuda.packed(t->plan)));
    SPOT_TRY(memory->take(c, (void **)&t->unit, spot_linear_cuda.packed(t->plan)));
    SPOT_TRY(memory->take(c, (void **)&t->a, (size_t)t->piece * t->d * sizeof *t->a));
    SPOT_TRY(memory->take(c, (void **)&t->y, (size_t)t->piece * t->rows * sizeof *t->y));
    SPOT_TRY(memory->take(c, &t->scratch, spot_linear_cuda.scratch(t->plan)));
    SPOT_TRY(spot_linear_cuda.pack(c, t->plan, t->row, row));
    return make_units(c, t->unit, t->row, t->rows, t->d);
}

static spot_status open_cuda(spot_ctx *c, spot_similar **table, const float *row, int rows, int d)
{
    spot_similar *t = (spot_similar *)calloc(1, sizeof *t);
    spot_status e;

    if (!t) return spot_fail(c, SPOT_NOMEM, "no memory for a table of %d rows", rows);
    t->rows = rows, t->d = d;
    t->piece = max(4, min((int)MOST_ROWS, PRODUCTS / rows / 4 * 4));
    e = take_table(c, t, row);
    if (e) close_cuda(c, t);
    else *table = t;
    return e;
}

static spot_status multiply(spot_ctx *c, spot_similar *t, float *y, const float *a, bool unit, int n)
{
    return spot_linear_cuda.forward(c, t->plan, y, a, unit ? t->unit : t->row, NULL, n, t->scratch);
}

static int some_of(const spot_similar *t, int n, int first) { return min(t->piece, n - first); }

static spot_status dots_cuda(spot_ctx *c, spot_similar *t, float *y, const float *a, int n)
{
    SPOT_TRY(spot_cuda_needs_all(c, "similar.dots", { { y, "y" }, { a, "a" } }));
    return multiply(c, t, y, a, false, n);
}

static spot_status best_cuda(spot_ctx *c, spot_similar *t, float *y, const float *a, int n)
{
    SPOT_TRY(spot_cuda_needs_all(c, "similar.best", { { y, "y" }, { a, "a" } }));
    for (int first = 0; first < n; first += t->piece) {
        const int some = some_of(t, n, first);
        SPOT_TRY(multiply(c, t, t->y, a + (size_t)first * t->d, false, some));
        SPOT_LAUNCH(best_kernel, dim3(spot_blocks(some, WARPS)), THREADS, 0, spot_cuda_stream(c), y + first, t->y, some,
                    t->rows);
        SPOT_TRY(spot_cuda_launched(c, "similar.best of %d rows and %d", some, t->rows));
    }
    return SPOT_OK;
}

/* The columns of the n rows from row `at` on, as many at a time as a launch takes. */
static spot_status read_columns(spot_ctx *c, spot_similar *t, float *y, const spot_similar_rows *p, int at, int n)
{
    for (int first = 0; first < p->columns; first += COLUMNS) {
        column_list list = { n, t->rows, first, min((int)COLUMNS, p->columns - first), p->columns, {} };
        for (int k = 0; k < list.some; k++) list.of[k] = p->column[first + k];
        SPOT_LAUNCH(columns_kernel, dim3(spot_blocks((size_t)n * list.some, WARPS)), THREADS, 0, spot_cuda_stream(c),
                    y + (size_t)at * p->columns, t->y, p->cls + at, list);
        SPOT_TRY(spot_cuda_launched(c, "similar.columns of %d rows, %d columns", n, list.some));
    }
    return SPOT_OK;
}

static spot_status columns_cuda(spot_ctx *c, spot_similar *t, float *y, const spot_similar_rows *p)
{
    SPOT_TRY(spot_cuda_needs_all(c, "similar.columns", { { y, "y" }, { p->a, "a" }, { p->cls, "cls" } }));
    for (int first = 0; first < p->n; first += t->piece) {
        const int some = some_of(t, p->n, first);
        SPOT_TRY(make_units(c, t->a, p->a + (size_t)first * t->d, some, t->d));
        SPOT_TRY(multiply(c, t, t->y, t->a, true, some));
        SPOT_TRY(read_columns(c, t, y, p, first, some));
    }
    return SPOT_OK;
}

static spot_status sums_cuda(spot_ctx *c, const spot_similar_sums_problem *p)
{
    SPOT_TRY(spot_cuda_needs_all(c, "similar.sums", { { p->x, "x" }, { p->order, "order", !p->longest }, { p->group, "group" },
                                                      { p->y, "y" } }));
    for (int first = 0; first < p->rounds; first += 65535) {
        spot_similar_sums_problem one = *p;
        one.rounds = min(65535, p->rounds - first);
        one.order += (size_t)first * p->longest;
        one.y += (size_t)first * p->groups * p->d;
        SPOT_LAUNCH(sums_kernel, dim3(spot_blocks(p->d, THREADS), one.rounds), THREADS, 0, spot_cuda_stream(c), one);
        SPOT_TRY(spot_cuda_launched(c, "similar.sums of %d rounds of %d rows", one.rounds, p->longest));
    }
    return SPOT_OK;
}

extern const spot_similar_ops spot_similar_cuda = { open_cuda, close_cuda, dots_cuda, best_cuda, columns_cuda, sums_cuda };
