/* blend_planes.c - the pyramids of pictures and masks on the CPU. */
#include <string.h>

#include "image/blend_cpu.h"

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
static void build_plane(void *plane, const spot_blend_work *w, const spot_blend_lane *lane, bool is_mask)
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
            spot_blend_enlarge_column(lane->column, g + plan->at[k + 1], y, plan->width[k + 1], plan->height[k + 1]);
            spot_blend_enlarge_row(lane->enlarged, lane->column, plan->width[k + 1], plan->width[k]);
            keep_difference(plane, g + at, lane->enlarged, at, plan->width[k], w->whole);
        }
    for (int k = last; k < plan->levels; k++)
        keep_level(plane, g + plan->at[k], plan->at[k], (size_t)plan->width[k] * (size_t)plan->height[k], w->whole);
}

void spot_blend_build_picture(const spot_blend_work *w, const spot_blend_lane *lane, int i)
{
    const spot_blend *p = w->p;
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    const bool is_mask = i >= p->targets + p->backgrounds;
    const int channels = is_mask ? 1 : 3;
    const int number = is_mask ? i - p->targets - p->backgrounds : i < p->targets ? i : i - p->targets;
    const spot_pixel_kind kind = is_mask ? p->alphas : p->pixels;
    const size_t bytes = pixels * (size_t)channels * (kind == SPOT_PIXEL_BYTES ? 1 : sizeof(float));
    const char *from = (const char *)(is_mask ? p->mask : i < p->targets ? p->target : p->background) + bytes * (size_t)number;
    const size_t first = is_mask ? spot_blend_plane_of_mask(p, number) : 3 * (size_t)i;

    for (int k = 0; k < channels; k++) {
        if (is_mask) load_mask(lane->plane, from, kind, pixels, w->whole);
        else         load_picture(lane->plane, from, kind, k, pixels);
        build_plane(spot_blend_plane_at(w, first + (size_t)k), w, lane, is_mask);
    }
}
