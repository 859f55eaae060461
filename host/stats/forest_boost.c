/* forest_boost.c - AdaBoost for several classes: SAMME.R and SAMME (Zhu et al. 2009), as scikit-learn 1.5 does it. A round
 * grows one tree for every forest that is not done. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "stats/forest_grow.h"

/* Class shares of the tree's nodes by these weights: the tree's own sums are rounded to 2^-52 of the total, and shares far
 * below that count in a logarithm. leaf: (rows), out. */
static void weigh_leaves(spot_forest *f, int t, const spot_forest_rows *rows, const double *weight, int *leaf)
{
    spot_forest_node *node = f->node + f->start[t];
    int nodes = f->start[t + 1] - f->start[t], k = f->classes;
    double *share = f->share + (size_t)f->start[t] * (size_t)k;

    memset(share, 0, (size_t)nodes * (size_t)k * sizeof *share);
    for (int i = 0; i < rows->x.rows; i++) {
        const float *row = rows->x.v + (size_t)i * (size_t)rows->x.cols;
        int at = 0;
        share[rows->y[i]] += weight[i];
        while (node[at].feature >= 0) {
            at = row[node[at].feature] <= node[at].threshold ? node[at].left : node[at].right;
            share[at * k + rows->y[i]] += weight[i];
        }
        leaf[i] = at;
    }
    for (int n = 0; n < nodes; n++) {
        node[n].cover = 0;
        for (int j = 0; j < k; j++) node[n].cover += share[n * k + j];
        for (int j = 0; j < k; j++) share[n * k + j] /= node[n].cover;
    }
}

static int class_of(const double *share, int classes)
{
    int best = 0;

    for (int k = 1; k < classes; k++)
        if (share[k] > share[best]) best = k;
    return best;
}

/* Weight of the rows that the newest tree gets wrong, of all. */
static double error_of(const spot_forest *f, const double *share, const spot_forest_rows *rows, const double *weight,
                       const int *leaf)
{
    double wrong = 0, all = 0;

    for (int i = 0; i < rows->x.rows; i++) {
        if (class_of(share + (size_t)leaf[i] * (size_t)f->classes, f->classes) != rows->y[i]) wrong += weight[i];
        all += weight[i];
    }
    return wrong / all;
}

/* Weights for the next round; false: they are no weights any more, so this was the last. */
static bool weigh_rows(double *weight, const spot_forest *f, const double *share, const spot_forest_rows *rows, const int *leaf,
                       const spot_forest_config *cfg, double vote)
{
    const int classes = f->classes;
    double all = 0;

    for (int i = 0; i < rows->x.rows; i++) {
        const double *own = share + (size_t)leaf[i] * (size_t)classes;
        double up = 0;
        if (cfg->profile == SPOT_FOREST_SAMME_R) {
            for (int k = 0; k < classes; k++)
                up += (k == rows->y[i] ? 1 : -1.0 / (classes - 1)) * log(fmax(own[k], DBL_EPSILON));
            weight[i] *= exp(-cfg->rate * ((classes - 1.0) / classes) * up);
        } else if (weight[i] > 0 && class_of(own, classes) != rows->y[i])
            weight[i] = exp(log(weight[i]) + vote);
        all += weight[i];
    }
    if (!(all > 0 && all < INFINITY)) return false;
    for (int i = 0; i < rows->x.rows; i++)
        if (weight[i] > 0 || !rows->weight || rows->weight[i] > 0) weight[i] = fmax(weight[i] / all, DBL_EPSILON);
    return true;
}

/* Takes the newest tree in, or stops this forest. */
static spot_status add_round(spot_ctx *c, spot_forest *f, spot_boosting *b, const spot_forest_rows *rows, int *leaf,
                             const spot_forest_config *cfg, const spot_tree *tree)
{
    int t = f->trees;
    const double *share;
    double error;

    SPOT_TRY(spot_forest_add(c, f, tree));
    weigh_leaves(f, t, rows, b->weight, leaf);
    share = f->share + (size_t)f->start[t] * (size_t)f->classes;
    error = error_of(f, share, rows, b->weight, leaf);
    f->vote[t] = 1;
    if (error <= 0) b->done = true;
    else if (cfg->profile == SPOT_FOREST_SAMME && error >= 1 - 1.0 / f->classes) {
        b->done = true;
        f->trees--;
        if (!f->trees)
            return spot_fail(c, SPOT_CHECK, "{forest.boost_weak} AdaBoost: the first tree is wrong on %.3g %% of the rows, no "
                             "better than chance among %d classes; it needs deeper trees or other "
                             "features", 100 * error, f->classes);
    } else {
        if (cfg->profile == SPOT_FOREST_SAMME) f->vote[t] = cfg->rate * (log((1 - error) / error) + log(f->classes - 1.0));
        b->done = !weigh_rows(b->weight, f, share, rows, leaf, cfg, f->vote[t]);
    }
    return SPOT_OK;
}

static spot_status run_round(spot_ctx *c, const spot_forest_fitting *b, spot_boosting *state, const spot_forest_rows *rows,
                             int forests, int most_rows, int *left)
{
    spot_tree_task *task;
    spot_tree *tree;
    int *leaf, count = 0;

    SPOT_TRY(SPOT_TAKE(c, b->a, task, forests));
    SPOT_TRY(SPOT_TAKE(c, b->a, tree, forests));
    SPOT_TRY(SPOT_TAKE(c, b->a, leaf, most_rows));
    for (int i = 0; i < forests; i++)
        if (!state[i].done) task[count++] = (spot_tree_task){ i, state[i].weight, rows[i].seed.seed };
    *left = count;
    if (!count) return SPOT_OK;
    SPOT_TRY(spot_trees_grow(c, b->a, b->trees, count, tree, task));
    for (int k = 0; k < count; k++) {
        int i = task[k].table;
        SPOT_TRY(add_round(c, &b->out[i], &state[i], &rows[i], leaf, b->cfg, &tree[k]));
    }
    return SPOT_OK;
}

static void start_weights(double *weight, const double *given, int n)
{
    double all = 0;

    for (int r = 0; r < n; r++) all += weight[r] = given ? given[r] : 1;
    for (int r = 0; r < n; r++) weight[r] = weight[r] > 0 ? fmax(weight[r] / all, DBL_EPSILON) : weight[r];
}

spot_status spot_forest_boost(spot_ctx *c, const spot_forest_fitting *b, const spot_forest_rows *rows, int forests)
{
    spot_boosting *state;
    int most_rows = 0, left = forests;

    SPOT_TRY(SPOT_TAKE(c, b->a, state, forests));
    for (int i = 0; i < forests; i++) {
        int n = rows[i].x.rows;
        state[i].done = false;
        SPOT_TRY(SPOT_TAKE(c, b->a, state[i].weight, n));
        start_weights(state[i].weight, rows[i].weight, n);
        if (n > most_rows) most_rows = n;
    }
    for (int round = 0; round < b->cfg->trees && left; round++) {
        size_t mark = b->a->used;
        spot_status s = run_round(c, b, state, rows, forests, most_rows, &left);
        b->a->used = mark;
        SPOT_TRY(s);
    }
    return SPOT_OK;
}
