/* model_outputs.h - what identifies a model. */
#ifndef SPOTTER_MODEL_OUTPUTS_H
#define SPOTTER_MODEL_OUTPUTS_H

#include "background/background_config.h"

/* The hash of a model: the bytes of its weights, or its command or the function's identity, and its list of classes, with the
 * suite that it looks at. */
spot_status spot_model_inputs(spot_ctx *c, char hash[33], const spot_background_model *m, const char *identity,
                              const char *suite);

#endif
