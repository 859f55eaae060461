/* near_blocks.c - see near_blocks.h.
 *
 * With u = 2^-24, a and b rows less the mean, rounded, and p their product as computed in d steps, the squared distance is
 * |a|^2 + |b|^2 - 2 p within (d + 12) u (|a|^2 + |b|^2). The rounding of a and b themselves moves its root by at most
 * u (|a| + |b|), so the distance D of the rows is at least (1 - PART) of it less u^2 (|a|^2 + |b|^2) 2 / PART; and the distance
 * that gemm.h computes is at least (1 - (d + 4) u) D. So that distance is at least
 *
 *     keep (s |a|^2 + s |b|^2 - 2 p),    s = 1 - (d + 32) u,    keep = (1 - PART) (1 - (d + 4) u), with a margin,
 *
 * less LEAST, which covers what fp32 cannot hold. Rows that do not fulfil the condition are compared, so it changes no bit. */
#include "discover/search/near_blocks.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/gemm.h"
#include "core/lanes.h"

enum { ROWS = 64, COLUMNS = SPOT_GEMM_COLS, TOGETHER = SPOT_GEMM_ROWS };       /* of a tile of x; of a block; of a product */
enum { WIDE = 1 << 20 };       /* from so many columns on products tell too little, as from FAR on they may be infinite */

#define FAR   1e36             /* a squared length */
#define PART  0x1p-12
#define LEAST 1e-36f
#define U     (FLT_EPSILON / 2.0)

static const float *row_of(const spot_some_rows *x, int i, int d)
{
    return x->feature + (size_t)(x->row ? x->row[i] : i) * (size_t)d;
}

static int blocks_of(int n) { return (n + COLUMNS - 1) / COLUMNS; }

/* Numbers of a thread's scratch: rows of a tile as they are and less the mean, their thresholds, the least distances so far. */
static size_t scratch_of(const spot_near_blocks *b) { return (size_t)ROWS * (2 * (size_t)b->d + 2 + (size_t)b->k); }

spot_status spot_near_blocks_take(spot_ctx *c, spot_arena *a, spot_near_blocks *b, spot_some_rows y, int d, int k)
{
    const size_t columns = (size_t)blocks_of(y.n) * COLUMNS;

    *b = (spot_near_blocks){ .y = y, .d = d, .k = k };
    SPOT_TRY(SPOT_TAKE(c, a, b->block, columns * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, b->length, columns));
    SPOT_TRY(SPOT_TAKE(c, a, b->mean, d));
    return SPOT_TAKE(c, a, b->own, (size_t)c->threads * scratch_of(b));
}

/* The mean of up to 1024 rows at equal distances: any point near the rows will do. */
static void find_mean(spot_near_blocks *b)
{
    const int n = b->y.n, count = n < 1024 ? n : 1024;

    for (int j = 0; j < b->d; j++) b->mean[j] = 0;
    for (int i = 0; i < count; i++) {
        const float *row = row_of(&b->y, (int)((long long)i * n / count), b->d);
        for (int j = 0; j < b->d; j++) b->mean[j] += row[j] / (float)count;
    }
}

/* Row less the mean into to[0], to[step], ...; its squared length. */
static double put_row(float *to, int step, const float *row, const float *mean, int d)
{
    double length = 0;

    for (int j = 0; j < d; j++) {
        const float x = (float)((double)row[j] - mean[j]);
        to[(size_t)j * (size_t)step] = x;
        length += (double)x * x;
    }
    return length;
}

/* The squared length as the condition has it, rounded downwards. */
static float less_rounding(double length, int d) { return (float)(length * (1 - (d + 32) * U)) * (1 - FLT_EPSILON); }

void spot_near_blocks_fill(const spot_ctx *c, spot_near_blocks *b)
{
    const int n = b->y.n, d = b->d, blocks = blocks_of(n);
    double longest = 0;

    find_mean(b);
#pragma omp parallel for num_threads(c->threads) schedule(static) reduction(max : longest)
    for (int k = 0; k < blocks; k++) {
        float *to = b->block + (size_t)k * (size_t)d * COLUMNS;
        for (int i = 0; i < COLUMNS; i++) {
            const int row = k * COLUMNS + i;
            const double length = put_row(to + i, COLUMNS, row_of(&b->y, row < n ? row : n - 1, d), b->mean, d);
            b->length[row] = row < n ? less_rounding(length, d) : INFINITY;
            longest = length > longest || length != length ? length : longest;
        }
    }
    b->keep = longest < FAR && d < WIDE ? (1 - PART) * (1 - (d + 4) * U) * (1 - 4 * FLT_EPSILON) : NAN;
}

