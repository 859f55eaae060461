/* coco_join.h - the second step of reading COCO's annotations: ids become indices. */
#ifndef SPOTTER_COCO_JOIN_H
#define SPOTTER_COCO_JOIN_H

#include "formats/coco.h"

/* An annotation before its ids are looked up; byte: its place in the file. */
typedef struct {
    int64_t image, category, id;
    size_t byte, outline_at;
    uint32_t outline_bytes;
    float box[4], area;
    bool crowd, boxed;
} spot_coco_raw;

/* A caption before its id is looked up; text: its offset in the texts. */
typedef struct { int64_t image; size_t byte, text; } spot_coco_raw_caption;

/* raw (k->boxes) -> k->box and k->first; said (k->captions) -> k->caption, whose texts k->owned has. Overwrites raw. name: the
 * file. */
spot_status spot_coco_join(spot_ctx *c, spot_coco *k, spot_coco_raw *raw, const spot_coco_raw_caption *said, const char *name);

#endif
