/* mistakes.c - `mistakes`: the rows about which the classifier is wrong, and no others, cut by Ward's clustering of their
 * features of length 1 (unit_rows.h, without the confidence). Every number of clusters from 2 to `clusters` is tried; the one
 * with the greatest mean silhouette (Rousseeuw 1987) is taken, of equals the least. A cluster is a hypothesis, ordered by size
 * * (mean error)^2.
 *
 * It has no use for the rows that are right, so where only a part of a blindspot's rows are wrong, its slices are small and a
 * mistake that is chance looks like any other. Up to two wrong rows are one hypothesis.
 *
 * A new row about which the classifier is wrong belongs to the cluster of the nearest mean, other rows to none. Assigning a
 * fitted row gives its cluster again, unless it lies nearer to the mean of another cluster. */
#include <string.h>

#include "bdm/methods.h"
#include "bdm/slices.h"
#include "bdm/unit_rows.h"
#include "fit/silhouette.h"
#include "fit/ward_trees.h"
#include "spotter/cluster.h"

typedef struct {
    int *rows;                 /* (n): of the hypotheses */
    int *wrong;                /* (n): the wrong rows, u.n of them */
    spot_unit_rows u;
    spot_ward_merge *merge;    /* (n) */
    int *label;                /* (n) */
    uint16_t *tried;           /* (cuts, n): the labels of every cut */
    double *silhouette;        /* (cuts, n) */
    double *centre;            /* (clusters, u.d) */
    int cuts, clusters;        /* cuts: 2, 3, .. clusters */
} problem;

static int most_cuts(const spot_bdm_config *cfg) { return cfg->plain.clusters - 1; }

static spot_status take_problem(spot_ctx *c, spot_arena *a, problem *t, int n, int columns, const spot_bdm_config *cfg)
{
    size_t cuts = (size_t)most_cuts(cfg);

    SPOT_TRY(SPOT_TAKE(c, a, t->wrong, n));
    SPOT_TRY(spot_unit_rows_take(c, a, &t->u, n, columns));
    SPOT_TRY(SPOT_TAKE(c, a, t->merge, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->label, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->tried, cuts * (size_t)n));
    SPOT_TRY(SPOT_TAKE(c, a, t->silhouette, cuts * (size_t)n));
    return SPOT_TAKE(c, a, t->centre, (size_t)cfg->plain.clusters * (size_t)t->u.d);
}

static void list_wrong(problem *t, const spot_view *v, const spot_points *points)
{
    t->u.n = 0;
    for (int i = 0; i < v->n; i++)
        if (spot_is_wrong(v, i)) t->wrong[t->u.n++] = i;
    if (t->u.n) spot_unit_rows_build(&t->u, v, points, t->wrong, 0);
}

/* Makes labellings of a tree, one of each number of clusters; a silhouette needs fewer clusters than rows. */
static void cut_tree(problem *t, spot_labelling *l, const spot_bdm_config *cfg)
{
    t->cuts = t->u.n - 2 < most_cuts(cfg) ? t->u.n - 2 : most_cuts(cfg);
    t->cuts = t->cuts < 0 ? 0 : t->cuts;
    for (int q = 0; q < t->cuts; q++) {
        size_t at = (size_t)q * (size_t)t->u.n;
        l[q] = (spot_labelling){ .x = { t->u.x, t->u.n, t->u.d }, .k = q + 2, .label = t->tried + at,
                                 .silhouette = t->silhouette + at };
        spot_ward_cut(t->label, t->merge, t->u.n, q + 2);
        for (int i = 0; i < t->u.n; i++) t->tried[at + i] = (uint16_t)t->label[i];
    }
}

/* Labels the rows by the cut of the greatest mean silhouette. */
static void choose_cut(problem *t)
{
    double most = -2;

    t->clusters = 1;
    for (int q = 0; q < t->cuts; q++) {
        double mean = 0;
        for (int i = 0; i < t->u.n; i++) mean += t->silhouette[(size_t)q * (size_t)t->u.n + i];
        mean /= t->u.n;
        if (!(mean > most)) continue;
        most = mean;
        t->clusters = q + 2;
    }
    spot_ward_cut(t->label, t->merge, t->u.n, t->clusters);
}

