/* tree_split.h - the splits of one level of decision trees, exact, for `problems` independent matrices with a binary outcome.
 *
 * sort orders the rows of every column once. A node is a span of that order, the same span in every column. search finds for
 * each node of the level the column and the cut of least impurity. part moves the rows of each cut node to the left or the
 * right end of its span, in every column, and keeps their order. The host holds only the nodes (host/fit/tree_grow.c).
 *
 * With a zeros and b ones on a side, w the weight of a one and W = a + w b, its impurity is W times the entropy,
 *
 *   -(a ln(a/W) + w b ln(w b/W)),    and a cut has the sum of both sides: scikit-learn's "entropy"
 *
 * Cuts lie between neighbouring values that differ by more than 1e-7, in fp32 as in scikit-learn; the threshold is the
 * middle in fp64, which is exact for two floats. Of equal impurities the lowest column wins, then the lowest cut;
 * impurities come from integer counts, so cuts with the same or mirrored counts are equal to the bit. search skips cuts between
 * two single rows of one outcome: a better one lies at an end of such a run (Fayyad & Irani 1992).
 *
 * gpu_to_gpu: the same splits on every device. Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_TREE_SPLIT_H
#define SPOTTER_TREE_SPLIT_H

#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"

/* Rows [begin, end) of the order; `ones` of them have outcome 1. */
typedef struct { int begin, end, ones; } spot_tree_span;

/* Left side: x[feature] <= threshold, the first `rows` of the span, with `ones` of outcome 1. feature -1: no cut. */
typedef struct { double threshold; int feature, rows, ones; } spot_tree_split;

/* The best cut in one column: its impurity (infinite if there is none), and the rows and ones on its left. */
typedef struct { double impurity; int rows, ones; } spot_tree_cut;

typedef struct {
    int n, d;
    const float   *x;          /* (d, n): column after column, finite */
    const uint8_t *y;          /* (n): 0 or 1 */
    double weight;             /* of a one; a zero weighs 1 */
    uint32_t *order;           /* (d, 2, n): 2 row + y, in half `level` % 2; search reads it, part fills the other half */
    int level;                 /* sort fills the half of level 0 */
    int nodes;                 /* in this level */
    const spot_tree_span *span;      /* (nodes): disjoint */
    spot_tree_cut   *cut;            /* (d, nodes): scratch of search */
    spot_tree_split *split;          /* (nodes): out of search, in of part */
} spot_tree_problem;

struct spot_tree_ops {
    spot_status (*sort)(spot_ctx *c, spot_arena *scratch, int problems, const spot_tree_problem *p);
    spot_status (*search)(spot_ctx *c, int problems, const spot_tree_problem *p);
    spot_status (*part)(spot_ctx *c, int problems, const spot_tree_problem *p);
};

/* 1 <= n < 2^31, d >= 1 */
spot_status spot_tree_sort(spot_ctx *c, spot_arena *scratch, int problems, const spot_tree_problem *p);

/* Skip problems without nodes; weight > 0 */
spot_status spot_tree_search(spot_ctx *c, int problems, const spot_tree_problem *p);
spot_status spot_tree_part(spot_ctx *c, int problems, const spot_tree_problem *p);

/* Bytes of sort's scratch. threads 0: CUDA's scratch. */
size_t spot_tree_scratch(int n, int threads);

#endif
