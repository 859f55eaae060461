/* joinspot.c - `joinspot`, Spotter's own method: looks in a tree of the whole feature space for the clusters that fail and are
 * one thing each, so that one blindspot is one slice. It has nothing to tune.
 *
 * 1. Rows have length 1, less their mean, at mean squared length 1, and no confidence beside them (unit_rows.h;
 *    `weight` would give it a column). A tree that is cut by the confidence parts a blindspot's right rows from its wrong ones,
 *    and then few judged rows belong to a slice in a proof. Ward's tree is made of them, or of small pieces of them where
 *    there are many (fine_cut.h).
 * 2. The slices are the disjoint clusters of that tree whose rows gain most by error rates of their own, less a penalty for
 *    each. A cluster that falls apart in two, or has something between its parts that does not fail, is no slice; slices that
 *    are one thing are joined (scan_tree.h). What does not fail is never returned. A slice is a whole region: its right rows
 *    are in it.
 * 3. Slices are ordered by n r^2 with their rows' mean error r.
 *
 * Errors are soft, 1 - the label's probability, so a blindspot in which a third fails is seen by the low confidence of the
 * others. Slices have no row in common, and may be none. Where more than half of a class lies in blindspots,
 * the rate of the background may be too high at the end.
 *
 * A new row belongs to the slice of the nearest fitted row by its features, or of the nearest piece's mean; its confidence is
 * not looked at. So up to 4,096 fitted rows come into their own slices again, unless two rows have the same features.
 *
 * Time grows with n * d * 400 and, up to 4,096 rows, with n^2 d; that part runs on c's device (fine_cut.h). The rows of length
 * 1, the means of the pieces and the search in the tree are the host's, each n * d a few times. In s of processor time of one
 * thread on the CPU, 100,000 rows of 512 columns, two made-up sets, 2026-11-27, least of 3: rows 0.37, tree 1.5 and 1.7, every
 * row to its nearest piece 1.2, search 0.31 and 0.46, which is 9 and 12 %. On a GPU: not measured. */
#include "bdm/fine_cut.h"
#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/scan_tree.h"
#include "bdm/slices.h"
#include "bdm/unit_rows.h"

typedef struct {
    spot_unit_rows u;
    spot_fine_cut cut;
    spot_scan scan;
    double *error;             /* (n) */
    int *slice;                /* (n) */
    int *kept;                 /* (leaves): by leaf, the hypothesis that it is in, or -1 */
    spot_rank *ranks;          /* (SPOT_SCAN_MOST) */
} joinspot_problem;

static spot_status take_problem(spot_ctx *c, spot_arena *a, joinspot_problem *t, int n, int columns)
{
    SPOT_TRY(spot_unit_rows_take(c, a, &t->u, n, columns));
    SPOT_TRY(spot_fine_take(c, a, &t->cut, n, t->u.d));
    SPOT_TRY(spot_scan_take(c, a, &t->scan, n, t->cut.most, columns));
    SPOT_TRY(SPOT_TAKE(c, a, t->error, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->slice, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->kept, t->cut.most));
    return SPOT_TAKE(c, a, t->ranks, SPOT_SCAN_MOST);
}

static void open_problem(joinspot_problem *t, const spot_view *v, const spot_points *points, spot_seed seed,
                         const spot_bdm_config *cfg, int threads)
{
    spot_unit_rows_build(&t->u, v, points, NULL, cfg->weight, threads);
    for (int i = 0; i < v->n; i++) t->error[i] = spot_view_error(v, i);
    t->cut.x = t->u.x;
    t->cut.error = t->error;
    t->cut.seed = seed;
}

static void solve_problem(joinspot_problem *t, const spot_bdm_group *g, int p, int threads)
{
    spot_labels l = { .n = t->u.n, .label = t->slice };
    spot_hypotheses *out = &g->out[p];
    spot_scan *s = &t->scan;
    int len;

    s->n = t->u.n, s->stride = t->u.d, s->d = t->u.d - 1;
    s->x = t->u.x, s->error = t->error;
    s->leaves = t->cut.leaves, s->leaf = t->cut.label, s->merge = t->cut.tree;
    s->least = g->cfg->least, s->threads = threads;
    spot_scan_tree(s);
    for (int i = 0; i < t->u.n; i++) t->slice[i] = s->slice[t->cut.label[i]];
    l.slices = s->slices;
    len = spot_slices_rank(t->ranks, &l, &g->views[p]);
    spot_slices_collect(out, g->row[p], t->ranks, len, &l, g->cfg->top);
    for (int k = 0; k < s->leaves; k++) {
        t->kept[k] = -1;
        for (int h = 0; h < out->len; h++)
            if (t->ranks[h].which == s->slice[k]) t->kept[k] = h;
    }
}

/* The last column of a kept centre is 0, as that of a new row is: the confidence does not count. */
static spot_status keep_fit(spot_ctx *c, spot_fit *f, joinspot_problem *t)
{
    int d = t->u.d, leaves = t->cut.leaves;

    for (int k = 0; k < leaves; k++) t->cut.centre[(size_t)k * d + d - 1] = 0;
    SPOT_TRY(spot_fit_put(c, f, "unit.mean", SPOT_F64, t->u.mean, d - 1, 0, NULL));
    SPOT_TRY(spot_fit_put(c, f, "unit.scale", SPOT_F64, &t->u.scale, 1, 0, NULL));
    SPOT_TRY(spot_fit_put(c, f, "centre", SPOT_F64, t->cut.centre, leaves, d, NULL));
    return spot_fit_put(c, f, "hypothesis", SPOT_I32, t->kept, leaves, 0, NULL);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    spot_fine_cut cut[SPOT_BDM_GROUP];
    joinspot_problem t[SPOT_BDM_GROUP];

    for (int p = 0; p < g->problems; p++) {
        SPOT_TRY(take_problem(c, host, &t[p], g->points[p].n, g->points[p].d));
        if (!work->counting) open_problem(&t[p], &g->views[p], &g->points[p], g->seeds[p], g->cfg, c->threads);
        cut[p] = t[p].cut;
    }
    SPOT_TRY(spot_fine_cuts(c, host, work, g->problems, cut));
    for (int p = 0; p < g->problems && !work->counting; p++) {
        t[p].cut = cut[p];
        solve_problem(&t[p], g, p, c->threads);
        if (!g->out[p].components)
            spot_log_of(c, SPOT_LOG_DEBUG, g->seeds[p].ec,
                        "joinspot's list is empty: no group of images fails more than the rest");
        if (g->fits) SPOT_TRY(keep_fit(c, &g->fits[p], &t[p]));
    }
    return SPOT_OK;
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    return spot_unit_rows_assign(c, a, to, 0, false, "joinspot");
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("least",  INT,  least,  "fewest rows of a slice", SPOT_IN(1, 1e9), SPOT_DEF(5)),
    S("weight", REAL, weight, "weight of the confidence beside rows of mean squared length 1", SPOT_IN(0, 1000), SPOT_DEF(0)),
#undef S
    SPOT_END
};

const spot_method spot_method_joinspot = { .own_rows = true, .settings = settings, .solve = solve_group,
                                           .assign = assign_rows };
