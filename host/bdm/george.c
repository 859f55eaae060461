/* george.c - GEORGE (Sohoni et al. 2020, arXiv 2011.12945): the reduced features of each class are clustered, their number by
 * silhouette; each cluster is then tried in more pieces than it should have (pieces.h). A cluster is a hypothesis, ordered by
 * its mean loss; GEORGE itself has no order, because its next step trains a better classifier.
 *
 * Follows the released code with these differences: one set of rows serves as its training and validation rows, so the least
 * number of rows applies once; a cluster with fewer rows than pieces, which stops that code, gets as many pieces as rows; of
 * several starts, the greatest final likelihood wins (scikit-learn compares the likelihood one step earlier); one reduction
 * makes the points of both classes. The loss is the cross-entropy of the row's label, with a probability of at least 1e-7,
 * the spacing of fp32 below 1.
 *
 * Clusters have no model for new rows: a new row belongs to the cluster of the nearest fitted row of its class, after the
 * reducer. Assigning a fitted row gives its cluster again. */
#include <math.h>
#include <string.h>

#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/rank.h"
#include "bdm/pieces.h"
#include "core/device.h"
#include "core/problems.h"
#include "fit/silhouette.h"
#include "map/rows.h"
#include "stats/jobs.h"

#define LEAST_PROBABILITY 1e-7

/* The rows of one class in one problem, and their clusters. problem: its index in the group; row[i] is row i's in the view. */
typedef struct {
    int problem, n, d, clusters;
    int *row;                  /* (n): ascending */
    float *x;                  /* (n, d) */
    const float *on_device;    /* x on the device; there for all parts of a group or for none, so the first one tells */
    double *loss;              /* (n) */
    uint16_t *label;           /* (n): below `clusters` */
} class_part;

static spot_status take_part(spot_ctx *c, spot_arena *a, class_part *t)
{
    int n = t->n, d = t->d;

    SPOT_TRY(SPOT_TAKE(c, a, t->row, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->x, (size_t)n * d));
    SPOT_TRY(SPOT_TAKE(c, a, t->loss, n));
    return SPOT_TAKE(c, a, t->label, n);
}

/* Splits every problem by class, positives first, without empty classes. *parts: their number. */
static spot_status split_by_class(spot_ctx *c, spot_arena *a, class_part *t, int *parts, const spot_bdm_group *g)
{
    *parts = 0;
    for (int p = 0; p < g->problems; p++)
        for (int positive = 1; positive >= 0; positive--) {
            const spot_view *v = &g->views[p];
            const float *x = g->points[p].at;
            int d = g->points[p].d, n = 0, at = 0;
            for (int i = 0; i < v->n; i++) n += spot_view_positive(v, i) == positive;
            if (!n) continue;
            *t = (class_part){ .problem = p, .n = n, .d = d };
            SPOT_TRY(take_part(c, a, t));
            for (int i = 0; i < v->n; i++) {
                if (spot_view_positive(v, i) != positive) continue;
                t->row[at] = i;
                t->loss[at] = -log(fmax(1 - spot_view_error(v, i), LEAST_PROBABILITY));
                memcpy(t->x + (size_t)at++ * d, x + (size_t)i * d, (size_t)d * sizeof *t->x);
            }
            t++;
            (*parts)++;
        }
    return SPOT_OK;
}

/* Copies rows `row` (n) of x (.., d) to *to, all on the device. */
static spot_status pick_rows(spot_ctx *c, spot_arena *work, const float **to, const float *x, const int *row, int n, int d)
{
    spot_rows_pick_problem pick = { .n = n, .d = d, .x = x, .x_row = (size_t)d, .x_column = 1, .y_row = (size_t)d,
                                    .y_column = 1 };
    int *row_there;

    SPOT_TRY(SPOT_TAKE(c, work, pick.y, (size_t)n * d));
    SPOT_TRY(SPOT_TAKE(c, work, row_there, n));
    *to = pick.y;
    pick.row = row_there;
    if (work->counting) return SPOT_OK;
    SPOT_TRY(spot_device_copy(c, row_there, row, (size_t)n * sizeof *row));
    return spot_rows_pick(c, 1, &pick);
}

