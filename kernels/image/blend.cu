/* blend.cu - composites on CUDA: a launch for each level of all pyramids, and one for each level of up to 256 pairs. A thread
 * owns a pixel of a plane, and of a composite all three channels. */
#include "core/cuda.cuh"
#include "image/blend_step.h"

enum { THREADS = 256, PAIRS = 256, DEEP = 32768 };

/* The pairs of one launch travel as its argument (at most 4 kB). */
typedef struct {
    spot_blend_pair pair[PAIRS];
    const float *planes;
    float *rest;            /* (pairs, 3, floats from level 1 on) */
} batch;

/* Level k, with where it begins in a plane and in a composite's rest, and the level behind it. */
typedef struct {
    int    width, height, wide, high;
    size_t at, next, floats, rest, out_at, out_next;
    bool   last;
} level;

static level level_of(const spot_blend_plan *plan, int k)
{
    const bool last = k + 1 == plan->levels;
    const int next = last ? k : k + 1;
    level l = { plan->width[k], plan->height[k], plan->width[next], plan->height[next], plan->at[k], plan->at[next], plan->floats,
                spot_blend_rest(plan), 0, 0, last };

    if (k) l.out_at = plan->at[k] - plan->at[1];
    if (next) l.out_next = plan->at[next] - plan->at[1];
    return l;
}

/* Pixel (x, y) of a level from the next one, which is enlarged. */
static __device__ float enlarged(const float *from, const level *l, int x, int y)
{
    const int i = x / 2, j = y / 2;
    const int column[3] = { spot_blend_before(i, l->wide), i, spot_blend_after(i, l->wide) };
    const float *at = from + (size_t)j * l->wide, *after = from + (size_t)spot_blend_after(j, l->high) * l->wide;
    const float *before = from + (size_t)spot_blend_before(j, l->high) * l->wide;
    float v[3];

    for (int t = x % 2; t < 3; t++)
        v[t] = y % 2 ? spot_blend_odd(at[column[t]], after[column[t]])
                     : spot_blend_even(before[column[t]], at[column[t]], after[column[t]]);
    return (x % 2 ? spot_blend_odd(v[1], v[2]) : spot_blend_even(v[0], v[1], v[2])) * (1.0f / 64);
}

static __device__ float number_of(uint8_t v, int channels) { return channels == 1 ? (float)v / 255.0f : (float)v; }
static __device__ float number_of(float v, int)            { return v; }

/* grid (ceil(pixels / 256), pictures or less): level 0 of the planes, `channels` a picture. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) load_kernel(float *plane, size_t floats, const T *from, int channels,
                                                              int pixels, int pictures)
{
    const int e = blockIdx.x * THREADS + threadIdx.x;

    if (e >= pixels) return;
    for (int i = blockIdx.y; i < pictures; i += gridDim.y) {
        const T *pixel = from + channels * ((size_t)i * pixels + e);
        for (int k = 0; k < channels; k++) plane[floats * (channels * (size_t)i + k) + e] = number_of(pixel[k], channels);
    }
}

/* grid (ceil(wide x high / 256), planes or less): the next level of G. */
static __global__ void __launch_bounds__(THREADS) reduce_kernel(float *plane, const __grid_constant__ level l, int planes)
{
    const int e = blockIdx.x * THREADS + threadIdx.x, x = e % l.wide, y = e / l.wide;
    int row[5], column[5];

    if (y >= l.high) return;
    for (int t = 0; t < 5; t++) {
        row[t] = spot_blend_mirror(2 * y + t - 2, l.height) * l.width;
        column[t] = spot_blend_mirror(2 * x + t - 2, l.width);
    }
    for (int i = blockIdx.y; i < planes; i += gridDim.y) {
        const float *from = plane + l.floats * i + l.at;
        float v[5];
        for (int t = 0; t < 5; t++) {
            const float *c = from + column[t];
            v[t] = spot_blend_five(c[row[0]], c[row[1]], c[row[2]], c[row[3]], c[row[4]]);
        }
        plane[l.floats * i + l.next + e] = spot_blend_five(v[0], v[1], v[2], v[3], v[4]) * (1.0f / 256);
    }
}

/* grid (ceil(width x height / 256), planes or less): G becomes L. */
static __global__ void __launch_bounds__(THREADS) subtract_kernel(float *plane, const __grid_constant__ level l, int planes)
{
    const int e = blockIdx.x * THREADS + threadIdx.x, x = e % l.width, y = e / l.width;

    if (y >= l.height) return;
    for (int i = blockIdx.y; i < planes; i += gridDim.y) {
        float *own = plane + l.floats * i;
        own[l.at + e] -= enlarged(own + l.next, &l, x, y);
    }
}

static __device__ void put_number(uint8_t *to, float v) { *to = spot_blend_byte(v); }
static __device__ void put_number(float *to, float v)   { *to = spot_blend_limit(v, 1); }

