/* blend.c - composites on the CPU: a picture's pyramid to a thread, then a pair to a thread. Rows are worked on in vectors. */
#include "image/blend.h"

#include <omp.h>

#include "core/lanes.h"
#include "image/blend_step.h"

/* A thread's memory: rows of the widest level, and a composite's levels from 1 on. */
typedef struct {
    float *column;      /* (width + 4): a row that is filtered along columns; begins behind two pixels of its margin */
    float *enlarged;    /* (width) */
    float *row;         /* (3, width) */
    uint8_t *byte;      /* (3, width) */
    float *rest;        /* (3, floats from level 1 on) */
} blend_lane;

static size_t lane_floats(const spot_blend *p, const spot_blend_plan *plan)
{
    return ((6 * (size_t)p->width + 4 + 3 * spot_blend_rest(plan)) + 15) / 16 * 16;
}

static blend_lane lane_at(float *room, const spot_blend *p)
{
    size_t width = (size_t)p->width;

    return (blend_lane){ room + 2, room + 4 + width, room + 4 + 2 * width, (uint8_t *)(room + 4 + 5 * width),
                         room + 4 + 6 * width };
}

/* -- rows ------------------------------------------------------------------------------------------------------------ */

/* Row y of a level of `height` rows -> row y / 2 of the next: out ((width + 1) / 2). */
static void reduce_row(float *restrict out, float *restrict column, const float *from, int y, int width, int height)
{
    const float *row[5];
    const int half = (width + 1) / 2;

    for (int i = 0; i < 5; i++) row[i] = from + (size_t)spot_blend_mirror(y + i - 2, height) * (size_t)width;
    {
        const float *restrict a = row[0], *restrict b = row[1], *restrict c = row[2], *restrict d = row[3], *restrict e = row[4];
#pragma omp simd
        for (int x = 0; x < width; x++) column[x] = spot_blend_five(a[x], b[x], c[x], d[x], e[x]);
    }
    for (int i = -2; i < 0; i++) column[i] = column[spot_blend_mirror(i, width)];
    for (int i = width; i < width + 2; i++) column[i] = column[spot_blend_mirror(i, width)];
#pragma omp simd
    for (int x = 0; x < half; x++) {
        const float *at = column + 2 * x;
        out[x] = spot_blend_five(at[-2], at[-1], at[0], at[1], at[2]) * (1.0f / 256);
    }
}

/* Row y of a level of `width` columns, from the next one: from (high, wide). */
static void enlarge_row(float *restrict out, float *restrict column, const float *from, int y, int wide, int high, int width)
{
    const int j = y / 2, pairs = width / 2;
    const float *restrict at = from + (size_t)j * (size_t)wide;
    const float *restrict after = from + (size_t)spot_blend_after(j, high) * (size_t)wide;

    if (y % 2) {
#pragma omp simd
        for (int x = 0; x < wide; x++) column[x] = spot_blend_odd(at[x], after[x]);
    } else {
        const float *restrict before = from + (size_t)spot_blend_before(j, high) * (size_t)wide;
#pragma omp simd
        for (int x = 0; x < wide; x++) column[x] = spot_blend_even(before[x], at[x], after[x]);
    }
    column[-1] = column[spot_blend_before(0, wide)];
    column[wide] = column[wide - 1];
#pragma omp simd
    for (int x = 0; x < pairs; x++) {
        out[2 * x] = spot_blend_even(column[x - 1], column[x], column[x + 1]) * (1.0f / 64);
        out[2 * x + 1] = spot_blend_odd(column[x], column[x + 1]) * (1.0f / 64);
    }
    if (width % 2) out[width - 1] = spot_blend_even(column[wide - 2], column[wide - 1], column[wide]) * (1.0f / 64);
}

/* -- pyramids -------------------------------------------------------------------------------------------------------- */

/* A picture of `channels` channels -> level 0 of as many planes, which lie `step` numbers apart. */
static void load_planes(float *plane, size_t step, const void *from, spot_pixel_kind kind, int channels, size_t pixels,
                        bool is_mask)
{
    for (int k = 0; k < channels; k++) {
        float *restrict to = plane + (size_t)k * step;
        const uint8_t *restrict bytes = (const uint8_t *)from + k;
        const float *restrict floats = (const float *)from + k;
        if (kind == SPOT_PIXEL_FLOATS && channels == 3) for (size_t i = 0; i < pixels; i++) to[i] = floats[3 * i];
        else if (kind == SPOT_PIXEL_FLOATS)             for (size_t i = 0; i < pixels; i++) to[i] = floats[i];
        else if (is_mask) for (size_t i = 0; i < pixels; i++) to[i] = (float)bytes[i] / 255.0f;
        else              for (size_t i = 0; i < pixels; i++) to[i] = (float)bytes[3 * i];
    }
}

