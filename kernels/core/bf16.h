/* bf16.h - bf16 is the upper half of a float. */
#ifndef SPOTTER_BF16_H
#define SPOTTER_BF16_H

#include <stdint.h>
#include <string.h>

#include "core/hd.h"

/* The bf16 nearest to x, ties to even. NaN stays NaN where its upper half is one. */
static inline SPOT_HD uint16_t spot_bf16_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline SPOT_HD float spot_bf16_float(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
