/* influence.c - InfEmbed (Wang, Adebayo, Tan, Garcia-Olano & Kokhlikyan 2023, arXiv 2312.04712): rows are clustered by their
 * influence on the loss of the classifier's last layer, a logistic regression of the features.
 *
 * For a row with features x, x~ = [x; 1], probability p and label y, the gradient of its loss is g = (p - y) x~. The Hessian of
 * all rows' loss is H = sum p (1 - p) x~ x~', here plus 1e-6 on the diagonal. With the `dimensions` greatest eigenvalues l of H
 * that are above 1e-5, and their eigenvectors v, no more than features, a row's embedding is mu = v'g / sqrt(l): mu_i mu_j is
 * the influence of row j on the loss of row i. The rows of the view are both the rows of H and those
 * that are clustered; the authors' H has the training rows, which no method here sees. More than two classes are not needed: a
 * view has one probability.
 *
 *   slices: kmeans   k-means of the embedding into `clusters`; all clusters are slices.
 *   slices: rule     the authors' InfEmbed-Rule. A set of rows is a slice if its accuracy is below `accuracy`; else it is left
 *                    out if it lies `depth` cuts deep or has fewer than `least` rows; else k-means cuts it into `branches`.
 *
 * Slices are ordered by errors x error rate; the authors list accuracies. The device computes H, embedding and k-means; LAPACK
 * finds the eigenvectors on the host. The same bits on every device. New rows go to the nearest centre, cut by cut. Assigning a
 * fitted row gives its slice again, except for near-ties of its distances. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/twin.h"
#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "bdm/unit_rows.h"
#include "core/device.h"
#include "core/problems.h"
#include "fit/kmeans.h"
#include "fit/ridge.h"
#include "map/eigen.h"
#include "map/pca.h"
#include "models/reduce.h"

#define RIDGE 1e-6             /* added to H's diagonal */
#define LEAST_EIGENVALUE 1e-5

enum { NONE = -1 };

/* A set of rows: `len` places from `first` on of `order`. It was cut into the nodes child .. child+children-1. */
typedef struct { int first, len, level, child, children, slice; } node;

typedef struct {
    int n, d, dims, kept;      /* dims: most dimensions of the embedding; kept: those it has */
    const spot_view *view;
    spot_seed seed;
    const float *x;            /* (n, d), on the device */
    spot_twin list, weight;    /* (n): all rows; their p (1 - p) */
    spot_twin zero;            /* (d): nothing is taken off the features */
    spot_twin gram, moment;    /* (d, d), (d): H without its last column; the last column without its last entry */
    spot_twin axis, score;     /* (dims, d); (n, dims): the embedding */
    double *hessian, *offset;  /* (d + 1, d + 1), (dims) */
    spot_eigen eigen;
    node *nodes;
    int from, to, len;         /* the nodes of this depth are [from, to), their children [to, len) */
    spot_twin order, label;    /* (n): rows, set by set; of each place the child of its node */
    spot_twin centre;          /* (nodes, dims) */
    float *sorted;             /* (n, dims), on the device: the embedding in this order */
    int *slice, *spare;        /* (n) of each row, NONE: in no slice; (n) */
    spot_rank *ranks;          /* (nodes) */
} influence_problem;

static bool by_rule(const spot_bdm_config *cfg) { return cfg->influence.slices == SPOT_INFLUENCE_RULE; }

static int least_rows(const spot_bdm_config *cfg) { return cfg->least > 2 ? cfg->least : 2; }

/* The most sets that are cut at one depth. */
static int most_cuts(int n, const spot_bdm_config *cfg)
{
    return by_rule(cfg) && n / least_rows(cfg) > 1 ? n / least_rows(cfg) : 1;
}

static int branches(const spot_bdm_config *cfg) { return by_rule(cfg) ? cfg->influence.branches : cfg->influence.clusters; }

static size_t most_nodes(int n, const spot_bdm_config *cfg)
{
    size_t nodes = 1, level = 1, most = (size_t)most_cuts(n, cfg);

    for (int k = 0; k < (by_rule(cfg) ? cfg->influence.depth : 1); k++) {
        nodes += level * (size_t)branches(cfg);
        level = level * (size_t)branches(cfg) < most ? level * (size_t)branches(cfg) : most;
    }
    return nodes;
}

