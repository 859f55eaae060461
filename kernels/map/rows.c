/* rows.c - rows for the next op on the CPU: a thread owns a row, or a column's sum. */
#include "map/rows_step.h"

static spot_status pick_cpu(spot_ctx *c, int problems, const spot_rows_pick_problem *p)
{
    for (int q = 0; q < problems; q++) {
#pragma omp parallel for num_threads(c->threads) schedule(static)
        for (int i = 0; i < p[q].n; i++)
            for (int j = 0; j < p[q].d; j++) spot_rows_pick_entry(&p[q], (size_t)i, (size_t)j);
    }
    return SPOT_OK;
}

static spot_status prepare_cpu(spot_ctx *c, int problems, const spot_rows_prepare_problem *p)
{
    for (int q = 0; q < problems; q++) {
#pragma omp parallel for num_threads(c->threads) schedule(static)
        for (int i = 0; i < p[q].n; i++) spot_rows_prepare_row(&p[q], (size_t)i);
    }
    return SPOT_OK;
}

static spot_status squares_cpu(spot_ctx *c, int problems, const spot_rows_squares_problem *p)
{
    for (int q = 0; q < problems; q++) {
#pragma omp parallel for num_threads(c->threads) schedule(static)
        for (int j = 0; j < p[q].d; j++) spot_rows_square_column(&p[q], j);
    }
    return SPOT_OK;
}

static spot_status fade_cpu(spot_ctx *c, int problems, const spot_rows_fade_problem *p)
{
    (void)c;
    for (int q = 0; q < problems; q++)
        for (int i = 0; i < p[q].n; i++) spot_rows_fade_entry(&p[q], (size_t)i);
    return SPOT_OK;
}

static spot_status best_cpu(spot_ctx *c, int problems, const spot_rows_best_problem *p)
{
    for (int q = 0; q < problems; q++) {
#pragma omp parallel for num_threads(c->threads) schedule(static)
        for (int i = 0; i < p[q].n; i++) spot_rows_best_of(&p[q], (size_t)i);
    }
    return SPOT_OK;
}

const spot_rows_ops spot_rows_cpu = { .pick = pick_cpu, .prepare = prepare_cpu, .squares = squares_cpu, .fade = fade_cpu,
                                      .best = best_cpu };

spot_status spot_rows_pick(spot_ctx *c, int problems, const spot_rows_pick_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 0 || p[q].d < 0)
            return spot_fail(c, SPOT_INVALID, "{rows.pick_sizes} rows.pick, problem %d: (%d,%d)", q, p[q].n, p[q].d);
    SPOT_DISPATCH(c, rows, pick, problems, p);
}

spot_status spot_rows_prepare(spot_ctx *c, int problems, const spot_rows_prepare_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1 || (p[q].head && !(p[q].length > 0)))
            return spot_fail(c, SPOT_INVALID, "{rows.prepare_sizes} rows.prepare, problem %d: (%d,%d), head of length %g", q,
                             p[q].n, p[q].d, p[q].length);
    SPOT_DISPATCH(c, rows, prepare, problems, p);
}

spot_status spot_rows_squares(spot_ctx *c, int problems, const spot_rows_squares_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1)
            return spot_fail(c, SPOT_INVALID, "{rows.squares_sizes} rows.squares, problem %d: (%d,%d)", q, p[q].n, p[q].d);
    SPOT_DISPATCH(c, rows, squares, problems, p);
}

spot_status spot_rows_fade(spot_ctx *c, int problems, const spot_rows_fade_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || !(p[q].most > 0))
            return spot_fail(c, SPOT_INVALID, "{rows.fade_sizes} rows.fade, problem %d: %d weights of at most %g", q, p[q].n,
                             p[q].most);
    SPOT_DISPATCH(c, rows, fade, problems, p);
}

spot_status spot_rows_best(spot_ctx *c, int problems, const spot_rows_best_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].len < 1)
            return spot_fail(c, SPOT_INVALID, "{rows.best_sizes} rows.best, problem %d: %d of %d choices", q, p[q].n, p[q].len);
    SPOT_DISPATCH(c, rows, best, problems, p);
}
