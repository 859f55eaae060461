/* mixture.c - Gaussian mixtures: the checked entry and EM on the CPU. One thread a fit, vectors of eight points. */
#include "mixture.h"

#include <float.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "mixture_cpu.h"

/* E step of one tile, blocks from..from+TILE: responsibilities into w->resp, zero for padding. Returns the tile's
 * log-likelihood. label: also the best component of each point, into w->label. */
V8_INLINE double expect(spot_mixture_work *w, int d, int from, bool label)
{
    v8 top[TILE], sum[TILE] = { { 0 } }, total = { 0 }, product = v8_all(1);
    v8i best[TILE] = { { 0 } };

    for (int b = 0; b < TILE; b++) top[b] = v8_all(-INFINITY);
    for (int k = 0; k < w->k; k++) {
        const double *mean = w->component + k * w->stride + 1, *factor = mean + d;
        for (int b = 0; b < TILE; b++) {
            const double *f = factor;
            v8 diff[SPOT_MAX_MIXTURE_DIM], square = { 0 }, log_density;
            for (int i = 0; i < d; i++) {
                v8 y = { 0 };
                diff[i] = w->x[(size_t)i * w->blocks + from + b] - mean[i];
                for (int j = 0; j <= i; j++) y += *f++ * diff[j];
                square += y * y;
            }
            log_density = mean[-1] - 0.5 * square;
            v8i better = log_density > top[b];
            top[b] = v8_pick(better, log_density, top[b]);
            if (label) best[b] = v8i_pick(better, (v8i){ 0 } + k, best[b]);
            w->resp[k * TILE + b] = log_density;
        }
    }
    for (int k = 0; k < w->k; k++)
        for (int b = 0; b < TILE; b++) {
            v8 *r = &w->resp[k * TILE + b];
            *r = v8_exp(*r - top[b]);
            sum[b] += *r;
        }
    /* 1 <= sum <= k: a tile's product stays below 64^64, so that one logarithm serves all its points. */
    for (int b = 0; b < TILE; b++) {
        v8 live = w->live[from + b];
        total += live * top[b];
        product *= 1.0 + live * (sum[b] - 1.0);
        sum[b] = live / sum[b];
        if (label) w->label[from + b] = best[b];
    }
    for (int k = 0; k < w->k; k++)
        for (int b = 0; b < TILE; b++) w->resp[k * TILE + b] *= sum[b];
    for (int i = 1; i < 8; i++) product[0] *= product[i];
    return v8_sum(total) + log(product[0]);
}

/* M step, first half: adds one tile's moments about the present means. */
V8_INLINE void add_moments(spot_mixture_work *w, int d, int from)
{
    for (int k = 0; k < w->k; k++) {
        const double *mean = w->component + k * w->stride + 1;
        v8 m[1 + SPOT_MAX_MIXTURE_DIM * (SPOT_MAX_MIXTURE_DIM + 3) / 2], *moment = w->moment + k * w->stride;
        int stride = 1 + d + d * (d + 1) / 2;
        for (int i = 0; i < stride; i++) m[i] = moment[i];
        for (int b = 0; b < TILE; b++) {
            v8 r = w->resp[k * TILE + b], diff[SPOT_MAX_MIXTURE_DIM], *product = m + 1 + d;
            m[0] += r;
            for (int i = 0; i < d; i++) {
                diff[i] = w->x[(size_t)i * w->blocks + from + b] - mean[i];
                v8 weighted = r * diff[i];
                m[1 + i] += weighted;
                for (int j = 0; j <= i; j++) *product++ += weighted * diff[j];
            }
        }
        for (int i = 0; i < stride; i++) moment[i] = m[i];
    }
}

V8_INLINE double em_step(spot_mixture_work *w, int d)
{
    double sum = 0;

    memset(w->moment, 0, (size_t)w->k * w->stride * sizeof *w->moment);
    for (int from = 0; from < w->blocks; from += TILE) {
        sum += expect(w, d, from, false);
        add_moments(w, d, from);
    }
    return sum;
}

/* One pass over the points; the dimensions that people cluster in are compiled apart, so that sums stay in registers. */
static double pass(spot_mixture_work *w)
{
    switch (w->d) {
    case 2:  return em_step(w, 2);
    case 3:  return em_step(w, 3);
    case 4:  return em_step(w, 4);
    default: return em_step(w, w->d);
    }
}

static double last_expectation(spot_mixture_work *w)
{
    double sum = 0;

    for (int from = 0; from < w->blocks; from += TILE) sum += expect(w, w->d, from, true);
    return sum;
}

/* f becomes the inverse of the lower Cholesky factor of the d x d matrix a; both lower, row by row, packed. False if a
 * is not positive definite. Our own and not LAPACK's: 3 x 3, hundreds of thousands of times, and equal bits anywhere. */
