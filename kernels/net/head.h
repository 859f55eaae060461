/* head.h - the layers after the last block: average pooling, a linear layer, a loss; and how active channels are.
 *
 *     feature[n,c] = mean over pixels of x      logit[n,o] = sum_c feature[n,c]*w[o,c] + b[o]
 *     loss     mean over (n,o) of max(z,0) - z*t + log(1 + exp(-|z|)): binary cross-entropy, a sigmoid for each output
 *     softmax  mean over n of sum_o t*(log(sum_k exp(z_k)) - z): cross-entropy; t: a row is a distribution
 *     channels (feature[n,c] - least of x[n]) / (greatest of x[n] - least); 0 where all numbers of x[n] are equal
 *
 * A loss on the features has a gradient of its own by them, dfeature, which joins that of the logits in dx.
 *
 * Layout and type of x and dx are conv.h's: on the CPU (rows, channels/B, size*size, B) in fp32, (rows, size*size, channels)
 * in bf16 and on CUDA. All others are fp32: feature, dfeature (live, channels); logit, target, dlogit (live, outputs); w
 * (outputs, channels). Sums are in double, in an order that the shape fixes: within 1e-6 of the largest number of each
 * result; run_to_run. In bf16 dx is rounded once (2^-8 of each number). The loss lies in the memory of c's device, so that no
 * training step has to wait for it. */
#ifndef SPOTTER_HEAD_H
#define SPOTTER_HEAD_H

#include "core/hd.h"
#include "net/norm.h"

/* A channel's mean, on the scale from the least to the greatest number of its image. */
static inline SPOT_HD float spot_head_scaled(float mean, float least, float most)
{
    return most > least ? (float)(((double)mean - least) / ((double)most - least)) : mean - mean;      /* keeps a NaN */
}

/* Results and terms of forward. b NULL: features only; then w and logit may be NULL, too. */
typedef struct { float *feature, *logit; const void *x; const float *w, *b; } spot_head_answers;

/* Results and terms of back. dx of the rows from `live` on is 0. dfeature: NULL, or added to the gradient by the features. */
typedef struct { void *dx; float *dw, *db; const float *dlogit, *feature, *w, *dfeature; } spot_head_gradients;

struct spot_head_ops {
    spot_status (*forward)(spot_ctx *c, const spot_head_answers *a, spot_plane p, int outputs);
    spot_status (*loss)(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count);
    spot_status (*softmax)(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int live,
                           int outputs);
    spot_status (*back)(spot_ctx *c, const spot_head_gradients *g, spot_plane p, int outputs);
    spot_status (*channels)(spot_ctx *c, float *activity, int stride, const void *x, spot_plane p, bool relu);
};

spot_status spot_head_forward(spot_ctx *c, const spot_head_answers *a, spot_plane p, int outputs);

/* The sum of the losses divided by count, and its gradient (may be NULL). count = live * outputs. */
spot_status spot_head_loss(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count);

/* The same by softmax. loss and dlogit are NaN where a logit of the row is. */
spot_status spot_head_softmax(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int live,
                              int outputs);

spot_status spot_head_backward(spot_ctx *c, const spot_head_gradients *g, spot_plane p, int outputs);

/* activity (live, stride): the first p.channels of each row are written. relu: negative numbers of x count as 0. */
spot_status spot_head_channels(spot_ctx *c, float *activity, int stride, const void *x, spot_plane p, bool relu);

#endif
