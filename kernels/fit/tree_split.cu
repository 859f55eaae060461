/* tree_split.cu - a block sorts a column; a warp keeps a column's rows with weight, searches or parts a node in one column, its
 * lanes on 32 neighbouring rows. */
#include <math.h>

#include "core/sort.cuh"
#include "fit/tree_cut.h"

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP, BATCH = 25 };

typedef spot_batch<spot_tree_problem, BATCH> batch;

/* grid (d, problems). Keys fill both halves of a column of `sorted`, and the result goes into the first half: 256 threads write
 * only where keys have been read. */
static __global__ void __launch_bounds__(THREADS) sort_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.of[blockIdx.y];
    const int f = blockIdx.x, bits = spot_tree_bits(p->classes);

    if (f >= p->d) return;      /* the whole block */
    uint32_t *sorted = spot_tree_sorted(p, f);
    uint64_t *key = (uint64_t *)sorted;
    for (int i = threadIdx.x; i < p->rows; i += THREADS)
        key[i] = spot_key_with(p->x[(size_t)f * p->rows + i], (uint32_t)i << bits | p->y[i]);
    spot_block_sort(key, p->rows);
    for (int first = 0; first < p->rows; first += THREADS) {
        int i = first + threadIdx.x;
        uint32_t mine = i < p->rows ? (uint32_t)key[i] : 0;
        __syncthreads();
        if (i < p->rows) sorted[i] = mine;
        __syncthreads();
    }
}

/* grid (ceil(d / 8), problems) */
static __global__ void __launch_bounds__(THREADS) keep_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.of[blockIdx.y];
    const int f = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP, bits = spot_tree_bits(p->classes);

    if (f >= p->d) return;      /* the whole warp */
    const uint32_t *sorted = spot_tree_sorted(p, f);
    uint32_t *order = p->order + (size_t)f * 2 * p->n;
    int kept = 0;
    for (int base = 0; base < p->rows; base += WARP) {
        const int i = base + lane;
        const uint32_t row = sorted[min(i, p->rows - 1)];
        const int mine = i < p->rows && (!p->weight || p->weight[row >> bits] > 0);
        const unsigned marks = __ballot_sync(~0u, mine);
        if (mine) order[kept + __popc(marks & ((1u << lane) - 1))] = row;
        kept += __popc(marks);
    }
}

/* grid (ceil(nodes / 256), problems) */
static __global__ void __launch_bounds__(THREADS) draw_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.of[blockIdx.y];
    const int k = blockIdx.x * THREADS + threadIdx.x;

    if (k < p->nodes && p->tries < p->d) spot_tree_draw(p, k, p->tries);
}

/* The better of two cuts: of equals the lower. */
static __device__ spot_tree_cut better_cut(spot_tree_cut a, spot_tree_cut b)
{
    return b.impurity < a.impurity || (b.impurity == a.impurity && b.rows < a.rows) ? b : a;
}