/* Level 0 of a plane -> all G, or all L. */
static void build_plane(float *plane, const spot_blend_plan *plan, const blend_lane *lane, bool is_mask)
{
    for (int k = 1; k < plan->levels; k++)
        for (int y = 0; y < plan->height[k]; y++)
            reduce_row(plane + plan->at[k] + (size_t)y * (size_t)plan->width[k], lane->column, plane + plan->at[k - 1], 2 * y,
                       plan->width[k - 1], plan->height[k - 1]);
    for (int k = 0; !is_mask && k + 1 < plan->levels; k++)
        for (int y = 0; y < plan->height[k]; y++) {
            float *restrict row = plane + plan->at[k] + (size_t)y * (size_t)plan->width[k];
            const float *restrict enlarged = lane->enlarged;
            enlarge_row(lane->enlarged, lane->column, plane + plan->at[k + 1], y, plan->width[k + 1], plan->height[k + 1],
                        plan->width[k]);
#pragma omp simd
            for (int x = 0; x < plan->width[k]; x++) row[x] -= enlarged[x];
        }
}

/* Picture i of a problem: its targets, then its backgrounds, then its masks. */
static void build_picture(float *planes, const spot_blend *p, const spot_blend_plan *plan, int i, const blend_lane *lane)
{
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    const bool is_mask = i >= p->targets + p->backgrounds;
    const int channels = is_mask ? 1 : 3, number = is_mask ? i - p->targets - p->backgrounds : i < p->targets ? i : i - p->targets;
    const spot_pixel_kind kind = is_mask ? p->alphas : p->pixels;
    const void *all = is_mask ? p->mask : i < p->targets ? p->target : p->background;
    const size_t bytes = pixels * (size_t)channels * (kind == SPOT_PIXEL_BYTES ? 1 : sizeof(float));
    float *plane = planes + plan->floats * (is_mask ? spot_blend_plane_of_mask(p, number) : 3 * (size_t)i);

    load_planes(plane, plan->floats, (const char *)all + bytes * (size_t)number, kind, channels, pixels, is_mask);
    for (int k = 0; k < channels; k++) build_plane(plane + (size_t)k * plan->floats, plan, lane, is_mask);
}

/* -- pairs ----------------------------------------------------------------------------------------------------------- */

typedef struct { const float *mask, *target, *background; } blend_planes;      /* (1, floats), (3, floats), (3, floats) */

/* Row y of channel `channel` of level k of a composite. */
static void blend_row(float *restrict out, const blend_planes *of, const spot_blend_plan *plan, const blend_lane *lane, int k,
                      int channel, int y)
{
    const int width = plan->width[k];
    const size_t at = plan->at[k] + (size_t)y * (size_t)width, plane = (size_t)channel * plan->floats;
    const float *restrict m = of->mask + at, *restrict t = of->target + plane + at, *restrict b = of->background + plane + at;
    const float *restrict enlarged = lane->enlarged;

    if (k + 1 == plan->levels) {
#pragma omp simd
        for (int x = 0; x < width; x++) out[x] = spot_blend_mix(m[x], t[x], b[x]);
        return;
    }
    enlarge_row(lane->enlarged, lane->column,
                lane->rest + (size_t)channel * spot_blend_rest(plan) + plan->at[k + 1] - plan->at[1], y, plan->width[k + 1],
                plan->height[k + 1], width);
#pragma omp simd
    for (int x = 0; x < width; x++) out[x] = spot_blend_mix(m[x], t[x], b[x]) + enlarged[x];
}

/* Row y of the pixels of a composite. */
static void put_row(void *out, spot_pixel_kind kind, const blend_lane *lane, int width, int y)
{
    const size_t at = 3 * (size_t)y * (size_t)width;
    const float *restrict row = lane->row, *restrict red = row, *restrict green = row + width, *restrict blue = row + 2 * width;

    if (kind == SPOT_PIXEL_BYTES) {
        uint8_t *restrict to = (uint8_t *)out + at, *restrict byte = lane->byte;
#pragma omp simd
        for (int i = 0; i < 3 * width; i++) byte[i] = spot_blend_byte(row[i]);
        for (int x = 0; x < width; x++) {
            to[3 * x] = byte[x];
            to[3 * x + 1] = byte[width + x];
            to[3 * x + 2] = byte[2 * width + x];
        }
    } else {
        float *restrict to = (float *)out + at;
        for (int x = 0; x < width; x++) {
            to[3 * x] = spot_blend_limit(red[x], 1);
            to[3 * x + 1] = spot_blend_limit(green[x], 1);
            to[3 * x + 2] = spot_blend_limit(blue[x], 1);
        }
    }
}

