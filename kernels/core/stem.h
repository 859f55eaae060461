/* stem.h - images as CUDA's networks take them: each block of 2 x 2 pixels is one pixel of 16 numbers ("space to depth"), and
 * the blocks lie row by row. A block has its upper two pixels first. A pixel has three numbers and a 0. */
#ifndef SPOTTER_STEM_H
#define SPOTTER_STEM_H

#include "core/hd.h"

enum { SPOT_STEM = 4, SPOT_STEM_SIDE = 2, SPOT_STEM_BLOCK = SPOT_STEM * SPOT_STEM_SIDE * SPOT_STEM_SIDE };

/* The place of pixel y * size + x in an image of size x size pixels; size is even. */
static inline SPOT_HD int spot_stem_place(int pixel, int size)
{
    int y = pixel / size, x = pixel % size;

    return (y / 2 * (size / 2) + x / 2) * 4 + y % 2 * 2 + x % 2;
}

/* The pixel y * size + x that stands at place `at`. */
static inline SPOT_HD int spot_stem_pixel(int at, int size)
{
    int block = at / 4, across = size / 2;

    return (block / across * 2 + (at >> 1 & 1)) * size + block % across * 2 + (at & 1);
}

#endif
