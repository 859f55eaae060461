/* spotlight_fit.c - spotlights of spherical precision on the CPU, and the checked entry. With enough problems each has a
 * thread; otherwise all threads share the tiles of one. */
#include "fit/spotlight_fit.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"
#include "core/problems.h"
#include "core/team.h"
#include "core/vmath64.h"
#include "fit/spotlight_cpu.h"
#include "fit/spotlight_scratch.h"

enum { TILE = SPOTLIGHT_TILE, WIDE = SPOT_SPOTLIGHT_LANES, PARTS = WIDE / LANES, BLOCK = 16 };   /* BLOCK rows fit in L1 */

/* The sum of 32 lanes, folded by halves. */
VD_INLINE double fold_lanes(vd lane[PARTS])
{
    for (int half = PARTS / 2; half; half /= 2)
        for (int q = 0; q < half; q++) lane[q] += lane[q + half];
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lane[0][l] += lane[0][l + half];
    return lane[0][0];
}

/* The product of row x with the mean; without x the mean's squared length, without a mean the row's. */
VD_INLINE double dot_product(const float *x, const double *mean, int d)
{
    vd sum[PARTS] = { { 0 } };

    for (int j = 0; j < d; j += WIDE)
        for (int q = 0; q < PARTS; q++) {
            int at = j + q * LANES;
            vd a = x ? vd_wide(x + at) : *(const vd *)(mean + at), b = mean ? *(const vd *)(mean + at) : a;
            sum[q] = vd_fma(a, b, sum[q]);
        }
    return fold_lanes(sum);
}

static double square_of_row(const float *x, int d) { return dot_product(x, NULL, d); }
static double square_of_mean(const double *mean, int d) { return dot_product(NULL, mean, d); }

/* The state of a problem. Its sums do not depend on which thread has a tile. */
typedef struct {
    const spot_spotlight_problem *p;
    int     kernel, tiles;
    double *square;          /* (n): |x|^2 */
    double *partial;         /* (tiles, 2 d + SUMS): each tile's sum u x, sum u l x and SUMS */
    double *first, *second;  /* (d): Adam's moments */
    int     stopped;
} spotlight_fit_work;

/* Rows of one block: D into far, its padding 0. */
VD_INLINE void block_distances(const spotlight_fit_work *w, double *far, int i0, int rows, double precision, double mean2)
{
    const spot_spotlight_problem *p = w->p;

    for (int r = 0; r < BLOCK; r++) far[r] = 0;
    for (int r = 0; r < rows; r++) {
        double dot = dot_product(p->x + (size_t)(i0 + r) * p->d, p->mean, p->d);
        double square = fma(-2, dot, w->square[i0 + r] + mean2);
        far[r] = spot_spotlight_distance(square, precision);
    }
}

/* sum u x and sum u l x of a block into a tile's. */
VD_INLINE void add_rows(double *sum, const float *x, int d, const double *u, const double *ul, int rows)
{
    for (int j = 0; j < d; j += WIDE) {
        vd a[PARTS], b[PARTS];
        for (int q = 0; q < PARTS; q++) {
            a[q] = *(vd *)(sum + j + q * LANES);
            b[q] = *(vd *)(sum + d + j + q * LANES);
        }
        for (int r = 0; r < rows; r++)
            for (int q = 0; q < PARTS; q++) {
                vd v = vd_wide(x + (size_t)r * d + j + q * LANES);
                a[q] = vd_fma(vd_all(u[r]), v, a[q]);
                b[q] = vd_fma(vd_all(ul[r]), v, b[q]);
            }
        for (int q = 0; q < PARTS; q++) {
            *(vd *)(sum + j + q * LANES) = a[q];
            *(vd *)(sum + d + j + q * LANES) = b[q];
        }
    }
}

static void sum_tile(const spotlight_fit_work *w, int tile, double precision, double mean2)
{
    const spot_spotlight_problem *p = w->p;
    double *sum = w->partial + (size_t)tile * (2 * p->d + SPOTLIGHT_SUMS), *s = sum + 2 * p->d;
    int end = (tile + 1) * TILE < p->n ? (tile + 1) * TILE : p->n;

    memset(sum, 0, (2 * (size_t)p->d + SPOTLIGHT_SUMS) * sizeof *sum);
    for (int i0 = tile * TILE; i0 < end; i0 += BLOCK) {
        _Alignas(64) double far[BLOCK], k[BLOCK], u[BLOCK], ul[BLOCK];
        int rows = end - i0 < BLOCK ? end - i0 : BLOCK;
        block_distances(w, far, i0, rows, precision, mean2);
        spot_spotlight_weights(w->kernel, k, u, far, BLOCK);
        for (int r = 0; r < rows; r++) {
            double l = p->loss[i0 + r];
            ul[r] = u[r] * l;
            s[SUM_K] += k[r];
            s[SUM_KL] = fma(k[r], l, s[SUM_KL]);
            s[SUM_U] += u[r];
            s[SUM_UL] += ul[r];
            s[SUM_UD] = fma(u[r], far[r], s[SUM_UD]);
            s[SUM_ULD] = fma(ul[r], far[r], s[SUM_ULD]);
        }
        add_rows(sum, p->x + (size_t)i0 * p->d, p->d, u, ul, rows);
    }
}

