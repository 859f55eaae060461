/* raster.h - draw lists -> pixels.
 *
 * image (n) draw lists -> rgb (n, size, size, 3) bytes, or x (n, size, size, channels) numbers, the input of ImageNet models:
 * (value/255 - mean[channel]) / std[channel], each step in fp32; bf16 is rounded from fp32. With 4 channels the fourth is 0,
 * and the pixels of an image are in the order of core/stem.h, as CUDA's networks take them.
 * raster_pixel.h defines every pixel: equal bytes and numbers on every device (gpu_to_gpu). JPEG: image/jpeg_trip.h.
 *
 * Draw lists and pixels lie in the memory of c's device. The images may belong to different ECs. spot_image_draw and sample.h
 * make draw lists. A list with an object off the canvas is SPOT_INVALID on the CPU. The host does not read a GPU's lists:
 * there such an image becomes all NaN, or all 0 as bytes, which no valid image is. */
#ifndef SPOTTER_RASTER_H
#define SPOTTER_RASTER_H

#include <stddef.h>
#include <stdint.h>

#include "core/ops.h"
#include "core/stem.h"
#include "image/levels.h"
#include "image/raster_pixel.h"

#define SPOT_MIN_SIZE 32
#define SPOT_MAX_SIZE 1024

struct spot_raster_ops {
    spot_status (*draw)(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_geometry *g);
    spot_status (*input)(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                         const spot_geometry *g);
};

/* Sizes and strokes for cfg->size and cfg->text_alternative. At 224 pixels they are the authors'; other sizes are in
 * proportion, rounded to the nearest pixel. Minima: a margin 1, a stripe 2, text 15x6 and 22x9 pixels of ink, the smallest
 * that can be read. */
spot_geometry spot_geometry_of(const spot_scene_config *cfg);

spot_status spot_raster_draw(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_scene_config *cfg);

/* Draws the input of a network without bytes in between: 3 channels, or 4 of an even size; fp32 or (SPOT_BF16) bf16. */
spot_status spot_raster_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                              const spot_scene_config *cfg);

#endif
