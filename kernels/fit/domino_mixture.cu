/* domino_mixture.cu - Domino's mixture for all jobs of a call at once: domino_mixture.c's steps; for diagonal covariances, its
 * sums in their order. A thread owns a point in the E step and a column of a slice in the M step, where the many slices of many
 * jobs hide the latency of a chain over the rows. Ended jobs are skipped; the host looks every few iterations. */
#include "core/tile.cuh"
#include "core/vmath64.cuh"
#include "fit/domino_scratch.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/philox.h"

enum { ROWS = SPOT_DOMINO_ROWS, SLICES = 8, THREADS = 128, POLL = 8, BATCH = 40 };
enum { TILE = SPOT_TILE, SIDE = SPOT_TILE_SIDE, OWN = SPOT_TILE_OWN, SLAB = SPOT_TILE_SLAB };      /* second moments */

typedef spot_domino_state state;
typedef spot_batch<spot_domino_cells, BATCH> batch;

/* grid (ceil(n / 128), starts): domino_start.c's start_row */
static __global__ void __launch_bounds__(THREADS) confusion_kernel(const __grid_constant__ batch all)
{
    const spot_domino_cells *s = &all.of[blockIdx.y];
    const int i = blockIdx.x * THREADS + threadIdx.x, cells = s->classes * s->classes;
    double sum = 0, again = 0;

    if (i >= s->n) return;
    spot_rng noise = spot_philox_at(s->seed.seed, SPOT_RNG_DOMINO, s->seed.ec, (uint32_t)i);
    const float *p = s->p + (size_t)i * s->classes;
    for (int k = 0; k < s->k; k++) sum += s->y[i] == k % cells / s->classes ? (double)p[k % s->classes] : 0;
    for (int k = 0; k < s->k; k++) {
        double cell = s->y[i] == k % cells / s->classes ? (double)p[k % s->classes] : 0;
        double r = cell / sum + spot_philox_uniform(&noise) * s->noise;
        s->r[(size_t)k * s->n + i] = r;
        again += r;
    }
    for (int k = 0; k < s->k; k++) s->r[(size_t)k * s->n + i] /= again;
}

/* Sets every slice's mean to the mean of all points. grid (ceil(d / 128), jobs) */
static __global__ void __launch_bounds__(THREADS) mean_kernel(const state *of)
{
    const spot_domino_job *job = &of[blockIdx.y].job;
    const int j = blockIdx.x * THREADS + threadIdx.x;
    double mean = 0;

    if (j >= job->d) return;
    for (int i = 0; i < job->n; i++) mean += job->x[(size_t)i * job->d + j];
    mean /= job->n;
    for (int k = 0; k < job->k; k++) job->mean[(size_t)k * job->d + j] = mean;
}

/* Responsibilities of given labels. grid (ceil(n / 128), jobs) */
static __global__ void __launch_bounds__(THREADS) label_kernel(const state *of)
{
    const spot_domino_job *job = &of[blockIdx.y].job;
    const int i = blockIdx.x * THREADS + threadIdx.x;

    if (i >= job->n || !job->label) return;
    for (int k = 0; k < job->k; k++) job->r[(size_t)k * job->n + i] = job->label[i] == k;
}

/* |inverse factor (x - mean)|^2 */
static __device__ double full_square(const state *s, int k, int i)
{
    const int d = s->job.d;
    const double *mean = s->job.mean + (size_t)k * d, *factor = s->factor + (size_t)k * d * d;
    const float *x = s->job.x + (size_t)i * d;
    double square = 0;

    for (int a = 0; a < d; a++) {
        double u = 0;
        for (int b = 0; b <= a; b++) u = fma(factor[(size_t)a * d + b], x[b] - mean[b], u);
        square = fma(u, u, square);
    }
    return square;
}

