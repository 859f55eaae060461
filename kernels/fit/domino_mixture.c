/* domino_mixture.c - Domino's mixture on the CPU: threads own tiles of 64 points in the E step, slices in the M step; many jobs
 * are a thread each. */
#include "fit/domino_mixture.h"

#include <float.h>
#include <lapacke.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "core/column_sums.h"
#include "core/lanes.h"
#include "core/outer.h"
#include "core/philox.h"
#include "core/problems.h"
#include "core/rows64.h"
#include "core/team.h"
#include "fit/domino_scratch.h"

static const double log_two_pi = 1.83787706640934548356;

enum { VECTORS = LANES == 8 ? 8 : 4, GROUP = 4, CHUNK = 256 };     /* of columns in registers; slices, rows at a time */

/* One job's workspace, with `threads` threads to itself. */
typedef struct {
    int     tiles, threads, wide;
    float  *tile;              /* (tiles, d, 64) */
    double *p;                 /* (tiles, classes, 64) */
    double *share;             /* (n, wide): 1, one-hot y, p, and zeros up to a whole vector */
    double *held;              /* (k, wide): their sums over a slice */
    double *scale, *shift;     /* (k, d): 1 / sigma, -mean / sigma; during the M step first and second moments */
    double *factor;            /* (k, d, d) if full: inverse Cholesky factors, lower, 0 above; before that second moments */
    double *base;              /* (k): the terms of l that depend only on the slice */
    double *of_y;              /* (k, classes): gamma log(P + eps) */
    double *part;              /* (tiles): a tile's log-likelihood */
    double *l;                 /* (threads, k, 64) */
    double *off;               /* (threads, d, 64) if full: points from a mean */
    int    *row;               /* (threads, n): rows that a slice holds */
} domino_mixture_work;

static double *slice_of(double *of, int k, size_t each) { return of + (size_t)k * each; }

/* square (64) = |factor (x - mean)|^2 of a tile. */
static void full_squares(double *square, const domino_mixture_work *w, const spot_domino_job *job, const float *tile, int k)
{
    enum { V = ROWS64 / LANES, SIDE = 4 };
    int d = job->d;
    const double *mean = slice_of(job->mean, k, d), *factor = slice_of(w->factor, k, (size_t)d * d);
    double *off = w->off + (size_t)omp_get_thread_num() * d * ROWS64;

    for (int j = 0; j < d; j++)
        for (int r = 0; r < ROWS64; r++) off[j * ROWS64 + r] = tile[j * ROWS64 + r] - mean[j];
    memset(square, 0, ROWS64 * sizeof *square);
    for (int a = 0; a < d; a += SIDE)
        for (int v0 = 0; v0 < V; v0 += SPOT_ROW_VECTORS) {
            int side = d - a < SIDE ? d - a : SIDE;
            vd sum[SIDE][SPOT_ROW_VECTORS] = { { { 0 } } }, *to = (vd *)square + v0;
            for (int b = 0; b < a + side; b++) {
                const vd *x = (const vd *)(off + b * ROWS64) + v0;
                for (int i = 0; i < SIDE; i++) {
                    vd f = vd_all(factor[(size_t)(a + (i < side ? i : 0)) * d + b]);
                    for (int v = 0; v < SPOT_ROW_VECTORS; v++) sum[i][v] = vd_fma(f, x[v], sum[i][v]);
                }
            }
            for (int i = 0; i < side; i++)
                for (int v = 0; v < SPOT_ROW_VECTORS; v++) to[v] = vd_fma(sum[i][v], sum[i][v], to[v]);
        }
}

/* l (k,64) of a tile. */
static void log_densities(double *l, const domino_mixture_work *w, const spot_domino_job *job, int t)
{
    const float *tile = w->tile + (size_t)t * job->d * ROWS64;
    const double *p = w->p + (size_t)t * job->classes * ROWS64;
    int classes = job->classes, y[ROWS64];

    for (int r = 0; r < ROWS64; r++) y[r] = job->y[t * ROWS64 + r < job->n ? t * ROWS64 + r : job->n - 1];
    if (!job->full) spot_squares(l, tile, job->d, w->scale, w->shift, job->k);
    for (int k = 0; k < job->k; k++) {
        double *own = l + k * ROWS64, q[ROWS64] = { 0 };
        const double *of_y = w->of_y + (size_t)k * classes, *of_p = job->of_p + (size_t)k * classes;
        if (job->full) full_squares(own, w, job, tile, k);
        for (int c = 0; c < classes; c++)
            for (int r = 0; r < ROWS64; r++) q[r] = fma(p[c * ROWS64 + r], of_p[c], q[r]);
        for (int r = 0; r < ROWS64; r++) q[r] = spot_philox_log(q[r] + DBL_EPSILON);
        for (int r = 0; r < ROWS64; r++) own[r] = fma(-0.5, own[r], w->base[k]) + of_y[y[r]] + job->gamma_hat * q[r];
    }
}