static spot_status take_problem(spot_ctx *c, spot_arena *host, spot_arena *work, influence_problem *q,
                                const spot_points *points, const spot_bdm_config *cfg)
{
    size_t n = (size_t)q->n, d = (size_t)q->d, dims = (size_t)q->dims, nodes = most_nodes(q->n, cfg), each = sizeof(double);

    SPOT_TRY(spot_points_on_device(c, work, &q->x, points));
    SPOT_TRY(spot_twin_take(c, host, work, &q->list, n * sizeof(int)));
    SPOT_TRY(spot_twin_take(c, host, work, &q->weight, n * each));
    SPOT_TRY(spot_twin_take(c, host, work, &q->zero, d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &q->gram, d * d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &q->moment, d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &q->axis, dims * d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &q->score, n * dims * sizeof(float)));
    SPOT_TRY(spot_twin_take(c, host, work, &q->order, n * sizeof(int)));
    SPOT_TRY(spot_twin_take(c, host, work, &q->label, n * sizeof(int)));
    SPOT_TRY(spot_twin_take(c, host, work, &q->centre, nodes * dims * each));
    SPOT_TRY(SPOT_TAKE(c, work, q->sorted, n * dims));
    SPOT_TRY(SPOT_TAKE(c, host, q->hessian, (d + 1) * (d + 1)));
    SPOT_TRY(SPOT_TAKE(c, host, q->offset, dims));
    SPOT_TRY(SPOT_TAKE(c, host, q->nodes, nodes));
    SPOT_TRY(SPOT_TAKE(c, host, q->slice, n));
    SPOT_TRY(SPOT_TAKE(c, host, q->spare, n));
    SPOT_TRY(SPOT_TAKE(c, host, q->ranks, nodes));
    return spot_eigen_take(c, host, &q->eigen, q->d + 1, q->dims);
}

/* ---- the embedding ---- */

static spot_status begin_problem(spot_ctx *c, influence_problem *q)
{
    int *list = q->list.here;
    double *weight = q->weight.here;

    for (int i = 0; i < q->n; i++) {
        list[i] = i;
        weight[i] = (double)q->view->confidence[i] * (1 - (double)q->view->confidence[i]);
    }
    memset(q->zero.here, 0, q->zero.bytes);
    SPOT_TRY(spot_twin_push(c, &q->list));
    SPOT_TRY(spot_twin_push(c, &q->weight));
    SPOT_TRY(spot_twin_push(c, &q->zero));
    return spot_device_clear(c, q->gram.on_device, q->gram.bytes);
}

static spot_status find_hessians(spot_ctx *c, influence_problem *q, int problems)
{
    spot_ridge_rows gram[SPOT_BDM_GROUP], moment[SPOT_BDM_GROUP];

    for (int p = 0; p < problems; p++) {
        SPOT_TRY(begin_problem(c, &q[p]));
        gram[p] = (spot_ridge_rows){ q[p].n, q[p].d, q[p].n, q[p].x, q[p].zero.on_device, q[p].list.on_device,
                                     q[p].weight.on_device, q[p].gram.on_device };
        moment[p] = gram[p];
        moment[p].out = q[p].moment.on_device;
    }
    SPOT_TRY(spot_ridge_gram(c, problems, gram));
    SPOT_TRY(spot_ridge_moment(c, problems, moment));
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(spot_twin_pull(c, &q[p].gram));
        SPOT_TRY(spot_twin_pull(c, &q[p].moment));
    }
    return SPOT_OK;
}

