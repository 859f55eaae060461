/* by_kmeans.c - `kmeans`: k-means of the whole feature space, of rows of length 1 with the confidence beside them
 * (unit_rows.h). A cluster is a hypothesis, ordered by size * (mean error)^2. It cuts finely: a blindspot may lie in several
 * hypotheses. At most as many clusters as rows.
 *
 * A new row belongs to the cluster of the nearest centre. Assigning a fitted row gives its cluster again. */
#include "base/twin.h"
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "bdm/unit_rows.h"
#include "core/problems.h"
#include "fit/kmeans.h"

typedef struct {
    spot_unit_rows u;
    const float *on_device;        /* u.x in the memory of c's device */
    spot_twin centre, label;   /* (clusters, u.d), (n) */
    spot_rank *ranks;          /* (clusters) */
} kmeans_problem;

static int clusters_of(int n, const spot_bdm_config *cfg) { return n < cfg->plain.clusters ? n : cfg->plain.clusters; }

/* Takes the arrays and, unless it only counts, fills the rows. */
static spot_status open_problem(spot_ctx *c, spot_arena *host, spot_arena *work, kmeans_problem *t, const spot_bdm_group *g,
                                int p)
{
    const spot_points *points = &g->points[p];
    size_t n = (size_t)points->n, k = (size_t)clusters_of(points->n, g->cfg), d;

    SPOT_TRY(spot_unit_rows_take(c, host, &t->u, points->n, points->d));
    d = (size_t)t->u.d;
    SPOT_TRY(SPOT_TAKE(c, host, t->ranks, k));
    SPOT_TRY(spot_twin_take(c, host, work, &t->centre, k * d * sizeof(double)));
    SPOT_TRY(spot_twin_take(c, host, work, &t->label, n * sizeof(int)));
    if (!work->counting) spot_unit_rows_build(&t->u, &g->views[p], points, NULL, g->cfg->weight, c->threads);
    return spot_numbers_on_device(c, work, &t->on_device, t->u.x, NULL, n * d);
}

static spot_status collect(spot_ctx *c, const kmeans_problem *t, const spot_bdm_group *g, int p)
{
    const spot_view *v = &g->views[p];
    spot_labels l = { .n = v->n, .slices = clusters_of(v->n, g->cfg), .label = t->label.here };
    int len = spot_slices_rank(t->ranks, &l, v);

    spot_slices_collect(&g->out[p], g->row[p], t->ranks, len, &l, g->cfg->top);
    if (!g->fits) return SPOT_OK;
    return spot_unit_rows_keep(c, &g->fits[p], &t->u, t->centre.here, l.slices, t->ranks, g->out[p].len);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    const int n = SPOT_MOST(g->problems, g->points, n), d = SPOT_MOST(g->problems, g->points, d) + 1;
    spot_kmeans_job job[SPOT_BDM_GROUP];
    kmeans_problem t[SPOT_BDM_GROUP];

    for (int p = 0; p < g->problems; p++) {
        SPOT_TRY(open_problem(c, host, work, &t[p], g, p));
        if (work->counting) continue;
        job[p] = (spot_kmeans_job){ .n = t[p].u.n, .d = t[p].u.d, .k = clusters_of(t[p].u.n, g->cfg), .x = t[p].on_device,
                                    .seed = g->seeds[p], .centre = t[p].centre.on_device, .label = t[p].label.on_device };
    }
    SPOT_TRY(spot_bdm_scratch(c, work, spot_kmeans_scratch(g->problems, n, d, clusters_of(n, g->cfg),
                                                           c->device ? 0 : c->threads)));
    if (work->counting) return SPOT_OK;
    SPOT_TRY(spot_kmeans_fit(c, work, g->problems, job));
    for (int p = 0; p < g->problems; p++) {
        SPOT_TRY(spot_twin_pull(c, &t[p].centre));
        SPOT_TRY(spot_twin_pull(c, &t[p].label));
        SPOT_TRY(collect(c, &t[p], g, p));
    }
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    return spot_unit_rows_assign(c, a, to, to->cfg->weight, false, "kmeans");
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("clusters", INT,  plain.clusters, "clusters", SPOT_IN(1, SPOT_KMEANS_MOST), SPOT_DEF(30)),
    S("weight",  REAL,  weight,        "weight of the confidence beside rows of mean squared length 1", SPOT_IN(0, 1000),
      SPOT_DEF(1)),
#undef S
    SPOT_END
};

const spot_method spot_method_kmeans = { .own_rows = true, .settings = settings, .solve = solve_group, .assign = assign };
