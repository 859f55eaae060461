/* pca.c - principal components from the covariance, in double: d is at most a few thousand here, and LAPACK finds just the
 * eigenvectors that are wanted. The covariance and the scores are the device's; all between them is the host's. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "device.h"
#include "pca.h"
#include "reduce.h"

enum { GROUP = 16 };   /* problems at a time */

/* What a problem has on the host; on the CPU that is the problem's own. */
typedef struct { double *cov, *diagonal, *beside, *tau, *value, *loading, *axis; float *score; lapack_int *block; } solver;

static double sign_of_largest(const double *loading, int d)
{
    int best = 0;

    for (int j = 1; j < d; j++)
        if (fabs(loading[j]) > fabs(loading[best])) best = j;
    return loading[best] < 0 ? -1 : 1;
}

/* Whether the loadings are at right angles; s->axis is not needed yet. */
static bool orthonormal(const solver *s, int d, int kept)
{
    cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, kept, d, 1, s->loading, d, 0, s->axis, kept);
    for (int a = 0; a < kept; a++)
        for (int b = 0; b <= a; b++)
            if (!(fabs(s->axis[(size_t)a * kept + b] - (a == b)) < 1e-12)) return false;
    return true;
}

/* s->value (d) and s->loading (kept, d): eigenvalues, rising, and the eigenvectors of the greatest. The values by QL, which is
 * quick without vectors, these by inverse iteration: half the time of dsyevr. Matrices that fall apart into blocks, as those
 * of constant or repeated features, may defeat it; then dstemr bisects. LAPACK takes columns for rows, and so our upper
 * triangle for its lower. */
static bool decompose(const solver *s, int d, int kept)
{
    lapack_int *split = s->block + d, *fail = split + d, found = 0;
    lapack_logical accurate = 1;

    if (LAPACKE_dsytrd(LAPACK_COL_MAJOR, 'L', d, s->cov, d, s->diagonal, s->beside, s->tau)) return false;
    memcpy(s->value, s->diagonal, (size_t)d * sizeof *s->value);
    memcpy(s->loading, s->beside, (size_t)(d - 1) * sizeof *s->value);
    if (LAPACKE_dsterf(d, s->value, s->loading)) return false;
    for (int j = 0; j < d; j++) s->block[j] = 1;
    split[0] = d;
    if (LAPACKE_dstein(LAPACK_COL_MAJOR, d, s->diagonal, s->beside, kept, s->value + d - kept, s->block, split, s->loading, d,
                       fail) || !orthonormal(s, d, kept)) {
        if (LAPACKE_dstemr(LAPACK_COL_MAJOR, 'V', 'I', d, s->diagonal, s->beside, 0, 0, d - kept + 1, d, &found, s->value,
                           s->loading, d, kept, s->block, &accurate) || found != kept)
            return false;
        memmove(s->value + d - kept, s->value, (size_t)kept * sizeof *s->value);
    }
    return d == 1 || !LAPACKE_dormtr(LAPACK_COL_MAJOR, 'L', 'L', 'N', d, kept, s->cov, d, s->tau, s->loading, d);
}

/* s->axis (kept, d), the first component first, from the covariance in s->cov; 0 when LAPACK finds it not. */
static int solve(const solver *s, const spot_pca_problem *p, double *left_out)
{
    int d = p->d, kept = p->kept;
    double trace = 0;

    for (int j = 0; j < d; j++) trace += s->cov[(size_t)j * d + j];
    if (!decompose(s, d, kept)) return 0;
    for (int k = 0; k < kept; k++) {
        const double *loading = s->loading + (size_t)(kept - 1 - k) * d;      /* eigenvalues rise */
        double sign = sign_of_largest(loading, d);
        for (int j = 0; j < d; j++) s->axis[(size_t)k * d + j] = sign * loading[j];
        trace -= s->value[d - 1 - k];
    }
    *left_out = fmax(trace, 0) / (p->n - 1);
    return 1;
}

