/* spectral.c - connected pieces, and Lanczos' method (1950) with full reorthogonalisation, which keeps it accurate for the few
 * hundred steps needed. Sums have 16 lanes in fixed order; one thread works on a problem. */
#include "models/spectral.h"

#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "spotter/rng.h"

enum { LANES = 16, STEPS = 120 };
#define EXTENT 10.0
#define NOISE  1e-4

/* The memory of one thread. */
typedef struct {
    int *member;          /* (n): the points, piece by piece */
    int *begin;           /* (n + 1): first index of each piece in member */
    double *centre;       /* (n, dim): centres of the pieces, at most n */
    double *root;         /* (n): 1 / sqrt(degree) */
    double *scaled;       /* (n): a vector times root, indexed by point */
    double *basis;        /* (STEPS + 2, n): Lanczos vectors; the first is the trivial one */
    double *diagonal, *beside, *vector;      /* (STEPS), (STEPS), (STEPS, STEPS): the tridiagonal matrix, its eigenvectors */
} solver;

static spot_status take_solver(spot_ctx *c, spot_arena *a, solver *s, int n, int dim)
{
    SPOT_TRY(SPOT_TAKE(c, a, s->member, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->begin, n + 2));
    SPOT_TRY(SPOT_TAKE(c, a, s->centre, (size_t)n * dim));
    SPOT_TRY(SPOT_TAKE(c, a, s->root, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->scaled, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->basis, (size_t)(STEPS + 2) * n));
    SPOT_TRY(SPOT_TAKE(c, a, s->diagonal, STEPS));
    SPOT_TRY(SPOT_TAKE(c, a, s->beside, STEPS));
    return SPOT_TAKE(c, a, s->vector, STEPS * STEPS);
}