/* The parts' points on the device, if all of the group's are there. */
static spot_status find_parts_on_device(spot_ctx *c, spot_arena *work, class_part *t, int parts, const spot_points *points)
{
    for (int q = 0; q < parts; q++)
        if (!c->device || !points[t[q].problem].device_at) return SPOT_OK;
    for (int q = 0; q < parts; q++) {
        const spot_points *all = &points[t[q].problem];
        if (t[q].n == all->n) t[q].on_device = all->device_at;
        else SPOT_TRY(pick_rows(c, work, &t[q].on_device, all->device_at, t[q].row, t[q].n, t[q].d));
    }
    return SPOT_OK;
}

/* Renumbers labels as 0, 1, ... without gaps, in the same order: a mixture may leave components without rows, and a cluster of
 * no rows could not be cut into pieces. */
static void close_gaps(class_part *t, const spot_clustering *found)
{
    uint16_t becomes[SPOT_MAX_COMPONENTS] = { 0 };
    int used[SPOT_MAX_COMPONENTS] = { 0 };

    for (int i = 0; i < t->n; i++) used[found->label[i]] = 1;
    for (int k = 0; k < found->k; k++)
        if (used[k]) becomes[k] = (uint16_t)t->clusters++;
    for (int i = 0; i < t->n; i++) t->label[i] = becomes[found->label[i]];
}

static spot_search_config search_of(const spot_bdm_config *cfg)
{
    const spot_george_config *g = &cfg->george;

    return (spot_search_config){ g->cluster == SPOT_CLUSTER_KMEANS, g->clusters, g->search, g->starts, cfg->mixture };
}

static spot_search_config pieces_of(const spot_bdm_config *cfg)
{
    spot_search_config s = search_of(cfg);

    s.most = cfg->george.overcluster;
    s.search = 0;
    return s;
}

/* Input and output of a search in sets of points. */
typedef struct { spot_clustering *found; spot_seed *seed; spot_mat *x; const float **on_device; } sets;

static spot_status take_sets(spot_ctx *c, spot_arena *a, sets *s, int count)
{
    SPOT_TRY(SPOT_TAKE(c, a, s->found, count));
    SPOT_TRY(SPOT_TAKE(c, a, s->seed, count));
    SPOT_TRY(SPOT_TAKE(c, a, s->x, count));
    return SPOT_TAKE(c, a, s->on_device, count);
}

static spot_status find_clusters(spot_ctx *c, spot_arena *a, class_part *t, int parts, const spot_bdm_group *g)
{
    spot_search_config search = search_of(g->cfg);
    sets s;

    SPOT_TRY(take_sets(c, a, &s, parts));
    for (int q = 0; q < parts; q++) {
        s.seed[q] = g->seeds[t[q].problem];
        s.x[q] = (spot_mat){ t[q].x, t[q].n, t[q].d };
        s.on_device[q] = t[q].on_device;
    }
    SPOT_TRY(spot_cluster_search_on(c, a, parts, s.found, s.x, t->on_device ? s.on_device : NULL, s.seed, &search));
    for (int q = 0; q < parts; q++) {
        const spot_clustering *found = &s.found[q];
        close_gaps(&t[q], found);
        for (int k = 0; k < found->tried; k++)
            spot_log_of(c, SPOT_LOG_DEBUG, s.seed[q].ec, "%d clusters have score %g", found->least + k, found->score[k]);
    }
    return SPOT_OK;
}

/* A part's points cluster by cluster; from: their indices in the part. */
typedef struct { float *x; const float *on_device; int *from; uint16_t *piece; double *before, *after; } cluster_order;

static spot_status take_cut(spot_ctx *c, spot_arena *a, cluster_order *u, int n, int d)
{
    SPOT_TRY(SPOT_TAKE(c, a, u->x, (size_t)n * d));
    SPOT_TRY(SPOT_TAKE(c, a, u->from, n));
    SPOT_TRY(SPOT_TAKE(c, a, u->piece, n));
    SPOT_TRY(SPOT_TAKE(c, a, u->before, n));
    return SPOT_TAKE(c, a, u->after, n);
}

