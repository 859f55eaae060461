/* neighbours_cpu.c - the neighbours of many rows on the CPU: bounds of all distances from products of matrices, distances for
 * the few candidates.
 *
 * With rows a and b less the mean, |a - b|^2 = |a|^2 + |b|^2 - 2 ab takes one product a feature; the distance itself takes two
 * operations, in an order that distance.h fixes. In floats the sum differs by at most
 *
 *     e = kappa (|a|^2 + |b|^2),     kappa = (3 d + 64) 2^-24
 *
 * from the distance that distance.h defines: d 2^-24 for the product (a chain of d roundings, and 2 |ab| <= |a|^2 + |b|^2),
 * 2 d 2^-24 for distance.h's chain (its value is at most 2 (|a|^2 + |b|^2)), and 64 2^-24 for the subtracted mean, the norms
 * and the sum. A sweep over the lower bounds L = (1 - kappa)(|a|^2 + |b|^2) - 2 (ab + u) keeps the candidates within reach; u
 * is what products of bytes may lack (neighbours_rows.h), 0 for floats. Distances in another order than distance.h's lie within
 * delta = (4 d + 64) 2^-24 of its, relative: those of the k candidates of least bounds give the reach. A few rows more than k
 * remain, and distance.h's chain decides. A row with too many candidates (thousands of equal rows) needs the plain search. */
#include "map/neighbours.h"

#include <float.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/sort.h"
#include "core/vmath.h"
#include "map/affinity.h"
#include "map/neighbours_rows.h"

enum { PANEL = SPOT_PACKED_PANEL, TILE = SPOT_NEIGHBOURS_TILE, LANES = 16 };

#define SLACK 1e-35f           /* below it roundings are no longer in proportion */

typedef struct { float low; int column; bool sure; } candidate;    /* sure: low comes from the distance */

typedef struct {
    spot_packed_rows rows;
    int   k, room;             /* room: for candidates of a row */
    float less, more;          /* 1 - delta: a lower bound of a distance; (1 + delta) / (1 - delta): times it, the upper one */
} search;

/* A thread's memory for a tile of rows. */
typedef struct {
    float     (*dot)[PANEL];   /* (TILE, 32) */
    candidate  *held;          /* (TILE, room) */
    uint64_t   *key;           /* (room) */
    int         count[TILE], most[TILE];   /* candidates; with more than `most` the row is thinned out */
    float       reach[TILE];
} tile_work;

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
static void measure(const search *f, candidate *held, int row)
{
    const float *x = f->rows.s->x.v;

    if (held->sure) return;
    held->low = f->less * near_distance(x + (size_t)row * f->rows.d, x + (size_t)held->column * f->rows.d, f->rows.d);
    held->sure = true;
}

/* Removes candidates of row r that are farther than the k of least bounds, of which the distances are measured. */
static void remove_far(tile_work *w, const search *f, int r, int row)
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
static bool thin_out(tile_work *w, const search *f, int r, int row, bool all)
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
static bool add_candidates(tile_work *w, const search *f, int r, int row, int panel)
{
    const float *norm = f->rows.norm + (size_t)panel * PANEL, *dot = w->dot[r];
    const float *length = f->rows.length + (size_t)panel * PANEL, *off = f->rows.off + (size_t)panel * PANEL;
    float low[PANEL], own = f->rows.norm[row], reach = w->reach[r];
    float own_off = f->rows.own_off[row], own_length = f->rows.length[row] + own_off;
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

static void choose_neighbours(tile_work *w, const search *f, int r, int row)
{
    const float *x = f->rows.s->x.v;
    const candidate *held = w->held + (size_t)r * f->room;
    size_t first = (size_t)row * f->k;

    for (int e = 0; e < w->count[r]; e += LANES) {
        int some = w->count[r] - e < LANES ? w->count[r] - e : LANES;
        const float *b[LANES];
        float sum[LANES];
        for (int l = 0; l < LANES; l++) b[l] = x + (size_t)held[e + (l < some ? l : 0)].column * f->rows.d;
        exact_distances(sum, x + (size_t)row * f->rows.d, b, f->rows.d);
        for (int l = 0; l < some; l++)
            w->key[e + l] = (uint64_t)(uint32_t)spot_float_bits(sum[l]) << 32 | (uint32_t)held[e + l].column;
    }
    spot_select_smallest(w->key, w->count[r], f->k);
    qsort(w->key, (size_t)f->k, sizeof *w->key, by_column);
    for (int e = 0; e < f->k; e++) {
        f->rows.s->column[first + e] = (int)(uint32_t)w->key[e];
        f->rows.s->near[first + e] = spot_bits_float((int32_t)(w->key[e] >> 32));
    }
}

/* ---- a tile ---- */

/* False when the tile needs the plain search. */
static bool search_tile(tile_work *w, const search *f, int i0)
{
    int rows = f->rows.n - i0 < TILE ? f->rows.n - i0 : TILE;

    for (int r = 0; r < rows; r++) {
        w->count[r] = 0;
        w->most[r] = 2 * f->k + PANEL < f->room - PANEL ? 2 * f->k + PANEL : f->room - PANEL;
        w->reach[r] = FLT_MAX;
    }
    for (int p = 0; p < f->rows.panels; p++) {
        spot_packed_rows_multiply(w->dot, &f->rows, i0, rows, p);
        for (int r = 0; r < rows; r++)
            if (!add_candidates(w, f, r, i0 + r, p)) return false;
    }
    for (int r = 0; r < rows; r++)
        if (!thin_out(w, f, r, i0 + r, true) || w->count[r] < f->k) return false;
    for (int r = 0; r < rows; r++) choose_neighbours(w, f, r, i0 + r);
    return true;
}

static spot_status take_search(spot_ctx *c, spot_arena *a, search *f, const spot_neighbours *s, tile_work **all)
{
    SPOT_TRY(spot_packed_rows_take(c, a, &f->rows, s));
    SPOT_TRY(SPOT_TAKE(c, a, *all, c->threads));
    for (int t = 0; t < c->threads; t++) {
        tile_work counted, *w = a->counting ? &counted : &(*all)[t];
        SPOT_TRY(SPOT_TAKE(c, a, w->dot, TILE));
        SPOT_TRY(SPOT_TAKE(c, a, w->held, (size_t)TILE * f->room));
        SPOT_TRY(SPOT_TAKE(c, a, w->key, f->room));
    }
    return SPOT_OK;
}

static spot_status search_tiles(spot_ctx *c, const search *f, tile_work *all, double kappa, uint8_t *left)
{
    int tiles = (f->rows.n + TILE - 1) / TILE, done = 0, stopped = 0;

    spot_packed_rows_fill(&f->rows, 1 - kappa, c->threads);
#pragma omp parallel num_threads(c->threads)
    {
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
    search f = { .k = s->k, .room = 512 + 4 * s->k, .less = (float)(1 - delta),
                 .more = (float)((1 + delta) / (1 - delta) * (1 + 0x1p-20)) };
    size_t mark = scratch->used;
    tile_work *all;
    spot_status status;

    SPOT_TRY(take_search(c, scratch, &f, s, &all));
    status = scratch->counting ? SPOT_OK : search_tiles(c, &f, all, kappa, left);
    scratch->used = mark;
    return status;
}
