/* raster_pixel.h - the colour of a pixel, in integers, for C and CUDA.
 *
 * A device may compute pixels in any order (raster.c paints spans of rows, a GPU tests each pixel); every pixel must equal
 * spot_raster_pixel. Shapes never overlap, so the order of objects does not matter. */
#ifndef SPOTTER_RASTER_PIXEL_H
#define SPOTTER_RASTER_PIXEL_H

#include <stdint.h>

#include "core/philox.h"
#include "image/shapes.h"

/* The colours of pixels. */
typedef enum { SPOT_WHITE, SPOT_GREY, SPOT_NOISE, SPOT_BLUE, SPOT_ORANGE, SPOT_BLACK, SPOT_INKS } spot_ink;

/* 0xRRGGBB: greys 255, 200 and 100, matplotlib's blue (31,119,180) and orange (255,127,14), black. */
static inline SPOT_HD uint32_t spot_ink_rgb(spot_ink ink)
{
    switch (ink) {
    case SPOT_WHITE:  return 0xffffff;
    case SPOT_GREY:   return 0xc8c8c8;
    case SPOT_NOISE:  return 0x646464;
    case SPOT_BLUE:   return 0x1f77b4;
    case SPOT_ORANGE: return 0xff7f0e;
    default:          return 0x000000;
    }
}

/* A pixel of a noisy background is SPOT_NOISE when its random word is below 0.1 * 2^32. */
#define SPOT_NOISE_BELOW 429496730u

/* The ink of an object in column x of the canvas: striped objects are black where (x + phase) mod (2 run) < run. */
static inline SPOT_HD spot_ink spot_raster_ink(const spot_geometry *g, const spot_object *o, int x)
{
    if (o->texture && (x + o->stripe_phase) % (2 * g->run) < g->run) return SPOT_BLACK;
    return o->color ? SPOT_ORANGE : SPOT_BLUE;
}

/* Random words of the pixels 4 * block .. 4 * block + 3 of the image, counted row by row. */
static inline SPOT_HD void spot_raster_words(uint32_t word[4], const spot_image *image, uint32_t block)
{
    const uint32_t at[4] = { block, image->index, image->ec, (uint32_t)SPOT_RNG_NOISE_TRAIN + image->split };

    spot_philox4x32_10(word, at, image->seed);
}

/* The background at a pixel with this random word. */
static inline SPOT_HD spot_ink spot_raster_ground(const spot_image *image, uint32_t word)
{
    if (image->background_texture && word < SPOT_NOISE_BELOW) return SPOT_NOISE;
    return image->background_color ? SPOT_GREY : SPOT_WHITE;
}

/* The ink of the pixel (x, y): from the object that covers it, else ground. */
static inline SPOT_HD spot_ink spot_raster_over(const spot_geometry *g, const spot_object *object, int count, int x, int y,
                                                spot_ink ground)
{
    for (int k = 0; k < count; k++) {
        const spot_object *o = &object[k];
        const spot_shape *shape = &g->shape[o->layer][o->size];
        if (x < o->x0 || x > o->x1 || y < o->y0 || y > o->y1) continue;
        if (spot_shape_covers(g, o, x - o->place_x - shape->ink_x, y - o->place_y - shape->ink_y))
            return spot_raster_ink(g, o, x);
    }
    return ground;
}

/* 0xRRGGBB of the pixel (x, y). */
static inline SPOT_HD uint32_t spot_raster_pixel(const spot_geometry *g, const spot_image *image, int x, int y)
{
    uint32_t pixel = (uint32_t)(y * g->size + x), word[4] = { 0 };

    if (image->background_texture) spot_raster_words(word, image, pixel / 4);
    return spot_ink_rgb(spot_raster_over(g, image->object, image->object_count, x, y,
                                         spot_raster_ground(image, word[pixel % 4])));
}

/* Whether o has a valid shape, a position that placement can give, and the box that follows from it. Then no pixel of it is
 * off the canvas. */
static inline SPOT_HD int spot_raster_placed(const spot_geometry *g, const spot_object *o)
{
    const spot_shape *s;
    int x = o->place_x, y = o->place_y, right, bottom;

    if (o->layer < SPOT_SQUARE || o->layer >= SPOT_LAYERS || o->size > 1) return 0;
    s = &g->shape[o->layer][o->size];
    right = x + s->ink_x + s->ink_w < g->size ? x + s->ink_x + s->ink_w : g->size;
    bottom = y + s->ink_y + s->ink_h < g->size ? y + s->ink_y + s->ink_h : g->size;
    return x >= 0 && x <= g->size - s->w && o->x0 == x + s->ink_x && o->x1 == right - 1 &&
           y >= 0 && y <= g->size - s->h && o->y0 == y + s->ink_y && o->y1 == bottom - 1;
}

#endif
