/* conv_image.c - the product dy (pixels, co) by w (co, k*k*3) has a row for each output pixel: its contribution to its k x k
 * taps, k runs of 3k numbers. The rows are added where they overlap. */
#include "net/conv_image.h"

#include <string.h>

#include "core/bf16.h"
#include "core/gemm.h"

enum { B = SPOT_CHANNELS, H = 16, CHUNK = 256 };     /* H: channels of a block of weights in bf16 */

/* A lane's scratch, in numbers: `product` holds the product for `high` rows of the output; `frame` is the image with its
 * padding, `wide` pixels a side; `widened` is dy of these rows where it is bf16. */
typedef struct { int out, taps, high, wide; size_t product, frame, widened; } lane_scratch;

static lane_scratch scratch_of(const spot_conv_shape *s)
{
    lane_scratch r = { .out = spot_conv_out(s), .taps = s->k * s->k * 3, .wide = s->size + s->k - 1 };

    r.high = r.out < CHUNK ? CHUNK / r.out : 1;
    r.product = ((size_t)r.high * r.out * r.taps + 15) / 16 * 16;
    r.frame = ((size_t)r.wide * r.wide * 3 + 15) / 16 * 16;
    r.widened = s->precision == SPOT_BF16 ? (size_t)r.high * r.out * s->co : 0;
    return r;
}

static size_t numbers_of(const lane_scratch *r) { return r->product + r->frame + r->widened; }

size_t spot_conv_image_scratch(const spot_conv_shape *s)
{
    lane_scratch r = scratch_of(s);

    return (s->lanes * numbers_of(&r) + (size_t)s->co * r.taps) * sizeof(float);
}

/* (co/B, taps, B), in bf16 (co/H, taps, H) -> (co, taps) */
static void transpose_weights(float *to, const void *from, const spot_conv_shape *s, int taps)
{
    bool half = s->precision == SPOT_BF16;
    int b = half ? H : B;

    for (int o = 0; o < s->co; o++)
        for (int t = 0; t < taps; t++) {
            size_t at = ((size_t)(o / b) * taps + t) * b + o % b;
            to[(size_t)o * taps + t] = half ? spot_bf16_float(((const uint16_t *)from)[at]) : ((const float *)from)[at];
        }
}

/* Adds the product's rows for output row y to the frame. */
static void add_row(float *frame, const float *product, const lane_scratch *r, const spot_conv_shape *s, int y)
{
    int run = 3 * s->k;

    for (int x = 0; x < r->out; x++)
        for (int ky = 0; ky < s->k; ky++) {
            float *to = frame + ((size_t)(y * s->stride + ky) * r->wide + x * s->stride) * 3;
            const float *from = product + (size_t)x * r->taps + ky * run;
            for (int i = 0; i < run; i++) to[i] += from[i];
        }
}

/* The product for `pixels` pixels of dy from pixel `first` on. */
static void multiply(float *product, const void *dy, int first, int pixels, const float *w, const spot_conv_shape *s,
                     const lane_scratch *r, float *widened)
{
    int all = r->out * r->out;

    memset(product, 0, (size_t)pixels * r->taps * sizeof *product);
    if (s->precision == SPOT_BF16) {
        const uint16_t *from = (const uint16_t *)dy + (size_t)first * s->co;
        for (size_t i = 0; i < (size_t)pixels * s->co; i++) widened[i] = spot_bf16_float(from[i]);
        spot_gemm_add(product, r->taps, (spot_gemm_factor){ widened, s->co, 1 }, (spot_gemm_factor){ w, r->taps, 1 }, pixels,
                      r->taps,
                      s->co);
        return;
    }
    for (int b = 0; b < s->co / B; b++)
        spot_gemm_add(product, r->taps, (spot_gemm_factor){ (const float *)dy + ((size_t)b * all + first) * B, B, 1 },
                      (spot_gemm_factor){ w + (size_t)b * B * r->taps, r->taps, 1 }, pixels, r->taps, B);
}

/* The image in its frame -> dx. */
static void cut_frame(void *dx, const float *frame, const spot_conv_shape *s, const lane_scratch *r)
{
    int area = s->size * s->size;

    for (int y = 0; y < s->size; y++)
        for (int x = 0; x < s->size; x++)
            for (int ch = 0; ch < 3; ch++) {
                float v = frame[((size_t)(y + spot_conv_pad(s)) * r->wide + x + spot_conv_pad(s)) * 3 + ch];
                if (s->precision == SPOT_BF16) ((uint16_t *)dx)[(y * s->size + x) * 3 + ch] = spot_bf16_bits(v);
                else                           ((float *)dx)[ch * area + y * s->size + x] = v;
            }
}

static void image_gradient(void *dx, const void *dy, const float *w, const spot_conv_shape *s, const lane_scratch *r,
                           float *scratch)
{
    float *product = scratch, *frame = product + r->product, *widened = frame + r->frame;

    memset(frame, 0, r->frame * sizeof *frame);
    for (int y = 0; y < r->out; y += r->high) {
        int high = r->out - y < r->high ? r->out - y : r->high;
        multiply(product, dy, y * r->out, high * r->out, w, s, r, widened);
        for (int i = 0; i < high; i++) add_row(frame, product + (size_t)i * r->out * r->taps, r, s, y + i);
    }
    cut_frame(dx, frame, s, r);
}

void spot_conv_image_gradient(spot_ctx *c, const spot_conv_shape *s, void *dx, const void *dy, const void *w, int rows,
                              void *scratch)
{
    lane_scratch r = scratch_of(s);
    float *turned = (float *)scratch + s->lanes * numbers_of(&r);
    size_t number = spot_precision_bytes(s->precision), image = 3 * (size_t)s->size * s->size * number;
    size_t out = (size_t)s->co * r.out * r.out * number;
    int piece = s->rows / s->lanes;

    transpose_weights(turned, w, s, r.taps);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int lane = 0; lane < rows / piece; lane++)
        for (int n = lane * piece; n < (lane + 1) * piece; n++)
            image_gradient((char *)dx + n * image, (const char *)dy + n * out, turned, s, &r,
                           (float *)scratch + lane * numbers_of(&r));
}