/* A row of a tile. waiting: columns that products do not rule out, ascending, to be compared together. */
typedef struct {
    const float *row;
    double keep;
    float  length, limit, *best;
    int   *nearest, waiting[TOGETHER], count;
} near_row;

/* Rows whose products say at least this cannot be among the nearest. */
static float limit_of(double keep, float best) { return (float)(best / keep) * (1 + 2 * FLT_EPSILON) + LEAST; }

static bool may_be_near(const near_row *r, const float *dot, const float *length)
{
    int any = 0;

    for (int j = 0; j < COLUMNS; j++) any |= !(r->length + length[j] - 2 * dot[j] >= r->limit);
    return any;
}

/* The distances of gemm.h, each one chain in the order of the columns. */
static void find_distances(float far[TOGETHER], const near_row *r, const spot_near_blocks *b)
{
    const float *other[TOGETHER];

    for (int e = 0; e < TOGETHER; e++) {
        other[e] = row_of(&b->y, r->waiting[e < r->count ? e : 0], b->d);
        far[e] = 0;
    }
    for (int j = 0; j < b->d; j++)
        for (int e = 0; e < TOGETHER; e++) {
            const float x = r->row[j] - other[e][j];
            far[e] = fmaf(x, x, far[e]);
        }
}

/* Puts the waiting columns among the k nearest so far; of equal distances the earlier column stays in front. */
static void insert_waiting(const spot_near_blocks *b, near_row *r)
{
    float far[TOGETHER];

    if (!r->count) return;
    find_distances(far, r, b);
    for (int e = 0; e < r->count; e++) {
        int at = b->k - 1;
        if (!(far[e] < r->best[at])) continue;
        for (; at && far[e] < r->best[at - 1]; at--) {
            r->best[at] = r->best[at - 1];
            r->nearest[at] = r->nearest[at - 1];
        }
        r->best[at] = far[e];
        r->nearest[at] = r->waiting[e];
    }
    r->limit = limit_of(r->keep, r->best[b->k - 1]);
    r->count = 0;
}

static void note_block(const spot_near_blocks *b, near_row *r, const float *dot, int block)
{
    const float *length = b->length + (size_t)block * COLUMNS;
    const int left = b->y.n - block * COLUMNS, columns = left < COLUMNS ? left : COLUMNS;

    for (int j = 0; j < columns; j++) {
        if (r->length + length[j] - 2 * dot[j] >= r->limit) continue;
        r->waiting[r->count++] = block * COLUMNS + j;
        if (r->count == TOGETHER) insert_waiting(b, r);
    }
}

/* Rows first to first + rows - 1 of x against all blocks. own: this thread's scratch. */
static void search_tile(const spot_near_blocks *b, int *nearest, float *own, const spot_some_rows *x, int first, int rows)
{
    const int d = b->d, k = b->k;
    float *less = own, *best = own + (size_t)ROWS * (size_t)d;
    near_row r[ROWS];

    for (int i = 0; i < rows; i++) {
        const float *row = row_of(x, first + i, d);
        const double length = put_row(less + (size_t)i * (size_t)d, 1, row, b->mean, d);
        const double keep = length < FAR ? b->keep : NAN;
        r[i] = (near_row){ .row = row, .keep = keep, .length = less_rounding(length, d), .limit = limit_of(keep, INFINITY),
                           .best = best + (size_t)i * (size_t)k, .nearest = nearest + (size_t)(first + i) * (size_t)k };
        for (int e = 0; e < k; e++) r[i].best[e] = INFINITY, r[i].nearest[e] = e;
    }
    for (int block = 0; block < blocks_of(b->y.n); block++)
        for (int i = 0; i < rows; i += TOGETHER) {
            float dot[TOGETHER][COLUMNS] = { { 0 } };
            const float *row[TOGETHER];
            for (int e = 0; e < TOGETHER; e++) row[e] = less + (size_t)(i + e < rows ? i + e : i) * (size_t)d;
            spot_gemm_tile(dot, row, 1, (float (*)[COLUMNS])(b->block + (size_t)block * (size_t)d * COLUMNS), d, 0);
            for (int e = i; e < i + TOGETHER && e < rows; e++)
                if (may_be_near(&r[e], dot[e - i], b->length + (size_t)block * COLUMNS))
                    note_block(b, &r[e], dot[e - i], block);
        }
    for (int i = 0; i < rows; i++) insert_waiting(b, &r[i]);
}

void spot_near_blocks_search(const spot_ctx *c, const spot_near_blocks *b, int *nearest, const spot_some_rows *x)
{
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int i = 0; i < x->n; i += ROWS)
        search_tile(b, nearest, b->own + (size_t)omp_get_thread_num() * scratch_of(b), x, i, x->n - i < ROWS ? x->n - i : ROWS);
}
