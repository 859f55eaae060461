/* by_pca.c - principal components from the covariance, in double: d is at most a few thousand, and LAPACK finds only the
 * needed eigenvectors. The device computes the covariance and the scores, the host the rest.
 *
 * Why the host: Jacobi's rotations on the device, a block a problem, need 11 sweeps at d = 512 (for off-diagonal entries of
 * 7e-16 of the norm). Each has 511 rounds that read and write the matrix, at least its half, and the vectors, 2 MB each: 35 to
 * 47 GB a problem. 100 such blocks have 36 to 48 GB/s each of an H200's 4.8 TB/s, which is 0.7 to 1.3 s (predicted); one alone
 * takes 0.3 s at a multiprocessor's 112 GB/s. The host takes 11 to 21 ms a problem on one thread (eigen.h), and the copy of
 * the 2 MB, at 10 GB/s or more, 0.2 ms. */
#include <math.h>

#include "core/device.h"
#include "map/eigen.h"
#include "map/pca.h"
#include "models/reduce.h"

enum { GROUP = 16 };   /* problems at a time */

/* A problem's arrays on the host; on the CPU the problem's own. */
typedef struct { double *cov, *axis; spot_eigen eigen; } solver;

static double sign_of_largest(const double *loading, int d)
{
    int best = 0;

    for (int j = 1; j < d; j++)
        if (fabs(loading[j]) > fabs(loading[best])) best = j;
    return loading[best] < 0 ? -1 : 1;
}

/* s->axis (kept, d), the first component first, from the covariance in s->cov; 0 if LAPACK fails. */
static int find_axes(const solver *s, const spot_pca_problem *p, double *left_out, int threads)
{
    int d = p->d, kept = p->kept;
    double trace = 0;

    for (int j = 0; j < d; j++) trace += s->cov[(size_t)j * d + j];
    if (!spot_eigen_top(&s->eigen, s->cov, d, kept, threads)) return 0;
    for (int k = 0; k < kept; k++) {
        const double *loading = s->eigen.vector + (size_t)(kept - 1 - k) * d;      /* eigenvalues rise */
        double sign = sign_of_largest(loading, d);
        for (int j = 0; j < d; j++) s->axis[(size_t)k * d + j] = sign * loading[j];
        trace -= s->eigen.value[kept - 1 - k];
    }
    *left_out = fmax(trace, 0) / (p->n - 1);
    return 1;
}

/* Allocates p's arrays in `work`; on a device s's arrays are their host copies. */
static spot_status take_problem(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_view *v, const spot_points *out,
                                spot_pca_problem *p, solver *s)
{
    int d = v->d, kept = out->d < d ? out->d : d;
    double *axis;

    *p = (spot_pca_problem){ .n = v->n, .d = d, .kept = kept };
    SPOT_TRY(spot_reduce_features(c, work, &p->x, v));
    SPOT_TRY(SPOT_TAKE(c, work, p->mean, d));
    SPOT_TRY(SPOT_TAKE(c, work, p->cov, (size_t)d * d));
    SPOT_TRY(SPOT_TAKE(c, work, axis, (size_t)kept * d));
    if (out->d == kept) p->score = spot_points_target(c, out);
    else SPOT_TRY(SPOT_TAKE(c, work, p->score, (size_t)v->n * kept));
    *s = (solver){ .cov = p->cov, .axis = axis };
    p->axis = axis;
    SPOT_TRY(spot_eigen_take(c, host, &s->eigen, d, kept));
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, host, s->cov, (size_t)d * d));
    return SPOT_TAKE(c, host, s->axis, (size_t)kept * d);
}

