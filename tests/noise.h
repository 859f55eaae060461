/* noise.h - random numbers of tests, by address: the same seed and number give the same ones. */
#ifndef SPOTTER_TESTS_NOISE_H
#define SPOTTER_TESTS_NOISE_H

#include <stdint.h>
#include <stdlib.h>

#include "spotter/rng.h"

static inline spot_rng noise_at(uint64_t seed, int number)
{
    return spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)number);
}

/* n normal numbers; the caller frees. */
static inline float *normals(size_t n, uint64_t seed, int number)
{
    spot_rng r = noise_at(seed, number);
    float *v = malloc((n + 1) * sizeof *v);

    for (size_t i = 0; i < n; i++) v[i] = (float)spot_rng_normal(&r);
    return v;
}

static inline double *normal_doubles(spot_rng *r, size_t n)
{
    double *v = malloc((n + 1) * sizeof *v);

    for (size_t i = 0; i < n; i++) v[i] = spot_rng_normal(r);
    return v;
}

#endif
