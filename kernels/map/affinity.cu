/* affinity.cu - neighbours, conditional and joint probabilities. A block searches a row's neighbours, a half-warp its beta:
 * 16 lanes, because the CPU's rows have 16 partial sums. */
#include "core/lanes.cuh"
#include "core/philox.h"
#include "core/sort.cuh"
#include "core/sums.cuh"
#include "map/affinity_step.h"

enum { THREADS = 256, WARP = SPOT_WARP, ROWS = THREADS / WARP, LANES = SPOT_HALF_WARP, BATCH = 40 };

/* ---- nearest ----
 * A block reads a row once, a chunk of columns at a time while the next chunk is under way. It keeps in shared memory each
 * column that may be among the k nearest, which is a key below `limit`. When there is no room left, the block sorts what it
 * kept, drops all but k, and the last of these is the new limit. A key is a distance's bits, which rise with it, above the
 * column: keys differ, so that neither ties nor the order in which threads keep columns change a result.
 * A row of m columns is sorted at most 3 + m / (room - k) times, however its distances are ordered. */

enum { FOURS = 4, EACH = 4 * FOURS, CHUNK = THREADS * EACH,      /* columns of a thread and of a block; groups of four */
       KEPT = 1024, MOST = KEPT / 2 };                           /* keys in shared memory at most; neighbours at most */

static constexpr uint64_t NOWHERE = ~0ull << 32;                 /* above the keys of all columns */

typedef spot_batch<spot_affinity_search, BATCH> searches;
typedef struct { uint64_t *key; int *count, room, k, own; uint64_t limit; } kept;

static __device__ inline uint64_t key_of(unsigned bits, int j) { return (uint64_t)bits << 32 | (unsigned)j; }

/* The column of a thread's number e in the chunk that begins at j0. Four numbers lie side by side, and so do threads. */
static __device__ inline int column_of(int j0, int e) { return j0 + 4 * (e / 4 * THREADS + (int)threadIdx.x) + e % 4; }

static __device__ inline void load_four(unsigned bits[4], const float *from)
{
    float v[4];

    spot_load(v, from);
    for (int w = 0; w < 4; w++) bits[w] = (unsigned)spot_float_bits(v[w]);
}

/* The bits of a thread's distances; all set outside the row. d + j0 is aligned to 16 bytes. */
static __device__ inline void load_chunk(unsigned bits[EACH], const float *d, int j0, int m)
{
    if (j0 >= 0 && j0 <= m - CHUNK) {
        for (int e = 0; e < EACH; e += 4) load_four(bits + e, d + column_of(j0, e));
        return;
    }
    for (int e = 0; e < EACH; e += 4) {
        const int j = column_of(j0, e);

        if (j >= 0 && j <= m - 4) load_four(bits + e, d + j);
        else for (int w = 0; w < 4; w++) bits[e + w] = j + w >= 0 && j + w < m ? (unsigned)spot_float_bits(d[j + w]) : ~0u;
    }
}

/* The first limit: the k nearest of the threads' own nearest are k columns, so that none behind them is among the row's k. */
static __device__ inline uint64_t first_limit(const kept *s, const unsigned bits[EACH], int j0)
{
    uint64_t least = NOWHERE;

    for (int e = 0; e < EACH; e++) {
        const int j = column_of(j0, e);
        const uint64_t key = key_of(bits[e], j);
        if (key < least && j != s->own) least = key;
    }
    s->key[threadIdx.x] = least;
    spot_block_sort(s->key, THREADS);
    least = s->key[s->k - 1];
    return least < NOWHERE ? least + 1 : NOWHERE;
}

