/* blender.c - see blender.h. */
#include "background/blender.h"

#include <string.h>

static spot_blend problem_of(const spot_blender *b, int targets, int backgrounds, int pairs)
{
    return (spot_blend){ b->size, b->size, b->levels, targets, backgrounds, pairs, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES,
                         b->target.there, b->mask.there, b->background.there, b->pair, b->out.there };
}

static spot_status take_arrays(spot_ctx *c, spot_blender *b)
{
    SPOT_TRY(spot_twin_take(c, &b->host, &b->device, &b->target, (size_t)b->targets * b->bytes));
    SPOT_TRY(spot_twin_take(c, &b->host, &b->device, &b->mask, (size_t)b->targets * b->bytes / 3));
    SPOT_TRY(spot_twin_take(c, &b->host, &b->device, &b->background, (size_t)b->backgrounds * b->bytes));
    SPOT_TRY(spot_twin_take(c, &b->host, &b->device, &b->out, (size_t)b->pairs * b->bytes));
    return SPOT_TAKE(c, &b->host, b->pair, b->pairs);
}

static size_t array_bytes(const spot_blender *b)
{
    return ((size_t)b->targets * 2 + (size_t)b->backgrounds + (size_t)b->pairs) * b->bytes
         + (size_t)b->pairs * sizeof(spot_blend_pair) + 8 * 64;
}

spot_status spot_blender_open(spot_ctx *c, spot_blender *b, int size, int levels, int targets, int backgrounds, int pairs)
{
    *b = (spot_blender){ .size = size, .levels = levels, .targets = targets, .backgrounds = backgrounds, .pairs = pairs,
                         .bytes = 3 * (size_t)size * (size_t)size };
    const spot_blend p = problem_of(b, targets, backgrounds, pairs);
    SPOT_TRY(spot_arena_open(c, &b->host, array_bytes(b)));
    if (c->device) SPOT_TRY(spot_arena_open_device(c, &b->device, array_bytes(b)));
    SPOT_TRY(spot_arena_open_device(c, &b->scratch, spot_blend_scratch(1, &p, c->device ? 0 : c->threads) + 4096));
    return take_arrays(c, b);
}

void spot_blender_close(spot_blender *b)
{
    spot_arena_close(&b->scratch);
    spot_arena_close(&b->device);
    spot_arena_close(&b->host);
    memset(b, 0, sizeof *b);
}

size_t spot_blender_memory(int size, int levels, int targets, int backgrounds, int pairs, int threads)
{
    const spot_blender b = { .size = size, .levels = levels, .targets = targets, .backgrounds = backgrounds, .pairs = pairs,
                             .bytes = 3 * (size_t)size * (size_t)size };
    const spot_blend p = problem_of(&b, targets, backgrounds, pairs);

    return array_bytes(&b) + spot_blend_scratch(1, &p, threads);
}

spot_status spot_blender_blend(spot_ctx *c, spot_blender *b, int targets, int backgrounds, int pairs)
{
    const spot_blend p = problem_of(b, targets, backgrounds, pairs);

    SPOT_TRY(spot_twin_push(c, &b->target));
    SPOT_TRY(spot_twin_push(c, &b->mask));
    SPOT_TRY(spot_twin_push(c, &b->background));
    b->scratch.used = 0;
    SPOT_TRY(spot_blend_pairs(c, &b->scratch, 1, &p));
    return spot_twin_pull(c, &b->out);
}
