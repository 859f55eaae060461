/* dense.h - a linear layer that learns, and dropout (Srivastava et al. 2014, as PyTorch computes it).
 *
 *     forward   y = x w' + b, then max(0, y) with relu
 *     back      dz = dy where y > 0 (all of dy without relu), written over dy     dw = dz' x    db = sum of dz    dx = dz w
 *     drop      x = 0 with probability p, else x / (1 - p)
 *
 * x, dx (rows, in); y, dy (rows, out); w, dw (out, in), torchvision's order; b, db (out). All fp32, but w has the precision of
 * the shape: bf16 with SPOT_BF16. That is spot_dense_reads of the network's precision: on the CPU always SPOT_FP32. A NaN stays
 * NaN.
 *
 * On the CPU a number of forward, dw and dx is a sum over the inputs, rows or outputs in their order: of fp32 chains of 256
 * fused steps, which are added one after another. So it has the same bits for any number of threads, and a row's do not depend
 * on the others. The error against a sum in double is within 4e-6 of the largest number of the result.
 *
 * On CUDA cuBLASLt multiplies (linear.h): run_to_run, for each count of rows by one algorithm. Sums are fp32, with the same
 * error; with SPOT_BF16 x and dz are rounded for the products, and the error is that of the rounded operands; SPOT_TF32 may
 * lose 13 bits of each factor. dz and db have the CPU's bits where y and dy have. Arrays begin at multiples of 16 bytes.
 *
 * Whether number i of a tensor is dropped says word i % 4 of block (site, i / 4) of SPOT_RNG_DROPOUT, index *made: the same on
 * every device, and in both directions. */
#ifndef SPOTTER_DENSE_H
#define SPOTTER_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/conv.h"

typedef struct { int rows, in, out; bool relu; spot_precision precision; } spot_dense_shape;

/* Results and terms of back. dx NULL: not wanted; dw and db NULL: not wanted. */
typedef struct { float *dx, *dw, *db, *dy; const float *y, *x; const void *w; } spot_dense_gradients;

typedef struct {
    double     p;              /* 0: nothing is dropped */
    uint64_t   seed;
    uint32_t   number;         /* the EC's, or the training's */
    const int *made;           /* steps of the training so far, in the memory of c's device */
} spot_drop_rule;

enum { SPOT_DROP_SITES = 2 };  /* sites are 0 and 1 */

struct spot_dense_ops {
    size_t      (*scratch)(const spot_dense_shape *s);
    spot_status (*pack)(spot_ctx *c, void *packed, const float *w, const spot_dense_shape *s);
    spot_status (*forward)(spot_ctx *c, float *y, const float *x, const void *w, const float *b, const spot_dense_shape *s,
                           void *scratch);
    spot_status (*back)(spot_ctx *c, const spot_dense_gradients *g, const spot_dense_shape *s, void *scratch);
    spot_status (*drop)(spot_ctx *c, float *x, size_t count, const spot_drop_rule *rule, uint32_t below, int site);
};

/* The precision of shapes on c's device, in a network of that precision. */
static inline spot_precision spot_dense_reads(const spot_ctx *c, spot_precision precision)
{
    return c->device ? precision : SPOT_FP32;
}

/* Bytes of scratch for forward and back. */
size_t spot_dense_scratch(spot_ctx *c, const spot_dense_shape *s);

/* w (out, in) in fp32 -> the precision of the shape; both in the memory of c's device. */
spot_status spot_dense_pack(spot_ctx *c, void *packed, const float *w, const spot_dense_shape *s);

spot_status spot_dense_forward(spot_ctx *c, float *y, const float *x, const void *w, const float *b, const spot_dense_shape *s,
                               void *scratch);

spot_status spot_dense_back(spot_ctx *c, const spot_dense_gradients *g, const spot_dense_shape *s, void *scratch);

/* In place; x may also be a gradient. */
spot_status spot_dense_drop(spot_ctx *c, float *x, size_t count, const spot_drop_rule *rule, int site);

#endif
