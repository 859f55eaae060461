/* vote.c - see vote.h: tiles of rows against tiles of rows, the nearest so far kept in order. */
#include "discover/search/vote.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "bdm/fit.h"
#include "core/gemm.h"

enum { ROWS = 64, COLUMNS = 256 };     /* of a tile */

int spot_voters(int n, int asked)
{
    const int k = n < asked ? n : asked;

    return k % 2 ? k : k - 1;
}

static void gather(float *to, const spot_some_rows *x, int first, int rows, int d)
{
    for (int i = 0; i < rows; i++)
        memcpy(to + (size_t)i * (size_t)d, x->feature + (size_t)(x->row ? x->row[first + i] : first + i) * (size_t)d,
               (size_t)d * sizeof *to);
}

/* Puts the columns of a tile among the k nearest so far; of equal distances the earlier column stays in front. */
static void insert(float *best, int *nearest, const float *far, int first, int columns, int k)
{
    for (int j = 0; j < columns; j++) {
        int at = k - 1;
        if (!(far[j] < best[at])) continue;
        for (; at && far[j] < best[at - 1]; at--) {
            best[at] = best[at - 1];
            nearest[at] = nearest[at - 1];
        }
        best[at] = far[j];
        nearest[at] = first + j;
    }
}

/* One tile of x against all of y, which has no row numbers. own: (ROWS, d), and behind it distances (ROWS, COLUMNS) and the
 * least ones (ROWS, k), of this thread. */
static void search_tile(int *nearest, float *own, const spot_some_rows *x, int first, const spot_some_rows *y, int d, int k)
{
    const int rows = x->n - first < ROWS ? x->n - first : ROWS;
    float *far = own + (size_t)ROWS * (size_t)d, *best = far + ROWS * COLUMNS;

    gather(own, x, first, rows, d);
    for (int e = 0; e < rows * k; e++) {
        best[e] = INFINITY;
        nearest[(size_t)first * (size_t)k + (size_t)e] = e % k;
    }
    for (int j = 0; j < y->n; j += COLUMNS) {
        const int columns = y->n - j < COLUMNS ? y->n - j : COLUMNS;
        spot_gemm_squares(far, COLUMNS, (spot_gemm_factor){ own, (size_t)d, 1 },
                          (spot_gemm_factor){ y->feature + (size_t)j * (size_t)d, (size_t)d, 1 }, rows, columns, d);
        for (int i = 0; i < rows; i++)
            insert(best + (size_t)i * (size_t)k, nearest + (size_t)(first + i) * (size_t)k, far + (size_t)i * COLUMNS, j,
                   columns, k);
    }
}

spot_status spot_nearest_rows(spot_ctx *c, spot_arena *a, int *nearest, spot_some_rows x, spot_some_rows y, int d, int k)
{
    const size_t each = (size_t)ROWS * ((size_t)d + COLUMNS + (size_t)k), mark = a->used;
    float *own, *packed;

    SPOT_TRY(SPOT_TAKE(c, a, own, (size_t)c->threads * each));
    if (y.row) {
        SPOT_TRY(SPOT_TAKE(c, a, packed, (size_t)y.n * (size_t)d));
        if (!a->counting) gather(packed, &y, 0, y.n, d);
        y = (spot_some_rows){ packed, NULL, y.n };
    }
    if (!a->counting) {
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int i = 0; i < x.n; i += ROWS)
            search_tile(nearest, own + (size_t)omp_get_thread_num() * each, &x, i, &y, d, k);
    }
    a->used = mark;
    return SPOT_OK;
}

/* ---- new rows ---- */

spot_status spot_vote_fit(spot_ctx *c, spot_fit *f, const float *feature, int n, int d, const uint8_t *member, int slices,
                          int voters)
{
    if (slices) SPOT_TRY(spot_fit_put(c, f, "neighbours.votes", SPOT_I32, &voters, 1, 0, NULL));
    if (slices) SPOT_TRY(spot_fit_put(c, f, "neighbours.member", SPOT_U8, member, n, slices, NULL));
    return spot_fit_borrow(c, f, SPOT_VOTE_FEATURE, SPOT_F32, feature, n, d);
}

bool spot_is_vote(const spot_fit *f) { return spot_fit_find(f, "neighbours.member") != NULL; }

spot_status spot_vote_assign(spot_ctx *c, spot_arena *a, uint8_t *member, int slices, const spot_view *rows, const spot_fit *f)
{
    const spot_fit_tensor *known, *in;
    const int *voters;
    int *nearest, k;

    SPOT_TRY(spot_fit_take(c, f, SPOT_VOTE_FEATURE, SPOT_F32, -1, -1, &known));
    if (known->rows < 1 || known->columns != rows->d)
        return spot_fail(c, SPOT_INPUT, "{fit.features} the rows have %d features, the fit was made from rows of %d; use what "
                         "the same network makes of them", rows->d, known->columns);
    SPOT_TRY(spot_fit_take(c, f, "neighbours.member", SPOT_U8, known->rows, slices, &in));
    SPOT_TRY(spot_fit_indices(c, f, "neighbours.votes", 1, 1, INT_MAX, &voters));
    k = spot_voters(known->rows, *voters);
    SPOT_TRY(SPOT_TAKE(c, a, nearest, (size_t)rows->n * (size_t)k));
    SPOT_TRY(spot_nearest_rows(c, a, nearest, (spot_some_rows){ rows->feature, NULL, rows->n },
                               (spot_some_rows){ known->data, NULL, known->rows }, rows->d, k));
    if (a->counting) return SPOT_OK;
    for (size_t i = 0; i < (size_t)rows->n; i++)
        for (int s = 0; s < slices; s++) {
            const uint8_t *of = (const uint8_t *)in->data + s;
            int votes = 0;
            for (int t = 0; t < k; t++) votes += of[(size_t)nearest[i * (size_t)k + (size_t)t] * (size_t)slices] != 0;
            member[i * (size_t)slices + (size_t)s] = 2 * votes > k;
        }
    return SPOT_OK;
}
