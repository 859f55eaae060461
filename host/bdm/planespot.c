/* planespot.c - PlaneSpot (paper, section 4): a mixture over the map and the confidence, its clusters ordered by
 * error rate x number of errors.
 *
 * Assigning a fitted row gives its cluster again, except for near-ties: densities are summed in another order than in EM, and
 * differ by some 1e-14 of their size. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/twin.h"
#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "core/problems.h"
#include "map/rows_step.h"
#include "models/reduce.h"

/* Normalises a column of the map: (x - lo) / scale; 0 if scale is 0. */
typedef struct { double lo, scale; } column_scale;

/* The column of R that a column of the map, or the confidence, becomes. */
static spot_rows_column column_of(int from, column_scale u, double times)
{
    return (spot_rows_column){ from, u.lo, times, u.scale };
}

/* A constant column becomes 0. */
static spot_status scale_column(spot_ctx *c, column_scale *u, int j, const spot_points *points, uint32_t ec, int norm)
{
    double lo = INFINITY, hi = -INFINITY;
    spot_rows_column column;

    for (int i = 0; i < points->n; i++) {
        lo = fmin(lo, points->at[(size_t)i * points->d + j]);
        hi = fmax(hi, points->at[(size_t)i * points->d + j]);
    }
    if (hi == lo)
        spot_log_of(c, SPOT_LOG_WARN, ec, "column %d of the map is %g everywhere and separates nothing", j, hi);
    *u = (column_scale){ lo, norm == SPOT_NORM_RELEASED ? hi : hi - lo };
    if (u->scale == 0 && hi != lo)
        spot_log_of(c, SPOT_LOG_WARN, ec, "column %d of the map has maximum 0, by which the released normalisation cannot "
                    "divide; the column is dropped", j);
    column = column_of(j, *u, 1);
    if (!isfinite(spot_rows_value(&column, (float)hi)))
        return spot_fail_of(c, SPOT_INPUT, ec, "column %d of the map, from %g to %g, cannot be divided by %g; set norm: minmax",
                            j, lo, hi, u->scale);
    return SPOT_OK;
}

/* A problem's R = [normalised points; weight * confidence], (n, d + 1), in the memory of c's device. */
typedef struct {
    float *r;
    const float *points;
    spot_twin given;           /* (d + 1) spot_rows_column, (n) confidences */
} representation;

static spot_status take_representation(spot_ctx *c, spot_arena *host, spot_arena *work, representation *r,
                                       const spot_points *points)
{
    size_t n = (size_t)points->n, d = (size_t)points->d;

    SPOT_TRY(SPOT_TAKE(c, work, r->r, n * (d + 1)));
    SPOT_TRY(spot_points_on_device(c, work, &r->points, points));
    return spot_twin_take(c, host, work, &r->given, (d + 1) * sizeof(spot_rows_column) + n * sizeof(float));
}

static spot_status build_representation(spot_ctx *c, const representation *r, const spot_bdm_group *g, int p)
{
    const spot_points *points = &g->points[p];
    const float *confidence = g->views[p].confidence;
    const uint32_t ec = g->seeds[p].ec;
    size_t d = (size_t)points->d;
    const spot_rows_column *on_device = r->given.on_device;
    const spot_rows_pick_problem pick[] = {
        { points->n, points->d, r->points, d, 1, NULL, on_device, r->r, d + 1, 1 },
        { points->n, 1, (const float *)(on_device + d + 1), 1, 1, NULL, on_device + d, r->r + d, d + 1, 1 },
    };
    spot_rows_column *column = r->given.here;
    column_scale *rulers = NULL;
    bool same = true;

    if (g->fits) SPOT_TRY(spot_fit_put(c, &g->fits[p], "ruler", SPOT_F64, NULL, points->d, 2, &rulers));
    for (int j = 0; j < points->d; j++) {
        column_scale u;
        SPOT_TRY(scale_column(c, &u, j, points, ec, g->cfg->norm));
        if (rulers) rulers[j] = u;
        column[j] = column_of(j, u, 1);
    }
    column[d] = column_of(0, (column_scale){ 0, 1 }, g->cfg->weight);
    memcpy(column + d + 1, confidence, (size_t)points->n * sizeof *confidence);
    SPOT_TRY(spot_twin_push(c, &r->given));
    for (int i = 0; i < points->n; i++) same &= confidence[i] == confidence[0];
    if (same)
        spot_log_of(c, SPOT_LOG_WARN, ec, "every confidence is %g, so the map alone decides", confidence[0]);
    return spot_rows_pick(c, 2, pick);
}

