/* examine_draw.h - renders of the study's objects, in the memory of c's device. */
#ifndef SPOTTER_EXAMINE_DRAW_H
#define SPOTTER_EXAMINE_DRAW_H

#include "examine/examine_objects.h"
#include "spotter/arena.h"

enum { SPOT_EXAMINE_BATCH = 256, SPOT_EXAMINE_DEVICE_BATCH = 2048 };

/* The backgrounds of render.pictures: squares in the memory of c's device. Zeroed: none. */
typedef struct { int n; uint8_t *rgb; char hash[33]; spot_arena room; } spot_examine_backgrounds;

spot_status spot_examine_backgrounds_open (spot_ctx *c, spot_examine_backgrounds *b, const spot_examine_config *cfg);
void        spot_examine_backgrounds_close(spot_examine_backgrounds *b);

/* One render: which entry of the catalogue, before which background (any number; -1: the grey), under which conditions. */
typedef struct { int entry; int64_t picture; spot_conditions at; } spot_examine_shot;

typedef struct {
    spot_examine_objects_list *objects;
    const spot_examine_backgrounds *pictures;
    spot_render_settings settings;
    int   most;                    /* renders of a call */
    spot_arena room, scratch, host, shapes;
    uint8_t *rgb;                  /* (most, size, size, 3) in the memory of c's device */
    uint8_t *mask;                 /* (most, size, size) there, and ... */
    float   *depth;                /* ... (most, size, size): NULL unless spot_examine_drawer_shapes was asked for them */
    spot_shot_facts *facts;        /* (most) there ... */
    spot_shot_facts *seen;         /* ... and on the host: of the last call */
    spot_shot *shot;               /* (most) */
    const spot_render_mesh **mesh; /* (most) */
    int  *slot;                    /* (entries): the mesh's number in the call; -1 */
} spot_examine_drawer;

/* Opens a drawer of `most` renders a call; close it also after a failure. */
spot_status spot_examine_drawer_open (spot_ctx *c, spot_examine_drawer *d, spot_examine_objects_list *o,
                                      const spot_examine_backgrounds *pictures, int most);
void        spot_examine_drawer_close(spot_examine_drawer *d);

/* From now on masks and depths are drawn, too, as the renderer has them (render.h). */
spot_status spot_examine_drawer_shapes(spot_ctx *c, spot_examine_drawer *d, bool masks, bool depth);

/* Draws n renders, at most d->most: d->rgb, d->seen. Loads the meshes that are missing. */
spot_status spot_examine_draw(spot_ctx *c, spot_examine_drawer *d, const spot_examine_shot *shot, int n);

/* Whether a person could still name the object. */
bool spot_examine_is_valid(const spot_examine_valid *v, const spot_shot_facts *f);

/* An object seen by chance: a random point of the space, with what is fixed for the object. index: which one. */
spot_conditions spot_examine_chance(const spot_factor_space *s, const spot_conditions *fixed, uint64_t seed, uint32_t number,
                                    int index);

#endif
