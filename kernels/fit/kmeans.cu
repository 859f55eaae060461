/* kmeans.cu - k-means: kmeans.c's steps and its sums in their order. A job's rows are spread over blocks of 64, and the rows of
 * each centre over blocks of 32 columns (ordered.cuh). A chain over points is one thread's.
 *
 * A centre of the start is three launches, an iteration three more; the host looks at every 16th iteration whether jobs go on,
 * and whether a stop was asked for. */
#include "core/ordered.cuh"
#include "core/tile.cuh"
#include "fit/kmeans_scratch.h"
#include "fit/kmeans_step.h"

#include <math.h>

#include "core/philox.h"

enum { THREADS = 256, LLOYD = 300, ROUND = 16, TRIALS = SPOT_KMEANS_TRIALS };
enum { TILE = SPOT_TILE, SIDE = SPOT_TILE_SIDE, OWN = SPOT_TILE_OWN, SLAB = SPOT_TILE_SLAB, PITCH = TILE + 1,
       COLUMNS = SPOT_ORDERED_COLUMNS };
static_assert((int)SPOT_KMEANS_PIECE == SPOT_ORDERED, "the scratch has a place for each piece");

typedef spot_kmeans_job job_of;
typedef spot_kmeans_space space_of;

static __device__ inline double *trial_of(const space_of &m, int q, int t) { return m.trial + ((size_t)q * TRIALS + t) * m.n; }
static __device__ inline double *before_of(const space_of &m, int q, int t)
{
    return m.before + ((size_t)q * TRIALS + t) * m.pieces;
}
static __device__ inline double *sum_of(const space_of &m, int q) { return m.sum + (size_t)q * m.k * m.d; }
static __device__ inline int *held_of(const space_of &m, int q) { return m.held + (size_t)q * m.k; }

/* Squared distances of the block's rows i0 .. i0 + 63 to at most 64 `others`, of which at(r, j) is a number. Rows and others
 * past the end repeat the last. */
template <typename At>
static __device__ inline void find_squares(double sum[OWN][OWN], double *left, double *right, const job_of *job, int i0,
                                           int others, At at)
{
    const int thread = threadIdx.y * SIDE + threadIdx.x, n = job->n, d = job->d;

    for (int a = 0; a < OWN; a++)
        for (int b = 0; b < OWN; b++) sum[a][b] = 0;
    for (int j0 = 0; j0 < d; j0 += SLAB) {
        for (int e = thread; e < TILE * SLAB; e += THREADS) {
            const int r = e / SLAB, t = e % SLAB, j = min(j0 + t, d - 1);
            left[t * PITCH + r] = job->x[(size_t)min(i0 + r, n - 1) * d + j];
            if (r < (others + SIDE - 1) / SIDE * SIDE) right[t * PITCH + r] = at(min(r, others - 1), j);
        }
        __syncthreads();
        spot_tile_add<spot_tile_distance, PITCH>(sum, left, right, min((int)SLAB, d - j0), others);
        __syncthreads();
    }
}

/* ---- the start ---- */

/* The variance of columns 32 x .. into the first numbers of m.sum. grid (ceil(d / 32), count) */
static __global__ void __launch_bounds__(THREADS) variance_kernel(const __grid_constant__ space_of m)
{
    SPOT_SHARED(float, tile, SPOT_ORDERED_TILE);
    const job_of *job = &m.job[blockIdx.y];
    const int n = job->n, d = job->d, j0 = blockIdx.x * COLUMNS, lane = threadIdx.x % COLUMNS;
    const auto row = [=](int e) { return job->x + (size_t)e * d; };
    double mean = 0, square = 0;

    if (j0 >= d) return;      /* the whole block */
    spot_add_rows<THREADS>(&mean, tile, d, j0, n, row, [](float x) { return (double)x; });
    mean /= n;
    spot_add_rows<THREADS>(&square, tile, d, j0, n, row, [=](float x) { return (x - mean) * (x - mean); });
    if (threadIdx.x < COLUMNS && j0 + lane < d) sum_of(m, blockIdx.y)[j0 + lane] = square / n;
}

