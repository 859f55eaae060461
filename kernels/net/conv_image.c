/* conv_image.c - the product dy (pixels, co) by w (co, k*k*3) has a row for each output pixel: its contribution to its k x k
 * taps, k runs of 3k numbers. The rows are added where they overlap. */
#include "net/conv_image.h"

#include <string.h>

#include "core/gemm.h"

enum { B = SPOT_CHANNELS, CHUNK = 256 };

/* A lane's scratch, in numbers: `product` holds the product for `high` rows of the output; `frame` is the image with its
 * padding, `wide` pixels a side. */
typedef struct { int out, taps, high, wide; size_t product, frame; } lane_scratch;

static lane_scratch scratch_of(const spot_conv_shape *s)
{
    lane_scratch r = { .out = s->size / s->stride, .taps = s->k * s->k * 3, .wide = s->size + s->k - 1 };

    r.high = r.out < CHUNK ? CHUNK / r.out : 1;
    r.product = ((size_t)r.high * r.out * r.taps + 15) / 16 * 16;
    r.frame = ((size_t)r.wide * r.wide * 3 + 15) / 16 * 16;
    return r;
}

size_t spot_conv_image_scratch(const spot_conv_shape *s)
{
    lane_scratch r = scratch_of(s);

    return (s->lanes * (r.product + r.frame) + (size_t)s->co * r.taps) * sizeof(float);
}

/* (co/B, taps, B) -> (co, taps) */
static void transpose_weights(float *to, const float *from, int co, int taps)
{
    for (int o = 0; o < co; o++)
        for (int t = 0; t < taps; t++) to[(size_t)o * taps + t] = from[((size_t)(o / B) * taps + t) * B + o % B];
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

static void image_gradient(float *dx, const float *dy, const float *w, const spot_conv_shape *s, const lane_scratch *r,
                           float *scratch)
{
    float *product = scratch, *frame = scratch + r->product;
    int pixels = r->out * r->out, area = s->size * s->size;

    memset(frame, 0, r->frame * sizeof *frame);
    for (int y = 0; y < r->out; y += r->high) {
        int high = r->out - y < r->high ? r->out - y : r->high;
        memset(product, 0, (size_t)high * r->out * r->taps * sizeof *product);
        for (int b = 0; b < s->co / B; b++)
            spot_gemm_add(product, r->taps, dy + ((size_t)b * pixels + y * r->out) * B, B, 1, w + (size_t)b * B * r->taps,
                          r->taps, high * r->out, r->taps, B);
        for (int i = 0; i < high; i++) add_row(frame, product + (size_t)i * r->out * r->taps, r, s, y + i);
    }
    for (int y = 0; y < s->size; y++)
        for (int x = 0; x < s->size; x++)
            for (int ch = 0; ch < 3; ch++)
                dx[ch * area + y * s->size + x] = frame[((size_t)(y + s->k / 2) * r->wide + x + s->k / 2) * 3 + ch];
}

void spot_conv_image_gradient(spot_ctx *c, const spot_conv_shape *s, float *dx, const float *dy, const float *w, int rows,
                              void *scratch)
{
    lane_scratch r = scratch_of(s);
    float *turned = (float *)scratch + s->lanes * (r.product + r.frame);
    int piece = s->rows / s->lanes;

    transpose_weights(turned, w, s->co, r.taps);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int lane = 0; lane < rows / piece; lane++)
        for (int n = lane * piece; n < (lane + 1) * piece; n++)
            image_gradient(dx + (size_t)n * 3 * s->size * s->size, dy + (size_t)n * s->co * r.out * r.out, turned, s, &r,
                           (float *)scratch + lane * (r.product + r.frame));
}
