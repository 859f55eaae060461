/* method_timing.h - how the time of a method with its reduction grows with the rows of a view. */
#ifndef SPOTTER_METHOD_TIMING_H
#define SPOTTER_METHOD_TIMING_H

#include "sweep/pipeline.h"

typedef struct { double rows, power; spot_spent at; } spot_method_timing;     /* on r rows: at (r / rows)^power */

/* On a small view, and on as large a one, of `least` to `most` rows, as `patience` seconds let hope for. A method that shares
 * its points with an earlier one of the config pays for finding alone; one that cannot work on such views takes nothing. */
spot_status spot_method_timing_take(spot_ctx *c, spot_arena *a, spot_method_timing *g, const spot_config *cfg, int b, int least, int most,
                             int features, double patience);
spot_spent  spot_method_timing_at(const spot_method_timing *g, int rows);

/* Does an earlier method of the config make the points that this one looks at? */
bool spot_has_points_before(const spot_config *cfg, int b);

/* A view as a network's features of an EC lie: around some centres, each with a share of errors of its own. In the arena. */
enum { SPOT_GROWTH_CENTRES = 16 };
spot_status spot_method_timing_view(spot_ctx *c, spot_arena *a, spot_view *v, spot_truth *truth, uint64_t seed, int rows,
                             int features);

#endif
