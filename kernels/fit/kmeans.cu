/* kmeans.cu - k-means, a block a job: kmeans.c's steps and its sums in their order. A chain over points is one thread's, and
 * there are as many as trials or columns. A launch for the start, then one for each 16 iterations. */
#include "core/sums.cuh"
#include "fit/kmeans_scratch.h"
#include "fit/kmeans_step.h"

#include <math.h>
#include <stdlib.h>

#include "core/philox.h"

enum { THREADS = 256, LLOYD = 300, ROUND = 16, TRIALS = SPOT_KMEANS_TRIALS };

typedef spot_kmeans_job job_of;

/* The block's part of the scratch, and what its threads share. */
typedef struct { double *near, *trial, *sum, *held, *total, *want; int *chosen; } work;

/* Adds a centre: the best candidate of w->chosen. */
static __device__ void choose_centre(const job_of *job, const work *w, int k, int trials)
{
    const int n = job->n, d = job->d;
    int best = 0;

    for (int t = 0; t < trials; t++) {
        for (int j = threadIdx.x; j < d; j += THREADS) w->sum[j] = job->x[(size_t)w->chosen[t] * d + j];
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += THREADS) {
            double own = spot_squared_distance(job->x + (size_t)i * d, w->sum, d), near = w->near[i];
            w->trial[(size_t)t * n + i] = own < near ? own : near;
        }
        __syncthreads();
    }
    if ((int)threadIdx.x < trials) w->total[threadIdx.x] = spot_kmeans_sum(w->trial + (size_t)threadIdx.x * n, n);
    __syncthreads();
    for (int t = 1; t < trials; t++)
        if (w->total[t] < w->total[best]) best = t;
    for (int i = threadIdx.x; i < n; i += THREADS) w->near[i] = w->trial[(size_t)best * n + i];
    for (int j = threadIdx.x; j < d; j += THREADS)
        job->centre[(size_t)k * d + j] = job->x[(size_t)w->chosen[best] * d + j];
    __syncthreads();
}

static __device__ void plus_plus(const job_of *job, const work *w)
{
    spot_rng r = spot_philox_at(job->seed.seed, SPOT_RNG_KMEANS, job->seed.ec, (uint32_t)job->k);
    const int trials = 2 + (int)spot_philox_log(job->k), n = job->n;

    for (int i = threadIdx.x; i < n; i += THREADS) w->near[i] = INFINITY;
    if (!threadIdx.x) w->chosen[0] = (int)spot_philox_below(&r, (uint32_t)n);
    __syncthreads();
    choose_centre(job, w, 0, 1);
    for (int k = 1; k < job->k; k++) {
        if (!threadIdx.x) {
            const double all = spot_kmeans_sum(w->near, n);
            for (int t = 0; t < trials; t++) w->want[t] = spot_philox_uniform(&r) * all;
        }
        __syncthreads();
        if ((int)threadIdx.x < trials) w->chosen[threadIdx.x] = spot_kmeans_draw(w->near, n, w->want[threadIdx.x]);
        __syncthreads();
        choose_centre(job, w, k, trials);
    }
}

/* Labels every point with its nearest centre, of equals the first. True if a label changed. */
static __device__ bool assign_points(const job_of *job, const work *w)
{
    bool changed = false;

    for (int i = threadIdx.x; i < job->n; i += THREADS) {
        double near = 0;
        int label = 0;
        for (int k = 0; k < job->k; k++) {
            double own = spot_squared_distance(job->x + (size_t)i * job->d, job->centre + (size_t)k * job->d, job->d);
            if (!k || own < near) { near = own; label = k; }
        }
        changed = changed || job->label[i] != label;
        job->label[i] = label;
        w->near[i] = near;
    }
    return __syncthreads_or(changed);
}