/* Keeps those of a thread's columns that are in `asked`. Returns those that found no room. Of most fours none is near. */
static __device__ inline unsigned keep(const kept *s, const unsigned bits[EACH], int j0, unsigned asked)
{
    const unsigned most = (unsigned)(s->limit >> 32);
    unsigned left = 0;

    for (int e0 = 0; e0 < EACH; e0 += 4) {
        if (min(min(bits[e0], bits[e0 + 1]), min(bits[e0 + 2], bits[e0 + 3])) > most) continue;
        for (int e = e0; e < e0 + 4; e++) {
            const int j = column_of(j0, e);
            const uint64_t key = key_of(bits[e], j);

            if (key < s->limit && j != s->own && (asked >> e & 1)) {
                const int at = atomicAdd(s->count, 1);
                if (at < s->room) s->key[at] = key;
                else              left |= 1u << e;
            }
        }
    }
    return left;
}

/* Makes room: only the k nearest stay. */
static __device__ inline void drop(kept *s)
{
    spot_block_sort(s->key, s->room);
    s->limit = s->key[s->k - 1];
    if (threadIdx.x == 0) *s->count = s->k;
    __syncthreads();
}

/* Writes row i's k nearest in the order of columns. */
static __device__ inline void write_nearest(const spot_affinity_search *to, const kept *s, int i)
{
    spot_block_sort(s->key, *s->count);
    for (int e = threadIdx.x; e < s->k; e += THREADS) s->key[e] = s->key[e] << 32 | s->key[e] >> 32;
    spot_block_sort(s->key, s->k);
    for (int e = threadIdx.x; e < s->k; e += THREADS) {
        const size_t at = (size_t)i * s->k + e;
        to->column[at] = (int)(s->key[e] >> 32);
        to->near.v[at] = spot_bits_float((int32_t)s->key[e]);
    }
}

/* Grid (rows, problems) */
static __global__ void __launch_bounds__(THREADS, 3) nearest_kernel(const __grid_constant__ searches all)
{
    SPOT_SHARED(uint64_t, key, KEPT);
    SPOT_SHARED(int, count, 1);
    const spot_affinity_search *to = &all.of[blockIdx.y];
    const int i = blockIdx.x, m = to->d.cols, k = to->near.cols;
    unsigned now[EACH], next[EACH];

    if (i >= to->d.rows || k > MOST) return;      /* the whole block */
    const float *d = to->d.v + (size_t)i * m;
    const int first = -(int)((uintptr_t)d / sizeof *d % 4);
    kept s = { key, count, min((int)KEPT, max((int)THREADS, 4 * k)), k, to->own < 0 ? -1 : to->own + i, NOWHERE };
    load_chunk(next, d, first, m);
    if (threadIdx.x == 0) *count = 0;
    if (m > s.room && k <= THREADS) s.limit = first_limit(&s, next, first);
    __syncthreads();
    for (int j0 = first; j0 < m; j0 += CHUNK) {
        for (int e = 0; e < EACH; e++) now[e] = next[e];
        load_chunk(next, d, j0 + CHUNK, m);
        for (unsigned left = ~0u;;) {
            left = keep(&s, now, j0, left);
            if (!__syncthreads_or(left)) break;
            drop(&s);
        }
    }
    write_nearest(to, &s, i);
}

/* Columns whose key is at most `most`. */
static __device__ int count_to(const float *d, int m, int own, unsigned most)
{
    int count = 0;

    for (int j = threadIdx.x % WARP; j < m; j += WARP) count += j != own && (unsigned)spot_float_bits(d[j]) <= most;
    return spot_warp_sum(count);
}

/* For more neighbours than shared memory holds: a warp a row; grid (ceil(rows / 8), problems). Bisection for the bits of the
 * k-th smallest distance, 32 passes, then one pass in the order of columns that takes all below it and the first of those equal
 * to it. */
