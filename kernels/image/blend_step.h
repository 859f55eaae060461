/* blend_step.h - sizes and filters of blend.h's pyramids and the layout of its scratch, for C and CUDA.
 *
 * The pyramid of one channel of a picture is a *plane*: `floats` numbers, level k (height[k], width[k]) from at[k] on. Pictures
 * have three planes, masks one. Filters run along columns first, then along rows. */
#ifndef SPOTTER_BLEND_STEP_H
#define SPOTTER_BLEND_STEP_H

#include <math.h>

#include "core/hd.h"
#include "image/blend.h"

typedef struct {
    int    levels, width[SPOT_BLEND_LEVELS], height[SPOT_BLEND_LEVELS];
    size_t at[SPOT_BLEND_LEVELS], floats;
} spot_blend_plan;

static inline spot_blend_plan spot_blend_plan_of(const spot_blend *p)
{
    spot_blend_plan plan;
    int width = p->width, height = p->height;

    plan.levels = p->levels;
    plan.floats = 0;
    for (int k = 0; k < p->levels; k++, width = (width + 1) / 2, height = (height + 1) / 2) {
        plan.width[k] = width;
        plan.height[k] = height;
        plan.at[k] = plan.floats;
        plan.floats += ((size_t)width * (size_t)height + 15) / 16 * 16;
    }
    return plan;
}

/* The planes of a problem, in this order: three of each target, three of each background, one of each mask. */
static inline SPOT_HD size_t spot_blend_plane_of_background(const spot_blend *p, int i)
{
    return 3 * ((size_t)p->targets + (size_t)i);
}
static inline SPOT_HD size_t spot_blend_plane_of_mask(const spot_blend *p, int i)
{
    return spot_blend_plane_of_background(p, p->backgrounds) + (size_t)i;
}
static inline SPOT_HD size_t spot_blend_planes(const spot_blend *p) { return spot_blend_plane_of_mask(p, p->targets); }

/* Numbers of a composite's plane from level 1 on; level 0 goes straight to the pixels. */
static inline SPOT_HD size_t spot_blend_rest(const spot_blend_plan *plan)
{
    return plan->levels > 1 ? plan->floats - plan->at[1] : 0;
}

/* Bytes of a problem's pyramids: 16 bits a number for bytes, else floats. */
static inline size_t spot_blend_plane_bytes(const spot_blend *p, const spot_blend_plan *plan)
{
    const size_t each = p->pixels == SPOT_PIXEL_BYTES ? sizeof(uint16_t) : sizeof(float);

    return spot_arena_room(plan->floats * spot_blend_planes(p) * each);
}

/* CUDA's scratch: the largest problem's, because one runs after the other. */
static inline size_t spot_blend_device_bytes(int problems, const spot_blend *p)
{
    size_t most = 0;

    for (int q = 0; q < problems; q++) {
        const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
        const size_t rest = 3 * spot_blend_rest(&plan) * (size_t)p[q].pairs;
        const size_t bytes = spot_blend_plane_bytes(&p[q], &plan) + sizeof(float) * rest;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The row or column inside of 0..n-1 that mirrors row or column i. */
static inline SPOT_HD int spot_blend_mirror(int i, int n)
{
    if (n == 1) return 0;
    while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
    return i;
}

/* The five taps of reducing, times 16. */
static inline SPOT_HD float spot_blend_five(float a, float b, float c, float d, float e)
{
    return fmaf(6.0f, c, fmaf(4.0f, b + d, a + e));
}

/* Enlarging, times 8: a pixel at an even place between its neighbours, and one at an odd place, half way to the next. */
static inline SPOT_HD float spot_blend_even(float before, float at, float after) { return fmaf(6.0f, at, before + after); }
static inline SPOT_HD float spot_blend_odd(float at, float after) { return 4.0f * (at + after); }

/* Neighbours of row or column i of the n that are enlarged. */
static inline SPOT_HD int spot_blend_before(int i, int n) { return i ? i - 1 : n > 1 ? 1 : 0; }
static inline SPOT_HD int spot_blend_after(int i, int n)  { return i + 1 < n ? i + 1 : n - 1; }

/* Numbers of bytes are computed times 128 and those of their masks times 2^15, and are rounded to whole ones wherever a pyramid
 * is kept: in 16 bits. Under a mask of 0 or 1 a pixel is off by at most 1/256 for each level, which rounding to a byte removes.
 * Floats are kept as they are. */
#define SPOT_BLEND_UNIT 128.0f
#define SPOT_BLEND_MASK_UNIT 32768.0f

static inline SPOT_HD float spot_blend_mix(float mask, float target, float background)
{
    return fmaf(mask, target - background, background);
}

/* A mask's number, limited; NaN is none of the object. */
static inline SPOT_HD float spot_blend_alpha(float v)
{
    v = v > 0 ? v : 0;
    return v < 1 ? v : 1;
}

static inline SPOT_HD float spot_blend_limit(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

static inline SPOT_HD uint8_t spot_blend_byte(float v)
{
    int byte = (int)(v * (1.0f / SPOT_BLEND_UNIT) + 0.5f);

    byte = byte > 0 ? byte : 0;
    return (uint8_t)(byte < 255 ? byte : 255);
}

#endif
