/* change_test.h - a share before and after on the same rows, tested against a margin. A change is the share of rows that rose
 * less the share that fell.
 *
 *     rows alone     Tango's score test of a paired difference (paired.h), its p not less than McNemar's exact one
 *     groups         not less than Student's t of the groups' sums, either; the exact test is that of their signs
 *     several before the rows after against the mean of several befores: (1 + 1 / befores) / 2 of the variance of a pair, and
 *                    the exact test is that of the mean counts, rounded
 *     spread         variance of the change beyond that of the rows, known from `freedom` degrees of freedom: it joins the
 *                    variance of the test, whose tail is Student's then (Satterthwaite 1946) */
#ifndef SPOTTER_CHANGE_TEST_H
#define SPOTTER_CHANGE_TEST_H

#include "spotter/interval.h"
#include "stats/group_sums.h"

typedef struct {
    double up, down;           /* rows that rose and fell, ... */
    int    n;                  /* ... among n; the mean of several comparisons with the same rows after, whose ... */
    double scale;              /* ... change has this part of the variance of one of them: 1 */
    int    groups;             /* of the rows; 0: rows are alone */
    double error;              /* with groups: standard error of the change */
    double exact[2];           /* P of so great a rise, of so great a fall, where nothing changed */
    double spread;             /* variance; 0: none */
    int    freedom;            /* of the spread */
} spot_change_test;

/* befores: comparisons, over which up and down are means. sums: of each group's rows that rose less those that fell, NULL where
 * rows are alone; address: of the signs' draws. */
spot_change_test spot_change_test_of(double up, double down, int n, int befores, const spot_group_sums *sums, uint32_t address);

/* The p of the hypotheses that the change is at most `by`, and at least. 1 for no rows. */
double spot_change_above(const spot_change_test *t, double by);
double spot_change_below(const spot_change_test *t, double by);

/* The change, with the interval of those that neither test refuses at its tail. NaN from -1 to 1 for no rows. */
spot_interval spot_change_interval(const spot_change_test *t, double tail_above, double tail_below);

/* How many rows of this kind a test at `tail` would need to tell the change, if it stays as it is, from `by` with a probability
 * of 80 %: normal theory. INFINITY: it is `by`, or the spread alone hides it. */
double spot_change_needed(const spot_change_test *t, double by, double tail);

#endif
