/* eigen.c - leading eigenvectors of a symmetric matrix, 32 at a time in vector registers. */
#include "map/eigen.h"

#include <cblas.h>
#include <float.h>
#include <string.h>

#include "core/vmath64.h"

enum { WIDE = 32, V = WIDE / LANES, ROUNDS = 54, STEPS = 8 };      /* bisections, to the last bit; Newton's steps */

/* The tridiagonal matrix: its norm is at most `norm`, and no pivot below `least` in size is divided by. */
typedef struct { int d; const double *diagonal, *beside; double norm, least; } band;

static band band_of(const spot_eigen *s, int d)
{
    band t = { d, s->diagonal, s->beside, 0, 0 };

    for (int i = 0; i < d; i++)
        t.norm = fmax(t.norm, fabs(t.diagonal[i]) + (i ? fabs(t.beside[i - 1]) : 0) + (i < d - 1 ? fabs(t.beside[i]) : 0));
    t.least = fmax(t.norm * 0x1p-104, DBL_MIN);
    return t;
}

/* The next pivot: row i less x, after elimination of its neighbour. */
VD_INLINE vd pivot(const band *t, int i, vd x, double beside, vd before)
{
    vd q = vd_all(t->diagonal[i]) - x - vd_all(beside * beside) / before, least = vd_all(t->least);

    return vd_pick((q < least) & (q > -least), -least, q);
}

/* The number of eigenvalues below each x: that of pivots below 0 (Sturm). */
static void count_below(vi below[V], const band *t, const vd x[V])
{
    vd q[V];

    for (int v = 0; v < V; v++) q[v] = vd_all(1), below[v] = (vi){ 0 };
    for (int i = 0; i < t->d; i++)
        for (int v = 0; v < V; v++) {
            q[v] = pivot(t, i, x[v], i ? t->beside[i - 1] : 0, q[v]);
            below[v] -= (vi)(q[v] < 0);
        }
}

/* Eigenvalues first .. first+31 in rising order; past the last, the last again. */
static void bisect_values(vd x[V], const band *t, int first)
{
    vd low[V], high[V];
    vi wanted[V], below[V];

    for (int v = 0; v < V; v++) {
        low[v] = vd_all(-t->norm), high[v] = vd_all(t->norm);
        for (int l = 0; l < LANES; l++) wanted[v][l] = first + v * LANES + l < t->d ? first + v * LANES + l : t->d - 1;
    }
    for (int r = 0; r <= ROUNDS; r++) {
        for (int v = 0; v < V; v++) x[v] = 0.5 * (low[v] + high[v]);
        if (r < ROUNDS) count_below(below, t, x);
        for (int v = 0; v < V && r < ROUNDS; v++) {
            vi above = below[v] > wanted[v];
            high[v] = vd_pick(above, x[v], high[v]);
            low[v] = vd_pick(above, low[v], x[v]);
        }
    }
}

/* z (d, 32): an eigenvector of length 1 for each x. z first holds the pivots from the top, back those from the bottom; they
 * meet in the row where the two eliminations differ least. False if a residual is larger than rounding. */
static bool twisted_vectors(vd (*z)[V], vd (*back)[V], const band *t, const vd x[V])
{
    int d = t->d;
    bool good = true;

    for (int v = 0; v < V; v++) {
        vd q = vd_all(1), least = vd_all(INFINITY), length = { 0 }, worst = { 0 };
        vi meet = { 0 };
        for (int i = 0; i < d; i++) z[i][v] = q = pivot(t, i, x[v], i ? t->beside[i - 1] : 0, q);
        q = vd_all(1);
        for (int i = d - 1; i >= 0; i--) {
            back[i][v] = q = pivot(t, i, x[v], i < d - 1 ? t->beside[i] : 0, q);
            vd apart = z[i][v] + q - (vd_all(t->diagonal[i]) - x[v]);
            vi less = vd_max(apart, -apart) < least;
            least = vd_pick(less, vd_max(apart, -apart), least);
            meet = vi_pick(less, (vi){ 0 } + i, meet);
        }
        q = (vd){ 0 };
        for (int i = d - 1; i >= 0; i--) {
            vd up = -vd_all(i < d - 1 ? t->beside[i] : 0) * q / z[i][v];
            z[i][v] = q = vd_pick((vi){ 0 } + i == meet, vd_all(1), up);
        }
        for (int i = 0; i < d; i++) {
            if (i) q = vd_pick((vi){ 0 } + i > meet, -vd_all(t->beside[i - 1]) * q / back[i][v], z[i][v]);
            z[i][v] = q;
            length = vd_fma(q, q, length);
        }
        for (int l = 0; l < LANES; l++) length[l] = 1 / sqrt(length[l]);
        for (int i = 0; i < d; i++) z[i][v] *= length;
        for (int i = 0; i < d; i++) {
            vd r = (vd_all(t->diagonal[i]) - x[v]) * z[i][v];
            if (i) r += vd_all(t->beside[i - 1]) * z[i - 1][v];
            if (i < d - 1) r += vd_all(t->beside[i]) * z[i + 1][v];
            worst = vd_max(worst, vd_max(r, -r));
        }
        for (int l = 0; l < LANES; l++) good &= worst[l] <= 0x1p-46 * t->norm;
    }
    return good;
}

