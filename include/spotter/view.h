/* view.h - a classifier's output on a set of images: features and confidence, nothing about the truth.
 *
 * A user's own classifier enters the pipeline here. The truth about the same rows is a separate struct (spot_truth), so
 * that no discovery method can see it. */
#ifndef SPOTTER_VIEW_H
#define SPOTTER_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_LARGEST_FEATURE 1e12f     /* squared distances of up to 100,000 such features stay finite in fp32 */

typedef struct {
    int    n, d;
    float *feature;       /* (n, d): the average-pooled activations before the head */
    float *confidence;    /* (n): probability of the positive class */
    int   *image;         /* (n): index of the image within its split */
    uint8_t *label;       /* (n): 1 positive, 0 negative; NULL: all positive, as in a sweep */
    float *head;          /* (d): the direction in which the classifier's logit grows; NULL: not known */
    float *device_feature;/* (n, d): `feature` once more, in the memory of the device that works on the view; NULL: not there */
} spot_view;

static inline bool spot_view_positive(const spot_view *v, int i) { return !v->label || v->label[i]; }

/* The error of the classifier on row i: 1 minus the probability of its label. */
static inline double spot_view_error(const spot_view *v, int i)
{
    return spot_view_positive(v, i) ? 1 - (double)v->confidence[i] : (double)v->confidence[i];
}

/* Checks the arrays that are not NULL, so that reducers and methods may rely on them: features finite and within
 * SPOT_LARGEST_FEATURE, confidences in [0, 1]. SPOT_INPUT names the row and the column. */
spot_status spot_view_check(spot_ctx *c, const spot_view *v, uint32_t ec);

/* The blindspots of each row of a view. */
typedef struct {
    int       n, blindspots;
    uint32_t *mask;       /* (n): bit m set = in blindspot m */
} spot_truth;

/* The view after dimensionality reduction. */
typedef struct {
    int    n, d;
    float *at;            /* (n, d) */
    double objective;     /* final value of the function that the reducer minimised; NaN: it minimises none */
    float *device_at;     /* (n, d): `at` once more, in the memory of the device that works on the points; NULL: not there */
} spot_points;

#ifdef __cplusplus
}
#endif
#endif