static spot_status collect(spot_ctx *c, spot_hypotheses *out, spot_fit *fit, const problem *t, const spot_view *v,
                           const spot_bdm_config *cfg)
{
    spot_labels l = { .n = t->u.n, .slices = t->clusters, .row = t->wrong, .label = t->label };
    spot_rank ranks[SPOT_MAX_COMPONENTS];
    int len = spot_slices_rank(ranks, &l, v);

    spot_slices_collect(out, t->rows, ranks, len, &l, cfg->top);
    if (!fit || !t->u.n) return SPOT_OK;
    spot_unit_rows_centres(t->centre, &t->u, t->label, t->clusters);
    return spot_unit_rows_keep(c, fit, &t->u, t->centre, t->clusters, ranks, out->len);
}

/* Clusters the wrong rows of the problems that have some. */
static spot_status cluster(spot_ctx *c, spot_arena *a, int problems, problem *t, const spot_bdm_config *cfg)
{
    size_t mark = a->used;
    int jobs = 0, cuts = 0;
    spot_ward_job *job;
    spot_labelling *l;

    SPOT_TRY(SPOT_TAKE(c, a, job, problems));
    SPOT_TRY(SPOT_TAKE(c, a, l, (size_t)problems * (size_t)most_cuts(cfg)));
    for (int p = 0; p < problems; p++)
        if (t[p].u.n) job[jobs++] = (spot_ward_job){ .n = t[p].u.n, .d = t[p].u.d, .x = t[p].u.x, .merge = t[p].merge };
    SPOT_TRY(spot_ward_trees(c, a, jobs, job));
    for (int p = 0; p < problems; cuts += t[p++].cuts) cut_tree(&t[p], l + cuts, cfg);
    if (cuts) SPOT_TRY(spot_silhouettes(c, a, cuts, l));
    for (int p = 0; p < problems; p++)
        if (t[p].u.n) choose_cut(&t[p]);
    a->used = mark;
    return SPOT_OK;
}

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    problem *t;
    size_t mark;

    SPOT_TRY(SPOT_TAKE(c, a, t, problems));
    memset(t, 0, (size_t)problems * sizeof *t);
    for (int p = 0; p < problems; p++) SPOT_TRY(SPOT_TAKE(c, a, t[p].rows, views[p].n));
    mark = a->used;
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(take_problem(c, a, &t[p], views[p].n, points[p].d, cfg));
        list_wrong(&t[p], &views[p], &points[p]);
        if (!t[p].u.n)
            spot_log_of(c, SPOT_LOG_WARN, seeds[p].ec, "none of the %d images fails, so there are no mistakes to cluster",
                        views[p].n);
    }
    SPOT_TRY(cluster(c, a, problems, t, cfg));
    for (int p = 0; p < problems; p++) SPOT_TRY(collect(c, &out[p], fits ? &fits[p] : NULL, &t[p], &views[p], cfg));
    a->used = mark;
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                          const spot_points *points, const spot_fit *fit, const spot_bdm_config *cfg)
{
    (void)cfg;
    return spot_unit_rows_assign(c, a, member, hypotheses, rows, points, fit, 0, true, "mistakes");
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    spot_arena a = spot_arena_counting();
    spot_bytes tree = spot_ward_trees_needs(c, problems, n, d + 1), all = { 0, 0 }, judged;
    spot_ctx quiet = { 0 };
    spot_ward_job *job;
    spot_labelling *l;
    problem *t, one;

    SPOT_TAKE(&quiet, &a, t, problems);
    SPOT_TAKE(&quiet, &a, job, problems);
    SPOT_TAKE(&quiet, &a, l, (size_t)problems * (size_t)most_cuts(cfg));
    for (int p = 0; p < problems; p++) {
        SPOT_TAKE(&quiet, &a, one.rows, n[p]);
        take_problem(&quiet, &a, &one, n[p], d, cfg);
        judged = spot_silhouettes_needs(c, most_cuts(cfg), n[p], d + 1);
        all.host += judged.host;
        all.device += judged.device;
    }
    all = spot_bytes_larger(all, tree);      /* the tree is done before the silhouettes begin */
    all.host += a.peak + 3 * SPOT_SLICES_SLACK;
    return all;
}

static const spot_setting settings[] = {
    SPOT_BDM_ROW("clusters", INT, plain.clusters, "most clusters; the number is chosen by silhouette",
                 SPOT_IN(2, SPOT_MAX_COMPONENTS), SPOT_DEF(7)),
    SPOT_END
};

const spot_method spot_method_mistakes = { .settings = settings, .find = find, .needs = needs, .assign = assign };
