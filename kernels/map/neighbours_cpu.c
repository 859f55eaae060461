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
 * remain, and distance.h's chain decides. A row with too many candidates (thousands of equal rows) needs the plain search.
 *
 * The bounds of a and b are those of b and a. Where the memory for the candidates of all rows at once is small beside that of
 * the rows, each product is made once and serves both. */
#include "map/neighbours.h"

#include <float.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/vmath.h"
#include "map/affinity.h"
#include "map/exact_distances.h"
#include "map/neighbours_rows.h"

enum { PANEL = SPOT_PACKED_PANEL, TILE = SPOT_NEIGHBOURS_TILE, LANES = SPOT_EXACT_LANES };
enum { FEW_ROWS = 16384, LOW_TILE = 64 };      /* so few rows are swept in low tiles, of which many threads have some */

#define SLACK 1e-35f           /* below it roundings are no longer in proportion */
#define HELD_FREELY (64 << 20) /* bytes of all rows' candidates that may be more than the rows themselves have */

typedef struct { float low; uint32_t column : 31, sure : 1; } candidate;      /* sure: low comes from the distance */

typedef struct {
    spot_packed_rows rows;
    int   k, room;             /* room: for candidates of a row */
    int   tile;                /* its rows */
    bool  both;                /* a product serves both its rows: the candidates of all rows are held at once */
    omp_lock_t *lock;          /* (tiles): held by the thread that has a tile's candidates; NULL unless both */
    float less, more;          /* 1 - delta: a lower bound of a distance; (1 + delta) / (1 - delta): times it, the upper one */
} search;

/* Rows' candidates, from row `first` on: a tile's, or those of all rows. A row with more than `most` is thinned out. */
typedef struct {
    candidate *held;           /* (rows, room) */
    int       *count, *most;   /* (rows) */
    float     *reach;          /* (rows): lower bounds above it are too far */
    uint8_t   *failed;         /* (tiles): 1 if a row of the tile has too many candidates, so that it needs the plain search */
    int        first;
} lists;

/* A thread's memory. */
typedef struct {
    float   (*dot)[PANEL];     /* (TILE, 32) */
    uint64_t *key;             /* (room) */
    lists     l;
} thread_work;

/* ---- the filter ---- */

/* The squared distance of two rows, summed in an order that suits the CPU. */
static float near_distance(const float *a, const float *b, int d)
{
    float sum[4 * LANES] = { 0 };
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
    for (int half = 2 * LANES; half > 0; half /= 2)
        for (int l = 0; l < half; l++) sum[l] += sum[half + l];
    return sum[0];
}

/* The bound of a candidate of this row from its distance. */
static void measure(const search *f, candidate *held, int row)
{
    const float *x = f->rows.s->x.v;

    if (held->sure) return;
    held->low = f->less * near_distance(x + (size_t)row * f->rows.d, x + (size_t)held->column * f->rows.d, f->rows.d);
    held->sure = true;
}

/* Removes candidates of a row that are farther than the k of least bounds, of which the distances are measured. */
static void remove_far(thread_work *w, const search *f, int row)
{
    const int r = row - w->l.first, count = w->l.count[r];
    candidate *held = w->l.held + (size_t)r * f->room;
    float far = 0;
    int kept = 0;

    for (int e = 0; e < count; e++) {
        const float low = held[e].low > 0 ? held[e].low : 0;
        w->key[e] = (uint64_t)(uint32_t)spot_float_bits(low) << 32 | (uint32_t)e;
    }
    spot_select_smallest(w->key, count, f->k);
    for (int e = 0; e < f->k; e++) {
        candidate *near = &held[(uint32_t)w->key[e]];
        measure(f, near, row);
        far = near->low > far ? near->low : far;
    }
    far = f->more * far + SLACK;
    w->l.reach[r] = far < w->l.reach[r] ? far : w->l.reach[r];
    for (int e = 0; e < count; e++)
        if (held[e].low <= w->l.reach[r]) held[kept++] = held[e];
    w->l.count[r] = kept;
}

/* With `all`, or where many candidates remain, the distances of all of them are measured. Where too many remain, the row is
 * left to the plain search. */
