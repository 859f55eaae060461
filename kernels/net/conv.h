/* conv.h - 2-D convolution and its two gradients, cut into lanes.
 *
 *     y[n,o] = sum_i x[n,i] * w[o,i] (+ bias[o]) (+ other[n,o]) (ReLU)   padding k/2, stride 1 or 2, square images
 *
 * AlexNet's first layer, 11x11 of stride 4 on 3 channels, has a padding of 2.
 *
 * x (rows, ci, size, size), w (co, ci, k, k), y (rows, co, out, out). The device defines layout and type of activations, the
 * same for conv, norm and head:
 *
 *     CPU    fp32: (rows, channels/B, pixels, B), B = SPOT_CHANNELS, the width of a vector register. A plan with 3 input
 *            channels takes planes (rows, 3, pixels)
 *            bf16, on a CPU with AVX512-BF16: (rows, pixels, channels), NHWC, which oneDNN computes by AMX where the CPU has it
 *     CUDA   (rows, pixels, channels), NHWC; fp32, or bf16 by the shape's precision. A plan with 3 input channels takes the
 *            blocks of 2 x 2 pixels of core/stem.h, 16 channels: the stem's 7x7 taps at stride 2 are 4x4 at stride 1, two
 *            thirds of the products of 8 channels a pixel, half of the bytes, and cuDNN offers the engines of the 3x3 layers
 *            (tests/cudnn). Weights outside the 7x7 taps are 0, and so are their gradients. One of stride 1, for inference
 *            alone, puts the pixels row by row first
 *
 * spot_conv_planes makes the input of a network from pixels. Sums are fp32 for every type of activation. Weights are packed,
 * in an order that only pack and unpack know; with train the CPU's have as many numbers as (co, ci, k, k). A convolution reads
 * them in the type of the activations. Learned weights have an fp32 copy (spot_optim_step rounds it) and fp32 gradients. bias
 * is fp32, and begins at a multiple of 16 bytes on a GPU.
 *
 * A batch is `lanes` pieces of rows/lanes images. One thread computes a piece; the weight gradients of the pieces are added
 * in lane order. Same bits for any number of threads (run_to_run). A call may take fewer rows than the plan has, in whole
 * pieces; it neither reads nor writes the rows after them. On a GPU lanes is 1.
 *
 * 3x3 convolutions of stride 1 use Winograd's F(4x4, 3x3) (Lavin and Gray 2016) where that is faster for the plan's shape: with
 * AVX-512 oneDNN's; with AVX2, which oneDNN has none for, and without train, conv_winograd.h's. The error against a sum in
 * double is within 4e-6 of the largest value of the result; for direct convolutions within 1e-6, with AVX2 2e-6
 * (tests/test_conv.c). Through all of ResNet-18 gradients are 3.6e-6 from double precision, with direct convolutions 2.3e-6,
 * with PyTorch's fp32 6.0e-6 (tests/test_resnet.c). A NaN stays NaN, except that oneDNN's ReLU (a plan with relu) may make it
 * 0. CUDA has the same errors in fp32. In bf16 a result differs from the sum of the products of the rounded operands by at most
 * half of its last place (2^-8 of it) and 4e-6 of the largest. */
#ifndef SPOTTER_CONV_H
#define SPOTTER_CONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ops.h"
#include "net/conv_shape.h"

#if defined(__AVX512F__)
#define SPOT_CHANNELS 16   /* of one block: a vector register of floats */
#else
#define SPOT_CHANNELS 8
#endif
#define SPOT_MAX_LANES 64

typedef struct spot_conv spot_conv;

/* y = w * x + bias + other */
typedef struct { const void *x, *w; const float *bias; const void *other; } spot_conv_terms;

/* An array that a network has beside the weights of its convolutions, as a norm's: `count` numbers go from `from` to `to`. */
typedef struct { float *to; const float *from; size_t count; } spot_conv_part;

