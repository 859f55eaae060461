/* coco.h - annotations in COCO's format ("instances"): pictures, categories, and boxes that say what is where.
 *
 * The file is streamed: what is kept is what stands here, not the outlines, so that COCO's own 450 MB take some 80 MB.
 * Nothing of it is believed before it is checked: every image_id and category_id must be there and only once, names are
 * words, boxes are finite numbers; what is not so is one SPOT_INPUT with the byte at fault. */
#ifndef SPOTTER_COCO_H
#define SPOTTER_COCO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

typedef struct {
    int64_t id;
    int     width, height;      /* 0 where the file does not say */
    char   *file;               /* "file_name": below the folder of the pictures */
} spot_coco_image;

typedef struct { int64_t id; char *name, *super; } spot_coco_category;      /* super: "supercategory", "" where there is none */

typedef struct {
    int   image, category;      /* indices of the arrays below, not ids */
    float x, y, w, h;           /* bbox in pixels, from the upper left corner; 0 where there is none */
    float area;                 /* of the outline, in pixels; w * h where there is none */
    bool  crowd;                /* iscrowd: several things under one box */
} spot_coco_box;

typedef struct {
    int images, categories, boxes;
    spot_coco_image    *image;      /* (images) in the file's order */
    spot_coco_category *category;   /* (categories) in the file's order */
    spot_coco_box      *box;        /* (boxes) by image, then in the file's order */
    int                *first;      /* (images + 1): the boxes of image i are first[i] .. first[i+1] - 1 */
    void               *owned;      /* names */
} spot_coco;

/* Reads a file, or bytes that are called `name`. Close after success; close accepts a zeroed one. */
spot_status spot_coco_open (spot_ctx *c, spot_coco *k, const char *path);
spot_status spot_coco_parse(spot_ctx *c, spot_coco *k, const uint8_t *json, size_t size, const char *name);
void        spot_coco_close(spot_coco *k);

#endif
