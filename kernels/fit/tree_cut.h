/* tree_cut.h - the arithmetic that tree_split.c and tree_split.cu share. */
#ifndef SPOTTER_TREE_CUT_H
#define SPOTTER_TREE_CUT_H

#include "core/philox.h"
#include "fit/tree_split.h"

/* May a cut lie between these neighbouring values? 1e-7 is scikit-learn's FEATURE_THRESHOLD. */
static inline SPOT_HD int spot_tree_gap(float below, float above) { return above > below + 1e-7f; }

static inline SPOT_HD double spot_tree_impurity(int zeros, int ones, double weight)
{
    double a = zeros, b = weight * ones, all = a + b;

    if (!zeros || !ones) return 0;
    return -(a * spot_philox_log(a / all) + b * spot_philox_log(b / all));
}

/* Impurity of a span of `rows` with `all` ones, cut after `left` rows with `ones` ones. */
static inline SPOT_HD double spot_tree_price(int rows, int all, int left, int ones, double weight)
{
    return spot_tree_impurity(left - ones, ones, weight) +
           spot_tree_impurity(rows - left - (all - ones), all - ones, weight);
}

static inline SPOT_HD const uint32_t *spot_tree_order(const spot_tree_problem *p, int column)
{
    return p->order + ((size_t)column * 2 + (size_t)(p->level % 2)) * (size_t)p->n;
}

static inline SPOT_HD uint32_t *spot_tree_next(const spot_tree_problem *p, int column)
{
    return p->order + ((size_t)column * 2 + (size_t)((p->level + 1) % 2)) * (size_t)p->n;
}

/* The best cut of a node over all columns. */
static inline SPOT_HD spot_tree_split spot_tree_best(const spot_tree_problem *p, int node)
{
    spot_tree_cut best = { INFINITY, 0, 0 };
    spot_tree_split s = { 0, -1, 0, 0 };

    for (int f = 0; f < p->d; f++) {
        spot_tree_cut cut = p->cut[(size_t)f * (size_t)p->nodes + (size_t)node];
        if (cut.impurity < best.impurity) {
            best = cut;
            s.feature = f;
        }
    }
    if (s.feature >= 0) {
        const uint32_t *at = spot_tree_order(p, s.feature) + p->span[node].begin + best.rows;
        const float *x = p->x + (size_t)s.feature * (size_t)p->n;
        s.threshold = x[at[-1] / 2] / 2.0 + x[at[0] / 2] / 2.0;
        s.rows = best.rows;
        s.ones = best.ones;
    }
    return s;
}

#endif
