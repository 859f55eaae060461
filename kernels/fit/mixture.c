/* mixture.c - Gaussian mixtures: the checked entry and EM on the CPU. One thread a fit, vectors of points. */
#include "fit/mixture.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/problems.h"
#include "fit/mixture_cpu.h"
#include "fit/mixture_scratch.h"
#include "fit/mixture_step.h"

/* E step of one tile, blocks from..from+TILE: responsibilities into w->resp, zero for padding. Returns the tile's
 * log-likelihood. label: also the best component of each point, into w->label. */
VD_INLINE double expect_tile(spot_mixture_work *w, int d, int from, bool label)
{
    vd top[TILE], sum[TILE] = { { 0 } }, total = { 0 }, product = vd_all(1);
    vi best[TILE] = { { 0 } };

    for (int b = 0; b < TILE; b++) top[b] = vd_all(-INFINITY);
    for (int k = 0; k < w->k; k++) {
        const double *mean = w->component + k * w->stride + 1, *factor = mean + d;
        for (int b = 0; b < TILE; b++) {
            const double *f = factor;
            vd diff[SPOT_MAX_MIXTURE_DIM], square = { 0 }, log_density;
            for (int i = 0; i < d; i++) {
                vd y = { 0 };
                diff[i] = w->x[(size_t)i * w->blocks + from + b] - mean[i];
                for (int j = 0; j <= i; j++) y = vd_fma(vd_all(*f++), diff[j], y);
                square = vd_fma(y, y, square);
            }
            log_density = vd_fma(vd_all(-0.5), square, vd_all(mean[-1]));
            if (label) best[b] = vi_pick(log_density > top[b], (vi){ 0 } + k, best[b]);
            top[b] = vd_max(log_density, top[b]);
            w->resp[k * TILE + b] = log_density;
        }
    }
    for (int k = 0; k < w->k; k++)
        for (int b = 0; b < TILE; b++) {
            vd *r = &w->resp[k * TILE + b];
            *r = vd_exp(*r - top[b]);
            sum[b] += *r;
        }
    /* 1 <= sum <= k: a tile's product stays below 64^64, so that one logarithm serves all its points. */
    for (int b = 0; b < TILE; b++) {
        vd live = w->live[from + b];
        total += live * top[b];
        product *= 1.0 + live * (sum[b] - 1.0);
        sum[b] = live / sum[b];
        if (label) w->label[from + b] = best[b];
    }
    for (int k = 0; k < w->k; k++)
        for (int b = 0; b < TILE; b++) w->resp[k * TILE + b] *= sum[b];
    for (int i = 1; i < LANES; i++) product[0] *= product[i];
    return vd_sum(total) + log(product[0]);
}

/* M step, first half: adds one tile's moments about the present means. */
VD_INLINE void add_moments(spot_mixture_work *w, int d, int from)
{
    for (int k = 0; k < w->k; k++) {
        const double *mean = w->component + k * w->stride + 1;
        vd m[1 + SPOT_MAX_MIXTURE_DIM * (SPOT_MAX_MIXTURE_DIM + 3) / 2], *moment = w->moment + k * w->stride;
        int stride = 1 + d + d * (d + 1) / 2;
        for (int i = 0; i < stride; i++) m[i] = moment[i];
        for (int b = 0; b < TILE; b++) {
            vd r = w->resp[k * TILE + b], diff[SPOT_MAX_MIXTURE_DIM], *product = m + 1 + d;
            m[0] += r;
            for (int i = 0; i < d; i++) {
                diff[i] = w->x[(size_t)i * w->blocks + from + b] - mean[i];
                vd weighted = r * diff[i];
                m[1 + i] += weighted;
                for (int j = 0; j <= i; j++) { *product = vd_fma(weighted, diff[j], *product); product++; }
            }
        }
        for (int i = 0; i < stride; i++) moment[i] = m[i];
    }
}

/* E step and the moments of the M step. Returns the log-likelihood. */
VD_INLINE double em_step(spot_mixture_work *w, int d)
{
    double sum = 0;

    memset(w->moment, 0, (size_t)w->k * w->stride * sizeof *w->moment);
    for (int from = 0; from < w->blocks; from += TILE) {
        sum += expect_tile(w, d, from, false);
        add_moments(w, d, from);
    }
    return sum;
}

/* The last E step: no moments, but the labels. */
VD_INLINE double label_step(spot_mixture_work *w, int d)
{
    double sum = 0;

    for (int from = 0; from < w->blocks; from += TILE) sum += expect_tile(w, d, from, true);
    return sum;
}

/* M step, second half: weights, means, covariances from the moments, and the factors that the next E step needs.
 * Moments about the old mean give those about the new exactly, with no second pass. Returns the components without
 * a factor. */
