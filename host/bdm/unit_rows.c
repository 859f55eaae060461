/* unit_rows.c - see unit_rows.h. */
#include "bdm/unit_rows.h"

#include <math.h>
#include <string.h>

#include "bdm/fit.h"
#include "bdm/slices.h"
#include "models/reduce.h"

#define NO_EXTENT 1e-24        /* of unit rows in fp32, two of 100,000 that differ have a greater mean squared distance */

spot_status spot_unit_rows_take(spot_ctx *c, spot_arena *a, spot_unit_rows *u, int n, int columns)
{
    u->n = n;
    u->d = columns + 1;
    SPOT_TRY(SPOT_TAKE(c, a, u->x, (size_t)n * (size_t)u->d));
    SPOT_TRY(SPOT_TAKE(c, a, u->length, n));
    return SPOT_TAKE(c, a, u->mean, columns);
}

static const float *point_of(const spot_points *p, const int *row, int i)
{
    return p->at + (size_t)(row ? row[i] : i) * (size_t)p->d;
}

/* The length that a row is divided by; a row of length 0 stays. */
static double divisor(const float *x, int d)
{
    double length = spot_row_length(x, d);

    return length > 0 ? length : 1;
}

/* A thread owns columns, so each mean is one chain in the order of the rows. */
static void find_mean(spot_unit_rows *u, const spot_points *p, const int *row, int threads)
{
    enum { TOGETHER = 16 };

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int j0 = 0; j0 < p->d; j0 += TOGETHER) {
        const int end = j0 + TOGETHER < p->d ? j0 + TOGETHER : p->d;
        for (int j = j0; j < end; j++) u->mean[j] = 0;
        for (int i = 0; i < u->n; i++) {
            const float *x = point_of(p, row, i);
            for (int j = j0; j < end; j++) u->mean[j] += x[j] / u->length[i];
        }
        for (int j = j0; j < end; j++) u->mean[j] /= u->n;
    }
}

static void find_scale(spot_unit_rows *u, const spot_points *p, const int *row)
{
    double square = 0;

    for (int i = 0; i < u->n; i++) {
        const float *x = point_of(p, row, i);
        const double length = u->length[i];
        for (int j = 0; j < p->d; j++) square += (x[j] / length - u->mean[j]) * (x[j] / length - u->mean[j]);
    }
    square /= u->n;
    u->scale = square > NO_EXTENT ? 1 / sqrt(square) : 0;
}

static void build_row(float *to, const float *x, int d, double length, const double *mean, double scale, double confidence)
{
    for (int j = 0; j < d; j++) to[j] = (float)((x[j] / length - mean[j]) * scale);
    to[d] = (float)confidence;
}

void spot_unit_rows_build(spot_unit_rows *u, const spot_view *v, const spot_points *p, const int *row, double weight,
                          int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < u->n; i++) u->length[i] = divisor(point_of(p, row, i), p->d);
    find_mean(u, p, row, threads);
    find_scale(u, p, row);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < u->n; i++)
        build_row(u->x + (size_t)i * u->d, point_of(p, row, i), p->d, u->length[i], u->mean, u->scale,
                  weight * v->confidence[row ? row[i] : i]);
}

void spot_unit_rows_centres(double *centre, const spot_unit_rows *u, const int *label, int clusters)
{
    size_t d = (size_t)u->d;

    memset(centre, 0, (size_t)clusters * d * sizeof *centre);
    for (int k = 0; k < clusters; k++) {
        int rows = 0;
        for (int i = 0; i < u->n; i++) {
            if (label[i] != k) continue;
            rows++;
            for (size_t j = 0; j < d; j++) centre[(size_t)k * d + j] += u->x[(size_t)i * d + j];
        }
        for (size_t j = 0; j < d && rows; j++) centre[(size_t)k * d + j] /= rows;
    }
}

spot_status spot_unit_rows_keep(spot_ctx *c, spot_fit *f, const spot_unit_rows *u, const double *centre, int clusters,
                                const spot_rank *ranks, int len)
{
    int *hypothesis;

    SPOT_TRY(spot_fit_put(c, f, "unit.mean", SPOT_F64, u->mean, u->d - 1, 0, NULL));
    SPOT_TRY(spot_fit_put(c, f, "unit.scale", SPOT_F64, &u->scale, 1, 0, NULL));
    SPOT_TRY(spot_fit_put(c, f, "centre", SPOT_F64, centre, clusters, u->d, NULL));
    SPOT_TRY(spot_fit_put(c, f, "hypothesis", SPOT_I32, NULL, clusters, 0, &hypothesis));
    for (int k = 0; k < clusters; k++) hypothesis[k] = -1;
    for (int k = 0; k < len; k++) hypothesis[ranks[k].which] = k;
    return SPOT_OK;
}

int spot_nearest_centre(const float *x, const double *centre, int clusters, int d)
{
    double least = INFINITY;
    int best = -1;

    for (int k = 0; k < clusters; k++) {
        double far = 0;
        for (int j = 0; j < d; j++) {
            double u = x[j] - centre[(size_t)k * d + j];
            far = fma(u, u, far);      /* as k-means does, so that its rows come back */
        }
        if (!(far < least)) continue;
        least = far;
        best = k;
    }
    return best;
}

spot_status spot_unit_rows_assign(spot_ctx *c, spot_arena *a, const spot_assignment *to, double weight, bool wrong_only,
                                  const char *method)
{
    const spot_fit_tensor *mean, *scale, *centre;
    const int *hypothesis;
    int d = to->points->d;
    float *x;

    if (weight > 0 || wrong_only) SPOT_TRY(spot_fit_wants_confidence(c, to->rows, method));
    SPOT_TRY(spot_fit_take(c, to->fit, "unit.mean", SPOT_F64, d, 0, &mean));
    SPOT_TRY(spot_fit_take(c, to->fit, "unit.scale", SPOT_F64, 1, 0, &scale));
    SPOT_TRY(spot_fit_take(c, to->fit, "centre", SPOT_F64, -1, d + 1, &centre));
    SPOT_TRY(spot_fit_indices(c, to->fit, "hypothesis", centre->rows, -1, to->hypotheses - 1, &hypothesis));
    SPOT_TRY(SPOT_TAKE(c, a, x, (size_t)to->rows->n * (size_t)(d + 1)));
    if (a->counting) return SPOT_OK;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < to->rows->n; i++) {
        const float *at = to->points->at + (size_t)i * d;
        float *own = x + (size_t)i * (size_t)(d + 1);
        int k;
        if (wrong_only && !spot_is_wrong(to->rows, i)) continue;
        build_row(own, at, d, divisor(at, d), mean->data, *(const double *)scale->data,
                  weight > 0 ? weight * to->rows->confidence[i] : 0);
        k = spot_nearest_centre(own, centre->data, centre->rows, d + 1);
        if (k >= 0 && hypothesis[k] >= 0) to->member[(size_t)i * to->hypotheses + hypothesis[k]] = 1;
    }
    return SPOT_OK;
}
