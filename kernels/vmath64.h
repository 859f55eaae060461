/* vmath64.h - eight doubles at a time, and exp of them. For the CPU's kernels only.
 *
 * gcc's vector types: one AVX-512 register where there is one, split into smaller ones elsewhere. Only operations that
 * IEEE 754 rounds correctly and no fused ones, so that every machine gives the same bits; arrays are padded to whole
 * vectors, so that there is no tail to differ from the body. */
#ifndef SPOTTER_KERNELS_VMATH64_H
#define SPOTTER_KERNELS_VMATH64_H

#include <math.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wpsabi"   /* how vectors are passed does not matter: everything here is inlined */

typedef double  v8  __attribute__((vector_size(64), may_alias));
typedef int64_t v8i __attribute__((vector_size(64), may_alias));   /* comparisons give -1 or 0 in each lane */

#define V8_INLINE static inline __attribute__((always_inline))

V8_INLINE v8 v8_all(double x) { return (v8){ x, x, x, x, x, x, x, x }; }

/* yes where the mask is set, else no. */
V8_INLINE v8  v8_pick(v8i mask, v8 yes, v8 no)     { return (v8)((mask & (v8i)yes) | (~mask & (v8i)no)); }
V8_INLINE v8i v8i_pick(v8i mask, v8i yes, v8i no)  { return (mask & yes) | (~mask & no); }

/* Lanes summed in their order. */
V8_INLINE double v8_sum(v8 a)
{
    double sum = a[0];

    for (int i = 1; i < 8; i++) sum += a[i];
    return sum;
}

/* e^x for x <= 709, to 1 ulp (0.99 was the worst of 2e7 tried); 0 below -708; NaN stays NaN.
 * x = m ln 2 + r with |r| <= ln 2 / 2: the Taylor series of e^r to r^13 is good to 2^-57, and m goes into the exponent.
 * Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits. ln 2 is split so that m * its head is exact. */
V8_INLINE v8 v8_exp(v8 x)
{
    static const double c[] = { 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5 };
    const double shift = 0x1.8p52, head = 0x1.62e42feep-1, tail = 0x1.a39ef35793c76p-33;
    v8i tiny = x < -708.0;
    v8 t = v8_pick(tiny, v8_all(-708), x) * 0x1.71547652b82fep0 + shift, m = t - shift;
    v8 r = (v8_pick(tiny, v8_all(-708), x) - m * head) - m * tail, p = v8_all(c[0]);

    for (int i = 1; i < 12; i++) p = p * r + c[i];
    p = 1.0 + (r + r * r * p);
    return (v8)(~tiny & ((v8i)p + ((v8i)t << 52)));
}

#endif
