/* paired.h - the same rows before and after: exact tests of a change, and intervals for it. */
#ifndef SPOTTER_PAIRED_H
#define SPOTTER_PAIRED_H

#include "spotter/interval.h"

/* McNemar's test, exact. Of a + b rows that changed, a changed to one side: P(X >= a), X the heads of a + b fair coins.
 * spot_mcnemar: two-sided, P of counts as uneven as a and b. */
double spot_mcnemar_tail(int a, int b);
double spot_mcnemar(int a, int b);

/* The least number of rows that all change to one side for which `tests` * p is at most level. */
int spot_mcnemar_enough(double tests, double level);

/* The variance of (up - down) / n, n > 0, where the change is `by` in (-1, 1); its nuisance parameter, the share of falls, has
 * its greatest likelihood. */
double spot_paired_square(double up, double down, int n, double by);

/* The change of a share in n pairs of which `up` rose and `down` fell, (up - down) / n, with the interval of those changes that
 * a score test at z does not refuse (Tango, Statistics in Medicine 17, 1998). z 1.960: 95 %. Its width is not 0 where nothing
 * changed. NaN, from -1 to 1, for n = 0. */
spot_interval spot_paired_change(int up, int down, int n, double z);

#endif
