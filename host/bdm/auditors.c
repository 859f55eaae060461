/* auditors.c - ridge regressions on parts of the rows. The device computes the sums over rows and the scores; LAPACK computes
 * factors and solutions on the host, one auditor per thread. */
#include "bdm/auditors.h"

#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/device.h"
#include "fit/ridge.h"
#include "models/reduce.h"

spot_status spot_auditors_take(spot_ctx *c, spot_arena *host, spot_arena *work, spot_auditors *a)
{
    size_t n = (size_t)a->n, d = (size_t)a->d, each = sizeof(double);
    const float *x;

    SPOT_TRY(SPOT_TAKE(c, host, a->part, n));
    SPOT_TRY(SPOT_TAKE(c, host, a->target, n));
    SPOT_TRY(SPOT_TAKE(c, host, a->before, n));
    SPOT_TRY(SPOT_TAKE(c, host, a->factor, SPOT_AUDITORS * d * d));
    SPOT_TRY(spot_numbers_on_device(c, work, &x, a->feature, a->device_feature, n * d));
    a->x = (spot_twin){ (void *)a->feature, (void *)x, n * d * sizeof(float) };
    SPOT_TRY(spot_twin_take(c, host, work, &a->centre, d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &a->row, n * sizeof(int)));
    SPOT_TRY(spot_twin_take(c, host, work, &a->weight, n * each));
    SPOT_TRY(spot_twin_take(c, host, work, &a->changed, n * sizeof(int)));
    SPOT_TRY(spot_twin_take(c, host, work, &a->sign, 2 * n * each));
    SPOT_TRY(spot_twin_take(c, host, work, &a->gram, 2 * d * d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &a->sum, 2 * d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &a->moment, 2 * d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &a->w, SPOT_AUDITORS * d * each));
    SPOT_TRY(spot_twin_take(c, host, work, &a->b, SPOT_AUDITORS * each));
    return spot_twin_take(c, host, work, &a->score, SPOT_AUDITORS * n * each);
}

static void begin_problem(spot_auditors *a)
{
    double *centre = a->centre.here;

    memset(centre, 0, a->centre.bytes);
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < a->d; j++) centre[j] += a->feature[(size_t)i * a->d + j];
    for (int j = 0; j < a->d; j++) centre[j] /= a->n;
    memset(a->before, SPOT_NO_PART, (size_t)a->n);
    memset(a->w.here, 0, a->w.bytes);
    memset(a->b.here, 0, a->b.bytes);
    a->known = 0;
    a->h = a->score.here;
}

spot_status spot_auditors_open(spot_ctx *c, int problems, spot_auditors *const *all)
{
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int p = 0; p < problems; p++) begin_problem(all[p]);
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(spot_twin_push(c, &all[p]->centre));
        SPOT_TRY(spot_device_clear(c, all[p]->gram.on_device, all[p]->gram.bytes));
    }
    return SPOT_OK;
}

/* Part q's rows, with their weights or 1; out holds the results of both parts, `each` numbers per part. */
static spot_ridge_rows rows_of(const spot_auditors *a, int q, const double *weight, const spot_twin *out, size_t each)
{
    int first = q ? a->len[0] : 0;

    return (spot_ridge_rows){ a->n, a->d, a->len[q], a->x.on_device, a->centre.on_device, (int *)a->row.on_device + first,
                              weight ? weight + first : NULL, (double *)out->on_device + q * each };
}

/* Lists the rows by part, and the rows that changed parts. */
static void list_rows(spot_auditors *a)
{
    int *row = a->row.here, *changed = a->changed.here, at = 0;
    double *sign = a->sign.here, *weight = a->weight.here;

    for (int q = 0; q < 2; q++) {
        int first = at;
        for (int i = 0; i < a->n; i++) {
            if (a->part[i] != q) continue;
            weight[at] = a->target[i];
            row[at++] = i;
        }
        a->len[q] = at - first;
    }
    a->moved = 0;
    for (int i = 0; i < a->n; i++) {
        if (a->part[i] == a->before[i]) continue;
        for (int q = 0; q < 2; q++) sign[q * a->n + a->moved] = (a->part[i] == q) - (a->before[i] == q);
        changed[a->moved++] = i;
        a->before[i] = a->part[i];
    }
}

/* Adds the Gram matrices to compute for one problem: none if no part changed; after the first fit, only of the changed rows. */
static spot_status prepare_problem(spot_ctx *c, spot_auditors *a, spot_ridge_rows *grams, int *len)
{
    size_t d = (size_t)a->d;

    list_rows(a);
    SPOT_TRY(spot_twin_push(c, &a->weight));
    if (!a->moved) return SPOT_OK;
    SPOT_TRY(spot_twin_push(c, &a->row));
    SPOT_TRY(spot_twin_push(c, &a->changed));
    SPOT_TRY(spot_twin_push(c, &a->sign));
    memset(a->fresh, 0, sizeof a->fresh);
    for (int q = 0; q < 2; q++) {
        spot_ridge_rows *s = &grams[(*len)++];
        *s = rows_of(a, q, NULL, &a->gram, d * d);
        if (!a->known) continue;
        s->rows = a->moved;
        s->row = a->changed.on_device;
        s->weight = (double *)a->sign.on_device + q * (size_t)a->n;
    }
    a->known = 1;
    return SPOT_OK;
}

