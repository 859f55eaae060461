/* forest.c - a forest's arrays and names, and the votes of its trees. */
#include "spotter/forest.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/forest_grow.h"

spot_forest_config spot_forest_defaults(spot_forest_profile profile)
{
    if (profile == SPOT_FOREST_BAGGED)
        return (spot_forest_config){ profile, 100, { SPOT_TREE_GINI, 0, SPOT_ROOT_OF_COLUMNS }, true, 1 };
    return (spot_forest_config){ profile, 50, { SPOT_TREE_GINI, 1, 0 }, false, 1 };
}

/* -- a forest's arrays ----------------------------------------------------------------------------------------------------- */

static void free_names(char **name, int count)
{
    for (int i = 0; name && i < count; i++) free(name[i]);
    free(name);
}

void spot_forest_kept_free(spot_forest_kept *k)
{
    free(k->x), free(k->cls), free(k->group), free(k->share), free(k->aside);
    *k = (spot_forest_kept){ 0 };
}

void spot_forest_close(spot_forest *f)
{
    free_names(f->feature_name, f->features);
    free_names(f->class_name, f->classes);
    free(f->start), free(f->node), free(f->share), free(f->vote), free(f->least), free(f->most), free(f->about);
    spot_forest_kept_free(&f->kept);
    *f = (spot_forest){ 0 };
}

spot_status spot_forest_take(spot_ctx *c, spot_forest *f, int features, int classes, int trees, int nodes)
{
    *f = (spot_forest){ .features = features, .classes = classes, .trees = trees };
    f->start = calloc((size_t)trees + 1, sizeof *f->start);
    f->node = calloc((size_t)nodes + 1, sizeof *f->node);
    f->share = calloc((size_t)nodes * (size_t)classes + 1, sizeof *f->share);
    f->vote = malloc(((size_t)trees + 1) * sizeof *f->vote);
    f->least = calloc((size_t)features + 1, sizeof *f->least);
    f->most = calloc((size_t)features + 1, sizeof *f->most);
    if (!f->start || !f->node || !f->share || !f->vote || !f->least || !f->most) {
        spot_forest_close(f);
        return spot_fail(c, SPOT_NOMEM, "no memory for a forest of %d trees with %d nodes", trees, nodes);
    }
    for (int t = 0; t < trees; t++) f->vote[t] = 1;
    return SPOT_OK;
}

static spot_status copy_text(spot_ctx *c, char **out, const char *text)
{
    for (const char *t = text; *t; t++)
        if ((unsigned char)*t < ' ' || *t == 127)
            return spot_fail(c, SPOT_INVALID, "{forest.name} a forest's name has a control character, at byte %d",
                             (int)(t - text));
    *out = malloc(strlen(text) + 1);
    if (!*out) return spot_fail(c, SPOT_NOMEM, "no memory for the names of a forest");
    strcpy(*out, text);
    return SPOT_OK;
}

static spot_status copy_names(spot_ctx *c, char ***out, const char *const *name, int count)
{
    if (!name) return SPOT_OK;
    *out = calloc((size_t)count + 1, sizeof **out);
    if (!*out) return spot_fail(c, SPOT_NOMEM, "no memory for the names of a forest");
    for (int i = 0; i < count; i++) SPOT_TRY(copy_text(c, *out + i, name[i]));
    return SPOT_OK;
}

spot_status spot_forest_name(spot_ctx *c, spot_forest *f, const char *const *feature, const char *const *cls, const char *about)
{
    free_names(f->feature_name, f->features);
    free_names(f->class_name, f->classes);
    free(f->about);
    f->feature_name = f->class_name = NULL;
    f->about = NULL;
    SPOT_TRY(copy_names(c, &f->feature_name, feature, f->features));
    SPOT_TRY(copy_names(c, &f->class_name, cls, f->classes));
    return about ? copy_text(c, &f->about, about) : SPOT_OK;
}

spot_status spot_forest_add(spot_ctx *c, spot_forest *f, const spot_tree *t)
{
    size_t before = (size_t)f->start[f->trees], nodes = before + (size_t)t->nodes, k = (size_t)f->classes;
    spot_forest_node *node = realloc(f->node, nodes * sizeof *node);
    double *share;

    if (node) f->node = node;
    share = node && nodes <= INT32_MAX ? realloc(f->share, nodes * k * sizeof *share) : NULL;
    if (!share) return spot_fail(c, SPOT_NOMEM, "no memory for a forest of %zu nodes", nodes);
    f->share = share;
    for (int i = 0; i < t->nodes; i++) {
        const spot_tree_node *from = &t->node[i];
        const double *sum = t->sum + (size_t)i * k;
        double all = 0;
        for (size_t j = 0; j < k; j++) all += sum[j];
        for (size_t j = 0; j < k; j++) share[(before + (size_t)i) * k + j] = sum[j] / all;
        node[before + (size_t)i] = (spot_forest_node){ from->feature < 0 ? 0 : from->threshold, all, from->feature, from->left,
                                                       from->right };
    }
    f->start[++f->trees] = (int)nodes;
    return SPOT_OK;
}