/* Ranks the clusters that have rows by errors x error rate, highest first; returns their number. */
static int rank_clusters(spot_rank *ranks, const spot_labels *l, const spot_view *view, int how)
{
    double wrong[SPOT_MAX_COMPONENTS] = { 0 };
    int len = spot_slices_rank(ranks, l, view);

    if (how == SPOT_ORDER_HARD) {
        for (int i = 0; i < view->n; i++) wrong[l->label[i]] += spot_is_wrong(view, i);
        for (int k = 0; k < len; k++) ranks[k].score = wrong[ranks[k].which] * (wrong[ranks[k].which] / ranks[k].size);
    }
    return len;
}

static spot_status keep_fit(spot_ctx *c, spot_fit *fit, const spot_mixture *m, const spot_rank *ranks, int len)
{
    int *component;

    SPOT_TRY(spot_fit_put(c, fit, "mixture.weight", SPOT_F64, m->weight, m->k, 0, NULL));
    SPOT_TRY(spot_fit_put(c, fit, "mixture.mean", SPOT_F64, m->mean, m->k, m->d, NULL));
    SPOT_TRY(spot_fit_put(c, fit, "mixture.covariance", SPOT_F64, m->covariance, m->k, m->d * m->d, NULL));
    SPOT_TRY(spot_fit_put(c, fit, "component", SPOT_I32, NULL, len, 0, &component));
    for (int k = 0; k < len; k++) component[k] = ranks[k].which;
    return SPOT_OK;
}

enum { CHUNK = 4096 };      /* rows weighed at a time */

/* Scratch to weigh rows: their columns of R, and the shares of all components. */
typedef struct { float *x, *share; } weigh_space;

static spot_status take_weigh_space(spot_ctx *c, spot_arena *a, weigh_space *w, int n, int d, int k)
{
    int rows = n < CHUNK ? n : CHUNK;

    SPOT_TRY(SPOT_TAKE(c, a, w->x, (size_t)rows * (d + 1)));
    return SPOT_TAKE(c, a, w->share, (size_t)rows * k);
}

/* A row's weight in a hypothesis is its component's responsibility for it. */
static spot_status weigh_rows(spot_ctx *c, spot_arena *a, const spot_rank *ranks, const spot_mixture *best,
                              const spot_rows_column *column, const spot_bdm_group *g, int p)
{
    const spot_points *points = &g->points[p];
    const spot_hypotheses *out = &g->out[p];
    const int n = points->n, d = points->d;
    size_t mark = a->used;
    weigh_space w;

    SPOT_TRY(take_weigh_space(c, a, &w, n, d, best->k));
    for (int i0 = 0; i0 < n; i0 += CHUNK) {
        int rows = n - i0 < CHUNK ? n - i0 : CHUNK;
        for (int i = 0; i < rows; i++) {
            const float *at = points->at + (size_t)(i0 + i) * d;
            for (int j = 0; j < d; j++) w.x[(size_t)i * (d + 1) + j] = spot_rows_value(&column[j], at[j]);
            w.x[(size_t)i * (d + 1) + d] = spot_rows_value(&column[d], g->views[p].confidence[i0 + i]);
        }
        SPOT_TRY(spot_mixture_place(c, a, NULL, w.share, w.x, rows, best));
        for (int k = 0; k < out->len; k++)
            for (int i = 0; i < rows; i++) out->h[k].weight[i0 + i] = w.share[(size_t)i * best->k + ranks[k].which];
    }
    a->used = mark;
    return SPOT_OK;
}

static spot_status collect_hypotheses(spot_ctx *c, spot_arena *a, const spot_mixture *best, const int *label,
                                      const spot_rows_column *column, const spot_bdm_group *g, int p)
{
    spot_labels l = { .n = g->points[p].n, .slices = best->k, .label = label };
    spot_rank ranks[SPOT_MAX_COMPONENTS];
    spot_hypotheses *out = &g->out[p];
    int len = rank_clusters(ranks, &l, &g->views[p], g->cfg->order);

    spot_slices_collect(out, g->row[p], ranks, len, &l, g->cfg->top);
    for (int k = 0; k < out->len; k++) out->h[k].weight = g->weight[p] + (size_t)k * (size_t)l.n;
    if (g->fits) SPOT_TRY(keep_fit(c, &g->fits[p], best, ranks, out->len));
    return weigh_rows(c, a, ranks, best, column, g, p);
}