static bool inverse_cholesky(double *f, const double *a, int d)
{
    double l[SPOT_MAX_MIXTURE_DIM][SPOT_MAX_MIXTURE_DIM];

    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double s = *a++;
            for (int t = 0; t < j; t++) s -= l[i][t] * l[j][t];
            if (i == j && !(s > 0 && s < INFINITY)) return false;
            l[i][j] = i == j ? sqrt(s) : s / l[j][j];
        }
    for (int i = 0; i < d; i++) {
        double *row = f + i * (i + 1) / 2;
        for (int j = 0; j < i; j++) {
            double s = 0;
            for (int t = j; t < i; t++) s -= l[i][t] * f[t * (t + 1) / 2 + j];
            row[j] = s / l[i][i];
        }
        row[i] = 1 / l[i][i];
    }
    return true;
}

/* M step, second half: weights, means, covariances from the moments, and the factors that the next E step needs.
 * Moments about the old mean give those about the new exactly, with no second pass. Returns the components without
 * a factor. */
static int maximise(spot_mixture_work *w, spot_mixture *fit, double ridge)
{
    int d = w->d, ill = 0;
    double nk[SPOT_MAX_COMPONENTS], all = 0;

    for (int k = 0; k < w->k; k++) all += nk[k] = v8_sum(w->moment[k * w->stride]) + 10 * DBL_EPSILON;
    for (int k = 0; k < w->k; k++) {
        const v8 *moment = w->moment + k * w->stride, *second = moment + 1 + d;
        double *component = w->component + k * w->stride, *mean = component + 1, *factor = mean + d;
        double count = v8_sum(moment[0]), first[SPOT_MAX_MIXTURE_DIM], shift[SPOT_MAX_MIXTURE_DIM];
        double lower[SPOT_MAX_MIXTURE_DIM * (SPOT_MAX_MIXTURE_DIM + 1) / 2], *a = lower;
        for (int i = 0; i < d; i++) {
            double now;
            first[i] = v8_sum(moment[1 + i]);
            now = (first[i] + count * mean[i]) / nk[k];
            shift[i] = now - mean[i];
            mean[i] = fit->mean[k * d + i] = now;
        }
        for (int i = 0; i < d; i++)
            for (int j = 0; j <= i; j++) {
                double s = v8_sum(*second++) - shift[i] * first[j] - first[i] * shift[j] + count * shift[i] * shift[j];
                *a = s / nk[k] + (i == j ? ridge : 0);
                fit->covariance[(k * d + i) * d + j] = fit->covariance[(k * d + j) * d + i] = *a++;
            }
        fit->weight[k] = nk[k] / all;
        if (!inverse_cholesky(factor, lower, d)) { ill++; continue; }
        component[0] = log(fit->weight[k]) - 0.5 * d * log(2 * 3.14159265358979323846);
        for (int i = 0; i < d; i++) component[0] += log(factor[i * (i + 3) / 2]);
    }
    return ill;
}

/* M step from given responsibilities or from the k-means clusters. Twice: the first pass finds the means, the second
 * takes the moments about them, so that no digits cancel. */
static int first_maximise(spot_mixture_work *w, spot_mixture *fit, const double *given, double ridge)
{
    int ill = 0;

    for (int k = 0; k < w->k; k++)
        for (int a = 0; a < w->d; a++) w->component[k * w->stride + 1 + a] = w->x[(size_t)a * w->blocks][0];
    for (int twice = 0; twice < 2; twice++) {
        memset(w->moment, 0, (size_t)w->k * w->stride * sizeof *w->moment);
        for (int from = 0; from < w->blocks; from += TILE) {
            for (int k = 0; k < w->k; k++)
                for (int b = 0; b < TILE; b++) {
                    v8 *r = &w->resp[k * TILE + b];
                    *r = v8_pick(w->label[from + b] == k, w->live[from + b], v8_all(0));
                    for (int i = 0; given && i < 8; i++) {
                        int point = 8 * (from + b) + i;
                        (*r)[i] = point < w->n ? given[(size_t)point * w->k + k] : 0;
                    }
                }
            add_moments(w, w->d, from);
        }
        ill = maximise(w, fit, ridge);
    }
    return ill;
}

static void load(spot_mixture_work *w, const spot_mixture_job *job)
{
    w->n = job->fit.n;
    w->d = job->fit.d;
    w->k = job->fit.k;
    w->blocks = (w->n + 8 * TILE - 1) / (8 * TILE) * TILE;
    w->stride = 1 + w->d + w->d * (w->d + 1) / 2;
    for (int i = 0; i < 8 * w->blocks; i++) {
        const float *point = job->x + (size_t)(i < w->n ? i : 0) * w->d;
        for (int a = 0; a < w->d; a++) w->x[(size_t)a * w->blocks + i / 8][i % 8] = point[a];
        w->live[i / 8][i % 8] = i < w->n;
    }
}

