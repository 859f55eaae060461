/* barlow.c - Barlow (Singla et al. 2021): the features with most information about failure, a decision tree over them, and
 * its leaves ordered by error rate times error coverage.
 *
 * A row fails if the probability of its label is below 1/2. With t of the T failures among the n rows of a leaf, the leaf's
 * error rate is t/n, its error coverage t/T, and their product, its importance, is the score; the sum of the scores is the
 * tree's ALER, which is at least the base error rate T/N. A leaf without failures scores 0 and is no hypothesis.
 *
 * compat, as in the authors' code and Domino's copy of it: the tree sees the features in ascending order of information, so
 * that ties go to the least informative (there: random); a probability of exactly 1/2 predicts the negative class; leaves
 * without failures are listed, too. `top` still applies. Not copied: numpy's noise of seed 0, fp32 in the estimate, its
 * division by zero without failures.
 *
 * A new row belongs to the leaf that it reaches. Assigning a fitted row gives its leaf again. */
#include <stdlib.h>

#include "base/twin.h"
#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/rank.h"
#include "core/device.h"
#include "core/problems.h"
#include "fit/information.h"
#include "map/rows.h"
#include "models/reduce.h"
#include "spotter/forest.h"

/* A problem that has failures; problem: its index in the group. */
typedef struct {
    int       problem, failures;
    uint8_t  *fails;           /* (n) */
    double   *worth;           /* (d): information, or the mean */
    spot_mat  x;               /* (n, features): the chosen features */
    int      *chosen;          /* (features): their indices */
    spot_twin column;          /* (features) spot_rows_column, and ... */
    float    *on_device;       /* ... (features, n): x in columns, on the device */
    spot_tree tree;
    int      *leaf;            /* (n): the row's leaf, a node of tree */
} barlow_problem;

static int failed(const spot_view *v, int i, int compat)
{
    if (compat) return (v->confidence[i] > 0.5f) != spot_view_positive(v, i);
    return spot_view_error(v, i) > 0.5;
}

/* Number of features that the tree sees. */
static int features_seen(int d, const spot_bdm_config *cfg) { return d < cfg->barlow.features ? d : cfg->barlow.features; }

/* Whether the worth of the features changes the result: where all are taken, only compat asks for their order. */
static int needs_worth(int d, const spot_bdm_config *cfg) { return cfg->compat || d > cfg->barlow.features; }

/* Allocates a problem; also in a counting arena. */
static spot_status take_problem(spot_ctx *c, spot_arena *a, barlow_problem *s, int n, int d, const spot_bdm_config *cfg)
{
    s->x = (spot_mat){ NULL, n, features_seen(d, cfg) };
    SPOT_TRY(SPOT_TAKE(c, a, s->fails, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->worth, d));
    SPOT_TRY(SPOT_TAKE(c, a, s->leaf, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->chosen, s->x.cols));
    return SPOT_TAKE(c, a, s->x.v, (size_t)n * (size_t)s->x.cols);
}

/* Allocates a problem's arrays on the device, with its points in x; the caller fills y. */
static spot_status take_device(spot_ctx *c, spot_arena *on_device, spot_information_problem *p, const spot_points *points)
{
    SPOT_TRY(spot_points_on_device(c, on_device, &p->x, points));
    SPOT_TRY(SPOT_TAKE(c, on_device, p->y, p->n));
    return SPOT_TAKE(c, on_device, p->information, p->d);
}

/* Scratch of the information of all problems' features. */
static spot_status take_scratch(spot_ctx *c, spot_arena *work, const spot_bdm_group *g)
{
    const int n = SPOT_MOST(g->problems, g->points, n), d = SPOT_MOST(g->problems, g->points, d);

    return spot_bdm_scratch(c, work, spot_information_scratch(g->problems, n, d, c->device ? 0 : c->threads));
}

/* Computes the information of every feature of every problem, on c's device, into worth. */
static spot_status find_information(spot_ctx *c, spot_arena *work, int count, barlow_problem *s, const spot_bdm_group *g)
{
    spot_information_problem ask[SPOT_BDM_GROUP];
    const size_t mark = work->used;

    for (int k = 0; k < count; k++) {
        const spot_points *p = &g->points[s[k].problem];
        ask[k] = (spot_information_problem){ .n = p->n, .d = p->d, .x = p->at, .y = s[k].fails,
                                             .seed = g->seeds[s[k].problem], .information = s[k].worth };
        if (!c->device) continue;
        SPOT_TRY(take_device(c, work, &ask[k], p));
        SPOT_TRY(spot_device_copy(c, (uint8_t *)ask[k].y, s[k].fails, (size_t)p->n));
    }
    SPOT_TRY(take_scratch(c, work, g));
    SPOT_TRY(spot_information_mutual(c, work, count, ask));
    for (int k = 0; k < count && c->device; k++)
        SPOT_TRY(spot_device_copy(c, s[k].worth, ask[k].information, (size_t)ask[k].d * sizeof *s[k].worth));
    work->used = mark;
    return SPOT_OK;
}

