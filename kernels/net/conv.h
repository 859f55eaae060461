/* conv.h - 2-D convolution and its two gradients, cut into lanes.
 *
 *     y[n,o] = sum_i x[n,i] * w[o,i] (+ bias[o]) (+ other[n,o]) (ReLU)   padding k/2, stride 1 or 2, square images
 *
 * x (rows, ci, size, size), w (co, ci, k, k), y (rows, co, out, out). How activations lie and what they are made of is
 * the device's affair, the same for conv, norm and head:
 *
 *     CPU    (rows, channels/B, pixels, B), B = SPOT_CHANNELS, what the vector registers want; fp32. A plan with 3 input
 *            channels takes planes (rows, 3, pixels)
 *     CUDA   (rows, pixels, channels), NHWC: one block of all channels; fp32, or bf16 where the shape's precision says
 *            so. A plan with 3 input channels takes pixels of 8, the last five 0: 16 bytes in bf16, which every engine
 *            of cuDNN takes. On paper that costs 70 us in each of the stem's two passes over 256 images of 224 pixels:
 *            161 GFLOP, 204 us at 790 TFLOP/s, where 12 channels of half as many pixels would be 105 GFLOP in 133 us
 *            (4x4 taps), and the bytes alone need 120 us. None of it was measured
 *
 * spot_conv_planes makes a network's input from the pixels of images. Sums are fp32 whatever the activations are.
 * Weights lie packed, in an order that only pack and unpack know, in a plan with train as many numbers as (co, inputs, k,
 * k). A convolution reads them as numbers of the activations' type; those that are learned are fp32 besides
 * (spot_optim_step rounds them), and so are their gradients. bias is fp32.
 *
 * A batch is `lanes` pieces of rows/lanes images. Each piece is computed by one thread; the weight gradients of the
 * pieces are added in lane order. Same bits for any number of threads (run_to_run). A call may take fewer rows than
 * the plan has, in whole pieces: what is behind them is neither read nor written. A GPU takes the batch in one piece:
 * there lanes is 1.
 *
 * 3x3 convolutions of stride 1 go by Winograd's F(4x4, 3x3) (Lavin and Gray 2016) where the plan's shape makes that
 * faster. Against a sum in double the error is within 4e-6 of the largest value of the result; of direct ones within
 * 1e-6, with AVX2 2e-6 (tests/test_conv.c). Through the whole of ResNet-18 that leaves gradients 3.6e-6 from double
 * precision where direct convolutions leave 2.3e-6 and PyTorch's fp32 6.0e-6 (tests/test_resnet.c). A NaN comes
 * through, but for a plan with relu, which may make it 0: oneDNN's does. CUDA is as near to double in fp32; in bf16
 * every result is off by half of its last place (2^-9 of it) and 4e-6 of the largest, from the sum of the products of
 * the rounded operands. */
#ifndef SPOTTER_CONV_H
#define SPOTTER_CONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ops.h"
#include "spotter/model.h"

#if defined(__AVX512F__)
#define SPOT_CHANNELS 16   /* of one block: a vector register of floats */
#else
#define SPOT_CHANNELS 8
#endif
#define SPOT_MAX_LANES 64

typedef struct {
    int rows, lanes;           /* rows a multiple of lanes */
    int ci, co, k, stride;     /* channels: 3 (ci only) or a multiple of 16 */
    int size;                  /* of x: height = width; a multiple of stride */
    int  train;                /* 0; 1: with gradients, that of x only where ci > 3; 2: of an image's 3 channels, too */
    bool bias, add, relu;      /* without train: y = relu(conv + bias + other) */
    spot_precision precision;  /* of x, w and y; SPOT_TF32: fp32 whose products may lose 13 bits */
} spot_conv_shape;

typedef struct spot_conv spot_conv;

struct spot_conv_ops {
    int  stem;                 /* channels that a pixel of the network's input takes */
    bool apart;                /* `other` must not be y; if false, it must be */
    spot_status (*open)(spot_ctx *c, spot_conv **plan, const spot_conv_shape *shape);
    void        (*close)(spot_conv *plan);
    size_t      (*scratch)(const spot_conv *plan);
    size_t      (*packed)(const spot_conv *plan);
    uint64_t    (*made_with)(spot_ctx *c, const spot_conv *plan);
    spot_status (*planes)(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                          spot_precision precision);
    spot_status (*pack)(spot_ctx *c, const spot_conv *plan, void *packed, const float *oihw);
    spot_status (*unpack)(spot_ctx *c, const spot_conv *plan, float *oihw, const float *packed);
    spot_status (*forward)(spot_ctx *c, const spot_conv *plan, void *y, const void *x, const void *w,
                           const float *bias, const void *other, int rows, void *scratch);
    spot_status (*backward_data)(spot_ctx *c, const spot_conv *plan, void *dx, const void *dy, const void *w,
                                 int rows, void *scratch);
    spot_status (*backward_weights)(spot_ctx *c, const spot_conv *plan, float *dw, const void *x, const void *dy,
                                    int rows, void *scratch);
};

/* *plan is NULL after a failure; close accepts NULL. A plan serves one caller at a time. */
spot_status spot_conv_open(spot_ctx *c, spot_conv **plan, const spot_conv_shape *shape);
void        spot_conv_close(spot_ctx *c, spot_conv *plan);
const spot_conv_shape *spot_conv_shape_of(const spot_conv *plan);

/* Bytes of scratch that every call with this plan may use, 64-byte aligned. */
size_t spot_conv_scratch(spot_ctx *c, const spot_conv *plan);

/* Packed weights, in numbers. Without train it may be four times (co, ci, k, k): Winograd's transform of them. */
size_t spot_conv_packed(spot_ctx *c, const spot_conv *plan);

/* A hash of which of a library's kernels a plan was given, with plan NULL of all plans that c has opened so far: results
 * of equal hashes were rounded alike. 0 where there is no choice, as on the CPU. Sums of hashes are hashes, too. */
uint64_t spot_conv_made_with(spot_ctx *c, const spot_conv *plan);

/* pixels (live, count, 3) -> the input of a plan with 3 channels, whose rows behind `live` become 0. */
spot_status spot_conv_planes(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                             spot_precision precision);

/* Input channels as they lie in x and in packed weights: the shape's, or `stem` of the device for 3. */
int spot_conv_inputs(const spot_ctx *c, const spot_conv_shape *shape);

/* Bytes of one number of an activation. */
static inline size_t spot_precision_bytes(spot_precision p) { return p == SPOT_BF16 ? 2 : 4; }

/* Between torchvision's (co, ci, k, k), on the host, and packed weights on c's device. In a plan with train these are the
 * fp32 that are learned; without, pack rounds to what forward reads, and there is no way back. */
spot_status spot_conv_pack  (spot_ctx *c, const spot_conv *plan, void *packed, const float *oihw);
spot_status spot_conv_unpack(spot_ctx *c, const spot_conv *plan, float *oihw, const float *packed);

/* bias and other are NULL unless the plan has them. Whether other may be y is the device's affair: spot_conv_apart. */
spot_status spot_conv_forward(spot_ctx *c, const spot_conv *plan, void *y, const void *x, const void *w,
                              const float *bias, const void *other, int rows, void *scratch);
bool        spot_conv_apart(const spot_ctx *c);
spot_status spot_conv_backward_data(spot_ctx *c, const spot_conv *plan, void *dx, const void *dy, const void *w,
                                    int rows, void *scratch);
spot_status spot_conv_backward_weights(spot_ctx *c, const spot_conv *plan, float *dw, const void *x, const void *dy,
                                       int rows, void *scratch);

#endif
