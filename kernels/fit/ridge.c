/* ridge.c - normal equations and scores on the CPU: threads own 64 x 96 tiles of a gram, 64 columns of a moment, 64 rows of
 * the scores. */
#include "fit/ridge.h"

#include "core/outer.h"
#include "core/problems.h"

enum { HIGH = SPOT_OUTER_HIGH, WIDE = SPOT_OUTER_WIDE, COLUMNS = 64, CHAINS = SPOT_RIDGE_CHAINS, SLAB = 512, BAND = 64 };

static void gram_tile(const spot_ridge_rows *s, int j0, int k0)
{
    const spot_outer_rows all = { s->d, s->rows, s->x, s->centre, s->row, s->weight, false };
    double sum[HIGH][WIDE] = { { 0 } };

    spot_outer_add(sum, &all, j0, k0);
    for (int j = j0; j < j0 + HIGH && j < s->d; j++)
        for (int k = k0 > j ? k0 : j; k < k0 + WIDE && k < s->d; k++) s->out[(size_t)j * s->d + k] += sum[j - j0][k - k0];
}

static spot_status gram_cpu(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    for (int q = 0; q < count; q++) {
        int high = (sets[q].d + HIGH - 1) / HIGH, wide = (sets[q].d + WIDE - 1) / WIDE;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int t = 0; t < high * wide; t++)
            if (t / wide * HIGH < (t % wide + 1) * WIDE) gram_tile(&sets[q], t / wide * HIGH, t % wide * WIDE);
    }
    return SPOT_OK;
}

static void moment_tile(const spot_ridge_rows *s, int j0)
{
    int cols = s->d - j0 < COLUMNS ? s->d - j0 : COLUMNS;
    double sum[COLUMNS] = { 0 };

    for (int r = 0; r < s->rows; r++) {
        const float *x = s->x + (size_t)s->row[r] * s->d + j0;
        double weight = s->weight ? s->weight[r] : 1;
        for (int j = 0; j < cols; j++) sum[j] = fma(weight, x[j] - s->centre[j0 + j], sum[j]);
    }
    memcpy(s->out + j0, sum, (size_t)cols * sizeof *sum);
}

static spot_status moment_cpu(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    int most = (SPOT_MOST(count, sets, d) + COLUMNS - 1) / COLUMNS;

#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int t = 0; t < count * most; t++)
        if (t % most * COLUMNS < sets[t / most].d) moment_tile(&sets[t / most], t % most * COLUMNS);
    return SPOT_OK;
}

/* sum += the chains of 32 `blocks` columns at a time, which rest in registers. */
static void add_chains(double sum[CHAINS], const double *off, const double *w, int blocks)
{
    double s[CHAINS];

    memcpy(s, sum, sizeof s);
    for (int b = 0; b < blocks; b++) {
#pragma omp simd
        for (int j = 0; j < CHAINS; j++) s[j] = fma(off[b * CHAINS + j], w[b * CHAINS + j], s[j]);
    }
    memcpy(sum, s, sizeof s);
}

/* The scores of row i. */
static void score_row(const spot_ridge_fit *f, int i)
{
    const float *x = f->x + (size_t)i * f->d;
    double sum[SPOT_RIDGE_SCORES][CHAINS] = { { 0 } };

    for (int j0 = 0; j0 < f->d; j0 += SLAB) {
        int cols = f->d - j0 < SLAB ? f->d - j0 : SLAB;
        double off[SLAB];
        for (int j = 0; j < cols; j++) off[j] = x[j0 + j] - f->centre[j0 + j];
        for (int v = 0; v < f->scores; v++) {
            const double *w = f->w + (size_t)v * f->d + j0;
            add_chains(sum[v], off, w, cols / CHAINS);
            for (int j = cols / CHAINS * CHAINS; j < cols; j++) sum[v][j % CHAINS] = fma(off[j], w[j], sum[v][j % CHAINS]);
        }
    }
    for (int v = 0; v < f->scores; v++) {
        for (int by = CHAINS / 2; by; by /= 2)
            for (int j = 0; j < by; j++) sum[v][j] += sum[v][j + by];
        f->score[(size_t)v * f->n + i] = f->b[v] + sum[v][0];
    }
}

static spot_status score_cpu(spot_ctx *c, int count, const spot_ridge_fit *fits)
{
    int most = (SPOT_MOST(count, fits, n) + BAND - 1) / BAND;

#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int t = 0; t < count * most; t++)
        for (int i = t % most * BAND; i < t % most * BAND + BAND && i < fits[t / most].n; i++) score_row(&fits[t / most], i);
    return SPOT_OK;
}

const spot_ridge_ops spot_ridge_cpu = { .gram = gram_cpu, .moment = moment_cpu, .score = score_cpu };

static spot_status check_sets(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    for (int q = 0; q < count; q++)
        if (sets[q].n < 1 || sets[q].d < 1 || sets[q].rows < 0)
            return spot_fail(c, SPOT_INVALID, "{ridge.sizes} ridge, set %d: %d rows of (%d,%d)", q, sets[q].rows, sets[q].n,
                             sets[q].d);
    return SPOT_OK;
}

spot_status spot_ridge_gram(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    SPOT_TRY(check_sets(c, count, sets));
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, ridge, gram, count, sets);
}

spot_status spot_ridge_moment(spot_ctx *c, int count, const spot_ridge_rows *sets)
{
    SPOT_TRY(check_sets(c, count, sets));
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, ridge, moment, count, sets);
}

spot_status spot_ridge_score(spot_ctx *c, int count, const spot_ridge_fit *fits)
{
    for (int q = 0; q < count; q++)
        if (fits[q].n < 1 || fits[q].d < 1 || fits[q].scores < 1 || fits[q].scores > SPOT_RIDGE_SCORES)
            return spot_fail(c, SPOT_INVALID, "{ridge.scores} ridge.score, fit %d: %d scores of (%d,%d); 1 to %d", q,
                             fits[q].scores, fits[q].n, fits[q].d, SPOT_RIDGE_SCORES);
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, ridge, score, count, fits);
}
