/* logistic.c - Newton's method: its Hessian is I + c A^T A with a row sqrt(weight p (1 - p)) (x, 1) of A for each sample. */
#include "stats/logistic.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SMALL    1e-10     /* of a gradient, beside its terms */
#define CURVED   1e-12     /* least curvature along b, whose penalty is none */

enum { STEPS = 100, HALVINGS = 40 };

/* Coefficients are v, then b: m = d + 1 of them. */
typedef struct {
    double *at, *next, *gradient, *step;       /* (m) */
    double *hessian;                           /* (m, m), upper */
    double *row;                               /* (n, m) */
    double *z;                                 /* (n): v x + b */
} space;

static spot_status take_space(spot_ctx *c, spot_arena *a, space *s, int n, int m)
{
    SPOT_TRY(SPOT_TAKE(c, a, s->at, m));
    SPOT_TRY(SPOT_TAKE(c, a, s->next, m));
    SPOT_TRY(SPOT_TAKE(c, a, s->gradient, m));
    SPOT_TRY(SPOT_TAKE(c, a, s->step, m));
    SPOT_TRY(SPOT_TAKE(c, a, s->hessian, (size_t)m * m));
    SPOT_TRY(SPOT_TAKE(c, a, s->row, (size_t)n * m));
    return SPOT_TAKE(c, a, s->z, n);
}

/* log(1 + exp(-t)) without overflow. */
static double soft_loss(double t) { return t > 0 ? log1p(exp(-t)) : log1p(exp(t)) - t; }

static double objective(const spot_logistic *p, const double *at, double *z)
{
    double sum = 0.5 * cblas_ddot(p->d, at, 1, at, 1);

    cblas_dgemv(CblasRowMajor, CblasNoTrans, p->n, p->d, 1, p->x, p->d, at, 1, 0, z, 1);
    for (int i = 0; i < p->n; i++) {
        z[i] += at[p->d];
        sum += p->c * p->weight[i] * soft_loss(p->y[i] ? z[i] : -z[i]);
    }
    return sum;
}

/* Fills gradient and Hessian at s->at, whose z is known. Returns the size of the gradient's terms. */
static double differentiate(const spot_logistic *p, space *s)
{
    const int m = p->d + 1;
    double terms = 0;

    memcpy(s->gradient, s->at, (size_t)p->d * sizeof *s->at);
    s->gradient[p->d] = 0;
    for (int i = 0; i < p->n; i++) {
        const double q = 1 / (1 + exp(-s->z[i])), pull = p->c * p->weight[i] * (q - p->y[i]);
        const double *x = p->x + (size_t)i * p->d;
        double *row = s->row + (size_t)i * m, root = sqrt(p->c * p->weight[i] * q * (1 - q));
        for (int j = 0; j < p->d; j++) row[j] = root * x[j];
        row[p->d] = root;
        cblas_daxpy(p->d, pull, x, 1, s->gradient, 1);
        s->gradient[p->d] += pull;
        terms += p->c * p->weight[i];
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, m, p->n, 1, s->row, m, 0, s->hessian, m);
    for (int j = 0; j < m; j++) s->hessian[(size_t)j * m + j] += j < p->d ? 1 : CURVED;
    return terms;
}

/* Moves s->at along the step, halved until the objective falls. Returns whether it fell. */
static bool move_along(const spot_logistic *p, space *s, double *value)
{
    const int m = p->d + 1;
    double share = 1;

    for (int k = 0; k < HALVINGS; k++, share /= 2) {
        double now;
        for (int j = 0; j < m; j++) s->next[j] = s->at[j] - share * s->step[j];
        now = objective(p, s->next, s->z);
        if (!(now < *value)) continue;
        *value = now;
        memcpy(s->at, s->next, (size_t)m * sizeof *s->at);
        return true;
    }
    objective(p, s->at, s->z);
    return false;
}

static spot_status find_least(spot_ctx *c, spot_logistic *p, space *s)
{
    const int m = p->d + 1;
    double value;

    memset(s->at, 0, (size_t)m * sizeof *s->at);
    value = objective(p, s->at, s->z);
    for (p->iterations = 0; p->iterations < STEPS; p->iterations++) {
        double terms = differentiate(p, s), most = 0;
        for (int j = 0; j < m; j++) most = fmax(most, fabs(s->gradient[j]));
        if (most <= SMALL * terms) return SPOT_OK;
        memcpy(s->step, s->gradient, (size_t)m * sizeof *s->step);
        if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', m, 1, s->hessian, m, s->step, 1))
            return spot_fail(c, SPOT_NUMERIC, "logistic regression of %d rows: its Hessian is not positive definite", p->n);
        if (!move_along(p, s, &value)) return SPOT_OK;                 /* the objective's last digits */
        SPOT_TRY(spot_check_stop(c));
    }
    return spot_fail(c, SPOT_NUMERIC, "logistic regression of %d rows in %d columns still moves after %d steps", p->n, p->d,
                     STEPS);
}

spot_status spot_logistic_fit(spot_ctx *c, spot_arena *a, spot_logistic *p)
{
    size_t mark = a->used;
    spot_status status;
    space s;

    SPOT_TRY(take_space(c, a, &s, p->n, p->d + 1));
    if (a->counting) {
        a->used = mark;
        return SPOT_OK;
    }
    status = find_least(c, p, &s);
    if (status == SPOT_OK) memcpy(p->v, s.at, (size_t)p->d * sizeof *p->v);
    p->b = s.at[p->d];
    a->used = mark;
    return status;
}
