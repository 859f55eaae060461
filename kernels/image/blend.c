/* blend.c - composites on the CPU: a picture's pyramid to a thread, then a pair to a thread. Rows are worked on in vectors. */
#include "image/blend.h"

#include <omp.h>
#include <string.h>

#include "core/lanes.h"
#include "image/blend_step.h"

/* A thread's memory: rows of the widest level, one picture's plane, and a composite's levels from 1 on. `margin` numbers of a row
 * lie in front of its first pixel. */
typedef struct {
    float   *column;    /* (3, width + 2 margin): rows that are filtered along columns, with two pixels of margin */
    float   *enlarged;  /* (3, width) */
    float   *row;       /* (3, width) */
    float   *mask;      /* (width) */
    uint8_t *byte;      /* (3, width) */
    float   *plane;     /* (floats) */
    float   *rest;      /* (3, floats from level 1 on) */
    size_t   step;      /* numbers of a row of `column` */
} blend_lane;

enum { MARGIN = 16 };

static size_t lane_row(const spot_blend *p) { return ((size_t)p->width + 15) / 16 * 16; }

/* Numbers of a lane. */
static size_t lane_floats(const spot_blend *p, const spot_blend_plan *plan)
{
    return 11 * lane_row(p) + 6 * MARGIN + plan->floats + 3 * spot_blend_rest(plan);
}

static blend_lane lane_at(float *room, const spot_blend *p, const spot_blend_plan *plan)
{
    const size_t row = lane_row(p);
    blend_lane lane = { .step = row + 2 * MARGIN };

    lane.column = room + MARGIN;
    lane.enlarged = room + 3 * lane.step;
    lane.row = lane.enlarged + 3 * row;
    lane.mask = lane.row + 3 * row;
    lane.byte = (uint8_t *)(lane.mask + row);
    lane.plane = lane.mask + 2 * row;
    lane.rest = lane.plane + plan->floats;
    return lane;
}

/* -- rows ------------------------------------------------------------------------------------------------------------ */

/* Row y of a level of `height` rows -> row y / 2 of the next: out ((width + 1) / 2). */
static void reduce_row(float *restrict out, float *restrict column, const float *from, int y, int width, int height, bool whole)
{
    const float *row[5];
    const int half = (width + 1) / 2;

    for (int i = 0; i < 5; i++) row[i] = from + (size_t)spot_blend_mirror(y + i - 2, height) * (size_t)width;
    const float *restrict a = row[0], *restrict b = row[1], *restrict c = row[2], *restrict d = row[3], *restrict e = row[4];
#pragma omp simd
    for (int x = 0; x < width; x++) column[x] = spot_blend_five(a[x], b[x], c[x], d[x], e[x]);
    for (int i = -2; i < 0; i++) column[i] = column[spot_blend_mirror(i, width)];
    for (int i = width; i < width + 2; i++) column[i] = column[spot_blend_mirror(i, width)];
#pragma omp simd
    for (int x = 0; x < half; x++) {
        const float *at = column + 2 * x;
        out[x] = spot_blend_five(at[-2], at[-1], at[0], at[1], at[2]) * (1.0f / 256);
    }
    if (!whole) return;
#pragma omp simd
    for (int x = 0; x < half; x++) out[x] = rintf(out[x]);
}

/* What lies at row y of a level is enlarged from the next one (high, wide), first along columns: column (wide), */
static void enlarge_column(float *restrict column, const float *from, int y, int wide, int high)
{
    const int j = y / 2;
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
}

/* then along the row: out (width). */
static void enlarge_row(float *restrict out, const float *restrict column, int wide, int width)
{
    const int pairs = width / 2;

#pragma omp simd
    for (int x = 0; x < pairs; x++) {
        out[2 * x] = spot_blend_even(column[x - 1], column[x], column[x + 1]) * (1.0f / 64);
        out[2 * x + 1] = spot_blend_odd(column[x], column[x + 1]) * (1.0f / 64);
    }
    if (width % 2) out[width - 1] = spot_blend_even(column[wide - 2], column[wide - 1], column[wide]) * (1.0f / 64);
}

/* -- pyramids -------------------------------------------------------------------------------------------------------- */

