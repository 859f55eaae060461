/* agreement.h - labels by several raters, and accuracies over repeated random splits. */
#ifndef SPOTTER_AGREEMENT_H
#define SPOTTER_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"
#include "spotter/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fleiss' kappa (1971). count: (subjects, categories), how many raters gave a subject a category, with equally many raters, at
 * least 2, for every subject: else SPOT_INPUT. With P_i the share of agreeing pairs of raters and p_j the share of category j
 * among all labels, kappa = (mean P_i - sum p_j^2) / (1 - sum p_j^2). NaN where all labels are of one category, for which the
 * formula is 0 / 0. */
spot_status spot_fleiss_kappa(spot_ctx *c, double *kappa, const int *count, int subjects, int categories);

/* The category that most raters gave. *tied: another has as many, and this is the first of them. count: (categories) */
int spot_majority(const int *count, int categories, bool *tied);

/* Harmonic mean of precision and recall; 0 if both are 0. Neither may be below 0. */
double spot_f1(double precision, double recall);

/* A random split: order (n) gets the rows of 0..n-1, first the part that is fitted to. Returns that part's size: n less a
 * third of it, rounded up, as scikit-learn does. `split` is an address: repeated splits have different ones. */
int spot_split_rows(uint32_t *order, int n, spot_seed seed, int split);

/* Mean and standard deviation (n - 1) of n values; the deviation of one value is 0. */
typedef struct { double mean, deviation; int n; } spot_spread;
spot_spread spot_spread_of(const double *value, int n);

#ifdef __cplusplus
}
#endif
#endif
