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
#include "bdm/rank.h"
#include "embed/reduce.h"
#include "map/rows_step.h"

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
    SPOT_TRY(spot_points_there(c, work, &r->points, points));
    return spot_twin_take(c, host, work, &r->given, (d + 1) * sizeof(spot_rows_column) + n * sizeof(float));
}

static spot_status build_representation(spot_ctx *c, const representation *r, spot_fit *fit, uint32_t ec, const spot_view *view,
                                        const spot_points *points, const spot_bdm_config *cfg)
{
    size_t d = (size_t)points->d;
    const spot_rows_column *there = r->given.there;
    const spot_rows_pick_problem pick[] = {
        { points->n, points->d, r->points, d, 1, NULL, there, r->r, d + 1, 1 },
        { points->n, 1, (const float *)(there + d + 1), 1, 1, NULL, there + d, r->r + d, d + 1, 1 },
    };
    spot_rows_column *column = r->given.here;
    column_scale *rulers = NULL;
    bool same = true;

    if (fit) SPOT_TRY(spot_fit_put(c, fit, "ruler", SPOT_F64, NULL, points->d, 2, (void **)&rulers));
    for (int j = 0; j < points->d; j++) {
        column_scale u;
        SPOT_TRY(scale_column(c, &u, j, points, ec, cfg->norm));
        if (fit) rulers[j] = u;
        column[j] = column_of(j, u, 1);
    }
    column[d] = column_of(0, (column_scale){ 0, 1 }, cfg->weight);
    memcpy(column + d + 1, view->confidence, (size_t)points->n * sizeof *view->confidence);
    SPOT_TRY(spot_twin_push(c, &r->given));
    for (int i = 0; i < points->n; i++) same &= view->confidence[i] == view->confidence[0];
    if (same)
        spot_log_of(c, SPOT_LOG_WARN, ec, "every confidence is %g, so the map alone decides", view->confidence[0]);
    return spot_rows_pick(c, 2, pick);
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
static spot_status weigh_rows(spot_ctx *c, spot_arena *a, spot_hypotheses *out, const spot_rank *ranks,
                              const spot_mixture *best, const spot_rows_column *column, const spot_view *view,
                              const spot_points *points)
{
    const int d = points->d;
    size_t mark = a->used;
    weigh_space w;

    SPOT_TRY(take_weigh_space(c, a, &w, view->n, d, best->k));
    for (int i0 = 0; i0 < view->n; i0 += CHUNK) {
        int rows = view->n - i0 < CHUNK ? view->n - i0 : CHUNK;
        for (int i = 0; i < rows; i++) {
            const float *at = points->at + (size_t)(i0 + i) * d;
            for (int j = 0; j < d; j++) w.x[(size_t)i * (d + 1) + j] = spot_rows_value(&column[j], at[j]);
            w.x[(size_t)i * (d + 1) + d] = spot_rows_value(&column[d], view->confidence[i0 + i]);
        }
        SPOT_TRY(spot_mixture_place(c, a, NULL, w.share, w.x, rows, best));
        for (int k = 0; k < out->len; k++)
            for (int i = 0; i < rows; i++) out->h[k].weight[i0 + i] = w.share[(size_t)i * best->k + ranks[k].which];
    }
    a->used = mark;
    return SPOT_OK;
}

static spot_status collect_hypotheses(spot_ctx *c, spot_arena *a, spot_hypotheses *out, spot_fit *fit,
                                      const spot_mixture *best, const int *label, const spot_rows_column *column,
                                      const spot_view *view, const spot_points *points, const spot_bdm_config *cfg)
{
    spot_rank ranks[SPOT_MAX_COMPONENTS];

    *out = (spot_hypotheses){ .components = rank_clusters(ranks, best, label, view, cfg->order) };
    out->len = out->components < cfg->top ? out->components : cfg->top;
    if (fit) SPOT_TRY(keep_fit(c, fit, best, ranks, out->len));
    for (int k = 0; k < out->len; k++) {
        spot_hypothesis *h = &out->h[k];
        *h = (spot_hypothesis){ .score = ranks[k].score, .mean_error = ranks[k].error };
        SPOT_TRY(SPOT_TAKE(c, a, h->row, ranks[k].size));
        SPOT_TRY(SPOT_TAKE(c, a, h->weight, view->n));
        for (int i = 0; i < view->n; i++)
            if (label[i] == ranks[k].which) h->row[h->len++] = i;
    }
    return weigh_rows(c, a, out, ranks, best, column, view, points);
}

/* The representations of all problems, as the mixture takes them. */
typedef struct { spot_mat *x; const float **there; representation *r; } batch;

static spot_status take_batch(spot_ctx *c, spot_arena *host, batch *b, int problems)
{
    SPOT_TRY(SPOT_TAKE(c, host, b->x, problems));
    SPOT_TRY(SPOT_TAKE(c, host, b->there, problems));
    return SPOT_TAKE(c, host, b->r, problems);
}

static spot_status fit_mixtures(spot_ctx *c, spot_arena *a, spot_arena *work, batch *b, int problems, spot_mixture *best,
                                int **label, spot_fit *fits, const spot_view *views, const spot_points *points,
                                const spot_seed *seeds, const spot_bdm_config *cfg)
{
    SPOT_TRY(take_batch(c, a, b, problems));
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(take_representation(c, a, work, &b->r[p], &points[p]));
        SPOT_TRY(build_representation(c, &b->r[p], fits ? &fits[p] : NULL, seeds[p].ec, &views[p], &points[p], cfg));
        b->there[p] = b->r[p].r;
        b->x[p] = (spot_mat){ c->device ? NULL : b->r[p].r, points[p].n, points[p].d + 1 };
    }
    return spot_mixture_fit_on(c, a, problems, best, label, NULL, b->x, c->device ? b->there : NULL, seeds, &cfg->mixture);
}

