/* proof_causes.c - confirmed slices that are near each other in the features: spot_proof.cause of discover.h. All of it is for
 * display, and comes after the tests. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/proof/judge.h"

#define NEAR 0.5                       /* distance of two slices over that of either from right rows, at most */
#define TAKEN 0.5                      /* share of a slice's wrong rows that are taken for one class, at least */

/* A confirmed slice whose wrong rows are mostly taken for one class. */
typedef struct {
    spot_slice *slice;
    int     cls, order;                /* of its finding; place among all slices */
    int     group;
    double  off;                       /* the lesser squared distance to the right rows of its class, of `predicted` */
    double *centre;                    /* (d): mean of its wrong rows */
} alike;

typedef struct {
    const spot_subject *s;
    int     n;
    alike  *of;
    double *right;                     /* (classes, d): mean of the rows of each class that the classifier gets right */
    int    *rows;                      /* (classes): their number */
} causes;

static bool may_have_cause(const spot_finding *f, const spot_slice *s)
{
    const spot_proof *p = s->proof;

    return f->cls >= 0 && p && p->claim == SPOT_CLAIM_CONFIRMED && p->predicted >= 0 && p->predicted_share >= TAKEN;
}

static int count_slices(const spot_findings *f)
{
    int n = 0;

    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) n += may_have_cause(&f->finding[i], &f->finding[i].slice[k]);
    return n;
}

/* ---- centres ---- */

static void add_row(double *sum, const spot_subject *s, int row)
{
    for (int k = 0; k < s->d; k++) sum[k] += s->feature[(size_t)row * (size_t)s->d + (size_t)k];
}

static void divide(double *sum, int d, int rows)
{
    for (int k = 0; k < d && rows; k++) sum[k] /= rows;
}

static void find_right_rows(causes *a)
{
    const spot_subject *s = a->s;
    const size_t d = (size_t)s->d;

    for (int i = 0; i < s->n; i++) {
        const int k = s->target[i];
        if (spot_subject_wrong(s, i, k)) continue;
        add_row(a->right + (size_t)k * d, s, i);
        a->rows[k]++;
    }
    for (int k = 0; k < s->classes; k++) divide(a->right + (size_t)k * d, s->d, a->rows[k]);
}

static double apart(const double *x, const double *y, int d)
{
    double sum = 0;

    for (int k = 0; k < d; k++) sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sum;
}

/* The squared distance to the right rows of a class; infinite where it has none. */
static double from_right_rows(const causes *a, const alike *x, int cls)
{
    return a->rows[cls] ? apart(x->centre, a->right + (size_t)cls * (size_t)a->s->d, a->s->d) : INFINITY;
}

static void place_slice(const causes *a, alike *x)
{
    int rows = 0;

    for (int i = 0; i < x->slice->size; i++) {
        if (!spot_subject_wrong(a->s, x->slice->row[i], x->cls)) continue;
        add_row(x->centre, a->s, x->slice->row[i]);
        rows++;
    }
    divide(x->centre, a->s->d, rows);
    x->off = fmin(from_right_rows(a, x, x->cls), from_right_rows(a, x, x->slice->proof->predicted));
}

/* ---- groups ---- */

static int surest_first(const void *a, const void *b)
{
    const alike *x = a, *y = b;
    const double p = x->slice->proof->p, q = y->slice->proof->p;

    return p != q ? (p > q) - (p < q) : x->order - y->order;
}

static bool is_near(const alike *x, const alike *y, int d)
{
    return x->slice->proof->predicted == y->slice->proof->predicted
        && apart(x->centre, y->centre, d) <= NEAR * NEAR * fmin(x->off, y->off);
}

/* The first group to all of whose slices slice i is near, or one of its own. */
static void choose_group(causes *a, int i, int *groups)
{
    int g = 0;

    for (; g < *groups; g++) {
        bool near = true;
        for (int k = 0; k < i && near; k++) near = a->of[k].group != g || is_near(&a->of[i], &a->of[k], a->s->d);
        if (near) break;
    }
    a->of[i].group = g;
    if (g == *groups) ++*groups;
}

/* Causes of two slices and more are numbered from 1, that of the surest slice first. */
static void number_causes(causes *a, int groups)
{
    for (int g = 0, cause = 0; g < groups; g++) {
        int slices = 0;
        for (int i = 0; i < a->n; i++) slices += a->of[i].group == g;
        cause += slices > 1;
        for (int i = 0; i < a->n && slices > 1; i++)
            if (a->of[i].group == g) a->of[i].slice->proof->cause = cause;
    }
}

static void find_causes(causes *a, const spot_findings *f, double *centres)
{
    int n = 0, order = 0, groups = 0;

    find_right_rows(a);
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++, order++) {
            spot_slice *s = &f->finding[i].slice[k];
            if (!may_have_cause(&f->finding[i], s)) continue;
            a->of[n] = (alike){ .slice = s, .cls = f->finding[i].cls, .order = order,
                                .centre = centres + (size_t)n * (size_t)a->s->d };
            place_slice(a, &a->of[n++]);
        }
    qsort(a->of, (size_t)n, sizeof *a->of, surest_first);
    for (int i = 0; i < n; i++) choose_group(a, i, &groups);
    number_causes(a, groups);
}

spot_status spot_proof_causes(spot_ctx *c, spot_findings *f, const spot_subject *s)
{
    causes a = { .s = s, .n = count_slices(f) };
    double *centres;

    if (a.n < 2 || !s->target) return SPOT_OK;
    a.of = calloc((size_t)a.n, sizeof *a.of);
    a.rows = calloc((size_t)s->classes, sizeof *a.rows);
    a.right = calloc((size_t)s->classes * (size_t)s->d, sizeof *a.right);
    centres = calloc((size_t)a.n * (size_t)s->d, sizeof *centres);
    const bool room = a.of && a.rows && a.right && centres;
    if (room) find_causes(&a, f, centres);
    free(a.of);
    free(a.rows);
    free(a.right);
    free(centres);
    return room ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to compare %d slices of %d numbers", a.n, s->d);
}