/* A node in column f, by a warp: lane l looks at the cut before row i = base + l. */
static __device__ spot_tree_cut search_span(const spot_tree_problem *p, int k, int f, int lane)
{
    const int bits = spot_tree_bits(p->classes), rows = p->span[k].end - p->span[k].begin;
    const uint32_t *order = spot_tree_order(p, f) + p->span[k].begin, mask = (1u << bits) - 1;
    const float *x = p->x + (size_t)f * p->rows;
    double before[SPOT_TREE_CLASSES], left[SPOT_TREE_CLASSES];      /* of the rows before base; before row i */
    spot_tree_cut best = { INFINITY, 0 };

    for (int y = 0; y < p->classes; y++) before[y] = 0;
    for (int base = 0; base < rows; base += WARP) {
        const int i = base + lane;
        const uint32_t row = order[min(i, rows - 1)];
        const double weight = i >= rows ? 0 : p->weight ? p->weight[row >> bits] : 1;
        for (int y = 0; y < p->classes; y++) {
            const bool mine = i < rows && (row & mask) == (unsigned)y;
            const unsigned marks = __ballot_sync(~0u, mine);
            double sum = mine ? weight : 0;
            left[y] = before[y];
            if (!p->weight || !marks) {
                left[y] += __popc(marks & ((1u << lane) - 1));
                before[y] += __popc(marks);
                continue;
            }
            for (int by = 1; by < WARP; by *= 2) {      /* whole numbers: exact in any order */
                const double other = __shfl_up_sync(~0u, sum, by);
                if (lane >= by) sum += other;
            }
            left[y] += sum - (mine ? weight : 0);
            before[y] += __shfl_sync(~0u, sum, WARP - 1);
        }
        if (i > 0 && i < rows) {
            const float below = x[order[i - 1] >> bits], here = x[row >> bits];
            const int alike = (order[i - 1] & mask) == (row & mask);
            if (spot_tree_gap(below, here) &&
                !(alike && (i == 1 || spot_tree_gap(x[order[i - 2] >> bits], below)) &&
                  (i == rows - 1 || spot_tree_gap(here, x[order[i + 1] >> bits])))) {
                spot_tree_cut cut = { 0, i };
                const double *all_here = p->sum + (size_t)k * p->classes;
                cut.impurity = spot_tree_price(p->criterion, p->classes, left, all_here, p->class_weight);
                best = better_cut(best, cut);
            }
        }
    }
    for (int by = WARP / 2; by; by /= 2) {
        spot_tree_cut other;
        other.impurity = __shfl_xor_sync(~0u, best.impurity, by);
        other.rows = __shfl_xor_sync(~0u, best.rows, by);
        best = better_cut(best, other);
    }
    return best;
}

/* grid (tries, problems) */
static __global__ void __launch_bounds__(THREADS) search_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.of[blockIdx.y];
    const int j = blockIdx.x, lane = threadIdx.x % WARP;

    if (j >= p->tries) return;      /* the whole block */
    for (int k = threadIdx.x / WARP; k < p->nodes; k += WARPS) {
        spot_tree_cut cut = search_span(p, k, spot_tree_column(p, k, j), lane);
        if (lane == 0) p->cut[(size_t)k * p->tries + j] = cut;
    }
}

/* A node's split by its best cut; where none of its columns can be cut, by the first of the others that can. All lanes of a
 * warp call it. */
static __device__ spot_tree_split split_of(const spot_tree_problem *p, int k, int lane)
{
    const int best = spot_tree_best(p, k);
    spot_tree_split none = { 0, -1, 0 };
    int feature = best < 0 ? -1 : spot_tree_column(p, k, best), rows = best < 0 ? 0 : p->cut[(size_t)k * p->tries + best].rows;

    if (best < 0 && p->tries < p->d) {
        if (lane == 0) spot_tree_draw(p, k, p->d);
        __syncwarp();
    }
    for (int j = p->tries; feature < 0 && j < p->d; j++) {
        const spot_tree_cut cut = search_span(p, k, spot_tree_column(p, k, j), lane);      /* all lanes have the same */
        if (cut.rows) {
            feature = spot_tree_column(p, k, j);
            rows = cut.rows;
        }
    }
    if (feature < 0) return none;
    return spot_tree_split_at(p, spot_tree_order(p, feature) + p->span[k].begin, feature, rows);
}

/* grid (ceil(nodes / 8), problems): a warp splits a node and adds up the rows on its left. */
static __global__ void __launch_bounds__(THREADS) split_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.of[blockIdx.y];
    const int k = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP, bits = spot_tree_bits(p->classes);

    if (k >= p->nodes) return;      /* the whole warp */
    const spot_tree_split s = split_of(p, k, lane);
    const uint32_t *order = spot_tree_order(p, s.feature < 0 ? 0 : s.feature) + p->span[k].begin, mask = (1u << bits) - 1;
    for (int y = 0; y < p->classes; y++) {
        double sum = 0;
        for (int i = lane; i < s.rows; i += WARP)
            if ((order[i] & mask) == (unsigned)y) sum += p->weight ? p->weight[order[i] >> bits] : 1;
        for (int by = WARP / 2; by; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
        if (lane == 0) p->left[(size_t)k * p->classes + y] = sum;
    }
    if (lane == 0) p->split[k] = s;
}

