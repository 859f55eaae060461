/* realness.h - how models answer blends that are more and less like their originals (paper 003, 4.2.2: realness is 1 - the
 * semantic distance of a blend to its original). */
#ifndef SPOTTER_REALNESS_H
#define SPOTTER_REALNESS_H

#include "spotter/background.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPOT_REALNESS_BINS = 8 };

/* The blends with a realness from `from` to below `to` (the last bin has its end), of all models. accuracy: share of right
 * answers. flipped: share of wrong ones among the blends of objects that the model knows on the original. Intervals: 95 %,
 * percentiles of 2,000 draws of targets, since the blends of a target are alike. NaN in a bin without blends; no
 * interval where the blends are of one target. */
typedef struct {
    double from, to;
    int    blends;
    double looks;                  /* blends times models */
    spot_interval accuracy, flipped;
} spot_realness_bin;

/* Bins of equal width between the least and the greatest realness of the run's suite. Reads the responses of all models in dir.
 * The same numbers for any number of threads. */
spot_status spot_realness_bins(spot_ctx *c, spot_realness_bin bin[SPOT_REALNESS_BINS], const spot_background_results *r,
                               const char *dir);

#ifdef __cplusplus
}
#endif
#endif