static void sort_by_cluster(cluster_order *u, const class_part *t, spot_mat *x)
{
    int at = 0, d = t->d;

    for (int k = 0; k < t->clusters; k++) {
        x[k] = (spot_mat){ u->x + (size_t)at * d, 0, d };
        for (int i = 0; i < t->n; i++) {
            if (t->label[i] != k) continue;
            memcpy(u->x + (size_t)at * d, t->x + (size_t)i * d, (size_t)d * sizeof *u->x);
            u->from[at++] = i;
            x[k].rows++;
        }
    }
}

static spot_status keep_pieces(spot_ctx *c, spot_arena *a, class_part *t, int parts, cluster_order *u,
                               const spot_bdm_config *cfg)
{
    int pieces = cfg->george.overcluster;
    spot_labelling *l;

    SPOT_TRY(SPOT_TAKE(c, a, l, 2 * (size_t)parts));
    for (int q = 0; q < parts; q++) {
        spot_mat x = { t[q].x, t[q].n, t[q].d };
        l[2 * q] = (spot_labelling){ .x = x, .on_device = t[q].on_device, .k = t[q].clusters, .label = t[q].label,
                                     .silhouette = u[q].before };
        l[2 * q + 1] = (spot_labelling){ .x = x, .on_device = t[q].on_device, .k = t[q].clusters * pieces, .label = u[q].piece,
                                         .silhouette = u[q].after };
    }
    SPOT_TRY(spot_silhouettes(c, a, 2 * parts, l));
    for (int q = 0; q < parts; q++) {
        spot_pieces p = { .n = t[q].n, .clusters = t[q].clusters, .pieces = pieces, .cluster = t[q].label,
                          .piece = u[q].piece, .before = u[q].before, .after = u[q].after, .loss = t[q].loss,
                          .least = cfg->least };
        t[q].clusters = spot_pieces_keep(&p, t[q].label);
    }
    return SPOT_OK;
}

static spot_status overcluster(spot_ctx *c, spot_arena *a, spot_arena *work, class_part *t, int parts, const spot_bdm_group *g)
{
    spot_search_config search = pieces_of(g->cfg);
    int all = 0, at = 0;
    cluster_order *u;
    sets s;

    for (int q = 0; q < parts; q++) all += t[q].clusters;
    SPOT_TRY(take_sets(c, a, &s, all));
    SPOT_TRY(SPOT_TAKE(c, a, u, parts));
    for (int q = 0; q < parts; at += t[q++].clusters) {
        SPOT_TRY(take_cut(c, a, &u[q], t[q].n, t[q].d));
        sort_by_cluster(&u[q], &t[q], s.x + at);
        if (t->on_device) SPOT_TRY(pick_rows(c, work, &u[q].on_device, t[q].on_device, u[q].from, t[q].n, t[q].d));
        for (int k = 0; k < t[q].clusters; k++) {
            s.seed[at + k] = g->seeds[t[q].problem];
            if (t->on_device) s.on_device[at + k] = u[q].on_device + (s.x[at + k].v - u[q].x);
        }
    }
    SPOT_TRY(spot_cluster_search_on(c, a, all, s.found, s.x, t->on_device ? s.on_device : NULL, s.seed, &search));
    for (int q = at = 0; q < parts; at += t[q++].clusters) {
        const int *from = u[q].from;
        for (int k = 0; k < t[q].clusters; k++)
            for (int i = 0; i < s.x[at + k].rows; i++)
                u[q].piece[*from++] = (uint16_t)(k * search.most + s.found[at + k].label[i]);
    }
    return keep_pieces(c, a, t, parts, u, g->cfg);
}