static void thin_out(thread_work *w, const search *f, int row, bool all)
{
    const int r = row - w->l.first, most = f->room - PANEL;
    int *count = &w->l.count[r];

    if (*count >= f->k) remove_far(w, f, row);
    if (*count >= f->k && (all || *count > most / 2)) {
        for (int e = 0; e < *count; e++) measure(f, &w->l.held[(size_t)r * f->room + e], row);
        remove_far(w, f, row);
    }
    if (*count > most || (all && *count < f->k)) {
        w->l.failed[r / f->tile] = 1;
        w->l.reach[r] = -INFINITY, *count = 0;
    }
    w->l.most[r] = 2 * *count + PANEL < f->room - 1 ? 2 * *count + PANEL : f->room - 1;
}

static void add_candidate(thread_work *w, const search *f, int row, int column, float low)
{
    const int r = row - w->l.first;

    w->l.held[(size_t)r * f->room + w->l.count[r]++] = (candidate){ low, (uint32_t)column, false };
    if (w->l.count[r] > w->l.most[r]) thin_out(w, f, row, false);
}

/* Bit j: low[j] <= far[j]. */
static inline uint32_t within(const float low[PANEL], const float far[PANEL])
{
    uint32_t bits = 0;

#ifdef __AVX512F__
    for (int j = 0; j < PANEL; j += 16)
        bits |= (uint32_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(low + j), _mm512_loadu_ps(far + j), _CMP_LE_OQ) << j;
#elif SPOT_GEMM_AVX2
    for (int j = 0; j < PANEL; j += 8) {
        const __m256 is = _mm256_cmp_ps(_mm256_loadu_ps(low + j), _mm256_loadu_ps(far + j), _CMP_LE_OQ);
        bits |= (uint32_t)_mm256_movemask_ps(is) << j;
    }
#else
    for (int j = 0; j < PANEL; j++) bits |= (uint32_t)(low[j] <= far[j]) << j;
#endif
    return bits;
}

/* Adds the panel's rows that may be among the nearest of `row` to its candidates, and with `both` the row to theirs. */
static void add_candidates(thread_work *w, const search *f, const float dot[PANEL], int row, int panel, bool both)
{
    const int first = panel * PANEL;
    const float *norm = f->rows.norm + first, *length = f->rows.length + first, *off = f->rows.off + first;
    const float own = f->rows.norm[row], own_off = f->rows.off[row], own_length = f->rows.length[row] + own_off;
    const float *reach = &w->l.reach[row - w->l.first], *others = w->l.reach + first, least = *reach;
    float low[PANEL], far[PANEL];

    for (int j = 0; j < PANEL; j++) {
        float ab = fmaf(own_length, off[j], fmaf(own_off, length[j], dot[j]));      /* at most */
        low[j] = fmaf(-2.0f, ab, own + norm[j]);
    }
    for (int j = 0; j < PANEL; j++) far[j] = both && others[j] > least ? others[j] : least;
    for (uint32_t bits = within(low, far); bits; bits &= bits - 1) {
        const int j = __builtin_ctz(bits), column = first + j;
        if (low[j] <= *reach && column != row) add_candidate(w, f, row, column, low[j]);
        if (both && low[j] <= others[j]) add_candidate(w, f, column, row, low[j]);
    }
}

/* ---- the decision ---- */

