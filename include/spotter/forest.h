/* forest.h - random forests and AdaBoost over decision trees: fit, vote, explain, keep in a file.
 *
 *     spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED);
 *     spot_forest_rows rows = { x, y, 3, { .seed = 1 } };
 *     spot_forest f;
 *     SPOT_TRY(spot_forest_fit(c, 1, &f, &rows, &cfg));
 *     spot_forest_shares(c, &f, new_rows, 0, share);
 *     spot_forest_close(&f);
 *
 * The defaults are scikit-learn's. bagged, its RandomForestClassifier: 100 trees, Gini, at each node as many columns as the
 * root of their number, each tree on as many rows as there are, drawn with repeats; the vote is the mean of the leaves' shares.
 * samme_r and samme, its AdaBoostClassifier before version 1.6: 50 trees of one cut on all columns, by SAMME.R, the default
 * then, or by SAMME (Zhu et al. 2009). Boosting uses no random numbers here. */
#ifndef SPOTTER_FOREST_H
#define SPOTTER_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- trees ---- */

/* Decision trees, fitted for many problems in one batched call.
 *
 * Matches scikit-learn's DecisionTreeClassifier(criterion, max_depth, max_features, class_weight) with sample weights in cuts,
 * stop rules and the order of nodes (depth first, left before right). Among equally good cuts scikit-learn takes the one that
 * it meets first in a random order of the columns, even where it looks at all of them; here the first column in turn wins, or
 * the first drawn one, then the lowest threshold. */

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
    const float   *on_device;      /* NULL, or x's columns (columns, rows) in the memory of c's device */
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
 * on_device[p], unless `on_device` is NULL, are its columns (columns of x[p], n_p) in the memory of c's device. */
spot_status spot_tree_fit(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                          const uint8_t *const *y, int depth);

spot_status spot_tree_fit_on(spot_ctx *c, spot_arena *a, int problems, spot_tree *out, const spot_mat *x,
                             const float *const *on_device, const uint8_t *const *y, int depth);

/* Memory of spot_tree_fit for n[p] rows of d columns. */
spot_bytes spot_tree_needs(const spot_ctx *c, int problems, const int *n, int d, int depth);

/* The leaf of a row of d values. */
int spot_tree_leaf(const spot_tree *t, const float *row);

/* ---- forests ---- */

typedef enum { SPOT_FOREST_BAGGED, SPOT_FOREST_SAMME_R, SPOT_FOREST_SAMME, SPOT_FOREST_PROFILES } spot_forest_profile;

enum { SPOT_ROOT_OF_COLUMNS = -1 };

typedef struct {
    spot_forest_profile profile;
    int    trees;              /* boosting may stop earlier, as scikit-learn's does */
    spot_tree_config tree;     /* columns also SPOT_ROOT_OF_COLUMNS */
    bool   bootstrap;          /* bagged only */
    double rate;               /* learning rate; boosting only */
} spot_forest_config;

spot_forest_config spot_forest_defaults(spot_forest_profile profile);

/* Rows to fit to. seed: the random numbers' address; forests of one call need different ones to differ. */
typedef struct {
    spot_mat       x;          /* (rows, features): finite */
    const uint8_t *y;          /* (rows): classes from 0 */
    int            classes;    /* 2..SPOT_TREE_CLASSES; a class may lack rows */
    spot_seed      seed;
    const double  *weight;     /* (rows): finite, from 0, not all 0; NULL: each 1 */
} spot_forest_rows;

typedef struct {
    double threshold, cover;   /* x <= threshold goes left; cover: weight of the rows it was fitted to, above 0 */
    int    feature;            /* -1: a leaf */
    int    left, right;        /* counted from the tree's first node */
} spot_forest_node;

/* The rows that a forest was fitted to, and what forests that did not see them say of them: from these it can be told how far
 * the forest's knowledge reaches, and how often a vote of .8 is right. Rows of one group are left out together. */
