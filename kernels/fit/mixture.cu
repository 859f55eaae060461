/* mixture.cu - EM for all fits of a call, a block a fit: mixture.c's steps, its sums in another order. mixture_wide.cu has the
 * fits of many points. */
#include "fit/mixture_em.cuh"

#include <stdlib.h>
#include <string.h>

/* Runs at most POLL iterations. A fit that has ended gets its labels, unless a component has no factor. */
template <int D> static __device__ void advance_fit(state *f, const work *w, const spot_mixture_config *cfg)
{
    if (!f->iterations) f->ill = first_maximise<D>(f, w, cfg->ridge);
    for (int i = 0; i < POLL && !has_ended(f, cfg); i++) {
        double now = expect<D>(f, w, false) / f->n;
        add_moments<D>(f, w, FROM_DENSITIES);
        f->ill = maximise(f, w, cfg->ridge);
        end_iteration(f, now, cfg);
    }
    f->done = has_ended(f, cfg);
    if (f->done && !f->ill) f->log_likelihood = expect<D>(f, w, true);
}

/* EM of those fits, of `count` from number `first` on, that have kernel_of(d) == D. */
template <int D> static __global__ void __launch_bounds__(THREADS) em_kernel(spot_mixture_space m, unsigned first,
                                                                             unsigned count, spot_mixture_config cfg)
{
    SPOT_SHARED(unsigned, turn, 1);

    for (unsigned own; (own = next_fit(&m, turn)) < count;) {
        state f = m.fit[first + own];   /* every thread has its copy, and all copies go the same way */
        if (f.done || kernel_of(f.d) != D) continue;
        const work w = work_of(&m, blockIdx.x, f.n);
        advance_fit<D>(&f, &w, &cfg);
        if (thread()) continue;
        m.fit[first + own] = f;
        if (!f.done) atomicAdd(&m.counter[1], 1u);
    }
}

template <int D> static spot_status launch(spot_ctx *c, const spot_mixture_space *m, const state *fit, int first, int count,
                                           const spot_mixture_config *cfg)
{
    cudaStream_t stream = spot_cuda_stream(c);

    if (!has_dimension<D>(fit + first, count)) return SPOT_OK;
    SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(&m->counter[0], 0, sizeof *m->counter, stream), "mixture.em: its counter"));
    SPOT_LAUNCH(em_kernel<D>, m->blocks, THREADS, 0, stream, *m, (unsigned)first, (unsigned)count, *cfg);
    return spot_cuda_launched(c, "mixture.em of %d fits, at most %zu points", count, m->points);
}

/* The wide fits; then the starts of the others and rounds of POLL iterations until all have ended; without cfg only the starts.
 * fit: (count), on the host */
static spot_status run_rounds(spot_ctx *c, const spot_mixture_space *m, const state *fit, int count,
                              const spot_mixture_config *cfg)
{
    int wide = 0;
    unsigned left;

    while (wide < count && spot_mixture_is_wide(fit[wide].n)) wide++;
    SPOT_TRY(spot_mixture_run_wide(c, m, fit, wide, cfg));
    if (wide == count) return SPOT_OK;
    SPOT_TRY(begin_round(c, m));
    SPOT_TRY(spot_mixture_start_cuda(c, m, wide, count - wide));
    if (!cfg) return SPOT_OK;
    do {
        SPOT_TRY(begin_round(c, m));
        SPOT_TRY(launch<2>(c, m, fit, wide, count - wide, cfg));
        SPOT_TRY(launch<3>(c, m, fit, wide, count - wide, cfg));
        SPOT_TRY(launch<4>(c, m, fit, wide, count - wide, cfg));
        SPOT_TRY(launch<0>(c, m, fit, wide, count - wide, cfg));
        SPOT_TRY(read_left(c, m, &left));
    } while (left);
    return SPOT_OK;
}

/* Wide fits, then the others; of each kind the longest first. */
static int longer_first(const void *a, const void *b)
{
    const state *x = (const state *)a, *y = (const state *)b;
    const int wide = spot_mixture_is_wide(x->n) - spot_mixture_is_wide(y->n);
    double cost = (double)x->n * x->k - (double)y->n * y->k;

    if (wide) return -wide;
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
