/* tsne.c - t-SNE's schedule, for every device, and its steps on the CPU. Lanes run over points j, threads over rows i. A
 * row's sums belong to its thread, so no sum depends on the threads. */
#include "map/tsne.h"

#include <stdlib.h>

#include "core/device.h"
#include "map/tsne_grid.h"
#include "map/tsne_step.h"

enum { LANES = SPOT_TSNE_LANES, ROWS = 4, LOOK_EVERY = 50, EXPLORE = 250, PATIENCE = 300, MANY = 512 };

#define LEAST_GRADIENT 1e-7

int spot_tsne_stride(int n) { return (n + 2 * LANES - 1) / (2 * LANES) * (2 * LANES); }

/* Repulsion and sums of rows i0 .. i0+3. dim is a constant wherever this is inlined, except in the default case. One division
 * serves two pairs, 1/a = b/(ab): division is the slowest part of the loop. */
static inline __attribute__((always_inline)) void repel_rows(const spot_tsne_walk *w, int i0, int dim)
{
    const spot_tsne_problem *t = &w->map;
    int f = spot_tsne_freedom(dim), rows = t->n - i0 < ROWS ? t->n - i0 : ROWS;
    float inverse = 1.0f / (float)f;

    for (int r = 0; r < rows; r++) {
        w->row[i0 + r] = 0;
        for (int k = 0; k < dim; k++) w->repel[(i0 + r) * dim + k] = 0;
    }
    for (int j0 = 0; j0 < t->stride; j0 += SPOT_TSNE_FLUSH) {
        int j1 = j0 + SPOT_TSNE_FLUSH < t->stride ? j0 + SPOT_TSNE_FLUSH : t->stride;
        float z[ROWS][LANES] = { { 0 } }, sum[ROWS][dim][LANES];

        memset(sum, 0, sizeof sum);
        for (int j = j0; j < j1; j += 2 * LANES)
            for (int r = 0; r < ROWS; r++) {
                const float *self = t->y + i0 + (r < rows ? r : 0);
                for (int l = 0; l < LANES; l++) {
                    float a = 1.0f, b = 1.0f;
                    for (int k = 0; k < dim; k++) {
                        const float *y = t->y + (size_t)k * t->stride + j + l;
                        float u = self[(size_t)k * t->stride] - y[0], v = self[(size_t)k * t->stride] - y[LANES];
                        a = fmaf(u * inverse, u, a);
                        b = fmaf(v * inverse, v, b);
                    }
                    float both = 1.0f / (a * b), qa = both * b, qb = both * a;
                    float wa = spot_student(qa, f), wb = spot_student(qb, f);
                    z[r][l] += wa + wb;
                    for (int k = 0; k < dim; k++) {
                        const float *y = t->y + (size_t)k * t->stride + j + l;
                        float u = self[(size_t)k * t->stride] - y[0], v = self[(size_t)k * t->stride] - y[LANES];
                        sum[r][k][l] = fmaf(wa * qa, u, fmaf(wb * qb, v, sum[r][k][l]));
                    }
                }
            }
        for (int r = 0; r < rows; r++) {
            w->row[i0 + r] += spot_fold(z[r]);
            for (int k = 0; k < dim; k++) w->repel[(i0 + r) * dim + k] += spot_fold(sum[r][k]);
        }
    }
}