/* z through the reflectors of dsytrd. Row i of a holds the i-th from column i+2 on; in column i+1 it is 1. */
static void reflect(vd (*z)[V], const double *a, const double *tau, int d)
{
    for (int i = d - 2; i >= 0; i--) {
        const double *u = a + (size_t)i * d;
        vd sum[V];
        memcpy(sum, z[i + 1], sizeof sum);
        for (int j = i + 2; j < d; j++)
            for (int v = 0; v < V; v++) sum[v] = vd_fma(vd_all(u[j]), z[j][v], sum[v]);
        for (int v = 0; v < V; v++) z[i + 1][v] += sum[v] *= -tau[i];
        for (int j = i + 2; j < d; j++)
            for (int v = 0; v < V; v++) z[j][v] = vd_fma(vd_all(u[j]), sum[v], z[j][v]);
    }
}

/* Values and vectors k0 .. k0+31. */
static bool solve_tile(const spot_eigen *s, const band *t, const double *a, int kept, int k0)
{
    int d = t->d, own = kept - k0 < WIDE ? kept - k0 : WIDE;
    double *z = s->lane + (size_t)k0 * d;
    vd x[V];
    bool good;

    bisect_values(x, t, d - kept + k0);
    good = twisted_vectors((vd (*)[V])z, (vd (*)[V])(s->back + (size_t)k0 * d), t, x);
    reflect((vd (*)[V])z, a, s->tau, d);
    for (int k = 0; k < own; k++) {
        s->value[k0 + k] = x[k / LANES][k % LANES];
        for (int j = 0; j < d; j++) s->vector[(size_t)(k0 + k) * d + j] = z[(size_t)j * WIDE + k];
    }
    return good;
}

/* Newton's steps vector <- (3 I - vector vector^T) / 2 vector until the vectors are orthonormal; s->lane is free again. */
static bool orthonormalise(const spot_eigen *s, int d, int kept)
{
    for (int step = 0; step < STEPS; step++) {
        double off = 0, *g = s->gram;
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, kept, d, 1, s->vector, d, 0, g, kept);
        for (int a = 0; a < kept; a++)
            for (int b = 0; b <= a; b++) {
                double from = g[(size_t)a * kept + b] - (a == b);
                if (!(fabs(from) < 0.5)) return false;
                off = fmax(off, fabs(from));
                g[(size_t)a * kept + b] = g[(size_t)b * kept + a] = (a == b) - 0.5 * from;
            }
        memcpy(s->lane, s->vector, (size_t)kept * d * sizeof *s->lane);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kept, d, kept, 1, g, kept, s->lane, d, 0, s->vector, d);
        if (off < 0x1p-26) return true;      /* a step squares it */
    }
    return false;
}

spot_status spot_eigen_take(spot_ctx *c, spot_arena *a, spot_eigen *s, int d, int kept)
{
    size_t lanes = (size_t)(kept + WIDE - 1) / WIDE * WIDE * (size_t)d;

    SPOT_TRY(SPOT_TAKE(c, a, s->diagonal, d));
    SPOT_TRY(SPOT_TAKE(c, a, s->beside, d));
    SPOT_TRY(SPOT_TAKE(c, a, s->tau, d));
    SPOT_TRY(SPOT_TAKE(c, a, s->value, d));
    SPOT_TRY(SPOT_TAKE(c, a, s->vector, (size_t)kept * d));
    SPOT_TRY(SPOT_TAKE(c, a, s->lane, lanes));
    SPOT_TRY(SPOT_TAKE(c, a, s->back, lanes));
    SPOT_TRY(SPOT_TAKE(c, a, s->gram, (size_t)kept * kept));
    return SPOT_TAKE(c, a, s->support, 2 * (size_t)kept);
}

/* LAPACK is column-major: our upper triangle is its lower. */
bool spot_eigen_top(const spot_eigen *s, double *a, int d, int kept, int threads)
{
    lapack_logical accurate = 1;
    lapack_int found = 0;
    bool good = true;
    band t;

    if (LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', d, a, d, s->diagonal, s->beside, s->tau, s->lane, WIDE * d)) return false;
    t = band_of(s, d);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k0 = 0; k0 < kept; k0 += WIDE)
        if (!solve_tile(s, &t, a, kept, k0))
#pragma omp atomic write
            good = false;
    if (good && orthonormalise(s, d, kept)) return true;
    if (LAPACKE_dstemr(LAPACK_COL_MAJOR, 'V', 'I', d, s->diagonal, s->beside, 0, 0, d - kept + 1, d, &found, s->value,
                       s->vector, d, kept, s->support, &accurate) || found != kept)
        return false;
    return d == 1 || !LAPACKE_dormtr(LAPACK_COL_MAJOR, 'L', 'L', 'N', d, kept, a, d, s->tau, s->vector, d);
}