/* grid (d, problems) */
static __global__ void __launch_bounds__(THREADS) part_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.of[blockIdx.y];
    const int f = blockIdx.x, lane = threadIdx.x % WARP, bits = spot_tree_bits(p->classes);

    if (f >= p->d) return;      /* the whole block */
    const uint32_t *order = spot_tree_order(p, f);
    uint32_t *next = spot_tree_next(p, f);
    for (int k = threadIdx.x / WARP; k < p->nodes; k += WARPS) {
        const spot_tree_split by = p->split[k];
        const spot_tree_span s = p->span[k];
        if (by.feature < 0 || !spot_tree_goes_on(p, k)) continue;      /* the whole warp */
        const float *x = p->x + (size_t)by.feature * p->rows;
        int left = s.begin, right = s.begin + by.rows;
        for (int base = s.begin; base < s.end; base += WARP) {
            const int i = base + lane;
            const uint32_t row = order[min(i, s.end - 1)], before = (1u << lane) - 1;
            const unsigned lefts = __ballot_sync(~0u, i < s.end && x[row >> bits] <= by.threshold);
            const unsigned rights = __ballot_sync(~0u, i < s.end && !(x[row >> bits] <= by.threshold));
            if (lefts >> lane & 1) next[left + __popc(lefts & before)] = row;
            if (rights >> lane & 1) next[right + __popc(rights & before)] = row;
            left += __popc(lefts);
            right += __popc(rights);
        }
    }
}

typedef enum { SORT, KEEP, SEARCH, PART } tree_op;

static spot_status run_op(spot_ctx *c, tree_op op, int problems, const spot_tree_problem *p)
{
    const char *const name = op == SORT ? "sort" : op == KEEP ? "keep" : op == SEARCH ? "search" : "part";
    const int d = SPOT_MOST(problems, p, d), nodes = SPOT_MOST(problems, p, nodes);
    cudaStream_t stream = spot_cuda_stream(c);
    int tries = 0;
    bool drawn = false;

    for (int q = 0; q < problems; q++) {
        SPOT_TRY(spot_cuda_needs_all(c, "tree", { { p[q].x, "x" }, { p[q].sorted, "sorted" } }));
        if (op != SORT) SPOT_TRY(spot_cuda_needs(c, p[q].order, "tree: order"));
        if (op != SORT && p[q].nodes) SPOT_TRY(spot_cuda_needs(c, p[q].span, "tree: span"));
        if (p[q].nodes) tries = max(tries, p[q].tries);
        drawn = drawn || p[q].tries < p[q].d;
    }
    if (op > KEEP && !nodes) return SPOT_OK;
    return spot_cuda_batches<batch>(problems, p, [=](auto &all, int count) {
        if (op == SORT) SPOT_LAUNCH(sort_kernel, dim3(d, count), THREADS, 0, stream, all);
        if (op == KEEP) SPOT_LAUNCH(keep_kernel, dim3(spot_blocks(d, WARPS), count), THREADS, 0, stream, all);
        if (op == SEARCH) {
            if (drawn) SPOT_LAUNCH(draw_kernel, dim3(spot_blocks(nodes, THREADS), count), THREADS, 0, stream, all);
            SPOT_LAUNCH(search_kernel, dim3(tries, count), THREADS, 0, stream, all);
            SPOT_LAUNCH(split_kernel, dim3(spot_blocks(nodes, WARPS), count), THREADS, 0, stream, all);
        }
        if (op == PART) SPOT_LAUNCH(part_kernel, dim3(d, count), THREADS, 0, stream, all);
        return spot_cuda_launched(c, "tree.%s of %d problems, at most %d columns and %d nodes", name, count, d, nodes);
    });
}

static spot_status sort_cuda(spot_ctx *c, spot_arena *, int problems, const spot_tree_problem *p)
{
    return run_op(c, SORT, problems, p);
}

static spot_status keep_cuda(spot_ctx *c, int problems, const spot_tree_problem *p)   { return run_op(c, KEEP, problems, p); }
static spot_status search_cuda(spot_ctx *c, int problems, const spot_tree_problem *p) { return run_op(c, SEARCH, problems, p); }
static spot_status part_cuda(spot_ctx *c, int problems, const spot_tree_problem *p)   { return run_op(c, PART, problems, p); }

extern const spot_tree_ops spot_tree_cuda = { .sort = sort_cuda, .keep = keep_cuda, .search = search_cuda, .part = part_cuda };
