/* joinspot.c - `joinspot`, Spotter's own method: cuts the whole feature space finely and joins what fails and lies together, so
 * that one blindspot is one slice. It has nothing to tune.
 *
 * 1. Rows have length 1, less their mean, at mean squared length 1, and the confidence as one more column (unit_rows.h). They
 *    are cut into pieces of 8 to 27 rows, the number chosen by held-out evidence among these rows (fine_cut.h).
 * 2. Pieces with an error rate far above the median row's piece fail. Two groups of failing pieces are joined if they are
 *    nearer to each other than to every piece that does not fail (join_pieces.h). What does not fail is never returned.
 * 3. With b the background's rate and K pieces, a slice of n rows and errors s stays if n >= `least` and
 *
 *        n KL(s / n || b)  >=  log K,      KL(r || b) = r log(r / b) + (1 - r) log((1 - r) / (1 - b))
 *
 *    the log-likelihood that its own rate gains over b, against the log of the number of pieces that it was chosen from. The
 *    confidence took part in the cut, so the same must hold of the rows whose nearest piece *by the features alone* is one of
 *    the slice's, and their rate must be above what a failing piece is above.
 * 4. Slices are ordered by n r^2 with the shrunken rate r = (s + b) / (n + 1).
 *
 * Errors are soft, 1 - the label's probability, so a blindspot in which a third fails is seen by the low confidence of the
 * others. Slices have no row in common, and may be none. A class of which more than half lies in blindspots has another median.
 *
 * A new row belongs to the slice of the nearest piece by its features; its confidence is not looked at. So a fitted row that
 * lies nearer to the mean of another piece, or that its confidence brought into its piece, may come into another slice or none.
 *
 * Why: on two tuning ECs with pure pieces the distance of the means told pieces of one planted blindspot from pieces of two; on
 * others the two overlap. The background's distance gives its scale (bench/RESULTS.md, "A method of our own"). It runs on the CPU
 * on every device. Time grows with n * d * K and, up to 4,096 rows, with n^2 d. */
#include <math.h>
#include <string.h>

#include "bdm/fine_cut.h"
#include "bdm/fit.h"
#include "bdm/groups.h"
#include "bdm/join_pieces.h"
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "bdm/unit_rows.h"

typedef struct {
    int *rows;                 /* (n): of the hypotheses; outlives the group */
    spot_unit_rows u;
    spot_fine_cut cut;
    spot_joined joined;
    double *error;             /* (n) */
    double *sum, *blind_sum;   /* (pieces): errors of a piece's rows, and of those nearest to it by features alone */
    int *blind, *slice;        /* (n) */
    int *blind_size;           /* (pieces) */
    int *kept;                 /* (pieces): by piece, the slice that it is in, or -1 */
    spot_rank *ranks;          /* (pieces) */
} problem;

static spot_status take_problem(spot_ctx *c, spot_arena *a, problem *t, int n, int columns)
{
    SPOT_TRY(spot_unit_rows_take(c, a, &t->u, n, columns));
    SPOT_TRY(spot_fine_take(c, a, &t->cut, n, t->u.d));
    SPOT_TRY(spot_join_take(c, a, &t->joined, SPOT_FINE_MOST, columns));
    SPOT_TRY(SPOT_TAKE(c, a, t->error, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->blind, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->slice, n));
    SPOT_TRY(SPOT_TAKE(c, a, t->sum, SPOT_FINE_MOST));
    SPOT_TRY(SPOT_TAKE(c, a, t->blind_sum, SPOT_FINE_MOST));
    SPOT_TRY(SPOT_TAKE(c, a, t->blind_size, SPOT_FINE_MOST));
    SPOT_TRY(SPOT_TAKE(c, a, t->kept, SPOT_FINE_MOST));
    return SPOT_TAKE(c, a, t->ranks, SPOT_FINE_MOST);
}

static void open_problem(problem *t, const spot_view *v, const spot_points *points, spot_seed seed, const spot_bdm_config *cfg)
{
    spot_unit_rows_build(&t->u, v, points, NULL, cfg->weight);
    for (int i = 0; i < v->n; i++) t->error[i] = spot_view_error(v, i);
    t->cut.x = t->u.x;
    t->cut.error = t->error;
    t->cut.seed = seed;
}

static void sum_errors(double *sum, int *size, const problem *t, const int *label)
{
    memset(sum, 0, (size_t)t->cut.pieces * sizeof *sum);
    memset(size, 0, (size_t)t->cut.pieces * sizeof *size);
    for (int i = 0; i < t->cut.n; i++) {
        sum[label[i]] += t->error[i];
        size[label[i]]++;
    }
}