/* Columns j0 .. j0+31: their sums over the tiles, and Adam's step. */
static void step_columns(const spotlight_fit_work *w, int j0, const double *s, const spot_spotlight_pull *g,
                         const spot_spotlight_state *state, double precision)
{
    const spot_spotlight_problem *p = w->p;
    double ux[WIDE] = { 0 }, ulx[WIDE] = { 0 };

    for (int t = 0; t < w->tiles; t++) {
        const double *from = w->partial + (size_t)t * (2 * p->d + SPOTLIGHT_SUMS) + j0;
        for (int j = 0; j < WIDE; j++) {
            ux[j] += from[j];
            ulx[j] += from[p->d + j];
        }
    }
    for (int j = 0; j < WIDE; j++) {
        double mean = p->mean[j0 + j], one = ux[j] - mean * s[SUM_U], two = ulx[j] - mean * s[SUM_UL];
        double rise = 2 * precision * (g->by_loss * (two - g->mean_loss * one) + g->push * one);
        p->mean[j0 + j] = spot_spotlight_adam(state, mean, rise, &w->first[j0 + j], &w->second[j0 + j]);
    }
}

static void sum_tiles(double s[SPOTLIGHT_SUMS], const spotlight_fit_work *w)
{
    for (int e = 0; e < SPOTLIGHT_SUMS; e++) s[e] = 0;
    for (int t = 0; t < w->tiles; t++)
        for (int e = 0; e < SPOTLIGHT_SUMS; e++)
            s[e] += w->partial[(size_t)t * (2 * w->p->d + SPOTLIGHT_SUMS) + 2 * w->p->d + e];
}

static double precision_of(double log_precision) { return vd_exp(vd_all(fmin(log_precision, 700)))[0]; }

static void weigh_tile(const spotlight_fit_work *w, int tile, double precision, double mean2)
{
    int end = (tile + 1) * TILE < w->p->n ? (tile + 1) * TILE : w->p->n;

    for (int i0 = tile * TILE; i0 < end; i0 += BLOCK) {
        _Alignas(64) double far[BLOCK], k[BLOCK], u[BLOCK];
        int rows = end - i0 < BLOCK ? end - i0 : BLOCK;
        block_distances(w, far, i0, rows, precision, mean2);
        spot_spotlight_weights(w->kernel, k, u, far, BLOCK);
        memcpy(w->p->weight + i0, k, (size_t)rows * sizeof *k);
    }
}

/* Weights of all rows, by the threads of the team that calls it. */
static void weigh_rows(const spotlight_fit_work *w, double log_precision)
{
    double precision = precision_of(log_precision), mean2 = square_of_mean(w->p->mean, w->p->d);

#pragma omp for schedule(static)
    for (int tile = 0; tile < w->tiles; tile++) weigh_tile(w, tile, precision, mean2);
}

static int tiles_of(const spot_spotlight_problem *p) { return (p->n + TILE - 1) / TILE; }

static void begin_problem(spotlight_fit_work *w, const spot_spotlight_problem *p, int kernel)
{
    w->p = p;
    w->kernel = kernel;
    w->tiles = tiles_of(p);
    w->stopped = 0;
    memset(w->first, 0, (size_t)p->d * sizeof *w->first);
    memset(w->second, 0, (size_t)p->d * sizeof *w->second);
}

/* All steps of one problem by a team. Each thread computes its own, equal copy of state and precision. */
static spot_status fit_one(spot_ctx *c, void *lane, void *problem, const void *setup, int threads)
{
    const spot_spotlight_problem *p = problem;
    const spot_spotlight_config *cfg = ((const spot_spotlight_setup *)setup)->cfg;
    int compat = ((const spot_spotlight_setup *)setup)->compat, steps = spot_spotlight_steps(cfg, compat);
    spotlight_fit_work *w = lane;

    begin_problem(w, p, cfg->kernel);
#pragma omp parallel num_threads(threads)
    {
        spot_spotlight_state state = spot_spotlight_begin(p->n, cfg, compat);
        double a = *p->log_precision, first = 0, second = 0, precision, mean2;
        int lost = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < p->n; i++) w->square[i] = square_of_row(p->x + (size_t)i * p->d, p->d);
        for (int t = 0; t < steps; t++) {
            double s[SPOTLIGHT_SUMS];
            spot_spotlight_pull g;
            precision = precision_of(a);
            mean2 = square_of_mean(p->mean, p->d);
#pragma omp master
            if (spot_check_stop(c) != SPOT_OK) w->stopped = 1;
#pragma omp for schedule(static)
            for (int tile = 0; tile < w->tiles; tile++) sum_tile(w, tile, precision, mean2);
            sum_tiles(s, w);
            g = spot_spotlight_pulled(&state, s[SUM_K], s[SUM_KL]);
            lost = g.lost || w->stopped;
            if (lost) break;
#pragma omp for schedule(static)
            for (int j0 = 0; j0 < p->d; j0 += WIDE) step_columns(w, j0, s, &g, &state, precision);
            a = spot_spotlight_adam(&state, a, -(g.by_loss * (s[SUM_ULD] - g.mean_loss * s[SUM_UD]) + g.push * s[SUM_UD]),
                                    &first, &second);
            spot_spotlight_end_step(&state, g.objective);
#pragma omp master
            if (p->trace) memcpy(p->trace + 3 * t, (double[]){ g.objective, s[SUM_K], state.lr }, 3 * sizeof *p->trace);
        }
        weigh_rows(w, a);
#pragma omp master
        {
            *p->log_precision = a;
            if (lost) memset(p->weight, 0, (size_t)p->n * sizeof *p->weight);
        }
    }
    return w->stopped ? SPOT_STOPPED : SPOT_OK;
}

