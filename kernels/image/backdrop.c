/* backdrop.c - pictures without their objects on the CPU: a picture to a thread. */
#include "image/backdrop.h"

#include <omp.h>
#include <string.h>

#include "core/lanes.h"
#include "image/backdrop_step.h"

static spot_backdrop_rect box_of(const spot_backdrop *p, const uint8_t *mask)
{
    spot_backdrop_rect box = { p->width, p->height, 0, 0 };

    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            if (mask[(size_t)y * (size_t)p->width + (size_t)x] < p->least) continue;
            box.x = x < box.x ? x : box.x;
            box.y = y < box.y ? y : box.y;
            box.right = x + 1 > box.right ? x + 1 : box.right;
            box.bottom = y + 1;
        }
    return box.bottom ? box : (spot_backdrop_rect){ 0, 0, 0, 0 };
}

static void fill_box(const spot_backdrop *p, int i, uint8_t *out, const uint8_t *rgb, const uint8_t *mask)
{
    const spot_backdrop_rect box = box_of(p, mask), tile = spot_backdrop_tile(box, p->width, p->height);

    memcpy(p->box + 4 * (size_t)i, &box, sizeof box);
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++, out += 3) spot_backdrop_fill(out, p, rgb, box, tile, x, y);
}

/* sum (count) += weight x from. */
static inline void add_weighted(float *restrict sum, const float *restrict from, float weight, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) sum[i] = fmaf(weight, from[i], sum[i]);
}

/* scratch: a row with a margin on both sides, a row, and the picture, in four numbers a pixel. */
static size_t blur_floats(const spot_backdrop *p)
{
    const size_t width = (size_t)p->width;

    return p->kind == SPOT_BACKDROP_BLURRED ? 4 * (2 * width + 2 * SPOT_BACKDROP_REACH + width * (size_t)p->height) : 0;
}

static void blur(const spot_backdrop *p, uint8_t *out, const uint8_t *rgb, const uint8_t *mask, float *scratch)
{
    const spot_backdrop_blur b = spot_backdrop_blur_of(p->sigma);
    const size_t width = (size_t)p->width, row = 4 * width;
    float *wide = scratch, *sum = wide + row + 8 * SPOT_BACKDROP_REACH, *filtered = sum + row;

    memset(wide, 0, (row + 8 * (size_t)b.reach) * sizeof *wide);
    for (int y = 0; y < p->height; y++) {
        float *line = filtered + row * (size_t)y;
        for (size_t x = 0; x < width; x++) {
            const size_t at = width * (size_t)y + x;
            const bool in = mask[at] >= p->least;
            for (size_t k = 0; k < 4; k++) wide[4 * ((size_t)b.reach + x) + k] = in ? 0 : k < 3 ? rgb[3 * at + k] : 1;
        }
        memset(line, 0, row * sizeof *line);
        for (int t = -b.reach; t <= b.reach; t++) add_weighted(line, wide + 4 * (t + b.reach), b.weight[t < 0 ? -t : t], row);
    }
    for (int y = 0; y < p->height; y++) {
        memset(sum, 0, row * sizeof *sum);
        for (int t = -b.reach; t <= b.reach; t++)
            if (y + t >= 0 && y + t < p->height)
                add_weighted(sum, filtered + row * (size_t)(y + t), b.weight[t < 0 ? -t : t], row);
        for (size_t x = 0; x < width; x++, out += 3) spot_backdrop_mean(out, p, sum + 4 * x);
    }
}

static void make_picture(const spot_backdrop *p, int i, float *scratch)
{
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    const uint8_t *rgb = p->rgb ? p->rgb + 3 * pixels * (size_t)i : NULL, *mask = p->mask ? p->mask + pixels * (size_t)i : NULL;
    uint8_t *out = p->out + 3 * pixels * (size_t)i;

    switch (p->kind) {
    case SPOT_BACKDROP_PLAIN:
        for (size_t e = 0; e < pixels; e++) memcpy(out + 3 * e, p->colour, 3);
        break;
    case SPOT_BACKDROP_NOISE:
        for (size_t e = 0; e < pixels; e++) spot_backdrop_noise(out + 3 * e, p, p->colour, i, (int)e);
        break;
    case SPOT_BACKDROP_NOISE_ON:
    case SPOT_BACKDROP_NOISE_OFF:
        for (size_t e = 0; e < pixels; e++)
            if (spot_backdrop_is_still(p, mask[e])) memcpy(out + 3 * e, rgb + 3 * e, 3);
            else spot_backdrop_noise(out + 3 * e, p, rgb + 3 * e, i, (int)e);
        break;
    case SPOT_BACKDROP_CUT:
        for (size_t e = 0; e < pixels; e++) spot_backdrop_cut(out + 3 * e, p, rgb + 3 * e, mask[e]);
        break;
    case SPOT_BACKDROP_BLURRED:
        blur(p, out, rgb, mask, scratch);
        break;
    default:
        fill_box(p, i, out, rgb, mask);
    }
}