static spot_status find_clusters(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits,
                                 const spot_view *views, const spot_points *points, const spot_seed *seeds,
                                 const spot_bdm_config *cfg)
{
    spot_arena work = spot_arena_counting(), sizes = work;
    representation counted;
    spot_mixture *best;
    int **label;
    spot_status s;
    batch b;

    SPOT_TRY(SPOT_TAKE(c, a, best, problems));
    SPOT_TRY(SPOT_TAKE(c, a, label, problems));
    if (!c->device) s = fit_mixtures(c, a, a, &b, problems, best, label, fits, views, points, seeds, cfg);
    else {
        for (int p = 0; p < problems; p++) SPOT_TRY(take_representation(c, &sizes, &work, &counted, &points[p]));
        SPOT_TRY(spot_arena_open_device(c, &work, work.peak));
        s = fit_mixtures(c, a, &work, &b, problems, best, label, fits, views, points, seeds, cfg);
        spot_arena_close(&work);
    }
    for (int p = 0; p < problems && s == SPOT_OK; p++)
        s = collect_hypotheses(c, a, &out[p], fits ? &fits[p] : NULL, &best[p], label[p], b.r[p].given.here, &views[p],
                               &points[p], cfg);
    return s;
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
        for (int j = 0; j < d; j++) {
            spot_rows_column column = column_of(j, rulers[j], 1);
            r[(size_t)i * (d + 1) + j] = spot_rows_value(&column, points->at[(size_t)i * d + j]);
        }
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
    spot_ctx quiet = { .device = c->device };
    spot_arena a = spot_arena_counting(), work = a;
    representation r;
    spot_mixture *best;
    int **label, *rows, most = 0;
    float *weight;
    weigh_space w;
    batch b;

    SPOT_TAKE(&quiet, &a, best, problems);
    SPOT_TAKE(&quiet, &a, label, problems);
    take_batch(&quiet, &a, &b, problems);
    for (int p = 0; p < problems; p++) {
        const spot_points points = { .n = n[p], .d = d };
        take_representation(&quiet, &a, c->device ? &work : &a, &r, &points);
        for (int k = 0; k < cfg->top; k++) {
            SPOT_TAKE(&quiet, &a, rows, k ? 1 : n[p]);      /* disjoint: n rows in all */
            SPOT_TAKE(&quiet, &a, weight, n[p]);
        }
        most = n[p] > most ? n[p] : most;
    }
    take_weigh_space(&quiet, &a, &w, most, d, cfg->mixture.k_max);
    spot_mixture_place(&quiet, &a, NULL, NULL, NULL, 0, &(spot_mixture){ .k = cfg->mixture.k_max, .d = d + 1 });
    return (spot_bytes){ a.peak + mixture.host, work.peak + mixture.device };
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
                                            .find = find_clusters, .needs = needs, .assign = assign_rows };
