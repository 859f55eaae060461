/* mixture.cu - EM for all fits of a call, a block a fit: mixture.c's steps, its sums in another order.
 *
 * Points are read from global memory: a fit's few kilobytes stay in the cache, and the arithmetic takes far longer.
 * Responsibilities are not stored: the E step keeps each point's log-normaliser, the M step gives each component to a
 * warp, which computes its densities again. */
#include "fit/mixture.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/philox.h"
#include "fit/mixture_step.h"
#include "core/vmath64.cuh"

enum { POLL = 25 };   /* iterations of a fit between two looks at the stop flag */

typedef spot_mixture_state state;
typedef enum { FROM_LABELS, FROM_GIVEN, FROM_DENSITIES } source;

/* Functions of D dimensions keep their arrays in registers. D = 0 is any d, in slow local memory. */
#define SIZE(D) ((D) ? (D) : SPOT_MAX_MIXTURE_DIM)

/* Point i from the mean of a component. */
template <int D> static __device__ void differ(double *diff, const state *f, int i, const double *component)
{
    const int d = D ? D : f->d;

    for (int a = 0; a < d; a++) diff[a] = f->x[(size_t)i * d + a] - component[1 + a];
}

/* Log of weight times density at mean + diff. */
template <int D> static __device__ double log_density(const double *component, const double *diff, int any)
{
    const int d = D ? D : any;
    const double *factor = component + 1 + d;
    double square = 0;

    for (int i = 0; i < d; i++) {
        double y = 0;
        for (int j = 0; j <= i; j++) y = fma(*factor++, diff[j], y);
        square = fma(y, y, square);
    }
    return fma(-0.5, square, component[0]);
}

/* E step: every point's log-normaliser into w->point; the log-likelihood. label: also the best component, the first of
 * equals. */
template <int D> static __device__ double expect(const state *f, const work *w, bool label)
{
    double total = 0;

    for (int i = thread(); i < f->n; i += THREADS) {
        double top = -INFINITY, sum = 0, diff[SIZE(D)];
        int best = 0;
        for (int k = 0; k < f->k; k++) {
            const double *component = f->component + k * f->stride;
            differ<D>(diff, f, i, component);
            double l = log_density<D>(component, diff, f->d), e = spot_exp64(-fabs(l - top));
            bool better = l > top;
            sum = better ? sum * e + 1 : sum + e;
            top = better ? l : top;
            best = better ? k : best;
        }
        w->point[i] = top + spot_philox_log(sum);
        total += w->point[i];
        if (label) f->label[i] = (uint8_t)best;
    }
    return spot_block_sum<THREADS>(total);
}

/* M step, first half: moments about the present means. */
template <int D> static __device__ void add_moments(const state *f, const work *w, source from)
{
    const int d = D ? D : f->d, stride = 1 + d + d * (d + 1) / 2;

    for (int k = warp(); k < f->k; k += WARPS) {
        const double *component = f->component + k * stride;
        double m[1 + SIZE(D) * (SIZE(D) + 3) / 2], diff[SIZE(D)];
        for (int s = 0; s < stride; s++) m[s] = 0;
        for (int i = lane(); i < f->n; i += WARP) {
            double r, *product = m + 1 + d;
            differ<D>(diff, f, i, component);
            if (from == FROM_DENSITIES) r = spot_exp64(log_density<D>(component, diff, d) - w->point[i]);
            else r = from == FROM_GIVEN ? f->resp[(size_t)i * f->k + k] : f->label[i] == k;
            m[0] += r;
            for (int a = 0; a < d; a++) {
                double weighted = r * diff[a];
                m[1 + a] += weighted;
                for (int b = 0; b <= a; b++, product++) *product = fma(weighted, diff[b], *product);
            }
        }
        for (int s = 0; s < stride; s++) {
            double sum = spot_warp_sum(m[s]);
            if (!lane()) w->moment[k * stride + s] = sum;
        }
    }
    __syncthreads();
}

/* M step, second half, of component k, which has nk of `all` points: see mixture.c. False when it has no factor. */
static __device__ bool maximise_one(const state *f, const double *moment, int k, double nk, double all, double ridge)
{
    const int d = f->d;
    const double count = moment[0], *first = moment + 1, *second = first + d;
    double *component = f->component + k * f->stride, *mean = component + 1, *factor = mean + d, *a = factor;
    double shift[SPOT_MAX_MIXTURE_DIM];

    for (int i = 0; i < d; i++) {
        double now = (first[i] + count * mean[i]) / nk;
        shift[i] = now - mean[i];
        mean[i] = f->mean[k * d + i] = now;
    }
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double s = *second++ - shift[i] * first[j] - first[i] * shift[j] + count * shift[i] * shift[j];
            *a = s / nk + (i == j ? ridge : 0);
            f->covariance[(k * d + i) * d + j] = f->covariance[(k * d + j) * d + i] = *a++;
        }
    f->weight[k] = nk / all;
    if (!spot_mixture_inverse_cholesky(factor, d)) return false;
    component[0] = spot_philox_log(f->weight[k]) - 0.5 * d * 1.83787706640934548356;   /* log 2 pi */
    for (int i = 0; i < d; i++) component[0] += spot_philox_log(factor[i * (i + 3) / 2]);
    return true;
}