/* Pictures, backgrounds and masks of a problem. */
typedef struct {
    const spot_blend     *p;
    const spot_blend_plan *plan;
    void *planes;               /* (planes, floats): 16 bits for bytes, else float */
    bool  whole;                /* numbers are whole ones, in 16 bits */
} blend_work;

static void *plane_at(const blend_work *w, size_t plane)
{
    return (char *)w->planes + plane * w->plan->floats * (w->whole ? sizeof(uint16_t) : sizeof(float));
}

/* Channel `channel` of a picture -> level 0. */
static void load_picture(float *restrict to, const void *from, spot_pixel_kind kind, int channel, size_t pixels)
{
    const float *restrict floats = (const float *)from + channel;
    const uint8_t *restrict bytes = (const uint8_t *)from + channel;

    if (kind == SPOT_PIXEL_FLOATS) for (size_t i = 0; i < pixels; i++) to[i] = floats[3 * i];
    else for (size_t i = 0; i < pixels; i++) to[i] = (float)bytes[3 * i] * SPOT_BLEND_UNIT;
}

static void load_mask(float *restrict to, const void *from, spot_pixel_kind kind, size_t pixels, bool whole)
{
    const float *restrict floats = from;
    const uint8_t *restrict bytes = from;

    if (kind == SPOT_PIXEL_FLOATS) for (size_t i = 0; i < pixels; i++) to[i] = spot_blend_alpha(floats[i]);
    else for (size_t i = 0; i < pixels; i++) to[i] = (float)bytes[i] / 255.0f;
    for (size_t i = 0; i < (whole ? pixels : 0); i++) to[i] = rintf(to[i] * SPOT_BLEND_MASK_UNIT);
}

/* Numbers from `at` on of a level to the plane where they are kept. */
static void keep_level(void *plane, const float *restrict level, size_t at, size_t count, bool whole)
{
    uint16_t *restrict v = (uint16_t *)plane + at;

    if (!whole) memcpy((float *)plane + at, level, count * sizeof *level);
    else for (size_t i = 0; i < count; i++) v[i] = (uint16_t)(int)level[i];
}

/* The same of a row without what is enlarged from the level behind it. */
static void keep_difference(void *plane, const float *restrict row, const float *restrict enlarged, size_t at, int width,
                            bool whole)
{
    if (whole) {
        int16_t *restrict v = (int16_t *)plane + at;
#pragma omp simd
        for (int x = 0; x < width; x++) v[x] = (int16_t)(int)rintf(row[x] - enlarged[x]);
    } else {
        float *restrict v = (float *)plane + at;
#pragma omp simd
        for (int x = 0; x < width; x++) v[x] = row[x] - enlarged[x];
    }
}

/* Level 0 in lane->plane -> all G or all L in `plane`. */
static void build_plane(void *plane, const blend_work *w, const blend_lane *lane, bool is_mask)
{
    const spot_blend_plan *plan = w->plan;
    const int last = is_mask ? 0 : plan->levels - 1;
    float *g = lane->plane;

    for (int k = 1; k < plan->levels; k++)
        for (int y = 0; y < plan->height[k]; y++)
            reduce_row(g + plan->at[k] + (size_t)y * (size_t)plan->width[k], lane->column, g + plan->at[k - 1], 2 * y,
                       plan->width[k - 1], plan->height[k - 1], w->whole);
    for (int k = 0; k < last; k++)
        for (int y = 0; y < plan->height[k]; y++) {
            const size_t at = plan->at[k] + (size_t)y * (size_t)plan->width[k];
            enlarge_column(lane->column, g + plan->at[k + 1], y, plan->width[k + 1], plan->height[k + 1]);
            enlarge_row(lane->enlarged, lane->column, plan->width[k + 1], plan->width[k]);
            keep_difference(plane, g + at, lane->enlarged, at, plan->width[k], w->whole);
        }
    for (int k = last; k < plan->levels; k++)
        keep_level(plane, g + plan->at[k], plan->at[k], (size_t)plan->width[k] * (size_t)plan->height[k], w->whole);
}