/* p's arrays in `work`; on a device s's are the host's copies of them. */
static spot_status take(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_view *v, int dim, spot_pca_problem *p,
                        solver *s)
{
    int d = v->d, kept = dim < d ? dim : d;
    double *axis;
    float *x;

    SPOT_TRY(spot_reduce_features(c, work, &x, v));
    *p = (spot_pca_problem){ .n = v->n, .d = d, .kept = kept, .x = x };
    SPOT_TRY(SPOT_TAKE(c, work, p->mean, d));
    SPOT_TRY(SPOT_TAKE(c, work, p->cov, (size_t)d * d));
    SPOT_TRY(SPOT_TAKE(c, work, axis, (size_t)kept * d));
    SPOT_TRY(SPOT_TAKE(c, work, p->score, (size_t)v->n * kept));
    *s = (solver){ .cov = p->cov, .axis = axis, .score = p->score };
    p->axis = axis;
    SPOT_TRY(SPOT_TAKE(c, host, s->diagonal, d));
    SPOT_TRY(SPOT_TAKE(c, host, s->beside, d));
    SPOT_TRY(SPOT_TAKE(c, host, s->tau, d));
    SPOT_TRY(SPOT_TAKE(c, host, s->value, d));
    SPOT_TRY(SPOT_TAKE(c, host, s->loading, (size_t)d * kept));
    SPOT_TRY(SPOT_TAKE(c, host, s->block, 3 * (size_t)d));
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, host, s->cov, (size_t)d * d));
    SPOT_TRY(SPOT_TAKE(c, host, s->axis, (size_t)kept * d));
    return SPOT_TAKE(c, host, s->score, (size_t)v->n * kept);
}

/* Between host and device; on the CPU the two are one. */
static spot_status carry(spot_ctx *c, const void *to, const void *from, size_t bytes)
{
    return to == from ? SPOT_OK : spot_device_copy(c, (void *)to, from, bytes);
}

static spot_status run(spot_ctx *c, int problems, spot_points *out, const spot_pca_problem *p, const solver *s)
{
    int failed = -1;

    SPOT_TRY(spot_pca_covariance(c, problems, p));
    for (int q = 0; q < problems; q++)
        SPOT_TRY(carry(c, s[q].cov, p[q].cov, (size_t)p[q].d * p[q].d * sizeof *p[q].cov));
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int q = 0; q < problems; q++)
        if (!solve(&s[q], &p[q], &out[q].objective))
#pragma omp atomic write
            failed = q;
    if (failed >= 0)
        return spot_fail(c, SPOT_NUMERIC, "PCA of %d x %d features found no eigenvectors; look for extreme values",
                         p[failed].n, p[failed].d);
    for (int q = 0; q < problems; q++)
        SPOT_TRY(carry(c, p[q].axis, s[q].axis, (size_t)p[q].kept * p[q].d * sizeof *p[q].axis));
    SPOT_TRY(spot_pca_project(c, problems, p));
    for (int q = 0; q < problems; q++) {
        int n = p[q].n, kept = p[q].kept;
        SPOT_TRY(carry(c, s[q].score, p[q].score, (size_t)n * kept * sizeof *p[q].score));
        memset(out[q].at, 0, (size_t)n * out[q].d * sizeof *out[q].at);
        for (int i = 0; i < n; i++)
            memcpy(out[q].at + (size_t)i * out[q].d, s[q].score + (size_t)i * kept, kept * sizeof *out[q].at);
    }
    return SPOT_OK;
}

static spot_status few(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out, const spot_view *v)
{
    size_t used = work->used, used_host = host->used;
    spot_pca_problem p[GROUP];
    solver s[GROUP];

    for (int q = 0; q < problems; q++) SPOT_TRY(take(c, host, work, &v[q], out[q].d, &p[q], &s[q]));
    host->used = used_host;
    work->used = used;
    return work->counting ? SPOT_OK : run(c, problems, out, p, s);
}

spot_status spot_pca_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                         const spot_view *views)
{
    for (int q = 0; q < problems; q += GROUP)
        SPOT_TRY(few(c, host, work, problems - q < GROUP ? problems - q : GROUP, out + q, views + q));
    return SPOT_OK;
}
