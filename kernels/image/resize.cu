/* resize.cu - pictures resized on CUDA in three launches for many pictures: weights, rows, columns. A thread owns a weight's
 * output pixel, a pixel of a filtered row, a pixel of a square. */
#include "core/cuda.cuh"
#include "image/resize_step.h"

enum { THREADS = 256, BATCH = 20 };

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

/* grid (ceil(rows x columns / 256), pictures) */
static __global__ void __launch_bounds__(THREADS) rows_kernel(const __grid_constant__ batch all)
{
    const picture *p = &all.of[blockIdx.y];
    const spot_resize_axis *x = &p->plan.x;
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const int r = (int)(e / x->count), i = (int)(e % x->count);

    if (r >= p->plan.rows) return;
    filter_pixel((uint8_t *)p->scratch + p->plan.lines + 3 * e,
                 p->rgb + 3 * ((size_t)p->width * (p->plan.top + r) + ((const int *)(p->scratch + x->start))[i]), 3,
                 (const int32_t *)(p->scratch + x->weight) + (size_t)i * x->most, ((const int *)(p->scratch + x->taps))[i]);
}

/* grid (ceil(crop x crop / 256), pictures) */
static __global__ void __launch_bounds__(THREADS) columns_kernel(const __grid_constant__ batch all)
{
    const picture *p = &all.of[blockIdx.y];
    const spot_resize_axis *y = &p->plan.y;
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x, wide = 3 * (size_t)p->plan.x.count;
    const int i = (int)(e / p->crop) - y->pad, j = (int)(e % p->crop) - p->plan.x.pad;
    uint8_t *out = p->out + 3 * e;

    if (e >= (size_t)p->crop * p->crop) return;
    if (i < 0 || i >= y->count || j < 0 || j >= p->plan.x.count) {
        out[0] = out[1] = out[2] = 0;
        return;
    }
    const int first = ((const int *)(p->scratch + y->start))[i] - p->plan.top;
    filter_pixel(out, (const uint8_t *)p->scratch + p->plan.lines + wide * first + 3 * (size_t)j, wide,
                 (const int32_t *)(p->scratch + y->weight) + (size_t)i * y->most, ((const int *)(p->scratch + y->taps))[i]);
}

static spot_status fit_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_resize *p)
{
    size_t mark = scratch->used, bytes = 0, rows = 0, columns = 0;
    const int crop = SPOT_MOST(problems, p, crop);
    char *room;

    for (int i = 0; i < problems; i++) {
        const spot_resize_plan plan = spot_resize_plan_of(&p[i]);
        bytes += plan.bytes;
        rows = max(rows, (size_t)plan.rows * plan.x.count);
        columns = max(columns, (size_t)p[i].crop * p[i].crop);
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
        SPOT_LAUNCH(rows_kernel, dim3(spot_blocks(rows, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        SPOT_LAUNCH(columns_kernel, dim3(spot_blocks(columns, THREADS), count), THREADS, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "resize.fit of %d pictures to at most %d pixels a side", count, crop);
    });
}

extern const spot_resize_ops spot_resize_cuda = { .fit = fit_cuda };
