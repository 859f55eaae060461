/* hinge.h - linear support vector machines with the hinge loss, for `problems` sets of rows, by descent in the coordinates of
 * the dual (Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, algorithm 1).
 *
 *     P(w) = |w|^2 / 2 + sum_r C_r max(0, 1 - y_r (x_r w + w_d)),      |w|^2 with w_d^2
 *     D(a) = sum_r a_r - |w|^2 / 2,   w = sum_r a_r y_r [x_r; 1],   0 <= a_r <= C_r,      D <= min P <= P
 *
 * The intercept w_d is penalised like a weight, as in scikit-learn's LinearSVC (loss hinge). A pass visits all rows, r_0 + i s
 * modulo the number of rows; r_0 and s (without a common divisor with that number) are drawn for each pass: SPOT_RNG_HINGE at
 * (seed, ec), index = pass. The descent ends when P - D <= tolerance P, or after `most` passes.
 *
 * x is fp32, all else fp64. Products of rows have 32 fma chains, chain t over the j with j % 32 == t, added 16 apart, then 8,
 * 4, 2, 1; sums over rows are one chain. So every device gives the same bits for any number of threads (gpu_to_gpu). Arrays and
 * scratch lie in the memory of c's device, the structs on the host. On a GPU all problems of a call are one launch, which is
 * repeated where a problem has more passes than fit between two looks at a stop request. */
#ifndef SPOTTER_HINGE_H
#define SPOTTER_HINGE_H

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/rng.h"

enum { SPOT_HINGE_CHAINS = 32 };

typedef struct { double primal, dual; int passes, reached; } spot_hinge_end;      /* reached: the tolerance */

typedef struct {
    int n, d, rows;
    const float  *x;           /* (n, d) */
    const int    *row;         /* (rows): rows of x */
    const double *bound;       /* (rows), not 0: y_r C_r is cost bound_r, so that the sign is the class */
    double cost;               /* above 0 */
    double tolerance;
    int most;
    spot_seed seed;
    double *w;                 /* (d + 1), out */
    double *dual;              /* (rows), out: a */
    double *square;            /* (rows), scratch */
    spot_hinge_end *end;       /* out */
} spot_hinge_problem;

struct spot_hinge_ops {
    spot_status (*fit)(spot_ctx *c, spot_arena *scratch, int problems, const spot_hinge_problem *p);
};

/* SPOT_INVALID unless n, d, rows, cost and most are above 0 and tolerance is at least 0. */
spot_status spot_hinge_fit(spot_ctx *c, spot_arena *scratch, int problems, const spot_hinge_problem *p);

/* Bytes of scratch on c's device. */
size_t spot_hinge_scratch(const spot_ctx *c, int problems);

#endif
