/* neighbours_cpu.c - the neighbours of many rows on the CPU: bounds of all distances from products of matrices, distances for the
 * few candidates.
 *
 * With rows a and b less the mean, |a - b|^2 = |a|^2 + |b|^2 - 2 ab takes one product a feature; the distance itself takes two
 * operations, in an order that distance.h fixes. In floats the sum differs by at most
 *
 *     e = kappa (|a|^2 + |b|^2),     kappa = (3 d + 64) 2^-24
 *
 * from the distance that distance.h defines: d 2^-24 for the product (a chain of d roundings, and 2 |ab| <= |a|^2 + |b|^2),
 * 2 d 2^-24 for distance.h's chain (its value is at most 2 (|a|^2 + |b|^2)), and 64 2^-24 for the subtracted mean, the norms
 * and the sum. CPUs with VNNI take four products of bytes at a time: a is s q + u with whole numbers q from -127 to 127, the
 * products of q are exact, and ab differs from theirs by at most |u_a| |b| + (|a| + |u_a|) |u_b|.
 *
 * A sweep over the lower bounds L = (1 - kappa)(|a|^2 + |b|^2) - 2 ab - 2 (|u_a| |b| + (|a| + |u_a|) |u_b|) keeps the candidates
 * within reach. Their distances, summed in another order than distance.h's, lie within delta = (4 d + 64) 2^-24 of it, relative;
 * the k-th smallest so far gives the reach. A few rows more than k remain, and distance.h's chain decides. A row with too many
 * candidates (thousands of equal rows) needs the plain search. */
#include "map/neighbours.h"

#include <float.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/column_sums.h"
#include "core/gemm.h"
#include "core/sort.h"
#include "core/vmath.h"
#include "map/affinity.h"

enum { PANEL = SPOT_GEMM_COLS, ROWS = SPOT_GEMM_ROWS, TILE = SPOT_NEIGHBOURS_TILE };
enum { DEPTH = 128, LANES = 16 };      /* 128 features of a panel fit L1 */
enum { QUAD = 4, WHOLE = 127, MIDDLE = 128 };  /* bytes of a product; the greatest q; what makes a byte of q */
enum { FEW = 16, LONGEST = 1 << 15 };  /* fewer features than FEW gain nothing from bytes; more than LONGEST may overflow */

#define SLACK 1e-35f           /* below it roundings are no longer in proportion */
#define UP (1 + 0x1p-20)       /* makes a float that is rounded from a double no less than it */

#ifdef __AVX512VNNI__
#define HAS_BYTES 1
#else
#define HAS_BYTES 0
#endif

typedef struct { float low; int column; bool sure; } candidate;    /* sure: low comes from the distance */

/* The rows, packed for products: as floats, or as bytes, `wide` of them a row, of which d are not 0. */
typedef struct {
    const spot_neighbours *s;
    int      n, d, k, panels, room, wide;      /* wide: 0 for floats */
    float   *mean;             /* (d) */
    float   *packed;           /* (panels, d, 32): rows less their mean, 32 side by side; 0 past the last */
    int8_t  *quads;            /* (panels, wide / 4, 32, 4): q */
    uint8_t *bytes;            /* (panels, 32, wide): q + 128 */
    float   *norm;             /* (panels, 32): (1 - kappa) squared length; infinite past the last */
    float   *scale, *length, *off;             /* (panels, 32), for bytes: s, |a|, |u| */
    int32_t *middle;           /* (panels, 32): -128 times the sum of q */
    float    more;             /* (1 + delta) / (1 - delta): times a lower bound of a candidate, the upper one */
    float    less;             /* 1 - delta */
} packed_rows;

/* A thread's memory for a tile of rows. */
typedef struct {
    float     (*dot)[PANEL];   /* (TILE, 32) */
    candidate  *held;          /* (TILE, room) */
    uint64_t   *key;           /* (room) */
    int         count[TILE], most[TILE];   /* candidates; with more than `most` the row is thinned out */
    float       reach[TILE];
} tile_work;

/* ---- packing ---- */

static void mean_of_rows(const packed_rows *f, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int j0 = 0; j0 < f->d; j0 += LANES) {
        int cols = f->d - j0 < LANES ? f->d - j0 : LANES;
        double mean[LANES];
        spot_column_means(mean, f->s->x.v, f->n, f->d, j0, cols);
        for (int j = 0; j < cols; j++) f->mean[j0 + j] = (float)mean[j];
    }
}

