/* tree_split.cu - a block sorts a column; a warp searches or parts a node in one column, its lanes on 32 neighbouring rows. */
#include <math.h>

#include "core/sort.cuh"
#include "fit/tree_cut.h"

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP, BATCH = 40 };

typedef struct { spot_tree_problem problem[BATCH]; } batch;      /* a launch's argument, of at most 4 kB */

/* grid (d, problems). Keys fill both halves of a column's order, and the result goes into the first half: 256 threads write
 * only where keys have been read. */
static __global__ void __launch_bounds__(THREADS) sort_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.problem[blockIdx.y];
    const int f = blockIdx.x;

    if (f >= p->d) return;      /* the whole block */
    uint32_t *order = p->order + (size_t)f * 2 * p->n;
    uint64_t *key = (uint64_t *)order;
    for (int i = threadIdx.x; i < p->n; i += THREADS)
        key[i] = spot_key_with(p->x[(size_t)f * p->n + i], (uint32_t)i * 2 + p->y[i]);
    spot_block_sort(key, p->n);
    for (int first = 0; first < p->n; first += THREADS) {
        int i = first + threadIdx.x;
        uint32_t mine = i < p->n ? (uint32_t)key[i] : 0;
        __syncthreads();
        if (i < p->n) order[i] = mine;
        __syncthreads();
    }
}

/* The better of two cuts: of equals the lower. */
static __device__ spot_tree_cut better_cut(spot_tree_cut a, spot_tree_cut b)
{
    return b.impurity < a.impurity || (b.impurity == a.impurity && b.rows < a.rows) ? b : a;
}

/* A node in one column, by a warp: lane l looks at the cut before row i = base + l. */
static __device__ spot_tree_cut search_span(const float *x, const uint32_t *order, spot_tree_span s, double weight, int lane)
{
    const int rows = s.end - s.begin;
    spot_tree_cut best = { INFINITY, 0, 0 };
    int ones = 0;               /* before base */

    for (int base = 0; base < rows; base += WARP) {
        const int i = base + lane;
        unsigned marks = __ballot_sync(~0u, i < rows && (order[min(i, rows - 1)] & 1));
        if (i > 0 && i < rows) {
            const float below = x[order[i - 1] / 2], here = x[order[i] / 2];
            const int alike = (order[i - 1] & 1) == (order[i] & 1);
            if (spot_tree_gap(below, here) &&
                !(alike && (i == 1 || spot_tree_gap(x[order[i - 2] / 2], below)) &&
                  (i == rows - 1 || spot_tree_gap(here, x[order[i + 1] / 2])))) {
                spot_tree_cut cut = { 0, i, ones + __popc(marks & ((1u << lane) - 1)) };
                cut.impurity = spot_tree_price(rows, s.ones, i, cut.ones, weight);
                best = better_cut(best, cut);
            }
        }
        ones += __popc(marks);
    }
    for (int by = WARP / 2; by; by /= 2) {
        spot_tree_cut other;
        other.impurity = __shfl_xor_sync(~0u, best.impurity, by);
        other.rows = __shfl_xor_sync(~0u, best.rows, by);
        other.ones = __shfl_xor_sync(~0u, best.ones, by);
        best = better_cut(best, other);
    }
    return best;
}

/* grid (d, problems) */
static __global__ void __launch_bounds__(THREADS) search_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.problem[blockIdx.y];
    const int f = blockIdx.x, lane = threadIdx.x % WARP;

    if (f >= p->d) return;      /* the whole block */
    for (int k = threadIdx.x / WARP; k < p->nodes; k += WARPS) {
        const uint32_t *order = spot_tree_order(p, f) + p->span[k].begin;
        spot_tree_cut cut = search_span(p->x + (size_t)f * p->n, order, p->span[k], p->weight, lane);
        if (lane == 0) p->cut[(size_t)f * p->nodes + k] = cut;
    }
}

/* grid (ceil(nodes / 256), problems) */
static __global__ void __launch_bounds__(THREADS) best_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.problem[blockIdx.y];
    const int k = blockIdx.x * THREADS + threadIdx.x;

    if (k < p->nodes) p->split[k] = spot_tree_best(p, k);
}

