/* overlap.cu - a warp a query, its lanes over words. */
#include "core/sums.cuh"
#include "fit/overlap.h"

enum { THREADS = 256, WARP = SPOT_WARP, WARPS = THREADS / WARP, BATCH = 64 };

typedef spot_batch<spot_overlap_problem, BATCH> batch;

/* grid (ceil(queries / 8), problems) */
static __global__ void __launch_bounds__(THREADS) count_kernel(const __grid_constant__ batch all)
{
    const spot_overlap_problem *p = &all.of[blockIdx.y];
    const int q = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    int count = 0;

    if (q >= p->queries) return;      /* the whole warp */
    const uint64_t *other = p->other + (size_t)p->query[q].with * p->words, any_of = p->query[q].any_of;
    for (int w = lane; w < p->words; w += WARP) {
        uint64_t any = 0;
        for (int i = 0; i < p->sets; i++)
            if (any_of >> i & 1) any |= p->set[(size_t)i * p->words + w];
        any &= other[w];
        count += __popc((unsigned)any) + __popc((unsigned)(any >> 32));
    }
    count = spot_warp_sum(count);
    if (lane == 0) p->count[q] = count;
}

static spot_status count_cuda(spot_ctx *c, int problems, const spot_overlap_problem *p)
{
    const int queries = SPOT_MOST(problems, p, queries);

    for (int t = 0; t < problems; t++) {
        if (!p[t].queries) continue;
        if (p[t].sets) SPOT_TRY(spot_cuda_needs(c, p[t].set, "overlap.count: set"));
        SPOT_TRY(spot_cuda_needs_all(c, "overlap.count", { { p[t].other, "other" }, { p[t].query, "query" },
                                     { p[t].count, "count" } }));
    }
    if (!queries) return SPOT_OK;
    return spot_cuda_batches<batch>(problems, p, [=](auto &all, int count) {
        SPOT_LAUNCH(count_kernel, dim3(spot_blocks(queries, WARPS), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "overlap.count of %d problems, at most %d queries", count, queries);
    });
}

extern const spot_overlap_ops spot_overlap_cuda = { .count = count_cuda };
