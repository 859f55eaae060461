/* mixture.h - many independent Gaussian mixtures with full covariance, each by EM from its own k-means++ start.
 *
 * One job is one (problem, K). The CPU gives each job to one thread, a GPU to one block, the longest first, and a job of more
 * than 4096 points to a block for each piece of them (mixture_scratch.h). No job's result depends on the others. With n points
 * x in d dimensions, responsibilities r and scikit-learn's conventions (GaussianMixture, covariance_type="full"):
 *
 *   E   r[i,k] = w_k N(x_i; mean_k, cov_k) / sum over k,   by log-sum-exp
 *   M   n_k = sum_i r[i,k] + 10 eps;  w_k = n_k / sum n_k;  mean_k = sum_i r x_i / n_k
 *       cov_k = sum_i r (x_i - mean_k)(x_i - mean_k)^T / n_k + ridge I
 *
 * until the mean log-likelihood of the E step, taken before the M step, changes by less than tol. Start: k-means++ with
 * 2 + floor(ln k) trials a centre, at most 300 Lloyd iterations, tolerance 1e-4 of the mean column variance, then one M
 * step from the hard clusters. Random numbers: SPOT_RNG_KMEANS at (seed, ec), index k + 256 start.
 *
 * fp64 throughout. The same bits for any thread count, any other jobs, any GPU and any schedule of blocks. From the same start
 * log-likelihoods agree with scikit-learn's and across devices to 1e-8 relative. Devices draw the same numbers for the start,
 * so starts differ only where sums in another order decide a near-tie.
 *
 * Jobs lie on the host; what they point to, and the scratch, in the memory of c's device. */
#ifndef SPOTTER_MIXTURE_H
#define SPOTTER_MIXTURE_H

#include "core/ops.h"
#include "spotter/cluster.h"

typedef struct {
    const float  *x;        /* (n, d) */
    const double *resp;     /* (n, k): start from these responsibilities; NULL: from k-means */
    spot_seed     seed;
    uint32_t      start;    /* number of this start, if one seed has several; else 0 */
    spot_mixture  fit;      /* in: n, d, k and the arrays weight, mean, covariance. out: all but bic */
    uint8_t      *label;    /* (n): out, the component of highest responsibility; of equals the first */
} spot_mixture_job;

struct spot_mixture_ops {
    /* A component whose covariance has no Cholesky factor ends its fit: fit.ill counts them, the other results are not set. */
    spot_status (*em)(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count, const spot_mixture_config *cfg);

    /* Only the k-means of the start: sets only label. resp must be NULL. */
    spot_status (*kmeans)(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count);
};

/* Checked entries. SPOT_INVALID unless 1 <= k <= n, k <= SPOT_MAX_COMPONENTS, 1 <= d <= SPOT_MAX_MIXTURE_DIM. */
spot_status spot_mixture_em(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count,
                            const spot_mixture_config *cfg);
spot_status spot_mixture_kmeans(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count);

/* Bytes of scratch for jobs of at most these sizes. threads 0: CUDA's scratch. */
size_t spot_mixture_scratch(int jobs, int n, int d, int k, int threads);

#endif
