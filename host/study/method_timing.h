/* method_timing.h - the time that a method takes with its reduction, as a function of the rows of a view. */
#ifndef SPOTTER_METHOD_TIMING_H
#define SPOTTER_METHOD_TIMING_H

#include "spotter/config.h"
#include "study/chain.h"
#include "study/reducer_timing.h"

/* On r rows the method takes at (r / rows)^power, and its reduction what the reducer's own growth makes of `map`. */
typedef struct {
    double              rows, power;
    spot_spent          at;
    spot_reducer_timing map;               /* rows 0: no reduction, or an earlier method's */
} spot_method_timing;

/* Times method b of the config on a small view, then on larger ones of up to `most` rows as long as a view of twice the rows
 * should take less than `patience` seconds. The first view has `least` rows, at most 400. A method that shares its points with
 * an earlier one counts without the reduction. A method that fails on such views counts nothing. */
spot_status spot_method_timing_take(spot_ctx *c, spot_arena *a, spot_method_timing *t, const spot_config *cfg, int b, int least,
                                    int most, int features, double patience);
spot_spent  spot_method_timing_at(const spot_method_timing *t, const spot_embed_config *embed, int rows);

/* A made-up view like a network's, in the arena: rows around some centres, of which the first three have many errors. */
enum { SPOT_TIMING_CENTRES = 16 };
spot_status spot_method_timing_view(spot_ctx *c, spot_arena *a, spot_view *v, spot_truth *truth, uint64_t seed, int rows,
                                    int features);

#endif
