/* source_draw.h - the rest of what is asked of an EC, in the terms of kernels/image/sample.h. */
#ifndef SPOTTER_SOURCE_DRAW_H
#define SPOTTER_SOURCE_DRAW_H

#include "image/sample.h"
#include "spotter/source.h"

/* As spot_sample_images of one EC: what its images are, what training is told, their blindspots. */
spot_status spot_ec_images(spot_ctx *c, const spot_sample *s);

/* One image's pixels (size, size, 3) into rgb, of a picture from a file (pixels.c). */
spot_status spot_photo_pixels(spot_ctx *c, uint8_t *rgb, const spot_image *image, const spot_ec *ec);

/* SPOT_UNSUPPORTED on a GPU for pixels that only the CPU makes: pictures from files, JPEG. */
spot_status spot_refuse_device(spot_ctx *c, bool photos, int jpeg_quality);

#endif
