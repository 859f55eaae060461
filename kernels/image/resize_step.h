/* resize_step.h - the geometry of resize.h, its weights and the layout of its scratch, for C and CUDA. */
#ifndef SPOTTER_RESIZE_STEP_H
#define SPOTTER_RESIZE_STEP_H

#include <math.h>

#include "core/hd.h"
#include "image/resize.h"

enum { SPOT_RESIZE_POINT = 22, SPOT_RESIZE_HALF = 1 << (SPOT_RESIZE_POINT - 1), SPOT_RESIZE_ROWS = 32 };

/* One axis: `from` pixels become `to`; the output has `pad` black pixels, then `count` of them from `first` on. Pixel i of
 * these is the sum of weight[i * most + k] x source pixel start[i] + k, k < taps[i]. */
typedef struct {
    int64_t from, to, first;
    int     pad, count, most;
    int     filter;
    size_t  start, taps, weight;       /* bytes from the beginning of the scratch */
} spot_resize_axis;

/* top, left: the first source row and column that are needed; `rows` and `wide` of them. lines: the rows, filtered along x:
 * (rows, x.count, 3); or, y_first, the columns, filtered along y: (y.count, wide, 3). columns: the CPU's block of rows, by
 * columns: (wide, 32, 3). */
typedef struct {
    spot_resize_axis x, y;
    int    top, rows, left, wide;
    bool   y_first;
    size_t lines, columns, bytes;
} spot_resize_plan;

static inline SPOT_HD double spot_resize_scale(const spot_resize_axis *a) { return (double)a->from / (double)a->to; }

static inline SPOT_HD double spot_resize_stretch(const spot_resize_axis *a)
{
    return a->from > a->to ? spot_resize_scale(a) : 1;
}

static inline SPOT_HD double spot_resize_reach(const spot_resize_axis *a)
{
    return (a->filter == SPOT_BICUBIC ? 2 : 1) * spot_resize_stretch(a);
}

/* The source pixels of output pixel i: from the result to *end - 1. */
static inline SPOT_HD int spot_resize_window(const spot_resize_axis *a, int i, int *end)
{
    double at = ((double)(a->first + i) + 0.5) * spot_resize_scale(a), reach = spot_resize_reach(a);
    double low = at - reach + 0.5, high = at + reach + 0.5;

    *end = high < (double)a->from ? (int)high : (int)a->from;
    return low > 0 ? (int)low : 0;
}

static inline SPOT_HD double spot_resize_kernel(int filter, double x)
{
    const double a = -0.5;

    if (x < 0) x = -x;
    if (filter != SPOT_BICUBIC) return x < 1 ? 1 - x : 0;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* The weights of output pixel i, and its window. Their sum is never 0: the nearest pixel is less than half a width away. */
static inline SPOT_HD void spot_resize_weigh(const spot_resize_axis *a, int i, int *start, int *taps, int32_t *weight)
{
    const double at = ((double)(a->first + i) + 0.5) * spot_resize_scale(a), inverse = 1 / spot_resize_stretch(a);
    int end;
    const int begin = spot_resize_window(a, i, &end);
    double sum = 0;

    for (int k = begin; k < end; k++) sum += spot_resize_kernel(a->filter, (k - at + 0.5) * inverse);
    for (int k = begin; k < end; k++) {
        double w = spot_resize_kernel(a->filter, (k - at + 0.5) * inverse) / sum * (1 << SPOT_RESIZE_POINT);
        weight[k - begin] = (int32_t)(w < 0 ? w - 0.5 : w + 0.5);
    }
    *start = begin;
    *taps = end - begin;
}

static inline SPOT_HD uint8_t spot_resize_rounded(int32_t sum)
{
    sum >>= SPOT_RESIZE_POINT;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* -- layout of the scratch, on the host --------------------------------------------------------------------------------- */

static inline size_t spot_resize_place(size_t *at, size_t bytes)
{
    size_t begin = *at;

    *at += spot_arena_room(bytes);
    return begin;
}

/* The middle of `to` pixels, cropped or padded to `crop`, with torchvision's rounding (half to even when cropping). */
static inline spot_resize_axis spot_resize_middle(int64_t from, int64_t to, int crop, spot_filter filter, size_t *at)
{
    int64_t rest = to - crop, half = rest / 2;
    spot_resize_axis a;

    a.from = from;
    a.to = to;
    a.filter = filter;
    a.first = rest >= 0 ? half + (rest % 2 && half % 2) : 0;
    a.pad = rest >= 0 ? 0 : (int)(-rest / 2);
    a.count = rest >= 0 ? crop : (int)to;
    a.most = (int)ceil(spot_resize_reach(&a)) * 2 + 1;
    a.start = spot_resize_place(at, sizeof(int) * (size_t)a.count);
    a.taps = spot_resize_place(at, sizeof(int) * (size_t)a.count);
    a.weight = spot_resize_place(at, sizeof(int32_t) * (size_t)a.count * (size_t)a.most);
    return a;
}

static inline spot_resize_plan spot_resize_plan_of(const spot_resize *p)
{
    int64_t width = p->width, height = p->height, least = width < height ? width : height, to = p->resize;
    spot_resize_plan plan;
    int end;

    plan.bytes = 0;
    plan.x = spot_resize_middle(width, to < 0 ? p->crop : to ? width * to / least : width, p->crop, p->filter, &plan.bytes);
    plan.y = spot_resize_middle(height, to < 0 ? p->crop : to ? height * to / least : height, p->crop, p->filter, &plan.bytes);
    plan.top = spot_resize_window(&plan.y, 0, &end);
    spot_resize_window(&plan.y, plan.y.count - 1, &end);
    plan.rows = end - plan.top;
    plan.left = spot_resize_window(&plan.x, 0, &end);
    spot_resize_window(&plan.x, plan.x.count - 1, &end);
    plan.wide = end - plan.left;
    plan.y_first = p->pillow == SPOT_PILLOW_13 && plan.y.from > plan.y.to
                && plan.y.from - plan.y.to > 2 * (plan.x.from - plan.x.to);
    plan.lines = spot_resize_place(&plan.bytes, 3 * (plan.y_first ? (size_t)plan.y.count * (size_t)plan.wide
                                                                  : (size_t)plan.rows * (size_t)plan.x.count));
    plan.columns = spot_resize_place(&plan.bytes, (size_t)plan.wide * SPOT_RESIZE_ROWS * 3);
    return plan;
}

#endif
