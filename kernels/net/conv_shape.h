/* conv_shape.h - the shape of a convolution (conv.h). */
#ifndef SPOTTER_CONV_SHAPE_H
#define SPOTTER_CONV_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/model.h"

typedef struct {
    int rows, lanes;           /* rows a multiple of lanes */
    int ci, co, k, stride;     /* channels: 3 (ci only) or a multiple of 16 */
    int size;                  /* of x: height = width; a multiple of stride */
    int  train;                /* 0: no gradients; 1: gradients, by x only where ci > 3; 2: also by an image's 3 channels */
    bool bias, add, relu;      /* without train: y = relu(conv + bias + other). With train only add: backward_data adds to dx */
    spot_precision precision;  /* of x, w and y; SPOT_TF32: fp32 whose products may lose 13 bits */
} spot_conv_shape;

/* Padding of each side, and the side of y. */
static inline int spot_conv_pad(const spot_conv_shape *s) { return s->k == 11 ? 2 : s->k / 2; }
static inline int spot_conv_out(const spot_conv_shape *s) { return (s->size + 2 * spot_conv_pad(s) - s->k) / s->stride + 1; }

/* Bytes of one number of an activation. */
static inline size_t spot_precision_bytes(spot_precision p) { return p == SPOT_BF16 ? 2 : 4; }

#endif
