/* levels.h - the number that a byte of a picture becomes in a network's input, in fp32 and bf16, for C and CUDA. */
#ifndef SPOTTER_LEVELS_H
#define SPOTTER_LEVELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/hd.h"
#include "core/imagenet.h"
#include "spotter/model.h"

/* The bf16 nearest to x, ties to even. NaN stays NaN where its upper half is one. */
static inline SPOT_HD uint16_t spot_bf16_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* (value/255 - mean[channel]) / std[channel], each step in fp32; 0 from the fourth channel on. */
static inline SPOT_HD float spot_byte_level(unsigned value, int channel)
{
    const float imagenet[2][3] = SPOT_IMAGENET;

    return channel < 3 ? ((float)value / 255.0f - imagenet[0][channel]) / imagenet[1][channel] : 0;
}

/* All of them, for the CPU. */
typedef struct { float at[256][3]; } spot_levels;

static inline spot_levels spot_levels_of_bytes(void)
{
    spot_levels t;

    for (unsigned v = 0; v < 256; v++)
        for (int k = 0; k < 3; k++) t.at[v][k] = spot_byte_level(v, k);
    return t;
}

/* rgb (pixels, 3) -> x (pixels, channels) in the precision. In fp32 with 3 channels rgb may be the last quarter of x. */
static inline void spot_put_levels(void *x, const uint8_t *rgb, size_t pixels, int channels, spot_precision precision,
                                   const spot_levels *t)
{
    float *plain = (float *)x;

    if (channels == 3 && precision != SPOT_BF16) {
        for (size_t i = 0; i < pixels; i++)
            for (int k = 0; k < 3; k++) plain[3 * i + k] = t->at[rgb[3 * i + k]][k];
        return;
    }
    for (size_t i = 0; i < pixels; i++)
        for (int k = 0; k < channels; k++) {
            size_t at = i * (size_t)channels + (size_t)k;
            float v = k < 3 ? t->at[rgb[3 * i + (size_t)k]][k] : 0;
            if (precision == SPOT_BF16) ((uint16_t *)x)[at] = spot_bf16_bits(v);
            else                        plain[at] = v;
        }
}

#endif
