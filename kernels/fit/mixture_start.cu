/* mixture_start.cu - k-means++ with greedy trials and Lloyd's iterations: mixture_start.c's steps, a block a fit. */
#include "fit/mixture.cuh"

#include <math.h>

#include "core/philox.h"

enum { LLOYD = 300, NOBODY = 255 };

typedef spot_mixture_state state;

static __device__ double *centre_of(const state *f, int k) { return f->component + k * f->stride + 1; }

/* Point i becomes centre k. Updates w->point, the squared distances to the nearest centre, and w->tile, their sums over 32. */
static __device__ void add_centre(const state *f, const work *w, int k, int i)
{
    const float *own = f->x + (size_t)i * f->d;

    if (thread() < f->d) centre_of(f, k)[thread()] = own[thread()];
    for (int tile = warp(); tile * WARP < f->n; tile += WARPS) {
        int j = tile * WARP + lane();
        double nearest = 0, sum;
        if (j < f->n) {
            nearest = spot_squared_distance(f->x + (size_t)j * f->d, own, f->d);
            if (k) nearest = min(nearest, w->point[j]);
            w->point[j] = nearest;
        }
        sum = spot_warp_sum(nearest);
        if (!lane()) w->tile[tile] = sum;
    }
    __syncthreads();
}

/* The first point at which the running sum of w->point reaches want; w->tile holds running sums now. */
static __device__ int draw_point(const state *f, const work *w, double want)
{
    int lo = 0, hi = (f->n - 1) / WARP, last;
    double sum;

    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (w->tile[mid] < want) lo = mid + 1;
        else hi = mid;
    }
    sum = lo ? w->tile[lo - 1] : 0;
    last = min(lo * WARP + WARP, f->n) - 1;
    for (int i = lo * WARP; i < last; i++)
        if ((sum += w->point[i]) >= want) return i;
    return last;
}

/* Thread 0 draws the numbers, in the CPU's order. want and chosen: shared, (TRIALS). */
static __device__ void plus_plus(const state *f, const work *w, double *want, int *chosen)
{
    spot_rng r = spot_philox_at(f->seed.seed, SPOT_RNG_KMEANS, f->seed.ec, (uint32_t)f->k + 256 * f->start);

    if (!thread()) chosen[0] = (int)spot_philox_below(&r, (uint32_t)f->n);
    __syncthreads();
    add_centre(f, w, 0, chosen[0]);
    for (int k = 1; k < f->k; k++) {
        double sum[TRIALS] = { 0 }, least = INFINITY;
        int best = 0;
        if (!thread()) {
            double running = 0;
            for (int t = 0; t * WARP < f->n; t++) w->tile[t] = running += w->tile[t];
            for (int t = 0; t < f->trials; t++) want[t] = spot_philox_uniform(&r) * running;
        }
        __syncthreads();
        if (thread() < f->trials) chosen[thread()] = draw_point(f, w, want[thread()]);
        __syncthreads();
        for (int i = thread(); i < f->n; i += THREADS)
            for (int t = 0; t < f->trials; t++)
                sum[t] += min(w->point[i], spot_squared_distance(f->x + (size_t)i * f->d, f->x + (size_t)chosen[t] * f->d,
                                                                 f->d));
        for (int t = 0; t < f->trials; t++) {
            double all = spot_block_sum<THREADS>(sum[t]);
            if (all < least) { least = all; best = chosen[t]; }
        }
        add_centre(f, w, k, best);
    }
}

/* Labels every point with its nearest centre, of equals the first. True if a label changed. */
static __device__ bool assign_labels(const state *f, const work *w)
{
    bool changed = false;

    for (int i = thread(); i < f->n; i += THREADS) {
        double nearest = INFINITY;
        int label = 0;
        for (int k = 0; k < f->k; k++) {
            double dist = spot_squared_distance(f->x + (size_t)i * f->d, centre_of(f, k), f->d);
            if (dist < nearest) { nearest = dist; label = k; }
        }
        changed = changed || label != f->label[i];
        f->label[i] = (uint8_t)label;
        w->point[i] = nearest;
    }
    return __syncthreads_or(changed);
}

