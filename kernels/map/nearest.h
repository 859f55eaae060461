/* nearest.h - the nearest of k centres for every row, for `problems` independent sets of rows, in fp32.
 *
 *     label[i] = arg min_c sum_j u^2,  u = x[i,j] - centre[j,c]
 *
 * One chain in the order of j, in which difference, square and sum are rounded one after the other; of equal distances the
 * first centre's. The same bits on every device (gpu_to_gpu) and for any number of threads.
 *
 * Problems lie on the host; what they point to, in the memory of c's device. */
#ifndef SPOTTER_NEAREST_H
#define SPOTTER_NEAREST_H

#include "core/ops.h"

enum { SPOT_NEAREST_MOST = 512 };      /* centres */

typedef struct {
    int n, d, k;
    const float *x;            /* (n, d), finite */
    const float *centre;       /* (d, k): a column to a centre, finite */
    int *label;                /* (n), out */
} spot_nearest_problem;

struct spot_nearest_ops {
    spot_status (*centres)(spot_ctx *c, int problems, const spot_nearest_problem *p);
};

/* SPOT_INVALID unless n >= 0, d >= 1 and 1 <= k <= SPOT_NEAREST_MOST. */
spot_status spot_nearest_centres(spot_ctx *c, int problems, const spot_nearest_problem *p);

#endif
