/* blobs.h - views of Gaussian blobs for the tests of the reducers. */
#ifndef SPOTTER_TESTS_BLOBS_H
#define SPOTTER_TESTS_BLOBS_H

#include <stdlib.h>

#include "spotter/embed.h"
#include "spotter/rng.h"

/* n rows of d features around `centres` centres that lie about 6 sqrt(d) apart; row i belongs to centre i % centres. */
static inline spot_view blobs(int n, int d, int centres, uint64_t seed)
{
    spot_view v = { .n = n, .d = d, .feature = malloc((size_t)n * d * sizeof(float)) };
    spot_rng r = spot_rng_at(seed, SPOT_RNG_PCA, 0, 1);

    for (int i = 0; i < n; i++) {
        spot_rng centre = spot_rng_at(seed, SPOT_RNG_PCA, 1, (uint32_t)(i % centres));
        for (int k = 0; k < d; k++) v.feature[i * d + k] = (float)(4 * spot_rng_normal(&centre) + spot_rng_normal(&r));
    }
    return v;
}

static inline void blobs_free(spot_view *v) { free(v->feature); }

#endif
