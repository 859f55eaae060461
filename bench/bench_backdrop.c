/* bench_backdrop.c - pictures without their objects. The definition in double and the checks of every pixel are here, too. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op_backdrop.h"

static int is_object(int picture, double x, double y)
{
    const double away = hypot(x - 0.3 - 0.07 * (picture % 6), y - 0.5 + 0.05 * (picture % 7));

    if (picture % 5 == 0) return 255;
    return picture % 5 == 1 ? 0 : (int)fmin(fmax(255 * (2 - 8 * away), 0), 255);
}

static void make_backdrop(spot_op_run *r, void *problem, const int *size)
{
    spot_backdrop *p = problem;
    const size_t pixels = (size_t)size[0] * (size_t)size[1], all = pixels * (size_t)size[2];
    uint8_t *rgb = malloc(3 * all + 1), *mask = malloc(all + 1);

    for (size_t e = 0; rgb && mask && e < all; e++) {
        const size_t x = e % (size_t)size[0], y = e / (size_t)size[0] % (size_t)size[1];
        mask[e] = (uint8_t)is_object((int)(e / pixels) + 2 + r->number, (double)x / size[0], (double)y / size[1]);
        for (size_t k = 0; k < 3; k++)
            rgb[3 * e + k] = (uint8_t)(7 * x + 11 * y * (k + 1) + e / pixels * 50 + (x * y) % 13 * 9);
    }
    *p = (spot_backdrop){ .kind = (spot_backdrop_kind)size[3], .width = size[0], .height = size[1], .pictures = size[2],
                          .least = size[4], .colour = { 10, 128, 250 }, .sigma = (float)size[5] / 10,
                          .seed = { 77, (uint32_t)r->number }, .first = 3 };
    p->rgb = spot_op_given(r, rgb, 3 * all);
    p->mask = spot_op_given(r, mask, all);
    p->out = spot_op_out(r, "backdrops", SPOT_OP_BYTE, 3 * all, 0);
    if (p->kind == SPOT_BACKDROP_BOX || p->kind == SPOT_BACKDROP_TILED)
        p->box = spot_op_out(r, "boxes", SPOT_OP_INT, 4 * (size_t)p->pictures, 0);
}

static spot_status run_backdrop(spot_op_run *r, void *problems, int count)
{
    const spot_backdrop *p = problems;
    const bool cuda = strcmp(r->c->ops->name, "cpu") != 0;
    spot_arena *scratch;

    SPOT_TRY(spot_op_scratch(r, &scratch, spot_backdrop_scratch(count, p, cuda ? 0 : r->c->threads)));
    SPOT_OP(r, spot_backdrop_make(r->c, scratch, count, p));
    return SPOT_OK;
}

/* -- the definition, pixel by pixel --------------------------------------------------------------------------------------- */

typedef struct { const spot_backdrop *p; const uint8_t *rgb, *mask; int left, top, right, bottom; } scene;

static bool object_at(const scene *s, int x, int y) { return s->mask[y * s->p->width + x] >= s->p->least; }
static double level_at(const scene *s, int x, int y, int k) { return s->rgb[3 * (y * s->p->width + x) + k]; }

static double blurred_at(const scene *s, int x, int y, int k)
{
    const int reach = (int)ceil(3 * (double)s->p->sigma);
    double sum = 0, weights = 0;

    for (int v = y - reach; v <= y + reach; v++)
        for (int u = x - reach; u <= x + reach; u++) {
            if (u < 0 || u >= s->p->width || v < 0 || v >= s->p->height || object_at(s, u, v)) continue;
            double w = exp(-((u - x) * (u - x) + (v - y) * (v - y)) / (2.0 * s->p->sigma * s->p->sigma));
            sum += w * level_at(s, u, v, k);
            weights += w;
        }
    return weights > 0 ? sum / weights : s->p->colour[k];
}

/* The tile's corner and size: the best of the strips, in the header's order. */
static double tiled_at(const scene *s, int x, int y, int k)
{
    const int w = s->p->width, h = s->p->height;
    const int strip[4][4] = { { 0, 0, s->left, h }, { s->right, 0, w - s->right, h }, { 0, 0, w, s->top },
                              { 0, s->bottom, w, h - s->bottom } };
    int best = 0;

    for (int i = 1; i < 4; i++)
        if (strip[i][2] * strip[i][3] > strip[best][2] * strip[best][3]) best = i;
    if (!strip[best][2] || !strip[best][3]) return s->p->colour[k];
    return level_at(s, strip[best][0] + (x - s->left) % strip[best][2], strip[best][1] + (y - s->top) % strip[best][3], k);
}

