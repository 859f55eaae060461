/* background_summary.h - accuracies, gaps and shares of a model, with intervals. */
#ifndef SPOTTER_BACKGROUND_SUMMARY_H
#define SPOTTER_BACKGROUND_SUMMARY_H

#include "spotter/background.h"

/* Intervals: Wilson's of shares of pictures; of the BG-gap and of what blending costs Tango's of pairs, over the targets that
 * have both pictures, whose width is not 0 where no target differs (paired.h); of the suite's accuracy and what is lost a
 * bootstrap over targets, since pictures of one target are alike (2.5 and 97.5 % of 2,000 draws).
 *
 * Another order of the outputs: classes and answers are paired, the commonest pair of the originals first. It is suspicious
 * where it makes twice as many right, half of all or more, and a class has five targets on average. */
spot_status spot_background_summarise(spot_ctx *c, spot_background_summary *out, const spot_background_responses *r,
                                      const spot_background_suite *s, const spot_background_result *u);

/* The control of what the suite turns, and the sensitivity to noise: background.h has both. */
spot_status spot_background_control_of(spot_ctx *c, spot_background_control *k, const spot_background_responses *r,
                                       const spot_background_suite *s);
spot_status spot_background_sensitivity(spot_ctx *c, spot_interval *rfs, const spot_background_responses *r,
                                        const spot_background_suite *s);

#endif