static void find_means(double *worth, const spot_points *p)
{
    for (int j = 0; j < p->d; j++) worth[j] = 0;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->d; j++) worth[j] += p->at[(size_t)i * p->d + j];
    for (int j = 0; j < p->d; j++) worth[j] /= p->n;
}

static int by_index(const void *a, const void *b) { return ((const spot_rank *)a)->which - ((const spot_rank *)b)->which; }

/* Copies the features of greatest worth, the first of equals, to x: in their own order, with compat in ascending worth. Of
 * equal splits the tree takes that of the first column, so the order is part of the result. */
static void choose_features(barlow_problem *s, spot_rank *ranks, const spot_points *p, const spot_bdm_config *cfg)
{
    int kept = s->x.cols;

    if (cfg->barlow.choose == SPOT_CHOOSE_ACTIVATION) find_means(s->worth, p);
    for (int j = 0; j < p->d; j++) ranks[j] = (spot_rank){ .which = j, .score = needs_worth(p->d, cfg) ? s->worth[j] : 0 };
    spot_ranks_sort(ranks, p->d);
    if (!cfg->compat) qsort(ranks, (size_t)kept, sizeof *ranks, by_index);
    for (int j = 0; j < kept; j++) s->chosen[j] = ranks[cfg->compat ? kept - 1 - j : j].which;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < kept; j++) s->x.v[(size_t)i * kept + j] = p->at[(size_t)i * p->d + s->chosen[j]];
}

/* Allocates the device's copy of the chosen features. */
static spot_status take_columns(spot_ctx *c, spot_arena *host, spot_arena *on_device, barlow_problem *s)
{
    SPOT_TRY(spot_twin_take(c, host, on_device, &s->column, (size_t)s->x.cols * sizeof(spot_rows_column)));
    return SPOT_TAKE(c, on_device, s->on_device, (size_t)s->x.rows * (size_t)s->x.cols);
}

/* Copies the chosen features of points on the device to columns there. */
static spot_status pick_columns(spot_ctx *c, spot_arena *host, spot_arena *on_device, barlow_problem *s, const spot_points *p)
{
    spot_rows_pick_problem pick = { .n = s->x.rows, .d = s->x.cols, .x = p->device_at, .x_row = (size_t)p->d, .x_column = 1,
                                    .y_row = 1, .y_column = (size_t)s->x.rows };
    spot_rows_column *column;

    SPOT_TRY(take_columns(c, host, on_device, s));
    column = s->column.here;
    for (int j = 0; j < pick.d; j++) column[j] = (spot_rows_column){ s->chosen[j], 0, 1, 1 };
    SPOT_TRY(spot_twin_push(c, &s->column));
    pick.column = s->column.on_device;
    pick.y = s->on_device;
    return spot_rows_pick(c, 1, &pick);
}

/* Fits the trees: to the features on the device where the points of all problems are there, else to the host's. Leaves are
 * found on the host, from the same numbers. */
static spot_status fit_trees(spot_ctx *c, spot_arena *host, spot_arena *work, int count, barlow_problem *s,
                             const spot_bdm_group *g)
{
    const float *columns[SPOT_BDM_GROUP];
    const uint8_t *y[SPOT_BDM_GROUP];
    spot_tree tree[SPOT_BDM_GROUP];
    spot_mat x[SPOT_BDM_GROUP];
    bool resident = c->device;

    for (int k = 0; k < count; k++) {
        x[k] = s[k].x;
        y[k] = s[k].fails;
        resident = resident && g->points[s[k].problem].device_at;
    }
    for (int k = 0; k < count && resident; k++) {
        SPOT_TRY(pick_columns(c, host, work, &s[k], &g->points[s[k].problem]));
        columns[k] = s[k].on_device;
    }
    SPOT_TRY(spot_tree_fit_on(c, host, count, tree, x, resident ? columns : NULL, y, g->cfg->barlow.depth));
    for (int k = 0; k < count; k++) {
        s[k].tree = tree[k];
        for (int i = 0; i < x[k].rows; i++) s[k].leaf[i] = spot_tree_leaf(&tree[k], x[k].v + (size_t)i * x[k].cols);
    }
    return SPOT_OK;
}