/* Picture i of a problem: its targets, then its backgrounds, then its masks. */
static void build_picture(const blend_work *w, const blend_lane *lane, int i)
{
    const spot_blend *p = w->p;
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    const bool is_mask = i >= p->targets + p->backgrounds;
    const int channels = is_mask ? 1 : 3, number = is_mask ? i - p->targets - p->backgrounds : i < p->targets ? i : i - p->targets;
    const spot_pixel_kind kind = is_mask ? p->alphas : p->pixels;
    const size_t bytes = pixels * (size_t)channels * (kind == SPOT_PIXEL_BYTES ? 1 : sizeof(float));
    const char *from = (const char *)(is_mask ? p->mask : i < p->targets ? p->target : p->background) + bytes * (size_t)number;
    const size_t first = is_mask ? spot_blend_plane_of_mask(p, number) : 3 * (size_t)i;

    for (int k = 0; k < channels; k++) {
        if (is_mask) load_mask(lane->plane, from, kind, pixels, w->whole);
        else         load_picture(lane->plane, from, kind, k, pixels);
        build_plane(plane_at(w, first + (size_t)k), w, lane, is_mask);
    }
}

/* -- pairs ----------------------------------------------------------------------------------------------------------- */

typedef struct { const void *mask, *target, *background; } blend_planes;      /* (1, floats), (3, floats), (3, floats) */

/* What is in a row of a composite. at: where it begins in a plane. */
typedef struct { int width; size_t at; bool whole; } blend_row;

/* Numbers of a mask, from 0 to 1. */
static void mask_row(float *restrict out, const void *mask, const blend_row *row)
{
    const uint16_t *restrict v = (const uint16_t *)mask + row->at;

    if (!row->whole) {
        memcpy(out, (const float *)mask + row->at, (size_t)row->width * sizeof *out);
        return;
    }
#pragma omp simd
    for (int x = 0; x < row->width; x++) out[x] = (float)v[x] * (1.0f / SPOT_BLEND_MASK_UNIT);
}

static void mix_row(float *restrict out, const float *restrict mask, const float *restrict enlarged, const void *target,
                    const void *background, const blend_row *row)
{
    if (row->whole) {
        const int16_t *restrict t = (const int16_t *)target + row->at, *restrict b = (const int16_t *)background + row->at;
#pragma omp simd
        for (int x = 0; x < row->width; x++) out[x] = spot_blend_mix(mask[x], t[x], b[x]) + enlarged[x];
    } else {
        const float *restrict t = (const float *)target + row->at, *restrict b = (const float *)background + row->at;
#pragma omp simd
        for (int x = 0; x < row->width; x++) out[x] = spot_blend_mix(mask[x], t[x], b[x]) + enlarged[x];
    }
}

/* The same of 16-bit numbers, straight to bytes. */
static void mix_bytes(uint8_t *restrict out, const float *restrict mask, const float *restrict enlarged, const void *target,
                      const void *background, const blend_row *row)
{
    const int16_t *restrict t = (const int16_t *)target + row->at, *restrict b = (const int16_t *)background + row->at;

#pragma omp simd
    for (int x = 0; x < row->width; x++) out[x] = spot_blend_byte(spot_blend_mix(mask[x], t[x], b[x]) + enlarged[x]);
}

/* Row y of level k: the mask, and what is enlarged from the level behind it, or 0. */
static void begin_row(const blend_work *w, const blend_lane *lane, const void *mask, int k, int y, const blend_row *row)
{
    const spot_blend_plan *plan = w->plan;
    const size_t width = (size_t)row->width;

    if (k + 1 < plan->levels) {
        const float *from = lane->rest + plan->at[k + 1] - plan->at[1];
        for (int c = 0; c < 3; c++)
            enlarge_column(lane->column + (size_t)c * lane->step, from + (size_t)c * spot_blend_rest(plan), y,
                           plan->width[k + 1], plan->height[k + 1]);
        for (int c = 0; c < 3; c++)
            enlarge_row(lane->enlarged + (size_t)c * width, lane->column + (size_t)c * lane->step, plan->width[k + 1],
                        row->width);
    } else {
        memset(lane->enlarged, 0, 3 * width * sizeof *lane->enlarged);
    }
    mask_row(lane->mask, mask, row);
}