/* Attraction of row i; with `kl` also its part of sum_j P_ij log(P_ij / Q_ij), without log Z. */
static inline __attribute__((always_inline)) void attract_row(const spot_tsne_walk *w, int i, int dim, int kl)
{
    const spot_tsne_problem *t = &w->map;
    int f = spot_tsne_freedom(dim);
    float inverse = 1.0f / (float)f, sum[dim][LANES], cost[LANES] = { 0 };

    memset(sum, 0, sizeof sum);
    for (int e = t->start[i]; e < t->start[i + 1]; e += LANES)
        for (int l = 0; l < LANES; l++) {
            float a = 1.0f, p = t->p[e + l];
            const float *y = t->y + t->to[e + l];
            for (int k = 0; k < dim; k++) {
                float u = t->y[(size_t)k * t->stride + i] - y[(size_t)k * t->stride];
                a = fmaf(u * inverse, u, a);
            }
            float pull = p / a;
            for (int k = 0; k < dim; k++)
                sum[k][l] = fmaf(pull, t->y[(size_t)k * t->stride + i] - y[(size_t)k * t->stride], sum[k][l]);
            if (kl) cost[l] += p > 0 ? p * (spot_logf(p) + 0.5f * (float)(f + 1) * spot_logf(a)) : 0.0f;
        }
    for (int k = 0; k < dim; k++) w->attract[i * dim + k] = spot_fold(sum[k]);
    if (kl) w->row[t->n + i] = spot_fold(cost);
}

static inline __attribute__((always_inline)) void force_rows(const spot_tsne_walk *w, int i0, int dim, int kl)
{
    if (!w->grid.most) repel_rows(w, i0, dim);
    for (int i = i0; i < i0 + ROWS && i < w->map.n; i++) attract_row(w, i, dim, kl);
}

/* The sum of a tile's rows less `less` each, in the shape of a block of warps: 16, 8, 4, 2 and 1 rows apart, then by 32. */
static double tile_sum(const double *row, int rows, double less)
{
    enum { WARP = 32 };
    double sum = 0;

    for (int r0 = 0; r0 < SPOT_TSNE_ROWS; r0 += WARP) {
        double lane[WARP];
        for (int l = 0; l < WARP; l++) lane[l] = r0 + l < rows ? row[r0 + l] - less : 0;
        for (int half = WARP / 2; half; half /= 2)
            for (int l = 0; l < half; l++) lane[l] += lane[l + half];
        sum += lane[0];
    }
    return sum;
}

/* All forces, and the tiles' Z. Below MANY points a barrier costs more than the second thread brings. */
static void compute_forces(const spot_tsne_walk *w, int threads, int kl)
{
    int n = w->map.n, tiles = spot_tsne_tiles(n);

    if (w->grid.most) spot_tsne_interpolate(w, threads);
#pragma omp parallel for num_threads(n < MANY ? 1 : threads) schedule(dynamic, 8)
    for (int i = 0; i < n; i += ROWS)
        switch (w->map.dim) {
        case 1:  force_rows(w, i, 1, kl); break;
        case 2:  force_rows(w, i, 2, kl); break;
        case 3:  force_rows(w, i, 3, kl); break;
        default: force_rows(w, i, w->map.dim, kl);
        }
    for (int tile = 0, i = 0; tile < tiles; tile++, i += SPOT_TSNE_ROWS) {
        if (!w->grid.most)
            w->partial[tile] = tile_sum(w->row + i, n - i, 1);     /* without the point itself, whose weight is 1 */
        if (kl) w->partial[tiles + tile] = tile_sum(w->row + n + i, n - i, 0);
    }
}

static void move_points(const spot_tsne_walk *w, int first)
{
    int n = w->map.n, tiles = spot_tsne_tiles(n);
    double z = spot_tsne_z(w->partial, tiles);

    for (int tile = 0, i0 = 0; tile < tiles; tile++, i0 += SPOT_TSNE_ROWS) {
        double norm[SPOT_TSNE_ROWS];
        int rows = n - i0 < SPOT_TSNE_ROWS ? n - i0 : SPOT_TSNE_ROWS;

        for (int r = 0; r < rows; r++) norm[r] = spot_tsne_move(w, i0 + r, z, first);
        w->partial[2 * tiles + tile] = tile_sum(norm, rows, 0);
    }
}

/* team NULL: one thread. */
static void advance_one(const spot_tsne_walk *w, int count, int look, spot_team *team)
{
    const spot_tsne_problem *t = &w->map;

    for (int k = 0; k < t->dim; k++)
        for (int j = t->n; j < t->stride; j++) t->y[(size_t)k * t->stride + j] = SPOT_TSNE_FAR_AWAY;
    for (int i = 0; i < count; i++) {
        compute_forces(w, team ? team->threads : 1, look && i == count - 1);
        move_points(w, w->fresh && i == 0);
        if (team) spot_team_step(team);
    }
    if (!count) compute_forces(w, team ? team->threads : 1, 1);
}

