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
    return spot_blend_scratch(b->parts, p, threads);
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

/* A blender whose arenas have counted its arrays. */
static spot_blender counted(const spot_ctx *c, const spot_blender_room *room)
{
    spot_ctx quiet = { .device = c->device };
    spot_blender b = blank(room);

    b.host = b.pushed = b.device = spot_arena_counting();
    take_arrays(&quiet, &b);
    return b;
}

spot_status spot_blender_open(spot_ctx *c, spot_blender *b, const spot_blender_room *room)
{
    const spot_blender needs = counted(c, room);

    *b = blank(room);
    SPOT_TRY(spot_arena_open(c, &b->host, needs.host.peak));
    SPOT_TRY(spot_arena_open_pinned(c, &b->pushed, needs.pushed.peak));
    if (c->device) SPOT_TRY(spot_arena_open_device(c, &b->device, needs.device.peak));
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

size_t spot_blender_memory(const spot_ctx *c, const spot_blender_room *room)
{
    const spot_blender b = counted(c, room);

    return b.host.peak + b.pushed.peak + (c->device ? 0 : scratch_bytes(&b, c->threads));
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