static spot_status keep_tree(spot_ctx *c, spot_fit *f, const spot_tree *t, const spot_rank *leaves, int len)
{
    int *feature, *left, *right, *leaf;
    double *threshold;

    SPOT_TRY(spot_fit_put(c, f, "tree.feature", SPOT_I32, NULL, t->nodes, 0, &feature));
    SPOT_TRY(spot_fit_put(c, f, "tree.left", SPOT_I32, NULL, t->nodes, 0, &left));
    SPOT_TRY(spot_fit_put(c, f, "tree.right", SPOT_I32, NULL, t->nodes, 0, &right));
    SPOT_TRY(spot_fit_put(c, f, "tree.threshold", SPOT_F64, NULL, t->nodes, 0, &threshold));
    SPOT_TRY(spot_fit_put(c, f, "leaf", SPOT_I32, NULL, len, 0, &leaf));
    for (int k = 0; k < t->nodes; k++) {
        feature[k] = t->node[k].feature;
        left[k] = t->node[k].left;
        right[k] = t->node[k].right;
        threshold[k] = feature[k] < 0 ? 0 : t->node[k].threshold;
    }
    for (int k = 0; k < len; k++) leaf[k] = leaves[k].which;
    return SPOT_OK;
}

/* Collects the leaves ordered by score, of equals the left one first. */
static spot_status collect_leaves(spot_ctx *c, const barlow_problem *s, spot_rank *ranks, const spot_bdm_group *g)
{
    const spot_view *view = &g->views[s->problem];
    const uint32_t ec = g->seeds[s->problem].ec;
    spot_hypotheses *out = &g->out[s->problem];
    int len = 0, *row = g->row[s->problem];
    double aler = 0;

    for (int node = 0; node < s->tree.nodes; node++) {
        const spot_tree_node *t = &s->tree.node[node];
        double failures = s->tree.sum[2 * node + 1];       /* rows of class 1, which fail; without the tree's class weights */
        double importance = failures / t->rows * failures / s->failures;
        if (t->feature >= 0) continue;
        aler += importance;
        if (failures > 0 || g->cfg->compat) ranks[len++] = (spot_rank){ .which = node, .score = importance };
    }
    spot_log_of(c, SPOT_LOG_DEBUG, ec, "a tree of %d leaves, ALER %.4f, BER %.4f", s->tree.leaves, aler,
                (double)s->failures / view->n);
    spot_ranks_sort(ranks, len);
    *out = (spot_hypotheses){ .components = len, .len = len < g->cfg->top ? len : g->cfg->top };
    for (int k = 0; k < out->len; k++) {
        spot_hypothesis *h = &out->h[k];
        *h = (spot_hypothesis){ .score = ranks[k].score, .row = row };
        for (int i = 0; i < view->n; i++)
            if (s->leaf[i] == ranks[k].which) {
                row[h->len++] = i;
                h->mean_error += spot_view_error(view, i);
            }
        h->mean_error /= h->len;
        row += h->len;
    }
    return g->fits ? keep_tree(c, &g->fits[s->problem], &s->tree, ranks, out->len) : SPOT_OK;
}

/* Moves the problems with failures to the front of s; the others keep an empty answer. */
static void list_failing(spot_ctx *c, barlow_problem *s, int *count, const spot_bdm_group *g)
{
    *count = 0;
    for (int p = 0; p < g->problems; p++) {
        const spot_view *v = &g->views[p];
        barlow_problem one = s[p];
        for (int i = 0; i < v->n; i++) one.failures += one.fails[i] = failed(v, i, g->cfg->compat) != 0;
        if (!one.failures)
            spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "none of the %d images fails, so there is no blindspot to look for",
                        v->n);
        if (one.failures == v->n)
            spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "all %d images fail, and all of them are the one hypothesis", v->n);
        if (one.failures) s[(*count)++] = one;
    }
}

/* While counting: information and trees of all problems. weigh: information is needed. */
static spot_status count_group(spot_ctx *c, spot_arena *host, spot_arena *work, barlow_problem *s, bool weigh,
                               const spot_bdm_group *g)
{
    const int d = features_seen(SPOT_MOST(g->problems, g->points, d), g->cfg);
    const size_t mark = work->used;
    int n[SPOT_BDM_GROUP];

    for (int p = 0; p < g->problems; p++) n[p] = g->points[p].n;
    for (int p = 0; p < g->problems && weigh && c->device; p++)
        SPOT_TRY(take_device(c, work, &(spot_information_problem){ .n = n[p], .d = g->points[p].d }, &g->points[p]));
    if (weigh) SPOT_TRY(take_scratch(c, work, g));
    if (c->device) work->used = mark;
    for (int p = 0; p < g->problems && c->device; p++) SPOT_TRY(take_columns(c, host, work, &s[p]));
    return spot_bdm_call(c, host, g, spot_tree_needs(c, g->problems, n, d, g->cfg->barlow.depth));
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    int count, most = SPOT_MOST(g->problems, g->points, n), wide = SPOT_MOST(g->problems, g->points, d);
    bool weigh = needs_worth(wide, g->cfg) && g->cfg->barlow.choose == SPOT_CHOOSE_INFORMATION;
    barlow_problem s[SPOT_BDM_GROUP];
    spot_rank *ranks;

    SPOT_TRY(SPOT_TAKE(c, host, ranks, most > wide ? most : wide));
    for (int p = 0; p < g->problems; p++) {
        s[p] = (barlow_problem){ .problem = p };
        SPOT_TRY(take_problem(c, host, &s[p], g->points[p].n, g->points[p].d, g->cfg));
    }
    if (work->counting) return count_group(c, host, work, s, weigh, g);
    list_failing(c, s, &count, g);
    if (weigh && count) SPOT_TRY(find_information(c, work, count, s, g));
    for (int k = 0; k < count; k++) {
        choose_features(&s[k], ranks, &g->points[s[k].problem], g->cfg);
        if (g->fits)
            SPOT_TRY(spot_fit_put(c, &g->fits[s[k].problem], "feature", SPOT_I32, s[k].chosen, s[k].x.cols, 0, NULL));
    }
    SPOT_TRY(fit_trees(c, host, work, count, s, g));
    for (int k = 0; k < count; k++) SPOT_TRY(collect_leaves(c, &s[k], ranks, g));
    return SPOT_OK;
}

