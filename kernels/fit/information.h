/* information.h - how much each feature says about a binary outcome: mutual information in nats by nearest neighbours (Ross
 * 2014), for `problems` independent matrices x (n, d) with an outcome a row.
 *
 * The estimate of scikit-learn's mutual_info_classif, for each feature separately:
 *
 *   c_i = x_i / s + 1e-10 max(1, mean |x / s|) z_i,    s the standard deviation, z normal; so no two values are equal
 *   k   = min(3, rows of i's class - 1);   r_i = distance to the k-th neighbour within i's class
 *   m_i = rows nearer than r_i, including row i; if r_i = 0, rows at distance 0
 *   I   = max(0, psi(N) + mean psi(k) - mean psi(rows of the class) - mean psi(m_i))
 *
 * A class of one row is ignored. Two differences from scikit-learn: a constant feature gives 0, not an estimate from its noise;
 * and r_i keeps the digits that scikit-learn's brute-force search (classes of fewer than 8 rows) loses.
 * Rectified features are 0 for many rows. There the noise decides r_i, so two seeds differ a little.
 *
 * fp64. z_i: number i at SPOT_RNG_INFORMATION, (seed, ec), index feature; or given. With scikit-learn's noise the result
 * agrees to 1e-8. gpu_to_gpu: the same bits on every device, for any other problems and any number of threads. Arrays lie
 * in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_INFORMATION_H
#define SPOTTER_INFORMATION_H

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/rng.h"

typedef struct {
    int n, d;
    const float   *x;          /* (n, d): finite */
    const uint8_t *y;          /* (n): 0 or 1 */
    const double  *noise;      /* (n, d): z; NULL: drawn from seed */
    spot_seed seed;
    double *information;       /* (d), out */
} spot_information_problem;

struct spot_information_ops {
    spot_status (*mutual)(spot_ctx *c, spot_arena *scratch, int problems, const spot_information_problem *p);
};

/* n, d >= 1 */
spot_status spot_information_mutual(spot_ctx *c, spot_arena *scratch, int problems, const spot_information_problem *p);

/* Bytes of scratch for `problems` problems of at most (n, d). threads 0: CUDA's scratch. */
size_t spot_information_scratch(int problems, int n, int d, int threads);

#endif