/* grid (d, problems) */
static __global__ void __launch_bounds__(THREADS) part_kernel(const __grid_constant__ batch all)
{
    const spot_tree_problem *p = &all.problem[blockIdx.y];
    const int f = blockIdx.x, lane = threadIdx.x % WARP;

    if (f >= p->d) return;      /* the whole block */
    const uint32_t *order = spot_tree_order(p, f);
    uint32_t *next = spot_tree_next(p, f);
    for (int k = threadIdx.x / WARP; k < p->nodes; k += WARPS) {
        const spot_tree_split by = p->split[k];
        const spot_tree_span s = p->span[k];
        if (by.feature < 0) continue;                  /* the whole warp */
        const float *x = p->x + (size_t)by.feature * p->n;
        int left = s.begin, right = s.begin + by.rows;
        for (int base = s.begin; base < s.end; base += WARP) {
            const int i = base + lane;
            const uint32_t row = order[min(i, s.end - 1)], before = (1u << lane) - 1;
            const unsigned lefts = __ballot_sync(~0u, i < s.end && x[row / 2] <= by.threshold);
            const unsigned rights = __ballot_sync(~0u, i < s.end && !(x[row / 2] <= by.threshold));
            if (lefts >> lane & 1) next[left + __popc(lefts & before)] = row;
            if (rights >> lane & 1) next[right + __popc(rights & before)] = row;
            left += __popc(lefts);
            right += __popc(rights);
        }
    }
}

/* Copies the problems of one launch into `all`. *d, *nodes: their most columns and nodes. */
static spot_status gather_problems(spot_ctx *c, batch *all, int count, int *d, int *nodes, const spot_tree_problem *p)
{
    *d = *nodes = 0;
    for (int q = 0; q < count; q++) {
        all->problem[q] = p[q];
        SPOT_TRY(spot_cuda_needs_all(c, "tree", { { p[q].x, "x" }, { p[q].order, "order" } }));
        if (p[q].nodes) SPOT_TRY(spot_cuda_needs(c, p[q].span, "tree: span"));
        *d = max(*d, p[q].d);
        *nodes = max(*nodes, p[q].nodes);
    }
    return SPOT_OK;
}

typedef enum { SORT, SEARCH, PART } tree_op;

static spot_status run_op(spot_ctx *c, tree_op op, int problems, const spot_tree_problem *p)
{
    static const char *const name[] = { "sort", "search", "part" };
    cudaStream_t stream = spot_cuda_stream(c);

    for (int first = 0; first < problems; first += BATCH) {
        batch all;
        int count = min((int)BATCH, problems - first), d, nodes;

        SPOT_TRY(gather_problems(c, &all, count, &d, &nodes, p + first));
        if (op == SORT) SPOT_LAUNCH(sort_kernel, dim3(d, count), THREADS, 0, stream, all);
        else if (!nodes) continue;
        if (op == SEARCH) {
            SPOT_LAUNCH(search_kernel, dim3(d, count), THREADS, 0, stream, all);
            SPOT_LAUNCH(best_kernel, dim3(spot_blocks(nodes, THREADS), count), THREADS, 0, stream, all);
        }
        if (op == PART) SPOT_LAUNCH(part_kernel, dim3(d, count), THREADS, 0, stream, all);
        SPOT_TRY(spot_cuda_launched(c, "tree.%s of %d problems, at most %d columns and %d nodes", name[op], count, d, nodes));
    }
    return SPOT_OK;
}

static spot_status sort_cuda(spot_ctx *c, spot_arena *, int problems, const spot_tree_problem *p)
{
    return run_op(c, SORT, problems, p);
}

static spot_status search_cuda(spot_ctx *c, int problems, const spot_tree_problem *p) { return run_op(c, SEARCH, problems, p); }
static spot_status part_cuda(spot_ctx *c, int problems, const spot_tree_problem *p)   { return run_op(c, PART, problems, p); }

extern const spot_tree_ops spot_tree_cuda = { .sort = sort_cuda, .search = search_cuda, .part = part_cuda };
