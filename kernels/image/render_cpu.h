/* render_cpu.h - a thread's memory, and the parts of an image, for render.c, render_fill.c and render_shade.c. */
#ifndef SPOTTER_RENDER_CPU_H
#define SPOTTER_RENDER_CPU_H

#include "core/lanes.h"
#include "image/render_light.h"

enum { SPOT_RENDER_LANES = 16, SPOT_RENDER_CHUNK = 64 };     /* of a vector; samples that are worked on together */

/* Samples or pixels from x and y on, before right and bottom. */
typedef struct { int x, y, right, bottom; } spot_render_rect;

/* A projected vertex, in 16 bytes. */
typedef struct { int32_t x, y; float q; uint32_t none; } spot_render_corner;

/* A thread's memory, of the largest mesh, and its image. */
typedef struct {
    spot_render_view view;
    const spot_render_body *body;
    const float *linear;           /* (256): light of bytes */
    spot_render_corner *corner;    /* (vertices) */
    uint32_t *place;               /* (vertices): columns and rows of samples, as spot_render_culled compares them */
    int32_t  *depth;               /* (side, pitch): bits of the nearest reciprocal depth; 0: no triangle */
    uint32_t *triangle;            /* (side, pitch) */
    size_t    pitch;               /* whole vectors */
    bool      cut;                 /* a vertex is too near, or too far aside */
    spot_render_rect rect;         /* of samples, whole pixels: nothing is seen outside */
    float    *shown[3];            /* (samples, pitch): red, green and blue of a row's samples; 0: not covered */
    float    *sum, *ground;        /* (3, size + LANES) of a row's pixels; (size + LANES): light of the background */
    int32_t  *byte, *near, *covered;       /* (size + LANES) bytes; bits of the greatest reciprocal depth; covered samples */
    uint16_t *seen;                /* (samples, side) + LANES: a row's covered samples */
    unsigned long long total[SPOT_RENDER_SUMS];
} spot_render_lane;

/* Samples of a triangle with holes, within its edges and in front of what is there. */
typedef struct {
    uint32_t triangle;
    int   count;
    float x[SPOT_RENDER_CHUNK], y[SPOT_RENDER_CHUNK];
    int32_t depth[SPOT_RENDER_CHUNK];
} spot_render_hole;

/* Puts those that are solid into lane's depth and triangle, and empties h. */
void spot_render_put_solid(const spot_render_lane *lane, spot_render_hole *h);

/* Finds lane's rect, depth and triangle from its view and body. */
void spot_render_fill(spot_render_lane *lane);

/* The pixels of the rect, over an image that has the background. mask and depth may be NULL. */
typedef struct { uint8_t *rgb, *mask; float *depth; const uint8_t *picture; } spot_render_image;
void spot_render_shade(spot_render_lane *lane, const spot_render_image *out);

#endif
