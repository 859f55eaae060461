/* spotlight_fit.h - Spotlight (d'Eon et al. 2022) for many independent problems: the kernel with the greatest mean loss.
 *
 * With rows x (n, d), losses l, precision P and D_i = (x_i - mean)^T P (x_i - mean), a row's weight is k_i = exp(-D_i / 2)
 * (gaussian) or max(0, 1 - D_i) (compact). Adam maximises, over mean and P,
 *
 *   J = sum k l / W - scale ((W - least - b) / b)^2 [W < least + b],   W = sum k,   least = min_weight n
 *
 * while the barrier's width b falls geometrically from n - least to barrier_end least. After each step the learning rate
 * follows a plateau rule: when -J has not fallen by 1e-4 of itself for more than `patience` steps, the rate is halved and the
 * rule starts again. compat: upstream's comparison -J < best (1 - 1e-4), for which a negative value 1e-4 worse still counts as
 * progress; and the last step is the last multiple of 20, where upstream last reads its weights.
 *
 *   spherical   P = e^a I.   dJ/dk is linear in l, so one pass for sum u x and sum u l x (u = -dk/dD) gives the gradient
 *               for any W and J: O(n d) a step
 *   full        P = V diag(e^a) V^T; after each step V becomes the nearest orthogonal matrix (Newton-Schulz, to 1e-14;
 *               upstream's noise against failures of its SVD is left out): O(n d^2) a step
 *
 * x is fp32, all else fp64. spherical: a product of rows is summed in 32 lanes (column j in lane j mod 32) folded by halves,
 * rows in tiles of 128 one after another, tiles in their order: every device gives the same bits (gpu_to_gpu). full: sums as
 * BLAS orders them, so that devices agree to 1e-8 over the first steps. Neither depends on threads or on other problems.
 *
 * Structs lie on the host, arrays and scratch in the memory of c's device, aligned as an arena gives them. */
#ifndef SPOTTER_SPOTLIGHT_FIT_H
#define SPOTTER_SPOTLIGHT_FIT_H

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/bdm.h"

#define SPOT_SPOTLIGHT_LANES 32

typedef struct {
    int n, d;                /* d: a multiple of 32; columns of zeros at the end change nothing */
    const float  *x;         /* (n, d) */
    const double *loss;      /* (n) */
    double *weight;          /* (n): out, k of each row at the end; all 0 if every row lost its weight in a step */
    double *mean;            /* (d): in, the start; out, the end */
    double *log_precision;   /* (1), full (d): a; in and out, too */
    double *axes;            /* (d, d): V, in and out, too; full only */
    double *trace;           /* (steps, 3): J, W and the learning rate after each step; may be NULL */
} spot_spotlight_problem;

struct spot_spotlight_ops {
    spot_status (*spherical)(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                             const spot_spotlight_config *cfg, int compat);
    spot_status (*full)(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                        const spot_spotlight_config *cfg, int compat);
};

/* Checked entry; cfg->precision chooses the op. */
spot_status spot_spotlight_fit(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                               const spot_spotlight_config *cfg, int compat);

/* Weights of n rows under the kernel of p's mean, log_precision and axes, computed as after the last step. Ignores loss and
 * trace. Runs on the CPU; spherical: the same bits as any device's. A counting scratch only counts. */
spot_status spot_spotlight_weigh(spot_ctx *c, spot_arena *scratch, const spot_spotlight_problem *p,
                                 const spot_spotlight_config *cfg);

/* Bytes of scratch for problems of at most n x d. threads 0: CUDA's scratch. */
size_t spot_spotlight_scratch(int problems, int n, int d, const spot_spotlight_config *cfg, int threads);

#endif