/* Reads the tree of a fit into a. Checks that children follow their parent, so that every path ends. */
static spot_status open_tree(spot_ctx *c, spot_arena *a, spot_tree *t, int features, const spot_fit *fit)
{
    const int *feature, *left, *right;
    const spot_fit_tensor *threshold;

    SPOT_TRY(spot_fit_take(c, fit, "tree.threshold", SPOT_F64, -1, 0, &threshold));
    t->nodes = threshold->rows;
    SPOT_TRY(spot_fit_indices(c, fit, "tree.feature", t->nodes, -1, features - 1, &feature));
    SPOT_TRY(spot_fit_indices(c, fit, "tree.left", t->nodes, -1, t->nodes - 1, &left));
    SPOT_TRY(spot_fit_indices(c, fit, "tree.right", t->nodes, -1, t->nodes - 1, &right));
    if (t->nodes < 1) return spot_fail(c, SPOT_INPUT, "the fit's tree has no nodes; it is damaged");
    for (int k = 0; k < t->nodes; k++)
        if (feature[k] >= 0 && (left[k] <= k || right[k] <= k))
            return spot_fail(c, SPOT_INPUT, "{fit.tree_loop} node %d of the fit's tree leads back; the fit is damaged", k);
    SPOT_TRY(SPOT_TAKE(c, a, t->node, t->nodes));
    for (int k = 0; !a->counting && k < t->nodes; k++)
        t->node[k] = (spot_tree_node){ .feature = feature[k], .left = left[k], .right = right[k],
                                       .threshold = ((const double *)threshold->data)[k] };
    return SPOT_OK;
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const spot_fit_tensor *t;
    const int *chosen, *leaf;
    spot_tree tree = { 0 };
    float *x;

    SPOT_TRY(spot_fit_take(c, to->fit, "feature", SPOT_I32, -1, 0, &t));
    SPOT_TRY(spot_fit_indices(c, to->fit, "feature", -1, 0, to->points->d - 1, &chosen));
    SPOT_TRY(open_tree(c, a, &tree, t->rows, to->fit));
    SPOT_TRY(spot_fit_indices(c, to->fit, "leaf", to->hypotheses, 0, tree.nodes - 1, &leaf));
    SPOT_TRY(SPOT_TAKE(c, a, x, t->rows));
    for (int i = 0; !a->counting && i < to->rows->n; i++) {
        int at;
        for (int j = 0; j < t->rows; j++) x[j] = to->points->at[(size_t)i * to->points->d + chosen[j]];
        at = spot_tree_leaf(&tree, x);
        for (int k = 0; k < to->hypotheses; k++) to->member[(size_t)i * to->hypotheses + k] = leaf[k] == at;
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    SPOT_BDM_COMPAT,
    S("depth",   INT,   barlow.depth,  "greatest depth of the decision tree", SPOT_IN(1, SPOT_MAX_TREE_DEPTH), SPOT_DEF(11)),
    S("features", INT,  barlow.features, "number of features that the tree may use", SPOT_IN(1, 1e6), SPOT_DEF(128)),
    S("choose",  NAME,  barlow.choose, "rule for these features: greatest mutual information with failure, or greatest mean",
      SPOT_ONE_OF("information", "activation"), SPOT_DEF(SPOT_CHOOSE_INFORMATION)),
#undef S
    SPOT_END
};

static void defaults(spot_bdm_config *cfg)
{
    cfg->representation = SPOT_BY_ROBUST;
}

const spot_method spot_method_barlow = { .settings = settings, .defaults = defaults,
                                         .solve = solve_group, .assign = assign_rows };
