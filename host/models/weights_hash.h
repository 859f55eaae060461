/* weights_hash.h - a file of weights as a key. */
#ifndef SPOTTER_WEIGHTS_HASH_H
#define SPOTTER_WEIGHTS_HASH_H

#include "base/key.h"
#include "spotter/ctx.h"

/* The hash of a file's bytes. */
spot_status spot_weights_hash(spot_ctx *c, spot_key *key, const char *path);

#endif