/* grid (count) */
static __global__ void __launch_bounds__(THREADS) open_kernel(const __grid_constant__ space_of m)
{
    SPOT_SHARED(double, tile, SPOT_ORDERED);
    job_of *job = &m.job[blockIdx.x];
    spot_kmeans_state *s = &m.state[blockIdx.x];
    const double variance = spot_chain<THREADS>(sum_of(m, blockIdx.x), job->d, tile, NULL) / job->d;

    if (threadIdx.x) return;
    s->rng = spot_philox_at(job->seed.seed, SPOT_RNG_KMEANS, job->seed.ec, (uint32_t)job->k);
    s->tolerance = 1e-4 * variance;
    s->best = s->changed = 0;
    s->step = SPOT_KMEANS_MOVING;
    job->iterations = 0;
}

static __device__ inline int trials_of(const job_of *job, int k) { return k ? 2 + (int)spot_philox_log(job->k) : 1; }

/* spot_kmeans_draw, which goes on from the sums before each piece. */
static __device__ int draw_point(const double *near, const double *before, int n, double want)
{
    int lo = 0, hi = (n - 1) / SPOT_ORDERED, end;       /* the first piece behind which the sum reaches want */
    double sum;

    while (lo < hi) {
        const int mid = (lo + hi) / 2;
        if (before[mid + 1] < want) lo = mid + 1;
        else hi = mid;
    }
    sum = before[lo];
    end = min((lo + 1) * SPOT_ORDERED, n - 1);
    for (int i = lo * SPOT_ORDERED; i < end; i++)
        if ((sum += near[i]) >= want) return i;
    return n - 1;
}

/* The best trial becomes centre k - 1; then the trials for centre k are drawn. grid (count) */
static __global__ void __launch_bounds__(THREADS, 1) draw_kernel(const __grid_constant__ space_of m, int k)
{
    SPOT_SHARED(double, want, TRIALS);
    const int q = blockIdx.x, t = threadIdx.x;
    const job_of *job = &m.job[q];
    spot_kmeans_state *s = &m.state[q];
    const int n = job->n, d = job->d, last = k > 0 ? trials_of(job, k - 1) : 0, trials = trials_of(job, k);
    int best = 0;

    if (job->given || k > job->k) return;      /* the whole block */
    for (int e = 1; e < last; e++)
        if (s->total[e] < s->total[best]) best = e;
    for (int j = t; j < d && k; j += THREADS) job->centre[(size_t)(k - 1) * d + j] = job->x[(size_t)s->chosen[best] * d + j];
    __syncthreads();
    if (k == job->k) return;
    if (!t && !k) s->chosen[0] = (int)spot_philox_below(&s->rng, (uint32_t)n);
    for (int e = 0; e < trials && !t && k; e++) want[e] = spot_philox_uniform(&s->rng) * s->total[best];
    if (!t) s->best = best;
    __syncthreads();
    if (k && t < trials) s->chosen[t] = draw_point(trial_of(m, q, best), before_of(m, q, best), n, want[t]);
}

/* grid (ceil(n / 64), count) */
static __global__ void __launch_bounds__(SIDE * SIDE) try_kernel(const __grid_constant__ space_of m, int k)
{
    SPOT_SHARED(double, left, SLAB * PITCH);
    SPOT_SHARED(double, right, SLAB * PITCH);
    const int q = blockIdx.y, i0 = blockIdx.x * TILE, t = threadIdx.x;
    const job_of *job = &m.job[q];
    const spot_kmeans_state *s = &m.state[q];
    const int d = job->d, trials = trials_of(job, k);
    double sum[OWN][OWN], near[OWN];

    if (job->given || k >= job->k || i0 >= job->n) return;      /* the whole block */
    for (int a = 0; a < OWN; a++) {
        const int i = i0 + a * SIDE + threadIdx.y;
        near[a] = k && i < job->n ? trial_of(m, q, s->best)[i] : INFINITY;
    }
    find_squares(sum, left, right, job, i0, trials, [=](int r, int j) { return (double)job->x[(size_t)s->chosen[r] * d + j]; });
    for (int a = 0; a < OWN; a++) {             /* behind the barriers of find_squares: all have read their `near` */
        const int i = i0 + a * SIDE + threadIdx.y;
        if (i < job->n && t < trials) trial_of(m, q, t)[i] = sum[a][0] < near[a] ? sum[a][0] : near[a];
    }
}

