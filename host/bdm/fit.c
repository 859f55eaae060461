/* fit.c - see fit.h. */
#include "bdm/fit.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pointer.h"
#include "formats/formats.h"
#include "map/pca.h"
#include "models/reduce.h"

enum { NEAREST = 3, TILE = 64, LANES = 8, STRIDE = 64 };     /* partial sums of a distance; columns between its checks */

static size_t value_count(int rows, int columns) { return (size_t)rows * (size_t)(columns ? columns : 1); }

spot_status spot_fit_borrow(spot_ctx *c, spot_fit *f, const char *name, spot_dtype type, const void *data, int rows,
                            int columns)
{
    spot_fit_tensor *t = &f->tensor[f->count];

    if (f->count == SPOT_FIT_TENSORS)
        return spot_fail(c, SPOT_INPUT, "a fit holds %d arrays, \"%s\" is one too many", SPOT_FIT_TENSORS, name);
    *t = (spot_fit_tensor){ .type = type, .rows = rows, .columns = columns, .data = (void *)data };
    snprintf(t->name, sizeof t->name, "%s", name);
    f->count++;
    return SPOT_OK;
}

spot_status spot_fit_put(spot_ctx *c, spot_fit *f, const char *name, spot_dtype type, const void *data, int rows,
                         int columns, void *copy)
{
    size_t bytes = value_count(rows, columns) * spot_dtype_size(type);
    void *own = calloc(bytes ? bytes : 1, 1);
    spot_status s;

    if (!own) return spot_fail(c, SPOT_NOMEM, "no memory for %zu bytes of \"%s\"", bytes, name);
    if (data && bytes) memcpy(own, data, bytes);
    if (copy) spot_pointer_put(copy, own);
    s = spot_fit_borrow(c, f, name, type, own, rows, columns);
    if (s == SPOT_OK) f->tensor[f->count - 1].owned = true;
    else free(own);
    return s;
}

void spot_fit_close(spot_fit *f)
{
    for (int k = 0; k < f->count; k++)
        if (f->tensor[k].owned) free(f->tensor[k].data);
    f->count = 0;
}

spot_fit_tensor *spot_fit_find(const spot_fit *f, const char *name)
{
    for (int k = 0; k < f->count; k++)
        if (!strcmp(f->tensor[k].name, name)) return (spot_fit_tensor *)&f->tensor[k];
    return NULL;
}

static bool all_finite(const spot_fit_tensor *t)
{
    size_t n = value_count(t->rows, t->columns);

    for (size_t i = 0; i < n && (t->type == SPOT_F32 || t->type == SPOT_F64); i++)
        if (!isfinite(t->type == SPOT_F32 ? ((const float *)t->data)[i] : ((const double *)t->data)[i])) return false;
    return true;
}

spot_status spot_fit_take(spot_ctx *c, const spot_fit *f, const char *name, spot_dtype type, int rows, int columns,
                          const spot_fit_tensor **t)
{
    *t = spot_fit_find(f, name);
    if (!*t) return spot_fail(c, SPOT_INPUT, "{fit.lacks_tensor} the fit lacks \"%s\"; it is of another method, or damaged",
                              name);
    if ((*t)->type != type || (rows >= 0 && (*t)->rows != rows) || (columns >= 0 && (*t)->columns != columns))
        return spot_fail(c, SPOT_INPUT, "the fit's \"%s\" (%d, %d) is of another type or shape than is wanted; it is of other "
                         "settings, or damaged", name, (*t)->rows, (*t)->columns);
    if (!all_finite(*t)) return spot_fail(c, SPOT_INPUT, "the fit's \"%s\" holds numbers that are not finite", name);
    return SPOT_OK;
}

spot_status spot_fit_indices(spot_ctx *c, const spot_fit *f, const char *name, int rows, int least, int most, const int **v)
{
    const spot_fit_tensor *t;

    SPOT_TRY(spot_fit_take(c, f, name, SPOT_I32, rows, 0, &t));
    *v = t->data;
    for (int i = 0; i < t->rows; i++)
        if ((*v)[i] < least || (*v)[i] > most)
            return spot_fail(c, SPOT_INPUT, "the fit's \"%s\" has %d at place %d; it must lie in %d..%d: the fit is damaged",
                             name, (*v)[i], i, least, most);
    return SPOT_OK;
}

