/* check_tensor.h - random tensors in the order that the network's ops want, and how far one is from the truth. */
#ifndef SPOTTER_TESTS_CHECK_TENSOR_H
#define SPOTTER_TESTS_CHECK_TENSOR_H

#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "net/conv.h"
#include "net/norm.h"
#include "spotter/rng.h"

/* n normal numbers, aligned as an arena aligns; `index` names the tensor. The caller frees. */
static inline float *random_tensor(size_t n, uint32_t index)
{
    spot_rng r = spot_rng_at(5, SPOT_RNG_INIT, 0, index);
    float *v = aligned_alloc(64, (n * sizeof *v + 63) / 64 * 64);

    for (size_t i = 0; i < n; i++) v[i] = (float)spot_rng_normal(&r);
    return v;
}

static inline void *room(size_t bytes) { return aligned_alloc(64, (bytes + 127) / 64 * 64); }

static inline size_t numbers(spot_plane p) { return (size_t)p.rows * p.channels * p.size * p.size; }

/* Where (n, channel, pixel) of a tensor (rows, channels/B, pixels, B) lies; three channels are planes. */
static inline size_t place(int n, int channel, int pixel, int channels, int pixels)
{
    int b = channels == 3 ? 1 : SPOT_CHANNELS;

    return (((size_t)n * (channels / b) + channel / b) * pixels + pixel) * b + channel % b;
}

/* The largest difference over the largest wanted number. A NaN fails. */
static inline double distance(const float *got, const double *want, size_t n)
{
    double off = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        assert_true(isfinite(got[i]));
        off = fmax(off, fabs(got[i] - want[i]));
        most = fmax(most, fabs(want[i]));
    }
    return off / most;
}

#endif
