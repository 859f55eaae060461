/* bench.c - random tensors for the rows of a bench, and reads of single numbers. */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "image/raster.h"
#include "net/conv.h"
#include "spotter/rng.h"

enum { POOL = 1048573 };       /* a prime: no two rows of a tensor are alike */

static float pool[POOL];
static pthread_once_t drawn = PTHREAD_ONCE_INIT;

static void draw_pool(void)
{
    spot_rng r = spot_rng_at(1, SPOT_RNG_INIT, 0, 0);

    for (int i = 0; i < POOL; i++) pool[i] = (float)spot_rng_normal(&r);
}

static float widen(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float v;

    memcpy(&v, &word, sizeof v);
    return v;
}

float spot_noise(int id, size_t i, spot_precision p)
{
    pthread_once(&drawn, draw_pool);
    i = (i + (size_t)id * 104729) % POOL;
    return p == SPOT_BF16 ? widen(spot_bf16_bits(pool[i])) : pool[i];
}

spot_status spot_noise_fill(spot_ctx *c, void *to, int id, size_t count, spot_precision p)
{
    size_t bytes = spot_precision_bytes(p), period = count < POOL ? count : POOL;
    unsigned char *piece = malloc(period * bytes);
    spot_status s = piece ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for random numbers of a bench");

    for (size_t i = 0; s == SPOT_OK && i < period; i++) {
        float v = spot_noise(id, i, p);
        memcpy(piece + i * bytes, (char *)&v + sizeof v - bytes, bytes);      /* bf16: the upper half; little-endian */
    }
    for (size_t at = 0; s == SPOT_OK && at < count; at += period) {
        size_t n = count - at < period ? count - at : period;
        s = spot_device_copy(c, (char *)to + at * bytes, piece, n * bytes);
    }
    free(piece);
    return s;
}

spot_status spot_number_at(spot_ctx *c, double *out, const void *tensor, size_t i, spot_precision p)
{
    uint16_t bits;
    float v;

    if (p == SPOT_BF16) {
        SPOT_TRY(spot_device_copy(c, &bits, (const uint16_t *)tensor + i, sizeof bits));
        v = widen(bits);
    } else
        SPOT_TRY(spot_device_copy(c, &v, (const float *)tensor + i, sizeof v));
    *out = v;
    return SPOT_OK;
}

spot_status spot_bench_near(spot_ctx *c, const char *what, size_t i, double got, double want, double off)
{
    if (fabs(got - want) <= off) return SPOT_OK;
    return spot_fail(c, SPOT_CHECK, "%s %zu is %.9g, wanted %.9g within %.2g", what, i, got, want, off);
}