/* While counting: the mixtures, and then the weights of one problem's rows after another. */
static spot_status count_mixtures(spot_ctx *c, spot_arena *host, const spot_bdm_group *g)
{
    const spot_mixture largest = { .k = g->cfg->mixture.k_max, .d = SPOT_MOST(g->problems, g->points, d) + 1 };
    int n[SPOT_BDM_GROUP];
    weigh_space w;

    for (int p = 0; p < g->problems; p++) n[p] = g->points[p].n;
    SPOT_TRY(spot_bdm_call(c, host, g, spot_mixture_needs(c, g->problems, n, largest.d, &g->cfg->mixture)));
    SPOT_TRY(take_weigh_space(c, host, &w, SPOT_MOST(g->problems, g->points, n), largest.d - 1, largest.k));
    return spot_mixture_place(c, host, NULL, NULL, NULL, 0, &largest);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    representation r[SPOT_BDM_GROUP];
    const float *on_device[SPOT_BDM_GROUP];
    spot_mixture best[SPOT_BDM_GROUP];
    spot_mat x[SPOT_BDM_GROUP];
    int *label[SPOT_BDM_GROUP];

    for (int p = 0; p < g->problems; p++) {
        SPOT_TRY(take_representation(c, host, work, &r[p], &g->points[p]));
        if (work->counting) continue;
        SPOT_TRY(build_representation(c, &r[p], g, p));
        on_device[p] = r[p].r;
        x[p] = (spot_mat){ c->device ? NULL : r[p].r, g->points[p].n, g->points[p].d + 1 };
    }
    if (work->counting) return count_mixtures(c, host, g);
    SPOT_TRY(spot_mixture_fit(c, host, &(spot_mixture_data){ g->problems, x, c->device ? on_device : NULL, g->seeds }, best,
                              label, NULL, &g->cfg->mixture));
    for (int p = 0; p < g->problems; p++)
        SPOT_TRY(collect_hypotheses(c, host, &best[p], label[p], r[p].given.here, g, p));
    return SPOT_OK;
}

/* Normalises new rows as the fitted ones; a row belongs to the component of greatest responsibility. */
static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const spot_fit_tensor *t;
    const column_scale *rulers;
    const int *component;
    int *label, d = to->points->d;
    float *r;

    SPOT_TRY(spot_fit_wants_confidence(c, to->rows, "planespot"));
    SPOT_TRY(spot_fit_take(c, to->fit, "ruler", SPOT_F64, d, 2, &t));
    SPOT_TRY(spot_fit_indices(c, to->fit, "component", to->hypotheses, 0, SPOT_MAX_COMPONENTS - 1, &component));
    SPOT_TRY(SPOT_TAKE(c, a, r, (size_t)to->rows->n * (d + 1)));
    SPOT_TRY(SPOT_TAKE(c, a, label, to->rows->n));
    rulers = t->data;
    for (int i = 0; !a->counting && i < to->rows->n; i++) {
        for (int j = 0; j < d; j++) {
            spot_rows_column column = column_of(j, rulers[j], 1);
            r[(size_t)i * (d + 1) + j] = spot_rows_value(&column, to->points->at[(size_t)i * d + j]);
        }
        r[(size_t)i * (d + 1) + d] = (float)(to->cfg->weight * to->rows->confidence[i]);
    }
    SPOT_TRY(spot_fit_component(c, a, label, r, to->rows->n, d + 1, to->fit));
    for (int i = 0; !a->counting && i < to->rows->n; i++)
        for (int k = 0; k < to->hypotheses; k++)
            to->member[(size_t)i * to->hypotheses + k] = component[k] == label[i];
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    SPOT_BDM_MIXTURE,
    S("weight",  REAL,  weight,        "weight of the confidence beside the points (the paper's w)", SPOT_IN(0, 1000),
      SPOT_DEF(0.025)),
    S("norm",    NAME,  norm,          "normalisation of the points: min-max, or the released code's (s - min) / max",
      SPOT_ONE_OF("minmax", "released"), SPOT_DEF(SPOT_NORM_MINMAX)),
    S("order",   NAME,  order,         "errors that order hypotheses: 1 - confidence, or confidence < 0.5",
      SPOT_ONE_OF("soft", "hard"), SPOT_DEF(SPOT_ORDER_SOFT)),
#undef S
    SPOT_END
};

static void defaults(spot_bdm_config *cfg)
{
    cfg->embed.method = SPOT_REDUCE_SCVIS;
}

const spot_method spot_method_planespot = { .weighs = true, .settings = settings, .defaults = defaults,
                                            .solve = solve_group, .assign = assign_rows };
