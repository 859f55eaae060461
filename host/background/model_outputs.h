/* model_outputs.h - which class each output of a model stands for, and what identifies a model. */
#ifndef SPOTTER_MODEL_OUTPUTS_H
#define SPOTTER_MODEL_OUTPUTS_H

#include "background/background_config.h"

/* cls (*n), malloc'd: the class of each output of m; -1: another word than a class. NULL and 0 without m->classes: the outputs
 * are the classes. SPOT_INPUT: a class of the study that no output stands for. */
spot_status spot_model_outputs(spot_ctx *c, int **cls, int *n, const spot_background_model *m, char *const *class_name,
                               int classes);

/* The hash of a model: the bytes of its weights, or its command or the function's identity, and its list of classes, with the
 * suite that it looks at. */
spot_status spot_model_inputs(spot_ctx *c, char hash[33], const spot_background_model *m, const char *identity,
                              const char *suite);

#endif
