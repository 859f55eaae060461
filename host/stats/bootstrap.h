/* bootstrap.h - percentile intervals of numbers that are drawn again and again, and of a mean. (statistics.h has the BCa
 * interval of a difference.) */
#ifndef SPOTTER_BOOTSTRAP_H
#define SPOTTER_BOOTSTRAP_H

#include "spotter/interval.h"

enum { SPOT_REDRAWS = 2000 };

/* Sets low and high of v to the 2.5 and 97.5 percentiles of those of n draws that are finite, which it sorts to the front. They
 * are NaN if v->value is not finite or fewer than `least` draws are. Returns how many are finite. */
int spot_percentiles(spot_interval *v, double *draw, int n, int least);

/* Computes the numbers of one draw, for which it takes random numbers from r: number k goes to out[k * SPOT_REDRAWS]. Threads
 * call it at the same time. */
typedef void spot_draw_fn(double *out, const void *of, spot_rng *r);

/* Draw d has the random numbers at (seed, SPOT_RNG_BOOTSTRAP, unit), index d. */
typedef struct {
    uint64_t seed;
    uint32_t unit;
    int numbers, least;        /* numbers of a draw; fewest finite draws of an interval */
    spot_draw_fn *draw;
    const void *of;
} spot_bootstrap;

/* Sets low and high of v (numbers) by SPOT_REDRAWS draws. scratch (numbers * SPOT_REDRAWS). The same bits for any threads. */
void spot_bootstrap_run(spot_interval *v, const spot_bootstrap *b, int threads, double *scratch);

/* The mean of those of n values that are finite, which it moves to the front, and its interval by draws of as many of them.
 * NaN if there are none. scratch (SPOT_REDRAWS). */
spot_interval spot_bootstrap_mean(double *value, int n, uint32_t unit, int threads, double *scratch);

#endif
