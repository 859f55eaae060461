/* linear.h - rows times a layer's weights: y = act(x w' + bias), or y += x w' + bias.
 *
 * x (rows, in), w (out, in), bias (out), y (rows, out); one plan serves every layer of a shape. x and w have the plan's
 * precision. y is fp32, or of that precision with `narrow`. Weights are packed, in an order that only pack knows. Sums are
 * fp32.
 *
 * Rows are computed in pieces of a size that the plan fixes: the same bits for any number of threads. x and y have room for
 * `rows` rounded up to a multiple of SPOT_LINEAR_ROWS; rows behind the last are read and written, and mean nothing. The error
 * against a sum in double is within 2e-6 of the largest number of the result (tests/test_transformer.c); in bf16 that of the
 * rounded operands, and narrow results are rounded once. A NaN stays NaN.
 *
 * On CUDA cuBLASLt multiplies, with the same errors in fp32 and bf16; SPOT_TF32 may lose 13 bits of each factor, on CUDA alone.
 * There a narrow layer in bf16 without an activation rounds its bias to bf16, too: the library takes no other beside a bf16 y.
 * One algorithm of the library's serves a plan: run_to_run, and the bits of a row do not depend on the count of rows unless the
 * library refuses that algorithm for a count. Nothing behind the last row is read or written. Every array begins at a multiple
 * of 16 bytes, or the call is SPOT_INVALID. */
#ifndef SPOTTER_LINEAR_H
#define SPOTTER_LINEAR_H

#include "net/conv.h"

enum { SPOT_LINEAR_ROWS = 16 };

/* QUICK_GELU: z / (1 + exp(-1.702 z)). GELU: z (1 + erf(z / sqrt(2))) / 2. */
typedef enum { SPOT_ACT_NONE, SPOT_ACT_QUICK_GELU, SPOT_ACT_GELU } spot_activation;

typedef struct {
    int  in, out;
    bool bias, add;                  /* add: y += ...; not with an activation or narrow */
    bool narrow;                     /* y in `precision` */
    spot_activation activation;
    spot_precision precision;
} spot_linear_shape;

typedef struct spot_linear spot_linear;

struct spot_linear_ops {
    spot_status (*open)(spot_ctx *c, spot_linear **plan, const spot_linear_shape *shape);
    void        (*close)(spot_linear *plan);
    size_t      (*packed)(const spot_linear *plan);
    size_t      (*scratch)(const spot_linear *plan);
    spot_status (*pack)(spot_ctx *c, const spot_linear *plan, void *packed, const float *w);
    spot_status (*forward)(spot_ctx *c, const spot_linear *plan, void *y, const void *x, const void *w, const float *bias,
                           int rows, void *scratch);
};

/* `rows` as x and y must have room for. */
static inline size_t spot_linear_room(size_t rows)
{
    return (rows + SPOT_LINEAR_ROWS - 1) / SPOT_LINEAR_ROWS * SPOT_LINEAR_ROWS;
}

/* *plan is NULL after a failure; close accepts NULL. A plan serves one caller at a time. */
spot_status spot_linear_open(spot_ctx *c, spot_linear **plan, const spot_linear_shape *shape);
void        spot_linear_close(spot_ctx *c, spot_linear *plan);

/* Bytes of packed weights, and of scratch for every call; both aligned as pieces of an arena. */
size_t spot_linear_packed(spot_ctx *c, const spot_linear *plan);
size_t spot_linear_scratch(spot_ctx *c, const spot_linear *plan);

/* w (out, in) on the host -> packed weights on c's device. */
spot_status spot_linear_pack(spot_ctx *c, const spot_linear *plan, void *packed, const float *w);

spot_status spot_linear_forward(spot_ctx *c, const spot_linear *plan, void *y, const void *x, const void *w, const float *bias,
                                int rows, void *scratch);

#endif
