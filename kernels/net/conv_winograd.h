/* conv_winograd.h - 3x3 convolutions of stride 1 for inference in fp32 by Winograd's F(4x4, 3x3), on CPUs for which oneDNN has
 * none: those without AVX-512. 4 x 4 outputs take 36 products a channel in place of 144. */
#ifndef SPOTTER_CONV_WINOGRAD_H
#define SPOTTER_CONV_WINOGRAD_H

#include "net/conv.h"

/* False in a program built without AVX2, and with AVX-512, and for a picture's three channels. */
bool spot_conv_winograd_able(const spot_conv_shape *s);

/* Numbers of packed weights; bytes of a thread's scratch. */
size_t spot_conv_winograd_packed(const spot_conv_shape *s);
size_t spot_conv_winograd_scratch(const spot_conv_shape *s);

void spot_conv_winograd_pack(spot_ctx *c, const spot_conv_shape *s, float *packed, const float *oihw);

/* y = the convolution of x, with the plan's bias, its sum with y, and its ReLU. threads: as many have scratch. The same bits
 * for any number of them. */
void spot_conv_winograd(const spot_conv_shape *s, float *y, const spot_conv_terms *t, int rows, int threads, void *scratch);

#endif
