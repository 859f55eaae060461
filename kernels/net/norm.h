/* norm.h - batch normalisation fused with ReLU, the residual and the stem's pooling. Each tensor is read and written as rarely
 * as the mathematics allows: one pass for the statistics, one to apply, two backward.
 *
 *     bn(y) = scale*y + shift,    scale = weight/sqrt(var + 1e-5),    shift = bias - mean*scale
 *
 * Layout and type of tensors are conv.h's: on the CPU (rows, channels/B, size*size, B) in fp32, (rows, size*size, channels) in
 * bf16 and on CUDA. Numbers per channel are fp32 on both, and such an array begins at a multiple of 16 bytes. Rows from `live`
 * on pad a batch: they enter no sum, and 0 is written for them. Sums for statistics are of y minus the first pixel, in fp32
 * over at most 256 pixels, then in double: on the CPU by planes and images, on CUDA by tiles of the batch (spot_norm_tiles),
 * always in order. Same bits for any number of threads or blocks and any GPU. Mean and invstd are within 1e-6 of double
 * precision (1e-5 on the CPU where the first pixel is four deviations from the mean), gradients within 1e-6 of their largest;
 * out within 2^-22 of |y|*scale, because y*scale + shift cancels (in PyTorch, too). In bf16 this holds for the arithmetic, and
 * each written tensor is rounded once (2^-8 of each number). A NaN stays NaN. */
#ifndef SPOTTER_NORM_H
#define SPOTTER_NORM_H

#include "net/conv.h"

typedef struct {
    int rows, live, channels, size;
    spot_precision precision;  /* of the tensors */
} spot_plane;

/* One layer; every array is (channels). */
typedef struct {
    float *weight, *bias, *running_mean, *running_var;
    float *mean, *invstd;      /* of the batch */
    float *scale, *shift;      /* for apply */
    float *dweight, *dbias;
} spot_norm;

/* The backward step of out = relu(bn(y) + other); other is 0, a tensor, or bn(y2).
 *     dz = (da + db) where out > 0; dy and dy2 follow, written over y and y2. */
typedef struct {
    const void *da, *db;       /* the gradient of out, in two parts; db may be NULL */
    const void *out;           /* NULL where other = 0; then y gives the sign */
    void       *dz;            /* NULL where other = 0; may be da or db itself */
    void       *y,  *y2;       /* y2 NULL unless other = bn(y2) */
    const spot_norm *a, *b;    /* of y and y2 */
} spot_norm_back;

/* The backward step of the pool: the gradient of out is da + db; db may be NULL; dy is written over y. */
typedef struct { void *y; const void *da, *db, *out; const unsigned char *at; } spot_norm_pooled;

/* A norm with its running statistics, folded into the weights of the convolution before it:
 *     folded = w * k, shift = bias - mean * k, k = weight / sqrt(var + 1e-5)
 * in double, then rounded: the same bits on every device. size is for a check of such numbers, within 1e-12 of itself. */
typedef struct {
    const float *w;            /* (channels, each) */
    const float *weight, *bias, *mean, *var;   /* (channels) */
    float  *folded, *shift;    /* (channels, each), not w itself; (channels) */
    double *size;              /* (channels, 2): the sum of |folded| of a channel, and its |shift| */
    int     channels;
    size_t  each;
} spot_norm_folding;

struct spot_norm_ops {
    spot_status (*stats)(spot_ctx *c, const spot_norm *l, const void *y, spot_plane p, void *scratch);
    spot_status (*fixed)(spot_ctx *c, const spot_norm *l, int channels);
    spot_status (*apply)(spot_ctx *c, void *out, const void *y, const spot_norm *l, const void *other,
                         const spot_norm *other_norm, spot_plane p);
    spot_status (*pool)(spot_ctx *c, void *out, unsigned char *at, const void *y, const spot_norm *l, spot_plane p);
    spot_status (*back)(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch);
    spot_status (*pool_back)(spot_ctx *c, const spot_norm_pooled *b, const spot_norm *l, spot_plane p, void *scratch);
    spot_status (*fold)(spot_ctx *c, const spot_norm_folding *f);
};

/* Bytes of scratch for stats, back and pool_back, on every device. */
size_t spot_norm_scratch(spot_plane p);

/* The number of pieces into which CUDA cuts the pixels of a batch: one per 256 pixels, at most 1024. */
static inline int spot_norm_tiles(size_t pixels)
{
    return pixels > 1024 * 256 ? 1024 : (int)((pixels + 255) / 256);
}

/* Statistics of the live rows -> mean, invstd, scale, shift; the running ones move by 0.1, var unbiased (PyTorch). */
spot_status spot_norm_stats(spot_ctx *c, const spot_norm *l, const void *y, spot_plane p, void *scratch);

/* scale and shift from the running statistics. */
spot_status spot_norm_fixed(spot_ctx *c, const spot_norm *l, int channels);

/* out = relu(bn(y) + other); other NULL is 0, other_norm NULL leaves other as it is. */
spot_status spot_norm_apply(spot_ctx *c, void *out, const void *y, const spot_norm *l, const void *other,
                            const spot_norm *other_norm, spot_plane p);

/* out (rows, channels/B, (size/2)^2, B) = the largest of relu(bn(y)) in 3x3 windows, stride 2, padding 1. `at` is its index
 * among the nine (the first of equals; the centre where none is above 0); may be NULL. p is y's plane, of even size. */
spot_status spot_norm_pool(spot_ctx *c, void *out, unsigned char *at, const void *y, const spot_norm *l, spot_plane p);

spot_status spot_norm_backward(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch);

spot_status spot_norm_pool_back(spot_ctx *c, const spot_norm_pooled *b, const spot_norm *l, spot_plane p, void *scratch);

/* All arrays lie in the memory of c's device. */
spot_status spot_norm_fold(spot_ctx *c, const spot_norm_folding *f);

#endif
