/* pca.h - the two products of a principal component analysis, for `problems` independent matrices x (n,d).
 *
 *   covariance:  mean[j] = sum_i x[i,j] / n,   cov[j,k] = sum_i (x[i,j] - mean[j]) (x[i,k] - mean[k]),  j <= k
 *   project:     score[i,k] = sum_j (x[i,j] - mean[j]) axis[k,j]
 *
 * The host finds the eigenvectors between the two (eigen.h). Every sum is one fp64 fma chain in the order of i, or of j, so
 * every device gives the same bits (gpu_to_gpu), and through eigen.h the same components and signs. BLAS fixes no order of its
 * sums. Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_PCA_H
#define SPOTTER_PCA_H

#include "core/ops.h"

typedef struct {
    int n, d, kept;
    const float *x;          /* (n, d) */
    double *mean;            /* (d), out of covariance */
    double *cov;             /* (d, d), out of covariance: n - 1 times the covariance, on and above the diagonal */
    const double *axis;      /* (kept, d) */
    float *score;            /* (n, kept), out of project */
} spot_pca_problem;

struct spot_pca_ops {
    spot_status (*covariance)(spot_ctx *c, int problems, const spot_pca_problem *p);
    spot_status (*project)(spot_ctx *c, int problems, const spot_pca_problem *p);
};

/* n, d >= 1. Only project uses axis, score and kept. */
spot_status spot_pca_covariance(spot_ctx *c, int problems, const spot_pca_problem *p);

/* 1 <= kept <= d */
spot_status spot_pca_project(spot_ctx *c, int problems, const spot_pca_problem *p);

#endif
