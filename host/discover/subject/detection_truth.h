/* detection_truth.h - the ground truth of a detector's rows: each object has a box and an id that no other row has, and the
 * pictures are those that the boxes were drawn on. */
#ifndef SPOTTER_DETECTION_TRUTH_H
#define SPOTTER_DETECTION_TRUTH_H

#include "formats/coco.h"
#include "spotter/ctx.h"
#include "spotter/subject.h"

/* Opens the file. An annotation without a "bbox" gets the box of its outline, and an info line says how many; SPOT_INPUT names
 * one that has no outline either. Annotations of one picture that share an id lose it, with a warning: their rows are named by
 * their places, as those of annotations without an id. */
spot_status spot_truth_open(spot_ctx *c, spot_coco *k, const char *path);

/* SPOT_INPUT, with both sizes, where the file says another width or height than the picture at path is read with (exif: whether
 * its rotation is applied, spotter/array.h). A picture whose header is broken passes: decoding says why. names: the file. */
spot_status spot_truth_check_size(spot_ctx *c, const char *path, const spot_coco_image *image, int exif, const char *names);

/* SPOT_INPUT where two entries of "images" that have rows in s name one file: two rows would have one id. */
spot_status spot_truth_check_names(spot_ctx *c, const spot_subject *s, const spot_coco *k, const char *names);

/* Warns about boxes of no area and boxes that lie outside of their picture, with their number: what an encoder sees of such a
 * row are the nearest pixels (spot_picture_cut), not an object. */
void spot_truth_report_boxes(spot_ctx *c, const spot_subject *s, const char *names);

#endif