struct spot_conv_ops {
    int  stem;                 /* channels that a pixel of the network's input takes */
    bool apart;                /* `other` must not be y; if false, it must be */
    bool onto;                 /* backward_data can add to dx */
    spot_status (*open)(spot_ctx *c, spot_conv **plan, const spot_conv_shape *shape);
    void        (*close)(spot_conv *plan);
    size_t      (*scratch)(const spot_conv *plan);
    size_t      (*packed)(const spot_conv *plan);
    uint64_t    (*made_with)(spot_ctx *c, const spot_conv *plan);
    spot_status (*keep_in)(spot_ctx *c, const char *folder);      /* NULL, as on the CPU: there is no choice to keep */
    const char *(*kept_in)(const spot_ctx *c);
    spot_status (*planes)(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                          spot_precision precision);
    spot_status (*pack)(spot_ctx *c, const spot_conv *plan, void *packed, const float *oihw);
    spot_status (*unpack)(spot_ctx *c, const spot_conv *plan, float *oihw, const float *packed);
    spot_status (*copy_parts)(spot_ctx *c, const spot_conv_part *part, int count);
    spot_status (*forward)(spot_ctx *c, const spot_conv *plan, void *y, const spot_conv_terms *t, int rows, void *scratch);
    spot_status (*backward_data)(spot_ctx *c, const spot_conv *plan, void *dx, const void *dy, const void *w,
                                 int rows, void *scratch);
    spot_status (*backward_weights)(spot_ctx *c, const spot_conv *plan, float *dw, const void *x, const void *dy,
                                    int rows, void *scratch);
};

/* Whether c's device computes in this precision: the CPU not in tf32, and in bf16 only with AVX512-BF16. able fails with
 * SPOT_UNSUPPORTED and a sentence where it does not. */
bool        spot_conv_has(const spot_ctx *c, spot_precision precision);
spot_status spot_conv_able(spot_ctx *c, spot_precision precision);

/* *plan is NULL after a failure; close accepts NULL. A plan serves one caller at a time. */
spot_status spot_conv_open(spot_ctx *c, spot_conv **plan, const spot_conv_shape *shape);
void        spot_conv_close(spot_ctx *c, spot_conv *plan);
const spot_conv_shape *spot_conv_shape_of(const spot_conv *plan);

/* Bytes of scratch that every call with this plan may use, aligned as a piece of an arena. */
size_t spot_conv_scratch(spot_ctx *c, const spot_conv *plan);

/* The count of packed weights. Without train it may be four times (co, ci, k, k): Winograd's transform of them. */
size_t spot_conv_packed(spot_ctx *c, const spot_conv *plan);

/* A hash of the library's kernels that a plan uses; plan NULL: the sum for all plans that c has opened so far. Equal hashes
 * mean equal rounding. 0 where there is no choice, as on the CPU. */
uint64_t spot_conv_made_with(spot_ctx *c, const spot_conv *plan);

/* The folder of a run, which is there, for the library's choice of kernels: plans that c opens from now on take what is kept
 * there, and what they choose is kept there, so that all processes of the run round alike (conv_stored.cu). "": no run's.
 * kept_in: the folder; "" for none, as on the CPU, where keep_in does nothing. */
spot_status spot_conv_keep_in(spot_ctx *c, const char *folder);
const char *spot_conv_kept_in(const spot_ctx *c);

/* pixels (live, count, 3) -> the input of a plan with 3 channels. Its rows from `live` on become 0. */
spot_status spot_conv_planes(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                             spot_precision precision);

/* Input channels of x and of packed weights: the shape's, or `stem` of the device for 3. */
int spot_conv_inputs(const spot_ctx *c, const spot_conv_shape *shape);

/* Converts torchvision's (co, ci, k, k) to packed weights, and back, both in the memory of c's device. With train packed
 * weights are the learned fp32. Without it pack rounds to the type that forward reads, and unpack is SPOT_INVALID. */
spot_status spot_conv_pack  (spot_ctx *c, const spot_conv *plan, void *packed, const float *oihw);
spot_status spot_conv_unpack(spot_ctx *c, const spot_conv *plan, float *oihw, const float *packed);

/* Copies all parts, which lie in the memory of c's device and do not overlap: a GPU by one launch for 160 of them, where a copy
 * of each would be a call and a wait. */
spot_status spot_conv_copy_parts(spot_ctx *c, const spot_conv_part *part, int count);

/* bias and other are NULL unless the plan has them. spot_conv_apart: true, other must not be y; false, it must be y. */
spot_status spot_conv_forward(spot_ctx *c, const spot_conv *plan, void *y, const spot_conv_terms *t, int rows,
                              void *scratch);
bool        spot_conv_apart(const spot_ctx *c);

/* With add in the plan, dx already holds a gradient and receives the sum, which is rounded once. spot_conv_onto: whether c's
 * device makes such plans; on others, as the CPU, open is SPOT_UNSUPPORTED. */
spot_status spot_conv_backward_data(spot_ctx *c, const spot_conv *plan, void *dx, const void *dy, const void *w,
                                    int rows, void *scratch);
bool        spot_conv_onto(const spot_ctx *c);
spot_status spot_conv_backward_weights(spot_ctx *c, const spot_conv *plan, float *dw, const void *x, const void *dy,
                                       int rows, void *scratch);

#endif
