/* similar.c - similarities on the CPU: chains in the order of the numbers, rows spread over threads. */
#include "net/similar.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/gemm.h"

enum { ROWS = 64, COLUMNS = 256 };     /* of a tile of products */

struct spot_similar {
    int rows, d;
    float *row, *across;               /* (rows, d); (d, rows) */
};

static void close_cpu(spot_ctx *c, spot_similar *t)
{
    (void)c;
    if (t) free(t->row);
    free(t);
}

static spot_status open_cpu(spot_ctx *c, spot_similar **table, const float *row, int rows, int d)
{
    const size_t count = (size_t)rows * (size_t)d;
    spot_similar *t = calloc(1, sizeof *t);

    if (t) *t = (spot_similar){ rows, d, malloc(spot_similar_bytes((size_t)rows, (size_t)d)), NULL };
    if (!t || !t->row) {
        close_cpu(c, t);
        return spot_fail(c, SPOT_NOMEM, "no memory for a table of %d rows of %d numbers", rows, d);
    }
    t->across = t->row + count;
    memcpy(t->row, row, count * sizeof *row);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < d; k++) t->across[(size_t)k * rows + i] = row[(size_t)i * d + k];
    *table = t;
    return SPOT_OK;
}

static spot_status dots_cpu(spot_ctx *c, spot_similar *t, float *y, const float *a, int n)
{
    const int d = t->d;

#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < t->rows; j++) {
            double dot = 0;
            for (int k = 0; k < d; k++) dot = fma(a[(size_t)i * d + k], t->row[(size_t)j * d + k], dot);
            y[(size_t)i * t->rows + j] = (float)dot;
        }
    return SPOT_OK;
}

/* The greatest products of at most ROWS rows. */
static void best_of_rows(const spot_similar *t, float *best, const float *a, int rows)
{
    float score[ROWS][COLUMNS];

    for (int from = 0; from < t->rows; from += COLUMNS) {
        const int width = t->rows - from < COLUMNS ? t->rows - from : COLUMNS;
        memset(score, 0, sizeof score);
        spot_gemm_add(score[0], COLUMNS, (spot_gemm_factor){ a, (size_t)t->d, 1 },
                      (spot_gemm_factor){ t->across + from, (size_t)t->rows, 1 }, rows, width, t->d);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < width; j++)
                if ((!from && !j) || score[i][j] > best[i]) best[i] = score[i][j];
    }
}

static spot_status best_cpu(spot_ctx *c, spot_similar *t, float *y, const float *a, int n)
{
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int i = 0; i < n; i += ROWS) best_of_rows(t, y + i, a + (size_t)i * t->d, n - i < ROWS ? n - i : ROWS);
    return SPOT_OK;
}

static double cosine(const float *a, const float *b, int n)
{
    double ab = 0, aa = 0, bb = 0;

    for (int i = 0; i < n; i++) ab += (double)a[i] * b[i], aa += (double)a[i] * a[i], bb += (double)b[i] * b[i];
    return ab / sqrt(aa * bb);
}

static double column_of(const spot_similar *t, const float *a, int cls, const spot_similar_column *k)
{
    double most = -INFINITY;

    if (k->of_class) return cosine(a, t->row + (size_t)(k->first + cls) * t->d, t->d);
    for (int j = k->first; j < k->first + k->count; j++) {
        const double one = cosine(a, t->row + (size_t)j * t->d, t->d);
        if (isnan(one)) return NAN;
        most = fmax(most, one);
    }
    return most;
}

static spot_status columns_cpu(spot_ctx *c, spot_similar *t, float *y, const spot_similar_rows *p)
{
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->columns; k++)
            y[(size_t)i * p->columns + k] = (float)column_of(t, p->a + (size_t)i * t->d,
                                                             p->column[k].of_class ? p->cls[i] : 0, &p->column[k]);
    return SPOT_OK;
}

/* One round; sum (d): of this thread. */
static void sum_round(const spot_similar_sums_problem *p, int round, double *sum)
{
    const int *order = p->order + (size_t)round * (size_t)p->longest;
    const size_t d = (size_t)p->d;
    int used = 0;

    memset(sum, 0, d * sizeof *sum);
    for (int g = 0; g < p->groups; g++) {
        float *y = p->y + ((size_t)round * (size_t)p->groups + (size_t)p->group[g].which) * d;
        for (; used < p->group[g].length; used++)
            for (size_t k = 0; k < d; k++) sum[k] += p->x[(size_t)order[used] * d + k];
        for (size_t k = 0; k < d; k++) y[k] = (float)(sum[k] * p->group[g].factor);
    }
}

static spot_status sums_cpu(spot_ctx *c, const spot_similar_sums_problem *p)
{
    double *sum = malloc((size_t)c->threads * (size_t)p->d * sizeof *sum);

    if (!sum) return spot_fail(c, SPOT_NOMEM, "no memory for sums of %d numbers", p->d);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int r = 0; r < p->rounds; r++) sum_round(p, r, sum + (size_t)omp_get_thread_num() * (size_t)p->d);
    free(sum);
    return SPOT_OK;
}

const spot_similar_ops spot_similar_cpu = { open_cpu, close_cpu, dots_cpu, best_cpu, columns_cpu, sums_cpu };

/* ---- checked entries ---- */

spot_status spot_similar_open(spot_ctx *c, spot_similar **table, const float *row, int rows, int d)
{
    *table = NULL;
    if (rows < 1 || d < 1)
        return spot_fail(c, SPOT_INVALID, "{similar.table} similar: a table of %d rows of %d numbers", rows, d);
    SPOT_DISPATCH(c, similar, open, table, row, rows, d);
}

void spot_similar_close(spot_ctx *c, spot_similar *table)
{
    if (table) c->ops->similar->close(c, table);
}

static spot_status check_rows(spot_ctx *c, const char *op, int n)
{
    return n >= 1 ? SPOT_OK : spot_fail(c, SPOT_INVALID, "similar.%s: %d rows", op, n);
}

spot_status spot_similar_dots(spot_ctx *c, spot_similar *table, float *y, const float *a, int n)
{
    SPOT_TRY(check_rows(c, "dots", n));
    SPOT_DISPATCH(c, similar, dots, table, y, a, n);
}

spot_status spot_similar_best(spot_ctx *c, spot_similar *table, float *y, const float *a, int n)
{
    SPOT_TRY(check_rows(c, "best", n));
    SPOT_DISPATCH(c, similar, best, table, y, a, n);
}

spot_status spot_similar_columns(spot_ctx *c, spot_similar *table, float *y, const spot_similar_rows *p)
{
    SPOT_TRY(check_rows(c, "columns", p->n));
    for (int k = 0; k < p->columns; k++)
        if (p->column[k].first < 0 || p->column[k].count < 1)
            return spot_fail(c, SPOT_INVALID, "similar.columns: column %d has %d rows from row %d of the table", k,
                             p->column[k].count, p->column[k].first);
    SPOT_DISPATCH(c, similar, columns, table, y, p);
}

spot_status spot_similar_sums(spot_ctx *c, const spot_similar_sums_problem *p)
{
    if (p->n < 1 || p->d < 1 || p->groups < 1 || p->rounds < 1 || p->longest < 0 || p->longest > p->n)
        return spot_fail(c, SPOT_INVALID, "similar.sums: %d groups and %d rounds of %d rows of %d numbers, %d of them summed",
                         p->groups, p->rounds, p->n, p->d, p->longest);
    SPOT_DISPATCH(c, similar, sums, p);
}