/* A thread a component. Returns the number without a factor. */
static __device__ int maximise(const state *f, const work *w, double ridge)
{
    const double more = 10 * 2.2204460492503131e-16;
    const int own = thread();
    double all = 0;
    bool ill = false;

    if (own < f->k) {
        for (int k = 0; k < f->k; k++) all += w->moment[k * f->stride] + more;
        ill = !maximise_one(f, w->moment + own * f->stride, own, w->moment[own * f->stride] + more, all, ridge);
    }
    return __syncthreads_count(ill);
}

/* The first M step, about the first point. Twice: once to find the means, once to take the moments about them, so that no
 * digits cancel. */
template <int D> static __device__ int first_maximise(const state *f, const work *w, double ridge)
{
    int ill = 0;

    for (int k = thread(); k < f->k; k += THREADS)
        for (int a = 0; a < f->d; a++) f->component[k * f->stride + 1 + a] = f->x[a];
    __syncthreads();
    for (int twice = 0; twice < 2; twice++) {
        add_moments<D>(f, w, f->resp ? FROM_GIVEN : FROM_LABELS);
        ill = maximise(f, w, ridge);
    }
    return ill;
}

/* Runs at most POLL iterations. A fit that has ended gets its labels, unless a component has no factor. */
template <int D> static __device__ void advance_fit(state *f, const work *w, const spot_mixture_config *cfg)
{
    if (!f->iterations) f->ill = first_maximise<D>(f, w, cfg->ridge);
    for (int i = 0; i < POLL && !f->ill && !f->converged && f->iterations < cfg->max_iterations; i++) {
        double now = expect<D>(f, w, false) / f->n;
        add_moments<D>(f, w, FROM_DENSITIES);
        f->ill = maximise(f, w, cfg->ridge);
        f->iterations++;
        f->converged = fabs(now - f->before) < cfg->tol;
        f->before = now;
    }
    f->done = f->ill || f->converged || f->iterations >= cfg->max_iterations;
    if (f->done && !f->ill) f->log_likelihood = expect<D>(f, w, true);
}

/* The template parameter D for d dimensions: the usual ones, 2 to 4, have kernels of their own. */
static inline __host__ __device__ int kernel_of(int d) { return d >= 2 && d <= 4 ? d : 0; }

/* The fits of kernel_of(d) == D. */
template <int D> static __global__ void __launch_bounds__(THREADS) em_kernel(spot_mixture_space m, unsigned count,
                                                                             spot_mixture_config cfg)
{
    SPOT_SHARED(unsigned, turn, 1);
    const work w = work_of(&m);

    for (unsigned own; (own = next_fit(&m, turn)) < count;) {
        state f = m.fit[own];   /* every thread has its copy, and all copies go the same way */
        if (f.done || kernel_of(f.d) != D) continue;
        advance_fit<D>(&f, &w, &cfg);
        if (thread()) continue;
        m.fit[own] = f;
        if (!f.done) atomicAdd(&m.counter[1], 1u);
    }
}

template <int D> static spot_status launch(spot_ctx *c, const spot_mixture_space *m, const state *fit, int count,
                                           const spot_mixture_config *cfg)
{
    cudaStream_t stream = spot_cuda_stream(c);
    bool any = false;

    for (int j = 0; j < count; j++) any = any || kernel_of(fit[j].d) == D;
    if (!any) return SPOT_OK;
    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(&m->counter[0], 0, sizeof *m->counter, stream), "mixture.em: its counter"));
    SPOT_LAUNCH(em_kernel<D>, m->blocks, THREADS, 0, stream, *m, (unsigned)count, *cfg);
    return spot_cuda_launched(c, "mixture.em of %d fits, at most %zu points", count, m->points);
}

/* The starts, then rounds of POLL iterations of every fit until all have ended; without cfg only the starts.
 * fit: (count), on the host */
