/* shapes.h - the shapes of a scene, for C and CUDA: the size of each, and the pixels that it inks.
 *
 * Two switches list the shapes; the compiler reports one that lacks a row of SPOT_SHAPES (scene.h). Ink is a set of spans: the
 * CPU copies them row by row, a GPU tests each pixel. */
#ifndef SPOTTER_SHAPES_H
#define SPOTTER_SHAPES_H

#include <math.h>
#include <stdint.h>

#include "core/hd.h"
#include "spotter/scene.h"

enum { SPOT_STROKES = 13 };               /* of the word "text" */

/* A bar of h rows and w columns. Its rows shift sideways, by `shear` columns from first to last. */
typedef struct { int16_t x, y, w, h, shear; } spot_stroke;

/* A shape at (x, y) reserves the box x..x+w, y..y+h. Its ink lies in the ink_w x ink_h pixels from (x + ink_x, y + ink_y). The
 * canvas may cut one row and one column of them: PIL's boxes include both ends, the authors' placement excludes the last. */
typedef struct { int16_t w, h, ink_x, ink_y, ink_w, ink_h; } spot_shape;

typedef struct {
    int size;                                      /* canvas, pixels a side */
    int run;                                       /* columns of a stripe; the period is two runs */
    int margin;                                    /* boxes closer than this in both axes collide */
    spot_shape shape[SPOT_LAYERS][2];              /* [layer][value of size] */
    spot_stroke stroke[2][SPOT_STROKES];           /* the text, from its ink's corner; [value of size] */
} spot_geometry;

/* -- how large ------------------------------------------------------------------------------------------------- */

static inline int spot_at_least(int least, int length) { return length > least ? length : least; }

/* A length in the authors' pixels on a canvas of `size`. */
static inline int spot_scaled(int length, int size) { return spot_at_least(1, (length * size + 112) / 224); }

/* PIL's inclusive box: w + 1 by h + 1 pixels. */
static inline spot_shape spot_shape_solid(int w, int h, int size)
{
    const int16_t box_w = (int16_t)spot_scaled(w, size), box_h = (int16_t)spot_scaled(h, size);
    const spot_shape shape = { box_w, box_h, 0, 0, (int16_t)(box_w + 1), (int16_t)(box_h + 1) };

    return shape;
}

/* The ink of a text is at the bottom of its box; the rows above are for taller letters. */
static inline spot_shape spot_shape_text(int size, int large)
{
    int ink_w = spot_at_least(large ? 22 : 15, spot_scaled(large ? 79 : 40, size));
    int ink_h = spot_at_least(large ? 9 : 6, spot_scaled(large ? 35 : 17, size));
    int above = spot_scaled(large ? 11 : 6, size), w = spot_at_least(ink_w, spot_scaled(large ? 81 : 40, size));
    const spot_shape shape = { (int16_t)w, (int16_t)(ink_h + above), (int16_t)((w - ink_w) / 2), (int16_t)above, (int16_t)ink_w,
                               (int16_t)ink_h };

    return shape;
}

static inline spot_shape spot_shape_of(spot_layer layer, int small, const spot_scene_config *cfg)
{
    const spot_shape none = { 0, 0, 0, 0, 0, 0 };
    int half = 1 + small;

    switch (layer) {
    case SPOT_SQUARE:    return spot_shape_solid(40 / half, 40 / half, cfg->size);
    case SPOT_RECTANGLE: return spot_shape_solid(50 / half, 30 / half, cfg->size);
    case SPOT_CIRCLE:    return spot_shape_solid(40 / half, 40 / half, cfg->size);
    case SPOT_TEXT:      return spot_shape_text(cfg->size, small == (cfg->text_alternative == SPOT_TEXT_LARGER));
    case SPOT_BACKGROUND: case SPOT_LAYERS: break;
    }
    return none;
}

/* -- which pixels ---------------------------------------------------------------------------------------------- */

/* First column of a stroke in its row `row` (0-based), rounded to the nearest, halves away from the start. */
static inline SPOT_HD int spot_stroke_left(const spot_stroke *s, int row)
{
    int steps = s->h - 1, far = s->shear < 0 ? -s->shear : s->shear;
    int moved = steps > 0 ? (2 * far * row + steps) / (2 * steps) : 0;

    return s->shear < 0 ? s->x - moved : s->x + moved;
}

/* Columns [from, to) of the ink box; empty unless from < to. */
typedef struct { int from, to; } spot_span;

/* The most spans in a row of the object; they may overlap. */
static inline SPOT_HD int spot_shape_spans(const spot_object *o) { return o->layer == SPOT_TEXT ? SPOT_STROKES : 1; }

/* The k-th span that the object inks in row v of its ink box. */
static inline SPOT_HD spot_span spot_shape_span(const spot_geometry *g, const spot_object *o, int v, int k)
{
    const spot_shape *shape = &g->shape[o->layer][o->size];
    const spot_stroke *s = &g->stroke[o->size][k];
    spot_span span = { 0, 0 };

    switch ((spot_layer)o->layer) {
    case SPOT_SQUARE:
    case SPOT_RECTANGLE:
        span.to = shape->ink_w;
        break;
    case SPOT_CIRCLE: {     /* PIL's ellipse for the boxes of 41 and 21 pixels: |2u - w| <= sqrt(ink_w^2 - q^2), exact here */
        int q = 2 * v - shape->h, half = (int)sqrtf((float)(shape->ink_w * shape->ink_w - q * q));
        span.from = (shape->w - half + 1) / 2;
        span.to = shape->ink_w - span.from;
        break;
    }
    case SPOT_TEXT:
        if (v < s->y || v >= s->y + s->h) break;
        span.from = spot_stroke_left(s, v - s->y);
        span.to = span.from + s->w;
        break;
    case SPOT_BACKGROUND: case SPOT_LAYERS: break;
    }
    return span;
}

/* Whether the object inks the pixel (u, v) of its ink box. */
static inline SPOT_HD int spot_shape_covers(const spot_geometry *g, const spot_object *o, int u, int v)
{
    for (int k = 0; k < spot_shape_spans(o); k++) {
        const spot_span span = spot_shape_span(g, o, v, k);
        if (u >= span.from && u < span.to) return 1;
    }
    return 0;
}

#endif
