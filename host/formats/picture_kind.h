/* picture_kind.h - the formats of pictures: a row each. A file's first bytes decide, not its name. */
#ifndef SPOTTER_PICTURE_KIND_H
#define SPOTTER_PICTURE_KIND_H

#include "formats/picture.h"

enum { SPOT_PICTURE_MARK = 16 };           /* first bytes that decide */

typedef struct {
    const char *name;                      /* "JPEG" */
    bool        (*is)(const uint8_t *mark, size_t n);
    spot_status (*cost)(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);      /* width, height and work */
    spot_status (*orientation)(spot_ctx *c, int *orientation, const spot_blob *in);      /* 1 as it comes; NULL: none */
    /* NULL: the program was built without its library */
    spot_status (*decode)(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);
    const char *library;                   /* NULL: it needs none that a build may lack */
    bool        turns;                     /* the orientation is a part of the format: it is always applied */
} spot_picture_kind;

/* NULL: none of them. */
const spot_picture_kind *spot_picture_kind_of(const uint8_t *file, size_t size);

/* SPOT_INPUT, too, where the program was built without it. */
spot_status spot_picture_kind_decode(spot_ctx *c, const spot_picture_kind *kind, spot_picture *p, const uint8_t *file,
                                     size_t size, const char *name);

/* SPOT_INPUT: which format it is, if its first bytes tell. */
spot_status spot_picture_kind_none(spot_ctx *c, const uint8_t *file, size_t size, const char *name);

/* From the headers of the formats. */
spot_status spot_png_cost       (spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);
spot_status spot_png_orientation(spot_ctx *c, int *orientation, const spot_blob *in);
spot_status spot_jpeg_cost       (spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);
spot_status spot_jpeg_orientation(spot_ctx *c, int *orientation, const spot_blob *in);

#endif
