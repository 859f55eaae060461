/* norm.h - batch normalisation with what stands around it: ReLU, the residual, the stem's pooling. Each tensor is read
 * and written as rarely as the mathematics allows: one pass for the statistics, one to apply; two back.
 *
 *     bn(y) = scale*y + shift,    scale = weight/sqrt(var + 1e-5),    shift = bias - mean*scale
 *
 * Tensors (rows, channels/B, size*size, B) as in conv.h. Rows behind `live` pad a batch: they enter no sum, and what
 * is written for them is 0. Statistics are summed a plane at a time (fp32 over 256 pixels, double above) around the
 * first pixel, and over the images in order: same bits for any number of threads. Mean and invstd are within 1e-6 of
 * double precision, gradients within 1e-6 of their largest; out within 2^-22 of |y|*scale, for y*scale + shift cancels
 * (PyTorch's does, too). A NaN stays one. */
#ifndef SPOTTER_KERNELS_NORM_H
#define SPOTTER_KERNELS_NORM_H

#include "conv.h"

typedef struct {
    int rows, live, channels, size;
} spot_plane;

/* One layer; every pointer (channels). */
typedef struct {
    float *weight, *bias, *running_mean, *running_var;
    float *mean, *invstd;      /* of the batch */
    float *scale, *shift;      /* what apply does */
    float *dweight, *dbias;
} spot_norm;

/* One step back through out = relu(bn(y) + other), other = 0, a tensor, or bn(y2).
 *     dz = (da + db) where out > 0; dy and dy2 follow, written over y and y2. */
typedef struct {
    const float *da, *db;      /* the gradient of out, in two parts; db may be NULL */
    const float *out;          /* NULL where other = 0: the sign is had from y then */
    float       *dz;           /* NULL where other = 0; may be db itself */
    float       *y,  *y2;      /* y2 NULL unless other = bn(y2) */
    const spot_norm *a, *b;    /* of y and y2 */
} spot_norm_back;

struct spot_norm_ops {
    spot_status (*stats)(spot_ctx *c, const spot_norm *l, const float *y, spot_plane p, void *scratch);
    spot_status (*fixed)(spot_ctx *c, const spot_norm *l, int channels);
    spot_status (*apply)(spot_ctx *c, float *out, const float *y, const spot_norm *l, const float *other,
                         const spot_norm *other_norm, spot_plane p);
    spot_status (*pool)(spot_ctx *c, float *out, unsigned char *at, const float *y, const spot_norm *l, spot_plane p);
    spot_status (*back)(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch);
    spot_status (*pool_back)(spot_ctx *c, float *y, const float *da, const float *db, const float *out,
                             const unsigned char *at, const spot_norm *l, spot_plane p, void *scratch);
};

/* Bytes of scratch that stats, back and pool_back use. */
size_t spot_norm_scratch(spot_plane p);

/* Statistics of the live rows -> mean, invstd, scale, shift; the running ones move by 0.1, var unbiased (PyTorch). */
spot_status spot_norm_stats(spot_ctx *c, const spot_norm *l, const float *y, spot_plane p, void *scratch);

/* scale and shift from the running statistics. */
spot_status spot_norm_fixed(spot_ctx *c, const spot_norm *l, int channels);

/* out = relu(bn(y) + other); other NULL is 0, other_norm NULL leaves other as it is. */
spot_status spot_norm_apply(spot_ctx *c, float *out, const float *y, const spot_norm *l, const float *other,
                            const spot_norm *other_norm, spot_plane p);

/* out (rows, channels/B, (size/2)^2, B) = the largest of relu(bn(y)) in 3x3 windows, stride 2, padding 1; `at` says
 * which of the nine it was (the first of equals; the centre where none is above 0), NULL if nobody asks. p is y's
 * plane, of even size. */
spot_status spot_norm_pool(spot_ctx *c, float *out, unsigned char *at, const float *y, const spot_norm *l, spot_plane p);

spot_status spot_norm_backward(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch);

/* Back through the pool: the gradient of out is da + db; dy is written over y. */
spot_status spot_norm_pool_back(spot_ctx *c, float *y, const float *da, const float *db, const float *out,
                                const unsigned char *at, const spot_norm *l, spot_plane p, void *scratch);

#endif