/* grid (trials, count) */
static __global__ void __launch_bounds__(THREADS) total_kernel(const __grid_constant__ space_of m, int k)
{
    SPOT_SHARED(double, tile, SPOT_ORDERED);
    const int q = blockIdx.y, t = blockIdx.x;
    const job_of *job = &m.job[q];
    double sum;

    if (job->given || k >= job->k || t >= trials_of(job, k)) return;      /* the whole block */
    sum = spot_chain<THREADS>(trial_of(m, q, t), job->n, tile, before_of(m, q, t));
    if (!threadIdx.x) m.state[q].total[t] = sum;
}

/* ---- the iterations ---- */

typedef struct { double square; int centre; } nearest;

/* The first of equals is the least. */
static __device__ inline bool is_less(nearest a, nearest b)
{
    return a.square < b.square || (a.square == b.square && a.centre < b.centre);
}

/* A thread's rows 16 a + y and the nearest centre to each. */
static __device__ inline void find_nearest(nearest best[OWN], double *left, double *right, const job_of *job, int i0)
{
    const int d = job->d;
    double sum[OWN][OWN];

    for (int a = 0; a < OWN; a++) best[a] = { INFINITY, 0 };
    for (int k0 = 0; k0 < job->k; k0 += TILE) {
        const int centres = min((int)TILE, job->k - k0);
        find_squares(sum, left, right, job, i0, centres, [=](int r, int j) { return job->centre[(size_t)(k0 + r) * d + j]; });
        for (int a = 0; a < OWN; a++)
            for (int b = 0; b < OWN; b++) {
                const nearest found = { sum[a][b], k0 + b * SIDE + (int)threadIdx.x };
                if (found.centre < k0 + centres && is_less(found, best[a])) best[a] = found;
            }
    }
    for (int a = 0; a < OWN; a++)
        for (int by = SIDE / 2; by; by /= 2) {
            const nearest found = { __shfl_xor_sync(~0u, best[a].square, by), __shfl_xor_sync(~0u, best[a].centre, by) };
            if (is_less(found, best[a])) best[a] = found;
        }
}

/* Labels every point with its nearest centre. grid (ceil(n / 64), count) */
static __global__ void __launch_bounds__(SIDE * SIDE, 3) assign_kernel(const __grid_constant__ space_of m)
{
    SPOT_SHARED(double, left, SLAB * PITCH);
    SPOT_SHARED(double, right, SLAB * PITCH);
    const int q = blockIdx.y, i0 = blockIdx.x * TILE;
    const job_of *job = &m.job[q];
    bool changed = !job->iterations;
    nearest best[OWN];

    if (m.state[q].step == SPOT_KMEANS_OVER || i0 >= job->n) return;      /* the whole block */
    find_nearest(best, left, right, job, i0);
    for (int a = 0; a < OWN; a++) {
        const int i = i0 + a * SIDE + threadIdx.y;
        if (threadIdx.x || i >= job->n) continue;
        changed = changed || job->label[i] != best[a].centre;
        job->label[i] = best[a].centre;
        trial_of(m, q, 0)[i] = best[a].square;
    }
    changed = __syncthreads_or(changed);
    if (changed && !threadIdx.x && !threadIdx.y) atomicMax(&m.state[q].changed, 1);
}

/* The sum of columns 32 x .. over the points of centre y, and their number. grid (ceil(d / 32), k, count); the 1 keeps
 * ptxas from spilling, here and below */
