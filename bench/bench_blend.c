/* bench_blend.c - objects on other backgrounds by Laplacian pyramids, for which bench/peers/blend_cv2.py is the peer. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op_blend.h"

static size_t pixel_count(const spot_blend *p) { return (size_t)p->width * (size_t)p->height; }
static size_t number_bytes(spot_pixel_kind kind) { return kind == SPOT_PIXEL_BYTES ? 1 : sizeof(float); }

/* `count` pictures, or as many masks: waves with noise; of a mask, a disc with a soft edge. */
static const void *paint(spot_op_run *r, const spot_blend *p, spot_pixel_kind kind, int channels, size_t count, int id)
{
    const size_t numbers = count * pixel_count(p) * (size_t)channels;
    uint8_t *bytes = malloc(numbers + 1);
    float *floats = malloc((numbers + 1) * sizeof *floats);

    for (size_t i = 0; bytes && floats && i < numbers; i++) {
        const size_t pixel = i / (size_t)channels, picture = pixel / pixel_count(p);
        const double x = (double)(pixel % (size_t)p->width), y = (double)(pixel / (size_t)p->width % (size_t)p->height);
        const double away = hypot(x / p->width - 0.5, y / p->height - 0.4), wave = 5 + (double)(picture % 7);
        const double v = channels == 1 ? 3 - 10 * away
                                       : 0.5 + 0.3 * sin(x / wave) + 0.3 * cos((y + (double)(i % 3)) / wave)
                                             + 0.05 * spot_noise(id, i, SPOT_FP32);
        floats[i] = (float)fmin(fmax(v, 0), 1);
        bytes[i] = (uint8_t)(255 * floats[i] + 0.5f);
    }
    const void *to = spot_op_input(r, kind == SPOT_PIXEL_BYTES ? (const void *)bytes : floats, numbers * number_bytes(kind));
    free(bytes), free(floats);
    return to;
}

static void make_blend(spot_op_run *r, void *problem, const int *size)
{
    spot_blend *p = problem;
    spot_blend_pair *pair = spot_op_host(r, (size_t)(size[5] + 1) * sizeof *pair);

    *p = (spot_blend){ .width = size[0], .height = size[1], .levels = size[2], .targets = size[3], .backgrounds = size[4],
                       .pairs = size[5], .pixels = (spot_pixel_kind)size[6], .alphas = (spot_pixel_kind)size[7], .pair = pair };
    for (int i = 0; pair && i < p->pairs; i++)
        pair[i] = p->pairs > p->backgrounds ? (spot_blend_pair){ i / p->backgrounds % p->targets, i % p->backgrounds }
                                            : (spot_blend_pair){ i % p->targets, i % p->backgrounds };
    p->target = paint(r, p, p->pixels, 3, (size_t)p->targets, 3 * r->number);
    p->mask = paint(r, p, p->alphas, 1, (size_t)p->targets, 0);
    p->background = paint(r, p, p->pixels, 3, (size_t)p->backgrounds, 3 * r->number + 1);
    p->out = spot_op_out(r, "composites", p->pixels == SPOT_PIXEL_BYTES ? SPOT_OP_BYTE : SPOT_OP_FLOAT,
                         3 * pixel_count(p) * (size_t)p->pairs, 0);
}

static spot_status run_blend(spot_op_run *r, void *problems, int count)
{
    const spot_blend *p = problems;
    const bool cuda = strcmp(r->c->ops->name, "cpu") != 0;
    spot_arena *scratch;

    SPOT_TRY(spot_op_scratch(r, &scratch, spot_blend_scratch(count, p, cuda ? 0 : r->c->threads)));
    SPOT_OP(r, spot_blend_pairs(r->c, scratch, count, p));
    return SPOT_OK;
}

/* -- the definition, in double: two-dimensional filters on levels that are written out -------------------------------- */

typedef struct { int width, height; double *v; } level;

static level level_of(int width, int height)
{
    return (level){ width, height, calloc((size_t)width * (size_t)height, sizeof(double)) };
}

static int mirrored(int i, int n)
{
    if (n == 1) return 0;
    i = abs(i) % (2 * n - 2);
    return i < n ? i : 2 * n - 2 - i;
}

static const double tap[5] = { 1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0 };

static level reduced(level g)
{
    level r = level_of((g.width + 1) / 2, (g.height + 1) / 2);

    for (int e = 0; r.v && e < r.width * r.height; e++)
        for (int t = 0; t < 25; t++)
            r.v[e] += tap[t / 5] * tap[t % 5] * g.v[mirrored(2 * (e / r.width) + t / 5 - 2, g.height) * g.width +
                                                    mirrored(2 * (e % r.width) + t % 5 - 2, g.width)];
    return r;
}

/* Number i of a row that has number j of the smaller one at place 2 j, and zeros between. Mirrored in front, the last is
 * repeated. */
static int smaller(int i, int n)
{
    if (i % 2) return -1;
    i = abs(i) / 2;
    return i < n ? i : n - 1;
}

static level enlarged(level g, int width, int height)
{
    level r = level_of(width, height);

    for (int e = 0; r.v && e < width * height; e++)
        for (int t = 0; t < 25; t++) {
            int y = smaller(e / width + t / 5 - 2, g.height), x = smaller(e % width + t % 5 - 2, g.width);
            if (y >= 0 && x >= 0) r.v[e] += 4 * tap[t / 5] * tap[t % 5] * g.v[y * g.width + x];
        }
    return r;
}

