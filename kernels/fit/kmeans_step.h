/* kmeans_step.h - the sums and the draw of k-means++, for kmeans.c and kmeans.cu. One chain in the order of points. */
#ifndef SPOTTER_KMEANS_STEP_H
#define SPOTTER_KMEANS_STEP_H

#include "core/hd.h"

static SPOT_HD inline double spot_kmeans_sum(const double *near, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += near[i];
    return sum;
}

/* The first point at which the running sum of near reaches want. */
static SPOT_HD inline int spot_kmeans_draw(const double *near, int n, double want)
{
    double sum = 0;

    for (int i = 0; i < n - 1; i++)
        if ((sum += near[i]) >= want) return i;
    return n - 1;
}

#endif