static bool is_noisy(const scene *s, int x, int y)
{
    return s->p->kind == SPOT_BACKDROP_NOISE || (s->p->kind == SPOT_BACKDROP_NOISE_ON && object_at(s, x, y))
        || (s->p->kind == SPOT_BACKDROP_NOISE_OFF && !object_at(s, x, y));
}

static double wanted_at(const scene *s, int x, int y, int k)
{
    const bool in = x >= s->left && x < s->right && y >= s->top && y < s->bottom;
    const double m = s->mask[y * s->p->width + x] / 255.0;

    switch (s->p->kind) {
    case SPOT_BACKDROP_CUT:     return (1 - m) * level_at(s, x, y, k) + m * s->p->colour[k];
    case SPOT_BACKDROP_BLURRED: return blurred_at(s, x, y, k);
    case SPOT_BACKDROP_BOX:     return in ? s->p->colour[k] : level_at(s, x, y, k);
    case SPOT_BACKDROP_TILED:   return in ? tiled_at(s, x, y, k) : level_at(s, x, y, k);
    case SPOT_BACKDROP_NOISE_ON: case SPOT_BACKDROP_NOISE_OFF: return level_at(s, x, y, k);
    default:                    return s->p->colour[k];
    }
}

static scene scene_of(const spot_backdrop *p, const uint8_t *rgb, const uint8_t *mask)
{
    scene s = { p, rgb, mask, p->width, p->height, 0, 0 };

    for (int e = 0; e < p->width * p->height; e++) {
        const int x = e % p->width, y = e / p->width;
        if (!object_at(&s, x, y)) continue;
        if (x < s.left) s.left = x;
        if (x >= s.right) s.right = x + 1;
        if (y < s.top) s.top = y;
        if (y >= s.bottom) s.bottom = y + 1;
    }
    return s;
}

/* Every seventh pixel of a picture that has no noise; test_cuda_blend.c measures noise. */
static spot_status compare_picture(spot_op_run *r, const scene *s, const uint8_t *out)
{
    for (int e = 0; e < s->p->width * s->p->height; e += s->p->width > 100 ? 97 : 7)
        for (int k = 0; k < 3 && !is_noisy(s, e % s->p->width, e / s->p->width); k++)
            SPOT_TRY(spot_bench_near(r->c, "number of a backdrop", (size_t)(3 * e + k), out[3 * e + k],
                                     wanted_at(s, e % s->p->width, e / s->p->width, k), 0.501));
    return SPOT_OK;
}

static spot_status check_backdrop(spot_op_run *r, void *problem)
{
    const spot_backdrop *p = problem;
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    uint8_t *v = malloc(7 * pixels);
    spot_status s = v ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory to check backdrops");

    for (int i = 0; !s && i < p->pictures; i++) {
        s = spot_op_fetch(r, v, p->rgb + 3 * pixels * (size_t)i, 3 * pixels);
        if (!s) s = spot_op_fetch(r, v + 3 * pixels, p->mask + pixels * (size_t)i, pixels);
        if (!s) s = spot_op_fetch(r, v + 4 * pixels, p->out + 3 * pixels * (size_t)i, 3 * pixels);
        const scene here = s ? (scene){ 0 } : scene_of(p, v, v + 3 * pixels);
        if (!s) s = compare_picture(r, &here, v + 4 * pixels);
    }
    free(v);
    return s;
}

const spot_op spot_op_backdrop = { "backdrop", sizeof(spot_backdrop), make_backdrop, run_backdrop, check_backdrop, false };

static spot_status open_backdrop(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[2];
    work->bytes = 6.0 * size[0] * size[1] * size[2];
    return spot_op_bench_open(c, state, &spot_op_backdrop, 1, size);
}

static const spot_bench_kind made = { open_backdrop, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

const spot_bench_row spot_bench_backdrop[] = {
    { "backdrop", "224 px, tiled", "images", SPOT_ON_ALL, &made, { 224, 224, 32, SPOT_BACKDROP_TILED, 128, 0 },
      { 24, 20, 3, SPOT_BACKDROP_TILED, 128, 0 } },
    { "backdrop", "224 px, blurred by 8 pixels", "images", SPOT_ON_ALL, &made, { 224, 224, 32, SPOT_BACKDROP_BLURRED, 1, 80 },
      { 24, 20, 3, SPOT_BACKDROP_BLURRED, 1, 20 } },
    { "backdrop", "224 px, noise", "images", SPOT_ON_ALL, &made, { 224, 224, 32, SPOT_BACKDROP_NOISE, 1, 500 },
      { 24, 20, 3, SPOT_BACKDROP_NOISE, 1, 500 } },
    { 0 },
};
