/* shift_unit.h - one folder of pictures, real, base or of a shift -> its result: pictures are kept or not by their similarities
 * or by masks, then each model's right answers are counted, by class. Impact and slope are made of the counts, when all units
 * are there (estimate.c). */
#ifndef SPOTTER_SHIFT_UNIT_H
#define SPOTTER_SHIFT_UNIT_H

#include "shifts/shift_answers.h"
#include "shifts/shift_encoding.h"
#include "shifts/shift_inputs.h"
#include "shifts/shift_result.h"

/* Values that all units of a run share. */
typedef struct {
    const spot_shifts_config *cfg;
    spot_shift_classes  classes;
    spot_shift_encoding encoding;
    spot_shift_answers  answers;           /* of the missing units */
    spot_shift_programs programs;
    spot_shift_truth    truth;
    spot_shift_progress progress;
    char    inputs[33];                    /* hash of the user's tables and weights (shift_inputs.h): a result has it */
    const spot_shift_pictures *real;       /* where there is an encoder, and their features, (pictures, dim), of length 1 */
    float  *real_feature;
    double *class_threshold;               /* (1 + shifts, classes): of base, of each shift; NULL: no encoder */
} spot_shift_study;

/* The thresholds of all classes from the similarities of the real pictures, whose features are kept. real lives as long as
 * v. */
spot_status spot_shift_thresholds(spot_ctx *c, spot_shift_study *v, const spot_shift_pictures *real);

/* Fills r and its file of pictures. slot: v->answers.unit[slot] is the unit's, since answers are read for missing units alone.
 * Close r also after a failure. */
spot_status spot_shift_compute(spot_ctx *c, spot_shift_study *v, spot_shift_result *r, const char *dir, int unit,
                               const spot_shift_pictures *p, int slot);

#endif
