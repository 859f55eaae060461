/* severity.h - how much worse a classifier is inside each blindspot than outside, measured on test positives, and whether a
 * blindspot of a wanted severity was learned.
 *
 * Planting with a strength (scene.h) does not say how severe a blindspot becomes: a network may learn half of the flipped
 * labels, or none. So the severity of a blindspot is the error that was measured. Counts are exact on every device. */
#ifndef SPOTTER_SEVERITY_H
#define SPOTTER_SEVERITY_H

#include "spotter/model.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_SEVERITY_LEVEL 0.01       /* of the test below, for all blindspots of an EC together */

/* Rows of a view, and those with a confidence of at most 0.5: wrong, since all rows are positives. */
typedef struct { int rows, wrong; } spot_errors;

typedef struct {
    int         blindspots;
    spot_errors outside;                       /* in no blindspot */
    spot_errors inside[SPOT_MAX_BLINDSPOTS];
} spot_severity;

void   spot_severity_of(spot_severity *s, const spot_view *view, const spot_truth *truth);
double spot_error_rate(spot_errors e);         /* NaN without rows */

/* With cfg->learned_band [lo, hi], hi above 0, and at least one blindspot, sets the lesson's accuracies to those on the test
 * positives, and `learned`: every blindspot's error lies in the band and is significantly above the error outside (Fisher's
 * exact test, one-sided, Holm's correction over the EC's blindspots, SPOT_SEVERITY_LEVEL). Otherwise changes nothing. */
void spot_learning_by_band(spot_learning *lesson, const spot_severity *s, const spot_model_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