/* Puts l into r. last: for the jobs that have ended. grid (ceil(n / 64), ceil(k / 8), jobs) */
static __global__ void __launch_bounds__(ROWS) density_kernel(const state *of, int last)
{
    const state *s = &of[blockIdx.z];
    const spot_domino_job *job = &s->job;
    const int i = blockIdx.x * ROWS + threadIdx.x, k0 = blockIdx.y * SLICES, slices = min((int)SLICES, job->k - k0), d = job->d;
    double square[SLICES] = { 0 };

    if (i >= job->n || s->done != last || job->ill) return;
    const float *x = job->x + (size_t)i * d, *p = job->p + (size_t)i * job->classes;
    for (int j = 0; j < d && !job->full; j++)
        for (int k = 0; k < SLICES; k++) {
            const size_t e = (size_t)(k0 + (k < slices ? k : 0)) * d + j;
            double u = fma((double)x[j], s->scale[e], s->shift[e]);
            square[k] = fma(u, u, square[k]);
        }
    for (int k = 0; k < slices; k++) {
        const int own = k0 + k;
        double q = 0;
        if (job->full) square[k] = full_square(s, own, i);
        for (int c = 0; c < job->classes; c++) q = fma((double)p[c], job->of_p[own * job->classes + c], q);
        q = spot_philox_log(q + DBL_EPSILON);
        job->r[(size_t)own * job->n + i] = fma(-0.5, square[k], s->base[own]) + s->log_y[own * job->classes + job->y[i]]
                                         + job->gamma_hat * q;
    }
}

/* r from l, and the log-likelihood of 64 points. grid (ceil(n / 64), jobs) */
static __global__ void __launch_bounds__(ROWS) normalise_kernel(const state *of, int last)
{
    SPOT_SHARED(double, norm, ROWS);
    const state *s = &of[blockIdx.y];
    const spot_domino_job *job = &s->job;
    const int i = blockIdx.x * ROWS + threadIdx.x, n = job->n, rows = min((int)ROWS, n - (int)(blockIdx.x * ROWS));
    double *r = job->r + i, top = 0, sum = 0, all = 0;

    if (rows <= 0 || s->done != last || job->ill) return;       /* the whole block */
    if (i < n) {
        top = r[0];
        for (int k = 1; k < job->k; k++) top = r[(size_t)k * n] > top ? r[(size_t)k * n] : top;
        for (int k = 0; k < job->k; k++) {
            double e = spot_exp64(r[(size_t)k * n] - top);
            r[(size_t)k * n] = e;
            sum += e;
        }
        for (int k = 0; k < job->k; k++) r[(size_t)k * n] /= sum;
        norm[threadIdx.x] = top + spot_philox_log(sum);
    }
    __syncthreads();
    if (threadIdx.x) return;
    for (int e = 0; e < rows; e++) all += norm[e];
    s->part[blockIdx.x] = all;
}

/* Second moments of a slice about its last mean, on and below the diagonal; above it 0.
 * grid (ceil(d / 64)^2, k, jobs), block (16, 16) */
static __global__ void __launch_bounds__(SIDE * SIDE) second_kernel(const state *of)
{
    SPOT_SHARED(double, slab_a, SLAB * TILE);
    SPOT_SHARED(double, slab_b, SLAB * TILE);
    const state *s = &of[blockIdx.z];
    const spot_domino_job *job = &s->job;
    const int k = blockIdx.y, d = job->d, side = (d + TILE - 1) / TILE, n = job->n;
    const int a0 = (int)blockIdx.x / side * TILE, b0 = (int)blockIdx.x % side * TILE;
    double sum[OWN][OWN] = { { 0 } };

    if (!job->full || k >= job->k || s->done || a0 >= d) return;      /* the whole block */
    const double *mean = job->mean + (size_t)k * d, *r = job->r + (size_t)k * n;
    for (int i0 = 0; i0 < n && b0 <= a0; i0 += SLAB) {
        for (int e = threadIdx.y * SIDE + threadIdx.x; e < SLAB * TILE; e += SIDE * SIDE) {
            const int i = i0 + e / TILE, a = a0 + e % TILE, b = b0 + e % TILE;
            const double own = i < n && r[i] > SPOT_DOMINO_LEAST ? r[i] : 0;
            slab_a[e] = own > 0 && a < d ? own * (job->x[(size_t)i * d + a] - mean[a]) : 0.0;
            slab_b[e] = own > 0 && b < d ? job->x[(size_t)i * d + b] - mean[b] : 0.0;
        }
        __syncthreads();
        spot_tile_add<spot_tile_product>(sum, slab_a, slab_b, SLAB);
        __syncthreads();
    }
    for (int u = 0; u < OWN; u++)
        for (int v = 0; v < OWN; v++) {
            const int a = a0 + u * SIDE + threadIdx.y, b = b0 + v * SIDE + threadIdx.x;
            if (a < d && b < d) s->factor[((size_t)k * d + a) * d + b] = b <= a ? sum[u][v] : 0.0;
        }
}

/* The d x d matrix f becomes the inverse of its lower Cholesky factor, by the whole block. False if it is not
 * positive definite. */
