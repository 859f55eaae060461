/* fit.c - see fit.h. Everything here is the host's. */
#include "bdm/fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 3, TILE = 64 };

static size_t bytes_of(spot_dtype type)
{
    switch (type) {
    case SPOT_F64: return 8;
    case SPOT_F32: case SPOT_I32: return 4;
    default: return 1;
    }
}

static size_t values(int rows, int columns) { return (size_t)rows * (size_t)(columns ? columns : 1); }

spot_status spot_fit_borrow(spot_ctx *c, spot_fit *f, const char *name, spot_dtype type, const void *data, int rows, int columns)
{
    spot_fit_tensor *t = &f->tensor[f->count];

    if (f->count == SPOT_FIT_TENSORS) return spot_fail(c, SPOT_INVALID, "a fit holds %d arrays, \"%s\" is one too many",
                                                       SPOT_FIT_TENSORS, name);
    *t = (spot_fit_tensor){ .type = type, .rows = rows, .columns = columns, .data = (void *)data };
    snprintf(t->name, sizeof t->name, "%s", name);
    f->count++;
    return SPOT_OK;
}

spot_status spot_fit_put(spot_ctx *c, spot_fit *f, const char *name, spot_dtype type, const void *data, int rows, int columns,
                         void **copy)
{
    size_t bytes = values(rows, columns) * bytes_of(type);
    void *own = calloc(bytes ? bytes : 1, 1);
    spot_status s;

    if (!own) return spot_fail(c, SPOT_NOMEM, "no memory for %zu bytes of \"%s\"", bytes, name);
    if (data) memcpy(own, data, bytes);
    if (copy) *copy = own;
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

spot_status spot_fit_take(spot_ctx *c, const spot_fit *f, const char *name, spot_dtype type, int rows, int columns,
                          const spot_fit_tensor **t)
{
    for (int k = 0; k < f->count; k++) {
        *t = &f->tensor[k];
        if (strcmp((*t)->name, name)) continue;
        if ((*t)->type == type && (rows < 0 || (*t)->rows == rows) && (columns < 0 || (*t)->columns == columns)) return SPOT_OK;
        return spot_fail(c, SPOT_INPUT, "the fit's \"%s\" is of another type or shape (%d, %d) than wanted (%d, %d); it is of "
                         "other features, or damaged", name, (*t)->rows, (*t)->columns, rows, columns);
    }
    return spot_fail(c, SPOT_INPUT, "the fit lacks \"%s\"; it is of another method, or damaged", name);
}

/* ---- PCA ---- */

/* The mean of the rows, and the axes that the scores are along: with S = Xc A, Xc' S = A diag(S' S). An axis without extent is 0. */
static spot_status keep_axes(spot_ctx *c, spot_fit *f, const spot_view *v, const spot_points *p)
{
    double *mean, *axis, squares;
    int n = v->n, d = v->d, kept = p->d;

    SPOT_TRY(spot_fit_put(c, f, "reduce.mean", SPOT_F64, NULL, d, 0, (void **)&mean));
    SPOT_TRY(spot_fit_put(c, f, "reduce.axis", SPOT_F64, NULL, kept, d, (void **)&axis));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++) mean[j] += v->feature[(size_t)i * d + j];
    for (int j = 0; j < d; j++) mean[j] /= n;
#pragma omp parallel for num_threads(c->threads) private(squares)
    for (int k = 0; k < kept; k++) {
        squares = 0;
        for (int i = 0; i < n; i++) {
            double s = p->at[(size_t)i * kept + k];
            squares += s * s;
            for (int j = 0; j < d; j++) axis[(size_t)k * d + j] += s * (v->feature[(size_t)i * d + j] - mean[j]);
        }
        for (int j = 0; squares > 0 && j < d; j++) axis[(size_t)k * d + j] /= squares;
    }
    return SPOT_OK;
}

static spot_status along_axes(spot_ctx *c, spot_points *out, const spot_view *rows, const spot_fit *f)
{
    const spot_fit_tensor *mean, *axis;
    int d = rows->d;

    SPOT_TRY(spot_fit_take(c, f, "reduce.mean", SPOT_F64, d, 0, &mean));
    SPOT_TRY(spot_fit_take(c, f, "reduce.axis", SPOT_F64, out->d, d, &axis));
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < rows->n; i++)
        for (int k = 0; k < out->d; k++) {
            const double *w = (const double *)axis->data + (size_t)k * d, *m = mean->data;
            double s = 0;
            for (int j = 0; j < d; j++) s += w[j] * (rows->feature[(size_t)i * d + j] - m[j]);
            out->at[(size_t)i * out->d + k] = (float)s;
        }
    return SPOT_OK;
}

/* ---- maps without a formula ---- */

typedef struct { double far; int row; } near;

/* A row's nearest of the n fitted ones, the first of equals. */
static void find_nearest(near *best, const float *x, const float *fitted, int n, int d)
{
    for (int k = 0; k < NEAREST; k++) best[k] = (near){ INFINITY, 0 };
    for (int i = 0; i < n; i++) {
        const float *y = fitted + (size_t)i * d;
        double far = 0;
        int k = NEAREST;
        for (int j = 0; j < d; j++) far += ((double)x[j] - y[j]) * ((double)x[j] - y[j]);
        while (k > 0 && far < best[k - 1].far) k--;
        if (k == NEAREST) continue;
        memmove(best + k + 1, best + k, (size_t)(NEAREST - 1 - k) * sizeof *best);
        best[k] = (near){ far, i };
    }
}