static void blend_pair(const float *planes, const spot_blend *p, const spot_blend_plan *plan, int i, const blend_lane *lane)
{
    const spot_blend_pair pair = p->pair[i];
    const blend_planes of = { planes + plan->floats * spot_blend_plane_of_mask(p, pair.target),
                              planes + plan->floats * 3 * (size_t)pair.target,
                              planes + plan->floats * spot_blend_plane_of_background(p, pair.background) };
    const size_t bytes = 3 * (size_t)p->width * (size_t)p->height * (p->pixels == SPOT_PIXEL_BYTES ? 1 : sizeof(float));
    const size_t rest = spot_blend_rest(plan);

    for (int k = plan->levels - 1; k > 0; k--)
        for (int channel = 0; channel < 3; channel++)
            for (int y = 0; y < plan->height[k]; y++)
                blend_row(lane->rest + (size_t)channel * rest + plan->at[k] - plan->at[1] + (size_t)y * (size_t)plan->width[k], &of,
                          plan, lane, k, channel, y);
    for (int y = 0; y < p->height; y++) {
        for (int channel = 0; channel < 3; channel++)
            blend_row(lane->row + (size_t)channel * (size_t)p->width, &of, plan, lane, 0, channel, y);
        put_row((char *)p->out + bytes * (size_t)i, p->pixels, lane, p->width, y);
    }
}

/* -- the op ---------------------------------------------------------------------------------------------------------- */

static size_t plane_floats(const spot_blend *p, const spot_blend_plan *plan)
{
    return plan->floats * spot_blend_planes(p);
}

static size_t most_lane_floats(int problems, const spot_blend *p)
{
    size_t most = 0;

    for (int q = 0; q < problems; q++) {
        const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
        const size_t lane = lane_floats(&p[q], &plan);
        most = lane > most ? lane : most;
    }
    return most;
}

size_t spot_blend_scratch(int problems, const spot_blend *p, int threads)
{
    size_t floats = most_lane_floats(problems, p) * (size_t)threads;

    for (int q = 0; q < problems; q++) {
        const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
        floats += plane_floats(&p[q], &plan) + (threads ? 0 : 3 * spot_blend_rest(&plan) * (size_t)p[q].pairs);
    }
    return sizeof(float) * floats;
}

static spot_status pairs_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_blend *p)
{
    const size_t mark = scratch->used, each = most_lane_floats(problems, p);
    float *room;

    SPOT_TRY(SPOT_TAKE(c, scratch, room, spot_blend_scratch(problems, p, c->threads) / sizeof *room));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
#pragma omp parallel num_threads(c->threads)
    for (int pass = 0; pass < 2; pass++) {
        float *own = room + each * (size_t)omp_get_thread_num(), *planes = room + each * (size_t)c->threads;
        for (int q = 0; q < problems; q++) {
            const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
            const blend_lane lane = lane_at(own, &p[q]);
            const int jobs = pass ? p[q].pairs : 2 * p[q].targets + p[q].backgrounds;
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < jobs; i++) {
                if (pass) blend_pair(planes, &p[q], &plan, i, &lane);
                else      build_picture(planes, &p[q], &plan, i, &lane);
            }
            planes += plane_floats(&p[q], &plan);
        }
#pragma omp barrier
    }
    return SPOT_OK;
}

const spot_blend_ops spot_blend_cpu = { .pairs = pairs_cpu };

static spot_status check_blend(spot_ctx *c, int q, const spot_blend *p)
{
    if (p->width < 1 || p->width > SPOT_BLEND_SIDE || p->height < 1 || p->height > SPOT_BLEND_SIDE || p->levels < 1
        || p->levels > SPOT_BLEND_LEVELS)
        return spot_fail(c, SPOT_INVALID, "blend.pairs, problem %d: %d x %d pixels in %d levels; from 1 to %d pixels a side, "
                         "from 1 to %d levels", q, p->width, p->height, p->levels, SPOT_BLEND_SIDE, SPOT_BLEND_LEVELS);
    if (p->targets < 0 || p->backgrounds < 0 || p->pairs < 0 || p->targets > SPOT_BLEND_PICTURES
        || p->backgrounds > SPOT_BLEND_PICTURES || (unsigned)p->pixels >= SPOT_PIXEL_KINDS
        || (unsigned)p->alphas >= SPOT_PIXEL_KINDS)
        return spot_fail(c, SPOT_INVALID, "blend.pairs, problem %d: %d pairs of %d targets and %d backgrounds, kinds %d and %d; "
                         "at most %d of each", q, p->pairs, p->targets, p->backgrounds, (int)p->pixels, (int)p->alphas,
                         SPOT_BLEND_PICTURES);
    for (int i = 0; i < p->pairs; i++)
        if (p->pair[i].target < 0 || p->pair[i].target >= p->targets || p->pair[i].background < 0
            || p->pair[i].background >= p->backgrounds)
            return spot_fail(c, SPOT_INVALID, "blend.pairs, problem %d: pair %d is target %d of %d with background %d of %d", q, i,
                             p->pair[i].target, p->targets, p->pair[i].background, p->backgrounds);
    return SPOT_OK;
}

spot_status spot_blend_pairs(spot_ctx *c, spot_arena *scratch, int problems, const spot_blend *p)
{
    for (int q = 0; q < problems; q++) SPOT_TRY(check_blend(c, q, &p[q]));
    SPOT_DISPATCH(c, blend, pairs, scratch, problems, p);
}
