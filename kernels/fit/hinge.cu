/* hinge.cu - a warp owns a problem and a lane a chain of its products; all lanes compute the scalars, which are equal.
 * The problems lie in device memory, so that one launch takes all of a call. */
#include <stdlib.h>

#include "core/cuda.cuh"
#include "core/sums.cuh"
#include "fit/hinge_step.h"

enum { WARP = SPOT_HINGE_CHAINS, ROWS = 1 << 20 };     /* rows between two looks at a stop request: about a second */

static __device__ bool is_over(const spot_hinge_problem *p, const spot_hinge_end *end)
{
    return end->passes >= p->most || end->reached;
}

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

/* Descends until the machine has ended or has visited ROWS rows. grid (problems) */
static __global__ void __launch_bounds__(WARP) fit_kernel(spot_hinge_space s)
{
    spot_hinge_machine *m = &s.machine[blockIdx.x];
    const spot_hinge_problem own = m->p, *p = &own;       /* in registers */
    const int lane = threadIdx.x, last = m->end.passes + max(1, ROWS / own.rows);
    spot_hinge_end end = m->end;
    double limit = m->limit, constant = m->constant;

    if (is_over(p, &end)) return;
    if (!end.passes) begin_problem(p, lane);
    while (end.passes < last && !is_over(p, &end)) {
        double worst = pass_over_rows(p, end.passes, lane, &constant);
        if (++end.passes < p->most && worst > limit) continue;
        find_gap(p, &end, lane, constant);
        limit = fmin(limit, worst) / 4;
        if (worst == 0) end.reached = 1;
    }
    __syncwarp();                         /* all have read the machine */
    if (lane) return;
    m->end = end, m->limit = limit, m->constant = constant;
    p->w[p->d] = constant;
    *p->end = end;
    if (!is_over(p, &end)) atomicAdd(s.going, 1);
}

/* Checks for a stop request between launches. */
static spot_status run_machines(spot_ctx *c, const spot_hinge_space *s, int problems)
{
    cudaStream_t stream = spot_cuda_stream(c);
    int going;

    do {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(s->going, 0, sizeof going, stream), "hinge.fit: its counter"));
        SPOT_LAUNCH(fit_kernel, problems, WARP, 0, stream, *s);
        SPOT_TRY(spot_cuda_launched(c, "hinge.fit of %d problems", problems));
        SPOT_TRY(spot_cuda_memory(c)->copy(c, &going, s->going, sizeof going));
    } while (going);
    return SPOT_OK;
}

static spot_status start_machines(spot_ctx *c, const spot_hinge_space *s, int problems, const spot_hinge_problem *p)
{
    const size_t bytes = problems * sizeof *s->machine;
    spot_hinge_machine *machine = (spot_hinge_machine *)malloc(bytes);
    spot_status how;

    if (!machine) return spot_fail(c, SPOT_NOMEM, "no memory for %d machines", problems);
    for (int q = 0; q < problems; q++) machine[q] = { p[q], SPOT_HINGE_FIRST, 0, { 0, 0, 0, 0 } };
    how = spot_cuda_memory(c)->copy(c, s->machine, machine, bytes);
    free(machine);
    return how;
}

static spot_status fit_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_hinge_problem *p)
{
    const size_t mark = scratch->used;
    spot_hinge_space s;
    spot_status how;

    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "hinge.fit", { { p[q].x, "x" }, { p[q].row, "row" }, { p[q].bound, "bound" },
                                     { p[q].w, "w" }, { p[q].dual, "dual" }, { p[q].square, "square" }, { p[q].end, "end" } }));
    SPOT_TRY(spot_hinge_space_take(c, scratch, &s, problems));
    how = spot_cuda_needs(c, s.machine, "hinge.fit: scratch");
    if (how == SPOT_OK) how = start_machines(c, &s, problems, p);
    if (how == SPOT_OK) how = run_machines(c, &s, problems);
    scratch->used = mark;
    return how;
}

extern const spot_hinge_ops spot_hinge_cuda = { .fit = fit_cuda };