/* Axes and offsets of the embedding, the greatest eigenvalue first; false if LAPACK fails. */
static bool find_axes(influence_problem *q, int threads)
{
    size_t d = (size_t)q->d, wide = d + 1;
    const double *gram = q->gram.here, *moment = q->moment.here, *weight = q->weight.here;
    double *h = q->hessian, *axis = q->axis.here, sum = 0;

    for (int i = 0; i < q->n; i++) sum += weight[i];
    for (size_t j = 0; j < d; j++) {
        memcpy(h + j * wide + j, gram + j * d + j, (d - j) * sizeof *h);
        h[j * wide + d] = moment[j];
        h[j * wide + j] += RIDGE;
    }
    h[d * wide + d] = sum + RIDGE;
    if (!spot_eigen_top(&q->eigen, h, (int)wide, q->dims, threads)) return false;
    q->kept = 0;
    for (int k = q->dims - 1; k >= 0 && q->eigen.value[k] > LEAST_EIGENVALUE; k--, q->kept++) {
        const double *v = q->eigen.vector + (size_t)k * wide;
        double shrink = 1 / sqrt(q->eigen.value[k]);
        for (size_t j = 0; j < d; j++) axis[(size_t)q->kept * d + j] = v[j] * shrink;
        q->offset[q->kept] = v[d] * shrink;
    }
    return true;
}

/* From a row's scores on the axes to its embedding. */
static void finish_row(float *score, const double *offset, int kept, double off)
{
    for (int k = 0; k < kept; k++) score[k] = (float)(off * (score[k] + offset[k]));
}

/* Eigenvectors of each problem, then the embeddings of those that have any. */
static spot_status find_embeddings(spot_ctx *c, influence_problem *q, int problems)
{
    int failed = -1, count = 0, lanes = problems < c->threads ? 1 : c->threads;
    spot_pca_problem project[SPOT_BDM_GROUP];

#pragma omp parallel for num_threads(lanes) schedule(dynamic)
    for (int p = 0; p < problems; p++)
        if (!find_axes(&q[p], c->threads / lanes))
#pragma omp atomic write
            failed = p;
    if (failed >= 0)
        return spot_fail_of(c, SPOT_NUMERIC, q[failed].seed.ec, "the Hessian of %d features has no eigenvectors; look for "
                            "extreme values", q[failed].d);
    for (int p = 0; p < problems; p++) {
        if (!q[p].kept) continue;
        SPOT_TRY(spot_twin_push(c, &q[p].axis));
        project[count++] = (spot_pca_problem){ .n = q[p].n, .d = q[p].d, .kept = q[p].kept, .x = q[p].x,
                                               .mean = q[p].zero.on_device, .axis = q[p].axis.on_device,
                                               .score = q[p].score.on_device };
    }
    SPOT_TRY(spot_pca_project(c, count, project));
    for (int p = 0; p < problems; p++) {
        const spot_view *v = q[p].view;
        SPOT_TRY(spot_twin_pull(c, &q[p].score));
        for (int i = 0; i < q[p].n; i++)
            finish_row((float *)q[p].score.here + (size_t)i * q[p].kept, q[p].offset, q[p].kept,
                       (double)v->confidence[i] - spot_view_positive(v, i));
        SPOT_TRY(spot_twin_push(c, &q[p].score));
    }
    return SPOT_OK;
}

/* ---- cuts ---- */

static double accuracy(const influence_problem *q, const node *t)
{
    const int *order = q->order.here;
    int right = 0;

    for (int e = t->first; e < t->first + t->len; e++) right += spot_view_error(q->view, order[e]) <= 0.5;
    return right / (double)t->len;
}

/* Whether a set is to be cut. If not, it becomes a slice or is left out. */
static bool is_to_be_cut(influence_problem *q, node *t, const spot_bdm_config *cfg)
{
    const int *order = q->order.here;
    bool rule = by_rule(cfg);

    if (!t->len || (!rule && !t->level)) return t->len;
    if (!rule || accuracy(q, t) < cfg->influence.accuracy) {
        t->slice = (int)(t - q->nodes);
        for (int e = t->first; e < t->first + t->len; e++) q->slice[order[e]] = t->slice;
        return false;
    }
    return t->level < cfg->influence.depth && t->len >= least_rows(cfg);
}

