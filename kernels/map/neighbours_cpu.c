/* neighbours_cpu.c - the neighbours of many rows on the CPU: bounds of all distances from products of matrices, exact
 * distances for the few candidates.
 *
 * With rows a and b less the mean, |a - b|^2 = |a|^2 + |b|^2 - 2 ab takes one fmaf a feature; the distance itself takes two
 * operations. In floats it differs by at most
 *
 *     e = kappa (|a|^2 + |b|^2),     kappa = (3 d + 64) 2^-24
 *
 * from the distance that distance.h defines: d 2^-24 for the product (a chain of d roundings, and 2 |ab| <= |a|^2 + |b|^2),
 * 2 d 2^-24 for distance.h's chain (its value is at most 2 (|a|^2 + |b|^2)), and 64 2^-24 for the subtracted mean, the norms
 * and the sum. A sweep over the lower bounds L = (1 - kappa)(|a|^2 + |b|^2) - 2 ab keeps the candidates within reach: the
 * k-th smallest upper bound so far. A few rows more than k remain, and their exact distances decide. A row with too many
 * candidates (thousands of equal rows, an outlier millions of times farther than all others) needs the plain search. */
#include "map/neighbours.h"

#include <float.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/column_sums.h"
#include "core/gemm.h"
#include "core/vmath.h"
#include "map/affinity.h"

enum { PANEL = SPOT_GEMM_COLS, ROWS = SPOT_GEMM_ROWS, TILE = SPOT_NEIGHBOURS_TILE };
enum { DEPTH = 128, LANES = 16 };      /* 128 features of a panel fit L1 */

#define SLACK 1e-35f           /* below it roundings are no longer in proportion */

typedef struct { float low; int column; } candidate;

/* The rows, packed for products. */
typedef struct {
    const spot_neighbours *s;
    int    n, d, k, panels, room;
    float *mean;               /* (d) */
    float *packed;             /* (panels, d, 32): rows less their mean, 32 side by side; 0 past the last */
    float *norm;               /* (panels, 32): (1 - kappa) squared length; infinite past the last */
    float  twice;              /* 2 kappa / (1 - kappa): times two norms, the upper bound minus the lower */
} packed_rows;

/* A thread's memory for a tile of rows. */
typedef struct {
    float     (*dot)[PANEL];   /* (TILE, 32) */
    candidate  *held;          /* (TILE, room) */
    uint64_t   *key;           /* (room) */
    int         count[TILE];
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

/* ---- products ---- */

/* Products of the tile's rows, which begin at row i0, with the panel's. */
static void multiply_tile(const tile_work *w, const packed_rows *f, int i0, int rows, int panel)
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

/* ---- the filter ---- */

/* Removes candidates of row r that an upper bound of the k-th distance rules out. False when too many remain. */
static bool thin_out(tile_work *w, const packed_rows *f, int r, int row)
{
    candidate *held = w->held + (size_t)r * f->room;
    int count = w->count[r], kept = 0;
    uint64_t last = 0;

    if (count < f->k) return true;
    for (int e = 0; e < count; e++) {
        float high = fmaf(f->twice, f->norm[row] + f->norm[held[e].column], held[e].low);
        w->key[e] = (uint64_t)(uint32_t)spot_float_bits(high > 0 ? high : 0.0f) << 32 | (uint32_t)e;
    }
    spot_select_smallest(w->key, count, f->k);
    for (int e = 0; e < f->k; e++) last = w->key[e] > last ? w->key[e] : last;
    w->reach[r] = spot_bits_float((int32_t)(last >> 32)) + SLACK;
    for (int e = 0; e < count; e++)
        if (held[e].low <= w->reach[r]) held[kept++] = held[e];
    w->count[r] = kept;
    return kept <= f->room - PANEL;
}

/* Adds the panel's rows that may be among the nearest of row r. False when there are too many. */
static bool add_candidates(tile_work *w, const packed_rows *f, int r, int row, int panel)
{
    const float *norm = f->norm + (size_t)panel * PANEL, *dot = w->dot[r];
    float low[PANEL], own = f->norm[row], reach = w->reach[r];
    candidate *held = w->held + (size_t)r * f->room;
    int any = 0;

    for (int j = 0; j < PANEL; j++) {
        low[j] = fmaf(-2.0f, dot[j], own + norm[j]);
        any |= low[j] <= reach;
    }
    if (!any) return true;
    for (int j = 0; j < PANEL; j++)
        if (low[j] <= reach && panel * PANEL + j != row) held[w->count[r]++] = (candidate){ low[j], panel * PANEL + j };
    return w->count[r] <= f->room - PANEL || thin_out(w, f, r, row);
}

/* ---- the decision ---- */

/* distance.h's chain from row a to 16 candidates side by side. */
static void exact_distances(float sum[LANES], const float *a, const float *const b[LANES], int d)
{
    for (int l = 0; l < LANES; l++) sum[l] = 0;
    for (int k = 0; k < d; k++)
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
        w->reach[r] = FLT_MAX;
    }
    for (int p = 0; p < f->panels; p++) {
        multiply_tile(w, f, i0, rows, p);
        for (int r = 0; r < rows; r++)
            if (!add_candidates(w, f, r, i0 + r, p)) return false;
    }
    for (int r = 0; r < rows; r++)
        if (!thin_out(w, f, r, i0 + r) || w->count[r] < f->k) return false;
    for (int r = 0; r < rows; r++) choose_neighbours(w, f, r, i0 + r);
    return true;
}

static spot_status take_rows(spot_ctx *c, spot_arena *a, packed_rows *f, tile_work **all)
{
    SPOT_TRY(SPOT_TAKE(c, a, f->mean, f->d));
    SPOT_TRY(SPOT_TAKE(c, a, f->packed, (size_t)f->panels * f->d * PANEL));
    SPOT_TRY(SPOT_TAKE(c, a, f->norm, (size_t)f->panels * PANEL));
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

    mean_of_rows(f, c->threads);
#pragma omp parallel num_threads(c->threads)
    {
#pragma omp for schedule(dynamic)
        for (int p = 0; p < f->panels; p++) pack_panel(f, p, 1 - kappa);
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
    double kappa = (3.0 * s->x.cols + 64) * 0x1p-24;
    packed_rows f = { .s = s, .n = s->x.rows, .d = s->x.cols, .k = s->k, .panels = (s->x.rows + PANEL - 1) / PANEL,
                .room = 512 + 4 * s->k, .twice = (float)(2 * kappa / (1 - kappa)) };
    size_t mark = scratch->used;
    tile_work *all;
    spot_status status;

    SPOT_TRY(take_rows(c, scratch, &f, &all));
    status = scratch->counting ? SPOT_OK : search_tiles(c, &f, all, kappa, left);
    scratch->used = mark;
    return status;
}
