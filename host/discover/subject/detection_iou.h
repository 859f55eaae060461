/* detection_iou.h - the overlap of a detection and an object. */
#ifndef SPOTTER_DETECTION_IOU_H
#define SPOTTER_DETECTION_IOU_H

#include "formats/coco.h"

/* IoU with a detection at x, y of width and height; with a crowd the share of the detection that lies in it, as pycocotools has
 * it. A box of 0 pixels: 0. */
double spot_box_iou(const spot_coco_box *box, const float detection[4]);

#endif