/* One channel of a composite, limited: into target. All three have the size of the picture. */
static void define(level mask, level target, level background, int levels, double most)
{
    const size_t n = (size_t)target.width * (size_t)target.height;

    if (levels > 1) {
        level m = reduced(mask), t = reduced(target), b = reduced(background);
        level up_t = enlarged(t, target.width, target.height), up_b = enlarged(b, target.width, target.height);
        for (size_t i = 0; i < n; i++) target.v[i] -= up_t.v[i], background.v[i] -= up_b.v[i];
        define(m, t, b, levels - 1, INFINITY);
        level up = enlarged(t, target.width, target.height);
        for (size_t i = 0; i < n; i++) background.v[i] += up.v[i], target.v[i] += up.v[i];
        free(m.v), free(t.v), free(b.v), free(up_t.v), free(up_b.v), free(up.v);
    }
    for (size_t i = 0; i < n; i++) {
        double v = mask.v[i] * target.v[i] + (1 - mask.v[i]) * background.v[i];
        target.v[i] = isinf(most) ? v : fmin(fmax(v, 0), most);
    }
}

/* Channel k of picture i as numbers; of a mask, from 0 to 1. */
static spot_status fetch_level(spot_op_run *r, level to, const void *from, spot_pixel_kind kind, int channels, int i, int k)
{
    const size_t n = (size_t)to.width * (size_t)to.height * (size_t)channels, bytes = n * number_bytes(kind);
    void *v = malloc(bytes);
    spot_status s = v ? spot_op_fetch(r, v, (const char *)from + bytes * (size_t)i, bytes) :
                        spot_fail(r->c, SPOT_NOMEM, "no memory to check composites");

    for (size_t e = 0; !s && e * (size_t)channels < n; e++) {
        size_t at = e * (size_t)channels + (size_t)k;
        to.v[e] = kind == SPOT_PIXEL_FLOATS ? ((const float *)v)[at] : ((const uint8_t *)v)[at] / (channels == 1 ? 255.0 : 1.0);
    }
    free(v);
    return s;
}

static spot_status check_channel(spot_op_run *r, const spot_blend *p, int i, int k)
{
    const bool bytes = p->pixels == SPOT_PIXEL_BYTES;
    const double most = bytes ? 255 : 1;
    level l[4];
    spot_status s = SPOT_OK;

    for (int j = 0; j < 4; j++) {
        l[j] = level_of(p->width, p->height);
        if (!l[j].v) s = spot_fail(r->c, SPOT_NOMEM, "no memory to check composites");
    }
    if (!s) s = fetch_level(r, l[0], p->mask, p->alphas, 1, p->pair[i].target, 0);
    if (!s) s = fetch_level(r, l[1], p->target, p->pixels, 3, p->pair[i].target, k);
    if (!s) s = fetch_level(r, l[2], p->background, p->pixels, 3, p->pair[i].background, k);
    if (!s) s = fetch_level(r, l[3], p->out, p->pixels, 3, i, k);
    if (!s) define(l[0], l[1], l[2], p->levels, most);
    for (size_t e = 0; !s && e < pixel_count(p); e++)
        s = spot_bench_near(r->c, "number of a composite", e, l[3].v[e], l[1].v[e], bytes ? 0.5 + p->levels / 256.0 : 2e-6);
    for (int j = 0; j < 4; j++) free(l[j].v);
    return s;
}

/* The first pair and the last. */
static spot_status check_blend(spot_op_run *r, void *problem)
{
    const spot_blend *p = problem;

    for (int k = 0; k < 3; k++)
        for (int i = 0; i < p->pairs; i += p->pairs > 1 ? p->pairs - 1 : 1) SPOT_TRY(check_channel(r, p, i, k));
    return SPOT_OK;
}

const spot_op spot_op_blend = { "blend", sizeof(spot_blend), make_blend, run_blend, check_blend, false };

static spot_status open_blend(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    const double pixels = (double)size[0] * size[1] * (size[6] == SPOT_PIXEL_BYTES ? 1 : 4);

    work->items = size[5];
    work->bytes = pixels * 3 * (size[3] + size[4] + size[5]);
    return spot_op_bench_open(c, state, &spot_op_blend, 1, size);
}

static const spot_bench_kind blended = { open_blend, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

const spot_bench_row spot_bench_blend[] = {
    { "blend", "224 px, 5 levels, bytes, 8 targets on 32 backgrounds", "images", SPOT_ON_ALL, &blended,
      { 224, 224, 5, 8, 32, 256, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES },
      { 24, 20, 4, 2, 2, 3, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES } },
    { "blend", "224 px, 5 levels, floats, 8 targets on 32 backgrounds", "images", SPOT_ON_ALL, &blended,
      { 224, 224, 5, 8, 32, 256, SPOT_PIXEL_FLOATS, SPOT_PIXEL_BYTES },
      { 24, 20, 4, 2, 2, 3, SPOT_PIXEL_FLOATS, SPOT_PIXEL_BYTES } },
    { "blend", "224 px, 5 levels, bytes, one pair of each picture", "images", SPOT_ON_ALL, &blended,
      { 224, 224, 5, 32, 32, 32, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES },
      { 24, 20, 4, 2, 2, 2, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES } },
    { 0 },
};