static __device__ bool inverse_cholesky(double *f, int d)
{
    for (int j = 0; j < d; j++) {
        double *column = f + j;
        for (int i = j + threadIdx.x; i < d; i += THREADS) {
            const double *own = f + (size_t)i * d, *pivot = f + (size_t)j * d;
            double s = column[(size_t)i * d];
            for (int t = 0; t < j; t++) s = fma(-own[t], pivot[t], s);
            column[(size_t)i * d] = s;
        }
        __syncthreads();
        const double square = f[(size_t)j * d + j];
        __syncthreads();
        if (!(square > 0 && square < INFINITY)) return false;
        for (int i = j + threadIdx.x; i < d; i += THREADS) column[(size_t)i * d] /= sqrt(square);
        __syncthreads();
    }
    for (int j = threadIdx.x; j < d; j += THREADS)      /* column j of the inverse goes above the diagonal, as row j */
        for (int i = j + 1; i < d; i++) {
            double s = -f[(size_t)i * d + j] / f[(size_t)j * d + j];
            for (int t = j + 1; t < i; t++) s = fma(-f[(size_t)i * d + t], f[(size_t)j * d + t], s);
            f[(size_t)j * d + i] = s / f[(size_t)i * d + i];
        }
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += THREADS) {
        f[(size_t)i * d + i] = 1 / f[(size_t)i * d + i];
        for (int j = 0; j < i; j++) {
            f[(size_t)i * d + j] = f[(size_t)j * d + i];
            f[(size_t)j * d + i] = 0;
        }
    }
    __syncthreads();
    return true;
}

/* Chains over the rows of slice k: columns' moments, the share of rows, of labels and of predictions. */
static __device__ void sum_slice(const state *s, int k, double *count)
{
    const spot_domino_job *job = &s->job;
    const int n = job->n, d = job->d, classes = job->classes;
    const double *r = job->r + (size_t)k * n;

    for (int e = threadIdx.x; e < d + 1 + 2 * classes; e += THREADS) {
        const int other = e - d - 1, cl = other % classes;
        const double mean = e < d ? job->mean[(size_t)k * d + e] : 0;
        double first = 0, second = 0;
        for (int i = 0; i < n; i++) {
            const double own = r[i];
            if (!(own > SPOT_DOMINO_LEAST)) continue;
            if (e < d) {
                double off = job->x[(size_t)i * d + e] - mean, weighted = own * off;
                first += weighted;
                second = fma(weighted, off, second);
            } else if (e == d) first += own;
            else if (other < classes) first += job->y[i] == cl ? own : 0;
            else first = fma(own, (double)job->p[(size_t)i * classes + cl], first);
        }
        if (e < d) { s->scale[(size_t)k * d + e] = first; s->shift[(size_t)k * d + e] = second; }
        else if (e == d) *count = first;
        else (other < classes ? job->of_y : job->of_p)[k * classes + cl] = first;
    }
    __syncthreads();
}

/* Means, variances and scales; full: means and the covariance, which goes into factor. */
static __device__ bool update_slice(const state *s, int k, double count, double nk, double ridge)
{
    const spot_domino_job *job = &s->job;
    const int d = job->d;
    const double added = 10 * DBL_EPSILON;
    double *first = s->scale + (size_t)k * d, *second = s->shift + (size_t)k * d, *moved = s->logs + (size_t)k * d;
    double *factor = s->factor + (size_t)k * d * d, *covariance = job->covariance + (size_t)k * d * (job->full ? d : 1);
    bool ill = false;

    for (int j = threadIdx.x; j < d; j += THREADS) {
        double *mean = &job->mean[(size_t)k * d + j], now = (first[j] + count * *mean) / nk, off = now - *mean;
        *mean = now;
        moved[j] = off;
        if (job->full) continue;
        double v = (second[j] - 2 * off * first[j] + count * off * off + added * now * now) / nk;
        v = (v > 0 ? v : 0) + ridge;
        covariance[j] = v;
        if (!(v > 0 && v < INFINITY)) { ill = true; continue; }
        first[j] = 1 / sqrt(v);
        second[j] = -now * first[j];
        moved[j] = spot_philox_log(first[j]);
    }
    if (__syncthreads_or(ill)) return false;
    if (!job->full) return true;
    for (int e = threadIdx.x; e < d * d; e += THREADS) {
        const int a = e / d, b = e % d;
        if (b > a) continue;
        double v = (factor[e] - moved[a] * first[b] - first[a] * moved[b] + count * moved[a] * moved[b]) / nk;
        v += a == b ? ridge : 0;
        factor[e] = covariance[e] = covariance[(size_t)b * d + a] = v;
    }
    __syncthreads();
    if (!inverse_cholesky(factor, d)) return false;
    for (int j = threadIdx.x; j < d; j += THREADS) moved[j] = spot_philox_log(factor[(size_t)j * d + j]);
    __syncthreads();
    return true;
}

