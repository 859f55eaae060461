/* tree_split.h - the splits of one level of decision trees, exact, for `problems` independent trees.
 *
 * sort orders the rows of a table by every column, once. keep copies to a tree's order the rows that have weight in it, so that
 * the trees of a forest share one sort. A node is a span of that order, the same span in every column. search finds for each
 * node of the level the cut of least impurity among the columns that it looks at. part moves the rows of each cut node to the
 * left or the right end of its span, in every column, and keeps their order; a span whose two sides have one class each is
 * left alone. The host holds only the nodes (host/stats/tree_grow.c).
 *
 * With c_k = class_weight[k] times the weight of the rows of class k on a side and W = sum c_k, the side's impurity is
 *
 *   entropy:  -sum c_k ln(c_k / W)          Gini:  W - sum c_k^2 / W
 *
 * and a cut has the sum of both sides, as scikit-learn's "entropy" and "gini" have. Row weights are whole numbers of at most
 * 2^53 in total: sums are exact in any order, so the splits are the same on every device, and cuts with the same or mirrored
 * sums are equal to the bit.
 *
 * Cuts lie between neighbouring values that differ by more than 1e-7, in fp32 as in scikit-learn; the threshold is the middle
 * in fp64, which is exact for two floats. A node looks at all columns in turn, or at `tries` drawn ones; where none of these
 * can be cut, it draws on, and the first column that can be cut is taken, as in scikit-learn. Of equal impurities the first
 * column wins, then the lowest cut. search skips cuts between two single rows of one class: a better one lies at an end of
 * such a run (Fayyad & Irani 1992).
 *
 * On the CPU a tree whose nodes draw their columns keeps one list of rows, the order of column 0, and search brings a node's
 * rows into the order of a drawn column by their places in the table's order: moving rows in all columns would cost more than
 * all else. Its order has room for one column: (2, n).
 *
 * gpu_to_gpu: the same splits on every device. Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_TREE_SPLIT_H
#define SPOTTER_TREE_SPLIT_H

#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/forest.h"

/* Rows [begin, end) of the order. number: the node's address for random numbers, unique in its tree. */
typedef struct { int begin, end, number; } spot_tree_span;

/* Left side: x[feature] <= threshold, the first `rows` of the span. feature -1: no cut. */
typedef struct { double threshold; int feature, rows; } spot_tree_split;

/* The best cut of a node in a column: after `rows` rows. impurity INFINITY: none. */
typedef struct { double impurity; int rows; } spot_tree_cut;

typedef struct {
    int rows, d, classes;      /* of the table; 2 <= classes <= SPOT_TREE_CLASSES */
    const float   *x;          /* (d, rows): column after column, finite */
    const uint8_t *y;          /* (rows): classes from 0 */
    uint32_t *sorted;          /* (d, 2, rows): out of sort, in of keep; row << spot_tree_bits(classes) | class, in order;
                                  then, on the CPU, the place of each row in this order */

    int n;                     /* rows with weight */
    spot_tree_criterion criterion;
    const double *weight;      /* (rows): whole numbers; NULL: each 1 */
    const double *class_weight;      /* (classes): above 0; NULL: each 1 */
    uint32_t *order;           /* (d, 2, n): as sorted, in half `level` % 2; search reads it, part fills the other half */
    uint32_t *room;            /* (spot_tree_room words): scratch of search on the CPU where tries < d; NULL elsewhere */
    int level;                 /* keep fills the half of level 0 */
    int nodes;                 /* in this level */
    int tries;                 /* columns that each node draws; d: all, not drawn */
    uint64_t seed;             /* of these draws */
    const spot_tree_span *span;      /* (nodes): disjoint */
    int           *drawn;      /* (nodes, d): scratch of search; unused where tries is d */
    const double  *sum;        /* (nodes, classes): weight of the node's rows, by class */
    spot_tree_cut *cut;        /* (nodes, tries): scratch of search */
    spot_tree_split *split;    /* (nodes): out of search, in of part */
    double        *left;       /* (nodes, classes): weight of the rows on the left, by class; out of search, in of part */
} spot_tree_problem;

struct spot_tree_ops {
    spot_status (*sort)(spot_ctx *c, spot_arena *scratch, int problems, const spot_tree_problem *p);
    spot_status (*keep)(spot_ctx *c, int problems, const spot_tree_problem *p);
    spot_status (*search)(spot_ctx *c, int problems, const spot_tree_problem *p);
    spot_status (*part)(spot_ctx *c, int problems, const spot_tree_problem *p);
};

/* Reads and writes the table's members alone. d >= 1, 1 <= rows < 2^(32 - bits) */
spot_status spot_tree_sort(spot_ctx *c, spot_arena *scratch, int problems, const spot_tree_problem *p);

spot_status spot_tree_keep(spot_ctx *c, int problems, const spot_tree_problem *p);

/* Skip problems without nodes. */
spot_status spot_tree_search(spot_ctx *c, int problems, const spot_tree_problem *p);
spot_status spot_tree_part(spot_ctx *c, int problems, const spot_tree_problem *p);

/* 32-bit words of `room` for problems of so many rows. */
size_t spot_tree_room(int rows, int threads);

/* Bytes of sort's scratch. threads 0: CUDA's scratch. */
size_t spot_tree_scratch(int rows, int threads);

#endif
