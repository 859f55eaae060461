/* blender.c - see blender.h. */
#include "background/suite/blender.h"

#include <string.h>

static spot_blender blank(const spot_blender_room *room)
{
    spot_blender b = { .size = room->size, .targets = room->targets, .pictures = room->pictures, .parts = room->parts,
                       .bytes = 3 * (size_t)room->size * (size_t)room->size };

    for (int k = 0; k < b.parts; k++) b.part[k] = room->part[k];
    return b;
}

static spot_blend problem_of(const spot_blender *b, int k, int targets, const spot_blender_count *n, int first)
{
    const spot_blender_part *p = &b->part[k];

    return (spot_blend){ b->size, b->size, p->levels, targets, n->backgrounds, n->pairs, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES,
                         b->target.on_device, b->mask.on_device, p->background.on_device, p->pair,
                         (uint8_t *)b->out.on_device + b->bytes * (size_t)first };
}

static size_t scratch_bytes(const spot_blender *b, int threads)
{
    spot_blend p[SPOT_BLENDER_PARTS];

    for (int k = 0; k < b->parts; k++) {
        const spot_blender_count most = { b->part[k].backgrounds, b->part[k].pairs };
        p[k] = problem_of(b, k, b->targets, &most, 0);
    }
    return spot_blend_scratch(b->parts, p, threads) + 4096;
}

static size_t array_bytes(const spot_blender *b)
{
    size_t squares = 2 * (size_t)b->targets + (size_t)b->pictures, pairs = 0;

    for (int k = 0; k < b->parts; k++) squares += (size_t)b->part[k].backgrounds, pairs += (size_t)b->part[k].pairs;
    return squares * b->bytes + pairs * sizeof(spot_blend_pair) + 16 * 64;
}

static size_t pushed_bytes(const spot_blender *b)
{
    return (size_t)b->targets * (b->bytes + b->bytes / 3) + (size_t)b->part[0].backgrounds * b->bytes + 4 * 64;
}

static spot_status take_arrays(spot_ctx *c, spot_blender *b)
{
    SPOT_TRY(spot_twin_take(c, &b->pushed, &b->device, &b->target, (size_t)b->targets * b->bytes));
    SPOT_TRY(spot_twin_take(c, &b->pushed, &b->device, &b->mask, (size_t)b->targets * b->bytes / 3));
    SPOT_TRY(spot_twin_take(c, &b->host, &b->device, &b->out, (size_t)b->pictures * b->bytes));
    for (int k = 0; k < b->parts; k++) {
        spot_blender_part *p = &b->part[k];
        SPOT_TRY(spot_twin_take(c, k ? &b->host : &b->pushed, &b->device, &p->background, (size_t)p->backgrounds * b->bytes));
        SPOT_TRY(SPOT_TAKE(c, &b->host, p->pair, p->pairs));
    }
    return SPOT_OK;
}

spot_status spot_blender_open(spot_ctx *c, spot_blender *b, const spot_blender_room *room)
{
    *b = blank(room);
    SPOT_TRY(spot_arena_open(c, &b->host, array_bytes(b) - pushed_bytes(b)));
    SPOT_TRY(spot_arena_open_pinned(c, &b->pushed, pushed_bytes(b)));
    if (c->device) SPOT_TRY(spot_arena_open_device(c, &b->device, array_bytes(b)));
    SPOT_TRY(spot_arena_open_device(c, &b->scratch, scratch_bytes(b, c->device ? 0 : c->threads)));
    return take_arrays(c, b);
}

void spot_blender_close(spot_blender *b)
{
    spot_arena_close(&b->scratch);
    spot_arena_close(&b->device);
    spot_arena_close(&b->pushed);
    spot_arena_close(&b->host);
    memset(b, 0, sizeof *b);
}

size_t spot_blender_memory(const spot_blender_room *room, int threads)
{
    const spot_blender b = blank(room);

    return array_bytes(&b) + (threads ? scratch_bytes(&b, threads) : 0);
}

static spot_twin first_of(const spot_twin *t, size_t bytes) { return (spot_twin){ t->here, t->on_device, bytes }; }

spot_status spot_blender_push(spot_ctx *c, const spot_blender *b, int targets, int backgrounds)
{
    const spot_twin target = first_of(&b->target, (size_t)targets * b->bytes),
        mask = first_of(&b->mask, (size_t)targets * b->bytes / 3),
        background = first_of(&b->part[0].background, (size_t)backgrounds * b->bytes);

    SPOT_TRY(spot_twin_push(c, &target));
    SPOT_TRY(spot_twin_push(c, &mask));
    return backgrounds ? spot_twin_push(c, &background) : SPOT_OK;
}

spot_status spot_blender_blend(spot_ctx *c, spot_blender *b, int targets, const spot_blender_count *count)
{
    spot_blend p[SPOT_BLENDER_PARTS];
    int n = 0, first = 0;

    for (int k = 0; k < b->parts; k++) {
        if (count[k].pairs) p[n++] = problem_of(b, k, targets, &count[k], first);
        first += count[k].pairs;
    }
    b->scratch.used = 0;
    return n ? spot_blend_pairs(c, &b->scratch, n, p) : SPOT_OK;
}

spot_status spot_blender_pull(spot_ctx *c, const spot_blender *b, int pictures)
{
    const spot_twin out = first_of(&b->out, (size_t)pictures * b->bytes);

    return pictures ? spot_twin_pull(c, &out) : SPOT_OK;
}
