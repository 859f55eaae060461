/* clusters.h - clusters of rows as hypotheses. */
#ifndef SPOTTER_CLUSTERS_H
#define SPOTTER_CLUSTERS_H

#include "bdm/rank.h"
#include "spotter/bdm.h"

/* Ranks the clusters that have rows, by errors x error rate, highest first; returns their number. label (n): below k, or -1 for
 * none. ranks (k): `which` is the label, `error` the mean of spot_view_error. */
int spot_clusters_rank(spot_rank *ranks, int k, const int *label, const spot_view *view);

/* Lists the first `top` of `len` ranked clusters. row (n) receives the rows. */
void spot_clusters_list(spot_hypotheses *out, int *row, const spot_rank *ranks, int len, int top, const int *label, int n);

#endif
