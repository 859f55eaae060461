/* blender.h - batches of pictures that networks look at: squares of targets and backgrounds are laid side by side and blended
 * on c's device, where the pictures stay until someone on the host wants them. */
#ifndef SPOTTER_BLENDER_H
#define SPOTTER_BLENDER_H

#include "base/twin.h"
#include "image/blend.h"

enum { SPOT_BLENDER_PARTS = 2 };

/* A kind of blends: by pyramids of so many levels. The numbers are the most of a batch. */
typedef struct {
    int levels, backgrounds, pairs;
    spot_twin background;              /* (backgrounds, size, size, 3) */
    spot_blend_pair *pair;             /* (pairs), on the host */
} spot_blender_part;

/* The caller fills the targets, the masks and part 0's backgrounds on the host and pushes them, and makes other backgrounds
 * where the kernels read them; then it blends. Pictures that are no blends lie behind the blends. */
typedef struct {
    int    size, targets, pictures, parts;             /* the most of each */
    size_t bytes;                                      /* of a square */
    spot_twin target, mask, out;                       /* (targets, size, size, 3), (targets, size, size), (pictures, ...) */
    spot_blender_part part[SPOT_BLENDER_PARTS];
    spot_arena host, pushed, device, scratch;          /* pushed: what goes to the device */
} spot_blender;

/* room: levels and numbers of the parts, and the most targets and pictures. */
typedef struct { int size, targets, pictures, parts; spot_blender_part part[SPOT_BLENDER_PARTS]; } spot_blender_room;

spot_status spot_blender_open (spot_ctx *c, spot_blender *b, const spot_blender_room *room);
void        spot_blender_close(spot_blender *b);
size_t      spot_blender_memory(const spot_ctx *c, const spot_blender_room *room);      /* on the host */

/* Square i of an array: where the host writes it, and where the kernels do. */
static inline uint8_t *spot_blender_here(const spot_twin *t, size_t bytes, int i)
{
    return (uint8_t *)t->here + bytes * (size_t)i;
}
static inline uint8_t *spot_blender_on_device(const spot_twin *t, size_t bytes, int i)
{
    return (uint8_t *)t->on_device + bytes * (size_t)i;
}

/* Copies the first targets with their masks, and the first backgrounds of part 0, to the device. */
spot_status spot_blender_push(spot_ctx *c, const spot_blender *b, int targets, int backgrounds);

/* The first pairs of every part, over the first targets and its first backgrounds, into `out`, one part behind the other. */
typedef struct { int backgrounds, pairs; } spot_blender_count;
spot_status spot_blender_blend(spot_ctx *c, spot_blender *b, int targets, const spot_blender_count *count);

/* Copies the first pictures to the host. */
spot_status spot_blender_pull(spot_ctx *c, const spot_blender *b, int pictures);

#endif