static int maximise_components(spot_mixture_work *w, spot_mixture *fit, double ridge)
{
    int d = w->d, ill = 0;
    double nk[SPOT_MAX_COMPONENTS], all = 0;

    for (int k = 0; k < w->k; k++) all += nk[k] = vd_sum(w->moment[k * w->stride]) + 10 * DBL_EPSILON;
    for (int k = 0; k < w->k; k++) {
        const vd *moment = w->moment + k * w->stride, *second = moment + 1 + d;
        double *component = w->component + k * w->stride, *mean = component + 1, *factor = mean + d, *a = factor;
        double count = vd_sum(moment[0]), first[SPOT_MAX_MIXTURE_DIM], shift[SPOT_MAX_MIXTURE_DIM];
        for (int i = 0; i < d; i++) {
            double now;
            first[i] = vd_sum(moment[1 + i]);
            now = (first[i] + count * mean[i]) / nk[k];
            shift[i] = now - mean[i];
            mean[i] = fit->mean[k * d + i] = now;
        }
        for (int i = 0; i < d; i++)
            for (int j = 0; j <= i; j++) {
                double s = vd_sum(*second++) - shift[i] * first[j] - first[i] * shift[j] + count * shift[i] * shift[j];
                *a = s / nk[k] + (i == j ? ridge : 0);
                fit->covariance[(k * d + i) * d + j] = fit->covariance[(k * d + j) * d + i] = *a++;
            }
        fit->weight[k] = nk[k] / all;
        if (!spot_mixture_inverse_cholesky(factor, d)) { ill++; continue; }
        component[0] = log(fit->weight[k]) - 0.5 * d * log(2 * 3.14159265358979323846);
        for (int i = 0; i < d; i++) component[0] += log(factor[i * (i + 3) / 2]);
    }
    return ill;
}

/* The moments of given responsibilities, or of the k-means clusters. */
VD_INLINE double start_step(spot_mixture_work *w, int d)
{
    memset(w->moment, 0, (size_t)w->k * w->stride * sizeof *w->moment);
    for (int from = 0; from < w->blocks; from += TILE) {
        for (int k = 0; k < w->k; k++)
            for (int b = 0; b < TILE; b++)
                w->resp[k * TILE + b] = (vd)((w->label[from + b] == k) & (vi)w->live[from + b]);
        for (int i = from * LANES; w->given && i < (from + TILE) * LANES && i < w->n; i++)
            for (int k = 0; k < w->k; k++)
                w->resp[k * TILE + i / LANES - from][i % LANES] = w->given[(size_t)i * w->k + k];
        add_moments(w, d, from);
    }
    return 0;
}

/* The first M step. Twice: once to find the means, once to take the moments about them, so that no digits cancel. */
static int first_maximise(spot_mixture_work *w, spot_mixture *fit, double ridge)
{
    int ill = 0;

    for (int k = 0; k < w->k; k++)
        for (int a = 0; a < w->d; a++) w->component[k * w->stride + 1 + a] = w->x[(size_t)a * w->blocks][0];
    for (int twice = 0; twice < 2; twice++) {
        BY_DIMENSION(start_step, w);
        ill = maximise_components(w, fit, ridge);
    }
    return ill;
}

static int blocks_of(int n) { return (n + LANES * TILE - 1) / (LANES * TILE) * TILE; }

static void load_job(spot_mixture_work *w, const spot_mixture_job *job)
{
    w->given = job->resp;
    w->n = job->fit.n;
    w->d = job->fit.d;
    w->k = job->fit.k;
    w->blocks = blocks_of(w->n);
    w->stride = 1 + w->d + w->d * (w->d + 1) / 2;
    for (int i = 0; i < LANES * w->blocks; i++) {
        const float *point = job->x + (size_t)(i < w->n ? i : 0) * w->d;
        for (int a = 0; a < w->d; a++) w->x[(size_t)a * w->blocks + i / LANES][i % LANES] = point[a];
        w->live[i / LANES][i % LANES] = i < w->n;
    }
}

static void fit_one(spot_mixture_work *w, spot_mixture *fit, const spot_mixture_config *cfg)
{
    double before = -INFINITY;

    fit->iterations = fit->converged = 0;
    fit->ill = first_maximise(w, fit, cfg->ridge);
    while (!fit->ill && !fit->converged && fit->iterations < cfg->max_iterations) {
        double now = BY_DIMENSION(em_step, w) / w->n;
        fit->ill = maximise_components(w, fit, cfg->ridge);
        fit->iterations++;
        fit->converged = fabs(now - before) < cfg->tol;
        before = now;
    }
    if (!fit->ill) fit->log_likelihood = BY_DIMENSION(label_step, w);
}