/* Ranks the clusters that have rows in a problem's parts, highest mean loss first; returns their number. */
static int rank_clusters(spot_rank *ranks, const class_part *t, int parts, const spot_view *view)
{
    int len = 0;

    for (int q = 0; q < parts; q++) {
        spot_rank *own = ranks + len;
        for (int k = 0; k < t[q].clusters; k++) own[k] = (spot_rank){ .part = q, .which = k };
        for (int i = 0; i < t[q].n; i++) {
            spot_rank *r = &own[t[q].label[i]];
            r->size++;
            r->score += t[q].loss[i];
            r->error += spot_view_error(view, t[q].row[i]);
        }
        for (int k = 0; k < t[q].clusters; k++) {
            spot_rank r = own[k];
            if (!r.size) continue;
            r.score /= r.size;
            r.error /= r.size;
            ranks[len++] = r;
        }
    }
    spot_ranks_sort(ranks, len);
    return len;
}

/* Keeps each row's hypothesis, its class and its point. */
static spot_status keep_fit(spot_ctx *c, const spot_bdm_group *g, int p)
{
    const spot_view *view = &g->views[p];
    spot_fit *f = &g->fits[p];
    uint8_t *positive;

    SPOT_TRY(spot_fit_put_hypotheses(c, f, &g->out[p], view->n));
    SPOT_TRY(spot_fit_put(c, f, "positive", SPOT_U8, NULL, view->n, 0, &positive));
    for (int i = 0; i < view->n; i++) positive[i] = (uint8_t)spot_view_positive(view, i);
    return spot_fit_put_points(c, f, &g->points[p], &g->cfg->embed);
}

/* parts: those of problem p. */
static spot_status collect_hypotheses(spot_ctx *c, const class_part *t, int parts, const spot_bdm_group *g, int p)
{
    spot_rank ranks[2 * SPOT_SILHOUETTE_CLUSTERS];
    int len = rank_clusters(ranks, t, parts, &g->views[p]), *row = g->row[p];
    spot_hypotheses *out = &g->out[p];

    *out = (spot_hypotheses){ .components = len, .len = len < g->cfg->top ? len : g->cfg->top };
    for (int k = 0; k < out->len; k++) {
        spot_hypothesis *h = &out->h[k];
        const class_part *from = &t[ranks[k].part];
        *h = (spot_hypothesis){ .row = row, .score = ranks[k].score, .mean_error = ranks[k].error };
        for (int i = 0; i < from->n; i++)
            if (from->label[i] == ranks[k].which) row[h->len++] = from->row[i];
        row += h->len;
    }
    return g->fits ? keep_fit(c, g, p) : SPOT_OK;
}

/* While counting: the clusters of all parts, then their pieces, as if each problem had both classes and the most clusters. How
 * the rows divide is not known yet: memory is by rows, and most where the halves are equal (spot_rows_of_set). */
static spot_status count_clusters(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    const spot_search_config search = search_of(g->cfg), pieces = pieces_of(g->cfg);
    const int d = SPOT_MOST(g->problems, g->points, d), parts = 2 * g->problems;
    spot_bytes judged = { 0, 0 }, found;
    cluster_order *cuts, u;
    int n[SPOT_BDM_GROUP];
    const float *on_device;
    spot_labelling *l;
    size_t mark;
    sets s;

    for (int p = 0; p < g->problems; p++) n[p] = g->points[p].n;
    for (int q = 0; q < parts; q++) {
        class_part one = { .n = spot_rows_of_set(n[q / 2], 2), .d = g->points[q / 2].d };
        SPOT_TRY(take_part(c, host, &one));
        for (int k = 0; k < 2 && c->device; k++) SPOT_TRY(pick_rows(c, work, &on_device, NULL, NULL, one.n, one.d));
    }
    mark = host->used;
    SPOT_TRY(take_sets(c, host, &s, parts));
    SPOT_TRY(spot_bdm_call(c, host, g, spot_cluster_search_needs(c, g->problems, n, 2, d, &search)));
    if (pieces.most < 2) return SPOT_OK;
    host->used = mark;
    SPOT_TRY(take_sets(c, host, &s, parts * search.most));
    SPOT_TRY(SPOT_TAKE(c, host, cuts, parts));
    SPOT_TRY(SPOT_TAKE(c, host, l, 2 * (size_t)parts));
    for (int q = 0; q < parts; q++) {
        spot_bytes one = spot_silhouettes_needs(c, 2, spot_rows_of_set(n[q / 2], 2), d);
        SPOT_TRY(take_cut(c, host, &u, spot_rows_of_set(n[q / 2], 2), d));
        judged.host += one.host;
        judged.device += one.device;
    }
    found = spot_cluster_search_needs(c, g->problems, n, 2 * search.most, d, &pieces);
    return spot_bdm_call(c, host, g, (spot_bytes){ found.host + judged.host, found.device + judged.device });
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    class_part t[2 * SPOT_BDM_GROUP];
    size_t mark;
    int parts;

    if (work->counting) return count_clusters(c, host, work, g);
    SPOT_TRY(split_by_class(c, host, t, &parts, g));
    SPOT_TRY(find_parts_on_device(c, work, t, parts, g->points));
    mark = host->used;
    SPOT_TRY(find_clusters(c, host, t, parts, g));
    host->used = mark;
    if (g->cfg->george.overcluster > 1) SPOT_TRY(overcluster(c, host, work, t, parts, g));
    for (int q = 0, own; q < parts; q += own) {
        own = 1 + (q + 1 < parts && t[q + 1].problem == t[q].problem);
        SPOT_TRY(collect_hypotheses(c, t + q, own, g, t[q].problem));
    }
    return SPOT_OK;
}