static int by_column(const void *a, const void *b)
{
    uint32_t x = (uint32_t)*(const uint64_t *)a, y = (uint32_t)*(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void choose_neighbours(thread_work *w, const search *f, int row)
{
    const float *x = f->rows.s->x.v;
    const candidate *held = w->l.held + (size_t)(row - w->l.first) * f->room;
    const int count = w->l.count[row - w->l.first];
    size_t first = (size_t)row * f->k;

    for (int e = 0; e < count; e += LANES) {
        int some = count - e < LANES ? count - e : LANES;
        const float *b[LANES];
        float sum[LANES];
        for (int l = 0; l < LANES; l++) b[l] = x + (size_t)held[e + (l < some ? l : 0)].column * f->rows.d;
        spot_exact_distances(sum, x + (size_t)row * f->rows.d, b, f->rows.d);
        for (int l = 0; l < some; l++)
            w->key[e + l] = (uint64_t)(uint32_t)spot_float_bits(sum[l]) << 32 | held[e + l].column;
    }
    spot_select_smallest(w->key, count, f->k);
    qsort(w->key, (size_t)f->k, sizeof *w->key, by_column);
    for (int e = 0; e < f->k; e++) {
        f->rows.s->column[first + e] = (int)(uint32_t)w->key[e];
        f->rows.s->near[first + e] = spot_bits_float((int32_t)(w->key[e] >> 32));
    }
}

/* ---- tiles ---- */

static int rows_of(const search *f, int tile)
{
    const int rest = f->rows.n - tile * f->tile;

    return rest < f->tile ? rest : f->tile;
}

static void begin_row(lists *l, const search *f, int row)
{
    const int r = row - l->first;

    l->count[r] = l->failed[r / f->tile] = 0;
    l->most[r] = 2 * f->k + PANEL < f->room - 1 ? 2 * f->k + PANEL : f->room - 1;
    l->reach[r] = row < f->rows.n ? FLT_MAX : -INFINITY;
}

/* Rows of tile i and the panels of tile j; with `both` for the rows of each. Tiles that need the plain search anyway are passed
 * over. */
static void sweep_tiles(thread_work *w, const search *f, int i, int j, bool both)
{
    const int i0 = i * f->tile, rows = rows_of(f, i), p0 = j * f->tile / PANEL;
    const uint8_t *failed = w->l.failed;

    if (f->both ? failed[i] && failed[j] : failed[0]) return;
    for (int p = p0; p < p0 + f->tile / PANEL && p < f->rows.panels; p++) {
        spot_packed_rows_multiply(w->dot, &f->rows, i0, rows, p);
        for (int r = 0; r < rows; r++) add_candidates(w, f, w->dot[r], i0 + r, p, both);
    }
}

/* False where the tile needs the plain search. */
static bool finish_tile(thread_work *w, const search *f, int i)
{
    const int i0 = i * f->tile, rows = rows_of(f, i);
    const uint8_t *failed = &w->l.failed[(i0 - w->l.first) / f->tile];

    for (int r = 0; r < rows && !*failed; r++) thin_out(w, f, i0 + r, true);
    for (int r = 0; r < rows && !*failed; r++) choose_neighbours(w, f, i0 + r);
    return !*failed;
}

static spot_status take_lists(spot_ctx *c, spot_arena *a, const search *f, lists *l, int rows)
{
    SPOT_TRY(SPOT_TAKE(c, a, l->held, (size_t)rows * f->room));
    SPOT_TRY(SPOT_TAKE(c, a, l->count, rows));
    SPOT_TRY(SPOT_TAKE(c, a, l->most, rows));
    SPOT_TRY(SPOT_TAKE(c, a, l->failed, (rows + f->tile - 1) / f->tile));
    return SPOT_TAKE(c, a, l->reach, rows);
}

static spot_status take_search(spot_ctx *c, spot_arena *a, search *f, const spot_neighbours *s, thread_work **all)
{
    lists shared = { .first = 0 };

    SPOT_TRY(spot_packed_rows_take(c, a, &f->rows, s));
    SPOT_TRY(SPOT_TAKE(c, a, *all, c->threads));
    if (f->both) SPOT_TRY(take_lists(c, a, f, &shared, f->rows.panels * PANEL));
    if (f->both) SPOT_TRY(SPOT_TAKE(c, a, f->lock, (f->rows.n + f->tile - 1) / f->tile));
    for (int t = 0; t < c->threads; t++) {
        thread_work counted, *w = a->counting ? &counted : &(*all)[t];
        SPOT_TRY(SPOT_TAKE(c, a, w->dot, TILE));
        SPOT_TRY(SPOT_TAKE(c, a, w->key, f->room));
        w->l = shared;
        if (!f->both) SPOT_TRY(take_lists(c, a, f, &w->l, TILE));
    }
    return SPOT_OK;
}

/* Each tile with all others. */
static void search_tile(spot_ctx *c, thread_work *w, const search *f, int i, int tiles, uint8_t *left)
{
    w->l.first = i * f->tile;
    for (int row = w->l.first; row < w->l.first + f->tile; row++) begin_row(&w->l, f, row);
    for (int j = 0; j < tiles && spot_check_stop(c) == SPOT_OK; j++) sweep_tiles(w, f, i, j, false);
    left[i] = !finish_tile(w, f, i);
}

static void search_tiles(spot_ctx *c, const search *f, thread_work *all, int tiles, uint8_t *left)
{
    int done = 0;

#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int i = 0; i < tiles; i++) {
        int now;
        if (spot_check_stop(c) != SPOT_OK) continue;
        search_tile(c, &all[omp_get_thread_num()], f, i, tiles, left);
#pragma omp atomic capture
        now = ++done;
        if (now % 8 == 0) spot_tell(c, "neighbours", -1, now, tiles, "");
    }
}

/* Each pair of tiles once: in a round those whose numbers have the sum `round`, modulo the tiles. No tile is in two of them, so
 * that threads seldom wait for a tile's lock. */
static void search_pairs(spot_ctx *c, const search *f, thread_work *all, int tiles, uint8_t *left)
{
    omp_lock_t *lock = f->lock;
    long done = 0;

    for (int row = 0; row < f->rows.panels * PANEL; row++) begin_row(&all->l, f, row);
    for (int i = 0; i < tiles; i++) omp_init_lock(&lock[i]);
#pragma omp parallel num_threads(c->threads)
    {
        thread_work *w = &all[omp_get_thread_num()];
#pragma omp for schedule(dynamic)
        for (long e = 0; e < (long)tiles * tiles; e++) {
            const int round = (int)(e / tiles), i = (int)(e % tiles), j = (round - i + tiles) % tiles;
            long now;
            if (j < i || spot_check_stop(c) != SPOT_OK) continue;
            omp_set_lock(&lock[i]);
            if (j > i) omp_set_lock(&lock[j]);
            sweep_tiles(w, f, i, j, j > i);
            if (j > i) omp_unset_lock(&lock[j]);
            omp_unset_lock(&lock[i]);
#pragma omp atomic capture
            now = ++done;
            if (now % (4 * tiles) == 0) spot_tell(c, "neighbours", -1, (double)now, tiles * (tiles + 1.0) / 2, "");
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < tiles; i++)
            if (spot_check_stop(c) == SPOT_OK && !finish_tile(w, f, i)) {
#pragma omp atomic write
                left[i * f->tile / TILE] = 1;
            }
    }
    for (int i = 0; i < tiles; i++) omp_destroy_lock(&lock[i]);
}

spot_status spot_neighbours_filter(spot_ctx *c, spot_arena *scratch, const spot_neighbours *s, uint8_t *left)
{
    const int n = s->x.rows, d = s->x.cols, room = 160 + 3 * s->k;
    const double kappa = (3.0 * d + 64) * 0x1p-24, delta = (4.0 * d + 64) * 0x1p-24;
    const size_t held = (size_t)n * room * sizeof(candidate), own = (size_t)n * d * sizeof(float);
    const bool both = held <= own || held <= HELD_FREELY;
    search f = { .k = s->k, .room = both ? room : 512 + 4 * s->k, .tile = both && n <= FEW_ROWS ? LOW_TILE : TILE, .both = both,
                 .less = (float)(1 - delta), .more = (float)((1 + delta) / (1 - delta) * (1 + 0x1p-20)) };
    const int tiles = (n + f.tile - 1) / f.tile;
    size_t mark = scratch->used;
    thread_work *all;

    SPOT_TRY(take_search(c, scratch, &f, s, &all));
    if (!scratch->counting) {
        memset(left, 0, (size_t)(n + TILE - 1) / TILE);
        spot_packed_rows_fill(&f.rows, 1 - kappa, c->threads);
        if (both) search_pairs(c, &f, all, tiles, left);
        else search_tiles(c, &f, all, tiles, left);
    }
    scratch->used = mark;
    return scratch->counting ? SPOT_OK : spot_check_stop(c);
}
