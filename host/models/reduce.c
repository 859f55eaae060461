/* reduce.c - what reducers share: rows and points in the device's memory; rows normalised and without their part along the
 * head. */
#include "models/reduce.h"

#include <math.h>

#include "base/twin.h"
#include "core/device.h"

double spot_row_length(const float *x, int d)
{
    double squares = 0;

    for (int k = 0; k < d; k++) squares = fma(x[k], x[k], squares);
    return sqrt(squares);
}

spot_status spot_reduce_features(spot_ctx *c, spot_arena *work, const float **x, const spot_view *v)
{
    return spot_numbers_on_device(c, work, x, v->feature, v->device_feature, (size_t)v->n * v->d);
}

spot_status spot_points_on_device(spot_ctx *c, spot_arena *work, const float **x, const spot_points *points)
{
    return spot_numbers_on_device(c, work, x, points->at, points->device_at, (size_t)points->n * points->d);
}

float *spot_points_target(const spot_ctx *c, const spot_points *points) { return c->device ? points->device_at : points->at; }

spot_status spot_points_put(spot_ctx *c, spot_arena *on_device, spot_points *points)
{
    size_t numbers = (size_t)points->n * points->d;

    SPOT_TRY(SPOT_TAKE(c, on_device, points->device_at, numbers));
    return spot_device_copy(c, points->device_at, points->at, numbers * sizeof *points->at);
}

spot_status spot_points_fetch(spot_ctx *c, const spot_points *points)
{
    return spot_device_copy(c, points->at, spot_points_target(c, points), (size_t)points->n * points->d * sizeof *points->at);
}

/* Runs on the host, where the data lies. */
spot_status spot_reduce_prepare(spot_ctx *c, const spot_view *left, float *along, const spot_view *v,
                                const spot_embed_config *cfg)
{
    spot_ctx here = { .ops = &spot_ops_cpu, .threads = c->threads };
    spot_rows_prepare_problem p = spot_reduce_preparation(v, cfg);
    spot_status s;

    if (!v->n) return SPOT_OK;
    p.x = v->feature;
    p.head = cfg->hardness ? v->head : NULL;
    p.y = left->feature;
    p.along = along;
    s = spot_rows_prepare(&here, 1, &p);
    return s == SPOT_OK ? s : spot_fail_from(c, s, &here);
}

spot_rows_prepare_problem spot_reduce_preparation(const spot_view *v, const spot_embed_config *cfg)
{
    return (spot_rows_prepare_problem){ .n = v->n, .d = v->d, .normalise = cfg->normalise,
                                        .length = cfg->hardness ? spot_row_length(v->head, v->d) : 1 };
}