static __global__ void __launch_bounds__(THREADS, 1) sum_kernel(const __grid_constant__ space_of m)
{
    SPOT_SHARED(int, list, SPOT_ORDERED);
    SPOT_SHARED(int, total, THREADS / 32);
    SPOT_SHARED(float, tile, SPOT_ORDERED_TILE);
    const int q = blockIdx.z, k = blockIdx.y, j0 = blockIdx.x * COLUMNS, thread = threadIdx.x;
    const job_of *job = &m.job[q];
    const int n = job->n, d = job->d, *label = job->label;
    double sum = 0;
    int held = 0;

    if (m.state[q].step || !m.state[q].changed || k >= job->k || j0 >= d) return;      /* the whole block */
    for (int i0 = 0; i0 < n; i0 += SPOT_ORDERED) {
        const int some = spot_list_places<THREADS>(list, total, i0, n, [=](int i) { return label[i] == k; });
        spot_add_rows<THREADS>(&sum, tile, d, j0, some, [=](int e) { return job->x + (size_t)list[e] * d; },
                               [](float x) { return (double)x; });
        held += some;
    }
    if (thread < COLUMNS && j0 + thread < d) sum_of(m, q)[(size_t)k * d + j0 + thread] = sum;
    if (!thread && !j0) held_of(m, q)[k] = held;
}

/* The point farthest from its centre, of equals the first. far (THREADS) and at (THREADS) are shared. */
static __device__ int farthest(const double *near, int n, double *far, int *at)
{
    double most = -INFINITY;
    int own = n;

    for (int i = threadIdx.x; i < n; i += THREADS)
        if (near[i] > most) { most = near[i]; own = i; }
    far[threadIdx.x] = most;
    at[threadIdx.x] = own;
    __syncthreads();
    for (int t = 0; t < THREADS; t++)
        if (far[t] > most || (far[t] == most && at[t] < own)) { most = far[t]; own = at[t]; }
    __syncthreads();
    return own;
}

/* An empty cluster takes the point farthest from its centre. */
static __device__ void fill_empty(const space_of &m, const job_of *job, int q, double *tile, int *at)
{
    double *sum = sum_of(m, q), *near = trial_of(m, q, 0);
    int *held = held_of(m, q);
    const int d = job->d;

    for (int k = 0; k < job->k; k++) {
        const bool full = held[k] > 0;
        __syncthreads();
        if (full) continue;
        const int far = farthest(near, job->n, tile, at), from = job->label[far];
        if (!threadIdx.x) {
            near[far] = -1;
            held[from]--;
            held[k] = 1;
        }
        for (int j = threadIdx.x; j < d; j += THREADS) {
            sum[(size_t)from * d + j] -= job->x[(size_t)far * d + j];
            sum[(size_t)k * d + j] = job->x[(size_t)far * d + j];
        }
        __syncthreads();
    }
}

/* Moves centres to the means of their points. Returns the sum of squared moves in thread 0. */
static __device__ double recentre(const space_of &m, const job_of *job, int q, double *tile, int *at)
{
    const int numbers = job->k * job->d, *held = held_of(m, q);
    double *sum = sum_of(m, q);

    fill_empty(m, job, q, tile, at);
    for (int e = threadIdx.x; e < numbers; e += THREADS) {
        const int own = held[e / job->d];
        const double mean = own > 0 ? sum[e] / own : job->centre[e], moved = mean - job->centre[e];
        job->centre[e] = mean;
        sum[e] = moved * moved;
    }
    __syncthreads();
    return spot_chain<THREADS>(sum, numbers, tile, NULL);
}

