/* attack.cu - see attack.h. One block per image. A thread takes two pixels at a time, 16 bytes of bf16, in the order of x; the
 * noise is drawn row by row, as on the CPU, and stored at its pixel's place there. */
#include "core/imagenet.h"
#include "core/lanes.cuh"
#include "core/stem.h"
#include "core/sums.cuh"
#include "net/attack.h"

enum { THREADS = 512, PAIR = 2 * SPOT_STEM, NUMBERS = 2 * 3 };

static const __device__ float imagenet[2][3] = SPOT_IMAGENET;

/* Number k of a pair of pixels among the pair's numbers in x, whose fourth channel is 0. */
static __device__ inline int in_pair(int k) { return k / 3 * SPOT_STEM + k % 3; }

template <typename T> static __device__ inline void load_pair(float v[PAIR], const T *pair)
{
    for (int first = 0; first < PAIR; first += spot_lanes<T>::N) spot_load(v + first, pair + first);
}

/* move_pixels of attack.c for a pair of pixels, d of which has become v. */
template <typename T>
static __device__ inline void move_pair(T *x, float *d, const T *clean, const float v[NUMBERS], float scale)
{
    float from[PAIR];

    load_pair(from, clean);
    for (int k = 0; k < NUMBERS; k++) {
        float *own = &from[in_pair(k)], mean = imagenet[0][k % 3], std = imagenet[1][k % 3];
        float pixel = *own * std + mean, at = pixel + v[k] * scale;
        d[k] = (at < 0 ? 0 : at > 1 ? 1 : at) - pixel;
        *own += d[k] / std;
    }
    for (int first = 0; first < PAIR; first += spot_lanes<T>::N) spot_store(x + first, from + first);
}

/* grid (live). A thread draws four numbers of the noise at once, which belong to up to three pixels. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) start_kernel(T *x, float *d, const T *clean, int size, spot_attack_rule rule)
{
    int pixels = size * size;
    size_t image = (size_t)blockIdx.x * pixels;
    uint32_t blocks = (3 * (uint32_t)pixels + 3) / 4, word[4];
    double sum = 0, scale = 0;

    for (uint32_t b = threadIdx.x; rule.random && b < blocks; b += THREADS) {
        const uint32_t counter[4] = { blockIdx.x * blocks + b, (uint32_t)*rule.made, rule.ec, SPOT_RNG_ADVERSARY };
        spot_philox4x32_10(word, counter, rule.seed);
        for (int k = 0; k < 4 && 4 * b + k < 3 * (uint32_t)pixels; k++) {
            int j = 4 * b + k;
            float v = spot_attack_noise(word[k]);
            d[3 * (image + spot_stem_place(j / 3, size)) + j % 3] = v;
            sum += (double)v * v;
        }
    }
    if (rule.random) scale = rule.epsilon / sqrt(spot_block_sum<THREADS>(sum));      /* also waits for all of d */
    for (int i = 2 * threadIdx.x; i < pixels; i += 2 * THREADS) {
        float *own = d + 3 * (image + i), v[NUMBERS] = { 0 };
        for (int k = 0; rule.random && k < NUMBERS; k++) v[k] = own[k];
        move_pair(x + SPOT_STEM * (image + i), own, clean + SPOT_STEM * (image + i), v, (float)scale);
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
    float v[PAIR], to[NUMBERS];

    for (int i = 2 * threadIdx.x; i < pixels; i += 2 * THREADS) {
        load_pair(v, grad + SPOT_STEM * (image + i));
        for (int k = 0; k < NUMBERS; k++) {
            double g = v[in_pair(k)] * inverse[k % 3], at = d[3 * (image + i) + k];
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
    for (int i = 2 * threadIdx.x; i < pixels; i += 2 * THREADS) {
        float *own = d + 3 * (image + i);
        load_pair(v, grad + SPOT_STEM * (image + i));
        for (int k = 0; k < NUMBERS; k++) to[k] = own[k] + (float)(by * inverse[k % 3] * v[in_pair(k)]);
        move_pair(x + SPOT_STEM * (image + i), own, clean + SPOT_STEM * (image + i), to,
                  (float)(far > epsilon ? epsilon / far : 1));
    }
}

/* grid (live). The same by signs. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) signs_kernel(T *x, float *d, const T *clean, const T *grad, int pixels,
                                                               float epsilon, float length)
{
    const size_t image = (size_t)blockIdx.x * pixels;
    float v[PAIR], to[NUMBERS];

    for (int i = 2 * threadIdx.x; i < pixels; i += 2 * THREADS) {
        float *own = d + 3 * (image + i);
        load_pair(v, grad + SPOT_STEM * (image + i));
        for (int k = 0; k < NUMBERS; k++) to[k] = spot_attack_sign(own[k], v[in_pair(k)], length, epsilon);
        move_pair(x + SPOT_STEM * (image + i), own, clean + SPOT_STEM * (image + i), to, 1);
    }
}

static spot_status check_size(spot_ctx *c, const char *op, spot_plane p)
{
    if (p.size % SPOT_STEM_SIDE == 0) return SPOT_OK;
    return spot_fail(c, SPOT_UNSUPPORTED, "attack.%s: size %d; CUDA takes images of blocks of 2 x 2 pixels", op, p.size);
}

template <typename T>
static void launch_start(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule)
{
    SPOT_LAUNCH(start_kernel<T>, p.live, THREADS, 0, spot_cuda_stream(c), (T *)x, d, (const T *)clean, p.size, *rule);
}

static spot_status start_cuda(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule)
{
    SPOT_TRY(check_size(c, "start", p));
    SPOT_TRY(spot_cuda_needs(c, x, "attack.start: x"));
    SPOT_TRY(spot_cuda_needs(c, rule->made, "attack.start: made"));
    (p.precision == SPOT_BF16 ? launch_start<spot_bf16> : launch_start<float>)(c, x, d, clean, p, rule);
    return spot_cuda_launched(c, "attack.start of %d images, size %d", p.live, p.size);
}

template <typename T>
static void launch_move(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                        const spot_attack_rule *rule)
{
    const int pixels = p.size * p.size;

    if (rule->signs)
        SPOT_LAUNCH(signs_kernel<T>, p.live, THREADS, 0, spot_cuda_stream(c), (T *)x, d, (const T *)clean, (const T *)grad,
                    pixels, (float)rule->epsilon, (float)rule->length);
    else
        SPOT_LAUNCH(move_kernel<T>, p.live, THREADS, 0, spot_cuda_stream(c), (T *)x, d, (const T *)clean, (const T *)grad,
                    pixels, rule->epsilon, rule->length);
}

static spot_status move_cuda(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                             const spot_attack_rule *rule)
{
    SPOT_TRY(check_size(c, "move", p));
    SPOT_TRY(spot_cuda_needs(c, x, "attack.move: x"));
    (p.precision == SPOT_BF16 ? launch_move<spot_bf16> : launch_move<float>)(c, x, d, clean, grad, p, rule);
    return spot_cuda_launched(c, "attack.move of %d images, size %d", p.live, p.size);
}

extern const spot_attack_ops spot_attack_cuda = { .start = start_cuda, .move = move_cuda };
