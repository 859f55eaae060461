/* labels_alike.h - names of classes that may be meant as one. */
#ifndef SPOTTER_LABELS_ALIKE_H
#define SPOTTER_LABELS_ALIKE_H

#include "spotter/ctx.h"

/* Warns of names that differ only in case, in spaces around them, or in Unicode's normal form: "dog" and "Dog ". file: for the
 * sentence. */
spot_status spot_labels_warn_alike(spot_ctx *c, char *const *name, int n, const char *file);

#endif