/* Many problems: one a thread. Few: all threads on each in turn. */
static spot_status advance_cpu(spot_ctx *c, const spot_tsne_batch *b, int count, int look)
{
    int outer = spot_abreast(b->problems, c->threads);
    spot_status status = SPOT_OK;

#pragma omp parallel for num_threads(outer) schedule(dynamic)
    for (int p = 0; p < b->problems; p++) {
        spot_status s = spot_check_stop(c);
        if (s == SPOT_OK && b->walk[p].live) advance_one(&b->walk[p], count, look, outer == 1 ? b->team : NULL);
        if (s != SPOT_OK)
#pragma omp critical(spot_tsne_status)
            status = s;
    }
    return status;
}

const spot_tsne_ops spot_tsne_cpu = { .advance = advance_cpu };

static spot_status advance_batch(spot_ctx *c, const spot_tsne_batch *b, int count, int look)
{
    SPOT_DISPATCH(c, tsne, advance, b, count, look);
}

/* A phase starts at rest, `it` iterations after the beginning. */
static void enter_phase(spot_tsne_walk *w, int phase, int it, const spot_tsne_config *cfg)
{
    w->phase = phase;
    w->exaggeration = phase == 1 ? cfg->exaggeration : 1;
    w->momentum = phase == 1 ? 0.5 : 0.8;
    w->fresh = 1;
    w->best = INFINITY;
    w->best_at = it;
}

static double sum_tiles(const double *partial, int tiles)
{
    double total = 0;

    for (int tile = 0; tile < tiles; tile++) total += partial[tile];
    return total;
}

/* KL from a walk's partial sums, which are on the host. */
static double divergence(const double *partial, int tiles)
{
    return log(spot_tsne_z(partial, tiles)) + sum_tiles(partial + tiles, tiles);
}

static spot_status fail_not_finite(spot_ctx *c, const spot_tsne_walk *w, int it)
{
    return spot_fail(c, SPOT_NUMERIC, "{tsne.diverged} t-SNE of %s left the finite numbers by iteration %d; lower tsne.lr",
                     spot_label_of(c, w->map.ec).text, it);
}

/* After `it` iterations: does the phase end early, because the gradient vanishes or nothing improves? */
static spot_status check_walk(spot_ctx *c, spot_tsne_walk *w, const double *partial, int it, const spot_tsne_config *cfg)
{
    int tiles = spot_tsne_tiles(w->map.n);
    double kl = divergence(partial, tiles), norm = sqrt(sum_tiles(partial + 2 * tiles, tiles));

    if (!isfinite(kl) || !isfinite(norm)) return fail_not_finite(c, w, it);
    spot_tell(c, "tsne", (int)w->map.ec, it, cfg->iterations, "");
    if (kl < w->best) {
        w->best = kl;
        w->best_at = it - 1;
    }
    if (it - 1 - w->best_at <= (w->phase == 1 ? EXPLORE : PATIENCE) && norm > LEAST_GRADIENT) return SPOT_OK;
    if (w->phase == 1) {
        enter_phase(w, 2, it, cfg);
    } else {
        w->live = 0;
        w->map.steps = it;
    }
    return SPOT_OK;
}

/* Phase 1: exaggerated, momentum 0.5; phase 2 starts again with 0.8. A phase ends early when the gradient vanishes or
 * nothing has improved for 250 and 300 iterations, checked every 50: scikit-learn's rule. All live walks have done the
 * same number of iterations. `partial` is the device's, `sums` its copy on the host. */
