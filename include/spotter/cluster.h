/* cluster.h - Gaussian mixtures with full covariance by EM, every (problem, K) in one batched call. The number of clusters is
 * chosen by BIC; or, for mixtures and k-means, by silhouette.
 *
 * Matches scikit-learn's GaussianMixture: k-means++ start with n_init 1, tolerance on the mean log-likelihood,
 * ridge on the diagonal, BIC = -2 * total log-likelihood + parameters * ln n. fp64 throughout. */
#ifndef SPOTTER_CLUSTER_H
#define SPOTTER_CLUSTER_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/embed.h"

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
    int     ill;               /* components whose covariance could not be factored; then the fit is given up */
    double  log_likelihood;    /* total over the points; -infinity for a fit given up or left out */
    double  bic;               /* infinity for a fit given up or left out */
    double *weight;            /* (k) */
    double *mean;              /* (k, d) */
    double *covariance;        /* (k, d, d) */
} spot_mixture;

spot_mixture_config spot_mixture_defaults(void);

/* Points of problems: x[p] is (n_p, d). on_device[p], unless on_device is NULL, is x[p].v in the memory of c's device, and
 * x[p].v may be NULL. */
typedef struct {
    int problems;
    const spot_mat *x;
    const float *const *on_device;
    const spot_seed *seeds;
} spot_mixture_data;

/* Fits every K of every problem and picks the least BIC of each (the first of equals).
 * best[p], label[p] (n_p) = the component of highest responsibility, and all[p] = the k_max - k_min + 1
 * fits (unless all is NULL) live in a. A K larger than n is left out with a message. Ill-conditioned fits are given up with a
 * message and never win. SPOT_NUMERIC only when no K is left; SPOT_INPUT for n < k_min or points not finite. A problem's
 * result has the same bits alone, in any batch and for any number of threads. Points and results lie on the host on every
 * device; on CUDA the call copies what is not on_device into device memory of its own. */
spot_status spot_mixture_fit(spot_ctx *c, spot_arena *a, const spot_mixture_data *data, spot_mixture *best, int **label,
                             spot_mixture **all, const spot_mixture_config *cfg);

/* EM for one K from given responsibilities resp (n, k) instead of k-means, for tests against scikit-learn. */
spot_status spot_mixture_fit_from(spot_ctx *c, spot_arena *a, spot_mixture *fit, int *label, spot_mat x, int k,
                                  const double *resp, const spot_mixture_config *cfg);

/* Places rows among the components of a mixture. x (n, m->d); label (n), unless NULL: the component of greatest responsibility,
 * the first of equals; share (n, m->k), unless NULL: the responsibilities, which sum to 1 in each row. All on the host on every
 * device; a is for scratch. SPOT_NUMERIC where a covariance is not positive definite. The same bits for any threads. */
spot_status spot_mixture_place(spot_ctx *c, spot_arena *a, int *label, float *share, const float *x, int n,
                               const spot_mixture *m);

/* Memory of spot_mixture_fit; and its arena bytes on the CPU, the most of all devices. */
spot_bytes spot_mixture_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_mixture_config *cfg);
size_t     spot_mixture_bytes(int problems, const int *n, int d, const spot_mixture_config *cfg, int threads);

/* Points with one label each, and their silhouettes. The score of a labelling is the mean over its clusters of each cluster's
 * mean silhouette, whatever their sizes; -1, the least, where all points are in one cluster. */
typedef struct {
    spot_mat x;                /* (n, d) */
    const float *on_device;        /* x.v in the memory of the device that works on it; NULL: not there */
    int k;                     /* labels are below it; clusters may be empty */
    uint16_t *label;           /* (n) */
    double *silhouette;        /* (n), out */
    double score;              /* out */
} spot_labelling;

/* Computes the silhouettes and scores of `count` labellings, in host memory on every device. a is for scratch. k <= 1024. */
spot_status spot_silhouettes(spot_ctx *c, spot_arena *a, int count, spot_labelling *labellings);

typedef struct {
    int    kmeans;             /* k-means alone; off: mixtures */
    int    most;               /* most clusters: 1..SPOT_MAX_COMPONENTS */
    int    search;             /* every number from 2 on is tried; off: exactly `most` */
    int    starts;             /* per number; the start of greatest likelihood, or least sum of squares, counts */
    spot_mixture_config mixture;   /* its k_min and k_max are not used */
} spot_search_config;

typedef struct {
    int k;                     /* labels are below it; clusters may be empty */
    uint16_t *label;           /* (n) */
    int least, tried;          /* the `tried` numbers of clusters are least, least + 1, ... */
    double *score;             /* (tried); -2 where no start could be fitted; NaN where only one number was tried */
} spot_clustering;

/* Finds for each problem the number of clusters with the greatest score (the largest of equals). x[p] is (n_p, d); out[p]'s
 * arrays live in a. Never more clusters than points. Failures and determinism as for spot_mixture_fit. _on:
 * on_device[p], unless `on_device` is NULL, is x[p].v in the memory of c's device. */
spot_status spot_cluster_search(spot_ctx *c, spot_arena *a, int problems, spot_clustering *out, const spot_mat *x,
                                const spot_seed *seeds, const spot_search_config *cfg);
spot_status spot_cluster_search_on(spot_ctx *c, spot_arena *a, int problems, spot_clustering *out, const spot_mat *x,
                                   const float *const *on_device, const spot_seed *seeds, const spot_search_config *cfg);

/* The most memory of the two functions. The search: for n[p] points as `sets` problems of any sizes. */
spot_bytes spot_silhouettes_needs(const spot_ctx *c, int count, int n, int d);
spot_bytes spot_cluster_search_needs(const spot_ctx *c, int problems, const int *n, int sets, int d,
                                     const spot_search_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
