/* source_draw.h - the rest of what is asked of an EC, in the terms of kernels/image/sample.h. */
#ifndef SPOTTER_SOURCE_DRAW_H
#define SPOTTER_SOURCE_DRAW_H

#include "image/sample.h"
#include "spotter/source.h"

/* As spot_sample_images of one EC: what its images are, what training is told, their blindspots. */
spot_status spot_ec_images(spot_ctx *c, const spot_sample *s);

/* Pixels as a device's convolutions take them; spot_image_input_as has the contract. */
spot_status spot_ec_input_as(spot_ctx *c, void *x, int channels, bool bf16, const spot_image *image, int n, const spot_ec *ec);

/* One image's pixels (size, size, 3) into rgb; of a picture from a file, whose EC is `of` (pixels.c). */
typedef spot_status spot_pixels_fn(spot_ctx *c, uint8_t *rgb, const spot_image *image, const void *of);
spot_pixels_fn spot_photo_pixels;

/* image.c: n images, one at a time on each of c's threads, as a network's input (spot_image_input). */
spot_status spot_input_each(spot_ctx *c, float *x, const spot_image *image, int n, int size, const void *of,
                            spot_pixels_fn *pixels);

#endif