/* The point farthest from its centre, the first of equals. One warp finds it. */
static __device__ int farthest(const double *dist, int n)
{
    double far = -INFINITY;
    int at = n;

    for (int i = lane(); i < n; i += WARP)
        if (dist[i] > far) { far = dist[i]; at = i; }
    for (int by = WARP / 2; by; by /= 2) {
        double other = __shfl_xor_sync(~0u, far, by);
        int found = __shfl_xor_sync(~0u, at, by);
        if (other > far || (other == far && found < at)) { far = other; at = found; }
    }
    return at;
}

/* An empty cluster takes the point farthest from its centre, as scikit-learn's does. One warp moves it. */
static __device__ void fill_empty(const state *f, const work *w)
{
    for (int k = 0; k < f->k; k++) {
        double *to = w->moment + k * f->stride;
        if (to[0] > 0) continue;
        int far = farthest(w->point, f->n);
        __syncwarp();            /* shuffles do not order the others' reads before these writes */
        if (!lane()) {
            double *from = w->moment + f->label[far] * f->stride;
            w->point[far] = -1;
            from[0]--;
            to[0] = 1;
            for (int a = 0; a < f->d; a++) {
                from[1 + a] -= f->x[(size_t)far * f->d + a];
                to[1 + a] = f->x[(size_t)far * f->d + a];
            }
        }
        __syncwarp();
    }
}

/* Moves centres to the means of their points. Returns the sum of squared moves. w->moment holds counts and sums of points. */
static __device__ double recentre(const state *f, const work *w)
{
    double moved = 0;

    for (int k = warp(); k < f->k; k += WARPS)
        for (int a = -1; a < f->d; a++) {
            double sum = 0;
            for (int i = lane(); i < f->n; i += WARP)
                if (f->label[i] == k) sum += a < 0 ? 1 : f->x[(size_t)i * f->d + a];
            sum = spot_warp_sum(sum);
            if (!lane()) w->moment[k * f->stride + 1 + a] = sum;
        }
    __syncthreads();
    if (thread() < WARP) fill_empty(f, w);
    __syncthreads();
    if (thread() < f->k) {
        const double *sum = w->moment + thread() * f->stride;
        double *own = centre_of(f, thread());
        for (int a = 0; a < f->d && sum[0] > 0; a++) {
            double mean = sum[1 + a] / sum[0];
            moved += (mean - own[a]) * (mean - own[a]);
            own[a] = mean;
        }
    }
    return spot_block_sum<THREADS>(moved);
}

static __device__ double mean_variance(const state *f)
{
    double total = 0;

    for (int a = 0; a < f->d; a++) {
        double mean = 0, square = 0;
        for (int i = thread(); i < f->n; i += THREADS) mean += f->x[(size_t)i * f->d + a];
        mean = spot_block_sum<THREADS>(mean) / f->n;
        for (int i = thread(); i < f->n; i += THREADS) {
            double diff = f->x[(size_t)i * f->d + a] - mean;
            square += diff * diff;
        }
        total += spot_block_sum<THREADS>(square) / f->n;
    }
    return total / f->d;
}

static __global__ void __launch_bounds__(THREADS) start_kernel(spot_mixture_space m, unsigned count)
{
    SPOT_SHARED(double, want, TRIALS);
    SPOT_SHARED(int, chosen, TRIALS);
    SPOT_SHARED(unsigned, turn, 1);
    const work w = work_of(&m);

    for (unsigned own; (own = next_fit(&m, turn)) < count;) {
        const state f = m.fit[own];
        if (f.resp) continue;
        double tolerance = 1e-4 * mean_variance(&f);
        for (int i = thread(); i < f.n; i += THREADS) f.label[i] = NOBODY;
        plus_plus(&f, &w, want, chosen);
        for (int i = 0; i < LLOYD; i++)
            if (!assign_labels(&f, &w) || recentre(&f, &w) <= tolerance) break;
        assign_labels(&f, &w);
    }
}

spot_status spot_mixture_start_cuda(spot_ctx *c, const spot_mixture_space *m, int count)
{
    SPOT_LAUNCH(start_kernel, m->blocks, THREADS, 0, spot_cuda_stream(c), *m, (unsigned)count);
    return spot_cuda_launched(c, "mixture.em, the start of %d fits, at most %zu points", count, m->points);
}
