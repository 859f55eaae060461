/* spotlight_cuda.cuh - functions that CUDA's spherical and full spotlights share. */
#ifndef SPOTTER_SPOTLIGHT_CUDA_CUH
#define SPOTTER_SPOTLIGHT_CUDA_CUH

#include "core/vmath64.cuh"
#include "core/sums.cuh"
#include "fit/spotlight_scratch.h"

enum { SPOTLIGHT_THREADS = 256, SPOTLIGHT_POLL = 32 };   /* steps between two looks at the stop flag */

typedef spot_spotlight_device problem;

static __device__ inline void spot_spotlight_weight(int kernel, double *k, double *u, double distance)
{
    double left = 1.0 - distance;

    *k = kernel == SPOT_KERNEL_GAUSSIAN ? spot_exp64(-0.5 * distance) : left > 0.0 ? left : 0.0;
    *u = kernel == SPOT_KERNEL_GAUSSIAN ? 0.5 * *k : left >= 0.0;
}

/* A tile's SUMS (spotlight_step.h), one thread each: s[e] = sum of a[r] b[r]. */
static __device__ inline void spot_spotlight_numbers(double *s, const double *k, const double *u, const double *ul,
                                                     const double *far, const double *loss, int rows)
{
    const int e = threadIdx.x;
    const double *a = e <= SUM_KL ? k : e == SUM_U || e == SUM_UD ? u : ul;
    double sum = 0;

    if (e >= SPOTLIGHT_SUMS) return;
    for (int r = 0; r < rows && e <= SUM_ULD; r++)
        sum = fma(a[r], e == SUM_KL ? loss[r] : e == SUM_UD || e == SUM_ULD ? far[r] : 1.0, sum);
    s[e] = sum;
}

static __device__ inline double spot_spotlight_total(const double *partial, int tiles, int stride)
{
    double sum = 0;

    for (int t = 0; t < tiles; t++) sum += partial[(size_t)t * stride];
    return sum;
}

static __device__ inline void spot_spotlight_trace(const problem *l, int t, double objective, double total)
{
    if (!l->p.trace) return;
    l->p.trace[3 * t] = objective;
    l->p.trace[3 * t + 1] = total;
    l->p.trace[3 * t + 2] = l->state.lr;
}

static inline dim3 spot_spotlight_grid(const spot_spotlight_space *s, int problems)
{
    return dim3((unsigned)((s->rows + SPOTLIGHT_TILE - 1) / SPOTLIGHT_TILE), (unsigned)problems);
}

/* Takes the scratch, clears the moments and copies the problems' states to the device. */
static inline spot_status spot_spotlight_set_up(spot_ctx *c, spot_arena *scratch, spot_spotlight_space *s, int problems,
                                                const spot_spotlight_problem *p, const spot_spotlight_config *cfg, int compat)
{
    const bool full = cfg->precision == SPOT_PRECISION_FULL;
    int n, d;

    spot_spotlight_sizes(&n, &d, problems, p);
    memset(s, 0, sizeof *s);
    SPOT_TRY(spot_spotlight_space_take(c, scratch, s, problems, n, d, full));
    SPOT_TRY(spot_cuda_needs(c, s->problem, "spotlight: scratch"));
    cudaError_t e = cudaMemsetAsync(s->first.moment, 0, problems * s->moments * sizeof(double), spot_cuda_stream(c));
    SPOT_TRY(spot_cuda_check(c, e, "spotlight: its moments"));
    for (int q = 0; q < problems; q++) {
        problem l = s->first;
        SPOT_TRY(spot_cuda_needs_all(c, "spotlight", { { p[q].x, "x" }, { p[q].loss, "loss" }, { p[q].weight, "weight" },
                                     { p[q].mean, "mean" }, { p[q].log_precision, "log_precision" } }));
        if (full) SPOT_TRY(spot_cuda_needs(c, p[q].axes, "spotlight: axes"));
        if (p[q].trace) SPOT_TRY(spot_cuda_needs(c, p[q].trace, "spotlight: trace"));
        l.p = p[q];
        l.state = spot_spotlight_begin(p[q].n, cfg, compat);
        l.tiles = (p[q].n + SPOTLIGHT_TILE - 1) / SPOTLIGHT_TILE;
        l.square += q * s->rows;
        l.partial += q * s->partials;
        l.moment += q * s->moments;
        if (full) {
            l.k += q * s->rows, l.c += q * s->rows, l.sum += q * s->columns;
            l.y += q * s->points, l.z += q * s->points;
            l.m += q * s->matrix, l.gram += q * s->matrix, l.turned += q * s->matrix;
        }
        SPOT_TRY(spot_cuda_memory(c)->copy(c, &s->problem[q], &l, sizeof l));
    }
    return SPOT_OK;
}

spot_status spot_spotlight_full_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                                     const spot_spotlight_config *cfg, int compat);

#endif
