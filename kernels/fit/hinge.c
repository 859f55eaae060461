/* hinge.c - support vector machines on the CPU: a thread owns a problem. */
#include "fit/hinge.h"

#include <string.h>

#include "fit/hinge_step.h"

enum { CHAINS = SPOT_HINGE_CHAINS };

static double fold(double sum[CHAINS])
{
    for (int by = CHAINS / 2; by; by /= 2)
        for (int j = 0; j < by; j++) sum[j] += sum[j + by];
    return sum[0];
}

/* sum_j x_j w_j */
static double row_product(const float *x, const double *w, int d)
{
    double sum[CHAINS] = { 0 };
    int j0 = 0;

    for (; j0 + CHAINS <= d; j0 += CHAINS) {
#pragma omp simd
        for (int j = 0; j < CHAINS; j++) sum[j] = fma((double)x[j0 + j], w[j0 + j], sum[j]);
    }
    for (int j = j0; j < d; j++) sum[j - j0] = fma((double)x[j], w[j], sum[j - j0]);
    return fold(sum);
}

static double square_of_row(const float *x, int d)
{
    double sum[CHAINS] = { 0 };

    for (int j = 0; j < d; j++) sum[j % CHAINS] = fma((double)x[j], (double)x[j], sum[j % CHAINS]);
    return fold(sum);
}

static double square_of_weights(const double *w, int d)
{
    double sum[CHAINS] = { 0 };

    for (int j = 0; j < d; j++) sum[j % CHAINS] = fma(w[j], w[j], sum[j % CHAINS]);
    return fold(sum) + w[d] * w[d];
}

static void begin_problem(const spot_hinge_problem *p)
{
    memset(p->w, 0, ((size_t)p->d + 1) * sizeof *p->w);
    memset(p->dual, 0, (size_t)p->rows * sizeof *p->dual);
    for (int r = 0; r < p->rows; r++) p->square[r] = 1 + square_of_row(p->x + (size_t)p->row[r] * p->d, p->d);
    *p->end = (spot_hinge_end){ 0 };
}

/* Visits all rows; returns the worst violation. */
static double pass_over_rows(const spot_hinge_problem *p)
{
    const spot_hinge_order o = spot_hinge_order_of(p, p->end->passes);
    double worst = 0;
    uint32_t r = o.at;

    for (int i = 0; i < p->rows; i++, r = spot_hinge_next(r, o.stride, (uint32_t)p->rows)) {
        const float *x = p->x + (size_t)p->row[r] * p->d;
        double f = p->w[p->d] + row_product(x, p->w, p->d);
        double bound = spot_hinge_bound(p, (int)r), a = spot_hinge_move(&worst, p->dual[r], f, bound, p->square[r]);
        double by = bound > 0 ? a - p->dual[r] : p->dual[r] - a;
        if (by == 0) continue;
        p->dual[r] = a;
        p->w[p->d] += by;
#pragma omp simd
        for (int j = 0; j < p->d; j++) p->w[j] = fma(by, (double)x[j], p->w[j]);
    }
    return worst;
}

static void find_gap(const spot_hinge_problem *p)
{
    double half = square_of_weights(p->w, p->d) / 2, loss = 0, sum = 0;

    for (int r = 0; r < p->rows; r++) {
        double f = p->w[p->d] + row_product(p->x + (size_t)p->row[r] * p->d, p->w, p->d);
        loss += spot_hinge_loss(f, spot_hinge_bound(p, r));
        sum += p->dual[r];
    }
    p->end->primal = half + loss;
    p->end->dual = sum - half;
    p->end->reached = p->end->primal - p->end->dual <= p->tolerance * p->end->primal;
}

static void fit_problem(spot_ctx *c, const spot_hinge_problem *p)
{
    double limit = SPOT_HINGE_FIRST;

    begin_problem(p);
    while (p->end->passes < p->most && !p->end->reached && spot_check_stop(c) == SPOT_OK) {
        double worst = pass_over_rows(p);
        if (++p->end->passes < p->most && worst > limit) continue;
        find_gap(p);
        limit = fmin(limit, worst) / 4;
        if (worst == 0) p->end->reached = 1;             /* optimal up to rounding */
    }
}

static spot_status fit_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_hinge_problem *p)
{
    int stopped = 0;

    (void)scratch;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int q = 0; q < problems; q++) {
        fit_problem(c, &p[q]);
        if (spot_check_stop(c) != SPOT_OK)
#pragma omp atomic write
            stopped = 1;
    }
    return stopped ? SPOT_STOPPED : SPOT_OK;
}

const spot_hinge_ops spot_hinge_cpu = { .fit = fit_cpu };

size_t spot_hinge_scratch(const spot_ctx *c, int problems)
{
    spot_arena a = spot_arena_counting();
    spot_ctx quiet = { 0 };
    spot_hinge_space s;

    if (c->device) spot_hinge_space_take(&quiet, &a, &s, problems);
    return a.peak;
}

spot_status spot_hinge_fit(spot_ctx *c, spot_arena *scratch, int problems, const spot_hinge_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1 || p[q].rows < 1 || p[q].most < 1 || !(p[q].tolerance >= 0) || !(p[q].cost > 0))
            return spot_fail(c, SPOT_INVALID, "{hinge.sizes} hinge.fit, problem %d: %d rows of (%d,%d), %d passes, tolerance "
                             "%g, cost %g", q, p[q].rows, p[q].n, p[q].d, p[q].most, p[q].tolerance, p[q].cost);
    if (problems < 1) return SPOT_OK;
    SPOT_DISPATCH(c, hinge, fit, scratch, problems, p);
}
