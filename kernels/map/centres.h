/* centres.h - the nearest of k centres for every row, for `problems` independent sets of rows, in fp32.
 *
 *     label[i] = arg min_c sum_j u^2,  u = x[i,j] - centre[j,c]
 *
 * One chain in the order of j, in which difference, square and sum are rounded one after the other; of equal distances the
 * first centre's. The same bits on every device (gpu_to_gpu) and for any number of threads.
 *
 * Problems lie on the host; what they point to, in the memory of c's device. */
#ifndef SPOTTER_CENTRES_H
#define SPOTTER_CENTRES_H

#include "core/ops.h"

enum { SPOT_CENTRES_MOST = 512 };      /* centres */

typedef struct {
    int n, d, k;
    const float *x;            /* (n, d), finite */
    const float *centre;       /* (d, k): a column to a centre, finite */
    int *label;                /* (n), out */
} spot_centres_problem;

struct spot_centres_ops {
    spot_status (*nearest)(spot_ctx *c, int problems, const spot_centres_problem *p);
};

/* SPOT_INVALID unless n >= 0, d >= 1 and 1 <= k <= SPOT_CENTRES_MOST. */
spot_status spot_centres_nearest(spot_ctx *c, int problems, const spot_centres_problem *p);

#endif
