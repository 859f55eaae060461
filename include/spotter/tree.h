/* tree.h - decision trees for a binary outcome, fitted for many problems in one batched call.
 *
 * Matches scikit-learn's DecisionTreeClassifier(criterion="entropy", max_depth=depth, class_weight={0: 1, 1: zeros / ones})
 * in cuts, stop rules and the order of nodes (depth first, left before right). The weights make both outcomes equal in total.
 * Among equally good cuts scikit-learn draws one; here the lowest column wins, then the lowest threshold. */
#ifndef SPOTTER_TREE_H
#define SPOTTER_TREE_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPOT_MAX_TREE_DEPTH = 30 };

typedef struct {
    int    feature;            /* column that decides; -1: a leaf */
    int    left, right;        /* nodes: x <= threshold goes left; -1 at a leaf */
    int    rows, ones;         /* unweighted counts; the weight of the node is rows - ones + ones * weight */
    double threshold;
} spot_tree_node;

typedef struct {
    int    nodes, leaves;
    double weight;             /* weight of a one: zeros / ones; 1 where either count is 0 */
    spot_tree_node *node;      /* (nodes): 0 the root */
} spot_tree;

/* x[p] is (n_p, d), y[p] (n_p) of 0 and 1. out[p].node lives in a. SPOT_INPUT for values that are not finite, SPOT_INVALID
 * for a depth outside 1..30. gpu_to_gpu; a problem's tree is the same alone, in any batch and for any number of threads.
 * All arrays lie on the host on every device; on CUDA the call copies them into device memory of its own. _on: not x; there[p],
 * unless `there` is NULL, are its columns (columns of x[p], n_p) in the memory of c's device. */
spot_status spot_tree_fit(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                          const uint8_t *const *y, int depth);

spot_status spot_tree_fit_on(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                             const float *const *there, const uint8_t *const *y, int depth);

/* The leaf of a row of d values. */
int spot_tree_leaf(const spot_tree *t, const float *row);

/* Memory of spot_tree_fit for n[p] rows of d columns. */
spot_bytes spot_tree_needs(const spot_ctx *c, int problems, const int *n, int d, int depth);

#ifdef __cplusplus
}
#endif
#endif
