/* coco_outline.c - see coco_outline.h. Places are column by column: x * height + y. */
#include "formats/coco_outline.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"

enum { SCALE = 5, FARTHEST = 1000000 };

typedef struct {
    spot_ctx *c;
    const char *name;
    uint8_t *plane;            /* (height, width) */
    int width, height;
    uint8_t *turn;             /* (width * height + 1): whether the mask changes here, odd or even times */
} drawing;

/* ---- polygons ---- */

/* The place where the outline passes from (u0, v0) to (u1, v1), fine points beside each other, leaves the middle of a
 * column. */
static void turn_at(drawing *d, int u0, int v0, int u1, int v1)
{
    double x = (u1 < u0 ? u1 : u1 - 1), y = v1 < v0 ? v1 : v0;

    x = (x + 0.5) / SCALE - 0.5;
    if (floor(x) != x || x < 0 || x > d->width - 1) return;
    y = (y + 0.5) / SCALE - 0.5;
    y = ceil(y < 0 ? 0 : y > d->height ? d->height : y);
    d->turn[(size_t)x * (size_t)d->height + (size_t)y] ^= 1;
}

/* Fine points of the edge from a to b, in this order; *u, *v: the point before, and then the last one. */
static void draw_edge(drawing *d, const int a[2], const int b[2], bool *begun, int *u, int *v)
{
    const int dx = abs(b[0] - a[0]), dy = abs(b[1] - a[1]), steps = dx >= dy ? dx : dy;
    const bool flip = dx >= dy ? a[0] > b[0] : a[1] > b[1];
    const int *from = flip ? b : a, *to = flip ? a : b;
    const double slope = !steps ? 0 : dx >= dy ? (double)(to[1] - from[1]) / dx : (double)(to[0] - from[0]) / dy;

    for (int k = 0; k <= steps; k++) {
        const int t = flip ? steps - k : k;
        const int x = dx >= dy ? t + from[0] : (int)(from[0] + slope * t + 0.5);
        const int y = dx >= dy ? (int)(from[1] + slope * t + 0.5) : t + from[1];
        if (*begun && x != *u) turn_at(d, *u, *v, x, y);
        *begun = true, *u = x, *v = y;
    }
}

static spot_status bad_outline(drawing *d, const char *why)
{
    return spot_fail(d->c, SPOT_INPUT, "{coco.outline} %s: its \"segmentation\" %s", d->name, why);
}

static spot_status fine_point(drawing *d, int out[2], const yajl_val *at)
{
    for (int k = 0; k < 2; k++) {
        if (!YAJL_IS_NUMBER(at[k])) return bad_outline(d, "has a corner that is no number");
        const double v = strtod(YAJL_GET_NUMBER(at[k]), NULL);
        if (!(fabs(v) <= FARTHEST)) return bad_outline(d, "has a corner far outside of the picture");
        out[k] = (int)(SCALE * v + 0.5);
    }
    return SPOT_OK;
}

/* Adds what the turns enclose to the plane, and clears them. */
static void fill_turns(drawing *d)
{
    uint8_t in = 0;

    for (int x = 0; x < d->width; x++)
        for (int y = 0; y < d->height; y++) {
            in ^= d->turn[(size_t)x * (size_t)d->height + (size_t)y];
            if (in) d->plane[(size_t)y * (size_t)d->width + (size_t)x] = 255;
        }
    memset(d->turn, 0, (size_t)d->width * (size_t)d->height + 1);
}

static spot_status draw_polygon(drawing *d, yajl_val polygon)
{
    int first[2], a[2], b[2], u = 0, v = 0;
    bool begun = false;

    if (!YAJL_IS_ARRAY(polygon) || polygon->u.array.len % 2) return bad_outline(d, "has a polygon that is no list of x, y, x, "
                                                                                "y ...");
    const size_t n = polygon->u.array.len / 2;
    if (n < 3) return bad_outline(d, "has a polygon with fewer than three corners");
    SPOT_TRY(fine_point(d, first, polygon->u.array.values));
    memcpy(a, first, sizeof a);
    for (size_t k = 1; k <= n; k++, memcpy(a, b, sizeof a)) {
        if (k < n) SPOT_TRY(fine_point(d, b, polygon->u.array.values + 2 * k));
        else memcpy(b, first, sizeof b);
        draw_edge(d, a, b, &begun, &u, &v);
    }
    fill_turns(d);
    return SPOT_OK;
}

/* ---- run lengths ---- */

