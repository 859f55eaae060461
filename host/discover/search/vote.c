/* vote.c - see vote.h. The CPU searches by near_blocks.h. On a device the distances are those of map/distance.h, which have the
 * same bits, and only the k nearest of each row come back. Products by a library would be faster there and lose the order of
 * rows that lie close together. 10^5 rows against 10^5 of 512 numbers are 15 TFLOP, 0.6 s on an H200 (predicted). */
#include "discover/search/vote.h"

#include <limits.h>
#include <string.h>

#include "bdm/fit.h"
#include "core/device.h"
#include "discover/search/near_blocks.h"
#include "map/affinity.h"
#include "map/distance.h"

/* A tile on a device: its rows at most; their distances at most, 1 GB, which are 256 rows of 10^6; and the rows at a time that
 * distance.cu computes, so that a tile of fewer than 256 is a multiple of them. */
enum { DEVICE_ROWS = 256, DEVICE_NUMBERS = 256 << 20, DEVICE_BLOCK = 64 };

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

/* ---- on a device ---- */

/* Arrays in the device's memory, and on the host one tile's answer. */
typedef struct {
    spot_arena there;
    float *y, *x, *far, *near;         /* (y.n, d); of a tile: (rows, d), (rows, y.n), (rows, k) */
    int   *column;                     /* (rows, k) */
    float *own, *own_near;             /* on the host: (rows, d), (rows, k) */
    int   *own_column;
    int    rows, n, d, k;              /* rows of a tile; y.n rows of d numbers, k neighbours */
} device_search;

static int device_rows(int n)
{
    const int fit = DEVICE_NUMBERS / n;

    if (fit >= DEVICE_ROWS) return DEVICE_ROWS;
    return fit >= DEVICE_BLOCK ? fit / DEVICE_BLOCK * DEVICE_BLOCK : fit > 1 ? fit : 1;
}

static spot_status take_there(spot_ctx *c, spot_arena *a, device_search *s)
{
    const size_t rows = (size_t)s->rows, n = (size_t)s->n, d = (size_t)s->d, k = (size_t)s->k;

    SPOT_TRY(SPOT_TAKE(c, a, s->y, n * d));
    SPOT_TRY(SPOT_TAKE(c, a, s->x, rows * d));
    SPOT_TRY(SPOT_TAKE(c, a, s->far, rows * n));
    SPOT_TRY(SPOT_TAKE(c, a, s->near, rows * k));
    return SPOT_TAKE(c, a, s->column, rows * k);
}

/* The columns of a row, which rise, in the order of their distances; of equals the first column stays in front. */
static void put_in_order(int *nearest, const int *column, const float *near, int k)
{
    for (int j = 0; j < k; j++) {
        int at = j;
        for (; at && near[j] < near[nearest[at - 1]]; at--) nearest[at] = nearest[at - 1];
        nearest[at] = j;
    }
    for (int j = 0; j < k; j++) nearest[j] = column[nearest[j]];
}

static spot_status search_device_tile(spot_ctx *c, device_search *s, int *nearest, const spot_some_rows *x, int first)
{
    const int rows = x->n - first < s->rows ? x->n - first : s->rows, n = s->n, d = s->d, k = s->k;
    const size_t found = (size_t)rows * (size_t)k;
    const spot_mat far = { s->far, rows, n }, of = { s->x, rows, d }, y = { s->y, n, d };
    const spot_affinity_search search = { far, -1, s->column, { s->near, rows, k } };

    gather(s->own, x, first, rows, d);
    SPOT_TRY(spot_check_stop(c));
    SPOT_TRY(spot_device_copy(c, s->x, s->own, (size_t)rows * (size_t)d * sizeof *s->x));
    SPOT_TRY(spot_distance_squared(c, 1, &far, &of, &y));
    SPOT_TRY(spot_affinity_nearest(c, 1, &search, NULL));
    SPOT_TRY(spot_device_copy(c, s->own_column, s->column, found * sizeof *s->column));
    SPOT_TRY(spot_device_copy(c, s->own_near, s->near, found * sizeof *s->near));
    for (int i = 0; i < rows; i++)
        put_in_order(nearest + (size_t)(first + i) * (size_t)k, s->own_column + (size_t)i * (size_t)k,
                     s->own_near + (size_t)i * (size_t)k, k);
    return SPOT_OK;
}

static spot_status search_on_device(spot_ctx *c, spot_arena *a, int *nearest, const spot_some_rows *x, const spot_some_rows *y,
                                    int d, int k)
{
    device_search s = { .rows = device_rows(y->n), .n = y->n, .d = d, .k = k };
    spot_arena size = spot_arena_counting();
    spot_status how;

    SPOT_TRY(SPOT_TAKE(c, a, s.own, (size_t)s.rows * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, s.own_near, (size_t)s.rows * (size_t)k));
    SPOT_TRY(SPOT_TAKE(c, a, s.own_column, (size_t)s.rows * (size_t)k));
    if (a->counting) return SPOT_OK;
    SPOT_TRY(take_there(c, &size, &s));
    SPOT_TRY(spot_arena_open_device(c, &s.there, size.peak));
    how = take_there(c, &s.there, &s);
    if (how == SPOT_OK) how = spot_device_copy(c, s.y, y->feature, (size_t)y->n * (size_t)d * sizeof *s.y);
    for (int i = 0; i < x->n && how == SPOT_OK; i += s.rows) how = search_device_tile(c, &s, nearest, x, i);
    spot_arena_close(&s.there);
    return how;
}

static spot_status search_on_host(spot_ctx *c, spot_arena *a, int *nearest, const spot_some_rows *x, spot_some_rows y, int d,
                                  int k)
{
    spot_near_blocks b;

    SPOT_TRY(spot_near_blocks_take(c, a, &b, y, d, k));
    if (a->counting || !x->n || !k) return SPOT_OK;
    spot_near_blocks_fill(c, &b);
    spot_near_blocks_search(c, &b, nearest, x);
    return SPOT_OK;
}

spot_status spot_nearest_rows(spot_ctx *c, spot_arena *a, int *nearest, spot_some_rows x, spot_some_rows y, int d, int k)
{
    const size_t mark = a->used;
    float *packed;

    if (c->device && y.row) {
        SPOT_TRY(SPOT_TAKE(c, a, packed, (size_t)y.n * (size_t)d));
        if (!a->counting) gather(packed, &y, 0, y.n, d);
        y = (spot_some_rows){ packed, NULL, y.n };
    }
    if (!c->device)      SPOT_TRY(search_on_host(c, a, nearest, &x, y, d, k));
    else if (x.n && k)   SPOT_TRY(search_on_device(c, a, nearest, &x, &y, d, k));
    a->used = mark;
    return SPOT_OK;
}

size_t spot_nearest_bytes(const spot_ctx *c, int n, int d, int k)
{
    spot_ctx host = { .threads = c->threads };
    spot_arena a = spot_arena_counting();
    spot_near_blocks b;

    if (spot_near_blocks_take(&host, &a, &b, (spot_some_rows){ NULL, NULL, n }, d, k)) spot_forget(&host);
    return a.peak + (size_t)DEVICE_ROWS * ((size_t)d + 2 * (size_t)k + 64) * sizeof(float);
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
