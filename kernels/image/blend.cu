/* blend.cu - composites on CUDA: a launch for each level of all pyramids, and one for each level of up to 256 pairs. A thread
 * owns a pixel of a plane, and of a composite all three channels. */
#include "core/cuda.cuh"
#include "image/blend_step.h"

enum { THREADS = 256, PAIRS = 256, DEEP = 32768 };

/* The pairs of one launch travel as its argument (at most 4 kB). */
typedef struct { spot_blend_pair pair[PAIRS]; } batch;

/* Level k, where it begins in a plane and in a composite's rest, and the level behind it. */
typedef struct {
    int    width, height, wide, high;
    size_t at, next, floats, rest, out_at, out_next;
    bool   last;
} level;

static level level_of(const spot_blend_plan *plan, int k)
{
    const bool last = k + 1 == plan->levels;
    const int next = last ? k : k + 1;
    level l = { plan->width[k], plan->height[k], plan->width[next], plan->height[next], plan->at[k], plan->at[next],
                plan->floats, spot_blend_rest(plan), 0, 0, last };

    if (k) l.out_at = plan->at[k] - plan->at[1];
    if (next) l.out_next = plan->at[next] - plan->at[1];
    return l;
}

/* The types that keep the numbers of pixels of type T. */
template <typename T> struct kept;
template <> struct kept<uint8_t> { typedef int16_t picture; typedef uint16_t mask; static constexpr bool WHOLE = true; };
template <> struct kept<float>   { typedef float picture;   typedef float mask;    static constexpr bool WHOLE = false; };

static __device__ void keep(int16_t *to, float v)  { *to = (int16_t)(int)rintf(v); }
static __device__ void keep(uint16_t *to, float v) { *to = (uint16_t)(int)rintf(v); }
static __device__ void keep(float *to, float v)    { *to = v; }

/* Pixel (x, y) of a level from the next one, which is enlarged. */
template <typename S> static __device__ float enlarged(const S *from, const level *l, int x, int y)
{
    const int i = x / 2, j = y / 2;
    const int column[3] = { spot_blend_before(i, l->wide), i, spot_blend_after(i, l->wide) };
    const S *at = from + (size_t)j * l->wide, *after = from + (size_t)spot_blend_after(j, l->high) * l->wide;
    const S *before = from + (size_t)spot_blend_before(j, l->high) * l->wide;
    float v[3];

    for (int t = 0; t < 3; t++) {
        const float here = (float)at[column[t]], below = (float)after[column[t]];
        v[t] = y % 2 ? spot_blend_odd(here, below) : spot_blend_even((float)before[column[t]], here, below);
    }
    return (x % 2 ? spot_blend_odd(v[1], v[2]) : spot_blend_even(v[0], v[1], v[2])) * (1.0f / 64);
}

/* grid (ceil(pixels / 256), pictures or less): level 0 of three planes a picture. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) load_pictures_kernel(typename kept<T>::picture *plane, size_t floats,
                                                                       const T *from, int pixels, int pictures)
{
    const int e = blockIdx.x * THREADS + threadIdx.x;

    if (e >= pixels) return;
    for (int i = blockIdx.y; i < pictures; i += gridDim.y)
        for (int k = 0; k < 3; k++)
            keep(&plane[floats * (3 * (size_t)i + k) + e],
                 (float)from[3 * ((size_t)i * pixels + e) + k] * (kept<T>::WHOLE ? SPOT_BLEND_UNIT : 1));
}

static __device__ float alpha_of(uint8_t v) { return (float)v / 255.0f; }
static __device__ float alpha_of(float v)   { return spot_blend_alpha(v); }

/* grid (ceil(pixels / 256), masks or less) */
template <typename T, typename A>
static __global__ void __launch_bounds__(THREADS) load_masks_kernel(typename kept<T>::mask *plane, size_t floats, const A *from,
                                                                    int pixels, int masks)
{
    const int e = blockIdx.x * THREADS + threadIdx.x;

    if (e >= pixels) return;
    for (int i = blockIdx.y; i < masks; i += gridDim.y)
        keep(&plane[floats * i + e], alpha_of(from[(size_t)i * pixels + e]) * (kept<T>::WHOLE ? SPOT_BLEND_MASK_UNIT : 1));
}

