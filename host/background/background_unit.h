/* background_unit.h - models looked at together, and their results. */
#ifndef SPOTTER_BACKGROUND_UNIT_H
#define SPOTTER_BACKGROUND_UNIT_H

#include "background/background_inputs.h"
#include "spotter/work.h"
#include "study/kept_answers.h"

typedef struct {
    const spot_background_config *cfg;         /* the run's own: with the one model that a function is */
    const spot_background_options *options;
    spot_background_inputs *in;
    const spot_background_suite *suite;
    size_t memory;                             /* most bytes for models that are open together */
    const char *known, *known_key;             /* a run in which models looked at the same pictures, and its config's key; "" */
    const char *dir;                           /* the run's directory, whose `programs` tells programs apart */
    spot_known_program *program;               /* (models): of those that are programs, as far as they were asked */
} spot_background_job;

/* Whether the identity of a stored result is that of model `model` now: always, unless it is a program without a name, which is
 * asked once. A program that cannot be asked is another one. */
bool spot_background_is_program(spot_ctx *c, const spot_background_job *j, int model, const char *identity);

/* Looks with n models and keeps or skips each (work.h). */
spot_status spot_background_compute(spot_ctx *c, spot_work *w, const spot_background_job *j, const int *unit, int n);

#define SPOT_MOST_SQUARES  ((size_t)8 << 30)           /* bytes of decoded pictures, where there is that much memory; ... */
#define SPOT_MOST_NETWORKS ((size_t)8 << 30)           /* ... of networks, behind which no further one is opened beside them */

/* A third of the memory that there is, at most `most`. */
size_t spot_background_memory(size_t most);

/* The number of models that may be looked at together, by the sizes of their files. */
int spot_background_batch(const spot_background_config *cfg);

#endif
