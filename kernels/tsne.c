/* tsne.c - t-SNE's descent on the CPU. Lanes run over points j, threads over tiles of rows i; a row's sums belong to the
 * thread that owns the row, so threads never meet in a sum. */
#include "tsne.h"

#include "vmath.h"

enum { LANES = 16, ROWS = 4, TILE = 1024, CHECK_EVERY = 50, EXPLORE = 250, PATIENCE = 300, MANY = 512 };

#define LEAST_GRADIENT 1e-7
#define FAR_AWAY 1e9f      /* where padding lies: its weight, 1e-18, vanishes beside any sum of the map */

typedef struct {
    double *attract, *repel;     /* (n, dim), without exaggeration and without 1/Z */
    double *z, *kl;              /* (n) row sums */
    float  *step, *gain;         /* (n, dim) */
} workspace;

int spot_tsne_stride(int n) { return (n + 2 * LANES - 1) / (2 * LANES) * (2 * LANES); }

/* Repulsion and sums of rows i0 .. i0+3. dim is a constant wherever this is inlined, but in the last case. One division
 * serves two pairs, 1/a = b/(ab): divisions are what this loop waits for. */
static inline __attribute__((always_inline)) void repel_rows(const spot_tsne_problem *t, workspace w, int i0, int dim)
{
    int f = dim > 2 ? dim - 1 : 1, rows = t->n - i0 < ROWS ? t->n - i0 : ROWS;
    float inverse = 1.0f / (float)f;

    for (int r = 0; r < rows; r++) {
        w.z[i0 + r] = 0;
        for (int k = 0; k < dim; k++) w.repel[(i0 + r) * dim + k] = 0;
    }
    for (int j0 = 0; j0 < t->stride; j0 += TILE) {
        int j1 = j0 + TILE < t->stride ? j0 + TILE : t->stride;
        float z[ROWS][LANES] = { { 0 } }, sum[ROWS][dim][LANES];

        memset(sum, 0, sizeof sum);
        for (int j = j0; j < j1; j += 2 * LANES)
            for (int r = 0; r < ROWS; r++) {
                const float *self = t->y + i0 + (r < rows ? r : 0);
                for (int l = 0; l < LANES; l++) {
                    float a = 1.0f, b = 1.0f;
                    for (int k = 0; k < dim; k++) {
                        const float *y = t->y + (size_t)k * t->stride + j + l;
                        float u = self[(size_t)k * t->stride] - y[0], v = self[(size_t)k * t->stride] - y[LANES];
                        a = fmaf(u * inverse, u, a);
                        b = fmaf(v * inverse, v, b);
                    }
                    float both = 1.0f / (a * b), qa = both * b, qb = both * a;
                    float wa = spot_student(qa, f), wb = spot_student(qb, f);
                    z[r][l] += wa + wb;
                    for (int k = 0; k < dim; k++) {
                        const float *y = t->y + (size_t)k * t->stride + j + l;
                        float u = self[(size_t)k * t->stride] - y[0], v = self[(size_t)k * t->stride] - y[LANES];
                        sum[r][k][l] = fmaf(wa * qa, u, fmaf(wb * qb, v, sum[r][k][l]));
                    }
                }
            }
        for (int r = 0; r < rows; r++) {
            w.z[i0 + r] += spot_fold(z[r]);
            for (int k = 0; k < dim; k++) w.repel[(i0 + r) * dim + k] += spot_fold(sum[r][k]);
        }
    }
}

/* Attraction of row i; with `kl` also its part of sum_j P_ij log(P_ij / Q_ij), but for log Z. */
static inline __attribute__((always_inline)) void attract_row(const spot_tsne_problem *t, workspace w, int i, int dim, int kl)
{
    int f = dim > 2 ? dim - 1 : 1;
    float inverse = 1.0f / (float)f, sum[dim][LANES], cost[LANES] = { 0 };

    memset(sum, 0, sizeof sum);
    for (int e = t->start[i]; e < t->start[i + 1]; e += LANES)
        for (int l = 0; l < LANES; l++) {
            float a = 1.0f, p = t->p[e + l];
            const float *y = t->y + t->to[e + l];
            for (int k = 0; k < dim; k++) {
                float u = t->y[(size_t)k * t->stride + i] - y[(size_t)k * t->stride];
                a = fmaf(u * inverse, u, a);
            }
            float pull = p / a;
            for (int k = 0; k < dim; k++)
                sum[k][l] = fmaf(pull, t->y[(size_t)k * t->stride + i] - y[(size_t)k * t->stride], sum[k][l]);
            if (kl) cost[l] += p > 0 ? p * (spot_logf(p) + 0.5f * (float)(f + 1) * spot_logf(a)) : 0.0f;
        }
    for (int k = 0; k < dim; k++) w.attract[i * dim + k] = spot_fold(sum[k]);
    if (kl) w.kl[i] = spot_fold(cost);
}

