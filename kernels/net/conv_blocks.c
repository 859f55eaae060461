/* conv_blocks.c - a block of weights at a time: its inputs times its outputs, summed over rows and pixels in registers. */
#include "net/conv_blocks.h"

#include <string.h>

#include "core/lanes.h"

enum { B = SPOT_CHANNELS };

typedef float bf __attribute__((vector_size(B * sizeof(float)), aligned(sizeof(float))));

/* Outputs [*from, *to) of a line whose tap, `by` pixels from the output's place in the image, lies inside the image. */
static void inside(const spot_conv_shape *s, int by, int *from, int *to)
{
    const int out = spot_conv_out(s);

    *from = 0, *to = out;
    while (*from < out && *from * s->stride + by < 0) ++*from;
    while (*to > *from && (*to - 1) * s->stride + by >= s->size) --*to;
}

/* One tap of one block: sum[i] (outputs) of input i. x, dy: the block's channels of the first row. */
static void sum_tap(const spot_conv_shape *s, bf sum[B], const float *x, const float *dy, int rows, int down, int right)
{
    const size_t side = (size_t)s->size, out = (size_t)spot_conv_out(s);
    const size_t x_row = side * side * (size_t)s->ci, y_row = out * out * (size_t)s->co;
    int top, bottom, left, end;

    inside(s, down, &top, &bottom);
    inside(s, right, &left, &end);
    for (int n = 0; n < rows; n++)
        for (int oy = top; oy < bottom; oy++) {
            const float *from = x + (size_t)n * x_row + (size_t)(oy * s->stride + down) * side * B;
            const float *grad = dy + (size_t)n * y_row + (size_t)oy * out * B;
            for (int ox = left; ox < end; ox++) {
                const float *in = from + (ptrdiff_t)(ox * s->stride + right) * B;
                const bf g = *(const bf *)(grad + (size_t)ox * B);
                for (int i = 0; i < B; i++) sum[i] += in[i] * g;
            }
        }
}

void spot_conv_block_weights(spot_ctx *c, const spot_conv_shape *s, float *dw, const float *x, const float *dy, int rows)
{
    const int inputs = s->ci / B, outputs = s->co / B, taps = s->k * s->k, pad = spot_conv_pad(s);
    const size_t side = (size_t)s->size, out = (size_t)spot_conv_out(s), x_block = side * side * B, y_block = out * out * B;

#pragma omp parallel for num_threads(c->threads)
    for (int b = 0; b < inputs * outputs; b++)
        for (int t = 0; t < taps; t++) {
            bf sum[B] = { 0 };
            sum_tap(s, sum, x + (size_t)(b % inputs) * x_block, dy + (size_t)(b / inputs) * y_block, rows, t / s->k - pad,
                    t % s->k - pad);
            memcpy(dw + ((size_t)b * (size_t)taps + (size_t)t) * B * B, sum, sizeof sum);
        }
}
