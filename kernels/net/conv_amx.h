/* conv_amx.h - the gradient of a convolution by its weights in bf16, by AMX. oneDNN 2.6 waits for memory there: on a Xeon with
 * two cores it takes half of a training step of ResNet-18.
 *
 * The pixels of a batch form one row of numbers, so that each tap is one matrix product, dy (co, pixels) by x (pixels, ci)
 * moved by the tap's offset. Rows and images are set apart by one pixel and one row of 0, where a tap leaves the image. A
 * stride of 2 makes x four rows of numbers, of even and odd places. For an image's 3 channels the numbers under a row of taps
 * are copied out, 3k of them for each pixel of dy, and the product is one a row of taps. */
#ifndef SPOTTER_CONV_AMX_H
#define SPOTTER_CONV_AMX_H

#include "net/conv.h"

/* Whether this CPU has AMX, and the shape is for training in bf16; 7x7 only for 3 channels. */
bool spot_conv_amx_able(const spot_conv_shape *s);

/* Bytes of scratch, aligned as a piece of an arena. */
size_t spot_conv_amx_scratch(const spot_conv_shape *s);

/* x (rows, size*size, ci), dy (rows, out*out, co) -> dw (co/16, ci/16, k, k, 16 co, 16 ci), for 3 channels
 * (co/16, k, k, 3, 16), fp32. The bits do not depend on the number of threads. */
void spot_conv_amx_weights(spot_ctx *c, const spot_conv_shape *s, float *dw, const void *x, const void *dy, int rows,
                           void *scratch);

/* Whether the forward pass, or the data gradient (back), is faster here, too: 3x3 with many channels. */
bool spot_conv_amx_deep(const spot_conv_shape *s, bool back);

size_t spot_conv_amx_product_scratch(const spot_conv_shape *s);

/* y = x by w, finished as the shape says, or back: dx (written to y) = dy (x) by w. w: (out/16, 3, 3, in/32, 16 pairs of in, 16
 * out, 2); back, out are x's channels and in are y's. bias is NULL unless the shape has it. */
void spot_conv_amx_product(spot_ctx *c, const spot_conv_shape *s, bool back, void *y, const void *x, const void *w,
                           const float *bias, int rows, void *scratch);

#endif