/* lane->byte -> a row of pixels. */
static void put_bytes(uint8_t *restrict to, const uint8_t *restrict byte, int width)
{
    for (int x = 0; x < width; x++) {
        to[3 * x] = byte[x];
        to[3 * x + 1] = byte[width + x];
        to[3 * x + 2] = byte[2 * width + x];
    }
}

static void put_floats(float *restrict to, const float *restrict row, int width)
{
    for (int x = 0; x < width; x++) {
        to[3 * x] = spot_blend_limit(row[x]);
        to[3 * x + 1] = spot_blend_limit(row[width + x]);
        to[3 * x + 2] = spot_blend_limit(row[2 * width + x]);
    }
}

/* The levels of a composite from the last to level 1. */
static void blend_rest(const blend_work *w, const blend_lane *lane, const blend_planes *of)
{
    const spot_blend_plan *plan = w->plan;

    for (int k = plan->levels - 1; k > 0; k--)
        for (int y = 0; y < plan->height[k]; y++) {
            blend_row row = { plan->width[k], plan->at[k] + (size_t)y * (size_t)plan->width[k], w->whole };
            float *out = lane->rest + row.at - plan->at[1];
            begin_row(w, lane, of->mask, k, y, &row);
            for (int c = 0; c < 3; c++, row.at += plan->floats, out += spot_blend_rest(plan))
                mix_row(out, lane->mask, lane->enlarged + c * row.width, of->target, of->background, &row);
        }
}

static void blend_pair(const blend_work *w, const blend_lane *lane, int i)
{
    const spot_blend *p = w->p;
    const spot_blend_plan *plan = w->plan;
    const blend_planes of = { plane_at(w, spot_blend_plane_of_mask(p, p->pair[i].target)),
                              plane_at(w, 3 * (size_t)p->pair[i].target),
                              plane_at(w, spot_blend_plane_of_background(p, p->pair[i].background)) };
    const size_t line = 3 * (size_t)p->width, first = line * (size_t)p->height * (size_t)i;

    blend_rest(w, lane, &of);
    for (int y = 0; y < p->height; y++) {
        blend_row row = { p->width, (size_t)y * (size_t)p->width, w->whole };
        begin_row(w, lane, of.mask, 0, y, &row);
        for (int c = 0; c < 3; c++, row.at += plan->floats) {
            const float *enlarged = lane->enlarged + c * p->width;
            if (w->whole) mix_bytes(lane->byte + c * p->width, lane->mask, enlarged, of.target, of.background, &row);
            else          mix_row(lane->row + c * p->width, lane->mask, enlarged, of.target, of.background, &row);
        }
        if (w->whole) put_bytes((uint8_t *)p->out + first + (size_t)y * line, lane->byte, p->width);
        else          put_floats((float *)p->out + first + (size_t)y * line, lane->row, p->width);
    }
}

/* -- the op ---------------------------------------------------------------------------------------------------------- */

static size_t most_lane_floats(int problems, const spot_blend *p)
{
    size_t most = 0;

    for (int q = 0; q < problems; q++) {
        const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
        const size_t floats = lane_floats(&p[q], &plan);
        most = floats > most ? floats : most;
    }
    return most;
}

size_t spot_blend_scratch(int problems, const spot_blend *p, int threads)
{
    size_t bytes = sizeof(float) * most_lane_floats(problems, p) * (size_t)threads;

    if (!threads) return spot_blend_device_bytes(problems, p);
    for (int q = 0; q < problems; q++) {
        const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
        bytes += spot_blend_plane_bytes(&p[q], &plan);
    }
    return bytes;
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
        char *planes = (char *)(room + each * (size_t)c->threads);
        for (int q = 0; q < problems; q++) {
            const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
            const blend_work work = { &p[q], &plan, planes, p[q].pixels == SPOT_PIXEL_BYTES };
            const blend_lane lane = lane_at(room + each * (size_t)omp_get_thread_num(), &p[q], &plan);
            const int jobs = pass ? p[q].pairs : 2 * p[q].targets + p[q].backgrounds;
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < jobs; i++) {
                if (pass) blend_pair(&work, &lane, i);
                else      build_picture(&work, &lane, i);
            }
            planes += spot_blend_plane_bytes(&p[q], &plan);
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