/* E step of a tile: responsibilities into job->r, the log-likelihood into w->part. */
static void expect_tile(const domino_mixture_work *w, const spot_domino_job *job, int t)
{
    double *l = w->l + (size_t)omp_get_thread_num() * job->k * ROWS64, top[ROWS64], sum[ROWS64] = { 0 }, all = 0;
    int rows = spot_tile_rows(job->n, t);

    log_densities(l, w, job, t);
    memcpy(top, l, sizeof top);
    for (int k = 1; k < job->k; k++)
        for (int r = 0; r < ROWS64; r++) top[r] = l[k * ROWS64 + r] > top[r] ? l[k * ROWS64 + r] : top[r];
    for (int k = 0; k < job->k; k++)
        for (int r = 0; r < ROWS64; r += LANES) {
            vd *e = (vd *)(l + k * ROWS64 + r);
            *e = vd_exp(*e - *(vd *)(top + r));
            *(vd *)(sum + r) += *e;
        }
    for (int k = 0; k < job->k; k++)
        for (int r = 0; r < rows; r++) job->r[(size_t)k * job->n + t * ROWS64 + r] = l[k * ROWS64 + r] / sum[r];
    for (int r = 0; r < ROWS64; r++) sum[r] = top[r] + spot_philox_log(sum[r]);
    for (int r = 0; r < rows; r++) all += sum[r];
    w->part[t] = all;
}

/* The mean over points of their log-likelihood. */
static double expect_tiles(const domino_mixture_work *w, const spot_domino_job *job)
{
    double sum = 0;

#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int t = 0; t < w->tiles; t++) expect_tile(w, job, t);
    for (int t = 0; t < w->tiles; t++) sum += w->part[t];
    return sum / job->n;
}

/* Rows from .. to-1 with a responsibility of slice k above LEAST. Returns their number. */
static int rows_held(int *row, const spot_domino_job *job, int k, int from, int to)
{
    const double *r = job->r + (size_t)k * job->n;
    int held = 0;

    for (int i = from; i < to; i++) {
        row[held] = i;
        held += r[i] > SPOT_DOMINO_LEAST;
    }
    return held;
}

/* Sums over a slice's rows; moments are about its last mean. */
typedef struct { double count, nk, *first, *second; } sums;

/* first[j], second[j] += r (x_j - mean_j), r (x_j - mean_j)^2 of the rows, for `vectors` vectors of columns from j0 on. */
VD_INLINE void add_vectors(const sums *s, const spot_domino_job *job, const double *r, const double *mean, const int *row,
                           int held, int j0, int vectors)
{
    vd first[VECTORS], second[VECTORS], about[VECTORS];

    memcpy(about, mean + j0, (size_t)vectors * sizeof *about);
    memcpy(first, s->first + j0, (size_t)vectors * sizeof *first);
    memcpy(second, s->second + j0, (size_t)vectors * sizeof *second);
    for (int h = 0; h < held; h++) {
        const float *x = job->x + (size_t)row[h] * job->d + j0;
        vd own = vd_all(r[row[h]]);
        for (int v = 0; v < vectors; v++) {
            vd off = vd_wide(x + v * LANES) - about[v], weighted = own * off;
            first[v] += weighted;
            second[v] = vd_fma(weighted, off, second[v]);
        }
    }
    memcpy(s->first + j0, first, (size_t)vectors * sizeof *first);
    memcpy(s->second + j0, second, (size_t)vectors * sizeof *second);
}

