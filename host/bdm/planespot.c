/* planespot.c - PlaneSpot (paper, section 4): a mixture over the map and the confidence, its clusters ordered by
 * error rate x number of errors.
 *
 * Assigning a fitted row gives its cluster again, except for near-ties: densities are summed in another order than in EM, and
 * differ by some 1e-14 of their size. */
#include <math.h>
#include <stdbool.h>

#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/rank.h"

/* Normalises a column of the map: (x - lo) / scale; 0 if scale is 0. */
typedef struct { double lo, scale; } column_scale;

static float normalise_value(column_scale u, float x) { return u.scale == 0 ? 0 : (float)((x - u.lo) / u.scale); }

/* Column j of the map into column j of r (n, d + 1). A constant column becomes 0. */
static column_scale normalise_column(spot_ctx *c, spot_mat r, int j, const spot_points *points, uint32_t ec, int norm)
{
    double lo = INFINITY, hi = -INFINITY, scale;

    for (int i = 0; i < points->n; i++) {
        lo = fmin(lo, points->at[(size_t)i * points->d + j]);
        hi = fmax(hi, points->at[(size_t)i * points->d + j]);
    }
    if (hi == lo)
        spot_log_of(c, SPOT_LOG_WARN, ec, "column %d of the map is %g everywhere and separates nothing", j, hi);
    scale = norm == SPOT_NORM_RELEASED ? hi : hi - lo;
    if (scale == 0 && hi != lo)
        spot_log_of(c, SPOT_LOG_WARN, ec, "column %d of the map has maximum 0, by which the released normalisation cannot "
                    "divide; the column is dropped", j);
    for (int i = 0; i < points->n; i++)
        r.v[(size_t)i * r.cols + j] = normalise_value((column_scale){ lo, scale }, points->at[(size_t)i * points->d + j]);
    return (column_scale){ lo, scale };
}

/* R = [normalised points; weight * confidence], (n, d + 1). */
static spot_status build_representation(spot_ctx *c, spot_arena *a, spot_mat *r, spot_fit *fit, uint32_t ec,
                                        const spot_view *view, const spot_points *points, const spot_bdm_config *cfg)
{
    column_scale *rulers = NULL;
    bool same = true;

    *r = (spot_mat){ NULL, points->n, points->d + 1 };
    SPOT_TRY(SPOT_TAKE(c, a, r->v, (size_t)r->rows * r->cols));
    if (fit) SPOT_TRY(spot_fit_put(c, fit, "ruler", SPOT_F64, NULL, points->d, 2, (void **)&rulers));
    for (int j = 0; j < points->d; j++) {
        column_scale u = normalise_column(c, *r, j, points, ec, cfg->norm);
        if (fit) rulers[j] = u;
    }
    for (int i = 0; i < points->n; i++) {
        same &= view->confidence[i] == view->confidence[0];
        r->v[(size_t)i * r->cols + points->d] = (float)(cfg->weight * view->confidence[i]);
    }
    if (same)
        spot_log_of(c, SPOT_LOG_WARN, ec, "every confidence is %g, so the map alone decides", view->confidence[0]);
    return SPOT_OK;
}

/* Ranks the clusters that have rows by size * (mean error)^2, highest first; returns their number. */
static int rank_clusters(spot_rank *ranks, const spot_mixture *best, const int *label, const spot_view *view, int how)
{
    double wrong[SPOT_MAX_COMPONENTS] = { 0 };
    int len = 0;

    for (int k = 0; k < best->k; k++) ranks[k] = (spot_rank){ .which = k };
    for (int i = 0; i < view->n; i++) {
        spot_rank *r = &ranks[label[i]];
        r->size++;
        r->error += spot_view_error(view, i);
        wrong[label[i]] += spot_view_error(view, i) > 0.5;
    }
    for (int k = 0; k < best->k; k++) {
        spot_rank r = ranks[k];
        double errors = how == SPOT_ORDER_HARD ? wrong[k] : r.error;
        if (!r.size) continue;
        r.score = errors * (errors / r.size);
        r.error /= r.size;
        ranks[len++] = r;
    }
    spot_ranks_sort(ranks, len);
    return len;
}

static spot_status keep_fit(spot_ctx *c, spot_fit *fit, const spot_mixture *m, const spot_rank *ranks, int len)
{
    int *component;

    SPOT_TRY(spot_fit_put(c, fit, "mixture.weight", SPOT_F64, m->weight, m->k, 0, NULL));
    SPOT_TRY(spot_fit_put(c, fit, "mixture.mean", SPOT_F64, m->mean, m->k, m->d, NULL));
    SPOT_TRY(spot_fit_put(c, fit, "mixture.covariance", SPOT_F64, m->covariance, m->k, m->d * m->d, NULL));
    SPOT_TRY(spot_fit_put(c, fit, "component", SPOT_I32, NULL, len, 0, (void **)&component));
    for (int k = 0; k < len; k++) component[k] = ranks[k].which;
    return SPOT_OK;
}

