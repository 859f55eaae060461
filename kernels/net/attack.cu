/* attack.cu - one block per image. A thread sums every 256th pixel; then every thread adds all sums in order. */
#include "core/imagenet.h"
#include "core/lanes.cuh"
#include "net/attack.h"

enum { THREADS = 256, STEM = 8 };

static const __device__ float imagenet[2][3] = SPOT_IMAGENET;

/* Gives every thread the root of the sum of all `mine`. */
static __device__ double root_of_block(double *shared, double mine)
{
    double sum = 0;

    __syncthreads();
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int t = 0; t < THREADS; t++) sum += shared[t];
    return sqrt(sum);
}

/* move_pixels of attack.c for one pixel. */
template <typename T> static __device__ void move_pixel(T *x, float *d, const T *clean, float scale)
{
    for (int ch = 0; ch < 3; ch++) {
        float from = spot_widen(clean[ch]), pixel = from * imagenet[1][ch] + imagenet[0][ch], at = pixel + d[ch] * scale;
        d[ch] = (at < 0 ? 0 : at > 1 ? 1 : at) - pixel;
        spot_round(&x[ch], from + d[ch] / imagenet[1][ch]);
    }
    for (int ch = 3; ch < STEM; ch++) spot_round(&x[ch], 0);
}

static __device__ float noise_at(const spot_attack_rule *rule, int image, int pixels, int j)
{
    uint32_t blocks = (3 * (uint32_t)pixels + 3) / 4, word[4];
    const uint32_t counter[4] = { image * blocks + j / 4, (uint32_t)*rule->made, rule->ec, SPOT_RNG_ADVERSARY };

    spot_philox4x32_10(word, counter, rule->seed);
    return spot_attack_noise(word[j % 4]);
}

/* grid (live) */
template <typename T>
static __global__ void __launch_bounds__(THREADS) start_kernel(T *x, float *d, const T *clean, int pixels,
                                                               spot_attack_rule rule)
{
    SPOT_SHARED(double, shared, THREADS);
    size_t image = (size_t)blockIdx.x * pixels;
    double sum = 0, scale = 0;

    for (int i = threadIdx.x; i < pixels; i += THREADS)
        for (int ch = 0; ch < 3; ch++) {
            float v = rule.random ? noise_at(&rule, blockIdx.x, pixels, 3 * i + ch) : 0;
            d[3 * (image + i) + ch] = v;
            sum += (double)v * v;
        }
    if (rule.random) scale = rule.epsilon / root_of_block(shared, sum);
    for (int i = threadIdx.x; i < pixels; i += THREADS)
        move_pixel(x + STEM * (image + i), d + 3 * (image + i), clean + STEM * (image + i), (float)scale);
}

/* grid (live) */
template <typename T>
static __global__ void __launch_bounds__(THREADS) move_kernel(T *x, float *d, const T *clean, const T *grad, int pixels,
                                                              double epsilon, double length)
{
    SPOT_SHARED(double, shared, THREADS);
    size_t image = (size_t)blockIdx.x * pixels;
    double sum = 0, steep, far;

    for (int i = threadIdx.x; i < pixels; i += THREADS)
        for (int ch = 0; ch < 3; ch++) {
            double g = (double)spot_widen(grad[STEM * (image + i) + ch]) / imagenet[1][ch];
            sum += g * g;
        }
    steep = root_of_block(shared, sum);
    sum = 0;
    for (int i = threadIdx.x; i < pixels; i += THREADS)
        for (int ch = 0; ch < 3; ch++) {
            double by = steep == 0 ? 0 : length / steep / imagenet[1][ch];
            float v = d[3 * (image + i) + ch] + (float)(by * spot_widen(grad[STEM * (image + i) + ch]));
            d[3 * (image + i) + ch] = v;
            sum += (double)v * v;
        }
    far = root_of_block(shared, sum);
    for (int i = threadIdx.x; i < pixels; i += THREADS)
        move_pixel(x + STEM * (image + i), d + 3 * (image + i), clean + STEM * (image + i),
            (float)(far > epsilon ? epsilon / far : 1));
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
