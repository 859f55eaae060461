/* tree.h - decision trees, fitted for many problems in one batched call.
 *
 * Matches scikit-learn's DecisionTreeClassifier(criterion, max_depth, max_features, class_weight) with sample weights in cuts,
 * stop rules and the order of nodes (depth first, left before right). Among equally good cuts scikit-learn takes the one that
 * it meets first in a random order of the columns, even where it looks at all of them; here the first column in turn wins, or
 * the first drawn one, then the lowest threshold. */
#ifndef SPOTTER_TREE_H
#define SPOTTER_TREE_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPOT_MAX_TREE_DEPTH = 30, SPOT_TREE_CLASSES = 32 };

typedef enum { SPOT_TREE_ENTROPY, SPOT_TREE_GINI } spot_tree_criterion;

typedef struct {
    int    feature;            /* column that decides; -1: a leaf */
    int    left, right;        /* nodes: x <= threshold goes left; -1 at a leaf */
    int    rows;               /* unweighted, of those with weight */
    double threshold;
} spot_tree_node;

typedef struct {
    int    nodes, leaves, classes;
    spot_tree_node *node;      /* (nodes): 0 the root */
    double *sum;               /* (nodes, classes): weight of the node's rows, by class; class weights are not in it */
} spot_tree;

/* Rows that trees are fitted to. */
typedef struct {
    spot_mat       x;          /* (rows, columns): finite */
    const uint8_t *y;          /* (rows): classes from 0 */
    int            classes;    /* 2..SPOT_TREE_CLASSES */
    const double  *class_weight;     /* (classes): above 0; NULL: each 1 */
    const float   *there;      /* NULL, or x's columns (columns, rows) in the memory of c's device */
} spot_tree_table;

/* A tree to grow. Whole weights count exactly; others are rounded to 2^-52 of their total, so that sums do not depend on
 * the order. A row of weight 0 takes no part. */
typedef struct {
    int           table;
    const double *weight;      /* (rows): finite, from 0, not all 0; NULL: each 1 */
    uint64_t      seed;        /* of the columns that nodes draw */
} spot_tree_task;

typedef struct {
    spot_tree_criterion criterion;
    int depth;                 /* greatest depth; 0: no limit */
    int columns;               /* drawn for each node (tree_split.h); 0: all, in turn */
} spot_tree_config;

/* Tables that trees of one config are grown from: on the device, their rows sorted by every column. They live in a; close
 * frees the device's memory. SPOT_INPUT for values that are not finite. x, y and class_weight outlive the tables. */
typedef struct spot_trees spot_trees;
spot_status spot_trees_open (spot_ctx *c, spot_arena *a, spot_trees **out, int tables, const spot_tree_table *table,
                             const spot_tree_config *cfg);
void        spot_trees_close(spot_trees *t);           /* accepts NULL */

/* Grows a tree for each task. out[i] lives in a. gpu_to_gpu; a tree is the same alone, in any batch and for any number of
 * threads. */
spot_status spot_trees_grow(spot_ctx *c, spot_arena *a, const spot_trees *t, int trees, spot_tree *out,
                            const spot_tree_task *task);

/* Memory of open, and of a call of grow for trees of tables with rows[i] rows. */
spot_bytes spot_trees_needs(const spot_ctx *c, int tables, const spot_tree_table *table);
spot_bytes spot_trees_grow_needs(const spot_ctx *c, int trees, const int *rows, int columns, int classes,
                                 const spot_tree_config *cfg);

/* One entropy tree for each of `problems` tables with two classes, which weigh the same in total: a row of class 1 weighs
 * zeros / ones, or 1 where either count is 0. x[p] is (n_p, d), y[p] (n_p) of 0 and 1. SPOT_INVALID for a depth outside
 * 1..30. All arrays lie on the host on every device; on CUDA the call copies them into device memory of its own. _on: not x;
 * there[p], unless `there` is NULL, are its columns (columns of x[p], n_p) in the memory of c's device. */
spot_status spot_tree_fit(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                          const uint8_t *const *y, int depth);

spot_status spot_tree_fit_on(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                             const float *const *there, const uint8_t *const *y, int depth);

/* Memory of spot_tree_fit for n[p] rows of d columns. */
spot_bytes spot_tree_needs(const spot_ctx *c, int problems, const int *n, int d, int depth);

/* The leaf of a row of d values. */
int spot_tree_leaf(const spot_tree *t, const float *row);

#ifdef __cplusplus
}
#endif
#endif
