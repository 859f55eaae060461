/* blend.h - objects on other backgrounds: composites of targets and backgrounds by Laplacian pyramids (Burt and Adelson 1983).
 *
 *   out_k = G_k(mask) L_k(target) + (1 - G_k(mask)) L_k(background)     k < levels
 *
 * G_0 is the picture, G_k+1 is G_k reduced to half its size (rounded up), L_k is G_k less G_k+1 enlarged, and the last L is the
 * last G. The composite is the sum of all out_k, each enlarged to the size of the one before it, and limited to the range of
 * pixels. With levels = 1 it is mask x target + (1 - mask) x background. The filter is [1 4 6 4 1] / 16 in both directions. The
 * picture is mirrored at its edges (... 2 1 | 0 1 2 ...); only enlarging repeats the last row and the last column. These are
 * OpenCV's pyrDown and pyrUp in float, to 2e-6 of the range; bytes are within 1 of it, and in all tests were within levels/256
 * before they were rounded.
 *
 * A problem has targets with masks, backgrounds of the same size, and pairs of them. The pyramids of a picture are made once
 * for all its pairs. Bytes are rounded half up at the end, their pyramids kept in 16 bits. Floats are from 0 to 1, and limited
 * to that at the end. Bytes are exact where they can be: a mask of 255 everywhere gives the target, a mask of 0 the background,
 * and equal pictures give themselves under any mask. For floats that holds to 1e-6. A mask's floats are limited to 0..1, and
 * NaN counts as 0; a picture's NaN is NaN around its place in the composite.
 *
 * Every step of a pixel is one correctly rounded operation or fmaf, in one order: equal bits on every device and for any number
 * of threads, together or alone (gpu_to_gpu). Pictures, masks, composites and scratch lie in the memory of c's device; the
 * structs and the pairs lie on the host. */
#ifndef SPOTTER_BLEND_H
#define SPOTTER_BLEND_H

#include <stddef.h>
#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"

/* Numbers of a picture or a mask: uint8_t from 0 to 255, or float from 0 to 1. */
typedef enum { SPOT_PIXEL_BYTES, SPOT_PIXEL_FLOATS, SPOT_PIXEL_KINDS } spot_pixel_kind;

typedef struct { int target, background; } spot_blend_pair;

typedef struct {
    int width, height, levels;         /* levels: all of them, the last G too; 5 is usual at 224 pixels */
    int targets, backgrounds, pairs;
    spot_pixel_kind pixels, alphas;
    const void *target;                /* (targets, height, width, 3) pixels */
    const void *mask;                  /* (targets, height, width) alphas: the greatest value is the object's */
    const void *background;            /* (backgrounds, height, width, 3) pixels */
    const spot_blend_pair *pair;       /* (pairs), on the host */
    void       *out;                   /* (pairs, height, width, 3) pixels; overlaps nothing */
} spot_blend;

/* Most levels, pixels a side, and pictures of a kind. */
enum { SPOT_BLEND_LEVELS = 16, SPOT_BLEND_SIDE = 8192, SPOT_BLEND_PICTURES = 1 << 24 };

struct spot_blend_ops {
    spot_status (*pairs)(spot_ctx *c, spot_arena *scratch, int problems, const spot_blend *p);
};

/* SPOT_INVALID for a size or a number of levels that is out of range, or a pair of a target or background that is not there. */
spot_status spot_blend_pairs(spot_ctx *c, spot_arena *scratch, int problems, const spot_blend *p);

/* Bytes of scratch. threads 0: CUDA's. */
size_t spot_blend_scratch(int problems, const spot_blend *p, int threads);

#endif
