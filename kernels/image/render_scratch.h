/* render_scratch.h - what CUDA's scratch holds: the images of one launch, for render.c and render.cu. */
#ifndef SPOTTER_RENDER_SCRATCH_H
#define SPOTTER_RENDER_SCRATCH_H

#include "image/render_light.h"

/* Images that are drawn together. Their views and meshes travel as a kernel's argument (at most 4 kB). */
enum { SPOT_RENDER_TOGETHER = 16 };

typedef struct {
    size_t vertices, samples;      /* of an image */
    size_t sums, points, grounds, bytes;      /* where they begin, behind the keys; all bytes */
} spot_render_room;

static inline spot_render_room spot_render_room_of(const spot_render_call *r)
{
    const size_t side = (size_t)r->settings->size * (size_t)r->settings->samples;
    const size_t images = (size_t)(r->n < SPOT_RENDER_TOGETHER ? r->n : SPOT_RENDER_TOGETHER);
    spot_render_room room = { 0, side * side, 0, 0, 0, 0 };

    for (int i = 0; i < r->meshes; i++)
        if ((size_t)r->mesh[i]->body.vertices > room.vertices) room.vertices = (size_t)r->mesh[i]->body.vertices;
    room.sums = spot_arena_room(images * room.samples * sizeof(unsigned long long));
    room.points = room.sums + spot_arena_room(images * SPOT_RENDER_SUMS * sizeof(unsigned long long));
    room.grounds = room.points + spot_arena_room(images * room.vertices * sizeof(spot_render_point));
    room.bytes = room.grounds + (size_t)r->pictures * sizeof(unsigned long long);
    return room;
}

#endif