spot_status spot_fit_shares(spot_ctx *c, const spot_fit *f, const char *name, int rows, int columns, const spot_fit_tensor **t)
{
    SPOT_TRY(spot_fit_take(c, f, name, SPOT_F64, rows, columns, t));
    for (size_t i = 0; i < value_count((*t)->rows, (*t)->columns); i++) {
        double v = ((const double *)(*t)->data)[i];
        if (v < 0 || v > 1 + 1e-6)
            return spot_fail(c, SPOT_INPUT, "the fit's \"%s\" has %g for a probability; the fit is damaged", name, v);
    }
    return SPOT_OK;
}

spot_status spot_fit_wants_confidence(spot_ctx *c, const spot_view *rows, const char *method)
{
    if (rows->confidence) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT,
                     "{fit.no_answers} %s goes by what the classifier says of each row; give probabilities or losses", method);
}

/* ---- keeping the reducer ---- */

static bool is_pca(const spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_PCA && !(cfg->hardness && cfg->dim == 1);
}

static bool has_points(const spot_embed_config *cfg)
{
    return cfg->method != SPOT_REDUCE_NONE && cfg->method != SPOT_REDUCE_PCA && !(cfg->hardness && cfg->dim == 1);
}

spot_status spot_fit_put_hypotheses(spot_ctx *c, spot_fit *f, const spot_hypotheses *found, int n)
{
    int *in;

    SPOT_TRY(spot_fit_put(c, f, "hypothesis", SPOT_I32, NULL, n, 0, &in));
    for (int i = 0; i < n; i++) in[i] = -1;
    for (int k = 0; k < found->len; k++)
        for (int i = 0; i < found->h[k].len; i++) in[found->h[k].row[i]] = k;
    return SPOT_OK;
}

spot_status spot_fit_put_points(spot_ctx *c, spot_fit *f, const spot_points *points, const spot_embed_config *cfg)
{
    return has_points(cfg) ? SPOT_OK : spot_fit_put(c, f, "point", SPOT_F32, points->at, points->n, points->d, NULL);
}

spot_status spot_fit_take_points(spot_ctx *c, const spot_fit *f, int d, const spot_embed_config *cfg,
                                 const spot_fit_tensor **t)
{
    return spot_fit_take(c, f, has_points(cfg) ? "reduce.point" : "point", SPOT_F32, -1, d, t);
}

static bool is_prepared(const spot_embed_config *cfg) { return cfg->normalise || cfg->hardness; }

static spot_status keep_axes(spot_ctx *c, spot_fit *f, const spot_view *v, const spot_points *points,
                             const spot_embed_config *cfg)
{
    int kept = points->d - (cfg->hardness != 0);
    spot_view left = *v;
    void *mean, *axis;
    spot_status s;

    SPOT_TRY(spot_fit_put(c, f, "reduce.mean", SPOT_F64, NULL, v->d, 0, &mean));
    SPOT_TRY(spot_fit_put(c, f, "reduce.axis", SPOT_F64, NULL, kept, v->d, &axis));
    if (!is_prepared(cfg)) return spot_pca_axes(c, mean, axis, kept, v);
    left.feature = malloc(value_count(v->n, v->d) * sizeof *left.feature);
    if (!left.feature) return spot_fail(c, SPOT_NOMEM, "no memory for %d x %d features", v->n, v->d);
    s = spot_reduce_prepare(c, &left, NULL, v, cfg);
    if (s == SPOT_OK) s = spot_pca_axes(c, mean, axis, kept, &left);
    free(left.feature);
    return s;
}

spot_status spot_fit_reducer(spot_ctx *c, spot_fit *f, const spot_view *view, const spot_points *points,
                             const spot_embed_config *cfg)
{
    SPOT_TRY(spot_fit_put(c, f, "features", SPOT_I32, &view->d, 1, 0, NULL));
    if (cfg->hardness) SPOT_TRY(spot_fit_put(c, f, "reduce.head", SPOT_F32, view->head, view->d, 0, NULL));
    if (is_pca(cfg)) return keep_axes(c, f, view, points, cfg);
    if (!has_points(cfg)) return SPOT_OK;
    SPOT_TRY(spot_fit_borrow(c, f, "reduce.feature", SPOT_F32, view->feature, view->n, view->d));
    return spot_fit_borrow(c, f, "reduce.point", SPOT_F32, points->at, points->n, points->d);
}

/* ---- placing new rows ---- */

/* The number of PCA axes in the fit; 0 if it is damaged. */
static int axes_of(const spot_view *rows, const spot_fit *f)
{
    const spot_fit_tensor *axis = spot_fit_find(f, "reduce.axis");

    return axis && axis->rows <= rows->d ? axis->rows : 0;
}

