/* matrices.h - the variance matrices of a model's responses, and their features. */
#ifndef SPOTTER_MATRICES_H
#define SPOTTER_MATRICES_H

#include "background/background_config.h"

/* r: signal is read, matrix and weight are written. u: has is read (the first matrices have signals), feature and left_out are
 * written. */
spot_status spot_background_matrices(spot_ctx *c, spot_background_responses *r, spot_background_result *u,
                                     const spot_background_suite *s, const spot_background_config *cfg);

#endif
