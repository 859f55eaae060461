/* reducer_timing.h - the time of a reducer, from a few of its iterations and some more. */
#ifndef SPOTTER_REDUCER_TIMING_H
#define SPOTTER_REDUCER_TIMING_H

#include "spotter/embed.h"

typedef struct {
    int        rows;           /* of the view that was timed */
    double     neighbours;     /* seconds of a plain search for neighbours, which is a part of `before`; 0: not timed */
    spot_spent before, step;   /* until the first iteration; of each */
} spot_reducer_timing;

/* Makes points of the view, in the arena. Neighbours are timed apart where `neighbours` is true. */
spot_status spot_reducer_timing_take(spot_ctx *c, spot_arena *a, spot_reducer_timing *t, spot_points *points,
                                     const spot_view *view, const spot_embed_config *cfg, bool neighbours);

/* Iterations on n rows; 0 for a reducer without. */
int spot_reducer_iterations(const spot_embed_config *cfg, int n);

/* Seconds of the clock on n rows, by the known growth of the reducer's parts. */
double spot_reducer_timing_seconds(const spot_reducer_timing *t, const spot_embed_config *cfg, int n);

#endif
