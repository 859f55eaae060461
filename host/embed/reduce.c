/* reduce.c - prepares the rows for reducers: normalised, without the part along the head, in the device's memory. */
#include "embed/reduce.h"

#include <math.h>

#include "core/device.h"

#define SHORTEST 1e-6      /* least length that a row is divided by */

double spot_row_length(const float *x, int d)
{
    double squares = 0;

    for (int k = 0; k < d; k++) squares = fma(x[k], x[k], squares);
    return sqrt(squares);
}

static spot_status find_there(spot_ctx *c, spot_arena *work, const float **x, const float *here, const float *there,
                              size_t count)
{
    float *copy;

    *x = c->device ? there : here;
    if (!c->device || there) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, work, copy, count));
    *x = copy;
    return work->counting ? SPOT_OK : spot_device_copy(c, copy, here, count * sizeof *copy);
}

spot_status spot_reduce_features(spot_ctx *c, spot_arena *work, const float **x, const spot_view *v)
{
    return find_there(c, work, x, v->feature, v->device_feature, (size_t)v->n * v->d);
}

spot_status spot_points_there(spot_ctx *c, spot_arena *work, const float **x, const spot_points *points)
{
    return find_there(c, work, x, points->at, points->device_at, (size_t)points->n * points->d);
}

spot_status spot_points_copy(spot_ctx *c, const spot_points *points)
{
    size_t bytes = (size_t)points->n * points->d * sizeof *points->at;

    return points->device_at ? spot_device_copy(c, points->device_at, points->at, bytes) : SPOT_OK;
}

spot_status spot_points_put(spot_ctx *c, spot_arena *there, spot_points *points)
{
    SPOT_TRY(SPOT_TAKE(c, there, points->device_at, (size_t)points->n * points->d));
    return spot_points_copy(c, points);
}

/* Writes row i of v to `to`, normalised and without its part along the head; returns that part. */
static double prepare_row(float *to, const spot_view *v, int i, double head, const spot_embed_config *cfg)
{
    const float *x = v->feature + (size_t)i * v->d;
    double along = 0, shrink = cfg->normalise ? 1 / fmax(spot_row_length(x, v->d), SHORTEST) : 1;

    for (int k = 0; k < v->d; k++) to[k] = (float)(x[k] * shrink);
    if (!cfg->hardness) return 0;
    for (int k = 0; k < v->d; k++) along = fma(to[k], v->head[k] / head, along);
    for (int k = 0; k < v->d; k++) to[k] = (float)(to[k] - along * (v->head[k] / head));
    return along;
}

void spot_reduce_prepare(spot_ctx *c, const spot_view *left, float *along, const spot_view *v, const spot_embed_config *cfg)
{
    double head = cfg->hardness ? spot_row_length(v->head, v->d) : 1;

#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < v->n; i++) {
        double part = prepare_row(left->feature + (size_t)i * v->d, v, i, head, cfg);
        if (along) along[i] = (float)part;
    }
}
