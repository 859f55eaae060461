/* scan_join.h - the end of a search in a tree of clusters: slices that are one thing are joined (scan_tree.h has the rules),
 * and what it shares with the search before it. */
#ifndef SPOTTER_SCAN_JOIN_H
#define SPOTTER_SCAN_JOIN_H

#include "bdm/scan_tree.h"

/* How far the rows of side 0 and side 1 are apart, in standard deviations; 0 where a side has fewer than 5 rows. */
double spot_scan_apart(const spot_scan *s);

/* Joins the chosen nodes, and marks each leaf with its slice. */
void spot_scan_join(spot_scan *s);

/* The mean of node v's rows; of the m rows with mean a and the n rows with mean b together; a squared distance; whether a node
 * has the leaf at a place. */
static inline double *spot_scan_mean(const spot_scan *s, int v) { return s->mean + (size_t)v * (size_t)s->d; }
static inline bool spot_scan_is_in(const spot_scan_node *t, int place) { return t->from <= place && place < t->to; }

static inline void spot_scan_mix(double *to, const double *a, double m, const double *b, double n, int d)
{
    for (int j = 0; j < d; j++) to[j] = m + n > 0 ? (m * a[j] + n * b[j]) / (m + n) : 0;
}

static inline double spot_scan_square(const double *a, const double *b, int d)
{
    double sum = 0;

    for (int i = 0; i < d; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

#endif
