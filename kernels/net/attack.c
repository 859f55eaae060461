/* attack.c - three passes over an image; their cost is some percents of its gradient's. */
#include "net/attack.h"

#include <math.h>
#include <string.h>

#include "core/bf16.h"
#include "core/imagenet.h"

/* An image: planes in fp32, pixels of 3 channels in bf16 (`half`). d has the order of the image. */
static inline int place_of(int ch, int i, int pixels, bool half) { return half ? 3 * i + ch : ch * pixels + i; }

static inline float number_at(const void *image, int at, bool half)
{
    return half ? spot_bf16_float(((const uint16_t *)image)[at]) : ((const float *)image)[at];
}

/* Scales d by `scale`, cuts it so that pixels stay in [0, 1], and writes x. */
static void move_pixels(void *x, float *d, const void *clean, int pixels, double scale, bool half)
{
    for (int ch = 0; ch < 3; ch++)
        for (int i = 0; i < pixels; i++) {
            int k = place_of(ch, i, pixels, half);
            float mean = spot_imagenet[0][ch], std = spot_imagenet[1][ch], from = number_at(clean, k, half);
            float pixel = from * std + mean, at = pixel + d[k] * (float)scale;
            d[k] = (at < 0 ? 0 : at > 1 ? 1 : at) - pixel;
            if (half) ((uint16_t *)x)[k] = spot_bf16_bits(from + d[k] / std);
            else      ((float *)x)[k] = from + d[k] / std;
        }
}

static double length_of(const float *v, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++) sum += (double)v[i] * v[i];
    return sqrt(sum);
}

/* A random direction; its length is not 1. */
static void draw_direction(float *d, int n, int pixels, const spot_attack_rule *rule, bool half)
{
    uint32_t blocks = (3 * (uint32_t)pixels + 3) / 4, word[4];

    for (uint32_t b = 0; b < blocks; b++) {
        const uint32_t counter[4] = { (uint32_t)n * blocks + b, (uint32_t)*rule->made, rule->ec, SPOT_RNG_ADVERSARY };
        spot_philox4x32_10(word, counter, rule->seed);
        for (int k = 0; k < 4; k++) {
            int j = (int)(4 * b) + k;
            if (j < 3 * pixels) d[place_of(j % 3, j / 3, pixels, half)] = spot_attack_noise(word[k]);
        }
    }
}

static spot_status start_cpu(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule)
{
    int pixels = p.size * p.size;
    bool half = p.precision == SPOT_BF16;
    size_t image = 3 * (size_t)pixels * spot_precision_bytes(p.precision);

#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.live; n++) {
        float *mine = d + (size_t)n * 3 * pixels;
        double scale = 0;
        if (rule->random) {
            draw_direction(mine, n, pixels, rule, half);
            scale = rule->epsilon / length_of(mine, 3 * pixels);
        } else {
            memset(mine, 0, 3 * (size_t)pixels * sizeof *mine);
        }
        move_pixels((char *)x + n * image, mine, (const char *)clean + n * image, pixels, scale, half);
    }
    return SPOT_OK;
}

static double gradient_length(const void *grad, int pixels, bool half)
{
    double sum = 0;

    for (int ch = 0; ch < 3; ch++)
        for (int i = 0; i < pixels; i++) {
            double g = (double)number_at(grad, place_of(ch, i, pixels, half), half) / spot_imagenet[1][ch];
            sum += g * g;
        }
    return sqrt(sum);
}

/* d after a step of g / |g|, by which d comes back to the ball (move_pixels). */
static double step_along(float *d, const void *g, int pixels, const spot_attack_rule *rule, bool half)
{
    const double slope = gradient_length(g, pixels, half);
    double length;

    for (int ch = 0; ch < 3; ch++) {
        const double by = slope == 0 ? 0 : rule->length / slope / spot_imagenet[1][ch];
        for (int i = 0; i < pixels; i++) {
            const int k = place_of(ch, i, pixels, half);
            d[k] += (float)(by * number_at(g, k, half));
        }
    }
    length = length_of(d, 3 * pixels);
    return length > rule->epsilon ? rule->epsilon / length : 1;
}

/* d after a step of g's signs, cut. */
static void step_by_signs(float *d, const void *g, int count, const spot_attack_rule *rule, bool half)
{
    for (int k = 0; k < count; k++)
        d[k] = spot_attack_sign(d[k], number_at(g, k, half), (float)rule->length, (float)rule->epsilon);
}

static spot_status move_cpu(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                            const spot_attack_rule *rule)
{
    int pixels = p.size * p.size;
    bool half = p.precision == SPOT_BF16;
    size_t image = 3 * (size_t)pixels * spot_precision_bytes(p.precision);

#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.live; n++) {
        const char *g = (const char *)grad + n * image;
        float *mine = d + (size_t)n * 3 * pixels;
        double scale = 1;
        if (rule->signs) step_by_signs(mine, g, 3 * pixels, rule, half);
        else             scale = step_along(mine, g, pixels, rule, half);
        move_pixels((char *)x + n * image, mine, (const char *)clean + n * image, pixels, scale, half);
    }
    return SPOT_OK;
}

const spot_attack_ops spot_attack_cpu = { start_cpu, move_cpu };

static spot_status check_attack(spot_ctx *c, const char *op, spot_plane p, const spot_attack_rule *rule)
{
    if (p.live < 1 || p.live > p.rows || p.size < 1 || p.channels != c->ops->conv->stem)
        return spot_fail(c, SPOT_INVALID, "{attack.sizes} attack.%s: %d of %d images of %d channels, size %d", op, p.live,
                         p.rows, p.channels, p.size);
    SPOT_TRY(spot_conv_able(c, p.precision));
    if (rule->signs && rule->random)
        return spot_fail(c, SPOT_INVALID, "attack.%s: moves by signs begin at the image, not in a random direction", op);
    if (!(rule->epsilon >= 0 && rule->length >= 0) || !isfinite(rule->epsilon) || !isfinite(rule->length) || !rule->made)
        return spot_fail(c, SPOT_INVALID, "{attack.steps} attack.%s: steps of %g in a ball of %g", op, rule->length,
                         rule->epsilon);
    return SPOT_OK;
}

spot_status spot_attack_start(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule)
{
    SPOT_TRY(check_attack(c, "start", p, rule));
    SPOT_DISPATCH(c, attack, start, x, d, clean, p, rule);
}

spot_status spot_attack_move(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                             const spot_attack_rule *rule)
{
    SPOT_TRY(check_attack(c, "move", p, rule));
    SPOT_DISPATCH(c, attack, move, x, d, clean, grad, p, rule);
}