static void add_moments(const sums *s, const spot_domino_job *job, const double *r, const double *mean, const int *row,
                        int held)
{
    int j = 0;

    for (; job->d - j >= VECTORS * LANES; j += VECTORS * LANES) add_vectors(s, job, r, mean, row, held, j, VECTORS);
    for (; job->d - j >= LANES; j += LANES) add_vectors(s, job, r, mean, row, held, j, 1);
    for (int h = 0; h < held && j < job->d; h++)
        for (int e = j; e < job->d; e++) {
            double off = job->x[(size_t)row[h] * job->d + e] - mean[e], weighted = r[row[h]] * off;
            s->first[e] += weighted;
            s->second[e] = fma(weighted, off, s->second[e]);
        }
}

/* held (wide) += r share of the rows: a slice's part of points, of labels and of predictions. */
static void add_shares(double *held, const domino_mixture_work *w, const double *r, const int *row, int rows)
{
    for (int j = 0; j < w->wide; j += LANES) {
        vd sum = *(vd *)(held + j);
        for (int h = 0; h < rows; h++) sum = vd_fma(vd_all(r[row[h]]), *(vd *)(w->share + (size_t)row[h] * w->wide + j), sum);
        *(vd *)(held + j) = sum;
    }
}

/* Scales of slice k from its mean and variances; the log of its factor's determinant, NaN without one. */
static double prepare_diagonal(const domino_mixture_work *w, const spot_domino_job *job, int k)
{
    const double *mean = slice_of(job->mean, k, job->d), *var = slice_of(job->covariance, k, job->d);
    double *scale = slice_of(w->scale, k, job->d), *shift = slice_of(w->shift, k, job->d), logs = 0;

    for (int j = 0; j < job->d; j++) {
        if (!(var[j] > 0 && var[j] < INFINITY)) return NAN;
        scale[j] = 1 / sqrt(var[j]);
        shift[j] = -mean[j] * scale[j];
        logs += spot_philox_log(scale[j]);
    }
    return logs;
}

/* prepare_diagonal for a full covariance: its inverse Cholesky factor goes into w->factor, 0 above the diagonal. LAPACK is
 * column-major: its upper triangle is our lower. */
static double prepare_full(const domino_mixture_work *w, const spot_domino_job *job, int k)
{
    int d = job->d;
    double *factor = slice_of(w->factor, k, (size_t)d * d), logs = 0;
    const double *covariance = slice_of(job->covariance, k, (size_t)d * d);

    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) factor[(size_t)a * d + b] = b <= a ? covariance[(size_t)a * d + b] : 0;
    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', d, factor, d) || LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'U', 'N', d, factor, d))
        return NAN;
    for (int j = 0; j < d; j++) logs += spot_philox_log(factor[(size_t)j * d + j]);
    return logs;
}

/* Computes the E step's values from slice k's parameters. False if the covariance has no factor. */
static bool prepare_slice(const domino_mixture_work *w, const spot_domino_job *job, int k)
{
    double logs = (job->full ? prepare_full : prepare_diagonal)(w, job, k);

    for (int c = 0, e = k * job->classes; c < job->classes; c++, e++)
        w->of_y[e] = job->gamma * spot_philox_log(job->of_y[e] + DBL_EPSILON);
    w->base[k] = spot_philox_log(job->weight[k]) - 0.5 * job->d * log_two_pi + logs;
    return !isnan(logs);
}

/* Mean and variances of slice k from its sums. */
static void update_diagonal(const spot_domino_job *job, int k, const sums *s, double ridge)
{
    double *mean = slice_of(job->mean, k, job->d), *var = slice_of(job->covariance, k, job->d);
    const double added = 10 * DBL_EPSILON;      /* nk is the count plus this part of a point at the origin */

    for (int j = 0; j < job->d; j++) {
        double now = (s->first[j] + s->count * mean[j]) / s->nk, moved = now - mean[j];
        double v = (s->second[j] - 2 * moved * s->first[j] + s->count * moved * moved + added * now * now) / s->nk;
        var[j] = (v > 0 ? v : 0) + ridge;
        mean[j] = now;
    }
}

