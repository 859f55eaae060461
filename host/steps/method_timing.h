/* method_timing.h - the time of a method with its reduction, and its growth with the rows of a view. */
#ifndef SPOTTER_METHOD_TIMING_H
#define SPOTTER_METHOD_TIMING_H

#include "spotter/config.h"
#include "steps/chain.h"

typedef struct { double rows, power; spot_spent at; } spot_method_timing;     /* on r rows: at (r / rows)^power */

/* Times method b of the config on a small view, and on as large a one, of `least` to `most` rows, as `patience` seconds let
 * hope for. A method that shares its points with an earlier one pays for finding alone. One that cannot work on such views
 * takes nothing. */
spot_status spot_method_timing_take(spot_ctx *c, spot_arena *a, spot_method_timing *t, const spot_config *cfg, int b, int least,
                                    int most, int features, double patience);
spot_spent  spot_method_timing_at(const spot_method_timing *t, int rows);

/* A view like those of a network: rows around some centres, each with a share of errors of its own. In the arena. */
enum { SPOT_TIMING_CENTRES = 16 };
spot_status spot_method_timing_view(spot_ctx *c, spot_arena *a, spot_view *v, spot_truth *truth, uint64_t seed, int rows,
                                    int features);

#endif
