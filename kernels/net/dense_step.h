/* dense_step.h - which numbers are dropped and how long a chain is, for CPU and CUDA. */
#ifndef SPOTTER_DENSE_STEP_H
#define SPOTTER_DENSE_STEP_H

#include "core/philox.h"
#include "net/dense.h"

/* Steps of a chain. In one chain over AlexNet's 9,216 inputs the rounding errors grow several times as large. */
enum { SPOT_DENSE_CHAIN = 256 };

/* The four words for numbers 4 * block to 4 * block + 3. */
static inline SPOT_HD void spot_drop_words(uint32_t word[4], uint64_t seed, uint32_t number, uint32_t step, uint32_t site,
                                           uint32_t block)
{
    const uint32_t at[4] = { site << 30 | block, step, number, SPOT_RNG_DROPOUT };

    spot_philox4x32_10(word, at, seed);
}

#endif
