/* spotlight_full.c - spotlights of full precision on the CPU: a thread a problem, matrices by BLAS.
 *
 * With y_i = V^T (x_i - mean), D_i = sum_j e^a_j y_ij^2. Let c_i = dJ/dD_i and M = sum c_i y_i y_i^T. As V is orthogonal,
 *
 *   dJ/da_j = e^a_j M_jj,   dJ/dmean = -2 V e^a (sum c_i y_i),   dJ/dV_ij = (V A)_ij,  A_jk = M_jk (e^a_k - e^a_j)
 *
 * of which the last is the gradient through P = V e^a V^-1 as upstream writes it. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/lanes.h"
#include "fit/spotlight_cpu.h"

typedef struct {
    const spot_spotlight_problem *p;
    double *x, *y;                      /* (n, d): x - mean, then c y; y */
    double *far, *k, *u;                /* (n), u then c */
    double *m, *gram, *turned;          /* (d, d) */
    double *moment[2];                  /* (d (d + 2)): Adam's of axes, mean, log_precision */
    double *scale, *sum, *rise;         /* (d): e^a; sum c y; dJ/dmean, then dJ/da */
} spotlight_full_work;

static void multiply_matrices(double *c, const double *a, const double *b, int rows, int cols, int depth, int transposed)
{
    cblas_dgemm(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, rows, cols, depth, 1, a,
                transposed ? rows : depth, b, cols, 0, c, cols);
}

/* v becomes the nearest orthogonal matrix: v <- v (3 I - v^T v) / 2 keeps its singular vectors and takes every singular value
 * in (0, sqrt 3) to 1, doubling the digits each time in the end. */
static void orthogonalise(double *v, double *gram, double *turned, int d)
{
    size_t all = (size_t)d * d;
    double off = 1;

    for (int tries = 0; tries < 100 && off > 1e-7; tries++) {
        double square = 0, scale;
        multiply_matrices(gram, v, v, d, d, d, 1);
        for (size_t e = 0; e < all; e++) square += gram[e] * gram[e];
        off = 0;
        for (size_t e = 0; e < all; e++) {
            double rest = (e % (size_t)(d + 1) == 0) - gram[e];
            off += rest * rest;
        }
        off = sqrt(off);
        scale = off < 1 ? 1 : 1 / sqrt(square);       /* scales the gram; then no singular value exceeds 1 */
        for (size_t e = 0; e < all; e++)
            gram[e] = (off < 1 ? 1 : sqrt(scale)) * (1.5 * (e % (size_t)(d + 1) == 0) - 0.5 * scale * gram[e]);
        multiply_matrices(turned, v, gram, d, d, d, 0);
        memcpy(v, turned, all * sizeof *v);
    }
}

/* Distances and weights of every row, and y. */
static void weigh_rows(spotlight_full_work *w, int kernel)
{
    const spot_spotlight_problem *p = w->p;
    int n = p->n, d = p->d;

    for (int j = 0; j < d; j++) w->scale[j] = exp(fmin(p->log_precision[j], 700));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++) w->x[(size_t)i * d + j] = p->x[(size_t)i * d + j] - p->mean[j];
    multiply_matrices(w->y, w->x, p->axes, n, d, d, 0);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < d; j++) sum += w->scale[j] * (w->y[(size_t)i * d + j] * w->y[(size_t)i * d + j]);
        w->far[i] = spot_spotlight_distance(sum, 1);
    }
    spot_spotlight_weights(kernel, w->k, w->u, w->far, (n + 7) / 8 * 8);
}

/* Adam's step of parameters `first` .. of w->moment. */
static void step_array(const spotlight_full_work *w, const spot_spotlight_state *s, double *value, const double *rise,
                       size_t first, size_t count)
{
    double *m = w->moment[0] + first, *v = w->moment[1] + first;

    for (size_t e = 0; e < count; e++) value[e] = spot_spotlight_adam(s, value[e], rise[e], &m[e], &v[e]);
}

/* Adam's step of all parameters, from c in w->u. */
static void step_parameters(spotlight_full_work *w, const spot_spotlight_state *s)
{
    const spot_spotlight_problem *p = w->p;
    int n = p->n, d = p->d;
    size_t square = (size_t)d * d;

    cblas_dgemv(CblasRowMajor, CblasTrans, n, d, 1, w->y, d, w->u, 1, 0, w->sum, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++) w->x[(size_t)i * d + j] = w->u[i] * w->y[(size_t)i * d + j];
    multiply_matrices(w->m, w->y, w->x, d, d, n, 1);
    for (int j = 0; j < d; j++) w->sum[j] *= -2 * w->scale[j];
    for (int i = 0; i < d; i++) w->rise[i] = cblas_ddot(d, p->axes + (size_t)i * d, 1, w->sum, 1);
    step_array(w, s, p->mean, w->rise, square, d);
    for (int j = 0; j < d; j++) w->rise[j] = w->scale[j] * w->m[(size_t)j * d + j];
    step_array(w, s, p->log_precision, w->rise, square + d, d);
    for (int j = 0; j < d; j++)
        for (int k = 0; k < d; k++) w->m[(size_t)j * d + k] *= w->scale[k] - w->scale[j];
    multiply_matrices(w->turned, p->axes, w->m, d, d, d, 0);
    step_array(w, s, p->axes, w->turned, 0, square);
    orthogonalise(p->axes, w->gram, w->turned, d);
}

