/* verdict_compare.c - two suites of the same models (verdict.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_config.h"
#include "spotter/interval.h"
#include "spotter/verdict.h"
#include "study/kept_answers.h"

/* ---- matrices ---- */

spot_matrix_difference spot_matrices_differ(const float *a, const float *b, size_t cells)
{
    spot_matrix_difference d = { 0 };
    double level = 0;

    for (size_t i = 0; i < cells; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) continue;
        d.apart += fabs((double)a[i] - b[i]);
        level += ((double)a[i] + b[i]) / 2;
        d.cells++;
    }
    if (!d.cells) return (spot_matrix_difference){ NAN, NAN, 0 };
    d.relative = level > 0 ? d.apart / level : NAN;
    d.apart /= d.cells;
    return d;
}

static const float *matrix_of(const spot_background_responses *r, int matrix)
{
    return r->matrix + (size_t)matrix * (size_t)r->grid * (size_t)r->grid;
}

/* ---- two suites ---- */

/* Everything but the suite's seed. */
static spot_status check_alike(spot_ctx *c, const spot_background_results *a, const char *dir_a,
                               const spot_background_results *b, const char *dir_b)
{
    spot_background_config same = *b->cfg;
    char words[512];

    same.suite.seed = a->cfg->suite.seed;
    if (spot_study_differs(&spot_background_study, words, sizeof words, a->cfg, &same))
        return spot_fail(c, SPOT_INPUT, "{verdict.runs_differ} %s and %s differ in more than suite.seed: %s", dir_a, dir_b,
                         words);
    if (a->cfg->suite.seed == b->cfg->suite.seed)
        return spot_fail(c, SPOT_INPUT, "{verdict.runs_same} %s and %s have the same suite.seed: their suites are the same",
                         dir_a, dir_b);
    return SPOT_OK;
}

static spot_status add_difference(spot_ctx *c, spot_suite_consistency *o, const spot_background_result *a, const char *dir_a,
                                  const spot_background_result *b, const char *dir_b)
{
    spot_background_responses ra = { 0 }, rb = { 0 };
    spot_status s = spot_background_responses_read(c, &ra, dir_a, a);

    if (s == SPOT_OK) s = spot_background_responses_read(c, &rb, dir_b, b);
    if (s == SPOT_OK && ra.grid != rb.grid)
        s = spot_fail(c, SPOT_INPUT, "%s: matrices of %d and %d cells a side", a->name, ra.grid, rb.grid);
    for (int m = 0; s == SPOT_OK && m < o->matrices; m++) {
        const spot_matrix_difference d = spot_matrices_differ(matrix_of(&ra, m), matrix_of(&rb, m),
                                                              (size_t)ra.grid * (size_t)ra.grid);
        o->apart[m] += d.apart, o->relative[m] += d.relative;
    }
    spot_background_responses_free(&ra);
    spot_background_responses_free(&rb);
    return s;
}

/* other[i]: the row of the second table for row i of the first; their names are the same in any order. */
static spot_status match_models(spot_ctx *c, int *other, const spot_background_results *a, const char *dir_a,
                                const spot_background_results *b, const char *dir_b)
{
    if (a->units != b->units)
        return spot_fail(c, SPOT_INPUT, "%s has %d models and %s has %d", dir_a, a->units, dir_b, b->units);
    for (int i = 0; i < a->units; i++) {
        for (other[i] = 0; other[i] < b->units; other[i]++)
            if (!strcmp(a->unit[i].name, b->unit[other[i]].name)) break;
        if (other[i] == b->units)
            return spot_fail(c, SPOT_INPUT, "%s has no model %s, and %s has", dir_b, a->unit[i].name, dir_a);
        if (!spot_kept_same(c, dir_a, a->unit[i].identity, dir_b, b->unit[other[i]].identity))
            return spot_fail(c, SPOT_INPUT, "%s is one model in %s and another in %s", a->unit[i].name, dir_a, dir_b);
    }
    return SPOT_OK;
}

/* Mean over the features of a matrix that vary; x: scratch (2, models). */
static spot_status rank_matrix(spot_ctx *c, double *rank, int m, double *x, const spot_background_results *a,
                               const spot_background_results *b, const int *other)
{
    double *y = x + a->units;
    spot_interval rho;
    int vary = 0;

    *rank = 0;
    for (int k = 0; k < SPOT_BACKGROUND_FEATURES; k++) {
        for (int i = 0; i < a->units; i++) x[i] = a->unit[i].feature[m][k], y[i] = b->unit[other[i]].feature[m][k];
        SPOT_TRY(spot_rank_correlation(c, &rho, x, y, a->units, 0));
        if (isfinite(rho.value)) *rank += rho.value, vary++;
    }
    *rank = vary && a->units > 2 ? *rank / vary : NAN;
    return SPOT_OK;
}

static spot_status rank_features(spot_ctx *c, spot_suite_consistency *o, const spot_background_results *a,
                                 const spot_background_results *b, const int *other)
{
    double *x = malloc((2 * (size_t)a->units + 1) * sizeof *x), sum = 0;
    spot_status s = x ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the ranks of %d models", a->units);
    int matrices = 0;

    for (int m = 0; s == SPOT_OK && m < o->matrices; m++) {
        s = rank_matrix(c, &o->rank[m], m, x, a, b, other);
        if (s == SPOT_OK && isfinite(o->rank[m])) sum += o->rank[m], matrices++;
    }
    o->consistency = !matrices ? NAN : sum > 0 ? sum / matrices : 0;
    free(x);
    return s;
}

static int common_matrices(const spot_background_results *a, const spot_background_results *b)
{
    for (int i = 0; i < a->units; i++)
        for (int m = 0; m < SPOT_BACKGROUND_MATRICES; m++)
            if (!a->unit[i].has[m] || !b->unit[i].has[m]) return a->unit[i].has[0] && b->unit[i].has[0];
    return SPOT_BACKGROUND_MATRICES;
}

spot_status spot_suites_compare(spot_ctx *c, spot_suite_consistency *out, const spot_background_results *a, const char *dir_a,
                                const spot_background_results *b, const char *dir_b)
{
    int *other = malloc(((size_t)a->units + 1) * sizeof *other);
    spot_status s = other ? check_alike(c, a, dir_a, b, dir_b) : spot_fail(c, SPOT_NOMEM, "no memory for %d models", a->units);

    *out = (spot_suite_consistency){ .models = a->units, .consistency = NAN };
    if (s == SPOT_OK) s = match_models(c, other, a, dir_a, b, dir_b);
    if (s == SPOT_OK) out->matrices = common_matrices(a, b);
    if (s == SPOT_OK && !out->matrices)
        s = spot_fail(c, SPOT_INPUT, "a model of %s or %s has no variance matrix", dir_a, dir_b);
    for (int i = 0; s == SPOT_OK && i < a->units; i++)
        s = add_difference(c, out, &a->unit[i], dir_a, &b->unit[other[i]], dir_b);
    if (s == SPOT_OK) s = rank_features(c, out, a, b, other);
    for (int m = 0; m < SPOT_BACKGROUND_MATRICES; m++) {
        const bool has = m < out->matrices && a->units;
        out->apart[m] = has ? out->apart[m] / a->units : NAN;
        out->relative[m] = has ? out->relative[m] / a->units : NAN;
        if (!has) out->rank[m] = NAN;
    }
    out->range[0] = a->suite ? a->suite->range : NAN, out->range[1] = b->suite ? b->suite->range : NAN;
    free(other);
    return s;
}