static spot_status take_work(spot_ctx *c, spot_arena *a, void *lane, const void *most, int threads)
{
    const spot_mixture *fit = most;
    int d = fit->d, k = fit->k;
    size_t blocks = (size_t)blocks_of(fit->n), stride = 1 + (size_t)d * (d + 3) / 2;
    spot_mixture_work *w = lane;

    (void)threads;
    SPOT_TRY(SPOT_TAKE(c, a, w->x, d * blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->live, blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->label, blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->near, blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->prefix, LANES * blocks));
    SPOT_TRY(SPOT_TAKE(c, a, w->resp, (size_t)k * TILE));
    SPOT_TRY(SPOT_TAKE(c, a, w->moment, k * stride));
    SPOT_TRY(SPOT_TAKE(c, a, w->component, k * stride));
    SPOT_TRY(SPOT_TAKE(c, a, w->centre, (size_t)k * d));
    return SPOT_TAKE(c, a, w->sum, (size_t)k * d);
}

/* The order of the jobs: the longest first, so that no thread starts a long one at the end. */
typedef struct { double cost; spot_mixture_job *job; } queued;

static int longer_first(const void *a, const void *b)
{
    const queued *x = a, *y = b;

    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    return x->job < y->job ? -1 : 1;
}

/* EM of a job; without a config only k-means. */
static spot_status run_job(spot_ctx *c, void *lane, void *entry, const void *cfg, int threads)
{
    spot_mixture_job *job = ((queued *)entry)->job;
    spot_mixture_work *w = lane;

    (void)threads;
    SPOT_TRY(spot_check_stop(c));
    load_job(w, job);
    if (!job->resp) {
        spot_rng r = spot_rng_at(job->seed.seed, SPOT_RNG_KMEANS, job->seed.ec, (uint32_t)w->k + 256 * job->start);
        spot_mixture_start(w, &r);
    }
    if (cfg) fit_one(w, &job->fit, cfg);
    for (int i = 0; i < w->n && !(cfg && job->fit.ill); i++) job->label[i] = (uint8_t)w->label[i / LANES][i % LANES];
    return SPOT_OK;
}

static const spot_job_kind kind = { sizeof(spot_mixture_work), sizeof(queued), take_work, run_job };

static int lanes_for(int jobs, int threads) { return threads < jobs ? threads : jobs; }

size_t spot_mixture_scratch(int jobs, int n, int d, int k, int threads)
{
    const spot_mixture most = { .n = n, .d = d, .k = k };
    spot_ctx c = { .threads = threads };
    spot_arena a = spot_arena_counting();
    spot_mixture_space space;
    queued *queue;

    if (!threads) {
        spot_mixture_space_take(&c, &a, &space, jobs, n, d, k);
        return a.peak;
    }
    SPOT_TAKE(&c, &a, queue, jobs);
    spot_run_jobs(&c, &a, &kind, lanes_for(jobs, threads), &most, 0, NULL, NULL);
    return a.peak;
}

static spot_status em_cpu(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count, const spot_mixture_config *cfg)
{
    const spot_mixture most = { .n = SPOT_MOST(count, jobs, fit.n), .d = SPOT_MOST(count, jobs, fit.d),
                                .k = SPOT_MOST(count, jobs, fit.k) };
    size_t mark = scratch->used;
    spot_status status;
    queued *queue;

    SPOT_TRY(SPOT_TAKE(c, scratch, queue, count));
    for (int j = 0; j < count; j++) queue[j] = (queued){ (double)jobs[j].fit.n * jobs[j].fit.k, &jobs[j] };
    qsort(queue, (size_t)count, sizeof *queue, longer_first);
    status = spot_run_jobs(c, scratch, &kind, lanes_for(count, c->threads), &most, count, queue, cfg);
    scratch->used = mark;
    return status;
}

static spot_status kmeans_cpu(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count)
{
    return em_cpu(c, scratch, jobs, count, NULL);
}

const spot_mixture_ops spot_mixture_cpu = { .em = em_cpu, .kmeans = kmeans_cpu };

static spot_status check_jobs(spot_ctx *c, const spot_mixture_job *jobs, int count)
{
    for (int j = 0; j < count; j++) {
        const spot_mixture *f = &jobs[j].fit;
        if (f->k < 1 || f->k > f->n || f->k > SPOT_MAX_COMPONENTS || f->d < 1 || f->d > SPOT_MAX_MIXTURE_DIM)
            return spot_fail(c, SPOT_INVALID, "mixture %d: %d components on (%d, %d) points; at most %d, no more than "
                             "points, in 1..%d dimensions", j, f->k, f->n, f->d, SPOT_MAX_COMPONENTS, SPOT_MAX_MIXTURE_DIM);
    }
    return SPOT_OK;
}

spot_status spot_mixture_em(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count,
                            const spot_mixture_config *cfg)
{
    SPOT_TRY(check_jobs(c, jobs, count));
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, mixture, em, scratch, jobs, count, cfg);
}

spot_status spot_mixture_kmeans(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count)
{
    SPOT_TRY(check_jobs(c, jobs, count));
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, mixture, kmeans, scratch, jobs, count);
}
