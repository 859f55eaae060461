/* mixture_start.cu - k-means++ with greedy trials and Lloyd's iterations: mixture_start.c's steps, a block a fit or, of a wide
 * fit, a block a piece: three launches a centre and two an iteration. */
#include "fit/mixture.cuh"

#include <math.h>

#include "core/philox.h"

enum { LLOYD = 300, NOBODY = 255 };

static __device__ double *centre_of(const state *f, int k) { return f->component + k * f->stride + 1; }

/* Point i becomes centre k. Updates w->point, the squared distances to the nearest centre, and w->tile, their sums over 32. */
static __device__ void add_centre(const state *f, const work *w, int k, int i)
{
    const float *own = f->x + (size_t)i * f->d;

    if (!w->first && thread() < f->d) centre_of(f, k)[thread()] = own[thread()];
    for (int tile = w->first / WARP + warp(); tile * WARP < w->last; tile += WARPS) {
        int j = tile * WARP + lane();
        double nearest = 0, sum;
        if (j < w->last) {
            nearest = spot_squared_distance(f->x + (size_t)j * f->d, own, f->d);
            if (k) nearest = min(nearest, w->point[j]);
            w->point[j] = nearest;
        }
        sum = spot_warp_sum(nearest);
        if (!lane()) w->tile[tile] = sum;
    }
    __syncthreads();
}

/* Turns w->tile into running sums. Returns the last. One thread does it. */
static __device__ double run_tiles(const work *w)
{
    double running = 0;

    for (int t = w->first / WARP; t * WARP < w->last; t++) w->tile[t] = running += w->tile[t];
    return running;
}

/* The first point at which the running sum of w->point, from `before` on, reaches want; w->tile holds running sums now. */
static __device__ int draw_point(const work *w, double before, double want)
{
    const int first = w->first / WARP;
    int lo = first, hi = (w->last - 1) / WARP, last;
    double sum;

    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (before + w->tile[mid] < want) lo = mid + 1;
        else hi = mid;
    }
    sum = lo > first ? before + w->tile[lo - 1] : before;
    last = min(lo * WARP + WARP, w->last) - 1;
    for (int i = lo * WARP; i < last; i++)
        if ((sum += w->point[i]) >= want) return i;
    return last;
}

/* Adds up the squared distances to the nearest centre if the t-th chosen point were one: of the thread's points into sum[t]. */
static __device__ void add_trials(double sum[TRIALS], const state *f, const work *w, const int *chosen)
{
    for (int i = w->first + thread(); i < w->last; i += THREADS)
        for (int t = 0; t < f->trials; t++)
            sum[t] += min(w->point[i], spot_squared_distance(f->x + (size_t)i * f->d, f->x + (size_t)chosen[t] * f->d, f->d));
}

static __device__ spot_rng numbers_of(const state *f)
{
    return spot_philox_at(f->seed.seed, SPOT_RNG_KMEANS, f->seed.ec, (uint32_t)f->k + 256 * f->start);
}

