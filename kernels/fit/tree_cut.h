/* tree_cut.h - the arithmetic that tree_split.c and tree_split.cu share. */
#ifndef SPOTTER_TREE_CUT_H
#define SPOTTER_TREE_CUT_H

#include "core/philox.h"
#include "fit/tree_split.h"

/* May a cut lie between these neighbouring values? 1e-7 is scikit-learn's FEATURE_THRESHOLD. */
static inline SPOT_HD int spot_tree_gap(float below, float above) { return above > below + 1e-7f; }

/* Bits of a class in an order's entries. */
static inline SPOT_HD int spot_tree_bits(int classes)
{
    int bits = 1;

    while (1 << bits < classes) bits++;
    return bits;
}

/* Impurity of a side that has weight, namely `part`, or `all` without `part` where rest is not 0. class_weight may be NULL. */
static inline SPOT_HD double spot_tree_impurity(spot_tree_criterion criterion, int classes, const double *part,
                                                const double *all, int rest, const double *class_weight)
{
    double w = 0, sum = 0;

    for (int k = 0; k < classes; k++) {
        double c = rest ? all[k] - part[k] : part[k];
        if (class_weight) c *= class_weight[k];
        w += c;
        if (criterion == SPOT_TREE_GINI) sum += c * c;
    }
    if (criterion == SPOT_TREE_GINI) return w - sum / w;
    for (int k = 0; k < classes; k++) {
        double c = rest ? all[k] - part[k] : part[k];
        if (class_weight) c *= class_weight[k];
        if (c > 0) sum += c * spot_philox_log(c / w);
    }
    return -sum;
}

/* Impurity of a cut of `all` that has `left` on its left. */
static inline SPOT_HD double spot_tree_price(spot_tree_criterion criterion, int classes, const double *left, const double *all,
                                             const double *class_weight)
{
    return spot_tree_impurity(criterion, classes, left, all, 0, class_weight) +
           spot_tree_impurity(criterion, classes, left, all, 1, class_weight);
}

/* Does either side of a node's split have rows of two classes? */
static inline SPOT_HD int spot_tree_goes_on(const spot_tree_problem *p, int node)
{
    const double *left = p->left + (size_t)node * (size_t)p->classes, *sum = p->sum + (size_t)node * (size_t)p->classes;
    int lefts = 0, rights = 0;

    for (int k = 0; k < p->classes; k++) {
        lefts += left[k] > 0;
        rights += sum[k] > left[k];
    }
    return lefts > 1 || rights > 1;
}

static inline SPOT_HD uint32_t *spot_tree_sorted(const spot_tree_problem *p, int column)
{
    return p->sorted + (size_t)column * 2 * (size_t)p->rows;
}

static inline SPOT_HD const uint32_t *spot_tree_order(const spot_tree_problem *p, int column)
{
    return p->order + ((size_t)column * 2 + (size_t)(p->level % 2)) * (size_t)p->n;
}

static inline SPOT_HD uint32_t *spot_tree_next(const spot_tree_problem *p, int column)
{
    return p->order + ((size_t)column * 2 + (size_t)((p->level + 1) % 2)) * (size_t)p->n;
}

/* Writes node's list of columns: the first `count` are drawn from all, without repeats. */
static inline SPOT_HD void spot_tree_draw(const spot_tree_problem *p, int node, int count)
{
    spot_rng r = spot_philox_at(p->seed, SPOT_RNG_COLUMNS, 0, (uint32_t)p->span[node].number);
    int *drawn = p->drawn + (size_t)node * (size_t)p->d;

    for (int j = 0; j < p->d; j++) drawn[j] = j;
    for (int j = 0; j < count; j++) {
        int at = j + (int)spot_philox_below(&r, (uint32_t)(p->d - j)), column = drawn[at];
        drawn[at] = drawn[j];
        drawn[j] = column;
    }
}

/* Column j in a node's list. */
static inline SPOT_HD int spot_tree_column(const spot_tree_problem *p, int node, int j)
{
    return p->tries < p->d ? p->drawn[(size_t)node * (size_t)p->d + (size_t)j] : j;
}

/* The best of a node's cuts, the first of equals; its number, or -1. */
static inline SPOT_HD int spot_tree_best(const spot_tree_problem *p, int node)
{
    const spot_tree_cut *cut = p->cut + (size_t)node * (size_t)p->tries;
    int best = -1;

    for (int j = 0; j < p->tries; j++)
        if (cut[j].impurity < (best < 0 ? INFINITY : cut[best].impurity)) best = j;
    return best;
}

/* The split of a node in a column, whose order of the node's rows this is, after `rows` rows. */
static inline SPOT_HD spot_tree_split spot_tree_split_at(const spot_tree_problem *p, const uint32_t *order, int feature,
                                                        int rows)
{
    const int bits = spot_tree_bits(p->classes);
    const uint32_t *at = order + rows;
    const float *x = p->x + (size_t)feature * (size_t)p->rows;
    spot_tree_split s = { x[at[-1] >> bits] / 2.0 + x[at[0] >> bits] / 2.0, feature, rows };

    return s;
}

#endif