static spot_status descend(spot_ctx *c, const spot_tsne_batch *b, const double *partial, double *sums, size_t bytes,
                           const spot_tsne_config *cfg)
{
    int live = b->problems;

    for (int it = 0, count; live && it < cfg->iterations; it += count) {
        int look;

        count = LOOK_EVERY - it % LOOK_EVERY;
        if (count > cfg->iterations - it) count = cfg->iterations - it;
        look = (it + count) % LOOK_EVERY == 0;
        for (int p = 0; p < b->problems; p++)
            if (it == EXPLORE && b->walk[p].phase == 1) enter_phase(&b->walk[p], 2, it, cfg);
        SPOT_TRY(advance_batch(c, b, count, look));
        for (int p = 0; p < b->problems; p++) b->walk[p].fresh = 0;
        if (!look) continue;
        SPOT_TRY(spot_device_copy(c, sums, partial, bytes));
        SPOT_TRY(spot_check_stop(c));
        live = 0;
        for (int p = 0; p < b->problems; p++) {
            spot_tsne_walk *w = &b->walk[p];
            if (w->live) SPOT_TRY(check_walk(c, w, sums + (w->partial - partial), it + count, cfg));
            live += w->live;
        }
    }
    for (int p = 0; p < b->problems; p++) b->walk[p].live = 1;
    SPOT_TRY(advance_batch(c, b, 0, 1));
    SPOT_TRY(spot_device_copy(c, sums, partial, bytes));
    for (int p = 0; p < b->problems; p++) {
        spot_tsne_walk *w = &b->walk[p];
        if (!w->map.steps) w->map.steps = cfg->iterations;
        w->map.kl = divergence(sums + (w->partial - partial), spot_tsne_tiles(w->map.n));
        if (!isfinite(w->map.kl)) return fail_not_finite(c, w, w->map.steps);
    }
    return SPOT_OK;
}

static int interpolates(const spot_tsne_problem *t, const spot_tsne_config *cfg)
{
    return cfg->repulsion == SPOT_TSNE_BY_FFT || (cfg->repulsion == SPOT_TSNE_AUTO && t->n > SPOT_TSNE_EXACT);
}

static spot_status take_walk(spot_ctx *c, spot_arena *a, spot_tsne_walk *w, const spot_tsne_problem *t,
                             const spot_tsne_config *cfg)
{
    size_t entries = (size_t)t->n * (size_t)t->dim;

    *w = (spot_tsne_walk){ .map = *t, .live = 1 };
    w->map.steps = 0;
    w->lr = cfg->lr > 0 ? cfg->lr : fmax(t->n / cfg->exaggeration / 4, 50);
    enter_phase(w, 1, 0, cfg);
    SPOT_TRY(SPOT_TAKE(c, a, w->attract, entries));
    SPOT_TRY(SPOT_TAKE(c, a, w->repel, entries));
    SPOT_TRY(SPOT_TAKE(c, a, w->row, 2 * (size_t)t->n));
    SPOT_TRY(SPOT_TAKE(c, a, w->step, entries));
    SPOT_TRY(SPOT_TAKE(c, a, w->gain, entries));
    return interpolates(t, cfg) ? spot_tsne_take_grid(c, a, &w->grid, t) : SPOT_OK;
}

/* The batch's memory in `a`; `partial` holds the partial sums of all walks. */
static spot_status take_batch(spot_ctx *c, spot_arena *a, spot_tsne_batch *b, double **partial, size_t *sums,
                              const spot_tsne_problem *t, const spot_tsne_config *cfg)
{
    size_t at = 0;

    *sums = 0;
    for (int p = 0; p < b->problems; p++) {
        SPOT_TRY(take_walk(c, a, &b->walk[p], &t[p], cfg));
        *sums += SPOT_TSNE_SUMS * (size_t)spot_tsne_tiles(t[p].n);
    }
    SPOT_TRY(SPOT_TAKE(c, a, b->copy, b->problems));
    SPOT_TRY(SPOT_TAKE(c, a, *partial, *sums));
    for (int p = 0; p < b->problems && !a->counting; p++) {
        b->walk[p].partial = *partial + at;
        at += SPOT_TSNE_SUMS * (size_t)spot_tsne_tiles(t[p].n);
    }
    return SPOT_OK;
}

