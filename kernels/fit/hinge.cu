/* hinge.cu - a warp owns a problem and a lane a chain of its products; all lanes compute the scalars, which are equal. */
#include "core/cuda.cuh"
#include "core/sums.cuh"
#include "fit/hinge_step.h"

enum { WARP = SPOT_HINGE_CHAINS, BATCH = 24 };

typedef spot_batch<spot_hinge_problem, BATCH> batch;

/* f of row r: each lane has its own columns of w. */
static __device__ double value_of(const spot_hinge_problem *p, int r, int lane, double constant)
{
    const float *x = p->x + (size_t)p->row[r] * p->d;
    double sum = 0;

    for (int j = lane; j < p->d; j += WARP) sum = fma((double)x[j], p->w[j], sum);
    return constant + spot_warp_sum(sum);
}

static __device__ void begin_problem(const spot_hinge_problem *p, int lane)
{
    for (int j = lane; j < p->d; j += WARP) p->w[j] = 0;
    for (int r = 0; r < p->rows; r++) {
        const float *x = p->x + (size_t)p->row[r] * p->d;
        double sum = 0;
        for (int j = lane; j < p->d; j += WARP) sum = fma((double)x[j], (double)x[j], sum);
        sum = spot_warp_sum(sum);
        if (lane) continue;
        p->square[r] = 1 + sum;
        p->dual[r] = 0;
    }
    __syncwarp();
}

static __device__ double pass_over_rows(const spot_hinge_problem *p, int pass, int lane, double *constant)
{
    const spot_hinge_order o = spot_hinge_order_of(p, pass);
    double worst = 0;
    uint32_t r = o.at;

    for (int i = 0; i < p->rows; i++, r = spot_hinge_next(r, o.stride, (uint32_t)p->rows)) {
        const float *x = p->x + (size_t)p->row[r] * p->d;
        const double old = p->dual[r], bound = spot_hinge_bound(p, (int)r);
        const double a = spot_hinge_move(&worst, old, value_of(p, (int)r, lane, *constant), bound, p->square[r]);
        const double by = bound > 0 ? a - old : old - a;

        if (by == 0) continue;            /* in all lanes */
        __syncwarp();                     /* all have read the old multiplier */
        if (!lane) p->dual[r] = a;
        *constant += by;
        for (int j = lane; j < p->d; j += WARP) p->w[j] = fma(by, (double)x[j], p->w[j]);
        __syncwarp();
    }
    return worst;
}

static __device__ void find_gap(const spot_hinge_problem *p, spot_hinge_end *end, int lane, double constant)
{
    double half = 0, loss = 0, sum = 0;

    for (int j = lane; j < p->d; j += WARP) half = fma(p->w[j], p->w[j], half);
    half = (spot_warp_sum(half) + constant * constant) / 2;
    for (int r = 0; r < p->rows; r++) {
        loss += spot_hinge_loss(value_of(p, r, lane, constant), spot_hinge_bound(p, r));
        sum += p->dual[r];
    }
    end->primal = half + loss;
    end->dual = sum - half;
    end->reached = end->primal - end->dual <= p->tolerance * end->primal;
}

/* grid (problems) */
static __global__ void __launch_bounds__(WARP) fit_kernel(const __grid_constant__ batch all)
{
    const spot_hinge_problem *p = &all.of[blockIdx.x];
    const int lane = threadIdx.x;
    spot_hinge_end end = { 0, 0, 0, 0 };
    double limit = SPOT_HINGE_FIRST, constant = 0;

    begin_problem(p, lane);
    while (end.passes < p->most && !end.reached) {
        double worst = pass_over_rows(p, end.passes, lane, &constant);
        if (++end.passes < p->most && worst > limit) continue;
        find_gap(p, &end, lane, constant);
        limit = fmin(limit, worst) / 4;
        if (worst == 0) end.reached = 1;
    }
    if (lane) return;
    p->w[p->d] = constant;
    *p->end = end;
}

static spot_status fit_cuda(spot_ctx *c, int problems, const spot_hinge_problem *p)
{
    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "hinge.fit", { { p[q].x, "x" }, { p[q].row, "row" }, { p[q].bound, "bound" },
                                     { p[q].w, "w" }, { p[q].dual, "dual" }, { p[q].square, "square" }, { p[q].end, "end" } }));
    return spot_cuda_batches<batch>(problems, p, [=](auto &all, int some) {
        SPOT_LAUNCH(fit_kernel, some, WARP, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "hinge.fit of %d problems", some);
    });
}

extern const spot_hinge_ops spot_hinge_cuda = { .fit = fit_cuda };
