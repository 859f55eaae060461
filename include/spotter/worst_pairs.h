/* worst_pairs.h - the blends on which a model fails most surely. */
#ifndef SPOTTER_WORST_PAIRS_H
#define SPOTTER_WORST_PAIRS_H

#include "spotter/background.h"

#ifdef __cplusplus
extern "C" {
#endif

/* place: which of the target's backgrounds; background: index in the suite; answer: a class, or -1. */
typedef struct { int target, place, background, answer; float confidence, distance; } spot_worst_pair;

/* Finds, for each target that is right on its original, the blend with the most confident wrong answer; the most confident
 * come first, of equal ones the first target. of_truth: confidence is that of the true class, so the least confident. Returns
 * how many, at most `most`. */
int spot_worst_pairs(spot_worst_pair *out, int most, const spot_background_responses *r, const spot_background_suite *s,
                     bool of_truth);

#ifdef __cplusplus
}
#endif
#endif
