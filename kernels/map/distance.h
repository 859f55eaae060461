/* distance.h - squared distances of all pairs of rows, for `problems` independent pairs of matrices.
 *
 *     d[i,j] = sum_k (a[i,k] - b[j,k])^2        a (n,k)  b (m,k)  d (n,m)
 *
 * One chain in the order of k: x = a[i,k] - b[j,k], s = fmaf(x, x, s), from s = 0, all in fp32. These operations are
 * correctly rounded everywhere. So every device gives the same bits (gpu_to_gpu), d(i,j) equals d(j,i) to the bit, and equal
 * rows have distance 0 exactly. The identity |a|^2 - 2ab + |b|^2 guarantees none of these.
 * The matrices lie in the memory of c's device; the arrays of spot_mat on the host. d overlaps no source. */
#ifndef SPOTTER_DISTANCE_H
#define SPOTTER_DISTANCE_H

#include "core/ops.h"
#include "spotter/arena.h"

struct spot_distance_ops {
    spot_status (*squared)(spot_ctx *c, int problems, const spot_mat *d, const spot_mat *a, const spot_mat *b);
};

/* SPOT_INVALID when the shapes of a problem do not fit. n, m and k differ freely between problems and may be 0. */
spot_status spot_distance_squared(spot_ctx *c, int problems, const spot_mat *d, const spot_mat *a, const spot_mat *b);

#endif
