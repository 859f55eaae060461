/* vmath64.cuh - vmath64.h's exp on a GPU. */
#ifndef SPOTTER_VMATH64_CUH
#define SPOTTER_VMATH64_CUH

#include <stdint.h>
#include <string.h>

#include "core/cuda.cuh"

/* vd_exp of vmath64.h, one at a time: the same bits. */
static __device__ inline double spot_exp64(double x)
{
    const double even[] = { 1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320, 1.0 / 720, 1.0 / 24, 1.0 / 2 };
    const double odd[] = { 1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6 };
    double y = x < -708 ? -708 : x, t = fma(y, 0x1.71547652b82fep0, 0x1.8p52), m = t - 0x1.8p52;
    double r = fma(-m, 0x1.abc9e3b39803fp-56, fma(-m, 0x1.62e42fefa39efp-1, y));
    double square = r * r, a = even[0], b = odd[0];
    uint64_t bits, power;

    for (int i = 1; i < 6; i++) {
        a = fma(a, square, even[i]);
        b = fma(b, square, odd[i]);
    }
    y = 1.0 + fma(fma(b, r, a), square, r);
    memcpy(&bits, &y, sizeof bits);
    memcpy(&power, &t, sizeof power);
    bits += power << 52;
    memcpy(&y, &bits, sizeof y);
    return x < -708 ? 0 : y;
}

#endif