static double dot(const double *a, const double *b, int n)
{
    double lane[LANES] = { 0 }, sum = 0;
    int i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] = fma(a[i + l], b[i + l], lane[l]);
    for (int l = 0; i + l < n; l++) lane[l] = fma(a[i + l], b[i + l], lane[l]);
    for (int l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

static void add_scaled(double *to, const double *a, double by, int n)
{
    for (int i = 0; i < n; i++) to[i] = fma(by, a[i], to[i]);
}

/* Normalises v to length 1; returns 0 if v is nearly 0. */
static int normalise(double *v, int n)
{
    double length = sqrt(dot(v, v, n));

    if (!(length > 1e-10)) return 0;
    for (int i = 0; i < n; i++) v[i] /= length;
    return 1;
}

/* w = D^-1/2 W D^-1/2 v on the piece's m points. */
static void multiply(const solver *t, const spot_spectral *s, const int *member, int m, double *w, const double *v)
{
    for (int i = 0; i < m; i++) t->scaled[member[i]] = v[i] * t->root[member[i]];
    for (int i = 0; i < m; i++) {
        int at = member[i];
        double sum = 0;
        for (int e = s->start[at]; e < s->start[at + 1]; e++) sum = fma(s->weight[e], t->scaled[s->to[e]], sum);
        w[i] = sum * t->root[at];
    }
}

/* Computes the basis from its second vector on; returns the number of steps. */
static int lanczos(const solver *t, const spot_spectral *s, const int *member, int m, spot_rng *r)
{
    int most = m - 1 < STEPS ? m - 1 : STEPS, steps = 0;
    double *q = t->basis;

    for (int i = 0; i < m; i++) q[i] = 1 / t->root[member[i]];
    if (!normalise(q, m)) return 0;
    for (int i = 0; i < m; i++) q[m + i] = spot_rng_normal(r);
    add_scaled(q + m, q, -dot(q, q + m, m), m);
    for (; steps < most && normalise(q + (size_t)(steps + 1) * m, m); steps++) {
        const double *v = q + (size_t)(steps + 1) * m;
        double *next = q + (size_t)(steps + 2) * m;

        multiply(t, s, member, m, next, v);
        t->diagonal[steps] = dot(v, next, m);
        for (int j = steps + 1; j >= 0; j--) add_scaled(next, q + (size_t)j * m, -dot(q + (size_t)j * m, next, m), m);
        t->beside[steps] = sqrt(dot(next, next, m));
    }
    return steps;
}

/* Writes the k-th eigenvector of a piece to coordinate k of y. */
static void set_coordinate(const solver *t, const spot_spectral *s, const int *member, int m, int steps, int k)
{
    float *y = s->y + (size_t)k * s->n;
    double *sum = t->basis + (size_t)(STEPS + 1) * m, most = 0;      /* reuses the last vector */

    memset(sum, 0, (size_t)m * sizeof *sum);
    for (int j = 0; j < steps; j++) add_scaled(sum, t->basis + (size_t)(j + 1) * m, t->vector[j * steps + steps - 1 - k], m);
    for (int i = 0; i < m; i++) if (fabs(sum[i]) > fabs(most)) most = sum[i];
    for (int i = 0; i < m; i++) y[member[i]] = (float)(most < 0 ? -sum[i] : sum[i]);
}

/* Lays a piece around 0, its coordinates scaled to `radius`. */
static int lay_piece(const solver *t, const spot_spectral *s, const int *member, int m, double radius, spot_rng *r)
{
    int steps = m > s->dim + 1 ? lanczos(t, s, member, m, r) : 0, filled = steps < s->dim ? steps : s->dim;
    double most = 0;

    if (steps && LAPACKE_dstev(LAPACK_ROW_MAJOR, 'V', steps, t->diagonal, t->beside, t->vector, steps)) return 0;
    for (int k = 0; k < filled; k++) {
        set_coordinate(t, s, member, m, steps, k);
        for (int i = 0; i < m; i++) most = fmax(most, fabs(s->y[(size_t)k * s->n + member[i]]));
    }
    for (int k = 0; k < s->dim; k++)
        for (int i = 0; i < m; i++) {
            float *y = &s->y[(size_t)k * s->n + member[i]];
            *y = (float)(k < filled ? *y * (radius / most) : radius / 3 * spot_rng_normal(r));
        }
    return 1;
}

/* Sorts the points by piece, ascending. */
static void sort_points(const solver *t, const spot_spectral *s)
{
    memset(t->begin, 0, (size_t)(s->pieces + 2) * sizeof *t->begin);
    for (int i = 0; i < s->n; i++) t->begin[s->piece[i] + 2]++;
    for (int q = 0; q < s->pieces; q++) t->begin[q + 2] += t->begin[q + 1];
    for (int i = 0; i < s->n; i++) t->member[t->begin[s->piece[i] + 1]++] = i;
}

/* Computes the centres of the pieces, scaled so that the greatest coordinate is EXTENT. */
static void find_centres(const solver *t, const spot_spectral *s)
{
    double most = 0;

    for (int q = 0; q < s->pieces; q++)
        for (int k = 0; k < s->dim; k++) {
            double sum = 0;
            for (int e = t->begin[q]; e < t->begin[q + 1]; e++) sum += s->place[(size_t)t->member[e] * s->dim + k];
            t->centre[q * s->dim + k] = sum / (t->begin[q + 1] - t->begin[q]);
            most = fmax(most, fabs(t->centre[q * s->dim + k]));
        }
    for (int e = 0; e < s->pieces * s->dim; e++) t->centre[e] *= most > 0 ? EXTENT / most : 0;
}

/* Half of the distance from piece q to the nearest other piece. */
static double radius_of(const solver *t, const spot_spectral *s, int q)
{
    double least = INFINITY;

    for (int o = 0; o < s->pieces; o++) {
        double d2 = 0;
        for (int k = 0; k < s->dim; k++) {
            double x = t->centre[q * s->dim + k] - t->centre[o * s->dim + k];
            d2 += x * x;
        }
        if (o != q && d2 < least) least = d2;
    }
    return sqrt(least) / 2;
}

static int lay_out_problem(const solver *t, const spot_spectral *s)
{
    spot_rng r = spot_rng_at(s->seed.seed, SPOT_RNG_UMAP_START, s->seed.ec, 0);
    int fine = 1;

    sort_points(t, s);
    for (int i = 0; i < s->n; i++) {
        double degree = 0;
        for (int e = s->start[i]; e < s->start[i + 1]; e++) degree += s->weight[e];
        t->root[i] = degree > 0 ? 1 / sqrt(degree) : 0;
    }
    if (s->pieces > 1) find_centres(t, s);
    for (int q = 0; q < s->pieces; q++) {
        const int *member = t->member + t->begin[q];
        int m = t->begin[q + 1] - t->begin[q];

        fine &= lay_piece(t, s, member, m, s->pieces > 1 ? radius_of(t, s, q) : EXTENT, &r);
        for (int k = 0; k < s->dim && s->pieces > 1; k++)
            for (int i = 0; i < m; i++) s->y[(size_t)k * s->n + member[i]] += (float)t->centre[q * s->dim + k];
    }
    for (size_t e = 0; e < (size_t)s->dim * s->n; e++) s->y[e] += (float)(NOISE * spot_rng_normal(&r));
    return fine;
}

spot_status spot_spectral_map(spot_ctx *c, spot_arena *scratch, int problems, const spot_spectral *s)
{
    size_t mark = scratch->used;
    int n = 0, dim = 1, failed = -1, threads = c->threads < problems ? c->threads : problems;
    solver *each;

    for (int p = 0; p < problems; p++) {
        n = s[p].n > n ? s[p].n : n;
        dim = s[p].dim > dim ? s[p].dim : dim;
    }
    SPOT_TRY(SPOT_TAKE(c, scratch, each, threads));
    for (int t = 0; t < threads; t++) {
        solver one;
        SPOT_TRY(take_solver(c, scratch, &one, n, dim));
        if (!scratch->counting) each[t] = one;
    }
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int p = 0; p < problems; p++)
        if (!lay_out_problem(&each[omp_get_thread_num()], &s[p]))
#pragma omp atomic write
            failed = p;
    if (failed >= 0)
        return spot_fail_of(c, SPOT_NUMERIC, s[failed].seed.ec, "the Laplacian of %d points has no eigenvectors that could be "
                            "found; look for extreme values", s[failed].n);
    return SPOT_OK;
}

/* Finds the pieces by a walk from each point that no walk has reached. */
static void find_pieces(spot_spectral *s, int *queue)
{
    s->pieces = 0;
    for (int i = 0; i < s->n; i++) s->piece[i] = -1;
    for (int from = 0; from < s->n; from++) {
        int last = 0;
        if (s->piece[from] >= 0) continue;
        s->piece[queue[last++] = from] = s->pieces;
        for (int at = 0; at < last; at++)
            for (int e = s->start[queue[at]]; e < s->start[queue[at] + 1]; e++) {
                int j = s->to[e];
                if (s->piece[j] >= 0 || !(s->weight[e] > 0)) continue;
                s->piece[j] = s->pieces;
                queue[last++] = j;
            }
        s->pieces++;
    }
}

spot_status spot_spectral_components(spot_ctx *c, spot_arena *scratch, int problems, spot_spectral *s)
{
    size_t mark = scratch->used;
    int n = 0, *queue;

    for (int p = 0; p < problems; p++) n = s[p].n > n ? s[p].n : n;
    SPOT_TRY(SPOT_TAKE(c, scratch, queue, n));
    scratch->used = mark;
    for (int p = 0; p < problems && !scratch->counting; p++) find_pieces(&s[p], queue);
    return SPOT_OK;
}