/* Mean and full covariance of slice k from its sums; w->factor holds second moments. */
static void update_full(const domino_mixture_work *w, const spot_domino_job *job, int k, const sums *s, double ridge)
{
    int d = job->d;
    double *mean = slice_of(job->mean, k, d), *moved = s->second;
    const double *second = slice_of(w->factor, k, (size_t)d * d);
    double *covariance = slice_of(job->covariance, k, (size_t)d * d);

    for (int j = 0; j < d; j++) {
        double now = (s->first[j] + s->count * mean[j]) / s->nk;
        moved[j] = now - mean[j];
        mean[j] = now;
    }
    for (int a = 0; a < d; a++)
        for (int b = 0; b <= a; b++) {
            double f = second[(size_t)a * d + b];
            f = (f - moved[a] * s->first[b] - s->first[a] * moved[b] + s->count * moved[a] * moved[b]) / s->nk;
            f += a == b ? ridge : 0;
            covariance[(size_t)a * d + b] = covariance[(size_t)b * d + a] = f;
        }
}

/* All parameters of slice k from its sums. False if it has no factor. */
static bool update_slice(const domino_mixture_work *w, const spot_domino_job *job, int k, sums *s, double ridge)
{
    int classes = job->classes;
    const double *held = slice_of(w->held, k, w->wide);

    s->count = held[0];
    s->nk = s->count + 10 * DBL_EPSILON;
    job->weight[k] = s->nk / job->n;
    for (int c = 0, e = k * classes; c < classes; c++, e++) {
        job->of_y[e] = held[1 + c] / s->nk;
        job->of_p[e] = held[1 + classes + c] / s->nk;
    }
    if (job->full) update_full(w, job, k, s, ridge);
    else           update_diagonal(job, k, s, ridge);
    return prepare_slice(w, job, k);
}

/* Slices k0 .. k1-1, GROUP at most, which share a chunk of rows while it is in the cache. Returns those without a factor. */
static int maximise_group(const domino_mixture_work *w, const spot_domino_job *job, int k0, int k1, double ridge)
{
    int d = job->d, *row = w->row + (size_t)omp_get_thread_num() * job->n, ill = 0;
    sums s[GROUP];

    for (int k = k0; k < k1; k++) {
        s[k - k0] = (sums){ 0, 0, slice_of(w->scale, k, d), slice_of(w->shift, k, d) };
        memset(s[k - k0].first, 0, (size_t)d * sizeof(double));
        memset(s[k - k0].second, 0, (size_t)d * sizeof(double));
        memset(slice_of(w->held, k, w->wide), 0, (size_t)w->wide * sizeof(double));
    }
    for (int from = 0; from < job->n; from += CHUNK)
        for (int k = k0; k < k1; k++) {
            int held = rows_held(row, job, k, from, job->n - from < CHUNK ? job->n : from + CHUNK);
            const double *r = slice_of(job->r, k, job->n);
            add_shares(slice_of(w->held, k, w->wide), w, r, row, held);
            add_moments(&s[k - k0], job, r, slice_of(job->mean, k, d), row, held);
        }
    for (int k = k0; k < k1; k++) ill += !update_slice(w, job, k, &s[k - k0], ridge);
    return ill;
}

/* Second moments of slice k about its last mean into w->factor: rows a0 .., columns b0 .., on and below the diagonal. */
static void second_moments(const domino_mixture_work *w, const spot_domino_job *job, int k, int a0, int b0)
{
    double sum[SPOT_OUTER_HIGH][SPOT_OUTER_WIDE] = { { 0 } };
    int d = job->d, *row = w->row + (size_t)omp_get_thread_num() * job->n, held = rows_held(row, job, k, 0, job->n);
    const double *mean = slice_of(job->mean, k, d), *r = slice_of(job->r, k, job->n);
    double *to = slice_of(w->factor, k, (size_t)d * d);

    for (int h = 0; h < held; h += SPOT_OUTER_DEPTH) {
        double weight[SPOT_OUTER_DEPTH];
        int rows = held - h < SPOT_OUTER_DEPTH ? held - h : SPOT_OUTER_DEPTH;
        spot_outer_rows some = { d, rows, job->x, mean, row + h, weight, true };
        for (int i = 0; i < some.rows; i++) weight[i] = r[some.row[i]];
        spot_outer_add(sum, &some, a0, b0);
    }
    for (int i = a0; i < a0 + SPOT_OUTER_HIGH && i < d; i++)
        for (int j = b0; j < b0 + SPOT_OUTER_WIDE && j <= i; j++) to[(size_t)i * d + j] = sum[i - a0][j - b0];
}

