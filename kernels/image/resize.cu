/* resize.cu - pictures resized on CUDA in three launches for many pictures: weights, lines (rows or columns), squares. A thread
 * owns a weight's output pixel, a pixel of a line, a pixel of a square. */
#include "core/cuda.cuh"
#include "image/resize_step.h"

enum { THREADS = 256, BATCH = 19 };

typedef struct {
    spot_resize_plan plan;
    const uint8_t *rgb;
    uint8_t *out;
    char *scratch;
    int width, crop;
} picture;
typedef spot_batch<picture, BATCH> batch;

/* grid (ceil(crop / 256), 2 axes, pictures) */
static __global__ void __launch_bounds__(THREADS) weigh_kernel(const __grid_constant__ batch all)
{
    const picture *p = &all.of[blockIdx.z];
    const spot_resize_axis *a = blockIdx.y ? &p->plan.y : &p->plan.x;
    const int i = blockIdx.x * THREADS + threadIdx.x;

    if (i >= a->count) return;
    spot_resize_weigh(a, i, (int *)(p->scratch + a->start) + i, (int *)(p->scratch + a->taps) + i,
                      (int32_t *)(p->scratch + a->weight) + (size_t)i * a->most);
}

/* The sum of a pixel: `taps` of them, `step` bytes apart. */
static __device__ void filter_pixel(uint8_t *out, const uint8_t *in, size_t step, const int32_t *weight, int taps)
{
    int32_t r = SPOT_RESIZE_HALF, g = r, b = r;

    for (int k = 0; k < taps; k++, in += step) {
        const int32_t w = weight[k];
        r += w * in[0];
        g += w * in[1];
        b += w * in[2];
    }
    out[0] = spot_resize_rounded(r);
    out[1] = spot_resize_rounded(g);
    out[2] = spot_resize_rounded(b);
}

/* Pixel i of the axis x from a row of the picture or of lines, and of the axis y from a column of them; step: bytes between
 * pixels. `in` begins at source pixel `skipped` of the axis. */
static __device__ void filter_along(uint8_t *out, const uint8_t *in, size_t step, const spot_resize_axis *a, int i, int skipped,
                                    const char *scratch)
{
    filter_pixel(out, in + step * (((const int *)(scratch + a->start))[i] - skipped), step,
                 (const int32_t *)(scratch + a->weight) + (size_t)i * a->most, ((const int *)(scratch + a->taps))[i]);
}

/* The lines, rows filtered along x or columns along y. grid (ceil(lines x pixels / 256), pictures) */
static __global__ void __launch_bounds__(THREADS) lines_kernel(const __grid_constant__ batch all)
{
    const picture *p = &all.of[blockIdx.y];
    const spot_resize_plan *plan = &p->plan;
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x, row = 3 * (size_t)p->width;
    const int wide = plan->y_first ? plan->wide : plan->x.count, r = (int)(e / wide), i = (int)(e % wide);
    uint8_t *out = (uint8_t *)p->scratch + plan->lines + 3 * e;
    const uint8_t *in = p->rgb + row * plan->top + 3 * (size_t)plan->left;

    if (r >= (plan->y_first ? plan->y.count : plan->rows)) return;
    if (plan->y_first) filter_along(out, in + 3 * (size_t)i, row, &plan->y, r, plan->top, p->scratch);
    else filter_along(out, in + row * r, 3, &plan->x, i, plan->left, p->scratch);
}

/* grid (ceil(crop x crop / 256), pictures) */
static __global__ void __launch_bounds__(THREADS) squares_kernel(const __grid_constant__ batch all)
{
    const picture *p = &all.of[blockIdx.y];
    const spot_resize_plan *plan = &p->plan;
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const int i = (int)(e / p->crop) - plan->y.pad, j = (int)(e % p->crop) - plan->x.pad;
    const uint8_t *lines = (const uint8_t *)p->scratch + plan->lines;
    uint8_t *out = p->out + 3 * e;

    if (e >= (size_t)p->crop * p->crop) return;
    if (i < 0 || i >= plan->y.count || j < 0 || j >= plan->x.count) {
        out[0] = out[1] = out[2] = 0;
        return;
    }
    if (plan->y_first) filter_along(out, lines + 3 * (size_t)plan->wide * i, 3, &plan->x, j, plan->left, p->scratch);
    else filter_along(out, lines + 3 * (size_t)j, 3 * (size_t)plan->x.count, &plan->y, i, plan->top, p->scratch);
}

static spot_status fit_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_resize *p)
{
    size_t mark = scratch->used, bytes = 0, lines = 0, squares = 0;
    const int crop = SPOT_MOST(problems, p, crop);
    char *room;

    for (int i = 0; i < problems; i++) {
        const spot_resize_plan plan = spot_resize_plan_of(&p[i]);
        bytes += plan.bytes;
        lines = max(lines, plan.y_first ? (size_t)plan.y.count * plan.wide : (size_t)plan.rows * plan.x.count);
        squares = max(squares, (size_t)p[i].crop * p[i].crop);
    }
    SPOT_TRY(SPOT_TAKE(c, scratch, room, bytes));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    for (int i = 0; i < problems; i++)
        SPOT_TRY(spot_cuda_needs_all(c, "resize.fit", { { p[i].rgb, "rgb" }, { p[i].out, "out" } }));
    const auto fill = [=, &room](picture *one, int i) {
        *one = { spot_resize_plan_of(&p[i]), p[i].rgb, p[i].out, room, p[i].width, p[i].crop };
        room += one->plan.bytes;
    };
    return spot_cuda_fill_batches<batch>(problems, fill, [=](auto &all, int count) {
        SPOT_LAUNCH(weigh_kernel, dim3(spot_blocks(crop, THREADS), 2, count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_LAUNCH(lines_kernel, dim3(spot_blocks(lines, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_LAUNCH(squares_kernel, dim3(spot_blocks(squares, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "resize.fit of %d pictures to at most %d pixels a side", count, crop);
    });
}

extern const spot_resize_ops spot_resize_cuda = { .fit = fit_cuda };
