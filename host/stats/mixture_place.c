/* mixture_place.c - places rows among the components of a mixture, on the host. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "spotter/cluster.h"

/* log of weight x density at x, without the constant of all components; l (d, d): the covariance's lower Cholesky factor. */
static double log_joint(const float *x, double weight, const double *mean, const double *l, int d)
{
    double z[SPOT_MAX_MIXTURE_DIM], sum = log(weight);

    for (int i = 0; i < d; i++) z[i] = x[i] - mean[i];
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, l, d, z, 1);
    for (int i = 0; i < d; i++) sum -= 0.5 * z[i] * z[i] + log(l[i * d + i]);
    return sum;
}

/* Returns the component of greatest responsibility; share (k), unless NULL: the responsibilities. */
static int place_row(float *share, const float *x, const double *factor, const spot_mixture *m)
{
    double joint[SPOT_MAX_COMPONENTS], best = -INFINITY, sum = 0;
    int k = 0, d = m->d;

    for (int j = 0; j < m->k; j++) {
        joint[j] = log_joint(x, m->weight[j], m->mean + (size_t)j * d, factor + (size_t)j * d * d, d);
        if (joint[j] > best) best = joint[j], k = j;
    }
    if (!share) return k;
    for (int j = 0; j < m->k; j++) sum += exp(joint[j] - best);
    for (int j = 0; j < m->k; j++) share[j] = (float)(exp(joint[j] - best) / sum);
    return k;
}

spot_status spot_mixture_place(spot_ctx *c, spot_arena *a, int *label, float *share, const float *x, int n,
                               const spot_mixture *m)
{
    size_t mark = a->used, each = (size_t)m->d * m->d;
    double *factor;

    SPOT_TRY(SPOT_TAKE(c, a, factor, m->k * each));
    if (a->counting) return SPOT_OK;
    memcpy(factor, m->covariance, m->k * each * sizeof *factor);
    for (int j = 0; j < m->k; j++)
        if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', m->d, factor + j * each, m->d))
            return spot_fail(c, SPOT_NUMERIC, "the covariance of component %d of the mixture is not positive definite; raise "
                             "the ridge", j);
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        int k = place_row(share ? share + (size_t)i * m->k : NULL, x + (size_t)i * m->d, factor, m);
        if (label) label[i] = k;
    }
    a->used = mark;
    return SPOT_OK;
}
