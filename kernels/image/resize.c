/* resize.c - pictures resized on the CPU, one to a thread. Sums run along columns of bytes that lie side by
 * side, in vectors. */
#include "image/resize.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "core/lanes.h"
#include "image/resize_step.h"

size_t spot_resize_scratch(int problems, const spot_resize *p, int threads)
{
    size_t most = 0, sum = 0;

    for (int i = 0; i < problems; i++) {
        size_t bytes = spot_resize_plan_of(&p[i]).bytes;
        most = bytes > most ? bytes : most;
        sum += bytes;
    }
    return threads ? most * (size_t)threads : sum;
}

/* -- filters --------------------------------------------------------------------------------------------------------- */

/* 32 rows are filtered together: their bytes of a column lie side by side, in LANES. */
enum { ROWS = SPOT_RESIZE_ROWS, LANES = 3 * ROWS };

typedef uint8_t  bytes16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint32_t words4 __attribute__((vector_size(16), aligned(1), may_alias));

/* out (LANES) = the sum of `taps` vectors of LANES bytes, `pitch` bytes apart. */
static inline void add_taps(uint8_t *restrict out, const uint8_t *restrict in, size_t pitch, const int32_t *weight, int taps)
{
    int32_t sum[LANES];

#pragma omp simd
    for (int j = 0; j < LANES; j++) sum[j] = SPOT_RESIZE_HALF;
    for (int k = 0; k < taps; k++, in += pitch) {
        const int32_t w = weight[k];
#pragma omp simd
        for (int j = 0; j < LANES; j++) sum[j] += w * in[j];
    }
#pragma omp simd
    for (int j = 0; j < LANES; j++) out[j] = spot_resize_rounded(sum[j]);
}

enum { FOUR = 4, NEAR = 16 };          /* rows and pixels that are turned at once; bytes that are read of the pixels of a row */

/* Four pixels of each of four rows, `row` bytes apart -> four lines, `pitch` bytes apart, of four pixels each. NEAR bytes of
 * each row are read. NEAR bytes of each line are put, or, `alone`, those of the pixels. */
