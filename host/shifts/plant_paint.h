/* plant_paint.h - a drawn scene -> a picture of another look: other colours, another background, a table, a cross, and effects
 * of the whole picture. Integers only: the same bytes everywhere.
 *
 * The colours of raster_pixel.h tell what a pixel of a scene shows: ground, body of an object, or stripe. */
#ifndef SPOTTER_PLANT_PAINT_H
#define SPOTTER_PLANT_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/rng.h"

typedef enum { SPOT_BODY_AS_DRAWN, SPOT_BODY_RED, SPOT_BODY_PURPLE } spot_plant_body;
typedef enum { SPOT_GROUND_AS_DRAWN, SPOT_GROUND_GREEN, SPOT_GROUND_CHECKERED } spot_plant_ground;

/* Bits, in the order in which they are applied. */
typedef enum {
    SPOT_EFFECT_SKETCH = 1, SPOT_EFFECT_MOSAIC = 2, SPOT_EFFECT_BLUR = 4, SPOT_EFFECT_NIGHT = 8, SPOT_EFFECT_FOG = 16,
    SPOT_EFFECT_RAIN = 32, SPOT_EFFECT_NOISE = 64
} spot_plant_effect;

enum { SPOT_PLANT_TABLES = 4 };            /* colours of a table: brown, pink, teal, olive */

typedef struct {
    uint8_t  body, ground;                 /* spot_plant_body, spot_plant_ground */
    uint8_t  table;                        /* 0: none; else 1 + its colour. It fills the ground of the lowest fifth */
    bool     cross;
    int16_t  cross_x, cross_y;             /* its corner; spot_plant_cross_side() pixels a side */
    uint32_t effects;                      /* spot_plant_effect */
} spot_plant_look;

static inline int spot_plant_cross_side(int side) { return side * 12 / 64; }

/* scene: the pixel (x, y) at scene[y * stride + 3 * x] -> rgb (side, side, 3). noise: the address of rain and noise.
 * scratch: 3 * side * side bytes. */
typedef struct {
    const uint8_t  *scene;
    int             stride, side;
    spot_plant_look look;
    spot_rng        noise;
} spot_plant_canvas;

void spot_plant_paint(uint8_t *rgb, const spot_plant_canvas *p, uint8_t *scratch);

#endif
