/* plant_draw.h - the steps between a planted picture's address and its pixels. */
#ifndef SPOTTER_PLANT_DRAW_H
#define SPOTTER_PLANT_DRAW_H

#include "shifts/plant_paint.h"
#include "spotter/plant.h"
#include "spotter/scene.h"

/* A picture is the middle of a scene that is larger by 3/4, so its objects are larger, too. */
static inline int spot_plant_scene_side(int side) { return side * 7 / 4; }

/* The contents of a picture, as drawn: a scene of spot_plant_scene_side() pixels, and the look of its middle. */
typedef struct {
    spot_image      scene;
    spot_plant_look look;
} spot_plant_scene;

/* The scene of a class (-1: an empty one) without any shift. table: 1 + its colour, 0: none. r: the picture's numbers. */
void spot_plant_compose(spot_plant_scene *s, int cls, int table, int side, spot_rng *r);

/* Applies a shift to a look. */
void spot_plant_apply(spot_plant_look *look, spot_plant_shift shift);

/* The settings of the scenes that pictures of `side` pixels are cut from. */
spot_scene_config spot_plant_scene_config(int side);

#endif
