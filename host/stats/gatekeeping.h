/* gatekeeping.h - tests that are asked in an order: levels of hypotheses, each with its share of the error (Bretz, Maurer,
 * Brannath and Posch, Statistics in Medicine 28, 2009). The familywise error is kept whatever the dependence of the tests. */
#ifndef SPOTTER_GATEKEEPING_H
#define SPOTTER_GATEKEEPING_H

#include "stats/statistics.h"

enum { SPOT_GATES = 8 };               /* levels at most */

/* A level is the next `n` hypotheses, and has `share` of the error. */
typedef struct { int n; double share; } spot_gate;

/* Within a level Holm's procedure tests. A level without hypotheses, or all of whose hypotheses are rejected, passes its share
 * on to the next; shares behind the last hypothesis are that one's level's. p (sum of n) becomes the least error of the whole
 * at which it is rejected: compare it with `level`. at (sum of n), unless NULL: the level at which each hypothesis by itself is
 * looked at when the procedure ends at `level`: it is rejected where its p was at most that. scratch (sum of n). */
void spot_gatekeep(double *p, double *at, const spot_gate *gate, int gates, double level, spot_ranked_p *scratch);

#endif
