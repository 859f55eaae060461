/* head.h - the layers after the last block: average pooling, a linear layer, binary cross-entropy with logits.
 *
 *     feature[n,c] = mean over pixels of x      logit[n,o] = sum_c feature[n,c]*w[o,c] + b[o]
 *     loss = mean over (n,o) of max(z,0) - z*t + log(1 + exp(-|z|))
 *
 * Layout and type of x and dx are conv.h's: on the CPU (rows, channels/B, size*size, B) in fp32, (rows, size*size, channels)
 * in bf16 and on CUDA. All others are fp32: feature (live, channels); logit, target, dlogit (live, outputs); w (outputs,
 * channels). Sums are in double, in an order that the shape fixes: within 1e-6 of the largest number of each result;
 * run_to_run. In bf16 dx is rounded once (2^-8 of each number). The loss lies in the memory of c's device, so that no training
 * step has to wait for it. */
#ifndef SPOTTER_HEAD_H
#define SPOTTER_HEAD_H

#include "net/norm.h"

struct spot_head_ops {
    spot_status (*forward)(spot_ctx *c, float *feature, float *logit, const void *x, const float *w, const float *b,
                           spot_plane p, int outputs);
    spot_status (*loss)(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count);
    spot_status (*back)(spot_ctx *c, void *dx, float *dw, float *db, const float *dlogit, const float *feature,
                        const float *w, spot_plane p, int outputs);
};

/* b NULL: features only; then w and logit may be NULL, too. */
spot_status spot_head_forward(spot_ctx *c, float *feature, float *logit, const void *x, const float *w, const float *b,
                              spot_plane p, int outputs);

/* The sum of the losses divided by count, and its gradient (may be NULL). count = live * outputs. */
spot_status spot_head_loss(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count);

/* dx of the rows from `live` on is 0. */
spot_status spot_head_backward(spot_ctx *c, void *dx, float *dw, float *db, const float *dlogit, const float *feature,
                               const float *w, spot_plane p, int outputs);

#endif