/* Computes Gram matrices, sums and moments of the present parts and copies them to the host. sets (4, problems) */
static spot_status find_sums(spot_ctx *c, int problems, spot_auditors *const *all, spot_ridge_rows *sets)
{
    int len = 0;

    for (int p = 0; p < problems; p++) SPOT_TRY(prepare_problem(c, all[p], sets, &len));
    SPOT_TRY(spot_ridge_gram(c, len, sets));
    len = 0;
    for (int p = 0; p < problems; p++)
        for (int q = 0; q < 2; q++) {
            const spot_auditors *a = all[p];
            sets[len++] = rows_of(a, q, a->weight.on_device, &a->moment, (size_t)a->d);
            if (a->moved) sets[len++] = rows_of(a, q, NULL, &a->sum, (size_t)a->d);
        }
    SPOT_TRY(spot_ridge_moment(c, len, sets));
    for (int p = 0; p < problems; p++) {
        const spot_auditors *a = all[p];
        SPOT_TRY(spot_twin_pull(c, &a->moment));
        if (!a->moved) continue;
        SPOT_TRY(spot_twin_pull(c, &a->gram));
        SPOT_TRY(spot_twin_pull(c, &a->sum));
    }
    return SPOT_OK;
}

/* Entry j of the sum over auditor q's rows: part q, or both. */
static double total(const spot_twin *t, const spot_auditors *a, int q, int j)
{
    const double *v = t->here;

    return q < 2 ? v[q * a->d + j] : v[j] + v[a->d + j];
}

static int rows_for(const spot_auditors *a, int q) { return q < 2 ? a->len[q] : a->len[0] + a->len[1]; }

/* Factorises the Gram matrix about the rows' mean plus the ridge; false if it is not positive definite. Upper and row-major is
 * lower and column-major for LAPACK. */
static bool factorise(spot_auditors *a, int q, double ridge)
{
    size_t d = (size_t)a->d;
    double *f = a->factor + q * d * d;
    const double *gram = a->gram.here;

    for (size_t j = 0; j < d; j++) {
        double mean = total(&a->sum, a, q, (int)j) / rows_for(a, q);
        for (size_t k = j; k < d; k++) {
            double products = q < 2 ? gram[q * d * d + j * d + k] : gram[j * d + k] + gram[d * d + j * d + k];
            f[j * d + k] = products - mean * total(&a->sum, a, q, (int)k) + (j == k ? ridge : 0);
        }
    }
    return !LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', a->d, f, a->d);
}

/* Computes w and b of auditor q. */
static bool solve_auditor(spot_auditors *a, int q, double ridge)
{
    double *w = (double *)a->w.here + (size_t)q * a->d, *b = (double *)a->b.here + q, mean = 0;
    const double *target = a->weight.here;
    int first = q == 1 ? a->len[0] : 0, rows = rows_for(a, q);

    if (!a->fresh[q]) a->fresh[q] = factorise(a, q, ridge);
    if (!a->fresh[q]) return false;
    for (int r = 0; r < rows; r++) mean += target[first + r];
    mean /= rows;
    for (int j = 0; j < a->d; j++) w[j] = total(&a->moment, a, q, j) - mean * total(&a->sum, a, q, j);
    if (LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', a->d, 1, a->factor + (size_t)q * a->d * a->d, a->d, w, a->d)) return false;
    *b = mean;
    for (int j = 0; j < a->d; j++) *b -= total(&a->sum, a, q, j) / rows * w[j];
    return isfinite(*b);
}

static spot_status fit_all(spot_ctx *c, int problems, spot_auditors *const *all, spot_ridge_rows *sets, spot_ridge_fit *fits,
                           double ridge)
{
    int failed = problems;             /* the first failed problem, for any order of threads */

    SPOT_TRY(find_sums(c, problems, all, sets));
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int t = 0; t < problems * SPOT_AUDITORS; t++) {
        spot_auditors *a = all[t / SPOT_AUDITORS];
        if (a->wanted[t % SPOT_AUDITORS] && !solve_auditor(a, t % SPOT_AUDITORS, ridge))
#pragma omp critical
            failed = t / SPOT_AUDITORS < failed ? t / SPOT_AUDITORS : failed;
    }
    if (failed < problems)
        return spot_fail(c, SPOT_NUMERIC, "an auditor of %d x %d features has no solution with the ridge %g; raise it",
                         all[failed]->n, all[failed]->d, ridge);
    for (int p = 0; p < problems; p++) {
        const spot_auditors *a = all[p];
        SPOT_TRY(spot_twin_push(c, &a->w));
        SPOT_TRY(spot_twin_push(c, &a->b));
        fits[p] = (spot_ridge_fit){ a->n, a->d, SPOT_AUDITORS, a->x.on_device, a->centre.on_device, a->w.on_device,
                                    a->b.on_device, a->score.on_device };
    }
    SPOT_TRY(spot_ridge_score(c, problems, fits));
    for (int p = 0; p < problems; p++) SPOT_TRY(spot_twin_pull(c, &all[p]->score));
    return SPOT_OK;
}

static spot_status take_fits(spot_ctx *c, spot_arena *a, spot_ridge_rows **sets, spot_ridge_fit **fits, int problems)
{
    SPOT_TRY(SPOT_TAKE(c, a, *sets, 4 * (size_t)problems));
    return SPOT_TAKE(c, a, *fits, problems);
}

size_t spot_auditors_scratch(int problems)
{
    spot_arena a = spot_arena_counting();
    spot_ctx quiet = { 0 };
    spot_ridge_rows *sets;
    spot_ridge_fit *fits;

    take_fits(&quiet, &a, &sets, &fits, problems);
    return a.peak;
}

spot_status spot_auditors_fit(spot_ctx *c, spot_arena *host, int problems, spot_auditors *const *all, double ridge)
{
    size_t mark = host->used;
    spot_ridge_rows *sets;
    spot_ridge_fit *fits;
    spot_status s;

    SPOT_TRY(take_fits(c, host, &sets, &fits, problems));
    s = fit_all(c, problems, all, sets, fits, ridge);
    host->used = mark;
    return s;
}