typedef struct { size_t at; bool in; } runs;

static spot_status add_run(drawing *d, runs *r, long long n)
{
    const size_t pixels = (size_t)d->width * (size_t)d->height;

    if (n < 0 || (size_t)n > pixels - r->at) return bad_outline(d, "has run lengths for more pixels than its size");
    for (size_t end = r->at + (size_t)n; r->at < end; r->at++)
        if (r->in) d->plane[r->at % (size_t)d->height * (size_t)d->width + r->at / (size_t)d->height] = 255;
    r->in = !r->in;
    return SPOT_OK;
}

/* COCO's text: five bits in each character from '0' on, the sixth says that more follow; from the third run on the difference
 * to the run before the last one. */
static spot_status read_text(drawing *d, runs *r, const char *text)
{
    long long before[2] = { 0, 0 };

    for (int k = 0; *text; k++) {
        long long v = 0;
        int shift = 0;
        for (bool more = true; more; shift += 5) {
            const int bits = *text - '0';
            if (!*text || bits < 0 || bits > 63 || shift > 55) return bad_outline(d, "has a text that is no run lengths");
            text++;
            v |= (long long)(bits & 31) << shift;
            more = bits & 32;
            if (!more && bits & 16) v -= 1LL << (shift + 5);
        }
        if (k > 2) v += before[k % 2];
        SPOT_TRY(add_run(d, r, v));
        before[k % 2] = v;
    }
    return SPOT_OK;
}

static spot_status draw_runs(drawing *d, yajl_val map)
{
    yajl_val size = yajl_tree_get(map, (const char *[]){ "size", NULL }, yajl_t_array);
    yajl_val counts = yajl_tree_get(map, (const char *[]){ "counts", NULL }, yajl_t_any);
    runs r = { 0, false };

    if (!size || size->u.array.len != 2 || !YAJL_IS_INTEGER(size->u.array.values[0])
        || !YAJL_IS_INTEGER(size->u.array.values[1]))
        return bad_outline(d, "has no \"size\" of two numbers");
    const long long high = YAJL_GET_INTEGER(size->u.array.values[0]), wide = YAJL_GET_INTEGER(size->u.array.values[1]);
    if (high != d->height || wide != d->width)
        return spot_fail(d->c, SPOT_INPUT, "{coco.outline_size} %s: its \"segmentation\" is of %lld x %lld pixels, and the "
                         "picture has %d x %d", d->name, wide, high, d->width, d->height);
    if (YAJL_IS_STRING(counts)) SPOT_TRY(read_text(d, &r, YAJL_GET_STRING(counts)));
    else if (YAJL_IS_ARRAY(counts))
        for (size_t i = 0; i < counts->u.array.len; i++) {
            yajl_val v = counts->u.array.values[i];
            if (!YAJL_IS_INTEGER(v)) return bad_outline(d, "has a run length that is no whole number");
            SPOT_TRY(add_run(d, &r, YAJL_GET_INTEGER(v)));
        }
    else return bad_outline(d, "has no \"counts\"");
    return r.at == (size_t)d->width * (size_t)d->height ? SPOT_OK : bad_outline(d, "has run lengths for fewer pixels than its "
                                                                                "size");
}

/* ---- the outline ---- */

static spot_status draw(drawing *d, yajl_val v)
{
    if (YAJL_IS_OBJECT(v)) return draw_runs(d, v);
    if (!YAJL_IS_ARRAY(v) || !v->u.array.len) return bad_outline(d, "is neither polygons nor run lengths");
    for (size_t i = 0; i < v->u.array.len; i++) SPOT_TRY(draw_polygon(d, v->u.array.values[i]));
    return SPOT_OK;
}

spot_status spot_coco_outline(spot_ctx *c, uint8_t *plane, int width, int height, const char *json, size_t n, const char *name)
{
    char why[256];
    drawing d = { c, name, plane, width, height, calloc((size_t)width * (size_t)height + 1, 1) };
    yajl_val v = d.turn ? spot_tree_parse(json, n, why, sizeof why) : NULL;
    spot_status s;

    s = !d.turn ? spot_fail(c, SPOT_NOMEM, "no memory to draw the outline of %s", name)
      : !v ? spot_fail(c, SPOT_INPUT, "{coco.outline_json} %s: its \"segmentation\" is no JSON: %s", name, why) : draw(&d, v);
    if (v) yajl_tree_free(v);
    free(d.turn);
    return s;
}
