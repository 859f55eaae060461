/* overlap.c - shared rows on the CPU: popcounts over words. */
#include "fit/overlap.h"

static int count_one(const spot_overlap_problem *p, const spot_overlap_query *q)
{
    const uint64_t *other = p->other + (size_t)q->with * p->words;
    int count = 0;

    for (int w = 0; w < p->words; w++) {
        uint64_t any = 0;
        for (int i = 0; i < p->sets; i++)
            if (q->any_of >> i & 1) any |= p->set[(size_t)i * p->words + w];
        count += __builtin_popcountll(any & other[w]);
    }
    return count;
}

static spot_status count_cpu(spot_ctx *c, int problems, const spot_overlap_problem *p)
{
#pragma omp parallel for num_threads(problems < c->threads ? 1 : c->threads) schedule(dynamic)
    for (int t = 0; t < problems; t++)
        for (int q = 0; q < p[t].queries; q++) p[t].count[q] = count_one(&p[t], &p[t].query[q]);
    return SPOT_OK;
}

const spot_overlap_ops spot_overlap_cpu = { .count = count_cpu };

spot_status spot_overlap_count(spot_ctx *c, int problems, const spot_overlap_problem *p)
{
    for (int t = 0; t < problems; t++)
        if (p[t].words < 0 || p[t].sets < 0 || p[t].sets > SPOT_OVERLAP_SETS || p[t].others < 0 || p[t].queries < 0)
            return spot_fail(c, SPOT_INVALID, "{overlap.sizes} overlap.count, problem %d: %d queries of %d sets and %d others, "
                             "%d words", t, p[t].queries, p[t].sets, p[t].others, p[t].words);
    SPOT_DISPATCH(c, overlap, count, problems, p);
}
