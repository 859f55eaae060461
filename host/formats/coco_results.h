/* coco_results.h - detections in COCO's format of results: a list of
 *
 *     {"image_id": 9, "category_id": 3, "bbox": [x, y, width, height], "score": 0.93}
 *
 * The file is streamed, and only these members and "file_name", which Ultralytics writes and which may stand for "image_id",
 * are kept: 10^6 detections take 40 MB. Other members, such as "segmentation", are skipped. Everything is checked: each entry
 * has the four members, numbers are finite, no width or height is negative, scores lie in 0..1. A violation is SPOT_INPUT with
 * the entry, from 0, and its byte of the file. Ids are numbers or words (coco_id.h) and not looked up. */
#ifndef SPOTTER_COCO_RESULTS_H
#define SPOTTER_COCO_RESULTS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/coco_id.h"
#include "spotter/ctx.h"

typedef struct {
    int64_t image, category;    /* ids as the file has them; image: SPOT_COCO_NO_ID if absent */
    float   x, y, w, h;         /* bbox in pixels, from the upper left corner */
    float   score;
} spot_coco_result;

typedef struct {
    int               n;
    spot_coco_result *result;   /* (n) in the file's order */
    int64_t          *file;     /* (n): "file_name" as an id, SPOT_COCO_NO_ID if absent; NULL: no entry has one */
    char             *owned;    /* ids that are words */
} spot_coco_results;

/* Read a file, or bytes that errors call `name`. Close after success; close accepts a zeroed struct. */
spot_status spot_coco_results_open (spot_ctx *c, spot_coco_results *r, const char *path);
spot_status spot_coco_results_parse(spot_ctx *c, spot_coco_results *r, const uint8_t *json, size_t size, const char *name);
void        spot_coco_results_close(spot_coco_results *r);

#endif
