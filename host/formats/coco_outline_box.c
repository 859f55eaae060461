/* coco_outline_box.c - boxes around outlines: spot_coco_outline_box and spot_coco_outline_boxes. */
#include <math.h>
#include <stdlib.h>

#include "base/json_tree.h"
#include "formats/coco.h"
#include "formats/coco_outline.h"
#include "formats/formats.h"

enum { MOST_PIXELS = 1 << 28 };

typedef struct { double x0, y0, x1, y1; } span;

static spot_status bad_outline(spot_ctx *c, const char *name, const char *why)
{
    return spot_fail(c, SPOT_INPUT, "{coco.outline} %s: its \"segmentation\" %s", name, why);
}

static spot_status span_corners(spot_ctx *c, span *s, yajl_val polygon, const char *name)
{
    if (!YAJL_IS_ARRAY(polygon) || polygon->u.array.len % 2)
        return bad_outline(c, name, "has a polygon that is no list of x, y, x, y ...");
    for (size_t i = 0; i < polygon->u.array.len; i++) {
        yajl_val at = polygon->u.array.values[i];
        const double v = YAJL_IS_NUMBER(at) ? strtod(YAJL_GET_NUMBER(at), NULL) : NAN;
        double *low = i % 2 ? &s->y0 : &s->x0, *high = i % 2 ? &s->y1 : &s->x1;
        if (!isfinite((float)v)) return bad_outline(c, name, "has a corner that is no number");
        *low = fmin(*low, v);
        *high = fmax(*high, v);
    }
    return SPOT_OK;
}

/* Draws run lengths and looks where pixels are. */
static spot_status span_pixels(spot_ctx *c, span *s, yajl_val map, const char *json, size_t n, const char *name)
{
    yajl_val size = yajl_tree_get(map, (const char *[]){ "size", NULL }, yajl_t_array);
    long long side[2] = { 0, 0 };
    uint8_t *plane;
    spot_status how;

    for (size_t i = 0; size && size->u.array.len == 2 && i < 2; i++)
        side[i] = YAJL_IS_INTEGER(size->u.array.values[i]) ? YAJL_GET_INTEGER(size->u.array.values[i]) : 0;
    if (side[0] < 1 || side[1] < 1 || side[0] > MOST_PIXELS / side[1])
        return bad_outline(c, name, "has no \"size\" of two numbers");
    plane = calloc((size_t)(side[0] * side[1]), 1);
    if (!plane) return spot_fail(c, SPOT_NOMEM, "no memory to draw the outline of %s", name);
    how = spot_coco_outline(c, plane, (int)side[1], (int)side[0], json, n, name);
    for (long long i = 0; !how && i < side[0] * side[1]; i++) {
        if (!plane[i]) continue;
        const double x = (double)(i % side[1]), y = (double)(i / side[1]);
        *s = (span){ fmin(s->x0, x), fmin(s->y0, y), fmax(s->x1, x + 1), fmax(s->y1, y + 1) };
    }
    free(plane);
    return how;
}

spot_status spot_coco_outline_box(spot_ctx *c, float box[4], const char *json, size_t n, const char *name)
{
    span s = { INFINITY, INFINITY, -INFINITY, -INFINITY };
    char why[256];
    yajl_val v = spot_tree_parse(json, n, why, sizeof why);
    spot_status how = v ? SPOT_OK
        : spot_fail(c, SPOT_INPUT, "{coco.outline_json} %s: its \"segmentation\" is no JSON: %s", name,
                                              why);

    if (YAJL_IS_OBJECT(v)) how = span_pixels(c, &s, v, json, n, name);
    for (size_t i = 0; !how && YAJL_IS_ARRAY(v) && i < v->u.array.len; i++)
        how = span_corners(c, &s, v->u.array.values[i], name);
    if (v) yajl_tree_free(v);
    SPOT_TRY(how);
    if (!(s.x1 >= s.x0 && s.y1 >= s.y0)) return bad_outline(c, name, "encloses nothing, and there is no \"bbox\"");
    box[0] = (float)s.x0;
    box[1] = (float)s.y0;
    box[2] = (float)(s.x1 - s.x0);
    box[3] = (float)(s.y1 - s.y0);
    return SPOT_OK;
}

static spot_status take_box(spot_ctx *c, spot_coco_box *b, const spot_blob *in, const char *name)
{
    char *json = malloc((size_t)b->outline_bytes + 1);
    float box[4];
    spot_status how = json ? spot_blob_read(c, in, b->outline_at, json, b->outline_bytes)
                           : spot_fail(c, SPOT_NOMEM, "no memory for the outline of %s", name);

    if (!how) json[b->outline_bytes] = 0, how = spot_coco_outline_box(c, box, json, b->outline_bytes, name);
    free(json);
    if (how) return how;
    b->x = box[0], b->y = box[1], b->w = box[2], b->h = box[3];
    if (b->area == 0) b->area = b->w * b->h;
    b->boxed = true;
    return SPOT_OK;
}

spot_status spot_coco_outline_boxes(spot_ctx *c, spot_coco *k, const char *path, int *taken, int *bare)
{
    spot_blob in = { 0 };
    spot_status how = SPOT_OK;

    *taken = 0;
    *bare = -1;
    for (int b = 0; !how && b < k->boxes; b++) {
        spot_coco_box *v = &k->box[b];
        if (v->boxed) continue;
        if (!v->outline_bytes) {
            *bare = *bare < 0 ? b : *bare;
            continue;
        }
        if (!in.name) how = spot_blob_open(c, &in, path);
        if (!how) how = take_box(c, v, &in, k->image[v->image].file);
        *taken += !how;
    }
    if (in.name) spot_blob_close(&in);
    return how;
}
