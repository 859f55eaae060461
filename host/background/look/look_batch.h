/* look_batch.h - the pictures of a few targets, made together where the models run: the original, blends with the suite's
 * backgrounds and with those of the object's own class, and the derived sets. */
#ifndef SPOTTER_LOOK_BATCH_H
#define SPOTTER_LOOK_BATCH_H

#include "background/look/background_look.h"
#include "background/suite/blender.h"
#include "background/suite/derived_sets.h"
#include "background/suite/squares_ahead.h"

/* Image 0 is the original of a target, 1 .. n its blends, n + 1 + k its derived set k, n + 1 + SPOT_BACKGROUND_SETS + j its
 * blend with background j of its own class. */
typedef struct { int target, image; } spot_look_seen;

typedef struct {
    const spot_background_look *l;
    spot_blender blender;
    int   together, own;               /* targets; backgrounds of its own class that one gets, at most */
    spot_look_seen *seen;                   /* (images): those of the blender's `out` */
    spot_set_picture *made;            /* (images) */
    int   *picture, *back;             /* numbers of needed squares: of targets and donors; of backgrounds */
    int   *slot;                       /* (suite's backgrounds): the blender's background; -1: not there */
    int   *own_slot, *donors;          /* (targets): the same of a donor; (own) scratch */
    spot_arena host, device, scratch;
    spot_twin donor;                   /* on a device: squares with their masks: DONORS of each target, then the own class's */
    spot_squares_ahead ahead;
    int   wanted_target, wanted_image; /* of one picture; -1: all */
} spot_look_batch;

/* Room for so many targets. Close it also after a failure. */
spot_status spot_look_batch_open (spot_ctx *c, spot_look_batch *k, const spot_background_look *l, int together);
void        spot_look_batch_close(spot_look_batch *k);

/* All images of targets [from, to): *images of them in the blender's `out`, on c's device; seen says which. */
spot_status spot_look_batch_make(spot_ctx *c, spot_look_batch *k, int from, int to, int *images);

/* While a device looks, threads decode what targets [from, to) need. */
void spot_look_batch_ahead(spot_ctx *c, spot_look_batch *k, int from, int to);

/* Targets that are looked at together; images of one target, at most; pictures that are needed at once; the memory of a look
 * without the models. */
int    spot_look_together(const spot_ctx *c, const spot_background_config *cfg);
int    spot_look_images(const spot_background_config *cfg);
int    spot_look_pictures(const spot_ctx *c, const spot_background_config *cfg);
size_t spot_look_memory(const spot_ctx *c, const spot_background_config *cfg, int targets);

#endif
