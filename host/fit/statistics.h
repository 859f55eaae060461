/* statistics.h - is a mean another one now? A bootstrap interval of the difference, and the probability of one as large.
 *
 * The interval is BCa (Efron 1987): DR takes values like 0, 1/3, 1/2, 1, and differences on the same ECs are mostly 0. Where
 * 8 % of 100 ECs lose a blindspot, the 95 % intervals of 400 samples lay beside the truth (above + below) 4.0 + 3.5 % of the
 * time with BCa, 6.5 + 1.5 % with percentiles, 11.5 + 0.8 % with the basic bootstrap, 9.0 + 1.2 % with Student's t.
 *
 * The probability is that of a test by randomization: were both sides the same code, every sign of a difference (pairs), or
 * every division of the pooled values in two (independent ECs), would be as likely. That is exact, whatever the values look
 * like, where tails of normal distributions are not. */
#ifndef SPOTTER_STATISTICS_H
#define SPOTTER_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"

enum { SPOT_RESAMPLES = 10000, SPOT_RANDOMIZATIONS = 100000 };

typedef struct {
    double mean;                   /* of now - before */
    double low, high;              /* 95 % */
    double inner_low, inner_high;  /* 90 %: within the margins it shows equivalence at 5 % (two one-sided tests) */
    double p;                      /* of a difference as large in its direction, one-sided; 1 where all values are equal */
    bool   equal;                  /* pairs, and every difference is 0 */
} spot_difference;

/* Pairs: x holds n differences, y is NULL. Else x the n values of now, y the m of before. n and m are not 0. Random numbers are
 * those of this address. */
spot_status spot_difference_of(spot_ctx *c, spot_difference *d, const double *x, int n, const double *y, int m,
                               uint32_t address);

/* Holm: p (n, at most SPOT_HOLM_MOST) is replaced by adjusted values, to be compared with the level of the whole family. */
enum { SPOT_HOLM_MOST = 1024 };
void spot_holm(double *p, int n);

double spot_normal_quantile(double p);
double spot_normal_tail(double z);     /* P(Z > z) */

#endif