/* grid (k, jobs) */
static __global__ void __launch_bounds__(THREADS) maximise_kernel(state *of, double ridge)
{
    SPOT_SHARED(double, count, 1);
    state *s = &of[blockIdx.y];
    const spot_domino_job *job = &s->job;
    const int k = blockIdx.x, d = job->d, classes = job->classes;
    double logs = 0;

    if (k >= job->k || s->done) return;      /* the whole block */
    sum_slice(s, k, count);
    const double nk = *count + 10 * DBL_EPSILON;
    for (int e = k * classes + threadIdx.x; e < (k + 1) * classes; e += THREADS) {
        job->of_y[e] /= nk;
        job->of_p[e] /= nk;
        s->log_y[e] = job->gamma * spot_philox_log(job->of_y[e] + DBL_EPSILON);
    }
    const bool well = update_slice(s, k, *count, nk, ridge);
    if (threadIdx.x) return;
    if (!well) atomicAdd(&s->job.ill, 1);
    job->weight[k] = nk / job->n;
    for (int j = 0; j < d; j++) logs += s->logs[(size_t)k * d + j];
    s->base[k] = spot_philox_log(job->weight[k]) - 0.5 * d * 1.83787706640934548356 + logs;      /* log 2 pi */
}

/* After an E and an M step, or after the first M step. grid (ceil(jobs / 128)) */
static __global__ void __launch_bounds__(THREADS) decide_kernel(state *of, int count, int first, spot_mixture_config cfg,
                                                                unsigned *going)
{
    const int own = blockIdx.x * THREADS + threadIdx.x;
    double now = 0;

    if (own >= count || of[own].done) return;
    state *s = &of[own];
    spot_domino_job *job = &s->job;
    if (!first) {
        for (int t = 0; t * ROWS < job->n; t++) now += s->part[t];
        now /= job->n;
        if (job->bound) job->bound[job->iterations] = now;
        job->iterations++;
        job->converged = fabs(now - s->before) < cfg.tol;
        job->last_bound = s->before = now;
    }
    s->done = job->ill || job->converged || job->iterations >= cfg.max_iterations;
    if (!s->done) atomicAdd(going, 1u);
}

typedef spot_domino_sizes sizes;

static void launch_expect(cudaStream_t stream, const spot_domino_space *m, const sizes *of, int last)
{
    const int tiles = spot_blocks(of->n, ROWS);

    SPOT_LAUNCH(density_kernel, dim3(tiles, spot_blocks(of->k, SLICES), of->count), ROWS, 0, stream, m->state, last);
    SPOT_LAUNCH(normalise_kernel, dim3(tiles, of->count), ROWS, 0, stream, m->state, last);
}

static void launch_maximise(cudaStream_t stream, const spot_domino_space *m, const sizes *of, const spot_mixture_config *cfg,
                            int first)
{
    const int side = spot_blocks(of->d, TILE);

    if (of->full)
        SPOT_LAUNCH(second_kernel, dim3(side * side, of->k, of->count), dim3(SIDE, SIDE), 0, stream, m->state);
    SPOT_LAUNCH(maximise_kernel, dim3(of->k, of->count), THREADS, 0, stream, m->state, cfg->ridge);
    SPOT_LAUNCH(decide_kernel, spot_blocks(of->count, THREADS), THREADS, 0, stream, m->state, of->count, first, *cfg, m->going);
}