static void pack_panel(const packed_rows *f, int p, double shrink)
{
    float *to = f->packed + (size_t)p * f->d * PANEL;

    for (int j = 0; j < PANEL; j++) {
        int i = p * PANEL + j;
        const float *x = f->s->x.v + (size_t)(i < f->n ? i : 0) * f->d;
        double squares = 0;
        for (int k = 0; k < f->d; k++) {
            float off = i < f->n ? x[k] - f->mean[k] : 0;
            to[(size_t)k * PANEL + j] = off;
            squares += (double)off * off;
        }
        f->norm[i] = i < f->n ? (float)(squares * shrink) : INFINITY;
    }
}

/* Row i less the mean as whole numbers, and what they leave. */
static void pack_bytes(const packed_rows *f, int i, double shrink)
{
    const float *x = f->s->x.v + (size_t)(i < f->n ? i : 0) * f->d;
    int8_t *quad = f->quads + ((size_t)(i / PANEL) * f->wide * PANEL + (size_t)(i % PANEL) * QUAD);
    uint8_t *byte = f->bytes + (size_t)i * f->wide;
    double squares = 0, left = 0;
    float most = 0, scale;
    int sum = 0;

    for (int k = 0; k < f->d && i < f->n; k++) most = fmaxf(most, fabsf(x[k] - f->mean[k]));
    scale = most / WHOLE;
    for (int k = 0; k < f->wide; k++) {
        float part = k < f->d && i < f->n ? x[k] - f->mean[k] : 0, whole = scale > 0 ? rintf(part / scale) : 0;
        int q = !(whole < WHOLE) ? WHOLE : whole < -WHOLE ? -WHOLE : (int)whole;
        double off = part - (double)scale * q;
        squares += (double)part * part;
        left += off * off;
        sum += q;
        byte[k] = (uint8_t)(q + MIDDLE);
        quad[(size_t)(k / QUAD) * QUAD * PANEL + k % QUAD] = (int8_t)q;
    }
    f->middle[i] = -MIDDLE * sum;
    f->scale[i] = scale;
    f->length[i] = (float)(sqrt(squares) * UP);
    f->off[i] = (float)(sqrt(left) * UP);
    f->norm[i] = i < f->n ? (float)(squares * shrink) : INFINITY;
}

/* ---- products ---- */

/* Products of the tile's rows, which begin at row i0, with the panel's. */
static void multiply_floats(const tile_work *w, const packed_rows *f, int i0, int rows, int panel)
{
    memset(w->dot, 0, (size_t)TILE * sizeof *w->dot);
    for (int k0 = 0; k0 < f->d; k0 += DEPTH) {
        float (*b)[PANEL] = (float (*)[PANEL])(f->packed + ((size_t)panel * f->d + k0) * PANEL);
        int depth = f->d - k0 < DEPTH ? f->d - k0 : DEPTH;
        for (int r = 0; r < rows; r += ROWS) {
            const float *row[ROWS];
            for (int i = 0; i < ROWS; i++)
                row[i] = f->packed + ((size_t)((i0 + r) / PANEL) * f->d + k0) * PANEL + r % PANEL + i;
            spot_gemm_tile(w->dot + r, row, PANEL, b, depth, 0);
        }
    }
}

/* The same from bytes. */
static void multiply_bytes(const tile_work *w, const packed_rows *f, int i0, int rows, int panel)
{
#if HAS_BYTES
    const int8_t *b = f->quads + (size_t)panel * f->wide * PANEL;
    const int32_t *middle = f->middle + (size_t)panel * PANEL;
    const float *scale = f->scale + (size_t)panel * PANEL;

    for (int r = 0; r < rows; r += ROWS) {
        const uint8_t *a = f->bytes + (size_t)(i0 + r) * f->wide;
        __m512i sum[ROWS][2];
        for (int i = 0; i < ROWS; i++) sum[i][0] = _mm512_loadu_si512(middle), sum[i][1] = _mm512_loadu_si512(middle + LANES);
        for (int k = 0; k < f->wide; k += QUAD) {
            __m512i first = _mm512_loadu_si512(b + (size_t)k * PANEL), second = _mm512_loadu_si512(b + (size_t)k * PANEL + 64);
            for (int i = 0; i < ROWS; i++) {
                int32_t four;
                memcpy(&four, a + (size_t)i * f->wide + k, sizeof four);
                sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], _mm512_set1_epi32(four), first);
                sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], _mm512_set1_epi32(four), second);
            }
        }
        for (int i = 0; i < ROWS; i++) {
            __m512 own = _mm512_set1_ps(f->scale[i0 + r + i]);
            for (int h = 0; h < 2; h++)
                _mm512_storeu_ps(w->dot[r + i] + h * LANES, _mm512_mul_ps(_mm512_mul_ps(own, _mm512_loadu_ps(scale + h * LANES)),
                                                                          _mm512_cvtepi32_ps(sum[i][h])));
        }
    }
