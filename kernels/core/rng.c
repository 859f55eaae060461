/* rng.c - out-of-line wrappers around core/philox.h, for callers outside the kernels. */
#include "spotter/rng.h"

#include "core/philox.h"

void spot_philox(uint32_t out[4], const uint32_t counter[4], uint64_t seed) { spot_philox4x32_10(out, counter, seed); }

spot_rng spot_rng_at(uint64_t seed, spot_rng_purpose purpose, uint32_t ec, uint32_t index)
{
    return spot_philox_at(seed, purpose, ec, index);
}

uint32_t spot_rng_u32(spot_rng *r)               { return spot_philox_u32(r); }
uint32_t spot_rng_below(spot_rng *r, uint32_t n) { return spot_philox_below(r, n); }
double   spot_rng_uniform(spot_rng *r)           { return spot_philox_uniform(r); }
double   spot_rng_normal(spot_rng *r)            { return spot_philox_normal(r); }

int spot_rng_between(spot_rng *r, int lo, int hi)
{
    return lo + (int)spot_rng_below(r, (uint32_t)(hi - lo) + 1);
}

void spot_rng_shuffle(spot_rng *r, uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = spot_rng_below(r, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}
