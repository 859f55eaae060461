/* vmath.h - exp and log whose bits are the same in a scalar loop, in a vector loop and on a GPU.
 *
 * Only correctly rounded operations: add, mul, fmaf, rintf, compare and integer shifts. The vector functions of libm round
 * differently from its scalar ones, so the tail of a loop would differ from its body. Polynomials: Cephes (Moshier 1992),
 * single precision. */
#ifndef SPOTTER_VMATH_H
#define SPOTTER_VMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/hd.h"
#include "core/lanes.h"

static SPOT_HD inline float spot_bits_float(int32_t i)
{
    float f;
    memcpy(&f, &i, sizeof f);
    return f;
}

static SPOT_HD inline int32_t spot_float_bits(float f)
{
    int32_t i;
    memcpy(&i, &f, sizeof i);
    return i;
}

/* exp of an x from -87.3 to 88. */
static SPOT_HD inline float spot_expf_within(float in)
{
    float k = rintf(in * 1.44269504f);
    float r = fmaf(k, -0.693359375f, in);          /* ln 2 in two pieces, the first of nine bits: k * it is exact */
    r = fmaf(k, 2.12194440e-4f, r);
    float p = 1.9875691500e-4f;
    p = fmaf(p, r, 1.3981999507e-3f);
    p = fmaf(p, r, 8.3334519073e-3f);
    p = fmaf(p, r, 4.1665795894e-2f);
    p = fmaf(p, r, 1.6666665459e-1f);
    p = fmaf(p, r, 5.0000001201e-1f);
    p = fmaf(p, r * r, r) + 1.0f;
    return spot_bits_float(spot_float_bits(p) + (int32_t)k * (1 << 23));
}

static SPOT_HD inline float spot_exp_range(float x)
{
    float in = x > -87.3f ? x : -87.3f;

    return in < 88.0f ? in : 88.0f;
}

/* exp: 0 below -87.3 (no denormals), above 88 the value at 88, NaN for NaN. */
static SPOT_HD inline float spot_expf(float x)
{
    float p = spot_expf_within(spot_exp_range(x));

    p = x > -87.3f ? p : 0.0f;
    return x != x ? x : p;
}

/* exp in double, within two units of the last place: 0 below -708 (no denormals), above 709 the value at 709, NaN for NaN. The
 * series of exp to the 13th power on [-ln 2 / 2, ln 2 / 2]; the next term is below 1e-17. */
static SPOT_HD inline double spot_exp(double x)
{
    const double whole = 6755399441055744.0;       /* 1.5 * 2^52: a sum with it has an integer in its last bits */
    double in = x > -708.0 ? x : -708.0;
    in = in < 709.0 ? in : 709.0;
    double shifted = fma(in, 1.4426950408889634, whole), k = shifted - whole;
    double r = fma(k, -6.93147180369123816490e-01, in);        /* ln 2 in two pieces: k times the first is exact */
    r = fma(k, -1.90821492927058770002e-10, r);
    double p = 1.0 / 6227020800.0;
    p = fma(p, r, 1.0 / 479001600.0);
    p = fma(p, r, 1.0 / 39916800.0);
    p = fma(p, r, 1.0 / 3628800.0);
    p = fma(p, r, 1.0 / 362880.0);
    p = fma(p, r, 1.0 / 40320.0);
    p = fma(p, r, 1.0 / 5040.0);
    p = fma(p, r, 1.0 / 720.0);
    p = fma(p, r, 1.0 / 120.0);
    p = fma(p, r, 1.0 / 24.0);
    p = fma(p, r, 1.0 / 6.0);
    p = fma(p, r, 0.5);
    p = fma(p, r * r, r) + 1.0;
    uint64_t bits, power;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&power, &shifted, sizeof power);
    bits += power << 52;                           /* the bits of `whole` itself are shifted out */
    memcpy(&p, &bits, sizeof p);
    p = x > -708.0 ? p : 0.0;
    return x != x ? x : p;
}

/* log of a positive normal number; other arguments are not allowed. */
static SPOT_HD inline float spot_logf(float x)
{
    int32_t bits = spot_float_bits(x) - 0x3f3504f3;               /* sqrt(1/2): the mantissa lands in [0.707, 1.414) */
    float e = (float)(bits >> 23);
    float m = spot_bits_float((bits & 0x007fffff) + 0x3f3504f3) - 1.0f;
    float z = m * m, p = 7.0376836292e-2f;
    p = fmaf(p, m, -1.1514610310e-1f);
    p = fmaf(p, m, 1.1676998740e-1f);
    p = fmaf(p, m, -1.2420140846e-1f);
    p = fmaf(p, m, 1.4249322787e-1f);
    p = fmaf(p, m, -1.6668057665e-1f);
    p = fmaf(p, m, 2.0000714765e-1f);
    p = fmaf(p, m, -2.4999993993e-1f);
    p = fmaf(p, m, 3.3333331174e-1f);
    p = fmaf(e, -2.12194440e-4f, p * m * z);
    p = fmaf(-0.5f, z, p);
    return fmaf(e, 0.693359375f, m + p);
}

/* log(1 + e) for e in [0, 1], small e included: 2 atanh(e / (2 + e)). */
static SPOT_HD inline float spot_log1pf(float e)
{
    float s = e / (2.0f + e), z = s * s, p = 1.0f / 15;
    p = fmaf(p, z, 1.0f / 13);
    p = fmaf(p, z, 1.0f / 11);
    p = fmaf(p, z, 1.0f / 9);
    p = fmaf(p, z, 1.0f / 7);
    p = fmaf(p, z, 1.0f / 5);
    p = fmaf(p, z, 1.0f / 3);
    return 2.0f * fmaf(p * z, s, s);
}

/* log(1 + exp(x)), and its derivative, the logistic function. */
static SPOT_HD inline float spot_softplusf(float x, float *slope)
{
    float e = spot_expf(-fabsf(x));

    *slope = (x > 0 ? 1.0f : e) / (1.0f + e);
    return (x > 0 ? x : 0.0f) + spot_log1pf(e);
}

/* Student's kernel (1 + d2/f)^(-(f+1)/2) from q = 1 / (1 + d2/f). */
static SPOT_HD inline float spot_student(float q, int f)
{
    float w = q;

    for (int power = 3; power <= f; power += 2) w *= q;
    return f % 2 ? w : w * sqrtf(q);
}

/* The sum of 16 lanes, always in the same order: 8, 4, 2 and 1 lanes apart. */
static SPOT_HD inline float spot_fold(const float lane[16])
{
    float eight[8], four[4];

    for (int l = 0; l < 8; l++) eight[l] = lane[l] + lane[l + 8];
    for (int l = 0; l < 4; l++) four[l] = eight[l] + eight[l + 4];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

#endif