/* Writes the scores to the last columns of `to`, one per axis. */
static spot_status project_on_axes(spot_ctx *c, spot_arena *a, spot_points *to, const spot_view *rows, const spot_fit *f)
{
    const spot_fit_tensor *mean, *axis;
    spot_pca_problem p = { .n = rows->n, .d = rows->d, .x = rows->feature, .kept = axes_of(rows, f) };
    size_t mark = a->used;

    SPOT_TRY(spot_fit_take(c, f, "reduce.mean", SPOT_F64, rows->d, 0, &mean));
    SPOT_TRY(spot_fit_take(c, f, "reduce.axis", SPOT_F64, p.kept, rows->d, &axis));
    if (p.kept < 1) return spot_fail(c, SPOT_INPUT, "the fit has no axes; it is damaged");
    p.mean = mean->data;
    p.axis = axis->data;
    SPOT_TRY(SPOT_TAKE(c, a, p.score, (size_t)p.n * p.kept));
    if (a->counting) return SPOT_OK;
    SPOT_TRY(spot_pca_project(c, 1, &p));
    for (int i = 0; i < p.n; i++)
        memcpy(to->at + (size_t)(i + 1) * to->d - p.kept, p.score + (size_t)i * p.kept, (size_t)p.kept * sizeof *p.score);
    a->used = mark;
    return SPOT_OK;
}

typedef struct { double far; int row; } near;

/* Squared distance of x and y; if it exceeds `most`, any number above `most`. */
static double distance(const float *x, const float *y, int d, double most)
{
    double part[LANES] = { 0 }, sum = 0;
    int j = 0;

    while (j + LANES <= d && sum <= most) {
        int end = j + STRIDE < d ? j + STRIDE : d;
        for (; j + LANES <= end; j += LANES)
            for (int l = 0; l < LANES; l++) {
                double off = (double)x[j + l] - y[j + l];
                part[l] = fma(off, off, part[l]);
            }
        sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; j < d && sum <= most; j++) sum = fma((double)x[j] - y[j], (double)x[j] - y[j], sum);
    return sum;
}

/* The NEAREST fitted rows to x, of equals the first. */
static void find_nearest(near *best, const float *x, const float *fitted, int n, int d)
{
    for (int k = 0; k < NEAREST; k++) best[k] = (near){ INFINITY, 0 };
    for (int i = 0; i < n; i++) {
        double far = distance(x, fitted + (size_t)i * d, d, best[NEAREST - 1].far);
        int k = NEAREST;
        while (k > 0 && far < best[k - 1].far) k--;
        if (k == NEAREST) continue;
        memmove(best + k + 1, best + k, (size_t)(NEAREST - 1 - k) * sizeof *best);
        best[k] = (near){ far, i };
    }
}

static void place_by_neighbours(float *to, const near *best, const float *at, int dim)
{
    double sum = 0, w[NEAREST];

    for (int k = 0; k < NEAREST; k++)
        sum += w[k] = best[0].far > 0 ? (best[k].far < INFINITY ? 1 / sqrt(best[k].far) : 0) : k == 0;
    for (int j = 0; j < dim; j++) {
        double s = 0;
        for (int k = 0; k < NEAREST; k++) s += w[k] / sum * at[(size_t)best[k].row * dim + j];
        to[j] = (float)s;
    }
}

/* The fitted rows, prepared as for the reducer. */
static spot_status fitted_rows(spot_ctx *c, spot_arena *a, spot_view *fitted, const spot_view *rows, const spot_fit *f,
                               const spot_embed_config *cfg)
{
    const spot_fit_tensor *t;
    spot_view raw = *rows;

    SPOT_TRY(spot_fit_take(c, f, "reduce.feature", SPOT_F32, -1, rows->d, &t));
    if (t->rows < 1) return spot_fail(c, SPOT_INPUT, "the fit's map has no rows; it is damaged");
    raw.n = t->rows;
    raw.feature = t->data;
    *fitted = raw;
    if (!is_prepared(cfg)) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, fitted->feature, value_count(raw.n, raw.d)));
    return a->counting ? SPOT_OK : spot_reduce_prepare(c, fitted, NULL, &raw, cfg);
}

static spot_status place_on_map(spot_ctx *c, spot_arena *a, spot_points *to, const spot_view *rows, const spot_fit *f,
                                const spot_embed_config *cfg)
{
    const spot_fit_tensor *at;
    size_t mark = a->used;
    spot_view fitted;

    SPOT_TRY(fitted_rows(c, a, &fitted, rows, f, cfg));
    SPOT_TRY(spot_fit_take(c, f, "reduce.point", SPOT_F32, fitted.n, to->d, &at));
    if (a->counting) return SPOT_OK;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, TILE)
    for (int i = 0; i < rows->n; i++) {
        near best[NEAREST];
        find_nearest(best, rows->feature + (size_t)i * rows->d, fitted.feature, fitted.n, rows->d);
        place_by_neighbours(to->at + (size_t)i * to->d, best, at->data, to->d);
    }
    a->used = mark;
    return SPOT_OK;
}