/* Ranks a group of pieces; false: it is not a slice. */
static bool rank_group(spot_rank *r, const problem *t, int g, int least)
{
    const spot_joined *j = &t->joined;
    double sum = 0, blind = 0, bar = log(t->cut.pieces), rate;
    int blind_size = 0;

    *r = (spot_rank){ .which = g };
    for (int k = 0; k < t->cut.pieces; k++) {
        if (j->group[k] != g) continue;
        sum += t->sum[k];
        r->size += t->cut.size[k];
        blind += t->blind_sum[k];
        blind_size += t->blind_size[k];
    }
    rate = (sum + j->base) / (r->size + 1);
    r->error = sum / r->size;
    r->score = r->size * rate * rate;
    return r->size >= least && spot_join_evidence(sum, r->size, j->base) >= bar && blind > j->above * blind_size &&
           spot_join_evidence(blind, blind_size, j->base) >= bar;
}

static void collect(spot_hypotheses *out, problem *t, const spot_bdm_config *cfg, int threads)
{
    spot_joined *j = &t->joined;
    const spot_labels l = { .n = t->cut.n, .slices = j->groups, .label = t->slice };
    int len = 0;

    spot_fine_nearest(t->blind, t->u.x, t->cut.n, t->u.d, t->u.d - 1, t->cut.centre, t->cut.pieces, t->cut.turned, threads);
    sum_errors(t->blind_sum, t->blind_size, t, t->blind);
    for (int g = 0; g < j->groups; g++) len += rank_group(&t->ranks[len], t, g, cfg->least);
    for (int i = 0; i < t->cut.n; i++) t->slice[i] = j->group[t->cut.label[i]];
    spot_slices_collect(out, t->rows, t->ranks, len, &l, cfg->top);
    for (int k = 0; k < t->cut.pieces; k++) {
        t->kept[k] = -1;
        for (int h = 0; h < out->len; h++)
            if (t->ranks[h].which == j->group[k]) t->kept[k] = h;
    }
}

static void solve_problem(spot_hypotheses *out, problem *t, const spot_bdm_config *cfg, int threads)
{
    spot_joined *j = &t->joined;

    sum_errors(t->sum, t->cut.size, t, t->cut.label);
    j->pieces = t->cut.pieces;
    j->stride = t->u.d;
    j->d = t->u.d - 1;
    j->centre = t->cut.centre;
    j->size = t->cut.size;
    j->error = t->sum;
    spot_join_pieces(j);
    collect(out, t, cfg, threads);
}

/* The last column of a kept centre is 0, as that of a new row is: the confidence does not count. */
static spot_status keep_fit(spot_ctx *c, spot_fit *f, problem *t)
{
    int d = t->u.d, pieces = t->cut.pieces;

    for (int k = 0; k < pieces; k++) t->cut.centre[(size_t)k * d + d - 1] = 0;
    SPOT_TRY(spot_fit_put(c, f, "unit.mean", SPOT_F64, t->u.mean, d - 1, 0, NULL));
    SPOT_TRY(spot_fit_put(c, f, "unit.scale", SPOT_F64, &t->u.scale, 1, 0, NULL));
    SPOT_TRY(spot_fit_put(c, f, "centre", SPOT_F64, t->cut.centre, pieces, d, NULL));
    return spot_fit_put(c, f, "hypothesis", SPOT_I32, t->kept, pieces, 0, NULL);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    spot_fine_cut cut[SPOT_BDM_GROUP];
    problem t[SPOT_BDM_GROUP];
    size_t mark;
    uint8_t *none;

    for (int p = 0; p < g->problems; p++) SPOT_TRY(SPOT_TAKE(c, host, t[p].rows, g->points[p].n));
    mark = host->used;
    SPOT_TRY(SPOT_TAKE(c, work, none, 1));     /* nothing runs there, but an arena of no bytes cannot be opened */
    for (int p = 0; p < g->problems; p++) {
        SPOT_TRY(take_problem(c, host, &t[p], g->points[p].n, g->points[p].d));
        if (!work->counting) open_problem(&t[p], &g->views[p], &g->points[p], g->seeds[p], g->cfg);
        cut[p] = t[p].cut;
    }
    SPOT_TRY(spot_fine_cuts(c, host, g->problems, cut));
    for (int p = 0; p < g->problems && !work->counting; p++) {
        t[p].cut = cut[p];
        solve_problem(&g->out[p], &t[p], g->cfg, c->threads);
        if (!g->out[p].components)
            spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec,
                        "joinspot's list is empty: no group of images fails more than the rest");
        if (g->fits) SPOT_TRY(keep_fit(c, &g->fits[p], &t[p]));
    }
    host->used = mark;
    return SPOT_OK;
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                               const spot_points *points, const spot_fit *fit, const spot_bdm_config *cfg)
{
    (void)cfg;
    return spot_unit_rows_assign(c, a, member, hypotheses, rows, points, fit, 0, false, "joinspot");
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("least",  INT,  least,  "fewest rows of a slice", SPOT_IN(1, 1e9), SPOT_DEF(5)),
    S("weight", REAL, weight, "weight of the confidence beside rows of mean squared length 1", SPOT_IN(0, 1000), SPOT_DEF(1)),
#undef S
    SPOT_END
};

const spot_method spot_method_joinspot = { .settings = settings, .solve = solve_group, .assign = assign_rows };
