/* pooling.h - the layers behind a convolution without batch norm, as AlexNet has them: bias, ReLU, max-pooling of 3x3 windows,
 * and the adaptive average pool before its linear layers.
 *
 *     relu   out = max(0, y + bias)
 *     max    out = the largest of those in windows of 3x3, stride 2, no padding: (size - 3)/2 + 1 a side
 *     mean   out[n,c,i,j] = the mean of x[n,c] over rows floor(i*size/6) to ceil((i+1)*size/6) - 1, columns likewise: 6 x 6
 *            numbers of every size. Of a smaller image a pixel is repeated, of 1 x 1 all 36 numbers are the same
 *
 * Layout and type of y, out of relu and max, and x are conv.h's. The mean's out is (live, channels*36), fp32, torchvision's
 * order. Rows from `live` on pad a batch: 0 is written for them, but no places of the largest. Sums are in double in an order
 * that the shape fixes: run_to_run, the same bits for any number of threads; gradients are within 1e-6 of their largest number,
 * in bf16 rounded once. A NaN stays NaN. */
#ifndef SPOTTER_POOLING_H
#define SPOTTER_POOLING_H

#include "core/hd.h"
#include "net/norm.h"

enum { SPOT_POOL_MEAN = 6 };               /* a side of the mean's result */

static inline SPOT_HD int spot_pool_side(int size, bool max) { return max ? (size - 3) / 2 + 1 : size; }

/* The window [first, end) of number i of the mean, along one side. */
static inline SPOT_HD int spot_pool_first(int i, int size) { return i * size / SPOT_POOL_MEAN; }
static inline SPOT_HD int spot_pool_end(int i, int size)
{
    return ((i + 1) * size + SPOT_POOL_MEAN - 1) / SPOT_POOL_MEAN;
}

/* Results and terms of back: da is the gradient of out; dy is written over y. dbias NULL: not wanted. */
typedef struct { void *y; float *dbias; const void *da, *out; const unsigned char *at; } spot_pool_gradients;

struct spot_pooling_ops {
    spot_status (*forward)(spot_ctx *c, void *out, unsigned char *at, const void *y, const float *bias, spot_plane p, bool max);
    spot_status (*back)(spot_ctx *c, const spot_pool_gradients *g, spot_plane p, bool max, void *scratch);
    spot_status (*mean)(spot_ctx *c, float *out, const void *x, spot_plane p);
    spot_status (*mean_back)(spot_ctx *c, void *dx, const float *dout, spot_plane p);
};

/* Bytes of scratch for back, on every device. */
size_t spot_pool_scratch(spot_plane p);

/* bias NULL: 0. `at`: of each window the place of the largest among the nine (the first of equals); NULL without max, or where
 * it is not wanted. p is y's plane. */
spot_status spot_pool_forward(spot_ctx *c, void *out, unsigned char *at, const void *y, const float *bias, spot_plane p,
                              bool max);

spot_status spot_pool_back(spot_ctx *c, const spot_pool_gradients *g, spot_plane p, bool max, void *scratch);

spot_status spot_pool_mean(spot_ctx *c, float *out, const void *x, spot_plane p);
spot_status spot_pool_mean_back(spot_ctx *c, void *dx, const float *dout, spot_plane p);

#endif
