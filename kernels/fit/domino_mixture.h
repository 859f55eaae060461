/* domino_mixture.h - Domino's mixture (Eyuboglu et al. 2022, section 5) for `count` independent problems: n points x in d
 * dimensions, each with a class y and predicted probabilities p of `classes` classes. Slice s has a weight, a Gaussian, and two
 * categorical distributions, P of labels and Q of predictions:
 *
 *   E   l[s,i] = log w_s + log N(x_i; mean_s, cov_s) + gamma log(P_s[y_i] + eps) + gamma_hat log(sum_c p_i[c] Q_s[c] + eps)
 *       r[s,i] = exp l[s,i] / sum over s,   bound = mean over i of log sum_s exp l[s,i]
 *   M   n_s = sum_i r + 10 eps;  w_s = n_s / n;  mean_s = sum_i r x_i / n_s;  P_s, Q_s = sums of r y, r p over n_s
 *       cov_s = sum_i r (x_i - mean_s)(x_i - mean_s)^T / n_s + ridge I, or its diagonal alone, to which 10 eps mean_s^2 / n_s
 *       is added as in scikit-learn's formula; it matters in slices without points
 *
 * from given responsibilities: an M step, then E and M until the bound of the E step changes by less than tol, then a last E
 * step. Moments are taken about the mean of the step before, so no digits cancel and no variance goes below the ridge. They
 * skip responsibilities below 2^-100, which are lost in any sum.
 *
 * fp64. Each sum is one chain in the order of columns, rows or slices. So with diagonal covariances every device gives the same
 * bits (gpu_to_gpu), for any threads and any other jobs. With full ones LAPACK factors on the CPU and our own code on CUDA;
 * bounds agree across devices to 1e-8 relative, and as closely with the upstream package from the same start.
 *
 * Jobs lie on the host; what they point to, and the scratch, in the memory of c's device. */
#ifndef SPOTTER_DOMINO_MIXTURE_H
#define SPOTTER_DOMINO_MIXTURE_H

#include "core/ops.h"
#include "spotter/cluster.h"

enum { SPOT_DOMINO_MOST = 512 };      /* slices */
#define SPOT_DOMINO_LEAST 0x1p-100

typedef struct {
    int n, d, k, classes;
    const float   *x;             /* (n, d) */
    const uint8_t *y;             /* (n): below classes */
    const float   *p;             /* (n, classes) */
    double         gamma, gamma_hat;
    int            full;          /* full covariances; 0: variances only */
    const int     *label;         /* (n): start from these slices; NULL: start from r */
    double        *r;             /* (k, n): in, unless label is given; out, those of the last E step */
    double        *weight;        /* (k): out, like all below */
    double        *mean;          /* (k, d) */
    double        *covariance;    /* (k, d), or (k, d, d) if full */
    double        *of_y, *of_p;   /* (k, classes): P and Q */
    double        *bound;         /* (max_iterations): every iteration's; may be NULL */
    double         last_bound;    /* the last iteration's */
    int            iterations, converged;
    int            ill;           /* slices whose covariance has no factor; if any, nothing else is set */
} spot_domino_job;

/* The upstream start: slice s belongs to cell (a, b) = s mod classes^2 of the confusion matrix; r is in proportion to
 * y_i[a] p_i[b], plus noise times a uniform number: the s-th of SPOT_RNG_DOMINO at (seed, ec), index i. */
typedef struct {
    int n, k, classes;            /* k >= classes^2 */
    const uint8_t *y;             /* (n) */
    const float   *p;             /* (n, classes) */
    double         noise;
    spot_seed      seed;
    double        *r;             /* (k, n): out */
} spot_domino_cells;

struct spot_domino_ops {
    spot_status (*confusion)(spot_ctx *c, int count, const spot_domino_cells *cells);
    spot_status (*em)(spot_ctx *c, spot_arena *scratch, int count, spot_domino_job *jobs, const spot_mixture_config *cfg);
};

/* confusion on the CPU (domino_start.c). */
spot_status spot_domino_confusion_cpu(spot_ctx *c, int count, const spot_domino_cells *cells);

/* SPOT_INVALID unless 1 <= n, 1 <= classes <= 255, classes^2 <= k. The same bits on every device. */
spot_status spot_domino_confusion(spot_ctx *c, int count, const spot_domino_cells *cells);

/* SPOT_INVALID unless 1 <= k <= n, k <= SPOT_DOMINO_MOST, d >= 1, 1 <= classes <= 255. Ignores k_min and k_max. */
spot_status spot_domino_em(spot_ctx *c, spot_arena *scratch, int count, spot_domino_job *jobs, const spot_mixture_config *cfg);

/* One E step: sets only r (k, n). The points may differ from those of the fit. Runs on the CPU; gives the bits of the CPU's
 * last E step, and with diagonal covariances those of any device. job->ill counts slices without a factor; if any, r is not
 * set. n may be less than k. A counting scratch only counts. */
spot_status spot_domino_expect(spot_ctx *c, spot_arena *scratch, spot_domino_job *job);

/* Bytes of scratch for jobs of at most these sizes. threads 0: CUDA's scratch. */
size_t spot_domino_scratch(int count, int n, int d, int k, int classes, int full, int threads);

#endif