/* -- voting ---------------------------------------------------------------------------------------------------------------- */

static const double *leaf_share(const spot_forest *f, int t, const float *row)
{
    const spot_forest_node *node = f->node + f->start[t];
    int at = 0;

    while (node[at].feature >= 0) at = row[node[at].feature] <= node[at].threshold ? node[at].left : node[at].right;
    return f->share + (size_t)(f->start[t] + at) * (size_t)f->classes;
}

static void add_vote(double *sum, const double *share, spot_forest_profile profile, double vote, int classes)
{
    double log_share[SPOT_TREE_CLASSES], logs = 0;
    int best = 0;

    switch (profile) {
    case SPOT_FOREST_SAMME_R:
        for (int k = 0; k < classes; k++) logs += log_share[k] = log(fmax(share[k], DBL_EPSILON));
        for (int k = 0; k < classes; k++) sum[k] += (classes - 1) * (log_share[k] - 1.0 / classes * logs);
        break;
    case SPOT_FOREST_SAMME:
        for (int k = 1; k < classes; k++)
            if (share[k] > share[best]) best = k;
        for (int k = 0; k < classes; k++) sum[k] += k == best ? vote : -1.0 / (classes - 1) * vote;
        break;
    default:
        for (int k = 0; k < classes; k++) sum[k] += share[k];
    }
}

/* Boosting's sums to shares: softmax of the mean vote over classes - 1; scikit-learn takes half the difference for two. */
static void share_votes(double *sum, double votes, int classes)
{
    double most = -INFINITY, all = 0;

    for (int k = 0; k < classes; k++) sum[k] /= votes;
    if (classes == 2) {
        double decision = sum[1] - sum[0];
        sum[0] = -decision / 2;
        sum[1] = decision / 2;
    } else
        for (int k = 0; k < classes; k++) sum[k] /= classes - 1;
    for (int k = 0; k < classes; k++) most = fmax(most, sum[k]);
    for (int k = 0; k < classes; k++) all += sum[k] = exp(sum[k] - most);
    for (int k = 0; k < classes; k++) sum[k] /= all;
}

spot_status spot_forest_check_rows(spot_ctx *c, const spot_forest *f, spot_mat x)
{
    if (x.cols != f->features || x.rows < 0)
        return spot_fail(c, SPOT_INPUT, "{forest.features} rows of %d features for a forest of %d", x.cols, f->features);
    for (size_t i = 0; i < (size_t)x.rows * (size_t)x.cols; i++)
        if (!isfinite(x.v[i]))
            return spot_fail(c, SPOT_INPUT, "row %zu, feature %zu is %g; it must be a finite number", i / (size_t)x.cols,
                             i % (size_t)x.cols, x.v[i]);
    return SPOT_OK;
}

spot_status spot_forest_shares(spot_ctx *c, const spot_forest *f, spot_mat x, int trees, double *share)
{
    double votes = 0;

    if (trees < 0 || trees > f->trees) return spot_fail(c, SPOT_INVALID, "{forest.votes} the vote of %d of %d trees", trees,
                                                        f->trees);
    if (!trees) trees = f->trees;
    SPOT_TRY(spot_forest_check_rows(c, f, x));
    for (int t = 0; t < trees; t++) votes += f->vote[t];
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < x.rows; i++) {
        const float *row = x.v + (size_t)i * (size_t)x.cols;
        double *sum = share + (size_t)i * (size_t)f->classes;
        for (int k = 0; k < f->classes; k++) sum[k] = 0;
        for (int t = 0; t < trees; t++) add_vote(sum, leaf_share(f, t, row), f->profile, f->vote[t], f->classes);
        if (f->profile != SPOT_FOREST_BAGGED) share_votes(sum, votes, f->classes);
        else
            for (int k = 0; k < f->classes; k++) sum[k] /= trees;
    }
    return SPOT_OK;
}

void spot_forest_classes(uint8_t *cls, const double *share, int rows, int classes)
{
    for (int i = 0; i < rows; i++) {
        const double *own = share + (size_t)i * (size_t)classes;
        cls[i] = 0;
        for (int k = 1; k < classes; k++)
            if (own[k] > own[cls[i]]) cls[i] = (uint8_t)k;
    }
}

int spot_forest_outside(const spot_forest *f, const float *row)
{
    for (int j = 0; j < f->features; j++)
        if (!(row[j] >= f->least[j] && row[j] <= f->most[j])) return j;
    return -1;
}
