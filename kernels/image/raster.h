/* raster.h - draw lists -> pixels.
 *
 * image (n) draw lists -> rgb (n, size, size, 3) bytes, or x (n, size, size, channels) numbers as ImageNet models want them:
 * (value/255 - mean[channel]) / std[channel], each step in fp32; channels behind the third are 0; a bf16 is the nearest to
 * that. Every pixel as raster_pixel.h says: equal bytes on every device (gpu_to_gpu), and equal numbers. No JPEG here:
 * host/scene sends images through it.
 *
 * Draw lists and pixels lie in the memory of c's device; the images may be of different ECs. A draw list is what
 * spot_image_draw and sample.h leave. One with an object off the canvas is SPOT_INVALID on the CPU. A GPU's lists are
 * not read by the host: there such an image comes out all NaN, as bytes all 0, which no image is. */
#ifndef SPOTTER_RASTER_H
#define SPOTTER_RASTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/imagenet.h"
#include "core/ops.h"
#include "image/raster_pixel.h"
#include "spotter/model.h"

#define SPOT_MIN_SIZE 32
#define SPOT_MAX_SIZE 1024

/* The bf16 nearest to x, ties to even. NaN stays NaN where its upper half is one. */
static inline SPOT_HD uint16_t spot_bf16_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

struct spot_raster_ops {
    spot_status (*draw)(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_geometry *g);
    spot_status (*input)(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                         const spot_geometry *g);
    spot_status (*normalise)(spot_ctx *c, float *x, const uint8_t *rgb, int n, int size);
};

/* Sizes and strokes for cfg->size and cfg->text_alternative. Everything is the authors' at 224 and in proportion
 * elsewhere, rounded to the nearest pixel, but: a margin is at least 1, a stripe at least 2, text at least 15x6 and
 * 22x9 pixels of ink, which is where the word can still be read. */
spot_geometry spot_geometry_of(const spot_scene_config *cfg);

spot_status spot_raster_draw(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_scene_config *cfg);

/* Straight into a network's input, with no bytes in between: 3 or 8 channels, fp32 or (SPOT_BF16) bf16. */
spot_status spot_raster_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                              const spot_scene_config *cfg);

/* Bytes (n, size, size, 3) that came from elsewhere. rgb may be the last quarter of x itself when n is 1,
 * on the CPU. */
spot_status spot_raster_normalise(spot_ctx *c, float *x, const uint8_t *rgb, int n, int size);

#endif
