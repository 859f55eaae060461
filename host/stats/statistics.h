/* statistics.h - tests and intervals that several studies use: whether a mean has changed (a bootstrap interval of the
 * difference, and its p-value), Holm's correction, tails of distributions, differences of shares.
 *
 * The interval of a mean's difference is BCa (Efron 1987): DR takes values like 0, 1/3, 1/2, 1, and differences on the same ECs
 * are mostly 0. Where 8 % of 100 ECs lose a blindspot, the 95 % intervals of 400 samples missed the truth (above + below) 4.0 +
 * 3.5 % of the time with BCa, 6.5 + 1.5 % with percentiles, 11.5 + 0.8 % with the basic bootstrap, 9.0 + 1.2 % with Student's
 * t.
 *
 * The p-value is from a randomization test: if both sides run the same code, all signs of a difference (pairs) or all divisions
 * of the pooled values in two (independent ECs) are equally likely. This is exact for values of any distribution. */
#ifndef SPOTTER_STATISTICS_H
#define SPOTTER_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"
#include "spotter/interval.h"

enum { SPOT_RESAMPLES = 10000, SPOT_RANDOMIZATIONS = 100000 };

typedef struct {
    double mean;                   /* now - before */
    double low, high;              /* 95 % interval */
    double inner_low, inner_high;  /* 90 % interval: inside the margins it shows equivalence at 5 % (two one-sided tests) */
    double p;                      /* one-sided, in the direction of the mean; 1 if all values are equal */
    bool   equal;                  /* pairs, and every difference is 0 */
} spot_difference;

/* Pairs: x holds n differences and y is NULL. Else x holds the n values of now and y the m values of before. n and m are not 0.
 * address: of the random numbers; one for each number of a report, so that no number depends on the others. */
spot_status spot_difference_of(spot_ctx *c, spot_difference *d, const double *x, int n, const double *y, int m,
                               uint32_t address);

/* Holm: replaces p (n) by adjusted values; compare them with the level of the whole family. scratch (n). */
typedef struct { double p; int at; } spot_ranked_p;
void spot_rank_p(spot_ranked_p *r, const double *p, int n);        /* the least p first, of equal ones the earlier */
void spot_holm(double *p, int n, spot_ranked_p *scratch);

/* The level of a family of tests where no setting says another, and the comparison with a level. NaN is not significant. */
#define SPOT_LEVEL 0.05
static inline bool spot_is_significant(double p, double level) { return p <= level; }

double spot_normal_quantile(double p);
double spot_normal_tail(double z);     /* P(Z > z) */

/* P(X > x) of a gamma distribution of this mean and variance, both above 0 (Wilson and Hilferty 1931: cube roots are nearly
 * normal). */
double spot_gamma_tail(double x, double mean, double variance);

/* Student's t with df >= 1 degrees of freedom: P(T > t), and the t >= 0 with P(T > t) = p for p in (0, 0.5]. */
double spot_student_tail(double t, int df);
double spot_student_above(double p, int df);

/* P(X >= inside), X the number of a group of rows among `covered` random ones of `rows`: Fisher's exact test, one-sided. */
double spot_hypergeometric_tail(int rows, int group, int covered, int inside);

/* P(X >= inside), X the sum over `strata` of independent such numbers: of a stratum's rows, `group` of them in the group,
 * `covered` are drawn. Exact, by convolution; for one stratum as spot_hypergeometric_tail. scratch: 2 (1 + sum of covered)
 * numbers. */
typedef struct { int rows, group, covered; } spot_stratum;
double spot_stratified_tail(const spot_stratum *s, int strata, int inside, double *scratch);

/* tail (1 + sum of covered): that of every number. */
void spot_stratified_tails(double *tail, const spot_stratum *s, int strata, double *scratch);

/* 95 % interval of the difference of two independent shares, a / n - b / m, from Wilson's intervals (Newcombe 1998, method 10).
 * n and m are not 0. */
spot_interval spot_share_difference(int a, int n, int b, int m);

/* Share of wrong rows among `rows` rows less that of their classes, (wrong - base) / rows, with its 95 % interval. all,
 * all_wrong: the rows of these classes and the wrong ones, `rows` among them; base: wrong rows that the classes' rates let
 * expect, which is rows * all_wrong / all for one class. The other rows are independent of these, and difference =
 * (1 - rows / all) (share - share of the others), so the interval is Newcombe's of the latter, made smaller. With several
 * classes the others count as one class, and the interval is moved to the difference; it is then rather too wide than too
 * narrow (tests/test_excess.c). NaN for no rows. */
spot_interval spot_share_excess(int wrong, int rows, int all_wrong, int all, double base);

/* The same where rows depend on each other: these rows tell as much as `worth` rows that are drawn one by one, the others as
 * much as `others`. */
spot_interval spot_share_excess_worth(int wrong, int rows, int all_wrong, int all, double base, double worth, double others);

#endif
