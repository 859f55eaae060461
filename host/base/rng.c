/* rng.c - Philox4x32-10 from Random123, handed out word by word. */
#include "spotter/rng.h"

#include <Random123/philox.h>
#include <math.h>

void spot_philox(uint32_t out[4], const uint32_t counter[4], uint64_t seed)
{
    philox4x32_ctr_t ctr = { { counter[0], counter[1], counter[2], counter[3] } };
    philox4x32_key_t key = { { (uint32_t)seed, (uint32_t)(seed >> 32) } };
    philox4x32_ctr_t r = philox4x32(ctr, key);

    for (int i = 0; i < 4; i++) out[i] = r.v[i];
}

spot_rng spot_rng_at(uint64_t seed, spot_rng_purpose purpose, uint32_t ec, uint32_t index)
{
    return (spot_rng){ .seed = seed, .counter = { 0, index, ec, purpose } };
}

uint32_t spot_rng_u32(spot_rng *r)
{
    if (!r->left) {
        spot_philox(r->word, r->counter, r->seed);
        r->counter[0]++;
        r->left = 4;
    }
    return r->word[4 - r->left--];
}

/* Lemire (2019): multiply, and reject the few words that would favour the small results. */
uint32_t spot_rng_below(spot_rng *r, uint32_t n)
{
    uint64_t m = (uint64_t)spot_rng_u32(r) * n;

    if ((uint32_t)m < n) {
        uint32_t unfair = (uint32_t)-n % n;
        while ((uint32_t)m < unfair) m = (uint64_t)spot_rng_u32(r) * n;
    }
    return (uint32_t)(m >> 32);
}

int spot_rng_between(spot_rng *r, int lo, int hi)
{
    return lo + (int)spot_rng_below(r, (uint32_t)(hi - lo) + 1);
}

double spot_rng_uniform(spot_rng *r) { return (spot_rng_u32(r) + 0.5) * 0x1p-32; }

double spot_rng_normal(spot_rng *r)
{
    double u = spot_rng_uniform(r), v = spot_rng_uniform(r);

    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

void spot_rng_shuffle(spot_rng *r, uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = spot_rng_below(r, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}