/* An empty cluster takes the point farthest from its centre. */
static __device__ void fill_empty(const job_of *job, const work *w)
{
    const int d = job->d;

    for (int k = 0; k < job->k; k++) {
        const bool full = w->held[k] > 0;
        __syncthreads();
        if (full) continue;
        if (!threadIdx.x) {
            int far = 0;
            for (int i = 1; i < job->n; i++) if (w->near[i] > w->near[far]) far = i;
            w->near[far] = -1;
            w->held[job->label[far]]--;
            w->held[k] = 1;
            w->chosen[0] = far;
        }
        __syncthreads();
        const int far = w->chosen[0];
        for (int j = threadIdx.x; j < d; j += THREADS) {
            w->sum[(size_t)job->label[far] * d + j] -= job->x[(size_t)far * d + j];
            w->sum[(size_t)k * d + j] = job->x[(size_t)far * d + j];
        }
        __syncthreads();
    }
}

/* Moves centres to the means of their points. Returns the sum of squared moves. */
static __device__ double recentre(const job_of *job, const work *w)
{
    const int d = job->d;

    for (int k = threadIdx.x; k < job->k; k += THREADS) {
        int held = 0;
        for (int i = 0; i < job->n; i++) held += job->label[i] == k;
        w->held[k] = held;
    }
    for (int j = threadIdx.x; j < d; j += THREADS) {
        for (int k = 0; k < job->k; k++) w->sum[(size_t)k * d + j] = 0;
        for (int i = 0; i < job->n; i++) w->sum[(size_t)job->label[i] * d + j] += job->x[(size_t)i * d + j];
    }
    __syncthreads();
    fill_empty(job, w);
    for (int j = threadIdx.x; j < d; j += THREADS)
        for (int k = 0; k < job->k; k++) {
            double *sum = &w->sum[(size_t)k * d + j], *centre = &job->centre[(size_t)k * d + j];
            double moved = w->held[k] > 0 ? *sum / w->held[k] - *centre : 0;
            if (w->held[k] > 0) *centre = *sum / w->held[k];
            *sum = moved * moved;
        }
    __syncthreads();
    if (!threadIdx.x) w->total[0] = spot_kmeans_sum(w->sum, job->k * d);
    __syncthreads();
    return w->total[0];
}

static __device__ double mean_variance(const job_of *job, const work *w)
{
    const int n = job->n, d = job->d;

    for (int j = threadIdx.x; j < d; j += THREADS) {
        double mean = 0, square = 0;
        for (int i = 0; i < n; i++) mean += job->x[(size_t)i * d + j];
        mean /= n;
        for (int i = 0; i < n; i++) {
            double off = job->x[(size_t)i * d + j] - mean;
            square += off * off;
        }
        w->sum[j] = square / n;
    }
    __syncthreads();
    if (!threadIdx.x) w->total[0] = spot_kmeans_sum(w->sum, d) / d;
    __syncthreads();
    return w->total[0];
}

/* The block's part of the scratch. */
static __device__ work work_of(const spot_kmeans_space *m, double *totals, double *want, int *chosen)
{
    const size_t own = blockIdx.x;

    return { m->near + own * m->n, m->trial + own * TRIALS * m->n, m->sum + own * m->k * m->d, m->held + own * m->k,
             totals, want, chosen };
}

/* The centres before Lloyd's iterations. grid (count) */
static __global__ void __launch_bounds__(THREADS) start_kernel(const __grid_constant__ spot_kmeans_space m)
{
    SPOT_SHARED(double, totals, TRIALS);
    SPOT_SHARED(double, want, TRIALS);
    SPOT_SHARED(int, chosen, TRIALS);
    const job_of *job = &m.job[blockIdx.x];
    const work w = work_of(&m, totals, want, chosen);
    const double tolerance = 1e-4 * mean_variance(job, &w);

    for (int i = threadIdx.x; i < job->n; i += THREADS) job->label[i] = -1;
    __syncthreads();
    if (!job->given) plus_plus(job, &w);
    if (threadIdx.x) return;
    m.tolerance[blockIdx.x] = tolerance;
    m.job[blockIdx.x].iterations = 0;
}

