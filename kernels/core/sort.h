/* sort.h - ascending sort of numbers, for ops that sort every column of a matrix. Numbers become unsigned integers ("keys")
 * of the same order; -0 and 0 have one key. */
#ifndef SPOTTER_SORT_H
#define SPOTTER_SORT_H

#include <stdint.h>
#include <string.h>

#include "core/philox.h"      /* SPOT_HD */

static inline SPOT_HD uint64_t spot_sort_key(double v)
{
    uint64_t bits;

    v += 0.0;            /* -0 becomes 0 */
    memcpy(&bits, &v, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static inline SPOT_HD double spot_of_key(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A key that sorts by v, then by low: the float's key in the upper half, low in the lower half. */
static inline SPOT_HD uint64_t spot_key_with(float v, uint32_t low)
{
    uint32_t bits;

    v += 0.0f;
    memcpy(&bits, &v, sizeof bits);
    bits = bits >> 31 ? ~bits : bits | (uint32_t)1 << 31;
    return (uint64_t)bits << 32 | low;
}

#ifndef __cplusplus
/* Sorts by the bits from `low` up; keys that are equal there keep their order. Radix, 11 bits a pass. Returns key or spare,
 * whichever holds the result. */
static inline uint64_t *spot_sort(uint64_t *key, uint64_t *spare, int n, int low)
{
    enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 6 };
    uint32_t start[PASSES][BUCKETS];
    int passes = (64 - low + BITS - 1) / BITS;

    memset(start, 0, (size_t)passes * sizeof *start);
    for (int i = 0; i < n; i++)
        for (int p = 0; p < passes; p++) start[p][key[i] >> (low + p * BITS) & (BUCKETS - 1)]++;
    for (int p = 0; p < passes; p++) {
        int shift = low + p * BITS;
        uint32_t sum = 0;
        uint64_t *swap = key;
        if (n && start[p][key[0] >> shift & (BUCKETS - 1)] == (uint32_t)n) continue;      /* all alike */
        for (int b = 0; b < BUCKETS; b++) {
            uint32_t count = start[p][b];
            start[p][b] = sum;
            sum += count;
        }
        for (int i = 0; i < n; i++) spare[start[p][key[i] >> shift & (BUCKETS - 1)]++] = key[i];
        key = spare;
        spare = swap;
    }
    return key;
}
#endif

#endif
