/* layernorm.h - each row on its own: y = (x - mean) / sqrt(var + eps) * weight + bias.
 *
 * x (rows, width) fp32; y the same, fp32 or bf16, and may be x itself if it is fp32. Mean and variance are fp32, of the row in
 * 16 interleaved parts, the variance of x - mean: within 2e-6 of the largest |y| of double precision. gpu_to_gpu: CUDA
 * has the CPU's bits. A NaN stays NaN. */
#ifndef SPOTTER_LAYERNORM_H
#define SPOTTER_LAYERNORM_H

#include "net/conv.h"

typedef struct {
    int   width;
    float eps;
    const float *weight, *bias;      /* (width) */
} spot_layernorm;

struct spot_layernorm_ops {
    spot_status (*apply)(spot_ctx *c, void *y, const float *x, const spot_layernorm *l, int rows, spot_precision precision);
};

/* precision: of y. */
spot_status spot_layernorm_apply(spot_ctx *c, void *y, const float *x, const spot_layernorm *l, int rows,
                                 spot_precision precision);

#endif
