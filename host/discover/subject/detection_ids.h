/* detection_ids.h - the picture and the category of the ground truth that each detection is of.
 *
 * A picture is that of "file_name" where a detection has one that the ground truth knows: its whole name, else the name without
 * folders, else the stem (without its ending). Else it is that of "image_id"; where the ground truth has no such id, image_id
 * is such a name, or the number in a stem (9 for 000000009.jpg), as Ultralytics writes it.
 *
 * A category is that of the id; an id that is a word may be the category's name. Where the detections have ids that the ground
 * truth lacks, and none once 1 is added to each (or taken from each), and more detections then lie on an object of their
 * category, the ids are read so, with a warning. Other readings than by ids are said with their counts. */
#ifndef SPOTTER_DETECTION_IDS_H
#define SPOTTER_DETECTION_IDS_H

#include "formats/coco.h"
#include "formats/coco_results.h"
#include "spotter/ctx.h"
#include "spotter/subject.h"

/* image, category (r->n): indices into k; category -1: of none. SPOT_INPUT names the entry that is of no picture of k, or of
 * two. names: the file of k. */
spot_status spot_detection_ids(spot_ctx *c, int *image, int *category, const spot_coco *k, const spot_coco_results *r,
                               const spot_detection_options *o, const char *names);

#endif
