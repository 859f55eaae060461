/* check_cuda_net.h - the network's tensors on both devices: the CPU's order and fp32 on the host, NHWC and the plane's
 * precision on CUDA. */
#ifndef SPOTTER_TESTS_CHECK_CUDA_NET_H
#define SPOTTER_TESTS_CHECK_CUDA_NET_H

#include "check_cuda.h"
#include "check_tensor.h"
#include "net/norm.h"

/* To the nearest, ties to even: with a few lines of double, not as the kernels do it. */
static inline float bf16(float v)
{
    int exponent;
    double m;

    if (!isfinite(v) || v == 0) return v;
    m = frexp(v, &exponent);
    return (float)ldexp(nearbyint(ldexp(m, 8)), exponent - 8);
}

static inline void round_all(float *v, size_t n, spot_precision p)
{
    for (size_t i = 0; i < n && p == SPOT_BF16; i++) v[i] = bf16(v[i]);
}

/* Where a number of a plane lies on CUDA. */
static inline size_t place_cuda(int n, int channel, int pixel, spot_plane p)
{
    return ((size_t)n * p.size * p.size + pixel) * p.channels + channel;
}

#define FOR_PLANE(n, ch, i, p)                            \
    for (int n = 0; n < (p).rows; n++)                    \
        for (int ch = 0; ch < (p).channels; ch++)         \
            for (int i = 0; i < (p).size * (p).size; i++)

/* And back; p is given back, too. */
static inline void download(spot_ctx *c, void *to, void *p, size_t bytes)
{
    CHECK_OK(c, spot_device_copy(c, to, p, bytes));
    spot_device_give(c, p);
}

/* A plane; NULL is none. What bf16 cannot hold is rounded. */
static inline void *upload_plane(spot_ctx *c, const float *from, spot_plane p)
{
    size_t bytes = spot_precision_bytes(p.precision);
    unsigned char *to;
    void *device;

    if (!from) return NULL;
    to = malloc(numbers(p) * bytes);
    FOR_PLANE(n, ch, i, p) {
        float v = from[place(n, ch, i, p.channels, p.size * p.size)];
        v = p.precision == SPOT_BF16 ? bf16(v) : v;
        memcpy(to + place_cuda(n, ch, i, p) * bytes, (char *)&v + 4 - bytes, bytes);     /* the upper half: little-endian */
    }
    device = to_device(c, to, numbers(p) * bytes);
    free(to);
    return device;
}

static inline void download_plane(spot_ctx *c, float *to, void *device, spot_plane p)
{
    size_t bytes = spot_precision_bytes(p.precision);
    unsigned char *from;

    if (!device) return;
    from = malloc(numbers(p) * bytes);
    download(c, from, device, numbers(p) * bytes);
    FOR_PLANE(n, ch, i, p) {
        float v = 0;
        memcpy((char *)&v + 4 - bytes, from + place_cuda(n, ch, i, p) * bytes, bytes);
        to[place(n, ch, i, p.channels, p.size * p.size)] = v;
    }
    free(from);
}

/* The largest difference over the largest number wanted (1 where all are 0). A NaN fails. */
static inline double apart(const float *got, const float *want, size_t n)
{
    double off = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(got[i])) fail_msg("number %zu is %g, wanted %g", i, got[i], want[i]);
        off = fmax(off, fabs((double)got[i] - want[i]));
        most = fmax(most, fabs(want[i]));
    }
    return off / (most > 0 ? most : 1);
}

/* Every schedule must leave the bits of the first. `first` is made by the run with s = 0. */
static inline void same_bits(void **first, const void *now, size_t bytes, int s, const char *what)
{
    if (!s) *first = memcpy(malloc(bytes + 1), now, bytes);
    else if (memcmp(*first, now, bytes)) fail_msg("%s: %s leaves other bits than %s", what, schedule(s), schedule(0));
    if (schedule_after(s, 1) >= LEN(schedules)) free(*first);
}

#endif
