/* blend.c - composites on the CPU: a picture's pyramid to a thread, then a pair to a thread. Rows are worked on in vectors. */
#include "image/blend.h"

#include <omp.h>
#include <string.h>

#include "image/blend_cpu.h"

enum { AHEAD = 4, LINE = 64 };             /* rows; bytes of a line of the cache */

/* -- pairs ----------------------------------------------------------------------------------------------------------- */

typedef struct { const void *mask, *target, *background; } blend_planes;      /* (1, floats), (3, floats), (3, floats) */

/* A row of a composite. at: its first number in a plane. */
typedef struct { int width; size_t at; bool whole; } blend_row;

/* Numbers of a mask, from 0 to 1: where they lie, or in room. */
static const float *mask_row(float *restrict room, const void *mask, const blend_row *row)
{
    const uint16_t *restrict v = (const uint16_t *)mask + row->at;

    if (!row->whole) return (const float *)mask + row->at;
#pragma omp simd
    for (int x = 0; x < row->width; x++) room[x] = (float)v[x] * (1.0f / SPOT_BLEND_MASK_UNIT);
    return room;
}

/* Asks for a row of `planes` planes ahead of its use. */
static void ask_for_row(const spot_blend_work *w, const void *plane, int planes, const blend_row *row)
{
    const size_t number = row->whole ? sizeof(int16_t) : sizeof(float), bytes = (size_t)row->width * number;
    const char *from = (const char *)plane + (row->at + (size_t)AHEAD * (size_t)row->width) * number;

    for (int c = 0; c < planes; c++, from += w->plan->floats * number)
        for (size_t e = 0; e < bytes; e += LINE) __builtin_prefetch(from + e);
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

/* Row y of level k: what is enlarged from the level behind it, or 0. Returns the mask. */
static const float *begin_row(const spot_blend_work *w, const spot_blend_lane *lane, const blend_planes *of, int k, int y,
                              const blend_row *row)
{
    const spot_blend_plan *plan = w->plan;
    const size_t width = (size_t)row->width;

    if (k + 1 < plan->levels) {
        const float *from = lane->rest + plan->at[k + 1] - plan->at[1];
        for (int c = 0; c < 3; c++)
            spot_blend_enlarge_column(lane->column + (size_t)c * lane->step, from + (size_t)c * spot_blend_rest(plan), y,
                                      plan->width[k + 1], plan->height[k + 1]);
        for (int c = 0; c < 3; c++)
            spot_blend_enlarge_row(lane->enlarged + (size_t)c * width, lane->column + (size_t)c * lane->step,
                                   plan->width[k + 1], row->width);
    } else {
        memset(lane->enlarged, 0, 3 * width * sizeof *lane->enlarged);
    }
    ask_for_row(w, spot_blend_by_target(w->p) ? of->background : of->target, 3, row);
    if (!spot_blend_by_target(w->p)) ask_for_row(w, of->mask, 1, row);
    return mask_row(lane->mask, of->mask, row);
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
static void blend_rest(const spot_blend_work *w, const spot_blend_lane *lane, const blend_planes *of)
{
    const spot_blend_plan *plan = w->plan;

    for (int k = plan->levels - 1; k > 0; k--)
        for (int y = 0; y < plan->height[k]; y++) {
            blend_row row = { plan->width[k], plan->at[k] + (size_t)y * (size_t)plan->width[k], w->whole };
            float *out = lane->rest + row.at - plan->at[1];
            const float *mask = begin_row(w, lane, of, k, y, &row);
            for (int c = 0; c < 3; c++, row.at += plan->floats, out += spot_blend_rest(plan))
                mix_row(out, mask, lane->enlarged + c * row.width, of->target, of->background, &row);
        }
}

static void blend_pair(const spot_blend_work *w, const spot_blend_lane *lane, int i)
{
    const spot_blend *p = w->p;
    const spot_blend_plan *plan = w->plan;
    const blend_planes of = { spot_blend_plane_at(w, spot_blend_plane_of_mask(p, p->pair[i].target)),
                              spot_blend_plane_at(w, 3 * (size_t)p->pair[i].target),
                              spot_blend_plane_at(w, spot_blend_plane_of_background(p, p->pair[i].background)) };
    const size_t line = 3 * (size_t)p->width, first = line * (size_t)p->height * (size_t)i;

    blend_rest(w, lane, &of);
    for (int y = 0; y < p->height; y++) {
        blend_row row = { p->width, (size_t)y * (size_t)p->width, w->whole };
        const float *mask = begin_row(w, lane, &of, 0, y, &row);
        for (int c = 0; c < 3; c++, row.at += plan->floats) {
            const float *enlarged = lane->enlarged + c * p->width;
            if (w->whole) mix_bytes(lane->byte + c * p->width, mask, enlarged, of.target, of.background, &row);
            else          mix_row(lane->row + c * p->width, mask, enlarged, of.target, of.background, &row);
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
        const size_t floats = spot_blend_lane_floats(&p[q], &plan);
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
        bytes += spot_blend_plane_bytes(&p[q], &plan) + spot_blend_order_bytes(&p[q]);
    }
    return bytes;
}

/* order (pairs): pairs of the same target beside each other, or of the same background where there are more of these. So the
 * pyramids of the more numerous pictures come from memory once, and those of the others stay in the last cache. first (pictures
 * + 1) is scratch. */
static void sort_pairs(int32_t *order, int32_t *first, const spot_blend *p)
{
    const bool target = spot_blend_by_target(p);
    const int pictures = target ? p->targets : p->backgrounds;

    memset(first, 0, ((size_t)pictures + 1) * sizeof *first);
    for (int i = 0; i < p->pairs; i++) first[(target ? p->pair[i].target : p->pair[i].background) + 1]++;
    for (int i = 0; i < pictures; i++) first[i + 1] += first[i];
    for (int i = 0; i < p->pairs; i++) order[first[target ? p->pair[i].target : p->pair[i].background]++] = i;
}

static spot_status pairs_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_blend *p)
{
    const size_t mark = scratch->used, each = most_lane_floats(problems, p);
    float *room;

    SPOT_TRY(SPOT_TAKE(c, scratch, room, spot_blend_scratch(problems, p, c->threads) / sizeof *room));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    char *at = (char *)(room + each * (size_t)c->threads);
    for (int q = 0; q < problems; q++) {
        const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
        int32_t *order = (int32_t *)(void *)(at + spot_blend_plane_bytes(&p[q], &plan));
        sort_pairs(order, order + p[q].pairs, &p[q]);
        at = (char *)order + spot_blend_order_bytes(&p[q]);
    }
#pragma omp parallel num_threads(c->threads)
    for (int pass = 0; pass < 2; pass++) {
        char *planes = (char *)(room + each * (size_t)c->threads);
        for (int q = 0; q < problems; q++) {
            const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
            const spot_blend_work work = { &p[q], &plan, planes, p[q].pixels == SPOT_PIXEL_BYTES };
            const spot_blend_lane lane = spot_blend_lane_at(room + each * (size_t)omp_get_thread_num(), &p[q], &plan);
            const int32_t *order = (const int32_t *)(const void *)(planes + spot_blend_plane_bytes(&p[q], &plan));
            const int jobs = pass || !p[q].pairs ? p[q].pairs : 2 * p[q].targets + p[q].backgrounds;
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < jobs; i++) {
                if (pass) blend_pair(&work, &lane, order[i]);
                else      spot_blend_build_picture(&work, &lane, i);
            }
            planes += spot_blend_plane_bytes(&p[q], &plan) + spot_blend_order_bytes(&p[q]);
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
        return spot_fail(c, SPOT_INVALID, "{blend.sizes} blend.pairs, problem %d: %d x %d pixels in %d levels; from 1 to %d "
                         "pixels a side, from 1 to %d levels",
                         q, p->width, p->height, p->levels, SPOT_BLEND_SIDE, SPOT_BLEND_LEVELS);
    if (p->targets < 0 || p->backgrounds < 0 || p->pairs < 0 || p->targets > SPOT_BLEND_PICTURES
        || p->backgrounds > SPOT_BLEND_PICTURES || (unsigned)p->pixels >= SPOT_PIXEL_KINDS
        || (unsigned)p->alphas >= SPOT_PIXEL_KINDS)
        return spot_fail(c, SPOT_INVALID, "{blend.counts} blend.pairs, problem %d: %d pairs of %d targets and %d backgrounds, "
                         "kinds %d and %d; at most %d of each", q, p->pairs, p->targets, p->backgrounds, (int)p->pixels,
                         (int)p->alphas, SPOT_BLEND_PICTURES);
    for (int i = 0; i < p->pairs; i++)
        if (p->pair[i].target < 0 || p->pair[i].target >= p->targets || p->pair[i].background < 0
            || p->pair[i].background >= p->backgrounds)
            return spot_fail(c, SPOT_INVALID, "{blend.pair} blend.pairs, problem %d: pair %d is target %d of %d with "
                             "background %d of %d", q, i, p->pair[i].target, p->targets, p->pair[i].background, p->backgrounds);
    return SPOT_OK;
}

spot_status spot_blend_pairs(spot_ctx *c, spot_arena *scratch, int problems, const spot_blend *p)
{
    for (int q = 0; q < problems; q++) SPOT_TRY(check_blend(c, q, &p[q]));
    SPOT_DISPATCH(c, blend, pairs, scratch, problems, p);
}