/* Copies the scores to the points where these have more columns, which are 0. */
static spot_status widen_scores(spot_ctx *c, int problems, const spot_points *out, const spot_pca_problem *p)
{
    spot_rows_pick_problem pick[GROUP];
    int count = 0;

    for (int q = 0; q < problems; q++) {
        float *to = spot_points_target(c, &out[q]);
        if (p[q].kept == out[q].d) continue;
        SPOT_TRY(spot_device_clear(c, to, (size_t)out[q].n * out[q].d * sizeof *to));
        pick[count++] = (spot_rows_pick_problem){ .n = out[q].n, .d = p[q].kept, .x = p[q].score, .x_row = (size_t)p[q].kept,
                                                  .x_column = 1, .y = to, .y_row = (size_t)out[q].d, .y_column = 1 };
    }
    return spot_rows_pick(c, count, pick);
}

static spot_status run_group(spot_ctx *c, int problems, spot_points *out, const spot_pca_problem *p, const solver *s)
{
    int failed = -1, lanes = problems < c->threads ? 1 : c->threads;      /* problems side by side */

    SPOT_TRY(spot_pca_covariance(c, problems, p));
    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_device_copy(c, s[q].cov, p[q].cov, (size_t)p[q].d * p[q].d * sizeof *p[q].cov));
#pragma omp parallel for num_threads(lanes) schedule(dynamic)
    for (int q = 0; q < problems; q++)
        if (!find_axes(&s[q], &p[q], &out[q].objective, c->threads / lanes))
#pragma omp atomic write
            failed = q;
    if (failed >= 0)
        return spot_fail(c, SPOT_NUMERIC, "PCA of %d x %d features found no eigenvectors; look for extreme values",
                         p[failed].n, p[failed].d);
    for (int q = 0; q < problems; q++)
        SPOT_TRY(spot_device_copy(c, (double *)p[q].axis, s[q].axis, (size_t)p[q].kept * p[q].d * sizeof *p[q].axis));
    SPOT_TRY(spot_pca_project(c, problems, p));
    return widen_scores(c, problems, out, p);
}

static spot_status map_group(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                             const spot_view *v)
{
    size_t used = work->used, used_host = host->used;
    spot_pca_problem p[GROUP];
    solver s[GROUP];

    for (int q = 0; q < problems; q++) SPOT_TRY(take_problem(c, host, work, &v[q], &out[q], &p[q], &s[q]));
    host->used = used_host;
    work->used = used;
    return work->counting ? SPOT_OK : run_group(c, problems, out, p, s);
}

spot_status spot_pca_map(spot_ctx *c, spot_arena *host, spot_arena *work, int problems, spot_points *out,
                         const spot_view *views)
{
    for (int q = 0; q < problems; q += GROUP)
        SPOT_TRY(map_group(c, host, work, problems - q < GROUP ? problems - q : GROUP, out + q, views + q));
    return SPOT_OK;
}

static spot_status take_axes(spot_ctx *c, spot_arena *a, spot_pca_problem *p, solver *s)
{
    SPOT_TRY(SPOT_TAKE(c, a, p->cov, (size_t)p->d * p->d));
    s->cov = p->cov;
    return spot_eigen_take(c, a, &s->eigen, p->d, p->kept);
}

spot_status spot_pca_axes(spot_ctx *c, double *mean, double *axis, int kept, const spot_view *v)
{
    spot_ctx here = { .ops = &spot_ops_cpu, .threads = c->threads };
    spot_pca_problem p = { .n = v->n, .d = v->d, .kept = kept, .x = v->feature, .mean = mean };
    solver s = { .axis = axis };
    spot_arena a = spot_arena_counting();
    double left_out;
    spot_status how;

    SPOT_TRY(take_axes(c, &a, &p, &s));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    how = take_axes(c, &a, &p, &s);
    if (how == SPOT_OK) how = spot_pca_covariance(&here, 1, &p);
    if (how == SPOT_OK && !find_axes(&s, &p, &left_out, c->threads)) how = SPOT_NUMERIC;
    spot_arena_close(&a);
    return how == SPOT_OK ? how : spot_fail(c, how, "the axes of PCA of %d x %d features could not be found again", v->n, v->d);
}
