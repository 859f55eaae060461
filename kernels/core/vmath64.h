/* vmath64.h - vectors of doubles, one register wide, and their exp. For the CPU's kernels only.
 *
 * gcc's vector types, as wide as the target's instruction set. Arrays are padded to whole vectors, so no loop has a tail that
 * could differ from its body: bits depend on the width alone, never on threads or position. Only vd_fma, vd_max and vd_wide
 * are written per instruction set: gcc 12 splits a loop over lanes where much is inlined, and converts half a register at a
 * time. */
#ifndef SPOTTER_VMATH64_H
#define SPOTTER_VMATH64_H

#include <math.h>
#include <stdint.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#if defined __AVX512F__
enum { LANES = 8 };
#elif defined __AVX2__ && defined __FMA__
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

typedef double  vd __attribute__((vector_size(8 * LANES), may_alias));
typedef double  vd_any __attribute__((vector_size(8 * LANES), aligned(8), may_alias));     /* at any address */
typedef int64_t vi __attribute__((vector_size(8 * LANES), may_alias));   /* comparisons give -1 or 0 in each lane */

#define VD_INLINE static inline __attribute__((always_inline))

/* vd_fma: a b + c, rounded once. vd_max: the larger; b when one is NaN. vd_wide: LANES floats, at any address. */
#if defined __AVX512F__
VD_INLINE vd vd_fma(vd a, vd b, vd c) { return _mm512_fmadd_pd(a, b, c); }
VD_INLINE vd vd_max(vd a, vd b)       { return _mm512_max_pd(a, b); }
VD_INLINE vd vd_wide(const float *p)  { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
#elif defined __AVX2__ && defined __FMA__
VD_INLINE vd vd_fma(vd a, vd b, vd c) { return _mm256_fmadd_pd(a, b, c); }
VD_INLINE vd vd_max(vd a, vd b)       { return _mm256_max_pd(a, b); }
VD_INLINE vd vd_wide(const float *p)  { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
#else
VD_INLINE vd vd_fma(vd a, vd b, vd c) { return (vd){ fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1]) }; }
VD_INLINE vd vd_max(vd a, vd b)       { return (vd){ a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1] }; }
VD_INLINE vd vd_wide(const float *p)  { return (vd){ p[0], p[1] }; }
#endif

VD_INLINE vd vd_all(double x) { return x - (vd){ 0 }; }

/* x in a register of its own: gcc would load it again for each of its uses, and loads would bound a loop of products. */
VD_INLINE vd vd_kept(vd x)
{
#if defined __AVX512F__
    __asm__("" : "+v"(x));
#elif defined __AVX2__
    __asm__("" : "+x"(x));
#endif
    return x;
}

/* yes where the mask is set, else no. */
VD_INLINE vi vi_pick(vi mask, vi yes, vi no) { return (mask & yes) | (~mask & no); }
VD_INLINE vd vd_pick(vi mask, vd yes, vd no) { return (vd)vi_pick(mask, (vi)yes, (vi)no); }

/* Lanes summed in their order. */
VD_INLINE double vd_sum(vd a)
{
    double sum = a[0];

    for (int i = 1; i < LANES; i++) sum += a[i];
    return sum;
}

/* e^x for x <= 709, to 1.05 ulp (1.03 was the worst of 6e6 tried); 0 below -708; NaN stays NaN.
 * x = m ln 2 + r with |r| <= ln 2 / 2: the Taylor series of e^r to r^13 is good to 2^-57, and m goes into the exponent.
 * Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits. Even and odd terms are two shorter chains. */
VD_INLINE vd vd_exp(vd x)
{
    static const double even[] = { 1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320, 1.0 / 720, 1.0 / 24, 1.0 / 2 };
    static const double odd[] = { 1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6 };
    const vd shift = vd_all(0x1.8p52), least = vd_all(-708);
    vi tiny = x < least;
    vd y = vd_max(least, x), t = vd_fma(y, vd_all(0x1.71547652b82fep0), shift), m = t - shift;
    vd r = vd_fma(-m, vd_all(0x1.abc9e3b39803fp-56), vd_fma(-m, vd_all(0x1.62e42fefa39efp-1), y));
    vd square = r * r, a = vd_all(even[0]), b = vd_all(odd[0]);

    for (int i = 1; i < 6; i++) {
        a = vd_fma(a, square, vd_all(even[i]));
        b = vd_fma(b, square, vd_all(odd[i]));
    }
    y = 1.0 + vd_fma(vd_fma(b, r, a), square, r);
    return (vd)(~tiny & ((vi)y + ((vi)t << 52)));
}

#endif
