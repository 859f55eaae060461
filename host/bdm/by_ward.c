/* by_ward.c - `ward`: Ward's hierarchical clustering of the whole feature space, of rows of length 1 with the confidence beside
 * them (unit_rows.h), cut into `clusters`. A cluster is a hypothesis, ordered by size * (mean error)^2. It cuts finely: a
 * blindspot may lie in several hypotheses. At most as many clusters as rows.
 *
 * A new row belongs to the cluster of the nearest mean. Assigning a fitted row gives its cluster again, unless it lies nearer
 * to the mean of another cluster: Ward's clusters are not the cells of their means. */
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "bdm/unit_rows.h"
#include "stats/ward_trees.h"

typedef struct {
    spot_unit_rows u;
    spot_ward_merge *merge;    /* (n) */
    int *label;                /* (n) */
    double *centre;            /* (clusters, u.d) */
    spot_rank *ranks;          /* (clusters) */
} ward_problem;

static int clusters_of(int n, const spot_bdm_config *cfg) { return n < cfg->plain.clusters ? n : cfg->plain.clusters; }

static spot_status take_problem(spot_ctx *c, spot_arena *a, ward_problem *t, int n, int columns, const spot_bdm_config *cfg)
{
    int k = clusters_of(n, cfg);

    SPOT_TRY(spot_unit_rows_take(c, a, &t->u, n, columns));
    SPOT_TRY(SPOT_TAKE(c, a, t->merge, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->label, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->centre, (size_t)k * (size_t)t->u.d));
    return SPOT_TAKE(c, a, t->ranks, k);
}

static spot_status collect(spot_ctx *c, const ward_problem *t, const spot_bdm_group *g, int p)
{
    spot_labels l = { .n = t->u.n, .slices = clusters_of(t->u.n, g->cfg), .label = t->label };
    int len;

    spot_ward_cut(t->label, t->merge, t->u.n, l.slices);
    len = spot_slices_rank(t->ranks, &l, &g->views[p]);
    spot_slices_collect(&g->out[p], g->row[p], t->ranks, len, &l, g->cfg->top);
    if (!g->fits) return SPOT_OK;
    spot_unit_rows_centres(t->centre, &t->u, t->label, l.slices);
    return spot_unit_rows_keep(c, &g->fits[p], &t->u, t->centre, l.slices, t->ranks, g->out[p].len);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    spot_ward_job job[SPOT_BDM_GROUP];
    ward_problem t[SPOT_BDM_GROUP];

    for (int p = 0; p < g->problems; p++) {
        const spot_points *points = &g->points[p];
        SPOT_TRY(take_problem(c, host, &t[p], points->n, points->d, g->cfg));
        if (!work->counting) spot_unit_rows_build(&t[p].u, &g->views[p], points, NULL, g->cfg->weight, c->threads);
        job[p] = (spot_ward_job){ .n = t[p].u.n, .d = t[p].u.d, .x = t[p].u.x, .merge = t[p].merge };
    }
    SPOT_TRY(spot_ward_trees(c, host, work, g->problems, job));
    for (int p = 0; p < g->problems && !work->counting; p++) SPOT_TRY(collect(c, &t[p], g, p));
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    return spot_unit_rows_assign(c, a, to, to->cfg->weight, false, "ward");
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("clusters", INT,  plain.clusters, "clusters that the tree is cut into", SPOT_IN(1, 512), SPOT_DEF(20)),
    S("weight",  REAL,  weight,        "weight of the confidence beside rows of mean squared length 1", SPOT_IN(0, 1000),
      SPOT_DEF(1)),
#undef S
    SPOT_END
};

const spot_method spot_method_ward = { .own_rows = true, .settings = settings, .solve = solve_group, .assign = assign };
