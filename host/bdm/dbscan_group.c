/* dbscan_group.c - the underperforming group that Cleanlab's Datalab (2.9, Apache-2.0 or AGPL; done from its documentation and
 * formulas) looks for by default: DBSCAN (Ester et al. 1996) on the graph of nearest neighbours, and the clusters whose rows'
 * labels are given less confidence than those of the other clusters.
 *
 * The graph joins each row to its `neighbours` nearest rows by cosine distance, from four features on, else by Euclidean
 * distance. Only pairs of the graph within `eps` are neighbours. A row is a core if it has `core` neighbours, itself included.
 * In the order of rows, a core that is in no cluster begins one: all rows that are in none yet and that cores of the cluster
 * reach. That is scikit-learn's DBSCAN on a sparse matrix of distances. Clusters of fewer than `least` rows are dropped.
 *
 * With q the mean confidence in the own label of a cluster's rows, and q0 that of all clusters' rows, the clusters are ordered
 * by 1 - q / q0. flag: only the first cluster, and only if q / q0 is below `threshold`: Datalab's own answer. (Datalab compares
 * the q of a cluster with the least ratio so far, so that it may flag another cluster than the worst.)
 *
 * The device finds neighbours; the host does the rest. The same bits on every device. A new row belongs to the cluster of the
 * nearest fitted row, if that lies within eps. Assigning a fitted row gives its cluster again. */
#include "bdm/fit.h"
#include "bdm/graph.h"
#include "bdm/methods.h"
#include "bdm/slices.h"

enum { NONE = -1, MANY = 4 };      /* from MANY features on the distance is the cosine's */

typedef struct {
    int *label, *waiting;      /* (n): cluster or NONE; cores that are still to be followed */
    bool *core;                /* (n) */
    spot_rank *ranks;          /* (n) */
} dbscan_group_problem;

static spot_status take_problem(spot_ctx *c, spot_arena *a, dbscan_group_problem *q, int n)
{
    SPOT_TRY(SPOT_TAKE(c, a, q->label, n));
    SPOT_TRY(SPOT_TAKE(c, a, q->waiting, n));
    SPOT_TRY(SPOT_TAKE(c, a, q->core, n));
    return SPOT_TAKE(c, a, q->ranks, n);
}

/* Cluster k: all rows in no cluster that its cores reach, from row i on. */
static void grow_cluster(dbscan_group_problem *q, const spot_graph *g, double eps, int i, int k)
{
    int waiting = 0;

    q->label[i] = k;
    q->waiting[waiting++] = i;
    while (waiting) {
        int at = q->waiting[--waiting];
        for (int e = at * g->k; e < (at + 1) * g->k; e++) {
            int j = g->column[e];
            if (!(g->distance[e] <= eps) || q->label[j] != NONE) continue;
            q->label[j] = k;
            if (q->core[j]) q->waiting[waiting++] = j;
        }
    }
}

/* Labels the rows; returns the number of clusters. */
static int find_clusters(dbscan_group_problem *q, const spot_graph *g, const spot_dbscan_config *cfg)
{
    int k = 0;

    for (int i = 0; i < g->n; i++) {
        int own = 1;
        for (int e = i * g->k; e < (i + 1) * g->k; e++) own += g->distance[e] <= cfg->eps;
        q->core[i] = own >= cfg->core;
        q->label[i] = NONE;
    }
    for (int i = 0; i < g->n; i++)
        if (q->core[i] && q->label[i] == NONE) grow_cluster(q, g, cfg->eps, i, k++);
    return k;
}

/* Ranks the clusters of at least `least` rows; returns their number. */
static int rank_clusters(spot_rank *ranks, const spot_labels *l, const spot_view *view, int least)
{
    double sum = 0;
    int len = spot_slices_rank(ranks, l, view), kept = 0, rows = 0;

    spot_ranks_sort(ranks, len);           /* the order of the sum */
    for (int k = 0; k < len; k++) {
        if (ranks[k].size < least) continue;
        sum += (1 - ranks[k].error) * ranks[k].size;
        rows += ranks[k].size;
        ranks[kept++] = ranks[k];
    }
    for (int k = 0; k < kept; k++) ranks[k].score = sum > 0 ? 1 - (1 - ranks[k].error) / (sum / rows) : 0;
    spot_ranks_sort(ranks, kept);
    return kept;
}