/* grid (ceil(wide x high / 256), planes or less): the next level of G. */
template <typename S>
static __global__ void __launch_bounds__(THREADS) reduce_kernel(S *plane, const __grid_constant__ level l, int planes)
{
    const int e = blockIdx.x * THREADS + threadIdx.x, x = e % l.wide, y = e / l.wide;
    int row[5], column[5];

    if (y >= l.high) return;
    for (int t = 0; t < 5; t++) {
        row[t] = spot_blend_mirror(2 * y + t - 2, l.height) * l.width;
        column[t] = spot_blend_mirror(2 * x + t - 2, l.width);
    }
    for (int i = blockIdx.y; i < planes; i += gridDim.y) {
        const S *from = plane + l.floats * i + l.at;
        float v[5];
        for (int t = 0; t < 5; t++) {
            const S *c = from + column[t];
            v[t] = spot_blend_five((float)c[row[0]], (float)c[row[1]], (float)c[row[2]], (float)c[row[3]], (float)c[row[4]]);
        }
        keep(&plane[l.floats * i + l.next + e], spot_blend_five(v[0], v[1], v[2], v[3], v[4]) * (1.0f / 256));
    }
}

/* grid (ceil(width x height / 256), planes or less): G becomes L. */
template <typename S>
static __global__ void __launch_bounds__(THREADS) subtract_kernel(S *plane, const __grid_constant__ level l, int planes)
{
    const int e = blockIdx.x * THREADS + threadIdx.x, x = e % l.width, y = e / l.width;

    if (y >= l.height) return;
    for (int i = blockIdx.y; i < planes; i += gridDim.y) {
        S *own = plane + l.floats * i;
        keep(&own[l.at + e], (float)own[l.at + e] - enlarged(own + l.next, &l, x, y));
    }
}

static __device__ void put_number(uint8_t *to, float v) { *to = spot_blend_byte(v); }
static __device__ void put_number(float *to, float v)   { *to = spot_blend_limit(v); }

/* grid (ceil(width x height / 256), pairs of this launch): a level of the composites; with `out`, their pixels. rest (pairs, 3,
 * floats from level 1 on). */
template <typename T>
static __global__ void __launch_bounds__(THREADS) blend_kernel(T *out, float *rest, const typename kept<T>::picture *targets,
                                                               const typename kept<T>::picture *backgrounds,
                                                               const typename kept<T>::mask *masks,
                                                               const __grid_constant__ level l,
                                                               const __grid_constant__ batch all)
{
    const int e = blockIdx.x * THREADS + threadIdx.x, x = e % l.width, y = e / l.width, i = blockIdx.y;
    const auto *mask = masks + l.floats * all.pair[i].target + l.at;
    const auto *target = targets + l.floats * 3 * all.pair[i].target + l.at;
    const auto *background = backgrounds + l.floats * 3 * all.pair[i].background + l.at;
    float *own = rest + 3 * l.rest * i;

    if (y >= l.height) return;
    const float alpha = (float)mask[e] * (kept<T>::WHOLE ? 1.0f / SPOT_BLEND_MASK_UNIT : 1);
    for (int k = 0; k < 3; k++, own += l.rest, target += l.floats, background += l.floats) {
        const float v = spot_blend_mix(alpha, (float)target[e], (float)background[e]) +
                        (l.last ? 0 : enlarged(own + l.out_next, &l, x, y));
        if (out) put_number(out + 3 * ((size_t)i * l.width * l.height + e) + k, v);
        else own[l.out_at + e] = v;
    }
}

/* -- the op ---------------------------------------------------------------------------------------------------------- */

/* A problem with its pyramids, and the pairs' levels from 1 on. */
template <typename T> struct work {
    const spot_blend *p;
    spot_blend_plan   plan;
    typename kept<T>::picture *targets, *backgrounds;
    typename kept<T>::mask *masks;
    float *rest;
};

static dim3 grid_of(size_t pixels, int rows) { return dim3(spot_blocks(pixels, THREADS), min(rows, (int)DEEP)); }

template <typename T> static spot_status load_planes(spot_ctx *c, const work<T> *w)
{
    const spot_blend *p = w->p;
    const int pixels = p->width * p->height;
    const size_t floats = w->plan.floats;
    const cudaStream_t stream = spot_cuda_stream(c);

    SPOT_LAUNCH(load_pictures_kernel<T>, grid_of(pixels, p->targets), THREADS, 0, stream, w->targets, floats,
                (const T *)p->target, pixels, p->targets);
    SPOT_LAUNCH(load_pictures_kernel<T>, grid_of(pixels, p->backgrounds), THREADS, 0, stream, w->backgrounds, floats,
                (const T *)p->background, pixels, p->backgrounds);
    if (p->alphas == SPOT_PIXEL_BYTES) {
        const auto kernel = load_masks_kernel<T, uint8_t>;
        SPOT_LAUNCH(kernel, grid_of(pixels, p->targets), THREADS, 0, stream, w->masks, floats, (const uint8_t *)p->mask, pixels,
                    p->targets);
    } else {
        const auto kernel = load_masks_kernel<T, float>;
        SPOT_LAUNCH(kernel, grid_of(pixels, p->targets), THREADS, 0, stream, w->masks, floats, (const float *)p->mask, pixels,
                    p->targets);
    }
    return spot_cuda_launched(c, "blend.pairs: %d targets and %d backgrounds of %d pixels", p->targets, p->backgrounds, pixels);
}