static inline void turn_four(uint8_t *to, size_t pitch, const uint8_t *in, size_t row, bool alone)
{
    words4 v[FOUR];

    for (int r = 0; r < FOUR; r++) {
        const bytes16 near = *(const bytes16 *)(in + row * (size_t)r);
        v[r] = (words4)__builtin_shufflevector(near, near, 0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0);
    }
    const words4 a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5), b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    const words4 c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7), d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    v[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5), v[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    v[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5), v[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
    for (int i = 0; i < FOUR; i++) {
        const bytes16 line = __builtin_shufflevector((bytes16)v[i], (bytes16)v[i], 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15,
                                                     15, 15, 15);
        if (alone) memcpy(to + pitch * (size_t)i, &line, 3 * FOUR);
        else       memcpy(to + pitch * (size_t)i, &line, NEAR);
    }
}

/* to (pixels, ...), `pitch` bytes apart: pixels of `rows` rows, `row` bytes apart, beside each other. What is put behind four
 * pixels, the next four replace. */
static void turn(uint8_t *restrict to, size_t pitch, const uint8_t *restrict in, size_t row, int rows, int pixels)
{
    const int fours = rows / FOUR * FOUR, safe = pixels > NEAR / 3 ? (pixels - NEAR / 3 + FOUR - 1) / FOUR * FOUR : 0;

    for (int i = 0; i < safe; i += FOUR)
        for (int r = 0; r < fours; r += FOUR) {
            uint8_t *at = to + pitch * (size_t)i + 3 * r;
            const uint8_t *from = in + row * (size_t)r + 3 * i;
            if (r + 2 * FOUR <= rows) turn_four(at, pitch, from, row, false);
            else                      turn_four(at, pitch, from, row, true);
        }
    for (int i = 0; i < pixels; i++)
        for (int r = i < safe ? fours : 0; r < rows; r++)
            memcpy(to + pitch * (size_t)i + 3 * r, in + row * (size_t)r + 3 * i, 3);
}

/* `rows` rows, `row` bytes apart -> x.count pixels each, `pitch` bytes apart. in: their first needed column; columns
 * (x.columns, LANES). */
static void filter_rows(uint8_t *restrict line, size_t pitch, const uint8_t *restrict in, size_t row, int rows,
                        const spot_resize_plan *plan, char *scratch)
{
    const spot_resize_axis *x = &plan->x;
    const int *start = (const int *)(const void *)(scratch + x->start), *taps = (const int *)(const void *)(scratch + x->taps);
    const int32_t *weight = (const int32_t *)(const void *)(scratch + x->weight);
    uint8_t *columns = (uint8_t *)scratch + plan->columns;
    uint8_t out[FOUR][LANES + NEAR] = { { 0 } };

    turn(columns, LANES, in, row, rows, plan->wide);
    for (int i = 0; i < x->count; i += FOUR) {
        const int some = x->count - i < FOUR ? x->count - i : FOUR;
        for (int k = 0; k < some; k++, weight += x->most)
            add_taps(out[k], columns + (size_t)(start[i + k] - plan->left) * LANES, LANES, weight, taps[i + k]);
        turn(line + 3 * (size_t)i, pitch, out[0], sizeof out[0], some, rows);
    }
}

/* `taps` lines, `pitch` bytes apart, of `wide` bytes each -> out (wide). */
static void filter_columns(uint8_t *restrict out, const uint8_t *restrict line, size_t pitch, int wide, const int32_t *weight,
                           int taps)
{
    int i = 0;

    for (; i + LANES <= wide; i += LANES) add_taps(out + i, line + i, pitch, weight, taps);
    for (; i < wide; i++) {
        int32_t sum = SPOT_RESIZE_HALF;
        for (int k = 0; k < taps; k++) sum += weight[k] * line[(size_t)k * pitch + (size_t)i];
        out[i] = spot_resize_rounded(sum);
    }
}

static void weigh_axis(const spot_resize_axis *a, char *scratch)
{
    int *start = (int *)(void *)(scratch + a->start), *taps = (int *)(void *)(scratch + a->taps);
    int32_t *weight = (int32_t *)(void *)(scratch + a->weight);

    for (int i = 0; i < a->count; i++) spot_resize_weigh(a, i, start + i, taps + i, weight + (size_t)i * (size_t)a->most);
}

/* y.count lines of the columns that are needed (or filtered): each the sum of rows from `in` on, the first that is needed. */
static void filter_y(uint8_t *out, size_t pitch, const uint8_t *in, size_t row, int wide, const spot_resize_plan *plan,
                     const char *scratch)
{
    const spot_resize_axis *y = &plan->y;
    const int *start = (const int *)(const void *)(scratch + y->start), *taps = (const int *)(const void *)(scratch + y->taps);
    const int32_t *weight = (const int32_t *)(const void *)(scratch + y->weight);

    for (int i = 0; i < y->count; i++)
        filter_columns(out + pitch * (size_t)i, in + row * (size_t)(start[i] - plan->top), row, wide,
                       weight + (size_t)i * (size_t)y->most, taps[i]);
}

static void filter_x(uint8_t *out, size_t pitch, const uint8_t *in, size_t row, int rows, const spot_resize_plan *plan,
                     char *scratch)
{
    for (int r = 0; r < rows; r += ROWS)
        filter_rows(out + pitch * (size_t)r, pitch, in + row * (size_t)r, row, rows - r < ROWS ? rows - r : ROWS, plan,
                    scratch);
}

void spot_resize_one(const spot_resize *p, void *scratch)
{
    const spot_resize_plan plan = spot_resize_plan_of(p);
    const size_t row = 3 * (size_t)p->width, pitch = 3 * (size_t)p->crop;
    const size_t narrow = 3 * (size_t)plan.x.count, wide = 3 * (size_t)plan.wide;
    const uint8_t *in = p->rgb + row * (size_t)plan.top + 3 * (size_t)plan.left;
    uint8_t *line = (uint8_t *)scratch + plan.lines, *out = p->out + pitch * (size_t)plan.y.pad + 3 * (size_t)plan.x.pad;

    weigh_axis(&plan.x, scratch);
    weigh_axis(&plan.y, scratch);
    if (plan.x.count < p->crop || plan.y.count < p->crop) memset(p->out, 0, pitch * (size_t)p->crop);
    if (plan.y_first) {
        filter_y(line, wide, in, row, (int)wide, &plan, scratch);
        filter_x(out, pitch, line, wide, plan.y.count, &plan, scratch);
    } else {
        filter_x(line, narrow, in, row, plan.rows, &plan, scratch);
        filter_y(out, pitch, line, narrow, (int)narrow, &plan, scratch);
    }
}

/* -- the op ---------------------------------------------------------------------------------------------------------- */

static spot_status fit_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_resize *p)
{
    size_t mark = scratch->used, each = spot_resize_scratch(problems, p, 1);
    char *room;

    SPOT_TRY(SPOT_TAKE(c, scratch, room, each * (size_t)c->threads));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int i = 0; i < problems; i++) spot_resize_one(&p[i], room + each * (size_t)omp_get_thread_num());
    return SPOT_OK;
}

const spot_resize_ops spot_resize_cpu = { .fit = fit_cpu };

spot_status spot_resize_fit(spot_ctx *c, spot_arena *scratch, int problems, const spot_resize *p)
{
    for (int i = 0; i < problems; i++) {
        const spot_resize *q = &p[i];
        if (q->width < 1 || q->height < 1 || q->height > SPOT_RESIZE_PIXELS / q->width)
            return spot_fail(c, SPOT_INVALID, "{resize.sizes} resize.fit, picture %d: %d x %d pixels; from 1 to %d", i,
                             q->width, q->height, SPOT_RESIZE_PIXELS);
        if (q->resize < SPOT_RESIZE_SQUASH || q->crop < 1 || q->crop > SPOT_RESIZE_CROP || (unsigned)q->filter >= SPOT_FILTERS)
            return spot_fail(c, SPOT_INVALID, "{resize.fit} resize.fit, picture %d cannot be fit to %d and then %d pixels by "
                             "filter %d", i, q->resize, q->crop, (int)q->filter);
    }
    SPOT_DISPATCH(c, resize, fit, scratch, problems, p);
}