#else
    (void)w, (void)f, (void)i0, (void)rows, (void)panel;
#endif
}

/* ---- the filter ---- */

/* The squared distance of two rows, summed in an order that suits the CPU. */
static float near_distance(const float *a, const float *b, int d)
{
    float sum[4 * LANES] = { 0 }, all = 0;
    int k = 0;

    for (; k + 4 * LANES <= d; k += 4 * LANES)
        for (int l = 0; l < 4 * LANES; l++) {
            float x = a[k + l] - b[k + l];
            sum[l] = fmaf(x, x, sum[l]);
        }
    for (int l = 0; k + l < d; l++) {
        float x = a[k + l] - b[k + l];
        sum[l] = fmaf(x, x, sum[l]);
    }
    for (int l = 0; l < LANES; l++) all += sum[l] + sum[LANES + l] + (sum[2 * LANES + l] + sum[3 * LANES + l]);
    return all;
}

/* The bound of a candidate of this row from its distance. */
static void measure(const packed_rows *f, candidate *held, int row)
{
    const float *x = f->s->x.v;

    if (held->sure) return;
    held->low = f->less * near_distance(x + (size_t)row * f->d, x + (size_t)held->column * f->d, f->d);
    held->sure = true;
}

/* Removes candidates of row r that are farther than the k of least bounds, of which the distances are measured. */
static void remove_far(tile_work *w, const packed_rows *f, int r, int row)
{
    candidate *held = w->held + (size_t)r * f->room;
    int count = w->count[r], kept = 0;
    float far = 0;

    for (int e = 0; e < count; e++) w->key[e] = spot_key_with(held[e].low, (uint32_t)e);
    spot_select_smallest(w->key, count, f->k);
    for (int e = 0; e < f->k; e++) {
        candidate *near = &held[(uint32_t)w->key[e]];
        measure(f, near, row);
        far = fmaxf(far, near->low);
    }
    w->reach[r] = fminf(w->reach[r], f->more * far + SLACK);
    for (int e = 0; e < count; e++)
        if (held[e].low <= w->reach[r]) held[kept++] = held[e];
    w->count[r] = kept;
}

/* With `all`, or where many candidates remain, the distances of all of them are measured. False when too many remain. */
static bool thin_out(tile_work *w, const packed_rows *f, int r, int row, bool all)
{
    int most = f->room - PANEL;

    if (w->count[r] < f->k) return true;
    remove_far(w, f, r, row);
    if (all || w->count[r] > most / 2) {
        for (int e = 0; e < w->count[r]; e++) measure(f, &w->held[(size_t)r * f->room + e], row);
        remove_far(w, f, r, row);
    }
    w->most[r] = 2 * w->count[r] + PANEL < most ? 2 * w->count[r] + PANEL : most;
    return w->count[r] <= most;
}

/* Adds the panel's rows that may be among the nearest of row r. False when there are too many. */
static bool add_candidates(tile_work *w, const packed_rows *f, int r, int row, int panel)
{
    const float *norm = f->norm + (size_t)panel * PANEL, *dot = w->dot[r];
    const float *length = f->length + (size_t)panel * PANEL, *off = f->off + (size_t)panel * PANEL;
    float low[PANEL], own = f->norm[row], reach = w->reach[r], own_off = f->off[row], own_length = f->length[row] + own_off;
    candidate *held = w->held + (size_t)r * f->room;
    int any = 0;

    for (int j = 0; j < PANEL; j++) {
        float ab = fmaf(own_length, off[j], fmaf(own_off, length[j], dot[j]));      /* at most */
        low[j] = fmaf(-2.0f, ab, own + norm[j]);
        any |= low[j] <= reach;
    }
    if (!any) return true;
    for (int j = 0; j < PANEL; j++)
        if (low[j] <= reach && panel * PANEL + j != row) held[w->count[r]++] = (candidate){ low[j], panel * PANEL + j, false };
    return w->count[r] <= w->most[r] || thin_out(w, f, r, row, false);
}

