/* check_bf16.h - tensors in bf16 as the CPU has them: (rows, pixels, channels). */
#ifndef SPOTTER_TESTS_CHECK_BF16_H
#define SPOTTER_TESTS_CHECK_BF16_H

#include "check_tensor.h"

#include "core/bf16.h"

/* A test of bf16 on a CPU that has it; on another there is nothing to see. */
#define NEEDS_BF16()                                              \
    do {                                                          \
        spot_ctx needs_ = check_ctx(1);                           \
        if (!spot_conv_has(&needs_, SPOT_BF16)) skip();           \
    } while (0)

/* Normal numbers, scaled, rounded; the caller frees. */
static inline uint16_t *random_halves(size_t n, uint32_t index, float mean, float scale)
{
    float *v = random_tensor(n, index);
    uint16_t *h = room(n * sizeof *h);

    for (size_t i = 0; i < n; i++) h[i] = spot_bf16_bits(mean + scale * v[i]);
    free(v);
    return h;
}

static inline size_t place_half(int n, int channel, int pixel, int channels, int pixels)
{
    return ((size_t)n * pixels + pixel) * channels + channel;
}

/* A sum rounded once to bf16: half of its last place, and what its summands lose (a part of the largest result). */
static inline void check_halves(const uint16_t *got, const double *want, size_t n, double part, const char *what)
{
    double most = 0, off = 0;

    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(want[i]));
    for (size_t i = 0; i < n; i++) {
        double d = fabs(spot_bf16_float(got[i]) - want[i]) - 0x1p-8 * 1.001 * fabs(want[i]);
        if (!(d <= part * most)) fail_msg("%s: number %zu is %g, not %g", what, i, spot_bf16_float(got[i]), want[i]);
        off = fmax(off, d);
    }
}

#endif
