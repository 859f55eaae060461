/* affinity.h - from squared distances to probabilities of being neighbours (van der Maaten & Hinton 2008, eq. 1).
 *
 *   nearest: per row of d (n,m), the k smallest distances, ordered by column; ties go to the lower column.
 *   rows:    per row, p_j = exp(-beta d_j) / sum, with the beta at which -sum p log p is the wanted entropy.
 *
 * An entry of SPOT_FAR or more is no neighbour and gets p = 0: a row's own column, padding. beta starts at 1, is doubled or
 * halved until it is bracketed, then bisected, as both scikit-learn and scvis do; an entropy that k neighbours cannot
 * reach ends uniform. fp32 with 16 fixed partial sums per row; beta and entropy fp64. run_to_run, devices to 1e-5. */
#ifndef SPOTTER_KERNELS_AFFINITY_H
#define SPOTTER_KERNELS_AFFINITY_H

#include <stdint.h>

#include "ops.h"
#include "spotter/tensor.h"

#define SPOT_FAR 1e30f

typedef struct {
    double entropy;       /* wanted, in nats: log(perplexity) */
    double tolerance;     /* of the entropy */
    int    tries;         /* values of beta looked at, at most */
} spot_affinity_rule;

struct spot_affinity_ops {
    spot_status (*nearest)(spot_ctx *c, spot_mat d, int *column, spot_mat near, uint64_t *scratch);
    spot_status (*rows)(spot_ctx *c, spot_mat p, spot_mat d, const spot_affinity_rule *rule);
};

/* column and near are (n,k), 0 < k <= m; scratch is (n,m). */
spot_status spot_affinity_nearest(spot_ctx *c, spot_mat d, int *column, spot_mat near, uint64_t *scratch);

/* p and d are (n,k) and do not overlap. */
spot_status spot_affinity_rows(spot_ctx *c, spot_mat p, spot_mat d, const spot_affinity_rule *rule);

/* One row on the CPU; what larger CPU kernels call inside their own loops. */
void spot_affinity_row(float *p, const float *d, int k, const spot_affinity_rule *rule);

#endif
