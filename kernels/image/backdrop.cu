/* backdrop.cu - pictures without their objects on CUDA: a block finds a picture's box; else a thread owns a pixel. */
#include "core/cuda.cuh"
#include "image/backdrop_step.h"

enum { THREADS = 256, DEEP = 32768 };

/* grid (pictures): the box of each. */
static __global__ void __launch_bounds__(THREADS) box_kernel(const __grid_constant__ spot_backdrop p)
{
    SPOT_SHARED(spot_backdrop_rect, part, THREADS);
    const int t = threadIdx.x, pixels = p.width * p.height;
    const uint8_t *mask = p.mask + (size_t)pixels * blockIdx.x;
    spot_backdrop_rect box = { p.width, p.height, 0, 0 };

    for (int e = t; e < pixels; e += THREADS) {
        const int x = e % p.width, y = e / p.width;
        if (mask[e] < p.least) continue;
        box = { min(x, box.x), min(y, box.y), max(x + 1, box.right), max(y + 1, box.bottom) };
    }
    part[t] = box;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (t >= half) continue;
        const spot_backdrop_rect a = part[t], b = part[t + half];
        part[t] = { min(a.x, b.x), min(a.y, b.y), max(a.right, b.right), max(a.bottom, b.bottom) };
    }
    if (t) return;
    box = part[0];
    if (!box.bottom) box = { 0, 0, 0, 0 };
    int *out = p.box + 4 * (size_t)blockIdx.x;
    out[0] = box.x, out[1] = box.y, out[2] = box.right, out[3] = box.bottom;
}

/* grid (ceil(pixels / 256), pictures or less): all kinds but BLURRED. */
static __global__ void __launch_bounds__(THREADS) make_kernel(const __grid_constant__ spot_backdrop p)
{
    const int e = blockIdx.x * THREADS + threadIdx.x;
    const size_t pixels = (size_t)p.width * p.height;

    if (e >= (int)pixels) return;
    for (int i = blockIdx.y; i < p.pictures; i += gridDim.y) {
        const size_t at = pixels * i + e;
        uint8_t *out = p.out + 3 * at;
        if (p.kind == SPOT_BACKDROP_PLAIN) {
            for (int k = 0; k < 3; k++) out[k] = p.colour[k];
        } else if (p.kind == SPOT_BACKDROP_NOISE) {
            spot_backdrop_noise(out, &p, p.colour, i, e);
        } else if (p.kind == SPOT_BACKDROP_NOISE_ON || p.kind == SPOT_BACKDROP_NOISE_OFF) {
            const uint8_t *rgb = p.rgb + 3 * at;
            if (!spot_backdrop_is_still(&p, p.mask[at])) spot_backdrop_noise(out, &p, rgb, i, e);
            else for (int k = 0; k < 3; k++) out[k] = rgb[k];
        } else if (p.kind == SPOT_BACKDROP_CUT) {
            spot_backdrop_cut(out, &p, p.rgb + 3 * at, p.mask[at]);
        } else {
            const int *b = p.box + 4 * (size_t)i;
            const spot_backdrop_rect box = { b[0], b[1], b[2], b[3] };
            spot_backdrop_fill(out, &p, p.rgb + 3 * pixels * i, box, spot_backdrop_tile(box, p.width, p.height), e % p.width,
                               e / p.width);
        }
    }
}

/* The same grid: along rows, into filtered (pictures, height, width, 4). */
static __global__ void __launch_bounds__(THREADS) blur_rows_kernel(float4 *filtered, const __grid_constant__ spot_backdrop p,
                                                                   const __grid_constant__ spot_backdrop_blur b)
{
    const int e = blockIdx.x * THREADS + threadIdx.x, x = e % p.width;
    const size_t pixels = (size_t)p.width * p.height;

    if (e >= (int)pixels) return;
    for (int i = blockIdx.y; i < p.pictures; i += gridDim.y) {
        float4 sum = make_float4(0, 0, 0, 0);
        for (int t = max(-b.reach, -x); t <= b.reach && x + t < p.width; t++) {
            const size_t at = pixels * i + e + t;
            const float w = b.weight[abs(t)];
            if (p.mask[at] >= p.least) continue;
            const uint8_t *v = p.rgb + 3 * at;
            sum = make_float4(fmaf(w, v[0], sum.x), fmaf(w, v[1], sum.y), fmaf(w, v[2], sum.z), sum.w + w);
        }
        filtered[pixels * i + e] = sum;
    }
}

