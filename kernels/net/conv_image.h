/* conv_image.h - the gradient of a convolution by an image of 3 channels, on the CPU; oneDNN lacks it for planes. */
#ifndef SPOTTER_CONV_IMAGE_H
#define SPOTTER_CONV_IMAGE_H

#include "net/conv.h"

/* Bytes for a call. */
size_t spot_conv_image_scratch(const spot_conv_shape *s);

/* dy (rows, co/B, out*out, B), w packed (co/B, k, k, 3, B) -> dx (rows, 3, size*size); in bf16 dy (rows, out*out, co),
 * w (co/16, k, k, 3, 16) -> dx (rows, size*size, 3). An image's bits depend neither on the others nor on lanes and threads. */
void spot_conv_image_gradient(spot_ctx *c, const spot_conv_shape *s, void *dx, const void *dy, const void *w, int rows,
                              void *scratch);

#endif