static inline __attribute__((always_inline)) void force_rows(const spot_tsne_problem *t, workspace w, int i0, int dim, int kl)
{
    repel_rows(t, w, i0, dim);
    for (int i = i0; i < i0 + ROWS && i < t->n; i++) attract_row(t, w, i, dim, kl);
}

/* All forces, and Z. Below MANY points a barrier costs more than the second thread brings. */
static double forces(const spot_tsne_problem *t, workspace w, int threads, int kl)
{
    double z = 0;

#pragma omp parallel for num_threads(t->n < MANY ? 1 : threads) schedule(dynamic, 8)
    for (int i = 0; i < t->n; i += ROWS)
        switch (t->dim) {
        case 1:  force_rows(t, w, i, 1, kl); break;
        case 2:  force_rows(t, w, i, 2, kl); break;
        case 3:  force_rows(t, w, i, 3, kl); break;
        default: force_rows(t, w, i, t->dim, kl);
        }
    for (int i = 0; i < t->n; i++) z += w.z[i] - 1.0;      /* a point does not repel itself: its weight is 1 */
    return z > 0 ? z : 1e-30;
}

static double divergence(const spot_tsne_problem *t, workspace w, double z)
{
    double kl = log(z);

    for (int i = 0; i < t->n; i++) kl += w.kl[i];
    return kl;
}

/* dC/dy, entry e of (n, dim), for P times exaggeration. */
static double slope(const spot_tsne_problem *t, workspace w, int e, double exaggeration, double z)
{
    int f = t->dim > 2 ? t->dim - 1 : 1;

    return 2.0 * (f + 1) / f * (exaggeration * w.attract[e] - w.repel[e] / z);
}

/* One step with Jacobs' gains (1988), as in scikit-learn. Returns the norm of the gradient times the gains. */
static double descend(const spot_tsne_problem *t, workspace w, double exaggeration, double z, double lr, double momentum)
{
    double norm = 0;

    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->dim; k++) {
            int e = i * t->dim + k;
            double g = slope(t, w, e, exaggeration, z);
            w.gain[e] = w.step[e] * g < 0 ? w.gain[e] + 0.2f : fmaxf(w.gain[e] * 0.8f, 0.01f);
            g *= w.gain[e];
            norm += g * g;
            w.step[e] = (float)(momentum * w.step[e] - lr * g);
            t->y[(size_t)k * t->stride + i] += w.step[e];
        }
    return sqrt(norm);
}

static void restart(const spot_tsne_problem *t, workspace w)
{
    for (int e = 0; e < t->n * t->dim; e++) {
        w.step[e] = 0;
        w.gain[e] = 1;
    }
}

static void place_padding(const spot_tsne_problem *t)
{
    for (int k = 0; k < t->dim; k++)
        for (int j = t->n; j < t->stride; j++) t->y[(size_t)k * t->stride + j] = FAR_AWAY;
}

/* Phase 1: exaggerated, momentum 0.5; phase 2 starts afresh with 0.8. A phase ends early when the gradient vanishes or
 * nothing has improved for 250 and 300 iterations, looked at every 50: scikit-learn's rule. */