static spot_status run_rounds(spot_ctx *c, const spot_domino_space *m, const sizes *of, const spot_mixture_config *cfg)
{
    cudaStream_t stream = spot_cuda_stream(c);
    unsigned going = 1;

    SPOT_LAUNCH(mean_kernel, dim3(spot_blocks(of->d, THREADS), of->count), THREADS, 0, stream, m->state);
    SPOT_LAUNCH(label_kernel, dim3(spot_blocks(of->n, THREADS), of->count), THREADS, 0, stream, m->state);
    launch_maximise(stream, m, of, cfg, 1);
    while (going) {
        SPOT_TRY(spot_check_stop(c));
        for (int i = 0; i < POLL; i++) {
            SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->going, 0, sizeof going, stream), "domino.em: its counter"));
            launch_expect(stream, m, of, 0);
            launch_maximise(stream, m, of, cfg, 0);
        }
        SPOT_TRY(spot_cuda_launched(c, "domino.em of %d jobs, at most (%d,%d), %d slices", of->count, of->n, of->d, of->k));
        SPOT_TRY(spot_cuda_memory(c)->copy(c, &going, m->going, sizeof going));
    }
    launch_expect(stream, m, of, 1);
    return spot_cuda_launched(c, "domino.em of %d jobs, their last E step", of->count);
}

static spot_status needs_job(spot_ctx *c, const spot_domino_job *job)
{
    if (job->label) SPOT_TRY(spot_cuda_needs(c, job->label, "domino.em: label"));
    if (job->bound) SPOT_TRY(spot_cuda_needs(c, job->bound, "domino.em: bound"));
    return spot_cuda_needs_all(c, "domino.em", { { job->x, "x" }, { job->y, "y" }, { job->p, "p" }, { job->r, "r" },
                               { job->weight, "weight" }, { job->mean, "mean" }, { job->covariance, "covariance" },
                               { job->of_y, "of_y" }, { job->of_p, "of_p" } });
}

/* of: the most of any job. host: (count) */
static spot_status run_jobs(spot_ctx *c, const spot_domino_space *m, state *host, spot_domino_job *jobs, const sizes *of,
                            const spot_mixture_config *cfg)
{
    const size_t values = (size_t)of->k * of->d, bytes = of->count * sizeof *host, parts = spot_blocks(of->n, ROWS);

    SPOT_TRY(spot_cuda_needs(c, m->state, "domino.em: scratch"));
    for (int j = 0; j < of->count; j++) {
        state *s = &host[j];
        SPOT_TRY(needs_job(c, &jobs[j]));
        *s = { jobs[j], m->scale + j * values, m->shift + j * values, of->full ? m->factor + j * values * of->d : NULL,
               m->logs + j * values, m->base + (size_t)j * of->k, m->log_y + (size_t)j * of->k * of->classes,
               m->part + j * parts, -INFINITY, 0 };
        s->job.iterations = s->job.converged = s->job.ill = 0;
    }
    SPOT_TRY(spot_cuda_memory(c)->copy(c, m->state, host, bytes));
    SPOT_TRY(run_rounds(c, m, of, cfg));
    SPOT_TRY(spot_cuda_memory(c)->copy(c, host, m->state, bytes));
    for (int j = 0; j < of->count; j++) jobs[j] = host[j].job;
    return SPOT_OK;
}

static spot_status em_cuda(spot_ctx *c, spot_arena *scratch, int count, spot_domino_job *jobs, const spot_mixture_config *cfg)
{
    const size_t mark = scratch->used;
    sizes of = { count };
    spot_domino_space m;

    for (int j = 0; j < count; j++) {
        of.n = max(of.n, jobs[j].n);
        of.d = max(of.d, jobs[j].d);
        of.k = max(of.k, jobs[j].k);
        of.full |= jobs[j].full;
        of.classes = max(of.classes, jobs[j].classes);
    }
    SPOT_TRY(spot_domino_space_take(c, scratch, &m, &of));
    state *host = (state *)malloc(count * sizeof *host);
    spot_status s = host ? run_jobs(c, &m, host, jobs, &of, cfg)
                         : spot_fail(c, SPOT_NOMEM, "no memory for %d of Domino's mixtures", count);
    free(host);
    scratch->used = mark;
    return s;
}

static spot_status confusion_cuda(spot_ctx *c, int count, const spot_domino_cells *cells)
{
    const int n = SPOT_MOST(count, cells, n);

    for (int j = 0; j < count; j++)
        SPOT_TRY(spot_cuda_needs_all(c, "domino.confusion", { { cells[j].y, "y" }, { cells[j].p, "p" }, { cells[j].r, "r" } }));
    return spot_cuda_batches<batch>(count, cells, [=](auto &all, int some) {
        SPOT_LAUNCH(confusion_kernel, dim3(spot_blocks(n, THREADS), some), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "domino.confusion of %d starts, at most %d rows", some, n);
    });
}

extern const spot_domino_ops spot_domino_cuda = { .confusion = confusion_cuda, .em = em_cuda };
