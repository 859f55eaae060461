/* blend_cpu.h - a thread's memory, pyramids, and rows that are enlarged, for blend.c and blend_planes.c. */
#ifndef SPOTTER_BLEND_CPU_H
#define SPOTTER_BLEND_CPU_H

#include "core/lanes.h"
#include "image/blend_step.h"

/* A thread's memory: rows of the widest level, one picture's plane, and a composite's levels from 1 on. */
typedef struct {
    float   *column;    /* (3, step): rows that are filtered along columns, with a margin in front and behind */
    float   *enlarged;  /* (3, width) */
    float   *row;       /* (3, width) */
    float   *mask;      /* (width) */
    uint8_t *byte;      /* (3, width) */
    float   *plane;     /* (floats) */
    float   *rest;      /* (3, floats from level 1 on) */
    size_t   step;
} spot_blend_lane;

enum { SPOT_BLEND_MARGIN = 16 };

static inline size_t spot_blend_lane_row(const spot_blend *p) { return ((size_t)p->width + 15) / 16 * 16; }

/* Numbers of a lane. */
static inline size_t spot_blend_lane_floats(const spot_blend *p, const spot_blend_plan *plan)
{
    return 11 * spot_blend_lane_row(p) + 6 * SPOT_BLEND_MARGIN + plan->floats + 3 * spot_blend_rest(plan);
}

static inline spot_blend_lane spot_blend_lane_at(float *room, const spot_blend *p, const spot_blend_plan *plan)
{
    const size_t row = spot_blend_lane_row(p);
    spot_blend_lane lane = { .step = row + 2 * SPOT_BLEND_MARGIN };

    lane.column = room + SPOT_BLEND_MARGIN;
    lane.enlarged = room + 3 * lane.step;
    lane.row = lane.enlarged + 3 * row;
    lane.mask = lane.row + 3 * row;
    lane.byte = (uint8_t *)(lane.mask + row);
    lane.plane = lane.mask + 2 * row;
    lane.rest = lane.plane + plan->floats;
    return lane;
}

/* Pairs are made target by target, or background by background. */
static inline bool spot_blend_by_target(const spot_blend *p) { return p->targets >= p->backgrounds; }

static inline size_t spot_blend_order_bytes(const spot_blend *p)
{
    const size_t pictures = (size_t)(spot_blend_by_target(p) ? p->targets : p->backgrounds);

    return spot_arena_room(((size_t)p->pairs + pictures + 1) * sizeof(int32_t));
}

/* Pictures, backgrounds and masks of a problem. */
typedef struct {
    const spot_blend     *p;
    const spot_blend_plan *plan;
    void *planes;               /* (planes, floats): 16 bits for bytes, else float */
    bool  whole;                /* numbers are whole ones, in 16 bits */
} spot_blend_work;

static inline void *spot_blend_plane_at(const spot_blend_work *w, size_t plane)
{
    return (char *)w->planes + plane * w->plan->floats * (w->whole ? sizeof(uint16_t) : sizeof(float));
}

/* Picture i of a problem to its planes: first the targets, then the backgrounds, then the masks. */
void spot_blend_build_picture(const spot_blend_work *w, const spot_blend_lane *lane, int i);

/* Row y of a level is enlarged from the next one (high, wide) in two steps. Along columns: column (wide). */
static inline void spot_blend_enlarge_column(float *restrict column, const float *from, int y, int wide, int high)
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

/* Along the row: out (width). */
static inline void spot_blend_enlarge_row(float *restrict out, const float *restrict column, int wide, int width)
{
    const int pairs = width / 2;

#pragma omp simd
    for (int x = 0; x < pairs; x++) {
        out[2 * x] = spot_blend_even(column[x - 1], column[x], column[x + 1]) * (1.0f / 64);
        out[2 * x + 1] = spot_blend_odd(column[x], column[x + 1]) * (1.0f / 64);
    }
    if (width % 2) out[width - 1] = spot_blend_even(column[wide - 2], column[wide - 1], column[wide]) * (1.0f / 64);
}

#endif
