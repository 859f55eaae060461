/* kmeans.c - k-means on the CPU. Threads own tiles of 64 points, or centres; many jobs are a thread each. */
#include "fit/kmeans.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "core/column_sums.h"
#include "core/problems.h"
#include "core/rows64.h"
#include "core/team.h"
#include "fit/kmeans_scratch.h"
#include "fit/kmeans_step.h"
#include "spotter/rng.h"

enum { LLOYD = 300, TRIALS = SPOT_KMEANS_TRIALS };

/* One job's workspace, with `threads` threads to itself. */
typedef struct {
    int     tiles, threads;
    float  *tile;              /* (tiles, d, 64) */
    double *minus;             /* (k, d) minus the centres, or minus the trials */
    double *dist;              /* (threads, k, 64) */
    double *near, *trial;      /* (n) squared distance to the nearest centre; (TRIALS, n) the same with each trial */
    double *mean, *count;      /* (k, d), (k): sum and number of points */
} kmeans_work;

static double *own_dist(const kmeans_work *w, const spot_kmeans_job *job)
{
    int k = job->k > TRIALS ? job->k : TRIALS;

    return w->dist + (size_t)omp_get_thread_num() * k * ROWS64;
}

static void set_minus(double *minus, const float *x, int d)
{
    for (int j = 0; j < d; j++) minus[j] = -(double)x[j];
}

/* trial[t][i] = near[i] if w->minus[t] became a centre. */
static void try_centres(const kmeans_work *w, const spot_kmeans_job *job, int trials)
{
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int t = 0; t < w->tiles; t++) {
        double *dist = own_dist(w, job);
        spot_squares(dist, w->tile + (size_t)t * job->d * ROWS64, job->d, NULL, w->minus, trials);
        for (int i = 0; i < trials; i++)
            for (int r = 0; r < spot_tile_rows(job->n, t); r++) {
                double near = w->near[t * ROWS64 + r], own = dist[i * ROWS64 + r];
                w->trial[(size_t)i * job->n + t * ROWS64 + r] = own < near ? own : near;
            }
    }
}

static void plus_plus(const kmeans_work *w, const spot_kmeans_job *job)
{
    spot_rng r = spot_rng_at(job->seed.seed, SPOT_RNG_KMEANS, job->seed.ec, (uint32_t)job->k);
    int trials = 2 + (int)log(job->k), n = job->n, d = job->d;

    for (int i = 0; i < n; i++) w->near[i] = INFINITY;
    for (int k = 0; k < job->k; k++) {
        int chosen[TRIALS], count = k ? trials : 1, best = 0;
        double least = INFINITY, all = k ? spot_kmeans_sum(w->near, n) : 0;
        for (int t = 0; t < count; t++) {
            chosen[t] = k ? spot_kmeans_draw(w->near, n, spot_rng_uniform(&r) * all) : (int)spot_rng_below(&r, (uint32_t)n);
            set_minus(w->minus + (size_t)t * d, job->x + (size_t)chosen[t] * d, d);
        }
        try_centres(w, job, count);
        for (int t = 0; t < count; t++) {
            double sum = spot_kmeans_sum(w->trial + (size_t)t * n, n);
            if (sum < least) { least = sum; best = t; }
        }
        memcpy(w->near, w->trial + (size_t)best * n, (size_t)n * sizeof *w->near);
        for (int j = 0; j < d; j++) job->centre[(size_t)k * d + j] = job->x[(size_t)chosen[best] * d + j];
    }
}

/* Labels every point with its nearest centre, of equals the first. True if a label changed. */
static bool assign_points(const kmeans_work *w, const spot_kmeans_job *job)
{
    int changed = 0;

    for (size_t e = 0; e < (size_t)job->k * job->d; e++) w->minus[e] = -job->centre[e];
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int t = 0; t < w->tiles; t++) {
        double *dist = own_dist(w, job), near[ROWS64];
        int label[ROWS64] = { 0 }, moved = 0;
        spot_squares(dist, w->tile + (size_t)t * job->d * ROWS64, job->d, NULL, w->minus, job->k);
        memcpy(near, dist, sizeof near);
        for (int k = 1; k < job->k; k++)
            for (int r = 0; r < ROWS64; r++) {
                bool nearer = dist[k * ROWS64 + r] < near[r];
                label[r] = nearer ? k : label[r];
                near[r] = nearer ? dist[k * ROWS64 + r] : near[r];
            }
        for (int r = 0; r < spot_tile_rows(job->n, t); r++) {
            moved |= job->label[t * ROWS64 + r] != label[r];
            job->label[t * ROWS64 + r] = label[r];
            w->near[t * ROWS64 + r] = near[r];
        }
        if (moved)
#pragma omp atomic write
            changed = 1;
    }
    return changed;
}

/* An empty cluster takes the point farthest from its centre. */
static void fill_empty(const kmeans_work *w, const spot_kmeans_job *job)
{
    int d = job->d;

    for (int k = 0; k < job->k; k++) {
        int far = 0;
        if (w->count[k] > 0) continue;
        for (int i = 1; i < job->n; i++) if (w->near[i] > w->near[far]) far = i;
        w->near[far] = -1;
        w->count[job->label[far]]--;
        w->count[k] = 1;
        for (int j = 0; j < d; j++) {
            w->mean[(size_t)job->label[far] * d + j] -= job->x[(size_t)far * d + j];
            w->mean[(size_t)k * d + j] = job->x[(size_t)far * d + j];
        }
    }
}

