/* attack.cu - one block per image. A pixel is read and written 16 bytes at a time. */
#include "core/imagenet.h"
#include "core/lanes.cuh"
#include "core/sums.cuh"
#include "net/attack.h"

enum { THREADS = 512, STEM = 8 };

static const __device__ float imagenet[2][3] = SPOT_IMAGENET;

/* The three channels of a pixel; its other channels are 0. */
template <typename T> static __device__ inline void load_pixel(float v[3], const T *pixel)
{
    float all[spot_lanes<T>::N];

    spot_load(all, pixel);
    for (int ch = 0; ch < 3; ch++) v[ch] = all[ch];
}

template <typename T> static __device__ inline void store_pixel(T *pixel, const float v[3])
{
    for (int first = 0; first < STEM; first += spot_lanes<T>::N) {
        float all[spot_lanes<T>::N] = { 0 };
        for (int ch = 0; ch < 3 && !first; ch++) all[ch] = v[ch];
        spot_store(pixel + first, all);
    }
}

/* move_pixels of attack.c for one pixel, d of which has become v. */
template <typename T> static __device__ inline void move_pixel(T *x, float *d, const T *clean, const float v[3], float scale)
{
    float from[3];

    load_pixel(from, clean);
    for (int ch = 0; ch < 3; ch++) {
        float pixel = from[ch] * imagenet[1][ch] + imagenet[0][ch], at = pixel + v[ch] * scale;
        d[ch] = (at < 0 ? 0 : at > 1 ? 1 : at) - pixel;
        from[ch] += d[ch] / imagenet[1][ch];
    }
    store_pixel(x, from);
}

/* grid (live). A thread draws four numbers of the noise at once, which belong to up to three pixels. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) start_kernel(T *x, float *d, const T *clean, int pixels,
                                                               spot_attack_rule rule)
{
    size_t image = (size_t)blockIdx.x * pixels;
    uint32_t blocks = (3 * (uint32_t)pixels + 3) / 4, word[4];
    double sum = 0, scale = 0;

    for (uint32_t b = threadIdx.x; rule.random && b < blocks; b += THREADS) {
        const uint32_t counter[4] = { blockIdx.x * blocks + b, (uint32_t)*rule.made, rule.ec, SPOT_RNG_ADVERSARY };
        spot_philox4x32_10(word, counter, rule.seed);
        for (int k = 0; k < 4 && 4 * b + k < 3 * (uint32_t)pixels; k++) {
            float v = spot_attack_noise(word[k]);
            d[3 * image + 4 * b + k] = v;
            sum += (double)v * v;
        }
    }
    if (rule.random) scale = rule.epsilon / sqrt(spot_block_sum<THREADS>(sum));      /* also waits for all of d */
    for (int i = threadIdx.x; i < pixels; i += THREADS) {
        float *own = d + 3 * (image + i), v[3] = { 0 };
        for (int ch = 0; rule.random && ch < 3; ch++) v[ch] = own[ch];
        move_pixel(x + STEM * (image + i), own, clean + STEM * (image + i), v, (float)scale);
    }
}

/* grid (live). |d + by g|^2 = |d|^2 + 2 by d.g + by^2 |g|^2, so that the new length is known before d is changed. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) move_kernel(T *x, float *d, const T *clean, const T *grad, int pixels,
                                                              double epsilon, double length)
{
    const double inverse[3] = { 1.0 / imagenet[1][0], 1.0 / imagenet[1][1], 1.0 / imagenet[1][2] };
    size_t image = (size_t)blockIdx.x * pixels;
    double gg = 0, dg = 0, dd = 0, by, far;
    float v[3];

    for (int i = threadIdx.x; i < pixels; i += THREADS) {
        load_pixel(v, grad + STEM * (image + i));
        for (int ch = 0; ch < 3; ch++) {
            double g = v[ch] * inverse[ch], at = d[3 * (image + i) + ch];
            gg += g * g;
            dg += at * g;
            dd += at * at;
        }
    }
    gg = spot_block_sum<THREADS>(gg);
    dg = spot_block_sum<THREADS>(dg);
    dd = spot_block_sum<THREADS>(dd);
    by = gg == 0 ? 0 : length / sqrt(gg);
    far = sqrt(dd + 2 * by * dg + by * by * gg);
    for (int i = threadIdx.x; i < pixels; i += THREADS) {
        float *own = d + 3 * (image + i);
        load_pixel(v, grad + STEM * (image + i));
        for (int ch = 0; ch < 3; ch++) v[ch] = own[ch] + (float)(by * inverse[ch] * v[ch]);
        move_pixel(x + STEM * (image + i), own, clean + STEM * (image + i), v, (float)(far > epsilon ? epsilon / far : 1));
    }
}

template <typename T>
static void launch_start(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule)
{
    SPOT_LAUNCH(start_kernel<T>, p.live, THREADS, 0, spot_cuda_stream(c), (T *)x, d, (const T *)clean, p.size * p.size, *rule);
}

static spot_status start_cuda(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule)
{
    SPOT_TRY(spot_cuda_needs(c, x, "attack.start: x"));
    SPOT_TRY(spot_cuda_needs(c, rule->made, "attack.start: made"));
    (p.precision == SPOT_BF16 ? launch_start<spot_bf16> : launch_start<float>)(c, x, d, clean, p, rule);
    return spot_cuda_launched(c, "attack.start of %d images, size %d", p.live, p.size);
}

template <typename T>
static void launch_move(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                        const spot_attack_rule *rule)
{
    SPOT_LAUNCH(move_kernel<T>, p.live, THREADS, 0, spot_cuda_stream(c), (T *)x, d, (const T *)clean, (const T *)grad,
                p.size * p.size, rule->epsilon, rule->length);
}

static spot_status move_cuda(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                             const spot_attack_rule *rule)
{
    SPOT_TRY(spot_cuda_needs(c, x, "attack.move: x"));
    (p.precision == SPOT_BF16 ? launch_move<spot_bf16> : launch_move<float>)(c, x, d, clean, grad, p, rule);
    return spot_cuda_launched(c, "attack.move of %d images, size %d", p.live, p.size);
}

extern const spot_attack_ops spot_attack_cuda = { .start = start_cuda, .move = move_cuda };