template <typename T> static spot_status build_planes(spot_ctx *c, const work<T> *w)
{
    const int pictures = 3 * (w->p->targets + w->p->backgrounds), masks = w->p->targets;
    const cudaStream_t stream = spot_cuda_stream(c);

    for (int k = 0; k + 1 < w->plan.levels; k++) {
        const level l = level_of(&w->plan, k);
        const size_t pixels = (size_t)l.wide * l.high;
        SPOT_LAUNCH(reduce_kernel<typename kept<T>::picture>, grid_of(pixels, pictures), THREADS, 0, stream, w->targets, l,
                    pictures);
        SPOT_LAUNCH(reduce_kernel<typename kept<T>::mask>, grid_of(pixels, masks), THREADS, 0, stream, w->masks, l, masks);
    }
    for (int k = 0; k + 1 < w->plan.levels; k++) {
        const level l = level_of(&w->plan, k);
        SPOT_LAUNCH(subtract_kernel<typename kept<T>::picture>, grid_of((size_t)l.width * l.height, pictures), THREADS, 0,
                    stream, w->targets, l, pictures);
    }
    return spot_cuda_launched(c, "blend.pairs: %d levels of %d planes", w->plan.levels, pictures + masks);
}

/* Pairs first, ..., at most 256 of them, from the last level to the first. */
template <typename T> static spot_status blend_batch(spot_ctx *c, const work<T> *w, int first)
{
    const spot_blend *p = w->p;
    const int count = min((int)PAIRS, p->pairs - first);
    float *rest = w->rest + 3 * spot_blend_rest(&w->plan) * first;
    batch all;

    memset(&all, 0, sizeof all);
    memcpy(all.pair, p->pair + first, count * sizeof *all.pair);
    for (int k = w->plan.levels - 1; k >= 0; k--) {
        const level l = level_of(&w->plan, k);
        const size_t pixels = (size_t)l.width * l.height;
        T *out = k ? NULL : (T *)p->out + 3 * pixels * first;
        SPOT_LAUNCH(blend_kernel<T>, dim3(spot_blocks(pixels, THREADS), count), THREADS, 0, spot_cuda_stream(c), out, rest,
                    w->targets, w->backgrounds, w->masks, l, all);
    }
    return spot_cuda_launched(c, "blend.pairs: %d composites of %d x %d pixels", count, p->width, p->height);
}

template <typename T> static spot_status blend_problem(spot_ctx *c, char *room, const spot_blend *p)
{
    typedef typename kept<T>::picture picture;
    work<T> w;

    w.p = p;
    w.plan = spot_blend_plan_of(p);
    w.targets = (picture *)room;
    w.backgrounds = w.targets + w.plan.floats * spot_blend_plane_of_background(p, 0);
    w.masks = (typename kept<T>::mask *)(w.targets + w.plan.floats * spot_blend_plane_of_mask(p, 0));
    w.rest = (float *)(room + spot_blend_plane_bytes(p, &w.plan));
    SPOT_TRY(load_planes(c, &w));
    SPOT_TRY(build_planes(c, &w));
    for (int first = 0; first < p->pairs; first += PAIRS) SPOT_TRY(blend_batch(c, &w, first));
    return SPOT_OK;
}

static spot_status pairs_cuda(spot_ctx *c, spot_arena *scratch, int problems, const spot_blend *p)
{
    const size_t mark = scratch->used;
    char *room;

    SPOT_TRY(SPOT_TAKE(c, scratch, room, spot_blend_device_bytes(problems, p)));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    for (int q = 0; q < problems; q++) {
        if (!p[q].pairs) continue;
        SPOT_TRY(spot_cuda_needs_all(c, "blend.pairs", { { p[q].target, "target" }, { p[q].mask, "mask" },
                                     { p[q].background, "background" }, { p[q].out, "out" } }));
        const auto one = p[q].pixels == SPOT_PIXEL_BYTES ? blend_problem<uint8_t> : blend_problem<float>;
        SPOT_TRY(one(c, room, &p[q]));
    }
    return SPOT_OK;
}

extern const spot_blend_ops spot_blend_cuda = { .pairs = pairs_cuda };