/* The same grid: along columns, and divided. */
static __global__ void __launch_bounds__(THREADS) blur_columns_kernel(const float4 *filtered,
                                                                      const __grid_constant__ spot_backdrop p,
                                                                      const __grid_constant__ spot_backdrop_blur b)
{
    const int e = blockIdx.x * THREADS + threadIdx.x, y = e / p.width;
    const size_t pixels = (size_t)p.width * p.height;

    if (e >= (int)pixels) return;
    for (int i = blockIdx.y; i < p.pictures; i += gridDim.y) {
        float sum[4] = { 0, 0, 0, 0 };
        for (int t = max(-b.reach, -y); t <= b.reach && y + t < p.height; t++) {
            const float4 v = filtered[pixels * i + e + (ptrdiff_t)t * p.width];
            const float w = b.weight[abs(t)];
            sum[0] = fmaf(w, v.x, sum[0]), sum[1] = fmaf(w, v.y, sum[1]);
            sum[2] = fmaf(w, v.z, sum[2]), sum[3] = fmaf(w, v.w, sum[3]);
        }
        spot_backdrop_mean(p.out + 3 * (pixels * i + e), &p, sum);
    }
}

static spot_status check_arrays(spot_ctx *c, const spot_backdrop *p)
{
    const bool boxed = p->kind == SPOT_BACKDROP_BOX || p->kind == SPOT_BACKDROP_TILED;

    SPOT_TRY(spot_cuda_needs(c, p->out, "backdrop.make: out"));
    if (p->kind == SPOT_BACKDROP_PLAIN || p->kind == SPOT_BACKDROP_NOISE) return SPOT_OK;
    SPOT_TRY(spot_cuda_needs_all(c, "backdrop.make", { { p->rgb, "rgb" }, { p->mask, "mask" } }));
    return boxed ? spot_cuda_needs(c, p->box, "backdrop.make: box") : SPOT_OK;
}

static spot_status make_problem(spot_ctx *c, float4 *room, const spot_backdrop *p)
{
    const dim3 grid(spot_blocks((size_t)p->width * p->height, THREADS), min(p->pictures, (int)DEEP));
    const cudaStream_t stream = spot_cuda_stream(c);

    SPOT_TRY(check_arrays(c, p));
    if (p->kind == SPOT_BACKDROP_BLURRED) {
        const spot_backdrop_blur b = spot_backdrop_blur_of(p->sigma);
        SPOT_LAUNCH(blur_rows_kernel, grid, THREADS, 0, stream, room, *p, b);
        SPOT_LAUNCH(blur_columns_kernel, grid, THREADS, 0, stream, room, *p, b);
    } else {
        if (p->kind == SPOT_BACKDROP_BOX || p->kind == SPOT_BACKDROP_TILED)
            SPOT_LAUNCH(box_kernel, dim3(p->pictures), THREADS, 0, stream, *p);
        SPOT_LAUNCH(make_kernel, grid, THREADS, 0, stream, *p);
    }
    return spot_cuda_launched(c, "backdrop.make of %d pictures, %d x %d pixels", p->pictures, p->width, p->height);
}

static spot_status make_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_backdrop *p)
{
    size_t mark = scratch->used, floats = 0;
    float *room;

    for (int q = 0; q < problems; q++) floats = max(floats, spot_backdrop_device_floats(&p[q]));
    SPOT_TRY(SPOT_TAKE(c, scratch, room, floats));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    for (int q = 0; q < problems; q++)
        if (p[q].pictures) SPOT_TRY(make_problem(c, (float4 *)room, &p[q]));
    return SPOT_OK;
}

extern const spot_backdrop_ops spot_backdrop_cuda = { .make = make_cuda };