/* The nearest fitted row of this class, the first of equals; -1: none. */
static int nearest(const float *x, int positive, const float *fitted, const uint8_t *class_of, int n, int d)
{
    double least = INFINITY;
    int best = -1;

    for (int i = 0; i < n; i++) {
        double far = 0;
        if (class_of[i] != positive) continue;
        for (int j = 0; j < d; j++) {
            double off = (double)x[j] - fitted[(size_t)i * d + j];
            far += off * off;
        }
        if (!(far < least)) continue;
        least = far;
        best = i;
    }
    return best;
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const spot_fit_tensor *at, *positive;
    int d = to->points->d;
    const int *in;

    SPOT_TRY(spot_fit_take_points(c, to->fit, d, &to->cfg->embed, &at));
    SPOT_TRY(spot_fit_take(c, to->fit, "positive", SPOT_U8, at->rows, 0, &positive));
    SPOT_TRY(spot_fit_indices(c, to->fit, "hypothesis", at->rows, -1, to->hypotheses - 1, &in));
    if (a->counting) return SPOT_OK;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < to->rows->n; i++) {
        int k = nearest(to->points->at + (size_t)i * d, spot_view_positive(to->rows, i), at->data, positive->data, at->rows, d);
        if (k >= 0 && in[k] >= 0) to->member[(size_t)i * to->hypotheses + in[k]] = 1;
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    SPOT_BDM_MIXTURE,
    S("least",   INT,   least,         "fewest rows of a piece of a cluster", SPOT_IN(1, 1e9), SPOT_DEF(25)),
    S("cluster", NAME,  george.cluster, "clustering by Gaussian mixtures, or by k-means", SPOT_ONE_OF("mixture", "kmeans"),
      SPOT_DEF(SPOT_CLUSTER_MIXTURE)),
    S("clusters", INT,  george.clusters, "most clusters", SPOT_IN(1, SPOT_MAX_COMPONENTS), SPOT_DEF(10)),
    S("search",  SWITCH, george.search, "choice of their number by silhouette, from 2 on (false: exactly `clusters`)",
      SPOT_SWITCH, SPOT_DEF(1)),
    S("starts",  INT,   george.starts, "starts for each number of clusters", SPOT_IN(1, 100), SPOT_DEF(3)),
    S("overcluster", INT, george.overcluster, "pieces that each cluster is tried to be cut into; 0: none",
      SPOT_IN(0, SPOT_SILHOUETTE_CLUSTERS / SPOT_MAX_COMPONENTS), SPOT_DEF(5)),
#undef S
    SPOT_END
};

static void defaults(spot_bdm_config *cfg)
{
    cfg->embed.method = SPOT_REDUCE_UMAP;
    cfg->embed.normalise = 1;
    cfg->embed.umap.neighbours = 10;
    cfg->embed.umap.min_dist = 0;
}

const spot_method spot_method_george = { .settings = settings, .defaults = defaults,
                                         .solve = solve_group, .assign = assign_rows };