static spot_status fit_batch(spot_ctx *c, spot_arena *scratch, spot_tsne_batch *b, spot_tsne_problem *t,
                             const spot_tsne_config *cfg)
{
    double *partial, *sums;
    size_t count;
    spot_status s;

    SPOT_TRY(take_batch(c, scratch, b, &partial, &count, t, cfg));
    if (scratch->counting) return SPOT_OK;
    sums = malloc(count * sizeof *sums);
    s = sums ? descend(c, b, partial, sums, count * sizeof *sums, cfg)
             : spot_fail(c, SPOT_NOMEM, "no memory for the sums of %d t-SNE maps", b->problems);
    free(sums);
    for (int p = 0; p < b->problems; p++) t[p] = b->walk[p].map;
    return s;
}

spot_status spot_tsne_fit(spot_ctx *c, spot_arena *scratch, int problems, spot_tsne_problem *t, const spot_tsne_config *cfg)
{
    size_t mark = scratch->used;
    spot_team team = spot_team_of(c->threads);
    spot_tsne_batch b = { .problems = problems, .team = &team };
    spot_status s;

    for (int p = 0; p < problems; p++) {
        if (t[p].n < 2 || t[p].dim < 1 || t[p].stride != spot_tsne_stride(t[p].n))
            return spot_fail(c, SPOT_INVALID, "tsne.fit, problem %d: %d points in %d dimensions, stride %d", p, t[p].n,
                             t[p].dim, t[p].stride);
        if (t[p].dim > 2 && interpolates(&t[p], cfg))
            return spot_fail(c, SPOT_UNSUPPORTED, "{tsne.interpolated} t-SNE of %s: %d points to %d dimensions; interpolated "
                             "forces are for 1 and 2, set tsne.repulsion to exact and wait", spot_label_of(c, t[p].ec).text,
                             t[p].n, t[p].dim);
    }
    if (!(cfg->exaggeration >= 1) || cfg->iterations < 1 || !(cfg->lr >= 0))
        return spot_fail(c, SPOT_INVALID, "tsne.fit: exaggeration %g, %d iterations, lr %g", cfg->exaggeration,
                         cfg->iterations, cfg->lr);
    if (!problems) return SPOT_OK;
    b.walk = calloc((size_t)problems, sizeof *b.walk);
    s = b.walk ? fit_batch(c, scratch, &b, t, cfg) : spot_fail(c, SPOT_NOMEM, "no memory for %d t-SNE maps", problems);
    free(b.walk);
    scratch->used = mark;
    return s;
}

spot_status spot_tsne_gradient(spot_ctx *c, spot_arena *scratch, const spot_tsne_problem *t, const spot_tsne_config *cfg,
                               double *gradient, double *kl)
{
    int tiles = spot_tsne_tiles(t->n), entries = t->n * t->dim;
    size_t mark = scratch->used, count, bytes = (size_t)entries * sizeof(double);
    spot_tsne_walk w;
    spot_team team = spot_team_of(c->threads);
    spot_tsne_batch b = { .problems = 1, .walk = &w, .team = &team };
    double *partial, *host = malloc(2 * bytes + SPOT_TSNE_SUMS * tiles * sizeof *host), *sums = host + 2 * entries;
    spot_status s = host ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a gradient of %d points", t->n);

    if (s == SPOT_OK) s = take_batch(c, scratch, &b, &partial, &count, t, cfg);
    if (s == SPOT_OK) s = advance_batch(c, &b, 0, 1);
    if (s == SPOT_OK) s = spot_device_copy(c, host, w.attract, bytes);
    if (s == SPOT_OK) s = spot_device_copy(c, host + entries, w.repel, bytes);
    if (s == SPOT_OK) s = spot_device_copy(c, sums, partial, count * sizeof *sums);
    if (s == SPOT_OK) {
        w.attract = host;
        w.repel = host + entries;
        for (int e = 0; e < entries; e++) gradient[e] = spot_tsne_slope(&w, e, spot_tsne_z(sums, tiles));
        *kl = divergence(sums, tiles);
    }
    free(host);
    scratch->used = mark;
    return s;
}
