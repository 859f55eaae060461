/* cluster.h - Gaussian mixtures with full covariance by EM, every (problem, K) in one batched call, chosen by BIC; the same
 * mixtures, or k-means, chosen by silhouette.
 *
 * Matches scikit-learn's GaussianMixture: k-means++ start with n_init 1, tolerance on the mean log-likelihood,
 * ridge on the diagonal, BIC = -2 * total log-likelihood + parameters * ln n. fp64 throughout. */
#ifndef SPOTTER_CLUSTER_H
#define SPOTTER_CLUSTER_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/embed.h"
#include "spotter/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MAX_COMPONENTS 64
#define SPOT_MAX_MIXTURE_DIM 32

typedef struct {
    int    k_min, k_max;       /* inclusive (PlaneSpot's released code: 10..32) */
    double tol, ridge;
    int    max_iterations;
} spot_mixture_config;

/* One fit. Arrays live in the caller's arena. */
typedef struct {
    int     k, d, n, iterations;
    int     converged;
    int     ill;               /* components whose covariance could not be factored: this fit was given up */
    double  log_likelihood;    /* total over the points; -infinity for a fit given up or left out */
    double  bic;               /* then infinity */
    double *weight;            /* (k) */
    double *mean;              /* (k, d) */
    double *covariance;        /* (k, d, d) */
} spot_mixture;

spot_mixture_config spot_mixture_defaults(void);

/* Fits every K of every problem and picks the least BIC of each (the first of equals).
 * x[p] is (n_p, d). best[p], and label[p] (n_p) = the component of highest responsibility, live in a; so does all[p],
 * unless all is NULL: the k_max - k_min + 1 fits. A K larger than n is left out with a message; ill-conditioned fits are
 * given up with a message and never win; SPOT_NUMERIC only when no K is left, SPOT_INPUT for n < k_min or points not
 * finite. A problem's result has the same bits alone, in any batch and for any number of threads. On CUDA points
 * and results lie on the host all the same: the call copies them, in device memory of its own. */
spot_status spot_mixture_fit(spot_ctx *c, spot_arena *a, int problems, spot_mixture *best, int **label,
                             spot_mixture **all, const spot_mat *x, const spot_seed *seeds,
                             const spot_mixture_config *cfg);

/* EM for one K from given responsibilities resp (n, k) instead of k-means: what the oracle tests use. */
spot_status spot_mixture_fit_from(spot_ctx *c, spot_arena *a, spot_mixture *fit, int *label, spot_mat x, int k,
                                  const double *resp, const spot_mixture_config *cfg);

/* What spot_mixture_fit takes; and what of the arena on the CPU, which is the most. */
spot_bytes spot_mixture_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_mixture_config *cfg);
size_t     spot_mixture_bytes(int problems, const int *n, int d, const spot_mixture_config *cfg, int threads);

/* Points with a label each, their silhouettes, and what a labelling is judged by: the mean over its clusters of each
 * cluster's mean silhouette, however many points these have. -1, which is the least, where all points lie in one. */
typedef struct {
    spot_mat x;                /* (n, d) */
    int k;                     /* labels are below it; clusters may be empty */
    uint16_t *label;           /* (n) */
    double *silhouette;        /* (n), out */
    double score;              /* out */
} spot_labelling;

/* Silhouettes and scores of all, in the host's memory on every device. a is for scratch. k <= 1024. */
spot_status spot_silhouettes(spot_ctx *c, spot_arena *a, int count, spot_labelling *labellings);

typedef struct {
    int    kmeans;             /* k-means alone; off: mixtures */
    int    most;               /* clusters at most: 1..SPOT_MAX_COMPONENTS */
    int    search;             /* every number from 2 on is tried; off: exactly `most` */
    int    starts;             /* of each number; the one of greatest likelihood, or least sum of squares, stands for it */
    spot_mixture_config mixture;   /* but for its k_min and k_max */
} spot_search_config;

typedef struct {
    int k;                     /* labels are below it; clusters may be empty */
    uint16_t *label;           /* (n) */
    int least, tried;          /* numbers of clusters: least, least + 1, ... */
    double *score;             /* (tried): of each, -2 where no start could be fitted; NaN where one alone was tried */
} spot_clustering;

/* The number of clusters of greatest score of each problem, the largest of equals. x[p] is (n_p, d); out[p]'s arrays live in
 * a. No more clusters than points. Failures and bits are as spot_mixture_fit's. */
spot_status spot_cluster_search(spot_ctx *c, spot_arena *a, int problems, spot_clustering *out, const spot_mat *x,
                                const spot_seed *seeds, const spot_search_config *cfg);

/* What the two take, at most: the search for n[p] points that come as `sets` problems, of whatever sizes. */
spot_bytes spot_silhouettes_needs(const spot_ctx *c, int count, int n, int d);
spot_bytes spot_cluster_search_needs(const spot_ctx *c, int problems, const int *n, int sets, int d,
                                     const spot_search_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
