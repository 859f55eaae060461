/* umap.cu - a thread a row's strengths; a thread a point in the descent, the busiest points first so that those of a warp have
 * about as many edges due. One launch a step, whatever the number of maps: a point reads the map before the step and
 * writes the one after it, so no thread waits for another. The CPU's chain of operations, so its bits. */
#include "core/cuda.cuh"
#include "core/philox.h"
#include "map/umap_step.h"

enum { THREADS = 128, BATCH = 30, MOST = SPOT_UMAP_MOST_DIM };

typedef struct { spot_umap_row r; double wanted; } rows_problem;
typedef spot_batch<rows_problem, BATCH> rows_batch;

/* grid (ceil(rows / 128), problems) */
static __global__ void __launch_bounds__(THREADS) strengths_kernel(const __grid_constant__ rows_batch all)
{
    const rows_problem *p = &all.of[blockIdx.y];
    const int i = blockIdx.x * THREADS + threadIdx.x;

    if (i < p->r.near.rows) spot_umap_row_strengths(&p->r, i, p->wanted);
}

static spot_status strengths_cuda(spot_ctx *c, int problems, const spot_umap_row *r)
{
    const int rows = SPOT_MOST(problems, r, near.rows);

    for (int p = 0; p < problems; p++)
        if (r[p].near.rows)
            SPOT_TRY(spot_cuda_needs_all(c, "umap.strengths", { { r[p].near.v, "near" }, { r[p].p, "p" }, { r[p].rho, "rho" },
                                         { r[p].sigma, "sigma" } }));
    if (!rows) return SPOT_OK;
    const auto fill = [=](rows_problem *one, int p) {
        *one = { r[p], spot_philox_log(r[p].near.cols + 1) / spot_philox_log(2) };
    };
    return spot_cuda_fill_batches<rows_batch>(problems, fill, [=](auto &all, int count) {
        SPOT_LAUNCH(strengths_kernel, dim3(spot_blocks(rows, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "umap.strengths of %d problems, at most %d rows", count, rows);
    });
}

typedef spot_batch<spot_umap_layout, BATCH> layouts;

/* y goes along its line to point j of `from`, by the force of an edge or of a negative. */
template <int DIM> static __device__ void move_point(const spot_umap_layout *u, int dim, float *y, const float *from, int j,
                                                     float rate, bool negative)
{
    float apart[DIM], d2 = 0, force;

    for (int k = 0; k < dim; k++) {
        apart[k] = y[k] - from[(size_t)k * u->n + j];
        d2 = fmaf(apart[k], apart[k], d2);
    }
    force = negative ? spot_umap_push(d2, u->a, u->b) : spot_umap_pull(d2, u->a, u->b);
    for (int k = 0; k < dim; k++) y[k] = fmaf(rate, spot_umap_clip(force * apart[k]), y[k]);
}

/* grid (ceil(largest n / 128), problems). DIM is dim, or its bound. */
template <int DIM> static __global__ void __launch_bounds__(THREADS) step_kernel(const __grid_constant__ layouts all, int step)
{
    const spot_umap_layout *u = &all.of[blockIdx.y];
    const int at = blockIdx.x * THREADS + threadIdx.x, dim = DIM < MOST ? DIM : u->dim;

    if (at >= u->n || step >= u->steps) return;
    const float *from = u->y[step % 2];
    const float rate = spot_umap_rate(u, step);
    float *to = u->y[(step + 1) % 2], y[DIM];
    const int i = u->order[at], last = u->start[i + 1];
    uint32_t block = spot_umap_draw(u, i);

    for (int k = 0; k < dim; k++) y[k] = from[(size_t)k * u->n + i];
    for (int e = u->start[i]; e < last; e++) {
        uint32_t word[4];

        if (!spot_umap_due(u->weight[e], u->scale, step)) continue;
        move_point<DIM>(u, dim, y, from, u->to[e], rate, false);
        move_point<DIM>(u, dim, y, from, u->to[e], rate, false);
        for (int s = 0; s < u->negatives; s++) {
            if (s % 4 == 0) {
                uint32_t counter[4] = { block++, (uint32_t)step, u->ec, SPOT_RNG_UMAP_DRAW };
                spot_philox4x32_10(word, counter, u->seed);
            }
            int away = spot_umap_random_point(word[s % 4], u->n);
            if (away != i) move_point<DIM>(u, dim, y, from, away, rate, true);
        }
    }
    for (int k = 0; k < dim; k++) to[(size_t)k * u->n + i] = y[k];
}

/* All steps of a launch's problems, which have the same `dim`. */
static spot_status run_steps(spot_ctx *c, const layouts *all, int count, int dim, int largest, int first, int steps)
{
    dim3 grid(spot_blocks(largest, THREADS), count);
    cudaStream_t stream = spot_cuda_stream(c);

    for (int step = first; step < first + steps; step++) {
        switch (dim) {
        case 1:  SPOT_LAUNCH(step_kernel<1>, grid, THREADS, 0, stream, *all, step); break;
        case 2:  SPOT_LAUNCH(step_kernel<2>, grid, THREADS, 0, stream, *all, step); break;
        case 3:  SPOT_LAUNCH(step_kernel<3>, grid, THREADS, 0, stream, *all, step); break;
        default: SPOT_LAUNCH(step_kernel<MOST>, grid, THREADS, 0, stream, *all, step);
        }
        SPOT_TRY(spot_cuda_launched(c, "umap.advance: step %d of %d maps, at most %d points to %d", step, count, largest, dim));
    }
    return SPOT_OK;
}

static spot_status advance_cuda(spot_ctx *c, int problems, const spot_umap_layout *u, int first, int steps)
{
    for (int p = 0; p < problems;) {
        layouts all;
        int count = 0, dim = u[p].dim, largest = 0;

        for (; p < problems && count < BATCH && u[p].dim == dim; p++) {
            all.of[count++] = u[p];
            SPOT_TRY(spot_cuda_needs_all(c, "umap.advance", { { u[p].start, "start" }, { u[p].to, "to" },
                                         { u[p].weight, "weight" }, { u[p].order, "order" }, { u[p].y[0], "y" },
                                         { u[p].y[1], "y" } }));
            largest = max(largest, u[p].n);
        }
        SPOT_TRY(run_steps(c, &all, count, dim, largest, first, steps));
    }
    return SPOT_OK;
}

extern const spot_umap_ops spot_umap_cuda = { .strengths = strengths_cuda, .advance = advance_cuda };