/* Adds k-means of each set of this depth that is to be cut. */
static spot_status add_cuts(spot_ctx *c, influence_problem *q, spot_kmeans_job *jobs, int *count, const spot_bdm_config *cfg)
{
    const spot_rows_pick_problem pick = { .n = q->n, .d = q->kept, .x = q->score.on_device, .x_row = (size_t)q->kept,
                                          .x_column = 1, .row = q->order.on_device, .y = q->sorted,
                                          .y_row = (size_t)q->kept, .y_column = 1 };

    for (int k = q->from; k < q->to; k++) {
        node *t = &q->nodes[k];
        if (!is_to_be_cut(q, t, cfg)) continue;
        t->child = q->len;
        t->children = branches(cfg) < t->len ? branches(cfg) : t->len;
        q->len += t->children;
        jobs[(*count)++] = (spot_kmeans_job){ .n = t->len, .d = q->kept, .k = t->children,
                                              .x = q->sorted + (size_t)t->first * q->kept, .seed = q->seed,
                                              .centre = (double *)q->centre.on_device + (size_t)t->child * q->kept,
                                              .label = (int *)q->label.on_device + t->first };
    }
    if (q->len == q->to) return SPOT_OK;
    SPOT_TRY(spot_twin_push(c, &q->order));
    return spot_rows_pick(c, 1, &pick);
}

/* Sorts the rows of each set that was cut by their child, and describes the children. */
static void follow_cuts(influence_problem *q)
{
    const int *label = q->label.here;
    int *order = q->order.here;

    for (int k = q->from; k < q->to; k++) {
        const node *t = &q->nodes[k];
        int at = t->first;
        memcpy(q->spare, order + t->first, (size_t)t->len * sizeof *order);
        for (int b = 0; b < t->children; b++) {
            node *child = &q->nodes[t->child + b];
            *child = (node){ .first = at, .level = t->level + 1, .slice = NONE };
            for (int e = 0; e < t->len; e++)
                if (label[t->first + e] == b) order[at++] = q->spare[e];
            child->len = at - child->first;
        }
    }
    q->from = q->to;
    q->to = q->len;
}

static void begin_cuts(influence_problem *q)
{
    int *order = q->order.here;

    for (int i = 0; i < q->n; i++) order[i] = i, q->slice[i] = NONE;
    q->nodes[0] = (node){ .len = q->n, .slice = NONE };
    q->from = 0;
    q->to = q->len = q->kept > 0;      /* no dimension: nothing to cut, and no slices */
}

/* Cuts all problems' sets, depth by depth. */
static spot_status cut_sets(spot_ctx *c, spot_arena *work, influence_problem *q, int problems, spot_kmeans_job *jobs,
                            const spot_bdm_config *cfg)
{
    for (int p = 0; p < problems; p++) begin_cuts(&q[p]);
    for (int count = 1; count;) {
        count = 0;
        for (int p = 0; p < problems; p++) SPOT_TRY(add_cuts(c, &q[p], jobs, &count, cfg));
        SPOT_TRY(spot_kmeans_fit(c, work, count, jobs));
        for (int p = 0; p < problems; p++) {
            if (q[p].len > q[p].to) SPOT_TRY(spot_twin_pull(c, &q[p].label));
            follow_cuts(&q[p]);
        }
    }
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(spot_twin_pull(c, &q[p].centre));
        if (q[p].len) memset(q[p].centre.here, 0, (size_t)q[p].kept * sizeof(double));   /* the first node has no centre */
    }
    return SPOT_OK;
}

/* ---- the answer ---- */

