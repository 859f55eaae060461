/* squares_ahead.h - a thread decodes squares that are needed next, while a device works on those of now. */
#ifndef SPOTTER_SQUARES_AHEAD_H
#define SPOTTER_SQUARES_AHEAD_H

#include "background/suite/squares.h"
#include "base/ahead.h"

/* Zeroed: nothing is under way. */
typedef struct {
    spot_ahead thread;
    spot_ctx  own;                             /* its sentences come again when the squares are needed */
    spot_square_cache *cache[2];
    const int *item[2];
    int       n[2];
} spot_squares_ahead;

/* Begins to make n[i] squares of two caches present, which nobody else may touch until the join. item[i] must stay as long.
 * Without a thread for it nothing happens. */
void spot_squares_ahead_start(spot_ctx *c, spot_squares_ahead *a, spot_square_cache *const cache[2], const int *const item[2],
                              const int n[2]);
void spot_squares_ahead_join(spot_squares_ahead *a);

#endif
