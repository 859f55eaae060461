/* finite.h - whether an array holds finite numbers only. */
#ifndef SPOTTER_FINITE_H
#define SPOTTER_FINITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Tests exponents, without a branch for each of millions of values. */
static inline bool spot_all_finite(const float *v, size_t n)
{
    const uint32_t most = 0x7f800000;
    uint32_t bad = 0, bits;

    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, v + i, sizeof bits);
        bad |= (bits & most) == most;
    }
    return !bad;
}

#endif