static __global__ void __launch_bounds__(THREADS) nearest_many_kernel(const __grid_constant__ searches all)
{
    const spot_affinity_search *s = &all.of[blockIdx.y];
    const int i = blockIdx.x * ROWS + threadIdx.x / WARP, lane = threadIdx.x % WARP, m = s->d.cols, k = s->near.cols;
    const int own = s->own < 0 ? -1 : s->own + i;
    const unsigned before = (1u << lane) - 1;
    unsigned low = 0, high = ~0u;
    int found = 0, equal, equals = 0;

    if (i >= s->d.rows || k <= MOST) return;      /* the whole warp */
    const float *d = s->d.v + (size_t)i * m;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (count_to(d, m, own, middle) >= k) high = middle;
        else low = middle + 1;
    }
    equal = k - (low ? count_to(d, m, own, low - 1) : 0);
    for (int j0 = 0; j0 < m; j0 += WARP) {
        int j = j0 + lane;
        bool valid = j < m && j != own;
        unsigned bits = valid ? (unsigned)spot_float_bits(d[j]) : ~0u, same = __ballot_sync(~0u, valid && bits == low);
        bool taken = valid && (bits < low || (bits == low && equals + __popc(same & before) < equal));
        unsigned takers = __ballot_sync(~0u, taken);

        if (taken) {
            size_t at = (size_t)i * k + found + __popc(takers & before);
            s->column[at] = j;
            s->near.v[at] = d[j];
        }
        found += __popc(takers);
        equals += __popc(same);
    }
}