/* Keeps axes and offsets of the embedding, and the nodes with their children, centres and hypotheses. */
static spot_status keep_fit(spot_ctx *c, spot_fit *f, const influence_problem *q, const spot_rank *ranks, int len)
{
    int *child, *children, *hypothesis;

    SPOT_TRY(spot_fit_put(c, f, "influence.axis", SPOT_F64, q->axis.here, q->kept, q->d, NULL));
    SPOT_TRY(spot_fit_put(c, f, "influence.offset", SPOT_F64, q->offset, q->kept, 0, NULL));
    SPOT_TRY(spot_fit_put(c, f, "influence.centre", SPOT_F64, q->centre.here, q->len, q->kept, NULL));
    SPOT_TRY(spot_fit_put(c, f, "influence.child", SPOT_I32, NULL, q->len, 0, &child));
    SPOT_TRY(spot_fit_put(c, f, "influence.children", SPOT_I32, NULL, q->len, 0, &children));
    SPOT_TRY(spot_fit_put(c, f, "influence.hypothesis", SPOT_I32, NULL, q->len, 0, &hypothesis));
    for (int k = 0; k < q->len; k++) {
        child[k] = q->nodes[k].child;
        children[k] = q->nodes[k].children;
        hypothesis[k] = NONE;
    }
    for (int k = 0; k < len; k++) hypothesis[ranks[k].which] = k;
    return SPOT_OK;
}

static spot_status report_problem(spot_ctx *c, const spot_bdm_group *g, int p, influence_problem *q)
{
    const spot_labels l = { .n = q->n, .slices = q->len, .label = q->slice };
    int len = spot_slices_rank(q->ranks, &l, q->view);

    spot_slices_collect(&g->out[p], g->row[p], q->ranks, len, &l, g->cfg->top);
    if (!q->kept)
        spot_log_of(c, SPOT_LOG_WARN, q->seed.ec, "influence's list is empty: every confidence is near 0 or 1, so the Hessian "
                    "of the loss has no eigenvalue above %g", LEAST_EIGENVALUE);
    else if (!len)
        spot_log_of(c, SPOT_LOG_WARN, q->seed.ec, "influence's list is empty: no set of rows has an accuracy below %g",
                    g->cfg->influence.accuracy);
    return g->fits && q->kept ? keep_fit(c, &g->fits[p], q, q->ranks, g->out[p].len) : SPOT_OK;
}

/* Bytes of k-means of `cuts` sets among problems of at most n rows. */
static size_t cut_bytes(const spot_ctx *c, size_t cuts, int n, const spot_bdm_config *cfg)
{
    return spot_kmeans_scratch((int)cuts, n, cfg->influence.dimensions, branches(cfg) < n ? branches(cfg) : n,
                               c->device ? 0 : c->threads);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    influence_problem q[SPOT_BDM_GROUP];
    spot_kmeans_job *jobs;
    size_t cuts = 0;

    for (int p = 0; p < g->problems; p++) {
        const int n = g->points[p].n, d = g->points[p].d, dims = g->cfg->influence.dimensions;
        q[p] = (influence_problem){ .n = n, .d = d, .view = &g->views[p], .dims = dims < d ? dims : d };
        if (!work->counting) q[p].seed = g->seeds[p];
        SPOT_TRY(take_problem(c, host, work, &q[p], &g->points[p], g->cfg));
        cuts += (size_t)most_cuts(n, g->cfg);
    }
    SPOT_TRY(SPOT_TAKE(c, host, jobs, cuts));
    SPOT_TRY(spot_bdm_scratch(c, work, cut_bytes(c, cuts, SPOT_MOST(g->problems, g->points, n), g->cfg)));
    if (work->counting) return SPOT_OK;
    SPOT_TRY(find_hessians(c, q, g->problems));
    SPOT_TRY(find_embeddings(c, q, g->problems));
    SPOT_TRY(cut_sets(c, work, q, g->problems, jobs, g->cfg));
    for (int p = 0; p < g->problems; p++) SPOT_TRY(report_problem(c, g, p, &q[p]));
    return SPOT_OK;
}

/* ---- new rows ---- */

typedef struct { int nodes, kept; const int *child, *children, *hypothesis; const double *centre; } tree;