/* M step. Returns the number of slices without a factor. */
static int maximise_slices(const domino_mixture_work *w, const spot_domino_job *job, double ridge)
{
    int high = (job->d + SPOT_OUTER_HIGH - 1) / SPOT_OUTER_HIGH, wide = (job->d + SPOT_OUTER_WIDE - 1) / SPOT_OUTER_WIDE;
    int tiles = high * wide, ill = 0;

    if (job->full) {
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
        for (int task = 0; task < job->k * tiles; task++) {
            int a0 = task % tiles / wide * SPOT_OUTER_HIGH, b0 = task % wide * SPOT_OUTER_WIDE;
            if (b0 < a0 + SPOT_OUTER_HIGH) second_moments(w, job, task / tiles, a0, b0);
        }
    }
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
    for (int k = 0; k < job->k; k += GROUP) {
        int lost = maximise_group(w, job, k, job->k - k < GROUP ? job->k : k + GROUP, ridge);
#pragma omp atomic
        ill += lost;
    }
    return ill;
}

/* Entries of a point's share. */
static int shares(int classes) { return (1 + 2 * classes + LANES - 1) / LANES * LANES; }

static void pack_tiles(const domino_mixture_work *w, const spot_domino_job *job)
{
    int n = job->n, d = job->d, classes = job->classes;

#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int t = 0; t < w->tiles; t++) {
        spot_pack_rows(w->tile + (size_t)t * d * ROWS64, job->x, n, d, t);
        for (int r = 0; r < ROWS64; r++) {
            const float *p = job->p + (size_t)(t * ROWS64 + r < n ? t * ROWS64 + r : n - 1) * classes;
            for (int c = 0; c < classes; c++) w->p[((size_t)t * classes + c) * ROWS64 + r] = p[c];
        }
    }
}

/* Tiles, the points' mean as every slice's, and responsibilities of given labels. */
static void begin_job(const domino_mixture_work *w, const spot_domino_job *job)
{
    int n = job->n, d = job->d, classes = job->classes;
    double *mean = job->mean;

    pack_tiles(w, job);
    memset(w->share, 0, (size_t)n * w->wide * sizeof *w->share);
    for (int i = 0; i < n; i++) {
        double *share = w->share + (size_t)i * w->wide;
        share[0] = share[1 + job->y[i]] = 1;
        for (int c = 0; c < classes; c++) share[1 + classes + c] = job->p[(size_t)i * classes + c];
    }
    spot_column_means(mean, job->x, n, d, 0, d);
    for (int k = 1; k < job->k; k++) memcpy(slice_of(mean, k, d), mean, (size_t)d * sizeof *mean);
    if (job->full) memset(w->factor, 0, (size_t)job->k * d * d * sizeof *w->factor);
    for (int k = 0; k < job->k && job->label; k++)
        for (int i = 0; i < n; i++) job->r[(size_t)k * n + i] = job->label[i] == k;
}

static spot_status fit_one(spot_ctx *c, void *lane, void *one, const void *config, int threads)
{
    const spot_mixture_config *cfg = config;
    spot_domino_job *job = one;
    domino_mixture_work *w = lane;
    double before = -INFINITY;

    w->tiles = spot_tiles(job->n);
    w->wide = shares(job->classes);
    w->threads = threads;
    begin_job(w, job);
    job->iterations = job->converged = 0;
    job->ill = maximise_slices(w, job, cfg->ridge);
    while (!job->ill && !job->converged && job->iterations < cfg->max_iterations) {
        double now = expect_tiles(w, job);
        SPOT_TRY(spot_check_stop(c));
        job->ill = maximise_slices(w, job, cfg->ridge);
        if (job->bound) job->bound[job->iterations] = now;
        job->iterations++;
        job->converged = fabs(now - before) < cfg->tol;
        job->last_bound = before = now;
    }
    if (!job->ill) expect_tiles(w, job);
    return SPOT_OK;
}