typedef struct {
    int     rows;              /* 0: nothing is kept */
    float  *x;                 /* (rows, features) */
    int    *cls, *group;       /* (rows): from 0 */
    double *share;             /* (rows, classes): the vote of a forest that was fitted to the rows of the other groups */
    float  *aside;             /* (rows): a number of each row that no tree asks for, such as a model's accuracy */
} spot_forest_kept;

typedef struct {
    spot_forest_profile profile;
    int     features, classes, trees;
    int    *start;             /* (trees + 1): the first node of each tree */
    spot_forest_node *node;    /* (nodes); a child comes after its parent */
    double *share;             /* (nodes, classes): add up to 1 in a leaf */
    double *vote;              /* (trees): the tree's weight; 1 but in SAMME */
    float  *least, *most;      /* (features): the range of the rows it was fitted to */
    char  **feature_name;      /* (features), or NULL */
    char  **class_name;        /* (classes), or NULL */
    char   *about;             /* what it was trained on, or NULL */
    spot_forest_kept kept;
} spot_forest;

/* Fits `forests` forests at once: all their trees are one batch. gpu_to_gpu; the same for any number of threads and alone or
 * in any batch. SPOT_INPUT for values that are not finite; SPOT_CHECK when SAMME's first tree is no better than chance. */
spot_status spot_forest_fit(spot_ctx *c, int forests, spot_forest *out, const spot_forest_rows *rows,
                            const spot_forest_config *cfg);

/* Keeps the rows that f was fitted to, with votes of `groups` further forests, each fitted without one group at rows->seed plus
 * its number and 1. group (rows): 0..groups - 1, at least 2 of them; aside (rows): finite. gpu_to_gpu, as fit. */
spot_status spot_forest_keep(spot_ctx *c, spot_forest *f, const spot_forest_rows *rows, const float *aside, const int *group,
                             int groups, const spot_forest_config *cfg);

/* Names, for the file and for reports; copies. NULL: none. SPOT_INVALID for a name with control characters. */
spot_status spot_forest_name(spot_ctx *c, spot_forest *f, const char *const *feature, const char *const *cls,
                             const char *about);

/* share[i]: (rows, classes), the vote of the first `trees` trees (0: all). x is finite. */
spot_status spot_forest_shares(spot_ctx *c, const spot_forest *f, spot_mat x, int trees, double *share);

/* The class of each row: the greatest share, the first of equals. */
void spot_forest_classes(uint8_t *cls, const double *share, int rows, int classes);

/* The first feature of a row that lies outside the range of the rows that f was fitted to; -1: none. */
int spot_forest_outside(const spot_forest *f, const float *row);

/* Exact TreeSHAP with path-dependent expectations (Lundberg et al. 2020) of a bagged forest's shares: base (classes) and value
 * (rows, features, classes), where base[k] + sum over features value[i][.][k] is share k of row i. SPOT_INVALID for boosting,
 * whose shares are no sum over trees. */
spot_status spot_forest_explain(spot_ctx *c, const spot_forest *f, spot_mat x, double *base, double *value);

/* A safetensors file, whole or not at all. open and parse refuse anything but such a forest, with a sentence; `name` of the
 * bytes is for it. */
spot_status spot_forest_save(spot_ctx *c, const spot_forest *f, const char *path);
spot_status spot_forest_open(spot_ctx *c, spot_forest *f, const char *path);
spot_status spot_forest_parse(spot_ctx *c, spot_forest *f, const void *bytes, size_t size, const char *name);
void        spot_forest_close(spot_forest *f);         /* accepts a zeroed forest */

/* A forest with room for trees of `nodes` nodes together, zeroed but for votes of 1, for a caller who fills it in; check says
 * whether it is one. */
spot_status spot_forest_take (spot_ctx *c, spot_forest *f, int features, int classes, int trees, int nodes);
spot_status spot_forest_check(spot_ctx *c, const spot_forest *f, const char *name);

#ifdef __cplusplus
}
#endif
#endif