static spot_status run_rounds(spot_ctx *c, const spot_mixture_space *m, const state *fit, int count,
                              const spot_mixture_config *cfg)
{
    cudaStream_t stream = spot_cuda_stream(c);
    const size_t bytes = 2 * sizeof *m->counter;
    unsigned counter[2] = { 0, 0 };

    SPOT_TRY(spot_check_stop(c));
    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->counter, 0, bytes, stream), "mixture.em: its counters"));
    SPOT_TRY(spot_mixture_start_cuda(c, m, count));
    if (!cfg) return SPOT_OK;
    do {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->counter, 0, bytes, stream), "mixture.em: its counters"));
        SPOT_TRY(launch<2>(c, m, fit, count, cfg));
        SPOT_TRY(launch<3>(c, m, fit, count, cfg));
        SPOT_TRY(launch<4>(c, m, fit, count, cfg));
        SPOT_TRY(launch<0>(c, m, fit, count, cfg));
        cudaError_t e = cudaMemcpyAsync(counter, m->counter, bytes, cudaMemcpyDefault, stream);
        if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
        SPOT_TRY(spot_cuda_check(c, e, "mixture.em of %d fits, at most %zu points", count, m->points));
    } while (counter[1]);
    return SPOT_OK;
}

static int longer_first(const void *a, const void *b)
{
    const state *x = (const state *)a, *y = (const state *)b;
    double cost = (double)x->n * x->k - (double)y->n * y->k;

    return cost ? (cost < 0 ? 1 : -1) : x->job - y->job;
}

static spot_status needs_job(spot_ctx *c, const spot_mixture_job *job, bool all)
{
    SPOT_TRY(spot_cuda_needs_all(c, "mixture.em", { { job->x, "x" }, { job->label, "label" } }));
    if (job->resp) SPOT_TRY(spot_cuda_needs(c, job->resp, "mixture.em: resp"));
    if (!all) return SPOT_OK;
    return spot_cuda_needs_all(c, "mixture.em", { { job->fit.weight, "weight" }, { job->fit.mean, "mean" },
                               { job->fit.covariance, "covariance" } });
}

/* fit: (count), on the host */
static spot_status run_jobs(spot_ctx *c, const spot_mixture_space *m, state *fit, spot_mixture_job *jobs, int count,
                            const spot_mixture_config *cfg)
{
    cudaStream_t stream = spot_cuda_stream(c);
    const size_t bytes = count * sizeof *fit;

    for (int j = 0; j < count; j++) {
        const spot_mixture *to = &jobs[j].fit;
        SPOT_TRY(needs_job(c, &jobs[j], cfg));
        fit[j] = { jobs[j].x, jobs[j].resp, jobs[j].label, to->weight, to->mean, to->covariance, NULL, jobs[j].seed, j,
                   jobs[j].start, to->n, to->d, to->k, 1 + to->d + to->d * (to->d + 1) / 2, 2 + (int)log(to->k), 0, 0, 0, 0,
                   -INFINITY, 0 };
    }
    qsort(fit, count, sizeof *fit, longer_first);
    for (int j = 0; j < count; j++) fit[j].component = m->component + j * m->moments;
    SPOT_TRY(spot_cuda_check(c, cudaMemcpyAsync(m->fit, fit, bytes, cudaMemcpyDefault, stream), "mixture.em: its jobs"));
    SPOT_TRY(run_rounds(c, m, fit, count, cfg));
    cudaError_t e = cudaMemcpyAsync(fit, m->fit, bytes, cudaMemcpyDefault, stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
    SPOT_TRY(spot_cuda_check(c, e, "mixture.em: its results"));
    for (int j = 0; j < count && cfg; j++) {
        spot_mixture *to = &jobs[fit[j].job].fit;
        to->iterations = fit[j].iterations;
        to->converged = fit[j].converged;
        to->ill = fit[j].ill;
        to->log_likelihood = fit[j].log_likelihood;
    }
    return SPOT_OK;
}

/* EM of every job; without cfg only k-means. */
static spot_status em_cuda(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count, const spot_mixture_config *cfg)
{
    const size_t mark = scratch->used;
    int n = 0, d = 0, k = 0;
    spot_mixture_space m;

    for (int j = 0; j < count; j++) {
        n = max(n, jobs[j].fit.n);
        d = max(d, jobs[j].fit.d);
        k = max(k, jobs[j].fit.k);
    }
    SPOT_TRY(spot_mixture_space_take(c, scratch, &m, count, n, d, k));
    SPOT_TRY(spot_cuda_needs(c, m.fit, "mixture.em: scratch"));
    state *fit = (state *)malloc(count * sizeof *fit);
    spot_status s = fit ? run_jobs(c, &m, fit, jobs, count, cfg) : spot_fail(c, SPOT_NOMEM, "no memory for %d mixtures", count);
    free(fit);
    scratch->used = mark;
    return s;
}

static spot_status kmeans_cuda(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count)
{
    return em_cuda(c, scratch, jobs, count, NULL);
}

extern const spot_mixture_ops spot_mixture_cuda = { .em = em_cuda, .kmeans = kmeans_cuda };