/* *v: rows with the fit's head, if it has one. */
static spot_status take_head(spot_ctx *c, spot_view *v, const spot_view *rows, const spot_fit *f, const spot_embed_config *cfg)
{
    const spot_fit_tensor *t;
    const int *features;
    bool somewhere = false;

    *v = *rows;
    SPOT_TRY(spot_fit_indices(c, f, "features", 1, 1, INT_MAX, &features));
    if (*features != rows->d)
        return spot_fail(c, SPOT_INPUT, "{fit.features} the rows have %d features, the fit was made from rows of %d; use what "
                         "the same network makes of them", rows->d, *features);
    if (!cfg->hardness) return SPOT_OK;
    SPOT_TRY(spot_fit_take(c, f, "reduce.head", SPOT_F32, rows->d, 0, &t));
    v->head = t->data;
    for (int j = 0; j < rows->d; j++) somewhere |= v->head[j] != 0;
    return somewhere ? SPOT_OK : spot_fail(c, SPOT_INPUT, "the fit's head points nowhere; the fit is damaged");
}

spot_status spot_fit_place(spot_ctx *c, spot_arena *a, spot_points *points, const spot_view *rows, const spot_fit *f,
                           const spot_embed_config *cfg)
{
    spot_view given, left;
    float *along = NULL;

    *points = (spot_points){ .n = rows->n, .d = cfg->method == SPOT_REDUCE_NONE ? rows->d : cfg->dim, .at = rows->feature,
                             .objective = NAN };
    SPOT_TRY(take_head(c, &given, rows, f, cfg));
    if (spot_embed_is_nothing(cfg)) return SPOT_OK;
    left = given;
    if (is_prepared(cfg)) SPOT_TRY(SPOT_TAKE(c, a, left.feature, value_count(rows->n, rows->d)));
    if (cfg->hardness) SPOT_TRY(SPOT_TAKE(c, a, along, rows->n));
    if (is_prepared(cfg) && !a->counting) SPOT_TRY(spot_reduce_prepare(c, &left, along, &given, cfg));
    points->at = left.feature;
    if (cfg->method == SPOT_REDUCE_NONE) return SPOT_OK;
    if (is_pca(cfg)) points->d = axes_of(rows, f) + (cfg->hardness != 0);
    SPOT_TRY(SPOT_TAKE(c, a, points->at, value_count(rows->n, points->d)));
    if (is_pca(cfg)) SPOT_TRY(project_on_axes(c, a, points, &left, f));
    if (has_points(cfg)) SPOT_TRY(place_on_map(c, a, points, &left, f, cfg));
    for (int i = 0; along && i < rows->n; i++) points->at[(size_t)i * points->d] = along[i];
    return SPOT_OK;
}

/* ---- a mixture ---- */

spot_status spot_fit_component(spot_ctx *c, spot_arena *a, int *label, const float *x, int n, int d, const spot_fit *f)
{
    const spot_fit_tensor *weight, *mean, *covariance;
    spot_mixture m;
    spot_status s;
    int k;

    SPOT_TRY(spot_fit_shares(c, f, "mixture.weight", -1, 0, &weight));
    k = weight->rows;
    if (k < 1 || k > SPOT_MAX_COMPONENTS || d > SPOT_MAX_MIXTURE_DIM)
        return spot_fail(c, SPOT_INPUT, "the fit's mixture has %d components in %d dimensions; 1 to %d and at most %d", k, d,
                         SPOT_MAX_COMPONENTS, SPOT_MAX_MIXTURE_DIM);
    SPOT_TRY(spot_fit_take(c, f, "mixture.mean", SPOT_F64, k, d, &mean));
    SPOT_TRY(spot_fit_take(c, f, "mixture.covariance", SPOT_F64, k, d * d, &covariance));
    m = (spot_mixture){ .k = k, .d = d, .n = n, .weight = weight->data, .mean = mean->data, .covariance = covariance->data };
    s = spot_mixture_place(c, a, label, NULL, x, n, &m);
    if (s != SPOT_NUMERIC) return s;
    return spot_fail(c, SPOT_INPUT, "a component of the fit's mixture has no covariance; the fit is damaged");
}