static void place(float *to, const near *best, const float *at, int dim)
{
    double sum = 0, w[NEAREST];

    for (int k = 0; k < NEAREST; k++) sum += w[k] = best[0].far > 0 ? best[k].far < INFINITY ? 1 / sqrt(best[k].far) : 0 : k == 0;
    for (int j = 0; j < dim; j++) {
        double s = 0;
        for (int k = 0; k < NEAREST; k++) s += w[k] / sum * at[(size_t)best[k].row * dim + j];
        to[j] = (float)s;
    }
}

static spot_status beside_neighbours(spot_ctx *c, spot_points *out, const spot_view *rows, const spot_fit *f)
{
    const spot_fit_tensor *fitted, *at;

    SPOT_TRY(spot_fit_take(c, f, "reduce.feature", SPOT_F32, -1, rows->d, &fitted));
    SPOT_TRY(spot_fit_take(c, f, "reduce.point", SPOT_F32, fitted->rows, out->d, &at));
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, TILE)
    for (int i = 0; i < rows->n; i++) {
        near best[NEAREST];
        find_nearest(best, rows->feature + (size_t)i * rows->d, fitted->data, fitted->rows, rows->d);
        place(out->at + (size_t)i * out->d, best, at->data, out->d);
    }
    return SPOT_OK;
}

/* ---- which of them ---- */

/* PCA of the features as they are; lengths made 1 or hardness taken out leave no axes in the features themselves. */
static int is_linear(const spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_PCA && !cfg->normalise && !cfg->hardness;
}

spot_status spot_fit_reducer(spot_ctx *c, spot_fit *f, const spot_view *view, const spot_points *points,
                             const spot_embed_config *cfg)
{
    if (spot_embed_is_nothing(cfg)) return SPOT_OK;
    if (is_linear(cfg)) return keep_axes(c, f, view, points);
    SPOT_TRY(spot_fit_borrow(c, f, "reduce.feature", SPOT_F32, view->feature, view->n, view->d));
    return spot_fit_borrow(c, f, "reduce.point", SPOT_F32, points->at, points->n, points->d);
}

spot_status spot_fit_place(spot_ctx *c, spot_arena *a, spot_points *points, const spot_view *rows, const spot_fit *f,
                           const spot_embed_config *cfg)
{
    int d = cfg->method == SPOT_REDUCE_NONE ? rows->d : cfg->dim;

    *points = (spot_points){ rows->n, d, rows->feature, NAN };
    if (spot_embed_is_nothing(cfg)) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, points->at, (size_t)rows->n * d));
    if (a->counting) return SPOT_OK;
    return is_linear(cfg) ? along_axes(c, points, rows, f) : beside_neighbours(c, points, rows, f);
}

/* ---- a mixture ---- */

/* Lower Cholesky factor of s (d, d) into l; false where it has none. */
static bool factor(double *l, const double *s, int d)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double sum = s[i * d + j];
            for (int k = 0; k < j; k++) sum -= l[i * d + k] * l[j * d + k];
            if (i == j && !(sum > 0)) return false;
            l[i * d + j] = i == j ? sqrt(sum) : sum / l[j * d + j];
        }
    return true;
}

/* log of weight x density at x, but for what all components share. */
static double log_joint(const float *x, double weight, const double *mean, const double *l, int d)
{
    double z[SPOT_MAX_MIXTURE_DIM], sum = log(weight);

    for (int i = 0; i < d; i++) {
        z[i] = x[i] - mean[i];
        for (int k = 0; k < i; k++) z[i] -= l[i * d + k] * z[k];
        z[i] /= l[i * d + i];
        sum -= 0.5 * z[i] * z[i] + log(l[i * d + i]);
    }
    return sum;
}

spot_status spot_fit_component(spot_ctx *c, spot_arena *a, int *label, const float *x, int n, int d, const spot_fit *f)
{
    const spot_fit_tensor *weight, *mean, *covariance;
    double *l;
    int k;

    SPOT_TRY(spot_fit_take(c, f, "mixture.weight", SPOT_F64, -1, 0, &weight));
    k = weight->rows;
    SPOT_TRY(spot_fit_take(c, f, "mixture.mean", SPOT_F64, k, d, &mean));
    SPOT_TRY(spot_fit_take(c, f, "mixture.covariance", SPOT_F64, k, d * d, &covariance));
    if (k > SPOT_MAX_COMPONENTS || d > SPOT_MAX_MIXTURE_DIM)
        return spot_fail(c, SPOT_INPUT, "the fit's mixture has %d components in %d dimensions; at most %d and %d", k, d,
                         SPOT_MAX_COMPONENTS, SPOT_MAX_MIXTURE_DIM);
    SPOT_TRY(SPOT_TAKE(c, a, l, (size_t)k * d * d));
    for (int j = 0; j < k; j++)
        if (!factor(l + (size_t)j * d * d, (const double *)covariance->data + (size_t)j * d * d, d))
            return spot_fail(c, SPOT_INPUT, "component %d of the fit's mixture has no covariance; the fit is damaged", j);
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        double best = -INFINITY;
        label[i] = 0;
        for (int j = 0; j < k; j++) {
            double joint = log_joint(x + (size_t)i * d, ((const double *)weight->data)[j], (const double *)mean->data + (size_t)j * d,
                                     l + (size_t)j * d * d, d);
            if (joint > best) best = joint, label[i] = j;
        }
    }
    return SPOT_OK;
}
