/* foreign_key.h - models that Spotter does not run itself, as keys: by the bytes of their files, or by what they answer. */
#ifndef SPOTTER_FOREIGN_KEY_H
#define SPOTTER_FOREIGN_KEY_H

#include "base/key.h"
#include "spotter/predictor.h"

/* A hash of what the model is: the bytes of its files; of a program, its command and every bit of its answers to Spotter's own
 * pictures. p: the model, open. */
spot_status spot_foreign_key(spot_ctx *c, spot_key *key, const char *text, spot_predictor *p);

/* Picture k of SPOT_OWN_PICTURES, (side, side, 3): colours that are the same everywhere, by which a program is known. */
enum { SPOT_OWN_PICTURES = 4 };
void spot_own_picture(uint8_t *rgb, int side, int k);

#endif
