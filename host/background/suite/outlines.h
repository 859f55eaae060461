/* outlines.h - COCO's annotations as targets: of each picture the largest object of a tested category. */
#ifndef SPOTTER_OUTLINES_H
#define SPOTTER_OUTLINES_H

#include "formats/coco.h"
#include "formats/formats.h"

typedef struct spot_outlines {
    int    n, classes;
    char **name;                   /* (n): pictures with an object, sorted by class, then by name */
    int   *cls;                    /* (n) */
    char **class_name;             /* (classes): tested categories with a picture, in the file's order */
    char   key[33];                /* hash of the outlines and categories that are used */
    int   *box;                    /* (n): the object */
    spot_coco coco;
    spot_blob file;
    char  *list;                   /* the names of `categories`, cut */
} spot_outlines;

/* categories: "dog, cat", or "" for all. Groups (iscrowd) and objects without an outline are no targets. Of equal areas the
 * first object counts. SPOT_INPUT: an unknown category, two pictures of one name, no target at all. Close o also after a
 * failure, zeroed before. */
spot_status spot_outlines_open (spot_ctx *c, spot_outlines *o, const char *path, const char *categories);
void        spot_outlines_close(spot_outlines *o);

/* The mask of picture i: 255 in plane (height, width), which is 0. Threads may call it at the same time. */
spot_status spot_outlines_draw(spot_ctx *c, const spot_outlines *o, int i, uint8_t *plane, int width, int height);

#endif
