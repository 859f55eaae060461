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
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "bdm/unit_rows.h"
#include "fit/silhouette.h"
#include "spotter/cluster.h"
#include "stats/ward_trees.h"

typedef struct {
    int *wrong;                /* (n): the wrong rows, u.n of them */
    spot_unit_rows u;
    spot_ward_merge *merge;    /* (n) */
    int *label;                /* (n) */
    uint16_t *tried;           /* (cuts, n): the labels of every cut */
    double *silhouette;        /* (cuts, n) */
    double *centre;            /* (clusters, u.d) */
    int cuts, clusters;        /* cuts: 2, 3, .. clusters */
} mistakes_problem;

static int most_cuts(const spot_bdm_config *cfg) { return cfg->plain.clusters - 1; }

static spot_status take_problem(spot_ctx *c, spot_arena *a, mistakes_problem *t, int n, int columns, const spot_bdm_config *cfg)
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

static void list_wrong(mistakes_problem *t, const spot_view *v, const spot_points *points, int threads)
{
    t->u.n = 0;
    for (int i = 0; i < v->n; i++)
        if (spot_is_wrong(v, i)) t->wrong[t->u.n++] = i;
    if (t->u.n) spot_unit_rows_build(&t->u, v, points, t->wrong, 0, threads);
}

/* Makes labellings of a tree, one of each number of clusters; a silhouette needs fewer clusters than rows. */
static void cut_tree(mistakes_problem *t, spot_labelling *l, const spot_bdm_config *cfg)
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
static void choose_cut(mistakes_problem *t)
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

static spot_status collect(spot_ctx *c, const mistakes_problem *t, const spot_bdm_group *g, int p)
{
    spot_labels l = { .n = t->u.n, .slices = t->clusters, .row = t->wrong, .label = t->label };
    spot_rank ranks[SPOT_MAX_COMPONENTS];
    int len = spot_slices_rank(ranks, &l, &g->views[p]);

    spot_slices_collect(&g->out[p], g->row[p], ranks, len, &l, g->cfg->top);
    if (!g->fits) return SPOT_OK;
    spot_unit_rows_centres(t->centre, &t->u, t->label, t->clusters);
    return spot_unit_rows_keep(c, &g->fits[p], &t->u, t->centre, t->clusters, ranks, g->out[p].len);
}

/* While counting: the memory of all silhouettes. */
static spot_status count_silhouettes(spot_ctx *c, spot_arena *host, const spot_bdm_group *g)
{
    spot_bytes all = { 0, 0 };

    for (int p = 0; p < g->problems; p++) {
        spot_bytes one = spot_silhouettes_needs(c, most_cuts(g->cfg), g->points[p].n, g->points[p].d + 1);
        all.host += one.host;
        all.device += one.device;
    }
    return spot_bdm_call(c, host, g, all);
}

/* Clusters the wrong rows of the problems that have some. */
static spot_status cluster(spot_ctx *c, spot_arena *host, spot_arena *work, mistakes_problem *t, const spot_bdm_group *g)
{
    spot_ward_job job[SPOT_BDM_GROUP];
    int jobs = 0, cuts = 0;
    spot_labelling *l;

    SPOT_TRY(SPOT_TAKE(c, host, l, (size_t)g->problems * (size_t)most_cuts(g->cfg)));
    for (int p = 0; p < g->problems; p++)
        if (t[p].u.n) job[jobs++] = (spot_ward_job){ .n = t[p].u.n, .d = t[p].u.d, .x = t[p].u.x, .merge = t[p].merge };
    SPOT_TRY(spot_ward_trees(c, host, work, jobs, job));
    if (work->counting) return count_silhouettes(c, host, g);
    for (int p = 0; p < g->problems; cuts += t[p++].cuts) cut_tree(&t[p], l + cuts, g->cfg);
    if (cuts) SPOT_TRY(spot_silhouettes(c, host, cuts, l));
    for (int p = 0; p < g->problems; p++)
        if (t[p].u.n) choose_cut(&t[p]);
    return SPOT_OK;
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    mistakes_problem t[SPOT_BDM_GROUP];

    for (int p = 0; p < g->problems; p++) {
        const spot_points *points = &g->points[p];
        SPOT_TRY(take_problem(c, host, &t[p], points->n, points->d, g->cfg));
        if (work->counting) continue;
        list_wrong(&t[p], &g->views[p], points, c->threads);
        if (!t[p].u.n)
            spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "none of the %d images fails, so there are no mistakes to cluster",
                        points->n);
    }
    SPOT_TRY(cluster(c, host, work, t, g));
    for (int p = 0; p < g->problems && !work->counting; p++)
        if (t[p].u.n) SPOT_TRY(collect(c, &t[p], g, p));
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    return spot_unit_rows_assign(c, a, to, 0, true, "mistakes");
}

static const spot_setting settings[] = {
    SPOT_BDM_ROW("clusters", INT, plain.clusters, "most clusters; the number is chosen by silhouette",
                 SPOT_IN(2, SPOT_MAX_COMPONENTS), SPOT_DEF(7)),
    SPOT_END
};

const spot_method spot_method_mistakes = { .own_rows = true, .settings = settings, .solve = solve_group, .assign = assign };
