/* overlap.h - how much sets of rows share, for `problems` independent collections: the counts behind BP, BR and DR (paper,
 * equations 1 to 5).
 *
 *     count[q] = | (union of set[i] over the bits i of query[q].any_of)  intersected with  other[query[q].with] |
 *
 * A set is a row of 64-bit words, row r of the view bit r % 64 of word r / 64; bits past the last row are 0. Integers, so
 * every device gives the same (gpu_to_gpu). Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_OVERLAP_H
#define SPOTTER_OVERLAP_H

#include <stdint.h>

#include "core/ops.h"

enum { SPOT_OVERLAP_SETS = 64 };

typedef struct { uint64_t any_of; int with; } spot_overlap_query;

typedef struct {
    int words, sets, others, queries;
    const uint64_t *set;                 /* (sets, words) */
    const uint64_t *other;               /* (others, words) */
    const spot_overlap_query *query;     /* (queries): bits below `sets`, with below `others` */
    int *count;                          /* (queries), out */
} spot_overlap_problem;

struct spot_overlap_ops {
    spot_status (*count)(spot_ctx *c, int problems, const spot_overlap_problem *p);
};

/* There are at most 64 sets. */
spot_status spot_overlap_count(spot_ctx *c, int problems, const spot_overlap_problem *p);

#endif