/* Runs at most ROUND of Lloyd's iterations; *m.going counts the jobs that have more. grid (count) */
static __global__ void __launch_bounds__(THREADS) lloyd_kernel(const __grid_constant__ spot_kmeans_space m)
{
    SPOT_SHARED(double, totals, TRIALS);
    SPOT_SHARED(double, want, TRIALS);
    SPOT_SHARED(int, chosen, TRIALS);
    const job_of *job = &m.job[blockIdx.x];
    const work w = work_of(&m, totals, want, chosen);
    const double tolerance = m.tolerance[blockIdx.x];
    int iterations = job->iterations, last = min((int)LLOYD, iterations + ROUND);
    bool over = false;

    if (tolerance < 0) return;
    while (!over && iterations < last) {
        iterations++;
        over = !assign_points(job, &w) || recentre(job, &w) <= tolerance;
    }
    over = over || iterations == LLOYD;
    if (over) assign_points(job, &w);
    if (threadIdx.x) return;
    m.job[blockIdx.x].iterations = iterations;
    if (!over) {
        atomicAdd(m.going, 1);
        return;
    }
    m.tolerance[blockIdx.x] = -1;
    m.job[blockIdx.x].inertia = spot_kmeans_sum(w.near, job->n);
}

/* Checks for a stop request between rounds. */
static spot_status run_rounds(spot_ctx *c, const spot_kmeans_space *m, int count)
{
    cudaStream_t stream = spot_cuda_stream(c);
    int going;

    SPOT_LAUNCH(start_kernel, count, THREADS, 0, stream, *m);
    SPOT_TRY(spot_cuda_launched(c, "kmeans.fit of %d jobs, at most %d points of %d dimensions", count, m->n, m->d));
    do {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->going, 0, sizeof going, stream), "kmeans.fit: its counter"));
        SPOT_LAUNCH(lloyd_kernel, count, THREADS, 0, stream, *m);
        SPOT_TRY(spot_cuda_launched(c, "kmeans.fit of %d jobs, at most %d points of %d dimensions", count, m->n, m->d));
        SPOT_TRY(spot_cuda_memory(c)->copy(c, &going, m->going, sizeof going));
    } while (going);
    return SPOT_OK;
}

static spot_status run_jobs(spot_ctx *c, const spot_kmeans_space *m, int count, spot_kmeans_job *jobs)
{
    const size_t bytes = count * sizeof *jobs;
    const spot_plugin *memory = spot_cuda_memory(c);

    SPOT_TRY(spot_cuda_needs(c, m->job, "kmeans.fit: scratch"));
    for (int j = 0; j < count; j++) {
        SPOT_TRY(spot_cuda_needs_all(c, "kmeans.fit", { { jobs[j].x, "x" }, { jobs[j].centre, "centre" },
                                     { jobs[j].label, "label" } }));
    }
    SPOT_TRY(spot_check_stop(c));
    SPOT_TRY(memory->copy(c, m->job, jobs, bytes));
    SPOT_TRY(run_rounds(c, m, count));
    return memory->copy(c, jobs, m->job, bytes);
}

static spot_status fit_cuda(spot_ctx *c, spot_arena *scratch, int count, spot_kmeans_job *jobs)
{
    const size_t mark = scratch->used;
    int n = 0, d = 0, k = 0;
    spot_kmeans_space m;
    spot_status s;

    for (int j = 0; j < count; j++) {
        n = max(n, jobs[j].n);
        d = max(d, jobs[j].d);
        k = max(k, jobs[j].k);
    }
    SPOT_TRY(spot_kmeans_space_take(c, scratch, &m, count, n, d, k));
    s = run_jobs(c, &m, count, jobs);
    scratch->used = mark;
    return s;
}

extern const spot_kmeans_ops spot_kmeans_cuda = { .fit = fit_cuda };
