/* trust_region.h - the box in which TuRBO-1 searches (Eriksson et al. 2019, section 2): it doubles after successes in a row, is
 * halved after failures in a row, and ends when it is too small. */
#ifndef SPOTTER_TRUST_REGION_H
#define SPOTTER_TRUST_REGION_H

#include <stdbool.h>

typedef struct {
    double length, least, most;    /* side of the box; its range */
    int    successes, failures;    /* in a row that double it, that halve it */
    int    success, failure;       /* so far in a row */
    double best;                   /* greatest loss */
} spot_trust_region;

/* Tells the region the greatest loss of a batch: a success is more than a thousandth of |best| above the best. False: the box
 * is smaller than `least`, and the search begins anew. */
bool spot_trust_region_move(spot_trust_region *t, double greatest);

/* The box around center (dims), its sides in proportion to the length scales (dims), of which the geometric mean is taken out;
 * cut at the cube's border, but for whole turns, where it is at most one turn. */
void spot_trust_region_box(const spot_trust_region *t, int dims, const double *center, const double *scale, const bool *turns,
                           double *low, double *high);

#endif