/* grid (ceil(width x height / 256), pairs of this launch): a level of the composites; with `out`, their pixels. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) blend_kernel(const __grid_constant__ batch all, const __grid_constant__ level l,
                                                               int targets, int backgrounds, T *out)
{
    const int e = blockIdx.x * THREADS + threadIdx.x, x = e % l.width, y = e / l.width, i = blockIdx.y;
    const spot_blend_pair pair = all.pair[i];
    const float *mask = all.planes + l.floats * (3 * ((size_t)targets + backgrounds) + pair.target) + l.at;
    const float *target = all.planes + l.floats * 3 * pair.target + l.at;
    const float *background = all.planes + l.floats * 3 * ((size_t)targets + pair.background) + l.at;
    float *own = all.rest + 3 * l.rest * i;

    if (y >= l.height) return;
    for (int k = 0; k < 3; k++, own += l.rest, target += l.floats, background += l.floats) {
        float v = spot_blend_mix(mask[e], target[e], background[e]);
        if (!l.last) v += enlarged(own + l.out_next, &l, x, y);
        if (out) put_number(out + 3 * ((size_t)i * l.width * l.height + e) + k, v);
        else own[l.out_at + e] = v;
    }
}

static int many(int rows) { return min(rows, (int)DEEP); }

template <typename T>
static spot_status load_planes(spot_ctx *c, float *plane, const spot_blend_plan *plan, const void *from, int channels, int pictures)
{
    const int pixels = plan->width[0] * plan->height[0];

    if (!pictures) return SPOT_OK;
    SPOT_LAUNCH(load_kernel<T>, dim3(spot_blocks(pixels, THREADS), many(pictures)), THREADS, 0, spot_cuda_stream(c), plane,
                plan->floats, (const T *)from, channels, pixels, pictures);
    return spot_cuda_launched(c, "blend.pairs: %d pictures of %d pixels", pictures, pixels);
}

static spot_status load_pictures(spot_ctx *c, float *planes, const spot_blend *p, const spot_blend_plan *plan)
{
    const auto pictures = p->pixels == SPOT_PIXEL_BYTES ? load_planes<uint8_t> : load_planes<float>;
    const auto masks = p->alphas == SPOT_PIXEL_BYTES ? load_planes<uint8_t> : load_planes<float>;

    SPOT_TRY(pictures(c, planes, plan, p->target, 3, p->targets));
    SPOT_TRY(pictures(c, planes + plan->floats * spot_blend_plane_of_background(p, 0), plan, p->background, 3, p->backgrounds));
    return masks(c, planes + plan->floats * spot_blend_plane_of_mask(p, 0), plan, p->mask, 1, p->targets);
}

static spot_status build_planes(spot_ctx *c, float *planes, const spot_blend *p, const spot_blend_plan *plan)
{
    const int all = (int)spot_blend_planes(p), pictures = (int)spot_blend_plane_of_mask(p, 0);

    SPOT_TRY(load_pictures(c, planes, p, plan));
    for (int k = 0; k + 1 < plan->levels; k++) {
        const level l = level_of(plan, k);
        SPOT_LAUNCH(reduce_kernel, dim3(spot_blocks((size_t)l.wide * l.high, THREADS), many(all)), THREADS, 0,
                    spot_cuda_stream(c), planes, l, all);
    }
    for (int k = 0; k + 1 < plan->levels; k++) {
        const level l = level_of(plan, k);
        SPOT_LAUNCH(subtract_kernel, dim3(spot_blocks((size_t)l.width * l.height, THREADS), many(pictures)), THREADS, 0,
                    spot_cuda_stream(c), planes, l, pictures);
    }
    return spot_cuda_launched(c, "blend.pairs: %d levels of %d planes, %d x %d pixels", plan->levels, all, p->width, p->height);
}

/* Pairs first, ..., at most 256 of them, from the last level to the first. */
template <typename T>
static spot_status blend_batch(spot_ctx *c, const float *planes, float *rest, const spot_blend *p, const spot_blend_plan *plan,
                               int first)
{
    const int count = min((int)PAIRS, p->pairs - first);
    batch all;

    memset(&all, 0, sizeof all);
    memcpy(all.pair, p->pair + first, count * sizeof *all.pair);
    all.planes = planes;
    all.rest = rest + 3 * spot_blend_rest(plan) * first;
    for (int k = plan->levels - 1; k >= 0; k--) {
        const level l = level_of(plan, k);
        const size_t pixels = (size_t)l.width * l.height;
        SPOT_LAUNCH(blend_kernel<T>, dim3(spot_blocks(pixels, THREADS), count), THREADS, 0, spot_cuda_stream(c), all, l,
                    p->targets, p->backgrounds, k ? NULL : (T *)p->out + 3 * pixels * first);
    }
    return spot_cuda_launched(c, "blend.pairs: %d composites of %d x %d pixels", count, p->width, p->height);
}

static spot_status blend_problem(spot_ctx *c, float *planes, const spot_blend *p, const spot_blend_plan *plan)
{
    const auto one = p->pixels == SPOT_PIXEL_BYTES ? blend_batch<uint8_t> : blend_batch<float>;
    float *rest = planes + plan->floats * spot_blend_planes(p);

    SPOT_TRY(build_planes(c, planes, p, plan));
    for (int first = 0; first < p->pairs; first += PAIRS) SPOT_TRY(one(c, planes, rest, p, plan, first));
    return SPOT_OK;
}

static spot_status pairs_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_blend *p)
{
    size_t mark = scratch->used, floats = 0;
    float *room;

    for (int q = 0; q < problems; q++) {
        const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
        floats += plan.floats * spot_blend_planes(&p[q]) + 3 * spot_blend_rest(&plan) * p[q].pairs;
    }
    SPOT_TRY(SPOT_TAKE(c, scratch, room, floats));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    for (int q = 0; q < problems; q++) {
        const spot_blend_plan plan = spot_blend_plan_of(&p[q]);
        if (!p[q].pairs) continue;
        SPOT_TRY(spot_cuda_needs_all(c, "blend.pairs", { { p[q].target, "target" }, { p[q].mask, "mask" },
                                     { p[q].background, "background" }, { p[q].out, "out" } }));
        SPOT_TRY(blend_problem(c, room, &p[q], &plan));
    }
    return SPOT_OK;
}

extern const spot_blend_ops spot_blend_cuda = { .pairs = pairs_cuda };