static spot_status collect_hypotheses(spot_ctx *c, spot_arena *a, spot_hypotheses *out, spot_fit *fit,
                                      const spot_mixture *best, const int *label, const spot_view *view,
                                      const spot_bdm_config *cfg)
{
    spot_rank ranks[SPOT_MAX_COMPONENTS];

    *out = (spot_hypotheses){ .components = rank_clusters(ranks, best, label, view, cfg->order) };
    out->len = out->components < cfg->top ? out->components : cfg->top;
    if (fit) SPOT_TRY(keep_fit(c, fit, best, ranks, out->len));
    for (int k = 0; k < out->len; k++) {
        spot_hypothesis *h = &out->h[k];
        *h = (spot_hypothesis){ .score = ranks[k].score, .mean_error = ranks[k].error };
        SPOT_TRY(SPOT_TAKE(c, a, h->row, ranks[k].size));
        for (int i = 0; i < view->n; i++)
            if (label[i] == ranks[k].which) h->row[h->len++] = i;
    }
    return SPOT_OK;
}

static spot_status find_clusters(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits,
                                 const spot_view *views, const spot_points *points, const spot_seed *seeds,
                                 const spot_bdm_config *cfg)
{
    spot_mat *r;
    spot_mixture *best;
    int **label;

    SPOT_TRY(SPOT_TAKE(c, a, r, problems));
    SPOT_TRY(SPOT_TAKE(c, a, best, problems));
    SPOT_TRY(SPOT_TAKE(c, a, label, problems));
    for (int p = 0; p < problems; p++)
        SPOT_TRY(build_representation(c, a, &r[p], fits ? &fits[p] : NULL, seeds[p].ec, &views[p], &points[p], cfg));
    SPOT_TRY(spot_mixture_fit(c, a, problems, best, label, NULL, r, seeds, &cfg->mixture));
    for (int p = 0; p < problems; p++)
        SPOT_TRY(collect_hypotheses(c, a, &out[p], fits ? &fits[p] : NULL, &best[p], label[p], &views[p], cfg));
    return SPOT_OK;
}

/* Normalises new rows as the fitted ones; a row belongs to the component of greatest responsibility. */
static spot_status assign_rows(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                               const spot_points *points, const spot_fit *fit, const spot_bdm_config *cfg)
{
    const spot_fit_tensor *t;
    const column_scale *rulers;
    const int *component;
    int *label, d = points->d;
    float *r;

    SPOT_TRY(spot_fit_wants_confidence(c, rows, "planespot"));
    SPOT_TRY(spot_fit_take(c, fit, "ruler", SPOT_F64, d, 2, &t));
    SPOT_TRY(spot_fit_indices(c, fit, "component", hypotheses, 0, SPOT_MAX_COMPONENTS - 1, &component));
    SPOT_TRY(SPOT_TAKE(c, a, r, (size_t)rows->n * (d + 1)));
    SPOT_TRY(SPOT_TAKE(c, a, label, rows->n));
    rulers = t->data;
    for (int i = 0; !a->counting && i < rows->n; i++) {
        for (int j = 0; j < d; j++) r[(size_t)i * (d + 1) + j] = normalise_value(rulers[j], points->at[(size_t)i * d + j]);
        r[(size_t)i * (d + 1) + d] = (float)(cfg->weight * rows->confidence[i]);
    }
    SPOT_TRY(spot_fit_component(c, a, label, r, rows->n, d + 1, fit));
    for (int i = 0; !a->counting && i < rows->n; i++)
        for (int k = 0; k < hypotheses; k++)
            member[(size_t)i * hypotheses + k] = component[k] == label[i];
    return SPOT_OK;
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    spot_bytes mixture = spot_mixture_needs(c, problems, n, d + 1, &cfg->mixture);
    spot_ctx quiet = { 0 };
    spot_arena a = spot_arena_counting();
    spot_mat *r;
    spot_mixture *best;
    int **label, *rows;
    float *v;

    SPOT_TAKE(&quiet, &a, r, problems);
    SPOT_TAKE(&quiet, &a, best, problems);
    SPOT_TAKE(&quiet, &a, label, problems);
    for (int p = 0; p < problems; p++) {
        SPOT_TAKE(&quiet, &a, v, (size_t)n[p] * (d + 1));
        for (int k = 0; k < cfg->top; k++) SPOT_TAKE(&quiet, &a, rows, k ? 1 : n[p]);   /* disjoint: n rows in all */
    }
    return (spot_bytes){ a.peak + mixture.host, mixture.device };
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

const spot_method spot_method_planespot = { .settings = settings, .defaults = defaults,
                                            .find = find_clusters, .needs = needs, .assign = assign_rows };
