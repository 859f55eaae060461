/* model_inputs.h - the model's part of what a stored result depends on, beside the config's key. A result, or answers that
 * another run keeps, are taken only while the hash is the same (background_run.c, background_unit.c). */
#ifndef SPOTTER_MODEL_INPUTS_H
#define SPOTTER_MODEL_INPUTS_H

#include "background/background_config.h"

/* The hash of a model: the bytes of its weights, or its command, or the function's or the program's identity, and its list of
 * classes, with the suite (its key) that it looks at. A command is its text: whether the program behind it is the same one is
 * a question for spot_background_is_program. */
spot_status spot_model_inputs(spot_ctx *c, char hash[33], const spot_background_model *m, const char *identity,
                              const char *suite);

#endif