static spot_status take_work(spot_ctx *c, spot_arena *a, void *lane, const void *most, int threads)
{
    const spot_spotlight_problem *p = most;
    spotlight_fit_work *w = lane;

    (void)threads;
    SPOT_TRY(SPOT_TAKE(c, a, w->square, p->n));
    SPOT_TRY(SPOT_TAKE(c, a, w->partial, (size_t)tiles_of(p) * (2 * (size_t)p->d + SPOTLIGHT_SUMS)));
    SPOT_TRY(SPOT_TAKE(c, a, w->first, p->d));
    return SPOT_TAKE(c, a, w->second, p->d);
}

static const spot_job_kind spherical_kind = { sizeof(spotlight_fit_work), sizeof(spot_spotlight_problem), take_work, fit_one };

spot_status spot_spotlight_weigh(spot_ctx *c, spot_arena *scratch, const spot_spotlight_problem *p,
                                 const spot_spotlight_config *cfg)
{
    spotlight_fit_work w = { .p = p, .kernel = cfg->kernel, .tiles = tiles_of(p) };
    size_t mark = scratch->used;

    if (p->n < 1 || p->d < 1 || p->d % WIDE)
        return spot_fail(c, SPOT_INVALID, "spotlight.weigh: (%d,%d); rows, and columns in multiples of %d", p->n, p->d, WIDE);
    if (cfg->precision == SPOT_PRECISION_FULL) return spot_spotlight_full_weigh(c, scratch, p, cfg->kernel);
    SPOT_TRY(SPOT_TAKE(c, scratch, w.square, p->n));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    for (int i = 0; i < p->n; i++) w.square[i] = square_of_row(p->x + (size_t)i * p->d, p->d);
#pragma omp parallel num_threads(c->threads)
    weigh_rows(&w, *p->log_precision);
    return SPOT_OK;
}

static const spot_job_kind *kind_of(const spot_spotlight_config *cfg)
{
    return cfg->precision == SPOT_PRECISION_FULL ? &spot_spotlight_full_kind : &spherical_kind;
}

/* Matrix products of full precision have one thread a problem. */
static int lanes_for(const spot_spotlight_config *cfg, int problems, int threads)
{
    return cfg->precision == SPOT_PRECISION_FULL && problems < threads ? problems : spot_abreast(problems, threads);
}

static spot_status fit_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                           const spot_spotlight_config *cfg, int compat)
{
    const spot_spotlight_problem most = { .n = SPOT_MOST(problems, p, n), .d = SPOT_MOST(problems, p, d) };
    const spot_spotlight_setup setup = { cfg, compat };

    return spot_run_jobs(c, scratch, kind_of(cfg), lanes_for(cfg, problems, c->threads), &most, problems, (void *)p, &setup);
}

const spot_spotlight_ops spot_spotlight_cpu = { .spherical = fit_cpu, .full = fit_cpu };

size_t spot_spotlight_scratch(int problems, int n, int d, const spot_spotlight_config *cfg, int threads)
{
    const spot_spotlight_problem most = { .n = n, .d = d };
    spot_ctx c = { .threads = threads };
    spot_arena a = spot_arena_counting();
    spot_spotlight_space on_device;

    if (threads) spot_run_jobs(&c, &a, kind_of(cfg), lanes_for(cfg, problems, threads), &most, 0, NULL, NULL);
    else         spot_spotlight_space_take(&c, &a, &on_device, problems, n, d, cfg->precision == SPOT_PRECISION_FULL);
    return a.peak;
}

spot_status spot_spotlight_fit(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                               const spot_spotlight_config *cfg, int compat)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1 || p[q].d % WIDE)
            return spot_fail(c, SPOT_INVALID, "{spotlight_fit.sizes} spotlight, problem %d: (%d,%d); rows, and columns in "
                             "multiples of %d", q, p[q].n, p[q].d, WIDE);
    if (problems < 1) return SPOT_OK;
    if (cfg->precision == SPOT_PRECISION_FULL) SPOT_DISPATCH(c, spotlight, full, scratch, problems, p, cfg, compat);
    SPOT_DISPATCH(c, spotlight, spherical, scratch, problems, p, cfg, compat);
}
