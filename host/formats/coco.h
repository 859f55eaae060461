/* coco.h - annotations in COCO's format: pictures, categories and boxes ("instances"), or captions.
 *
 * The file is streamed and only the members below are kept: COCO's own 450 MB take some 90 MB. Of outlines only their places in
 * the file are, and coco_outline.h reads the ones that are asked for. Everything
 * is checked: every image_id and category_id exists exactly once, names are texts, boxes are finite numbers. Ids are numbers or
 * words (coco_id.h). A violation is SPOT_INPUT with the byte of the file. An annotation with a "caption" and without a
 * category is a caption; a file with such needs no "categories". */
#ifndef SPOTTER_COCO_H
#define SPOTTER_COCO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/coco_id.h"
#include "spotter/ctx.h"

typedef struct {
    int64_t id;
    int     width, height;      /* 0 if absent */
    char   *file;               /* "file_name": below the folder of the pictures */
    char   *split;              /* "split"; NULL if absent or no word */
} spot_coco_image;

typedef struct { int64_t id; char *name, *super; } spot_coco_category;      /* super: "supercategory", "" if absent */

typedef struct {
    int   image, category;      /* indices into the arrays below, not ids */
    float x, y, w, h;           /* bbox in pixels, from the upper left corner; 0 if absent, null or empty: see boxed */
    float area;                 /* area of the outline in pixels; w * h if absent */
    bool  crowd;                /* iscrowd: one box for several objects */
    bool  boxed;                /* it has a bbox, or spot_coco_outline_boxes has found one */
    int64_t id;                 /* SPOT_COCO_NO_ID where the file has none, or one that is no whole number of 64 bits */
    uint32_t outline_bytes;     /* the JSON of "segmentation" in the file: its length, 0 if absent ... */
    uint64_t outline_at;        /* ... and first byte */
} spot_coco_box;

typedef struct {
    int   image;                /* index into the array below */
    char *text;
} spot_coco_caption;

typedef struct {
    int images, categories, boxes, captions;
    spot_coco_image    *image;      /* (images) in the file's order */
    spot_coco_category *category;   /* (categories) in the file's order */
    spot_coco_box      *box;        /* (boxes) by image, then in the file's order */
    spot_coco_caption  *caption;    /* (captions) in the file's order */
    int                *first;      /* (images + 1): the boxes of image i are first[i] .. first[i+1] - 1 */
    char               *owned;      /* names, and ids that are words */
} spot_coco;

/* Read a file, or bytes that errors call `name`. Close after success; close accepts a zeroed struct. */
spot_status spot_coco_open (spot_ctx *c, spot_coco *k, const char *path);
spot_status spot_coco_parse(spot_ctx *c, spot_coco *k, const uint8_t *json, size_t size, const char *name);
void        spot_coco_close(spot_coco *k);

/* Gives the boxes that lack a bbox the least box around their outline, of a file that was read from path: around the corners of
 * polygons, around the pixels of run lengths (pycocotools' toBbox). *taken: how many. *bare: the first that has no outline
 * either, -1 if there is none. */
spot_status spot_coco_outline_boxes(spot_ctx *c, spot_coco *k, const char *path, int *taken, int *bare);

#endif