/* The tree of a fit; it must lead from each node to later ones. */
static spot_status read_tree(spot_ctx *c, const spot_fit *fit, int kept, int hypotheses, tree *t)
{
    const spot_fit_tensor *centre;

    SPOT_TRY(spot_fit_take(c, fit, "influence.centre", SPOT_F64, -1, kept, &centre));
    *t = (tree){ .nodes = centre->rows, .kept = kept, .centre = centre->data };
    SPOT_TRY(spot_fit_indices(c, fit, "influence.child", t->nodes, 0, t->nodes, &t->child));
    SPOT_TRY(spot_fit_indices(c, fit, "influence.children", t->nodes, 0, t->nodes, &t->children));
    SPOT_TRY(spot_fit_indices(c, fit, "influence.hypothesis", t->nodes, NONE, hypotheses - 1, &t->hypothesis));
    for (int k = 0; k < t->nodes; k++)
        if (t->children[k] && (t->child[k] <= k || t->child[k] > t->nodes - t->children[k]))
            return spot_fail(c, SPOT_INPUT, "node %d of the fit has children %d to %d of %d nodes: the fit is damaged", k,
                             t->child[k], t->child[k] + t->children[k] - 1, t->nodes);
    return t->nodes ? SPOT_OK : spot_fail(c, SPOT_INPUT, "the fit has no nodes: it is damaged");
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    spot_pca_problem p = { .n = to->rows->n, .d = to->points->d, .x = to->points->at };
    const spot_fit_tensor *axis, *offset;
    tree t;

    SPOT_TRY(spot_fit_wants_confidence(c, to->rows, "influence"));
    SPOT_TRY(spot_fit_take(c, to->fit, "influence.axis", SPOT_F64, -1, to->points->d, &axis));
    if (axis->rows < 1 || axis->rows > to->points->d)
        return spot_fail(c, SPOT_INPUT, "the fit has %d axes of %d features: it is damaged", axis->rows, to->points->d);
    SPOT_TRY(spot_fit_take(c, to->fit, "influence.offset", SPOT_F64, axis->rows, 0, &offset));
    SPOT_TRY(read_tree(c, to->fit, axis->rows, to->hypotheses, &t));
    p.kept = axis->rows;
    p.axis = axis->data;
    SPOT_TRY(SPOT_TAKE(c, a, p.mean, p.d));
    SPOT_TRY(SPOT_TAKE(c, a, p.score, (size_t)p.n * p.kept));
    if (a->counting) return SPOT_OK;
    memset(p.mean, 0, (size_t)p.d * sizeof *p.mean);
    SPOT_TRY(spot_pca_project(c, 1, &p));
    for (int i = 0; i < p.n; i++) {
        float *x = p.score + (size_t)i * p.kept;
        int k = 0;
        finish_row(x, offset->data, p.kept, (double)to->rows->confidence[i] - spot_view_positive(to->rows, i));
        while (t.children[k]) {
            int near = spot_nearest_centre(x, t.centre + (size_t)t.child[k] * t.kept, t.children[k], t.kept);
            k = t.child[k] + (near > 0 ? near : 0);
        }
        if (t.hypothesis[k] >= 0) to->member[(size_t)i * to->hypotheses + t.hypothesis[k]] = 1;
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("dimensions", INT, influence.dimensions, "most dimensions of the embedding", SPOT_IN(1, 512), SPOT_DEF(50)),
    S("slices",  NAME,  influence.slices, "slices: all clusters of k-means, or sets cut until their accuracy is low",
      SPOT_ONE_OF("kmeans", "rule"), SPOT_DEF(SPOT_INFLUENCE_KMEANS)),
    S("clusters", INT,  influence.clusters, "clusters of k-means (slices: kmeans)", SPOT_IN(1, SPOT_KMEANS_MOST), SPOT_DEF(25)),
    S("accuracy", REAL, influence.accuracy, "accuracy below which a set is a slice (slices: rule)", SPOT_IN(0, 1),
      SPOT_DEF(0.2)),
    S("least",   INT,   least,         "fewest rows of a set that is cut (slices: rule)", SPOT_IN(2, 1e9), SPOT_DEF(50)),
    S("depth",   INT,   influence.depth, "most cuts one after the other (slices: rule)", SPOT_IN(1, 12), SPOT_DEF(5)),
    S("branches", INT,  influence.branches, "pieces of a cut (slices: rule)", SPOT_IN(2, 16), SPOT_DEF(2)),
#undef S
    SPOT_END
};

const spot_method spot_method_influence = { .settings = settings, .solve = solve_group, .assign = assign_rows };