/* Thread 0 draws the numbers, in the CPU's order. want and chosen: shared, (TRIALS). */
static __device__ void plus_plus(const state *f, const work *w, double *want, int *chosen)
{
    spot_rng r = numbers_of(f);

    if (!thread()) chosen[0] = (int)spot_philox_below(&r, (uint32_t)f->n);
    __syncthreads();
    add_centre(f, w, 0, chosen[0]);
    for (int k = 1; k < f->k; k++) {
        double sum[TRIALS] = { 0 }, least = INFINITY;
        int best = 0;
        if (!thread()) {
            const double running = run_tiles(w);
            for (int t = 0; t < f->trials; t++) want[t] = spot_philox_uniform(&r) * running;
        }
        __syncthreads();
        if (thread() < f->trials) chosen[thread()] = draw_point(w, 0, want[thread()]);
        __syncthreads();
        add_trials(sum, f, w, chosen);
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

    for (int i = w->first + thread(); i < w->last; i += THREADS) {
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

/* The number of points of each label, and their sum, into w->moment. */
static __device__ void add_labels(const state *f, const work *w)
{
    for (int k = warp(); k < f->k; k += WARPS)
        for (int a = -1; a < f->d; a++) {
            double sum = 0;
            for (int i = w->first + lane(); i < w->last; i += WARP)
                if (f->label[i] == k) sum += a < 0 ? 1 : f->x[(size_t)i * f->d + a];
            sum = spot_warp_sum(sum);
            if (!lane()) w->moment[k * f->stride + 1 + a] = sum;
        }
    __syncthreads();
}

/* Moves centres to the means of their points, of which w->moment has numbers and sums. Returns the sum of squared moves. */
static __device__ double recentre(const state *f, const work *w)
{
    double moved = 0;

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

/* The sum of column a over the block's points. */
static __device__ double add_column(const state *f, const work *w, int a)
{
    double sum = 0;

    for (int i = w->first + thread(); i < w->last; i += THREADS) sum += f->x[(size_t)i * f->d + a];
    return spot_block_sum<THREADS>(sum);
}

static __device__ double add_squares(const state *f, const work *w, int a, double mean)
{
    double sum = 0;

    for (int i = w->first + thread(); i < w->last; i += THREADS) {
        double diff = f->x[(size_t)i * f->d + a] - mean;
        sum += diff * diff;
    }
    return spot_block_sum<THREADS>(sum);
}

static __device__ double mean_variance(const state *f, const work *w)
{
    double total = 0;

    for (int a = 0; a < f->d; a++) total += add_squares(f, w, a, add_column(f, w, a) / f->n) / f->n;
    return total / f->d;
}

static __global__ void __launch_bounds__(THREADS) start_kernel(spot_mixture_space m, unsigned first, unsigned count)
{
    SPOT_SHARED(double, want, TRIALS);
    SPOT_SHARED(int, chosen, TRIALS);
    SPOT_SHARED(unsigned, turn, 1);

    for (unsigned own; (own = next_fit(&m, turn)) < count;) {
        const state f = m.fit[first + own];
        const work w = work_of(&m, blockIdx.x, f.n);
        if (f.resp) continue;
        double tolerance = 1e-4 * mean_variance(&f, &w);
        for (int i = thread(); i < f.n; i += THREADS) f.label[i] = NOBODY;
        plus_plus(&f, &w, want, chosen);
        for (int i = 0; i < LLOYD; i++) {
            if (!assign_labels(&f, &w)) break;
            add_labels(&f, &w);
            if (recentre(&f, &w) <= tolerance) break;
        }
        assign_labels(&f, &w);
    }
}

spot_status spot_mixture_start_cuda(spot_ctx *c, const spot_mixture_space *m, int first, int count)
{
    SPOT_LAUNCH(start_kernel, m->blocks, THREADS, 0, spot_cuda_stream(c), *m, (unsigned)first, (unsigned)count);
    return spot_cuda_launched(c, "mixture.em, the start of %d fits, at most %zu points", count, m->points);
}

/* ---- wide fits: a block a piece, grid (pieces, fits), or a block a fit, grid (fits) ---- */

/* The sums of the columns of a piece; or those of the squares about the means. Nobody has a label yet. */
static __global__ void __launch_bounds__(THREADS) column_kernel(const __grid_constant__ spot_mixture_space m, int first,
                                                                int squares)
{
    const unsigned part = blockIdx.y;
    const state f = m.fit[first + part];

    if (f.resp || has_no_piece(&f)) return;      /* the whole block, here and below */
    const work w = piece_of(&m, part, f.n, blockIdx.x);
    const double *sums = m.partial + (size_t)part * m.pieces * m.moments;
    for (int a = 0; a < f.d; a++) {
        double sum = squares ? add_squares(&f, &w, a, add_pieces(sums + a, m.moments, f.n) / f.n) : add_column(&f, &w, a);
        if (!thread()) w.moment[squares ? f.d + a : a] = sum;
    }
    for (int i = w.first + thread(); i < w.last && !squares; i += THREADS) f.label[i] = NOBODY;
}

/* A point drawn by each trial: its piece, then the point there. before: (pieces) the sums before them */
static __device__ int draw_wide(const spot_mixture_space *m, unsigned part, int n, const double *before, double want)
{
    int lo = 0, hi = spot_mixture_pieces(n) - 1;

    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (before[mid + 1] < want) lo = mid + 1;
        else hi = mid;
    }
    const work w = piece_of(m, part, n, lo);
    return draw_point(&w, before[lo], want);
}

/* The points that are tried as centre k. Thread 0 draws the numbers, in the CPU's order. */
static __global__ void __launch_bounds__(THREADS) draw_kernel(const __grid_constant__ spot_mixture_space m, int first, int k)
{
    SPOT_SHARED(double, before, SPOT_MIXTURE_PIECES);
    SPOT_SHARED(double, want, TRIALS);
    const unsigned part = blockIdx.x;
    const state f = m.fit[first + part];
    spot_mixture_opening *o = &m.opening[part];
    const double *squares = m.partial + (size_t)part * m.pieces * m.moments + f.d;
    const int pieces = spot_mixture_pieces(f.n);
    double total = 0;

    if (!k && !thread()) o->stage = f.resp ? SPOT_MIXTURE_OVER : SPOT_MIXTURE_MOVING;
    if (f.resp || k >= f.k) return;
    for (int a = 0; a < f.d && !k; a++) total += add_pieces(squares + a, m.moments, f.n) / f.n;
    if (k && thread() < pieces) before[thread()] = share_of(&m, part)[thread()].near;
    __syncthreads();
    if (!thread()) {
        spot_rng r = k ? o->rng : numbers_of(&f);
        for (int p = 0; p < pieces && k; p++) {
            const double own = before[p];
            before[p] = total;
            total += own;
        }
        for (int t = 0; t < f.trials && k; t++) want[t] = spot_philox_uniform(&r) * total;
        if (!k) {
            o->tolerance = 1e-4 * total / f.d;
            o->turns = o->changed = 0;
            o->chosen[0] = (int)spot_philox_below(&r, (uint32_t)f.n);
        }
        o->rng = r;
    }
    __syncthreads();
    if (k && thread() < f.trials) o->chosen[thread()] = draw_wide(&m, part, f.n, before, want[thread()]);
}

/* The sums of a piece with each trial. */
static __global__ void __launch_bounds__(THREADS) try_kernel(const __grid_constant__ spot_mixture_space m, int first, int k)
{
    const unsigned part = blockIdx.y;
    const state f = m.fit[first + part];
    double sum[TRIALS] = { 0 };

    if (f.resp || k >= f.k || has_no_piece(&f)) return;
    const work w = piece_of(&m, part, f.n, blockIdx.x);
    add_trials(sum, &f, &w, m.opening[part].chosen);
    for (int t = 0; t < f.trials; t++) {
        const double all = spot_block_sum<THREADS>(sum[t]);
        if (!thread()) share_of(&m, part)[blockIdx.x].trial[t] = all;
    }
}

/* The best trial becomes centre k: each block finds it, and looks at the distances of its piece. */
static __global__ void __launch_bounds__(THREADS) add_kernel(const __grid_constant__ spot_mixture_space m, int first, int k)
{
    const unsigned part = blockIdx.y;
    const state f = m.fit[first + part];
    const int *chosen = m.opening[part].chosen;
    spot_mixture_share *share = share_of(&m, part);
    double least = INFINITY;
    int best = chosen[0];

    if (f.resp || k >= f.k || has_no_piece(&f)) return;
    const work w = piece_of(&m, part, f.n, blockIdx.x);
    for (int t = 0; t < f.trials && k; t++) {
        const double all = add_shares(&share->trial[t], f.n);
        if (all < least) { least = all; best = chosen[t]; }
    }
    add_centre(&f, &w, k, best);
    if (!thread()) share[blockIdx.x].near = run_tiles(&w);
}

/* The labels of a piece, and the sums of its points for new centres. */
static __global__ void __launch_bounds__(THREADS) assign_kernel(const __grid_constant__ spot_mixture_space m, int first)
{
    const unsigned part = blockIdx.y;
    const state f = m.fit[first + part];
    spot_mixture_opening *o = &m.opening[part];

    if (o->stage == SPOT_MIXTURE_OVER || has_no_piece(&f)) return;
    const work w = piece_of(&m, part, f.n, blockIdx.x);
    const bool changed = assign_labels(&f, &w);
    if (changed && !thread()) atomicMax(&o->changed, 1);
    if (o->stage == SPOT_MIXTURE_MOVING) add_labels(&f, &w);
}

/* Ends an iteration. tell: m.counter[1] counts the fits that go on. */
static __global__ void __launch_bounds__(THREADS) centre_kernel(const __grid_constant__ spot_mixture_space m, int first,
                                                                int tell)
{
    const unsigned part = blockIdx.x;
    const state f = m.fit[first + part];
    spot_mixture_opening *o = &m.opening[part];
    const spot_mixture_stage stage = o->stage;
    const work w = work_of(&m, part, f.n);
    const int turns = o->turns + 1;
    const bool changed = o->changed;
    double moved = 0;

    if (stage == SPOT_MIXTURE_OVER) return;
    __syncthreads();          /* all have read the stage */
    if (stage == SPOT_MIXTURE_MOVING && changed) {
        add_partials(&m, &f, part, &w, 1 + f.d);
        moved = recentre(&f, &w);
    }
    if (thread()) return;
    o->turns = turns;
    o->changed = 0;
    if (stage == SPOT_MIXTURE_LAST || !changed) o->stage = SPOT_MIXTURE_OVER;
    else if (moved <= o->tolerance || turns == LLOYD) o->stage = SPOT_MIXTURE_LAST;
    if (tell && o->stage != SPOT_MIXTURE_OVER) atomicAdd(&m.counter[1], 1u);
}

spot_status spot_mixture_start_wide(spot_ctx *c, const spot_mixture_space *m, const state *fit, int first, int count)
{
    cudaStream_t stream = spot_cuda_stream(c);
    const dim3 pieces(m->pieces, count);
    unsigned left;
    int k = 0;

    for (int j = 0; j < count; j++) k = max(k, fit[j].resp ? 0 : fit[j].k);
    if (!k) return SPOT_OK;
    SPOT_LAUNCH(column_kernel, pieces, THREADS, 0, stream, *m, first, false);
    SPOT_LAUNCH(column_kernel, pieces, THREADS, 0, stream, *m, first, true);
    for (int i = 0; i < k; i++) {
        SPOT_LAUNCH(draw_kernel, count, THREADS, 0, stream, *m, first, i);
        if (i) SPOT_LAUNCH(try_kernel, pieces, THREADS, 0, stream, *m, first, i);
        SPOT_LAUNCH(add_kernel, pieces, THREADS, 0, stream, *m, first, i);
    }
    do {
        SPOT_TRY(begin_round(c, m));
        for (int i = 1; i <= POLL; i++) {
            SPOT_LAUNCH(assign_kernel, pieces, THREADS, 0, stream, *m, first);
            SPOT_LAUNCH(centre_kernel, count, THREADS, 0, stream, *m, first, i == POLL);
        }
        SPOT_TRY(read_left(c, m, &left));
    } while (left);
    return SPOT_OK;
}