static void clear_moments(spotlight_full_work *w)
{
    size_t d = (size_t)w->p->d;

    for (int i = 0; i < 2; i++) memset(w->moment[i], 0, d * (d + 2) * sizeof(double));
    memset(w->far, 0, ((size_t)w->p->n + 8) * sizeof(double));      /* its padding counts as rows of no interest */
}

static spot_status fit_one(spot_ctx *c, void *lane, void *problem, const void *setup, int threads)
{
    const spot_spotlight_problem *p = problem;
    const spot_spotlight_config *cfg = ((const spot_spotlight_setup *)setup)->cfg;
    int compat = ((const spot_spotlight_setup *)setup)->compat, steps = spot_spotlight_steps(cfg, compat), lost = 0;
    spot_spotlight_state s = spot_spotlight_begin(p->n, cfg, compat);
    spotlight_full_work *w = lane;

    (void)threads;
    w->p = p;
    clear_moments(w);
    for (int t = 0; t < steps; t++) {
        double k = 0, kl = 0;
        spot_spotlight_pull g;
        if (spot_check_stop(c) != SPOT_OK) return SPOT_STOPPED;
        weigh_rows(w, cfg->kernel);
        for (int i = 0; i < p->n; i++) {
            k += w->k[i];
            kl += w->k[i] * p->loss[i];
        }
        g = spot_spotlight_pulled(&s, k, kl);
        lost = g.lost;
        if (lost) break;
        for (int i = 0; i < p->n; i++) w->u[i] *= -(g.by_loss * (p->loss[i] - g.mean_loss) + g.push);
        step_parameters(w, &s);
        spot_spotlight_end_step(&s, g.objective);
        if (p->trace) memcpy(p->trace + 3 * t, (double[]){ g.objective, k, s.lr }, 3 * sizeof *p->trace);
    }
    if (!lost) weigh_rows(w, cfg->kernel);
    for (int i = 0; i < p->n; i++) p->weight[i] = lost ? 0 : w->k[i];
    return SPOT_OK;
}

/* The arrays that weigh_rows uses. */
static spot_status take_rows(spot_ctx *c, spot_arena *a, spotlight_full_work *w, size_t n, size_t d)
{
    SPOT_TRY(SPOT_TAKE(c, a, w->x, n * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->y, n * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->far, n + 8));
    SPOT_TRY(SPOT_TAKE(c, a, w->k, n + 8));
    SPOT_TRY(SPOT_TAKE(c, a, w->u, n + 8));
    return SPOT_TAKE(c, a, w->scale, d);
}

static spot_status take_work(spot_ctx *c, spot_arena *a, void *lane, const void *most, int threads)
{
    size_t n = (size_t)((const spot_spotlight_problem *)most)->n, d = (size_t)((const spot_spotlight_problem *)most)->d;
    spotlight_full_work *w = lane;

    (void)threads;
    SPOT_TRY(take_rows(c, a, w, n, d));
    SPOT_TRY(SPOT_TAKE(c, a, w->m, d * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->gram, d * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->turned, d * d));
    for (int i = 0; i < 2; i++) SPOT_TRY(SPOT_TAKE(c, a, w->moment[i], d * (d + 2)));
    SPOT_TRY(SPOT_TAKE(c, a, w->sum, d));
    return SPOT_TAKE(c, a, w->rise, d);
}

const spot_job_kind spot_spotlight_full_kind = { sizeof(spotlight_full_work), sizeof(spot_spotlight_problem), take_work,
                                                 fit_one };

spot_status spot_spotlight_full_weigh(spot_ctx *c, spot_arena *scratch, const spot_spotlight_problem *p, int kernel)
{
    size_t mark = scratch->used, n = (size_t)p->n;
    spotlight_full_work w = { .p = p };

    SPOT_TRY(take_rows(c, scratch, &w, n, (size_t)p->d));
    if (!scratch->counting) {
        memset(w.far, 0, (n + 8) * sizeof *w.far);
        weigh_rows(&w, kernel);
        memcpy(p->weight, w.k, n * sizeof *w.k);
    }
    scratch->used = mark;
    return SPOT_OK;
}