/* ---- the decision ---- */

/* 16 features of 16 rows, from k on -> 16 features side by side. */
static void turn(float to[LANES][LANES], const float *const b[LANES], int k)
{
#ifdef __AVX512F__
    __m512 v[LANES];
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);

    for (int l = 0; l < LANES; l++) v[l] = _mm512_loadu_ps(b[l] + k);
    for (int s = 1; s < LANES; s *= 2) {       /* blocks of s x s change places across the diagonal */
        const __mmask16 upper = _mm512_test_epi32_mask(lane, _mm512_set1_epi32(s));
        const __m512i low = _mm512_mask_add_epi32(lane, upper, lane, _mm512_set1_epi32(LANES - s));
        const __m512i high = _mm512_mask_add_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(s)), upper, lane,
                                                   _mm512_set1_epi32(LANES));
        for (int l = 0; l < LANES; l++) {
            __m512 a = v[l], c = v[l ^ s];
            if (l & s) continue;
            v[l] = _mm512_permutex2var_ps(a, low, c);
            v[l ^ s] = _mm512_permutex2var_ps(a, high, c);
        }
    }
    for (int l = 0; l < LANES; l++) _mm512_storeu_ps(to[l], v[l]);
#else
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < LANES; i++) to[i][l] = b[l][k + i];
#endif
}

/* distance.h's chain from row a to 16 candidates side by side. */
static void exact_distances(float sum[LANES], const float *a, const float *const b[LANES], int d)
{
    float turned[LANES][LANES];
    int k = 0;

    for (int l = 0; l < LANES; l++) sum[l] = 0;
    for (; k + LANES <= d; k += LANES) {
        turn(turned, b, k);
        for (int i = 0; i < LANES; i++)
            for (int l = 0; l < LANES; l++) {
                float x = a[k + i] - turned[i][l];
                sum[l] = fmaf(x, x, sum[l]);
            }
    }
    for (; k < d; k++)
        for (int l = 0; l < LANES; l++) {
            float x = a[k] - b[l][k];
            sum[l] = fmaf(x, x, sum[l]);
        }
}

