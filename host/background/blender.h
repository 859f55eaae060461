/* blender.h - batches of blends: squares of targets and backgrounds are laid side by side, blended on c's device, fetched. */
#ifndef SPOTTER_BLENDER_H
#define SPOTTER_BLENDER_H

#include "base/twin.h"
#include "image/blend.h"

/* The caller fills the arrays' `here` up to the most of each, then calls spot_blender_blend. */
typedef struct {
    int    size, levels;
    int    targets, backgrounds, pairs;        /* the most of each */
    size_t bytes;                              /* of a square */
    spot_twin target, mask, background, out;   /* (targets, size, size, 3), (targets, size, size), (backgrounds, ...), (pairs,
                                                * ...) */
    spot_blend_pair *pair;                     /* (pairs) */
    spot_arena host, device, scratch;
} spot_blender;

spot_status spot_blender_open (spot_ctx *c, spot_blender *b, int size, int levels, int targets, int backgrounds, int pairs);
void        spot_blender_close(spot_blender *b);
size_t      spot_blender_memory(int size, int levels, int targets, int backgrounds, int pairs, int threads);

static inline uint8_t *spot_blender_at(const spot_twin *t, size_t bytes, int i)
{
    return (uint8_t *)t->here + bytes * (size_t)i;
}

static inline uint8_t *spot_blender_target(const spot_blender *b, int i) { return spot_blender_at(&b->target, b->bytes, i); }
static inline uint8_t *spot_blender_mask(const spot_blender *b, int i) { return spot_blender_at(&b->mask, b->bytes / 3, i); }
static inline uint8_t *spot_blender_background(const spot_blender *b, int i)
{
    return spot_blender_at(&b->background, b->bytes, i);
}
static inline uint8_t *spot_blender_out(const spot_blender *b, int i) { return spot_blender_at(&b->out, b->bytes, i); }

/* The first `pairs` of b->pair, over the first targets and backgrounds. */
spot_status spot_blender_blend(spot_ctx *c, spot_blender *b, int targets, int backgrounds, int pairs);

#endif
