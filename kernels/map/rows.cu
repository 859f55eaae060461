/* rows.cu - rows for the next op on CUDA: a thread owns an entry, a row or a column's sum, as one chain demands. */
#include "core/cuda.cuh"
#include "map/rows_step.h"

enum { THREADS = 256, ROWS = 64, BATCH = 32 };

template <typename T> using batch = spot_batch<T, BATCH>;

/* grid (ceil(n d / 256), problems): neighbours write neighbouring entries of y. */
static __global__ void __launch_bounds__(THREADS) pick_kernel(const __grid_constant__ batch<spot_rows_pick_problem> all)
{
    const spot_rows_pick_problem *p = &all.of[blockIdx.y];
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x, n = p->n, d = p->d;

    if (e >= n * d) return;
    if (p->y_row < p->y_column) spot_rows_pick_entry(p, e % n, e / n);
    else                        spot_rows_pick_entry(p, e / d, e % d);
}

/* grid (ceil(n / 64), problems) */
static __global__ void __launch_bounds__(ROWS) prepare_kernel(const __grid_constant__ batch<spot_rows_prepare_problem> all)
{
    const spot_rows_prepare_problem *p = &all.of[blockIdx.y];
    const int i = blockIdx.x * ROWS + threadIdx.x;

    if (i < p->n) spot_rows_prepare_row(p, i);
}

/* grid (ceil(d / 64), problems) */
static __global__ void __launch_bounds__(ROWS) squares_kernel(const __grid_constant__ batch<spot_rows_squares_problem> all)
{
    const spot_rows_squares_problem *p = &all.of[blockIdx.y];
    const int j = blockIdx.x * ROWS + threadIdx.x;

    if (j < p->d) spot_rows_square_column(p, j);
}

/* grid (ceil(n / 256), problems) */
static __global__ void __launch_bounds__(THREADS) fade_kernel(const __grid_constant__ batch<spot_rows_fade_problem> all)
{
    const spot_rows_fade_problem *p = &all.of[blockIdx.y];
    const int i = blockIdx.x * THREADS + threadIdx.x;

    if (i < p->n) spot_rows_fade_entry(p, i);
}

/* grid (ceil(n / 64), problems): neighbours read neighbouring values. */
static __global__ void __launch_bounds__(ROWS) best_kernel(const __grid_constant__ batch<spot_rows_best_problem> all)
{
    const spot_rows_best_problem *p = &all.of[blockIdx.y];
    const int i = blockIdx.x * ROWS + threadIdx.x;

    if (i < p->n) spot_rows_best_of(p, i);
}

static spot_status pick_cuda(spot_ctx *c, int problems, const spot_rows_pick_problem *p)
{
    size_t most = 0;

    for (int q = 0; q < problems; q++) {
        if (!p[q].n || !p[q].d) continue;
        most = max(most, (size_t)p[q].n * p[q].d);
        SPOT_TRY(spot_cuda_needs_all(c, "rows.pick", { { p[q].x, "x" }, { p[q].y, "y" }, { p[q].row, "row", true },
                                     { p[q].column, "column", true } }));
    }
    if (!most) return SPOT_OK;
    return spot_cuda_batches<batch<spot_rows_pick_problem>>(problems, p, [=](auto &all, int count) {
        SPOT_LAUNCH(pick_kernel, dim3(spot_blocks(most, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "rows.pick of %d problems, at most %zu entries", count, most);
    });
}

static spot_status prepare_cuda(spot_ctx *c, int problems, const spot_rows_prepare_problem *p)
{
    const int n = SPOT_MOST(problems, p, n);

    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "rows.prepare", { { p[q].x, "x" }, { p[q].y, "y" }, { p[q].head, "head", true },
                                     { p[q].along, "along", true } }));
    return spot_cuda_batches<batch<spot_rows_prepare_problem>>(problems, p, [=](auto &all, int count) {
        SPOT_LAUNCH(prepare_kernel, dim3(spot_blocks(n, ROWS), count), ROWS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "rows.prepare of %d problems, at most %d rows", count, n);
    });
}

static spot_status squares_cuda(spot_ctx *c, int problems, const spot_rows_squares_problem *p)
{
    const int d = SPOT_MOST(problems, p, d);

    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "rows.squares", { { p[q].x, "x" }, { p[q].square, "square" } }));
    return spot_cuda_batches<batch<spot_rows_squares_problem>>(problems, p, [=](auto &all, int count) {
        SPOT_LAUNCH(squares_kernel, dim3(spot_blocks(d, ROWS), count), ROWS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "rows.squares of %d problems, at most %d columns", count, d);
    });
}

static spot_status fade_cuda(spot_ctx *c, int problems, const spot_rows_fade_problem *p)
{
    const int n = SPOT_MOST(problems, p, n);

    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "rows.fade", { { p[q].weight, "weight" }, { p[q].loss, "loss" } }));
    return spot_cuda_batches<batch<spot_rows_fade_problem>>(problems, p, [=](auto &all, int count) {
        SPOT_LAUNCH(fade_kernel, dim3(spot_blocks(n, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "rows.fade of %d problems, at most %d losses", count, n);
    });
}

static spot_status best_cuda(spot_ctx *c, int problems, const spot_rows_best_problem *p)
{
    const int n = SPOT_MOST(problems, p, n);

    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "rows.best", { { p[q].value, "value" }, { p[q].best, "best" },
                                     { p[q].choice, "choice", true } }));
    return spot_cuda_batches<batch<spot_rows_best_problem>>(problems, p, [=](auto &all, int count) {
        SPOT_LAUNCH(best_kernel, dim3(spot_blocks(n, ROWS), count), ROWS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "rows.best of %d problems, at most %d rows", count, n);
    });
}

extern const spot_rows_ops spot_rows_cuda = { .pick = pick_cuda, .prepare = prepare_cuda, .squares = squares_cuda,
                                              .fade = fade_cuda, .best = best_cuda };