/* Sums and numbers of the points of centres k0 .. k1-1: a thread's share of them, which reads the labels once. */
static void sum_points(const kmeans_work *w, const spot_kmeans_job *job, int k0, int k1)
{
    int d = job->d;

    memset(w->mean + (size_t)k0 * d, 0, (size_t)(k1 - k0) * d * sizeof *w->mean);
    for (int k = k0; k < k1; k++) w->count[k] = 0;
    for (int i = 0; i < job->n; i++) {
        int k = job->label[i];
        double *sum = w->mean + (size_t)k * d;
        if (k < k0 || k >= k1) continue;
        w->count[k]++;
        for (int j = 0; j < d; j++) sum[j] += job->x[(size_t)i * d + j];
    }
}

/* Moves centres to the means of their points. Returns the sum of squared moves. */
static double recentre(const kmeans_work *w, const spot_kmeans_job *job)
{
    int d = job->d;
    double moved = 0;

#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int t = 0; t < w->threads; t++)
        sum_points(w, job, (int)((long)job->k * t / w->threads), (int)((long)job->k * (t + 1) / w->threads));
    fill_empty(w, job);
    for (int k = 0; k < job->k; k++)
        for (int j = 0; j < d && w->count[k] > 0; j++) {
            double *centre = &job->centre[(size_t)k * d + j], mean = w->mean[(size_t)k * d + j] / w->count[k];
            moved += (mean - *centre) * (mean - *centre);
            *centre = mean;
        }
    return moved;
}

static spot_status fit_one(spot_ctx *c, void *lane, void *one, const void *cfg, int threads)
{
    kmeans_work *w = lane;
    spot_kmeans_job *job = one;
    double tolerance;

    (void)cfg;
    w->tiles = spot_tiles(job->n);
    w->threads = threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < w->tiles; t++) spot_pack_rows(w->tile + (size_t)t * job->d * ROWS64, job->x, job->n, job->d, t);
    tolerance = 1e-4 * spot_mean_variance(job->x, job->n, job->d);
    for (int i = 0; i < job->n; i++) job->label[i] = -1;
    if (!job->given) plus_plus(w, job);
    for (job->iterations = 0; job->iterations < LLOYD;) {
        job->iterations++;
        SPOT_TRY(spot_check_stop(c));
        if (!assign_points(w, job) || recentre(w, job) <= tolerance) break;
    }
    assign_points(w, job);
    job->inertia = spot_kmeans_sum(w->near, job->n);
    return SPOT_OK;
}

static spot_status take_work(spot_ctx *c, spot_arena *a, void *lane, const void *most, int threads)
{
    const spot_kmeans_job *job = most;
    int n = job->n, d = job->d, k = job->k;
    size_t centres = (size_t)(k > TRIALS ? k : TRIALS);
    kmeans_work *w = lane;

    SPOT_TRY(SPOT_TAKE(c, a, w->tile, (size_t)spot_tiles(n) * d * ROWS64));
    SPOT_TRY(SPOT_TAKE(c, a, w->minus, centres * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->dist, threads * centres * ROWS64));
    SPOT_TRY(SPOT_TAKE(c, a, w->near, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->trial, (size_t)TRIALS * n));
    SPOT_TRY(SPOT_TAKE(c, a, w->mean, (size_t)k * d));
    return SPOT_TAKE(c, a, w->count, k);
}

static const spot_job_kind kind = { sizeof(kmeans_work), sizeof(spot_kmeans_job), take_work, fit_one };

size_t spot_kmeans_scratch(int count, int n, int d, int k, int threads)
{
    const spot_kmeans_job most = { .n = n, .d = d, .k = k };
    spot_ctx c = { .threads = threads };
    spot_arena a = spot_arena_counting();
    spot_kmeans_space space;

    if (threads) spot_run_jobs(&c, &a, &kind, spot_abreast(count, threads), &most, 0, NULL, NULL);
    else         spot_kmeans_space_take(&c, &a, &space, count, n, d, k);
    return a.peak;
}

static spot_status fit_cpu(spot_ctx *c, spot_arena *scratch, int count, spot_kmeans_job *jobs)
{
    const spot_kmeans_job most = { .n = SPOT_MOST(count, jobs, n), .d = SPOT_MOST(count, jobs, d),
                                   .k = SPOT_MOST(count, jobs, k) };

    return spot_run_jobs(c, scratch, &kind, spot_abreast(count, c->threads), &most, count, jobs, NULL);
}

const spot_kmeans_ops spot_kmeans_cpu = { .fit = fit_cpu };

spot_status spot_kmeans_fit(spot_ctx *c, spot_arena *scratch, int count, spot_kmeans_job *jobs)
{
    for (int j = 0; j < count; j++)
        if (jobs[j].k < 1 || jobs[j].k > jobs[j].n || jobs[j].k > SPOT_KMEANS_MOST || jobs[j].d < 1)
            return spot_fail(c, SPOT_INVALID, "{kmeans.sizes} kmeans %d: %d centres of (%d, %d) points; 1 to %d, no more than "
                             "points", j, jobs[j].k, jobs[j].n, jobs[j].d, SPOT_KMEANS_MOST);
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, kmeans, fit, scratch, count, jobs);
}