static spot_status nearest_cuda(spot_ctx *c, int problems, const spot_affinity_search *s, uint64_t *)
{
    const int rows = SPOT_MOST(problems, s, d.rows), m = SPOT_MOST(problems, s, d.cols);
    bool few = false, many = false;

    for (int p = 0; p < problems; p++) {
        if (!s[p].d.rows) continue;
        SPOT_TRY(spot_cuda_needs_all(c, "affinity.nearest", { { s[p].d.v, "d" }, { s[p].column, "column" },
                                     { s[p].near.v, "near" } }));
        (s[p].near.cols > MOST ? many : few) = true;
    }
    if (!rows) return SPOT_OK;
    return spot_cuda_batches<searches>(problems, s, [=](auto &all, int count) {
        if (few)  SPOT_LAUNCH(nearest_kernel, dim3(rows, count), THREADS, 0, spot_cuda_stream(c), all);
        if (many) SPOT_LAUNCH(nearest_many_kernel, dim3(spot_blocks(rows, ROWS), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "affinity.nearest of %d problems, at most (%d,%d)", count, rows, m);
    });
}

/* ---- rows ---- */

typedef struct { float *p; const float *d; int rows, k; spot_affinity_rule rule; } rows_problem;
typedef spot_batch<rows_problem, BATCH> rows_batch;

/* A half-warp a row; grid (ceil(rows / 16), problems). Each beta, and the end, computes the weights again. */
static __global__ void __launch_bounds__(THREADS) rows_kernel(const __grid_constant__ rows_batch all)
{
    const rows_problem *t = &all.of[blockIdx.y];
    const int i = blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES, own = threadIdx.x % LANES, k = t->k;
    const unsigned half = 0xffffu << (threadIdx.x % WARP - own);
    spot_affinity_beta b = { 1, 0, INFINITY };
    float least = SPOT_FAR, sum, dot;

    if (i >= t->rows) return;        /* the whole half-warp */
    const float *d = t->d + (size_t)i * k;
    for (int j = own; j < k; j += LANES) least = d[j] < least ? d[j] : least;
    least = spot_half_warp_min(least, half);
    for (int tries = 1;; tries++) {
        sum = dot = 0;
        for (int j = own; j < k; j += LANES) {
            float x = d[j] - least, e = spot_expf(-(float)b.beta * x);
            sum += e;
            dot = fmaf(x, e, dot);
        }
        sum = spot_half_warp_sum(sum, half);
        dot = spot_half_warp_sum(dot, half);
        double over = spot_philox_log(sum) + b.beta * dot / sum - t->rule.entropy;
        if (fabs(over) <= t->rule.tolerance || tries >= t->rule.tries) break;
        spot_affinity_bisect(&b, over);
    }
    for (int j = own; j < k; j += LANES)
        t->p[(size_t)i * k + j] = d[j] < SPOT_FAR ? spot_expf(-(float)b.beta * (d[j] - least)) / sum : 0.0f;
}

static spot_status rows_cuda(spot_ctx *c, int problems, const spot_mat *p, const spot_mat *d, const spot_affinity_rule *rule)
{
    const int rows = SPOT_MOST(problems, d, rows), k = SPOT_MOST(problems, d, cols);

    for (int t = 0; t < problems; t++)
        if (d[t].rows) SPOT_TRY(spot_cuda_needs_all(c, "affinity.rows", { { d[t].v, "d" }, { p[t].v, "p" } }));
    if (!rows) return SPOT_OK;
    const auto fill = [=](rows_problem *one, int t) { *one = { p[t].v, d[t].v, d[t].rows, d[t].cols, rule[t] }; };
    return spot_cuda_fill_batches<rows_batch>(problems, fill, [=](auto &all, int count) {
        SPOT_LAUNCH(rows_kernel, dim3(spot_blocks(rows, THREADS / LANES), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "affinity.rows of %d problems, at most (%d,%d)", count, rows, k);
    });
}

/* ---- joint ----
 * An edge i -> j whose opposite is not among j's own is foreign to j. Row j of the joint P is its own edges and the foreign
 * ones, merged. Foreign edges are counted and listed by integer atomics, in any order. Later steps only count the
 * smaller edges of a row's list, so the order changes no result. */

typedef spot_batch<spot_affinity_graph, BATCH> graphs;

/* The number of entries of the rising row[k] below `want`. */
static __device__ int count_below(const int *row, int k, int want)
{
    int low = 0;

    for (int high = k; low < high;) {
        int middle = (low + high) / 2;
        if (row[middle] < want) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The edge from i to j; -1 when there is none. */
static __device__ int edge_from(const spot_affinity_graph *g, int i, int j)
{
    const int *row = g->column + (size_t)i * g->k;
    int at = count_below(row, g->k, j);

    return at < g->k && row[at] == j ? i * g->k + at : -1;
}

/* A thread an edge; grid (ceil(n k / 256), problems). Counts foreign edges in `start`, or lists them. */
static __global__ void __launch_bounds__(THREADS) foreign_kernel(const __grid_constant__ graphs all, int list)
{
    const spot_affinity_graph *g = &all.of[blockIdx.y];
    const int e = blockIdx.x * THREADS + threadIdx.x;

    if (e >= g->n * g->k || edge_from(g, g->column[e], e / g->k) >= 0) return;
    if (list) g->edge[atomicAdd(&g->begin[g->column[e] + 1], 1)] = e;
    else      atomicAdd(&g->start[g->column[e]], 1);
}

static __device__ int padded(int length) { return (length + SPOT_AFFINITY_PAD - 1) / SPOT_AFFINITY_PAD * SPOT_AFFINITY_PAD; }

/* A block a problem; grid (problems). Counts become places: start[i] where row i begins, and in begin[i + 1] where its list
 * of foreign edges does, which is where it ends once they are listed. A thread owns consecutive rows. */
static __global__ void __launch_bounds__(THREADS) place_kernel(const __grid_constant__ graphs all)
{
    SPOT_SHARED(int, foreign, THREADS);
    SPOT_SHARED(int, length, THREADS);
    const spot_affinity_graph *g = &all.of[blockIdx.x];
    const int each = (g->n + THREADS - 1) / THREADS;
    const int first = min((int)threadIdx.x * each, g->n), last = min(first + each, g->n);
    int listed = 0, used = 0;

    for (int i = first; i < last; i++) {
        listed += g->start[i];
        used += padded(g->k + g->start[i]);
    }
    foreign[threadIdx.x] = listed;
    length[threadIdx.x] = used;
    __syncthreads();
    listed = used = 0;
    for (int t = 0; t < (int)threadIdx.x; t++) {
        listed += foreign[t];
        used += length[t];
    }
    for (int i = first; i < last; i++) {
        int count = g->start[i];
        g->begin[i + 1] = listed;
        g->start[i] = used;
        listed += count;
        used += padded(g->k + count);
    }
    if (threadIdx.x == THREADS - 1) g->start[g->n] = used;
    if (threadIdx.x == 0) g->begin[0] = 0;
}

/* A warp a row; grid (ceil(n / 8), problems) */
static __global__ void __launch_bounds__(THREADS) merge_kernel(const __grid_constant__ graphs all)
{
    const spot_affinity_graph *g = &all.of[blockIdx.y];
    const int i = blockIdx.x * ROWS + threadIdx.x / WARP, lane = threadIdx.x % WARP, k = g->k;

    if (i >= g->n) return;
    const int *own = g->column + (size_t)i * k, *in = g->edge + g->begin[i];
    const int count = g->begin[i + 1] - g->begin[i], at = g->start[i];
    const double scale = 0.5 / g->n;

    for (int e = lane; e < k; e += WARP) {
        int opposite = edge_from(g, own[e], i), rank = e;
        double forward = g->p[i * k + e], back = opposite >= 0 ? g->p[opposite] : 0;

        for (int f = 0; f < count; f++) rank += in[f] < own[e] * k;      /* edge f comes from row in[f] / k */
        g->to[at + rank] = own[e];
        g->joint[at + rank] = (float)(g->fuzzy ? forward + back - forward * back : (forward + back) * scale);
    }
    for (int f = lane; f < count; f += WARP) {
        int source = in[f] / k, rank = count_below(own, k, source);

        for (int h = 0; h < count; h++) rank += in[h] < in[f];
        g->to[at + rank] = source;
        g->joint[at + rank] = g->fuzzy ? g->p[in[f]] : (float)(g->p[in[f]] * scale);
    }
    for (int e = at + k + count + lane; e < g->start[i + 1]; e += WARP) {
        g->to[e] = i;
        g->joint[e] = 0;
    }
}

static spot_status joint_cuda(spot_ctx *c, int problems, const spot_affinity_graph *g)
{
    cudaStream_t stream = spot_cuda_stream(c);
    const int n = SPOT_MOST(problems, g, n);
    int edges = 0;

    for (int p = 0; p < problems; p++) {
        const spot_affinity_graph *one = &g[p];
        SPOT_TRY(spot_cuda_needs_all(c, "affinity.joint", { { one->column, "column" }, { one->p, "p" }, { one->start, "start" },
                                     { one->to, "to" }, { one->joint, "joint" } }));
        SPOT_TRY(spot_cuda_check(c, cudaMemsetAsync(one->start, 0, one->n * sizeof(int), stream), "affinity.joint"));
        edges = max(edges, one->n * one->k);
    }
    return spot_cuda_batches<graphs>(problems, g, [=](auto &all, int count) {
        const dim3 by_edge(spot_blocks(edges, THREADS), count);
        SPOT_LAUNCH(foreign_kernel, by_edge, THREADS, 0, stream, all, 0);
        SPOT_LAUNCH(place_kernel, count, THREADS, 0, stream, all);
        SPOT_LAUNCH(foreign_kernel, by_edge, THREADS, 0, stream, all, 1);
        SPOT_LAUNCH(merge_kernel, dim3(spot_blocks(n, ROWS), count), THREADS, 0, stream, all);
        return spot_cuda_launched(c, "affinity.joint of %d problems, at most %d points and %d edges", count, n, edges);
    });
}

extern const spot_affinity_ops spot_affinity_cuda = { .nearest = nearest_cuda, .rows = rows_cuda, .joint = joint_cuda };
