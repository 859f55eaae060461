/* attack.c - three passes over an image; their cost is some percents of its gradient's. */
#include "net/attack.h"

#include <math.h>
#include <string.h>

#include "core/imagenet.h"

/* Scales d by `scale`, cuts it so that pixels stay in [0, 1], and writes x. */
static void move_pixels(float *x, float *d, const float *clean, int pixels, double scale)
{
    for (int ch = 0; ch < 3; ch++)
        for (int i = ch * pixels; i < (ch + 1) * pixels; i++) {
            float mean = spot_imagenet[0][ch], std = spot_imagenet[1][ch], pixel = clean[i] * std + mean;
            float at = pixel + d[i] * (float)scale;
            d[i] = (at < 0 ? 0 : at > 1 ? 1 : at) - pixel;
            x[i] = clean[i] + d[i] / std;
        }
}

static double length_of(const float *v, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++) sum += (double)v[i] * v[i];
    return sqrt(sum);
}

/* A random direction; its length is not 1. */
static void draw_direction(float *d, int n, int pixels, const spot_attack_rule *rule)
{
    uint32_t blocks = (3 * (uint32_t)pixels + 3) / 4, word[4];

    for (uint32_t b = 0; b < blocks; b++) {
        const uint32_t counter[4] = { (uint32_t)n * blocks + b, (uint32_t)*rule->made, rule->ec, SPOT_RNG_ADVERSARY };
        spot_philox4x32_10(word, counter, rule->seed);
        for (int k = 0; k < 4; k++) {
            int j = (int)(4 * b) + k;
            if (j < 3 * pixels) d[j % 3 * pixels + j / 3] = spot_attack_noise(word[k]);
        }
    }
}

static spot_status start_cpu(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule)
{
    int pixels = p.size * p.size;

#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.live; n++) {
        size_t at = (size_t)n * 3 * pixels;
        float *mine = d + at;
        double scale = 0;
        if (rule->random) {
            draw_direction(mine, n, pixels, rule);
            scale = rule->epsilon / length_of(mine, 3 * pixels);
        } else {
            memset(mine, 0, 3 * (size_t)pixels * sizeof *mine);
        }
        move_pixels((float *)x + at, mine, (const float *)clean + at, pixels, scale);
    }
    return SPOT_OK;
}

static double gradient_length(const float *grad, int pixels)
{
    double sum = 0;

    for (int ch = 0; ch < 3; ch++)
        for (int i = ch * pixels; i < (ch + 1) * pixels; i++) {
            double g = (double)grad[i] / spot_imagenet[1][ch];
            sum += g * g;
        }
    return sqrt(sum);
}

static spot_status move_cpu(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                            const spot_attack_rule *rule)
{
    int pixels = p.size * p.size;

#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < p.live; n++) {
        size_t at = (size_t)n * 3 * pixels;
        const float *g = (const float *)grad + at;
        float *mine = d + at;
        double slope = gradient_length(g, pixels), length;
        for (int ch = 0; ch < 3; ch++) {
            double by = slope == 0 ? 0 : rule->length / slope / spot_imagenet[1][ch];
            for (int i = ch * pixels; i < (ch + 1) * pixels; i++) mine[i] += (float)(by * g[i]);
        }
        length = length_of(mine, 3 * pixels);
        move_pixels((float *)x + at, mine, (const float *)clean + at, pixels,
                    length > rule->epsilon ? rule->epsilon / length : 1);
    }
    return SPOT_OK;
}

const spot_attack_ops spot_attack_cpu = { start_cpu, move_cpu };

static spot_status check_attack(spot_ctx *c, const char *op, spot_plane p, const spot_attack_rule *rule)
{
    if (p.live < 1 || p.live > p.rows || p.size < 1 || p.channels != c->ops->conv->stem)
        return spot_fail(c, SPOT_INVALID, "attack.%s: %d of %d images of %d channels, size %d", op, p.live, p.rows, p.channels,
                         p.size);
    if (!(rule->epsilon >= 0 && rule->length >= 0) || !isfinite(rule->epsilon) || !isfinite(rule->length) || !rule->made)
        return spot_fail(c, SPOT_INVALID, "attack.%s: steps of %g in a ball of %g", op, rule->length, rule->epsilon);
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
