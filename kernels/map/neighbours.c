/* neighbours.c - tiles of distances, and the selection from each, of a group of problems at a time. */
#include "map/neighbours.h"

#include "core/problems.h"
#include "map/affinity.h"
#include "map/distance.h"

enum { ROW_TILE = SPOT_NEIGHBOURS_TILE, GROUP = 16 };   /* rows of a tile of distances; problems searched together */

/* Rows i0 .. i0+255 of every problem that has them. */
static spot_status search_tile(spot_ctx *c, int problems, const spot_neighbours *s, float *const *held, uint64_t *keys, int i0)
{
    spot_mat tile[GROUP], x[GROUP], dist[GROUP];
    spot_affinity_search search[GROUP];
    int count = 0;

    for (int p = 0; p < problems; p++) {
        int n = s[p].x.rows, d = s[p].x.cols, k = s[p].k, rows = n - i0 < ROW_TILE ? n - i0 : ROW_TILE;
        size_t first = (size_t)i0 * k;

        if (rows <= 0) continue;
        x[count] = s[p].x;
        tile[count] = (spot_mat){ s[p].x.v + (size_t)i0 * d, rows, d };
        dist[count] = (spot_mat){ held[p], rows, n };
        search[count] = (spot_affinity_search){ dist[count], i0, s[p].column + first, { s[p].near + first, rows, k } };
        count++;
    }
    SPOT_TRY(spot_distance_squared(c, count, dist, tile, x));
    return spot_affinity_nearest(c, count, search, keys);
}

/* The plain search: all tiles, or those that `left` names. */
static spot_status search_group(spot_ctx *c, spot_arena *a, int problems, const spot_neighbours *s, const uint8_t *left)
{
    float *held[GROUP];
    uint64_t *keys;
    size_t mark = a->used;
    int tallest = SPOT_MOST(problems, s, x.rows);

    for (int p = 0; p < problems; p++) {
        int n = s[p].x.rows;
        SPOT_TRY(SPOT_TAKE(c, a, held[p], (size_t)(n < ROW_TILE ? n : ROW_TILE) * n));
    }
    SPOT_TRY(SPOT_TAKE(c, a, keys, (size_t)c->threads * tallest));
    a->used = mark;
    for (int i0 = 0; i0 < tallest && !a->counting; i0 += ROW_TILE) {
        if (left && !left[i0 / ROW_TILE]) continue;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(search_tile(c, problems, s, held, keys, i0));
    }
    return SPOT_OK;
}

/* The filter, then the plain search for the tiles that it leaves. */
static spot_status search_many(spot_ctx *c, spot_arena *a, const spot_neighbours *s)
{
    size_t mark = a->used;
    int tiles = (s->x.rows + ROW_TILE - 1) / ROW_TILE, after = 0;
    uint8_t *left;

    SPOT_TRY(SPOT_TAKE(c, a, left, tiles));
    SPOT_TRY(spot_neighbours_filter(c, a, s, left));
    for (int t = 0; t < tiles && !a->counting; t++) after += left[t];
    if (after) spot_log(c, SPOT_LOG_DEBUG, "neighbours: %d of %d tiles are searched without the filter", after, tiles);
    SPOT_TRY(search_group(c, a, 1, s, left));
    a->used = mark;
    return SPOT_OK;
}

static int goes_alone(const spot_ctx *c, const spot_neighbours *s) { return !c->device && s->x.rows > SPOT_NEIGHBOURS_MANY; }

spot_status spot_neighbours_find(spot_ctx *c, spot_arena *scratch, int problems, const spot_neighbours *s)
{
    for (int p = 0; p < problems; p++)
        if (s[p].k < 1 || s[p].k >= s[p].x.rows)
            return spot_fail(c, SPOT_INVALID, "{neighbours.sizes} neighbours, problem %d: %d of %d rows", p, s[p].k,
                             s[p].x.rows);
    for (int p = 0, n; p < problems; p += n) {
        for (n = 0; p + n < problems && n < GROUP && !goes_alone(c, &s[p + n]); n++) { }
        if (n) SPOT_TRY(search_group(c, scratch, n, s + p, NULL));
        else SPOT_TRY(search_many(c, scratch, &s[p + n++]));
    }
    return SPOT_OK;
}
