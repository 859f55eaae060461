/* head.h - what stands behind the last block: average pooling, a linear layer, binary cross-entropy with logits.
 *
 *     feature[n,c] = mean over pixels of x      logit[n,o] = sum_c feature[n,c]*w[o,c] + b[o]
 *     loss = mean over (n,o) of max(z,0) - z*t + log(1 + exp(-|z|))
 *
 * x (rows, channels/B, size*size, B) as in conv.h; feature (live, channels); logit, target, dlogit (live, outputs);
 * w (outputs, channels). Sums in double, in order: within 1e-6 of the largest number of each
 * result; run_to_run. */
#ifndef SPOTTER_KERNELS_HEAD_H
#define SPOTTER_KERNELS_HEAD_H

#include "norm.h"

struct spot_head_ops {
    spot_status (*forward)(spot_ctx *c, float *feature, float *logit, const float *x, const float *w, const float *b,
                           spot_plane p, int outputs);
    spot_status (*loss)(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count);
    spot_status (*back)(spot_ctx *c, float *dx, float *dw, float *db, const float *dlogit, const float *feature,
                        const float *w, spot_plane p, int outputs);
};

/* b NULL leaves logit alone (features only); then w and logit may be NULL too. */
spot_status spot_head_forward(spot_ctx *c, float *feature, float *logit, const float *x, const float *w, const float *b,
                              spot_plane p, int outputs);

/* The sum of the losses divided by count, and its gradient (NULL: not asked for). count = live * outputs. */
spot_status spot_head_loss(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count);

/* dx of the rows behind `live` is 0. */
spot_status spot_head_backward(spot_ctx *c, float *dx, float *dw, float *db, const float *dlogit, const float *feature,
                               const float *w, spot_plane p, int outputs);

#endif
