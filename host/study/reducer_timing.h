/* reducer_timing.h - the time of a reducer, estimated from a run of few iterations and a run of more. */
#ifndef SPOTTER_REDUCER_TIMING_H
#define SPOTTER_REDUCER_TIMING_H

#include "spotter/embed.h"

typedef struct {
    int        rows;           /* of the view that was timed */
    spot_spent neighbours;     /* time of a plain search for neighbours, included in `before`; 0: none, or not timed */
    spot_spent before, step;   /* time before the first iteration; time per iteration */
} spot_reducer_timing;

/* Computes points of the view in the arena. On the CPU the search for neighbours of those reducers that have one is timed by
 * itself, too, since it grows otherwise than the rest. */
spot_status spot_reducer_timing_take(spot_ctx *c, spot_arena *a, spot_reducer_timing *t, spot_points *points,
                                     const spot_view *view, const spot_embed_config *cfg);

/* Iterations on n rows; 0 for a reducer without iterations. */
int spot_reducer_iterations(const spot_embed_config *cfg, int n);

/* The time on n rows, from the known growth of the reducer's parts. */
spot_spent spot_reducer_timing_at(const spot_reducer_timing *t, const spot_embed_config *cfg, int n);

#endif