static spot_status take_work(spot_ctx *c, spot_arena *a, void *lane, const void *most, int threads)
{
    const spot_domino_job *job = most;
    int n = job->n, d = job->d, k = job->k, classes = job->classes, full = job->full;
    size_t tiles = (size_t)spot_tiles(n), wide = (size_t)d * ROWS64;
    domino_mixture_work *w = lane;

    SPOT_TRY(SPOT_TAKE(c, a, w->tile, tiles * wide));
    SPOT_TRY(SPOT_TAKE(c, a, w->p, tiles * classes * ROWS64));
    SPOT_TRY(SPOT_TAKE(c, a, w->share, (size_t)n * shares(classes)));
    SPOT_TRY(SPOT_TAKE(c, a, w->held, (size_t)k * shares(classes)));
    SPOT_TRY(SPOT_TAKE(c, a, w->scale, (size_t)k * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->shift, (size_t)k * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->factor, full ? (size_t)k * d * d : 0));
    SPOT_TRY(SPOT_TAKE(c, a, w->base, k));
    SPOT_TRY(SPOT_TAKE(c, a, w->of_y, (size_t)k * classes));
    SPOT_TRY(SPOT_TAKE(c, a, w->part, tiles));
    SPOT_TRY(SPOT_TAKE(c, a, w->l, (size_t)threads * k * ROWS64));
    SPOT_TRY(SPOT_TAKE(c, a, w->off, full ? threads * wide : 0));
    return SPOT_TAKE(c, a, w->row, (size_t)threads * n);
}

static const spot_job_kind kind = { sizeof(domino_mixture_work), sizeof(spot_domino_job), take_work, fit_one };

size_t spot_domino_scratch(int count, int n, int d, int k, int classes, int full, int threads)
{
    const spot_domino_job most = { .n = n, .d = d, .k = k, .classes = classes, .full = full };
    spot_ctx c = { .threads = threads };
    spot_arena a = spot_arena_counting();
    spot_domino_space space;

    if (threads) spot_run_jobs(&c, &a, &kind, spot_abreast(count, threads), &most, 0, NULL, NULL);
    else         spot_domino_space_take(&c, &a, &space, &(spot_domino_sizes){ count, n, d, k, classes, full });
    return a.peak;
}

static spot_status em_cpu(spot_ctx *c, spot_arena *scratch, int count, spot_domino_job *jobs, const spot_mixture_config *cfg)
{
    const spot_domino_job most = { .n = SPOT_MOST(count, jobs, n), .d = SPOT_MOST(count, jobs, d),
                                   .k = SPOT_MOST(count, jobs, k), .classes = SPOT_MOST(count, jobs, classes),
                                   .full = SPOT_MOST(count, jobs, full) };

    return spot_run_jobs(c, scratch, &kind, spot_abreast(count, c->threads), &most, count, jobs, cfg);
}

spot_status spot_domino_expect(spot_ctx *c, spot_arena *scratch, spot_domino_job *job)
{
    size_t mark = scratch->used;
    domino_mixture_work w = { 0 };

    if (job->n < 1 || job->k < 1 || job->k > SPOT_DOMINO_MOST || job->d < 1 || job->classes < 1 || job->classes > 255)
        return spot_fail(c, SPOT_INVALID, "domino.expect: %d slices of (%d, %d) points in %d classes", job->k, job->n, job->d,
                         job->classes);
    SPOT_TRY(take_work(c, scratch, &w, job, c->threads));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    w.tiles = spot_tiles(job->n);
    w.threads = c->threads;
    job->ill = 0;
    pack_tiles(&w, job);
    for (int k = 0; k < job->k; k++) job->ill += !prepare_slice(&w, job, k);
    if (!job->ill) expect_tiles(&w, job);
    return SPOT_OK;
}

const spot_domino_ops spot_domino_cpu = { .confusion = spot_domino_confusion_cpu, .em = em_cpu };

spot_status spot_domino_em(spot_ctx *c, spot_arena *scratch, int count, spot_domino_job *jobs, const spot_mixture_config *cfg)
{
    for (int j = 0; j < count; j++) {
        const spot_domino_job *job = &jobs[j];
        if (job->k < 1 || job->k > job->n || job->k > SPOT_DOMINO_MOST || job->d < 1 || job->classes < 1
            || job->classes > 255)
            return spot_fail(c, SPOT_INVALID, "{domino_mixture.sizes} domino.em %d: %d slices of (%d, %d) points in %d "
                             "classes; 1 to %d slices, no more than points, of 1 to 255 classes", j, job->k, job->n, job->d,
                             job->classes, SPOT_DOMINO_MOST);
    }
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, domino, em, scratch, count, jobs, cfg);
}
