/* coco_join.h - what the two halves of reading COCO's annotations share. */
#ifndef SPOTTER_COCO_JOIN_H
#define SPOTTER_COCO_JOIN_H

#include "formats/coco.h"

/* An annotation before its ids are looked up, and where it is in the file. */
typedef struct { int64_t image, category; size_t byte; float box[4], area; bool crowd; } spot_coco_raw;

/* raw (k->boxes) -> k->box and k->first. raw is used up. `name` is the file's. */
spot_status spot_coco_join(spot_ctx *c, spot_coco *k, spot_coco_raw *raw, const char *name);

#endif