static int by_column(const void *a, const void *b)
{
    uint32_t x = (uint32_t)*(const uint64_t *)a, y = (uint32_t)*(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void choose_neighbours(tile_work *w, const packed_rows *f, int r, int row)
{
    const float *x = f->s->x.v;
    const candidate *held = w->held + (size_t)r * f->room;
    size_t first = (size_t)row * f->k;

    for (int e = 0; e < w->count[r]; e += LANES) {
        int some = w->count[r] - e < LANES ? w->count[r] - e : LANES;
        const float *b[LANES];
        float sum[LANES];
        for (int l = 0; l < LANES; l++) b[l] = x + (size_t)held[e + (l < some ? l : 0)].column * f->d;
        exact_distances(sum, x + (size_t)row * f->d, b, f->d);
        for (int l = 0; l < some; l++)
            w->key[e + l] = (uint64_t)(uint32_t)spot_float_bits(sum[l]) << 32 | (uint32_t)held[e + l].column;
    }
    spot_select_smallest(w->key, w->count[r], f->k);
    qsort(w->key, (size_t)f->k, sizeof *w->key, by_column);
    for (int e = 0; e < f->k; e++) {
        f->s->column[first + e] = (int)(uint32_t)w->key[e];
        f->s->near[first + e] = spot_bits_float((int32_t)(w->key[e] >> 32));
    }
}

/* ---- a tile ---- */

/* False when the tile needs the plain search. */
static bool search_tile(tile_work *w, const packed_rows *f, int i0)
{
    int rows = f->n - i0 < TILE ? f->n - i0 : TILE;

    for (int r = 0; r < rows; r++) {
        w->count[r] = 0;
        w->most[r] = 2 * f->k + PANEL < f->room - PANEL ? 2 * f->k + PANEL : f->room - PANEL;
        w->reach[r] = FLT_MAX;
    }
    for (int p = 0; p < f->panels; p++) {
        if (f->wide) multiply_bytes(w, f, i0, rows, p);
        else multiply_floats(w, f, i0, rows, p);
        for (int r = 0; r < rows; r++)
            if (!add_candidates(w, f, r, i0 + r, p)) return false;
    }
    for (int r = 0; r < rows; r++)
        if (!thin_out(w, f, r, i0 + r, true) || w->count[r] < f->k) return false;
    for (int r = 0; r < rows; r++) choose_neighbours(w, f, r, i0 + r);
    return true;
}

static spot_status take_rows(spot_ctx *c, spot_arena *a, packed_rows *f, tile_work **all)
{
    size_t rows = (size_t)f->panels * PANEL;

    SPOT_TRY(SPOT_TAKE(c, a, f->mean, f->d));
    SPOT_TRY(SPOT_TAKE(c, a, f->packed, f->wide ? 0 : rows * f->d));
    SPOT_TRY(SPOT_TAKE(c, a, f->quads, rows * f->wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->bytes, rows * f->wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->norm, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->scale, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->length, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->off, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->middle, rows));
    SPOT_TRY(SPOT_TAKE(c, a, *all, c->threads));
    for (int t = 0; t < c->threads; t++) {
        tile_work counted, *w = a->counting ? &counted : &(*all)[t];
        SPOT_TRY(SPOT_TAKE(c, a, w->dot, TILE));
        SPOT_TRY(SPOT_TAKE(c, a, w->held, (size_t)TILE * f->room));
        SPOT_TRY(SPOT_TAKE(c, a, w->key, f->room));
    }
    return SPOT_OK;
}

static spot_status search_tiles(spot_ctx *c, const packed_rows *f, tile_work *all, double kappa, uint8_t *left)
{
    int tiles = (f->n + TILE - 1) / TILE, done = 0, stopped = 0;

    if (!f->wide) memset(f->length, 0, (size_t)f->panels * PANEL * sizeof *f->length);
    if (!f->wide) memset(f->off, 0, (size_t)f->panels * PANEL * sizeof *f->off);
    mean_of_rows(f, c->threads);
#pragma omp parallel num_threads(c->threads)
    {
#pragma omp for schedule(dynamic)
        for (int p = 0; p < f->panels; p++) {
            if (!f->wide) pack_panel(f, p, 1 - kappa);
            for (int i = p * PANEL; f->wide && i < (p + 1) * PANEL; i++) pack_bytes(f, i, 1 - kappa);
        }
#pragma omp for schedule(dynamic)
        for (int t = 0; t < tiles; t++) {
            if (spot_check_stop(c) == SPOT_OK) {
                int now;
                left[t] = !search_tile(&all[omp_get_thread_num()], f, t * TILE);
#pragma omp atomic capture
                now = ++done;
                if (now % 8 == 0) spot_tell(c, "neighbours", -1, now, tiles, "");
            } else {
#pragma omp atomic write
                stopped = 1;
            }
        }
    }
    return stopped ? SPOT_STOPPED : SPOT_OK;
}

spot_status spot_neighbours_filter(spot_ctx *c, spot_arena *scratch, const spot_neighbours *s, uint8_t *left)
{
    int d = s->x.cols;
    double kappa = (3.0 * d + 64) * 0x1p-24, delta = (4.0 * d + 64) * 0x1p-24;
    packed_rows f = { .s = s, .n = s->x.rows, .d = d, .k = s->k, .panels = (s->x.rows + PANEL - 1) / PANEL,
                .room = 512 + 4 * s->k, .wide = HAS_BYTES && d >= FEW && d <= LONGEST ? (d + QUAD - 1) / QUAD * QUAD : 0,
                .less = (float)(1 - delta), .more = (float)((1 + delta) / (1 - delta) * UP) };
    size_t mark = scratch->used;
    tile_work *all;
    spot_status status;

    SPOT_TRY(take_rows(c, scratch, &f, &all));
    status = scratch->counting ? SPOT_OK : search_tiles(c, &f, all, kappa, left);
    scratch->used = mark;
    return status;
}