static void fit_one(spot_mixture_work *w, spot_mixture_job *job, const spot_mixture_config *cfg)
{
    spot_mixture *fit = &job->fit;
    double before = -INFINITY;

    load(w, job);
    if (!job->resp) {
        spot_rng r = spot_rng_at(job->seed.seed, SPOT_RNG_KMEANS, job->seed.ec, (uint32_t)w->k);
        spot_mixture_start(w, &r);
    }
    fit->iterations = fit->converged = 0;
    fit->ill = first_maximise(w, fit, job->resp, cfg->ridge);
    while (!fit->ill && !fit->converged && fit->iterations < cfg->max_iterations) {
        double now = pass(w) / w->n;
        fit->ill = maximise(w, fit, cfg->ridge);
        fit->iterations++;
        fit->converged = fabs(now - before) < cfg->tol;
        before = now;
    }
    if (fit->ill) return;
    fit->log_likelihood = last_expectation(w);
    for (int i = 0; i < w->n; i++) job->label[i] = (uint8_t)w->label[i / 8][i % 8];
}

static spot_status take(spot_ctx *c, spot_arena *a, spot_mixture_work *w, int n, int d, int k)
{
    size_t blocks = (size_t)(n + 8 * TILE - 1) / (8 * TILE) * TILE, stride = 1 + (size_t)d * (d + 3) / 2;

    SPOT_TRY(SPOT_TAKE(c, a, w->x, d * blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->live, blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->label, blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->near, blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->prefix, 8 * blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->resp, (size_t)k * TILE));
    SPOT_TRY(SPOT_TAKE(c, a, w->moment, k * stride));
    SPOT_TRY(SPOT_TAKE(c, a, w->component, k * stride));
    SPOT_TRY(SPOT_TAKE(c, a, w->centre, (size_t)k * d));
    return SPOT_TAKE(c, a, w->sum, (size_t)k * d);
}

/* The order of the jobs: the longest first, so that no thread is left with a long one at the end. */
typedef struct { double cost; int job; } turn;

static int longer_first(const void *a, const void *b)
{
    const turn *x = a, *y = b;

    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    return x->job - y->job;
}

static spot_status layout(spot_ctx *c, spot_arena *a, spot_mixture_work **work, turn **turns, int jobs, int n, int d, int k,
                          int threads)
{
    SPOT_TRY(SPOT_TAKE(c, a, *turns, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, *work, threads));
    for (int t = 0; t < threads; t++) {
        spot_mixture_work counted;
        SPOT_TRY(take(c, a, a->counting ? &counted : &(*work)[t], n, d, k));
    }
    return SPOT_OK;
}

size_t spot_mixture_scratch(int jobs, int n, int d, int k, int threads)
{
    spot_ctx c = { 0 };
    spot_arena a = spot_arena_counting();
    spot_mixture_work *work;
    turn *turns;

    layout(&c, &a, &work, &turns, jobs, n, d, k, threads);
    return a.peak;
}

static spot_status em(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count, const spot_mixture_config *cfg)
{
    size_t mark = scratch->used;
    int n = 0, d = 0, k = 0, stopped = 0, threads = c->threads < count ? c->threads : count;
    spot_mixture_work *work;
    turn *turns;

    for (int j = 0; j < count; j++) {
        if (jobs[j].fit.n > n) n = jobs[j].fit.n;
        if (jobs[j].fit.d > d) d = jobs[j].fit.d;
        if (jobs[j].fit.k > k) k = jobs[j].fit.k;
    }
    SPOT_TRY(layout(c, scratch, &work, &turns, count, n, d, k, threads));
    for (int j = 0; j < count; j++) turns[j] = (turn){ (double)jobs[j].fit.n * jobs[j].fit.k, j };
    qsort(turns, (size_t)count, sizeof *turns, longer_first);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int j = 0; j < count; j++) {
        if (spot_check_stop(c) == SPOT_OK) fit_one(&work[omp_get_thread_num()], &jobs[turns[j].job], cfg);
        else {
#pragma omp atomic write
            stopped = 1;
        }
    }
    scratch->used = mark;
    return stopped ? SPOT_STOPPED : SPOT_OK;
}

const spot_mixture_ops spot_mixture_cpu = { .em = em };

spot_status spot_mixture_em(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count,
                            const spot_mixture_config *cfg)
{
    for (int j = 0; j < count; j++) {
        const spot_mixture *f = &jobs[j].fit;
        if (f->k < 1 || f->k > f->n || f->k > SPOT_MAX_COMPONENTS || f->d < 1 || f->d > SPOT_MAX_MIXTURE_DIM)
            return spot_fail(c, SPOT_INVALID, "mixture %d: %d components on (%d, %d) points; at most %d, no more than "
                             "points, in 1..%d dimensions", j, f->k, f->n, f->d, SPOT_MAX_COMPONENTS, SPOT_MAX_MIXTURE_DIM);
    }
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, mixture, em, scratch, jobs, count, cfg);
}
