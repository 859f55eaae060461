/* detection_rows.h - a detector's objects and detections -> subject: spotter/subject.h. */
#ifndef SPOTTER_DETECTION_ROWS_H
#define SPOTTER_DETECTION_ROWS_H

#include "discover/subject/detection_match.h"
#include "spotter/subject.h"

/* Fills n, classes, class_name, target, confidence, id, box and instance of a zeroed s, and its groups by picture unless files
 * name others: first the objects by picture in the order of their file, then the detections as spot_matches orders them. An id
 * is "PICTURE#NUMBER" of an object with its annotation's id, "PICTURE#object N" of the Nth annotation of the picture without
 * one, "PICTURE#detection N" of entry N of the detections. A class without rows is none. SPOT_INPUT where there is no row. k
 * comes from spot_truth_open. */
spot_status spot_instances_fill(spot_ctx *c, spot_subject *s, const spot_coco *k, const spot_matches *m,
                                const spot_subject_files *files);

/* spot_subject_read with files->detections. */
spot_status spot_subject_instances(spot_ctx *c, spot_subject *s, const spot_subject_files *files);

#endif
