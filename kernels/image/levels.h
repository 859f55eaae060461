/* levels.h - the number that a byte of a picture becomes in a network's input, in fp32 and bf16, for C and CUDA. */
#ifndef SPOTTER_LEVELS_H
#define SPOTTER_LEVELS_H

#include <stddef.h>
#include <stdint.h>

#include "core/bf16.h"
#include "core/imagenet.h"
#include "core/stem.h"
#include "spotter/model.h"

/* The rule by which ImageNet's networks were trained. */
static inline SPOT_HD spot_pixel_rule spot_imagenet_rule(void)
{
    const float imagenet[2][3] = SPOT_IMAGENET;
    spot_pixel_rule r;

    r.scale = 255;
    for (int k = 0; k < 3; k++) r.mean[k] = imagenet[0][k], r.std[k] = imagenet[1][k];
    return r;
}

/* A rule that may be all zero, with ImageNet's in its place. */
static inline spot_pixel_rule spot_pixel_rule_or(const spot_pixel_rule *r) { return r->scale > 0 ? *r : spot_imagenet_rule(); }

/* 0 from the fourth channel on. */
static inline SPOT_HD float spot_byte_level_by(const spot_pixel_rule *r, unsigned value, int channel)
{
    return channel < 3 ? ((float)value / r->scale - r->mean[channel]) / r->std[channel] : 0;
}

static inline SPOT_HD float spot_byte_level(unsigned value, int channel)
{
    const spot_pixel_rule r = spot_imagenet_rule();

    return spot_byte_level_by(&r, value, channel);
}

/* All of them, for the CPU. */
typedef struct { float at[256][3]; } spot_levels;

static inline spot_levels spot_levels_by(const spot_pixel_rule *r)
{
    spot_levels t;

    for (unsigned v = 0; v < 256; v++)
        for (int k = 0; k < 3; k++) t.at[v][k] = spot_byte_level_by(r, v, k);
    return t;
}

static inline spot_levels spot_levels_of_bytes(void)
{
    const spot_pixel_rule r = spot_imagenet_rule();

    return spot_levels_by(&r);
}

/* rgb (rows, size, 3): rows of an image from row y on -> their pixels in x (size, size, channels), in the precision; with 4
 * channels in the order of core/stem.h. In fp32 with 3 channels and all rows, rgb may be the last quarter of x. */
static inline void spot_put_levels(void *x, const uint8_t *rgb, size_t size, size_t y, size_t rows, int channels,
                                   spot_precision precision, const spot_levels *t)
{
    float *plain = (float *)x + 3 * size * y;

    if (channels == 3 && precision != SPOT_BF16) {
        for (size_t i = 0; i < rows * size; i++)
            for (int k = 0; k < 3; k++) plain[3 * i + k] = t->at[rgb[3 * i + k]][k];
        return;
    }
    for (size_t i = 0; i < rows * size; i++) {
        size_t pixel = y * size + i, at = 3 * pixel;
        if (channels == SPOT_STEM) at = SPOT_STEM * (size_t)spot_stem_place((int)pixel, (int)size);
        for (size_t k = 0; k < (size_t)channels; k++) {
            float v = k < 3 ? t->at[rgb[3 * i + k]][k] : 0;
            if (precision == SPOT_BF16) ((uint16_t *)x)[at + k] = spot_bf16_bits(v);
            else                        ((float *)x)[at + k] = v;
        }
    }
}

#endif
