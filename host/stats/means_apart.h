/* means_apart.h - whether the mean of one group of values in [0, 1] is above that of another by more than a margin. */
#ifndef SPOTTER_MEANS_APART_H
#define SPOTTER_MEANS_APART_H

#include "spotter/ctx.h"
#include "spotter/interval.h"

/* The mean of n > 0 independent values in [0, 1]. */
typedef struct { double mean; int n; } spot_counted_mean;

/* p of "the expectation of x is at most that of y + margin", margin in [0, 1): exact for shares of hits, by the greatest chance
 * over the unknown share of a region that is ordered by the difference in standard errors (Chan 1998). Values between 0 and 1
 * vary less than hits of the same mean, for which their p is rather too large than too small. Ties and values that are all 0
 * or all 1 need no exception. Time grows with x.n * y.n. */
spot_status spot_mean_exceeds(spot_ctx *c, double *p, spot_counted_mean x, spot_counted_mean y, double margin);

/* x - y with its 95 % interval as spot_share_difference has it, for values in [0, 1] rather too wide than too narrow. */
spot_interval spot_mean_difference(spot_counted_mean x, spot_counted_mean y);

#endif
