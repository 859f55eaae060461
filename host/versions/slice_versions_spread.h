/* slice_versions_spread.h - the rows on which two versions are compared, and how equal trainings differ on them. */
#ifndef SPOTTER_SLICE_VERSIONS_SPREAD_H
#define SPOTTER_SLICE_VERSIONS_SPREAD_H

#include "spotter/versions.h"
#include "stats/group_sums.h"

/* Rows on which the versions are compared: row (n), of class cls or of their own. */
typedef struct {
    spot_version_counts *counts;
    const int *row;
    int    n, cls;
    double ratio;              /* square of a change between two equal trainings over ... */
    double square;             /* ... the sum of its rows' squares; rows that have nothing in common let expect 1. Means over
                                * pairs of trainings; 0: no row changed, or there are too few */
} spot_question;

/* The questions of a comparison, level by level: n[l] of each. */
typedef struct {
    spot_question *of;
    int n[SPOT_ASK_LEVELS];
    const spot_subject *const *s;
    const spot_versions_options *o;
    spot_group_sums sums;      /* where rows have groups */
    const spot_subject **before;           /* (o->retrains + 1): trainings of version 1, the compared one first */
} spot_questions;

/* How equal trainings differ: version 1 and o->retrain, on the classes, guards and slices of q. Fills ratio and square of all
 * questions, too. */
spot_status spot_spread_measure(spot_ctx *c, spot_questions *q, spot_version_spread *spread);

/* The share of one question: the pooled one, or its own where trainings differ on its rows by more than that lets expect (a
 * chi-squared test at 5 %), as they do on pictures that look alike; *freedom is then that of its own trainings. */
double spot_question_share(const spot_questions *q, const spot_question *x, double pooled, int *freedom);

/* The variance that equal trainings add to a change of n rows, of which the squared sums of lost less gained rows (of their
 * groups) are `square` together; share: of spot_version_spread. */
static inline double spot_spread_variance(double share, double square, int n)
{
    return n > 0 ? share * square * (n - 1) / n / n : 0;
}

/* Fills sums with lost less gained rows, by group, from `befores` trainings, of which the mean is taken, to version b; returns
 * the sum of their squares. Rows alone: each is a group, and sums are not touched. *up, *down: lost and gained rows. */
double spot_question_sums(spot_questions *q, const spot_question *x, const spot_subject *const *before, int befores,
                          const spot_subject *b, double *up, double *down);

#endif
