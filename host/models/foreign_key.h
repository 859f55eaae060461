/* foreign_key.h - models that Spotter does not run itself, as keys: by the bytes of their files, or by what they answer. */
#ifndef SPOTTER_FOREIGN_KEY_H
#define SPOTTER_FOREIGN_KEY_H

#include <stdbool.h>

#include "base/key.h"
#include "spotter/predictor.h"

/* A hash of the bytes of the model's files; of a model that is known by its answers, of its text alone. */
spot_status spot_foreign_key(spot_ctx *c, spot_key *key, const char *text);

/* Whether no file tells which model it is: a program, or a network that a package fetches by its name. study/kept_encoder.h
 * compares the answers of such a one with kept ones. */
bool spot_is_known_by_answers(const char *text);

/* A hash of every bit of p's answers to Spotter's own pictures: it names answers that are new, and compares none. */
spot_status spot_answers_key(spot_ctx *c, spot_key *key, spot_predictor *p);

/* Picture k of SPOT_OWN_PICTURES, (side, side, 3): colours that are the same everywhere, by which a program is known. */
enum { SPOT_OWN_PICTURES = 4 };
void spot_own_picture(uint8_t *rgb, int side, int k);

#endif
