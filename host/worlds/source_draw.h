/* source_draw.h - sampling and pixels of an EC, with the types of kernels/image/sample.h. */
#ifndef SPOTTER_SOURCE_DRAW_H
#define SPOTTER_SOURCE_DRAW_H

#include "image/sample.h"
#include "spotter/config.h"

/* spot_sample_images for one EC: contents, training labels and blindspots of its images. */
spot_status spot_ec_images(spot_ctx *c, const spot_sample *s);

/* Labels and blindspots of an image that is a picture from a file, on the host (source.c). */
spot_status spot_photo_image(spot_ctx *c, spot_image *image, const spot_ec *ec, spot_split split, uint32_t index);

/* Writes the pixels (size, size, 3) of an image that is a picture from a file (pixels.c). */
spot_status spot_photo_pixels(spot_ctx *c, uint8_t *rgb, const spot_image *image, const spot_ec *ec);

#endif