/* Ends an iteration, or the job behind its last labels. tell: *m.going counts the jobs that go on. grid (count) */
static __global__ void __launch_bounds__(THREADS, 1) settle_kernel(const __grid_constant__ space_of m, int tell)
{
    SPOT_SHARED(double, tile, SPOT_ORDERED);
    SPOT_SHARED(int, at, THREADS);
    const int q = blockIdx.x;
    job_of *job = &m.job[q];
    spot_kmeans_state *s = &m.state[q];
    const spot_kmeans_step step = s->step;
    const bool changed = s->changed;
    double sum = 0;

    if (step == SPOT_KMEANS_OVER) return;
    __syncthreads();          /* all have read the state */
    if (step == SPOT_KMEANS_STANDING) sum = spot_chain<THREADS>(trial_of(m, q, 0), job->n, tile, NULL);
    else if (changed)         sum = recentre(m, job, q, tile, at);
    if (threadIdx.x) return;
    s->changed = 0;
    if (step == SPOT_KMEANS_STANDING) {
        job->inertia = sum;
        s->step = SPOT_KMEANS_OVER;
        return;
    }
    job->iterations++;
    if (!changed || sum <= s->tolerance || job->iterations == LLOYD) s->step = SPOT_KMEANS_STANDING;
    if (tell) atomicAdd(m.going, 1);
}

/* ---- the rounds ---- */

static spot_status start_jobs(spot_ctx *c, const space_of *m, int count, bool all_given)
{
    cudaStream_t stream = spot_cuda_stream(c);
    const dim3 tiles(spot_blocks(m->n, TILE), count), block(SIDE, SIDE);

    SPOT_LAUNCH(variance_kernel, dim3(spot_blocks(m->d, COLUMNS), count), THREADS, 0, stream, *m);
    SPOT_LAUNCH(open_kernel, count, THREADS, 0, stream, *m);
    for (int k = 0; k <= m->k && !all_given; k++) {
        if (k % ROUND == 0) SPOT_TRY(spot_check_stop(c));
        SPOT_LAUNCH(draw_kernel, count, THREADS, 0, stream, *m, k);
        if (k == m->k) break;
        SPOT_LAUNCH(try_kernel, tiles, block, 0, stream, *m, k);
        SPOT_LAUNCH(total_kernel, dim3(TRIALS, count), THREADS, 0, stream, *m, k);
    }
    return spot_cuda_launched(c, "kmeans.fit of %d jobs, at most %d points of %d dimensions", count, m->n, m->d);
}

/* Checks for a stop request between rounds. */
static spot_status run_rounds(spot_ctx *c, const space_of *m, int count, bool all_given)
{
    cudaStream_t stream = spot_cuda_stream(c);
    const dim3 tiles(spot_blocks(m->n, TILE), count), block(SIDE, SIDE), sums(spot_blocks(m->d, COLUMNS), m->k, count);
    int going;

    SPOT_TRY(start_jobs(c, m, count, all_given));
    do {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(m->going, 0, sizeof going, stream), "kmeans.fit: its counter"));
        for (int i = 1; i <= ROUND; i++) {
            SPOT_LAUNCH(assign_kernel, tiles, block, 0, stream, *m);
            SPOT_LAUNCH(sum_kernel, sums, THREADS, 0, stream, *m);
            SPOT_LAUNCH(settle_kernel, count, THREADS, 0, stream, *m, i == ROUND);
        }
        SPOT_TRY(spot_cuda_launched(c, "kmeans.fit of %d jobs, at most %d points of %d dimensions", count, m->n, m->d));
        SPOT_TRY(spot_cuda_memory(c)->copy(c, &going, m->going, sizeof going));
    } while (going);
    return SPOT_OK;
}

static spot_status run_jobs(spot_ctx *c, const spot_kmeans_space *m, int count, spot_kmeans_job *jobs)
{
    const size_t bytes = count * sizeof *jobs;
    const spot_plugin *memory = spot_cuda_memory(c);
    bool given = true;

    SPOT_TRY(spot_cuda_needs(c, m->job, "kmeans.fit: scratch"));
    for (int j = 0; j < count; j++) {
        given = given && jobs[j].given;
        SPOT_TRY(spot_cuda_needs_all(c, "kmeans.fit", { { jobs[j].x, "x" }, { jobs[j].centre, "centre" },
                                     { jobs[j].label, "label" } }));
    }
    SPOT_TRY(spot_check_stop(c));
    SPOT_TRY(memory->copy(c, m->job, jobs, bytes));
    SPOT_TRY(run_rounds(c, m, count, given));
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
