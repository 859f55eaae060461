/* coco_outline.h - outlines of COCO's objects as masks, with the pixels of pycocotools: polygons, and run lengths as numbers or
 * as text.
 *
 * A polygon's corners are in pixels, the picture's corner is (0, 0). pycocotools draws its edges on a grid that is five times
 * as fine and takes a pixel whose column's middle they leave on their inside; run lengths go down the columns, first of 0.
 * Several polygons of an object are joined. */
#ifndef SPOTTER_COCO_OUTLINE_H
#define SPOTTER_COCO_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

/* Fills the object's pixels of plane (height, width), which is 0, with 255. json: n bytes, the value of "segmentation", and a
 * NUL. SPOT_INPUT, with `name` before the sentence: this is no outline, or one of another size. */
spot_status spot_coco_outline(spot_ctx *c, uint8_t *plane, int width, int height, const char *json, size_t n, const char *name);

/* box: x, y, width and height of the least box around the outline: around the corners of polygons, around the pixels of run
 * lengths, as pycocotools' toBbox has it. SPOT_INPUT: this is no outline, or it encloses nothing. */
spot_status spot_coco_outline_box(spot_ctx *c, float box[4], const char *json, size_t n, const char *name);

#endif
