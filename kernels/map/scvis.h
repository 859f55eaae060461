/* scvis.h - one scvis training, whole (Ding, Condon, Shah, Nat. Commun. 9:2002, 2018), for `problems` independent ones.
 *
 * A variational autoencoder; its loss also makes the 2-D code a t-SNE map. With D features, a batch of n rows, step t:
 *
 *   encoder  D-128-64-32 (ELU), heads mu and s2 = softplus;  z = mu + sqrt(s2) eps
 *   decoder  dim-32-32-32-64-128 (ELU), heads mean and variance = softplus of a Student-t per feature, its degrees of
 *            freedom are trained; both softplus clipped to [1e-6, 1e10], degrees to [0.1, 10]
 *   loss     = A tsne(z, P) + l2/2 |weights|^2 - mean_i w_i loglik_i + K mean_i KL(N(mu_i, s2_i) || N(0, 1))
 *              A = min(t, D), K = max(0.1, D / t), w_i = column sum of P clipped to [0.01, 2]
 *   tsne     = 1/n sum_i [-sum_j P'_ij log s_ij + log(sum_{j != i} s_ij)],  P' = rows of (P + 0.1/n) made to sum 1
 *
 * P is computed within the batch. Adam; gradients clipped to norm 10, then to +-3 each (+-0.3 at the head of s2).
 * fp32, sums of the loss fp64, every product one chain in k order. run_to_run; the same bits for any number of threads.
 * CPU against another device: loss and gradient at given weights to 1e-4 relative; CUDA computes every number by the CPU's
 * chain of operations, except for the order of the fp64 sums of loss and norm. Arrays lie in the memory of c's device. */
#ifndef SPOTTER_SCVIS_H
#define SPOTTER_SCVIS_H

#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/embed.h"

typedef struct {
    int n, d, dim;
    uint64_t seed;
    uint32_t ec;
    const float *x;        /* (n, d): features, not standardised */
    float *map;            /* (n, dim) out: the encoder's mean */
    double loss;           /* out: at the last step */
    int iterations;        /* out: steps taken */
} spot_scvis_problem;

/* One batch at given weights, for tests. x (rows, d): the network's input. noise (rows, dim). keep (32, dim): dropout mask of
 * the mu head, 0 or 1. */
typedef struct {
    int rows, d, dim, step;
    const float *params, *x, *noise, *keep;
} spot_scvis_batch;

struct spot_scvis_ops {
    spot_status (*fit)(spot_ctx *c, spot_arena *scratch, int problems, spot_scvis_problem *s, const spot_scvis_config *cfg);
    spot_status (*gradient)(spot_ctx *c, spot_arena *scratch, const spot_scvis_batch *b, const spot_scvis_config *cfg,
                            float *gradient, double *loss, double *norm);
};

/* SPOT_NUMERIC with the iteration when a loss or gradient is not finite; SPOT_STOPPED on request. A counting scratch only
 * counts. */
spot_status spot_scvis_fit(spot_ctx *c, spot_arena *scratch, int problems, spot_scvis_problem *s, const spot_scvis_config *cfg);

/* Iterations for n rows: cfg's number, or the original code's rule. */
int spot_scvis_iterations(int n, const spot_scvis_config *cfg);

/* Parameters in order: weight (in, out) then bias (out) of the encoder's three layers, mu, s2, the decoder's five, mean,
 * variance; then D degrees of freedom. */
size_t spot_scvis_params(int d, int dim);

/* Loss, unclipped gradient (spot_scvis_params) and its norm. */
spot_status spot_scvis_gradient(spot_ctx *c, spot_arena *scratch, const spot_scvis_batch *b, const spot_scvis_config *cfg,
                                float *gradient, double *loss, double *norm);

#endif
