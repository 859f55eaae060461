/* factors.h - results by factor (paper, section 5.1.1): the number of an EC's blindspots, a blindspot's specificity, the
 * kinds of features that define it; and beyond the paper: how blindspots were planted, the EC's complexity (attributes that
 * vary), a blindspot's severity (the classifier's error on its test positives). */
#ifndef SPOTTER_FACTORS_H
#define SPOTTER_FACTORS_H

#include "report/table/features.h"
#include "report/table/results.h"

/* A mean and its 95 % interval. DR and FDR: mean +- 1.96 standard errors over ECs, cut at 0 and 1. Share of blindspots:
 * Wilson's, which takes them as independent. NaN if n is too small. left_out: ECs (or blindspots) of the level that are done
 * and not among the n: not trained, not learned, the method failed; for FDR also those with DR = 0. An FDR that cannot be known
 * is in neither. */
typedef struct { double mean, se, low, high; int n, left_out; } spot_estimate;

typedef enum { SPOT_RATE_DR, SPOT_RATE_FDR, SPOT_RATE_COVERED } spot_rate;

enum { SPOT_SEVERITIES = 5 };          /* bins of equal width: errors [0, 0.2), ..., [0.8, 1] */

/* Selects ECs or blindspots; -1 in one of the first four, 0 in the last three selects all. DR and FDR are of ECs: only
 * `blindspots`, `induce` and `complexity` apply to them. An EC without blindspots has neither. */
typedef struct {
    int blindspots;            /* number of blindspots in the EC */
    int specificity;           /* number of triplets in a blindspot */
    int feature, has;          /* has: the feature defines the blindspot */
    int induce;                /* 1 + spot_induce */
    int complexity;            /* attributes that vary in the EC */
    int severity;              /* 1 + bin */
} spot_level;

#define SPOT_EVERY ((spot_level){ -1, -1, -1, -1, 0, 0, 0 })

/* A share with Wilson's interval; NaN where `of` is 0. */
spot_estimate spot_share(int count, int of);

spot_estimate spot_factor(const spot_results *r, int method, spot_rate rate, spot_level level);

/* Iterates over all levels of the counted ECs: DR and FDR by number of blindspots, the share of covered blindspots by
 * specificity and by feature; DR and FDR by induce and by complexity, the share by severity. Begin with *i = 0; false at the
 * end. */
typedef struct { spot_rate rate; spot_level level; char factor[48], value[16]; } spot_factor_row;

/* Whether the row's factor is one of the last three. */
bool spot_factor_is_of_planting(const spot_factor_row *row);

bool spot_factor_next(const spot_results *r, int *i, spot_factor_row *row);

/* The same by number, 0 to count - 1: false for a level that the run does not have. */
long spot_factor_count(void);
bool spot_factor_at(const spot_results *r, int i, spot_factor_row *row);

#endif