/* -- the op ---------------------------------------------------------------------------------------------------------- */

size_t spot_backdrop_scratch(int problems, const spot_backdrop *p, int threads)
{
    size_t most = 0;

    for (int q = 0; q < problems; q++) {
        size_t floats = threads ? blur_floats(&p[q]) * (size_t)threads : spot_backdrop_device_floats(&p[q]);
        most = floats > most ? floats : most;
    }
    return most * sizeof(float);
}

static spot_status make_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_backdrop *p)
{
    const size_t mark = scratch->used, floats = spot_backdrop_scratch(problems, p, c->threads) / sizeof(float);
    const size_t each = floats / (size_t)c->threads;
    float *room;

    SPOT_TRY(SPOT_TAKE(c, scratch, room, floats));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
#pragma omp parallel num_threads(c->threads)
    for (int q = 0; q < problems; q++) {
#pragma omp for schedule(dynamic, 1) nowait
        for (int i = 0; i < p[q].pictures; i++) make_picture(&p[q], i, room + each * (size_t)omp_get_thread_num());
    }
    return SPOT_OK;
}

const spot_backdrop_ops spot_backdrop_cpu = { .make = make_cpu };

static bool is_of_picture(const spot_backdrop *p) { return p->kind != SPOT_BACKDROP_PLAIN && p->kind != SPOT_BACKDROP_NOISE; }

static spot_status check_backdrop(spot_ctx *c, int q, const spot_backdrop *p)
{
    const bool noise = spot_backdrop_is_noise(p->kind), blurred = p->kind == SPOT_BACKDROP_BLURRED;
    const bool boxed = p->kind == SPOT_BACKDROP_BOX || p->kind == SPOT_BACKDROP_TILED;
    const bool parted = boxed || blurred || (noise && p->kind != SPOT_BACKDROP_NOISE);

    if ((unsigned)p->kind >= SPOT_BACKDROPS || p->width < 1 || p->width > SPOT_BACKDROP_SIDE || p->height < 1
        || p->height > SPOT_BACKDROP_SIDE || p->pictures < 0)
        return spot_fail(c, SPOT_INVALID, "{backdrop.sizes} backdrop.make, problem %d: %d pictures of %d x %d pixels, kind %d; "
                         "from 1 to %d pixels a side", q, p->pictures, p->width, p->height, (int)p->kind, SPOT_BACKDROP_SIDE);
    if ((noise || blurred) && !(p->sigma > 0 && p->sigma <= (noise ? 255 : SPOT_BACKDROP_SIGMA)))
        return spot_fail(c, SPOT_INVALID, "{backdrop.sigma} backdrop.make, problem %d: sigma is %g; above 0, at most %d", q,
                         p->sigma,
                         noise ? 255 : SPOT_BACKDROP_SIGMA);
    if (parted && (p->least < 1 || p->least > 255))
        return spot_fail(c, SPOT_INVALID, "{backdrop.mask} backdrop.make, problem %d: an object from a mask of %d on; from 1 "
                         "to 255", q, p->least);
    if (p->pictures && (!p->out || (is_of_picture(p) && (!p->rgb || !p->mask)) || (boxed && !p->box)))
        return spot_fail(c, SPOT_INVALID, "{backdrop.array_missing} backdrop.make, problem %d: an array of kind %d is missing",
                         q, (int)p->kind);
    return SPOT_OK;
}

spot_status spot_backdrop_make(spot_ctx *c, spot_arena *scratch, int problems, const spot_backdrop *p)
{
    for (int q = 0; q < problems; q++) SPOT_TRY(check_backdrop(c, q, &p[q]));
    SPOT_DISPATCH(c, backdrop, make, scratch, problems, p);
}
