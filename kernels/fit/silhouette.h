/* silhouette.h - silhouettes (Rousseeuw 1987) of all points of many labellings: how much nearer a point lies to its own
 * cluster than to the nearest other one.
 *
 *   D(i,c) = sum over the points j of cluster c, in their order, of |x_i - x_j|
 *   a = D(i, own) / (own's points - 1),   b = the least D(i,c) / c's points over the other clusters that have any
 *   silhouette[i] = (b - a) / max(a, b);   0 for a single point, for a = b = 0, and without other clusters
 *
 * Points are fp32, all else is fp64. A distance is the root of one fmaf chain in the order of the coordinates, D one chain in
 * the order of j, so every device gives the same bits (gpu_to_gpu). scikit-learn's silhouette_samples agrees to 1e-12 when
 * it is given such distances, and to about 1e-8 with its own, which lose digits where points are near.
 * On the CPU, consecutive jobs on the same points share their distances.
 * Arrays lie in the memory of c's device, the jobs on the host. */
#ifndef SPOTTER_SILHOUETTE_H
#define SPOTTER_SILHOUETTE_H

#include <stdint.h>

#include "core/ops.h"

enum { SPOT_SILHOUETTE_CLUSTERS = 1024 };

/* One job is one (problem, labelling). */
typedef struct {
    int n, d, k;
    const float    *x;             /* (n, d) */
    const uint16_t *label;         /* (n): below k */
    double         *silhouette;    /* (n), out */
} spot_silhouette_job;

struct spot_silhouette_ops {
    spot_status (*samples)(spot_ctx *c, const spot_silhouette_job *jobs, int count);
};

/* n, d >= 1 and 1 <= k <= SPOT_SILHOUETTE_CLUSTERS. */
spot_status spot_silhouette_samples(spot_ctx *c, const spot_silhouette_job *jobs, int count);

#endif
