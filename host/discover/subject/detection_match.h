/* detection_match.h - matches of detections and objects, and the reasons of the others: spotter/subject.h. */
#ifndef SPOTTER_DETECTION_MATCH_H
#define SPOTTER_DETECTION_MATCH_H

#include <stdbool.h>

#include "formats/coco.h"
#include "formats/coco_results.h"
#include "spotter/ctx.h"
#include "spotter/subject.h"

typedef struct {
    int   image, category;     /* indices into the ground truth */
    int   number;              /* its place in the file of detections */
    int   match;               /* box of the ground truth, also a crowd's; -1: none */
    bool  exists;              /* its score is not below the threshold */
    uint8_t reason;
    float x, y, w, h, score;
} spot_detection;

typedef struct {
    int    n;
    spot_detection *detection; /* (n) by picture, category, score (the greatest first), place in the file */
    int   *first;              /* (images + 1) */
    int   *match;              /* (boxes): the detection that matches; -1: none. A crowd's: -1 */
    float *below;              /* (boxes): the score of the best detection below the threshold that would match; 0: none */
    uint8_t *reason;           /* (boxes) */
} spot_matches;

/* Matches the detections with the boxes of k. detection_ids.h says of which picture and category each is. Detections of
 * categories that k lacks are left out with a warning. `names` calls the file of k. Close m also after a failure. */
spot_status spot_matches_find (spot_ctx *c, spot_matches *m, const spot_coco *k, const spot_coco_results *r,
                               const spot_detection_options *o, const char *names);
void        spot_matches_close(spot_matches *m);

#endif
