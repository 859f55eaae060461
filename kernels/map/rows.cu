/* rows.cu - rows for the next op on CUDA: a thread owns an entry, a row or a column's sum, as one chain demands. */
#include "core/cuda.cuh"
#include "map/rows_step.h"

enum { THREADS = 256, ROWS = 64, BATCH = 32 };

/* The problems of one launch are its argument (at most 4 kB). */
template <typename T> struct batch { T problem[BATCH]; };

/* grid (ceil(n d / 256), problems): neighbours write neighbouring entries of y. */
static __global__ void __launch_bounds__(THREADS) pick_kernel(const __grid_constant__ batch<spot_rows_pick_problem> all)
{
    const spot_rows_pick_problem *p = &all.problem[blockIdx.y];
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x, n = p->n, d = p->d;

    if (e >= n * d) return;
    if (p->y_row < p->y_column) spot_rows_pick_entry(p, e % n, e / n);
    else                        spot_rows_pick_entry(p, e / d, e % d);
}

/* grid (ceil(n / 64), problems) */
static __global__ void __launch_bounds__(ROWS) prepare_kernel(const __grid_constant__ batch<spot_rows_prepare_problem> all)
{
    const spot_rows_prepare_problem *p = &all.problem[blockIdx.y];
    const int i = blockIdx.x * ROWS + threadIdx.x;

    if (i < p->n) spot_rows_prepare_row(p, i);
}

/* grid (ceil(d / 64), problems) */
static __global__ void __launch_bounds__(ROWS) squares_kernel(const __grid_constant__ batch<spot_rows_squares_problem> all)
{
    const spot_rows_squares_problem *p = &all.problem[blockIdx.y];
    const int j = blockIdx.x * ROWS + threadIdx.x;

    if (j < p->d) spot_rows_square_column(p, j);
}

/* grid (ceil(n / 256), problems) */
static __global__ void __launch_bounds__(THREADS) fade_kernel(const __grid_constant__ batch<spot_rows_fade_problem> all)
{
    const spot_rows_fade_problem *p = &all.problem[blockIdx.y];
    const int i = blockIdx.x * THREADS + threadIdx.x;

    if (i < p->n) spot_rows_fade_entry(p, i);
}

/* grid (ceil(n / 64), problems): neighbours read neighbouring values. */
static __global__ void __launch_bounds__(ROWS) best_kernel(const __grid_constant__ batch<spot_rows_best_problem> all)
{
    const spot_rows_best_problem *p = &all.problem[blockIdx.y];
    const int i = blockIdx.x * ROWS + threadIdx.x;

    if (i < p->n) spot_rows_best_of(p, i);
}

static spot_status pick_cuda(spot_ctx *c, int problems, const spot_rows_pick_problem *p)
{
    for (int first = 0; first < problems; first += BATCH) {
        batch<spot_rows_pick_problem> all;
        int count = min((int)BATCH, problems - first);
        size_t most = 0;

        for (int q = 0; q < count; q++) {
            const spot_rows_pick_problem *one = &all.problem[q];
            all.problem[q] = p[first + q];
            if (!one->n || !one->d) continue;
            most = max(most, (size_t)one->n * one->d);
            SPOT_TRY(spot_cuda_needs_all(c, "rows.pick", { { one->x, "x" }, { one->y, "y" } }));
            if (one->row) SPOT_TRY(spot_cuda_needs(c, one->row, "rows.pick: row"));
            if (one->column) SPOT_TRY(spot_cuda_needs(c, one->column, "rows.pick: column"));
        }
        if (!most) continue;
        SPOT_LAUNCH(pick_kernel, dim3(spot_blocks(most, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "rows.pick of %d problems, at most %zu entries", count, most));
    }
    return SPOT_OK;
}

static spot_status prepare_cuda(spot_ctx *c, int problems, const spot_rows_prepare_problem *p)
{
    for (int first = 0; first < problems; first += BATCH) {
        batch<spot_rows_prepare_problem> all;
        int count = min((int)BATCH, problems - first), n = 0;

        for (int q = 0; q < count; q++) {
            const spot_rows_prepare_problem *one = &all.problem[q];
            all.problem[q] = p[first + q];
            n = max(n, one->n);
            SPOT_TRY(spot_cuda_needs_all(c, "rows.prepare", { { one->x, "x" }, { one->y, "y" } }));
            if (one->head) SPOT_TRY(spot_cuda_needs(c, one->head, "rows.prepare: head"));
            if (one->along) SPOT_TRY(spot_cuda_needs(c, one->along, "rows.prepare: along"));
        }
        SPOT_LAUNCH(prepare_kernel, dim3(spot_blocks(n, ROWS), count), ROWS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "rows.prepare of %d problems, at most %d rows", count, n));
    }
    return SPOT_OK;
}

static spot_status squares_cuda(spot_ctx *c, int problems, const spot_rows_squares_problem *p)
{
    for (int first = 0; first < problems; first += BATCH) {
        batch<spot_rows_squares_problem> all;
        int count = min((int)BATCH, problems - first), d = 0;

        for (int q = 0; q < count; q++) {
            const spot_rows_squares_problem *one = &all.problem[q];
            all.problem[q] = p[first + q];
            d = max(d, one->d);
            SPOT_TRY(spot_cuda_needs_all(c, "rows.squares", { { one->x, "x" }, { one->square, "square" } }));
        }
        SPOT_LAUNCH(squares_kernel, dim3(spot_blocks(d, ROWS), count), ROWS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "rows.squares of %d problems, at most %d columns", count, d));
    }
    return SPOT_OK;
}

static spot_status fade_cuda(spot_ctx *c, int problems, const spot_rows_fade_problem *p)
{
    for (int first = 0; first < problems; first += BATCH) {
        batch<spot_rows_fade_problem> all;
        int count = min((int)BATCH, problems - first), n = 0;

        for (int q = 0; q < count; q++) {
            const spot_rows_fade_problem *one = &all.problem[q];
            all.problem[q] = p[first + q];
            n = max(n, one->n);
            SPOT_TRY(spot_cuda_needs_all(c, "rows.fade", { { one->weight, "weight" }, { one->loss, "loss" } }));
        }
        SPOT_LAUNCH(fade_kernel, dim3(spot_blocks(n, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "rows.fade of %d problems, at most %d losses", count, n));
    }
    return SPOT_OK;
}

static spot_status best_cuda(spot_ctx *c, int problems, const spot_rows_best_problem *p)
{
    for (int first = 0; first < problems; first += BATCH) {
        batch<spot_rows_best_problem> all;
        int count = min((int)BATCH, problems - first), n = 0;

        for (int q = 0; q < count; q++) {
            const spot_rows_best_problem *one = &all.problem[q];
            all.problem[q] = p[first + q];
            n = max(n, one->n);
            SPOT_TRY(spot_cuda_needs_all(c, "rows.best", { { one->value, "value" }, { one->best, "best" } }));
            if (one->choice) SPOT_TRY(spot_cuda_needs(c, one->choice, "rows.best: choice"));
        }
        SPOT_LAUNCH(best_kernel, dim3(spot_blocks(n, ROWS), count), ROWS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "rows.best of %d problems, at most %d rows", count, n));
    }
    return SPOT_OK;
}

extern const spot_rows_ops spot_rows_cuda = { .pick = pick_cuda, .prepare = prepare_cuda, .squares = squares_cuda,
                                              .fade = fade_cuda, .best = best_cuda };
