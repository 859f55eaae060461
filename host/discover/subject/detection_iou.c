/* detection_iou.c - see detection_iou.h. */
#include "discover/subject/detection_iou.h"

#include <math.h>

double spot_box_iou(const spot_coco_box *box, const float detection[4])
{
    const double x = box->x, y = box->y, w = box->w, h = box->h;
    const double u = detection[0], v = detection[1], dw = detection[2], dh = detection[3];
    const double wide = fmin(u + dw, x + w) - fmax(u, x), high = fmin(v + dh, y + h) - fmax(v, y);
    const double both = wide * high, own = dw * dh;

    return wide <= 0 || high <= 0 ? 0 : both / (box->crowd ? own : own + w * h - both);
}
