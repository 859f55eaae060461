/* graph.c - see graph.h. */
#include "bdm/graph.h"

#include <math.h>

#include "map/rows.h"
#include "models/reduce.h"

spot_status spot_graph_take(spot_ctx *c, spot_arena *host, spot_arena *work, spot_graph *g, const spot_points *points, int k,
                            bool cosine)
{
    size_t n = (size_t)points->n, d = (size_t)points->d, edges;

    *g = (spot_graph){ .n = points->n, .d = points->d, .k = k < points->n ? k : points->n - 1, .cosine = cosine };
    edges = n * (size_t)g->k;
    SPOT_TRY(spot_points_on_device(c, work, &g->x, points));
    if (cosine) SPOT_TRY(SPOT_TAKE(c, work, g->unit, n * d));
    SPOT_TRY(spot_twin_take(c, host, work, &g->columns, edges * sizeof(int)));
    SPOT_TRY(spot_twin_take(c, host, work, &g->near, edges * sizeof(float)));
    g->column = g->columns.here;
    g->distance = g->near.here;
    return SPOT_OK;
}

static spot_status make_units(spot_ctx *c, const spot_graph *g)
{
    const spot_rows_prepare_problem p = { .n = g->n, .d = g->d, .normalise = 1, .x = g->x, .y = g->unit };

    return g->cosine ? spot_rows_prepare(c, 1, &p) : SPOT_OK;
}

static bool is_origin(const float *x, int d)
{
    for (int j = 0; j < d; j++)
        if (x[j] != 0) return false;
    return true;
}

/* From squared distances of fp32 points to distances; of points at the origin, whose unit vector is 0, too. */
static void finish_distances(const spot_graph *g, const float *x)
{
    for (int i = 0; i < g->n; i++) {
        bool origin = g->cosine && is_origin(x + (size_t)i * g->d, g->d);
        for (int e = i * g->k; e < (i + 1) * g->k; e++) {
            float *far = &g->distance[e];
            if (!g->cosine) *far = sqrtf(*far);
            else if (*far && (origin || is_origin(x + (size_t)g->column[e] * g->d, g->d))) *far = 1;
            else *far /= 2;
        }
    }
}

spot_status spot_graphs_find(spot_ctx *c, spot_arena *work, int graphs, spot_graph *g, const spot_points *points)
{
    for (int p = 0; p < graphs; p++) {
        const spot_neighbours s = { { g[p].cosine ? g[p].unit : (float *)g[p].x, g[p].n, g[p].d }, g[p].k,
                                    g[p].columns.on_device, g[p].near.on_device };
        if (!g[p].k) continue;
        if (!work->counting) SPOT_TRY(make_units(c, &g[p]));
        SPOT_TRY(spot_neighbours_find(c, work, 1, &s));
        if (work->counting) continue;
        SPOT_TRY(spot_twin_pull(c, &g[p].columns));
        SPOT_TRY(spot_twin_pull(c, &g[p].near));
        finish_distances(&g[p], points[p].at);
    }
    return SPOT_OK;
}

double spot_graph_distance(const float *a, const float *b, int d, bool cosine)
{
    double aa = 0, bb = 0, ab = 0, squares = 0;

    for (int j = 0; j < d; j++) {
        double off = (double)a[j] - b[j];
        squares += off * off;
        aa += (double)a[j] * a[j];
        bb += (double)b[j] * b[j];
        ab += (double)a[j] * b[j];
    }
    if (!cosine) return sqrt(squares);
    return squares == 0 ? 0 : aa == 0 || bb == 0 ? 1 : 1 - ab / sqrt(aa) / sqrt(bb);
}

void spot_graph_nearest(int *near, double *far, int k, const float *x, const float *fitted, int n, int d, bool cosine)
{
    int len = 0;

    for (int i = 0; i < n; i++) {
        double own = spot_graph_distance(x, fitted + (size_t)i * d, d, cosine);
        int at = len;
        if (len == k && !(own < far[k - 1])) continue;
        if (len < k) len++;
        else at--;
        for (; at > 0 && own < far[at - 1]; at--) near[at] = near[at - 1], far[at] = far[at - 1];
        near[at] = i;
        far[at] = own;
    }
}
