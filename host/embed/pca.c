/* pca.c - principal components from the covariance, in double: d is at most a few thousand here, and LAPACK finds just the
 * few eigenvectors that are wanted. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "reduce.h"

/* centred (n, d), and the covariance (d, d) times n - 1; upper triangle. */
static void covariance(double *cov, double *centred, const float *x, int n, int d)
{
    for (int j = 0; j < d; j++) {
        double mean = 0;
        for (int i = 0; i < n; i++) mean += x[(size_t)i * d + j];
        mean /= n;
        for (int i = 0; i < n; i++) centred[(size_t)i * d + j] = x[(size_t)i * d + j] - mean;
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, d, n, 1.0, centred, d, 0.0, cov, d);
}

static double sign_of_largest(const double *loading, int d, int step)
{
    int best = 0;

    for (int j = 1; j < d; j++)
        if (fabs(loading[(size_t)j * step]) > fabs(loading[(size_t)best * step])) best = j;
    return loading[(size_t)best * step] < 0 ? -1 : 1;
}

spot_status spot_pca_scores(spot_ctx *c, spot_arena *a, float *out, double *left_out, const float *x, int n, int d, int dim)
{
    size_t mark = a->used;
    int kept = dim < d ? dim : d, found = 0;
    double *centred, *cov, *value, *loading, *score, trace = 0;
    lapack_int *support;

    SPOT_TRY(SPOT_TAKE(c, a, centred, (size_t)n * d));
    SPOT_TRY(SPOT_TAKE(c, a, cov, (size_t)d * d));
    SPOT_TRY(SPOT_TAKE(c, a, value, d));
    SPOT_TRY(SPOT_TAKE(c, a, loading, (size_t)d * kept));       /* (d, kept), eigenvalues rising */
    SPOT_TRY(SPOT_TAKE(c, a, score, (size_t)n * kept));
    SPOT_TRY(SPOT_TAKE(c, a, support, 2 * (size_t)d));
    a->used = mark;
    if (a->counting) return SPOT_OK;

    covariance(cov, centred, x, n, d);
    for (int j = 0; j < d; j++) trace += cov[(size_t)j * d + j];
    if (LAPACKE_dsyevr(LAPACK_ROW_MAJOR, 'V', 'I', 'U', d, cov, d, 0, 0, d - kept + 1, d, 0, &found, value, loading, kept,
                       support) || found != kept)
        return spot_fail(c, SPOT_NUMERIC, "PCA of %d x %d features found no eigenvectors; look for extreme values", n, d);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, kept, d, 1.0, centred, d, loading, kept, 0.0, score, kept);

    memset(out, 0, (size_t)n * dim * sizeof *out);
    for (int k = 0; k < kept; k++) {
        int from = kept - 1 - k;
        double sign = sign_of_largest(loading + from, d, kept);
        for (int i = 0; i < n; i++) out[(size_t)i * dim + k] = (float)(sign * score[(size_t)i * kept + from]);
        trace -= value[from];
    }
    *left_out = fmax(trace, 0) / (n - 1);
    return SPOT_OK;
}