static spot_status keep_fit(spot_ctx *c, const spot_bdm_group *g, int p)
{
    SPOT_TRY(spot_fit_put_hypotheses(c, &g->fits[p], &g->out[p], g->points[p].n));
    return spot_fit_put_points(c, &g->fits[p], &g->points[p], &g->cfg->embed);
}

static void find_hypotheses(dbscan_group_problem *q, const spot_graph *graph, const spot_bdm_group *g, int p)
{
    const spot_bdm_config *cfg = g->cfg;
    const spot_labels l = { .n = graph->n, .slices = find_clusters(q, graph, &cfg->dbscan), .label = q->label };
    int len = rank_clusters(q->ranks, &l, &g->views[p], cfg->least), top = cfg->top;

    if (cfg->dbscan.flag) top = len && 1 - q->ranks[0].score < cfg->threshold;
    spot_slices_collect(&g->out[p], g->row[p], q->ranks, len, &l, top);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    spot_graph graph[SPOT_BDM_GROUP];
    dbscan_group_problem q[SPOT_BDM_GROUP];

    for (int p = 0; p < g->problems; p++) {
        SPOT_TRY(take_problem(c, host, &q[p], g->points[p].n));
        SPOT_TRY(spot_graph_take(c, host, work, &graph[p], &g->points[p], g->cfg->dbscan.neighbours, g->points[p].d >= MANY));
    }
    SPOT_TRY(spot_graphs_find(c, work, g->problems, graph, g->points));
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int p = 0; p < g->problems; p++)
        if (!work->counting) find_hypotheses(&q[p], &graph[p], g, p);
    for (int p = 0; p < g->problems && !work->counting; p++) {
        if (!g->out[p].components)
            spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "dbscan_group's list is empty: no cluster of %d rows within eps %g",
                        g->cfg->least, g->cfg->dbscan.eps);
        if (g->fits) SPOT_TRY(keep_fit(c, g, p));
    }
    return SPOT_OK;
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const spot_fit_tensor *at;
    int d = to->points->d;
    const int *in;

    SPOT_TRY(spot_fit_take_points(c, to->fit, d, &to->cfg->embed, &at));
    SPOT_TRY(spot_fit_indices(c, to->fit, "hypothesis", at->rows, NONE, to->hypotheses - 1, &in));
    if (a->counting || !at->rows) return SPOT_OK;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < to->rows->n; i++) {
        double far;
        int near;
        spot_graph_nearest(&near, &far, 1, to->points->at + (size_t)i * d, at->data, at->rows, d, d >= MANY);
        if (far <= to->cfg->dbscan.eps && in[near] >= 0) to->member[(size_t)i * to->hypotheses + in[near]] = 1;
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("neighbours", INT, dbscan.neighbours, "neighbours of a row in the graph", SPOT_IN(1, SPOT_GRAPH_MOST), SPOT_DEF(10)),
    S("eps",     REAL,  dbscan.eps,    "greatest distance of neighbours: of the cosine's from 4 features on, else Euclidean",
      SPOT_IN(0, 1e12), SPOT_DEF(0.5)),
    S("core",    INT,   dbscan.core,   "fewest neighbours of a core, itself included", SPOT_IN(1, SPOT_GRAPH_MOST),
      SPOT_DEF(5)),
    S("least",   INT,   least,         "fewest rows of a cluster", SPOT_IN(1, 1e9), SPOT_DEF(5)),
    S("flag",    SWITCH, dbscan.flag,  "only the worst cluster, if its ratio is below `threshold` (Datalab's answer)",
      SPOT_SWITCH),
    S("threshold", REAL, threshold,    "ratio of a cluster's mean confidence to that of all below which it is flagged",
      SPOT_IN(0, 1), SPOT_DEF(0.1)),
#undef S
    SPOT_END
};

const spot_method spot_method_dbscan_group = { .settings = settings, .solve = solve_group, .assign = assign_rows };
