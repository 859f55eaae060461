/* overlap.cu - a warp a query, its lanes over words. */
#include "core/sums.cuh"
#include "fit/overlap.h"

enum { THREADS = 256, WARP = SPOT_WARP, WARPS = THREADS / WARP, BATCH = 64 };

typedef struct { spot_overlap_problem problem[BATCH]; } batch;      /* a launch's argument, of at most 4 kB */

/* grid (ceil(queries / 8), problems) */
static __global__ void __launch_bounds__(THREADS) count_kernel(const __grid_constant__ batch all)
{
    const spot_overlap_problem *p = &all.problem[blockIdx.y];
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
    for (int first = 0; first < problems; first += BATCH) {
        batch all;
        int count = min((int)BATCH, problems - first), queries = 0;

        for (int t = 0; t < count; t++) {
            const spot_overlap_problem *one = &all.problem[t];
            all.problem[t] = p[first + t];
            if (!one->queries) continue;
            if (one->sets) SPOT_TRY(spot_cuda_needs(c, one->set, "overlap.count: set"));
            SPOT_TRY(spot_cuda_needs_all(c, "overlap.count", { { one->other, "other" }, { one->query, "query" },
                                         { one->count, "count" } }));
            queries = max(queries, one->queries);
        }
        if (!queries) continue;
        SPOT_LAUNCH(count_kernel, dim3(spot_blocks(queries, WARPS), count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_TRY(spot_cuda_launched(c, "overlap.count of %d problems, at most %d queries", count, queries));
    }
    return SPOT_OK;
}

extern const spot_overlap_ops spot_overlap_cuda = { .count = count_cuda };
