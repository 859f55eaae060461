/* examine_program.h - a model that is a program: whether it is the one that the run has results of (study/kept_answers.h). */
#ifndef SPOTTER_EXAMINE_PROGRAM_H
#define SPOTTER_EXAMINE_PROGRAM_H

#include "examine/examine_choose.h"
#include "study/kept_answers.h"

/* Whether a model is a program that is known by its answers alone. */
bool spot_examine_is_nameless(const spot_examine_source *from);

/* Whether the identity of a stored result is that of the model now: always, unless it is such a program, which is asked once. A
 * program that cannot be asked is another one. side: of the renders; dir: the run's directory. */
bool spot_examine_is_program(spot_ctx *c, spot_known_program *k, const spot_examine_source *from, int side, const char *dir,
                             const char *identity);

/* The program that is open now, of which results are made. Its answers to renders of some objects, evenly spaced, are kept. */
spot_status spot_examine_know(spot_ctx *c, spot_known_program *k, const spot_examine_viewer *v, const spot_examine_source *from,
                              const char *dir);

#endif