static spot_status fit_one(spot_ctx *c, workspace w, spot_tsne_problem *t, const spot_tsne_config *cfg, int threads)
{
    double lr = cfg->lr > 0 ? cfg->lr : fmax(t->n / cfg->exaggeration / 4, 50), z;
    int it = 0;

    place_padding(t);
    for (int phase = 1; phase <= 2; phase++) {
        int end = phase == 1 && cfg->iterations > EXPLORE ? EXPLORE : cfg->iterations, best_at = it;
        double exaggeration = phase == 1 ? cfg->exaggeration : 1, best = INFINITY;

        restart(t, w);
        for (; it < end; it++) {
            int look = (it + 1) % CHECK_EVERY == 0;
            z = forces(t, w, threads, look);
            double norm = descend(t, w, exaggeration, z, lr, phase == 1 ? 0.5 : 0.8);
            if (!look) continue;
            double kl = divergence(t, w, z);
            if (!isfinite(kl) || !isfinite(norm))
                return spot_fail(c, SPOT_NUMERIC, "t-SNE of EC %u left the finite numbers by iteration %d; lower tsne.lr",
                                 t->ec, it + 1);
            SPOT_TRY(spot_check_stop(c));
            spot_tell(c, "tsne", (int)t->ec, it + 1, cfg->iterations, "");
            if (kl < best) best = kl, best_at = it;
            if (it - best_at > (phase == 1 ? EXPLORE : PATIENCE) || norm <= LEAST_GRADIENT) {
                it++;
                break;
            }
        }
    }
    z = forces(t, w, threads, 1);
    t->kl = divergence(t, w, z);
    t->steps = it;
    return SPOT_OK;
}

static spot_status take_workspace(spot_ctx *c, spot_arena *a, workspace *w, int n, int dim)
{
    size_t entries = (size_t)n * (size_t)dim;

    SPOT_TRY(SPOT_TAKE(c, a, w->attract, entries));
    SPOT_TRY(SPOT_TAKE(c, a, w->repel, entries));
    SPOT_TRY(SPOT_TAKE(c, a, w->z, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->kl, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->step, entries));
    return SPOT_TAKE(c, a, w->gain, entries);
}

/* Many problems: one a thread. Few: all threads on each in turn. */
static spot_status fit_cpu(spot_ctx *c, spot_arena *scratch, int problems, spot_tsne_problem *t, const spot_tsne_config *cfg)
{
    size_t mark = scratch->used;
    spot_status status = SPOT_OK;
    workspace *w;
    int outer = problems < c->threads ? 1 : c->threads, inner = outer == 1 ? c->threads : 1;

    SPOT_TRY(SPOT_TAKE(c, scratch, w, problems));
    for (int p = 0; p < problems; p++) {
        workspace one;
        SPOT_TRY(take_workspace(c, scratch, &one, t[p].n, t[p].dim));
        if (!scratch->counting) w[p] = one;
    }
    if (!scratch->counting) {
#pragma omp parallel for num_threads(outer) schedule(dynamic)
        for (int p = 0; p < problems; p++) {
            spot_status s = fit_one(c, w[p], &t[p], cfg, inner);
            if (s != SPOT_OK)
#pragma omp critical(spot_tsne_status)
                status = s;
        }
    }
    scratch->used = mark;
    return status;
}

const spot_tsne_ops spot_tsne_cpu = { .fit = fit_cpu };

spot_status spot_tsne_fit(spot_ctx *c, spot_arena *scratch, int problems, spot_tsne_problem *t, const spot_tsne_config *cfg)
{
    for (int p = 0; p < problems; p++)
        if (t[p].n < 2 || t[p].dim < 1 || t[p].stride != spot_tsne_stride(t[p].n))
            return spot_fail(c, SPOT_INVALID, "tsne.fit, problem %d: %d points in %d dimensions, stride %d", p, t[p].n,
                             t[p].dim, t[p].stride);
    if (!(cfg->exaggeration >= 1) || cfg->iterations < 1 || !(cfg->lr >= 0))
        return spot_fail(c, SPOT_INVALID, "tsne.fit: exaggeration %g, %d iterations, lr %g", cfg->exaggeration,
                         cfg->iterations, cfg->lr);
    SPOT_DISPATCH(c, tsne, fit, scratch, problems, t, cfg);
}

spot_status spot_tsne_gradient(spot_ctx *c, spot_arena *scratch, const spot_tsne_problem *t, double exaggeration,
                               double *gradient, double *kl)
{
    size_t mark = scratch->used;
    workspace w;
    double z;

    SPOT_TRY(take_workspace(c, scratch, &w, t->n, t->dim));
    place_padding(t);
    z = forces(t, w, c->threads, 1);
    for (int e = 0; e < t->n * t->dim; e++) gradient[e] = slope(t, w, e, exaggeration, z);
    *kl = divergence(t, w, z);
    scratch->used = mark;
    return SPOT_OK;
}
