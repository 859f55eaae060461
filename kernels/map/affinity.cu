/* affinity.cu - neighbours, conditional and joint probabilities. A warp searches a row's neighbours, a half-warp its beta:
 * 16 lanes, because the CPU's rows have 16 partial sums. */
#include "core/philox.h"
#include "core/sums.cuh"
#include "map/affinity_step.h"

enum { THREADS = 256, WARP = SPOT_WARP, ROWS = THREADS / WARP, LANES = SPOT_HALF_WARP, BATCH = 40 };

/* ---- nearest ---- */

typedef spot_batch<spot_affinity_search, BATCH> searches;

/* A distance's bits rise with it; nothing is as far as the row's own column. */
static __device__ unsigned key_of(const float *d, int j, int m, int own)
{
    return j < m && j != own ? (unsigned)spot_float_bits(d[j]) : ~0u;
}

/* Columns whose key is at most `most`. */
static __device__ int count_to(const float *d, int m, int own, unsigned most)
{
    int count = 0;

    for (int j = threadIdx.x % WARP; j < m; j += WARP) count += j != own && key_of(d, j, m, own) <= most;
    return spot_warp_sum(count);
}

/* A warp a row; grid (ceil(rows / 8), problems). Bisection for the k-th smallest key, then one pass in the order of columns
 * that takes all keys below it and the first of those equal to it. */
static __global__ void __launch_bounds__(THREADS) nearest_kernel(const __grid_constant__ searches all)
{
    const spot_affinity_search *s = &all.of[blockIdx.y];
    const int i = blockIdx.x * ROWS + threadIdx.x / WARP, lane = threadIdx.x % WARP, m = s->d.cols, k = s->near.cols;
    const int own = s->own < 0 ? -1 : s->own + i;
    const unsigned before = (1u << lane) - 1;
    unsigned low = 0, high = ~0u;
    int found = 0, equal, equals = 0;

    if (i >= s->d.rows) return;      /* the whole warp */
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
        unsigned key = key_of(d, j, m, own), same = __ballot_sync(~0u, valid && key == low);
        bool taken = valid && (key < low || (key == low && equals + __popc(same & before) < equal));
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

    for (int p = 0; p < problems; p++)
        if (s[p].d.rows)
            SPOT_TRY(spot_cuda_needs_all(c, "affinity.nearest", { { s[p].d.v, "d" }, { s[p].column, "column" },
                                         { s[p].near.v, "near" } }));
    if (!rows) return SPOT_OK;
    return spot_cuda_batches<searches>(problems, s, [=](auto &all, int count) {
        SPOT_LAUNCH(nearest_kernel, dim3(spot_blocks(rows, ROWS), count), THREADS, 0, spot_cuda_stream(c), all);
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
