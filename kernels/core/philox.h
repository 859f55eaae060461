/* philox.h - the random numbers of spotter/rng.h as inline functions for C and CUDA. rng.c calls them, too, so an address has
 * the same bits on every device.
 *
 * Philox4x32-10 is Random123's on the CPU and cuRAND's in CUDA code; tests/test_philox.sh compares their bits. Logarithm and
 * cosine for the normal numbers are our own and use only correctly rounded operations, because C libraries and CUDA differ in
 * the last bits; both are within one ulp. Polynomials: fdlibm (Sun Microsystems 1993). */
#ifndef SPOTTER_PHILOX_H
#define SPOTTER_PHILOX_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/hd.h"
#include "spotter/rng.h"

/* The two headers define functions of the same names. A CUDA toolkit may lack cuRAND's. Philox needs no SSE, for which
 * Random123 reads the compiler's headers of all vector instructions and of C++ streams: most of the time of a small file. */
#define R123_USE_SSE 0
#if !defined(__CUDACC__)
#include <Random123/philox.h>
#elif !__has_include(<curand_philox4x32_x.h>)
#include <Random123/philox.h>
#else
#define SPOT_CURAND
#define QUALIFIERS static __forceinline__ __host__ __device__      /* else of the device alone */
#include <curand_philox4x32_x.h>
#undef QUALIFIERS
#endif

/* The raw block at an address. */
static inline SPOT_HD void spot_philox4x32_10(uint32_t out[4], const uint32_t counter[4], uint64_t seed)
{
#ifdef SPOT_CURAND
    const uint4 at = curand_Philox4x32_10(make_uint4(counter[0], counter[1], counter[2], counter[3]),
                                          make_uint2((uint32_t)seed, (uint32_t)(seed >> 32)));

    out[0] = at.x, out[1] = at.y, out[2] = at.z, out[3] = at.w;
#else
    philox4x32_ctr_t at = { { counter[0], counter[1], counter[2], counter[3] } };
    philox4x32_key_t key = { { (uint32_t)seed, (uint32_t)(seed >> 32) } };

    at = philox4x32(at, key);
    for (int i = 0; i < 4; i++) out[i] = at.v[i];
#endif
}

static inline SPOT_HD spot_rng spot_philox_at(uint64_t seed, spot_rng_purpose purpose, uint32_t ec, uint32_t index)
{
    spot_rng r = { seed, { 0, index, ec, (uint32_t)purpose }, { 0, 0, 0, 0 }, 0 };

    return r;
}

static inline SPOT_HD uint32_t spot_philox_u32(spot_rng *r)
{
    if (!r->left) {
        spot_philox4x32_10(r->word, r->counter, r->seed);
        r->counter[0]++;
        r->left = 4;
    }
    return r->word[4 - r->left--];
}

/* Lemire (2019): multiply, and reject the few words that would favour the small results. */
static inline SPOT_HD uint32_t spot_philox_below(spot_rng *r, uint32_t n)
{
    uint64_t m = (uint64_t)spot_philox_u32(r) * n;

    if ((uint32_t)m < n) {
        uint32_t unfair = (0 - n) % n;
        while ((uint32_t)m < unfair) m = (uint64_t)spot_philox_u32(r) * n;
    }
    return (uint32_t)(m >> 32);
}

static inline SPOT_HD double spot_philox_uniform(spot_rng *r)
{
    return (spot_philox_u32(r) + 0.5) * (1.0 / 4294967296);
}

/* log(x) of a positive normal number. */
static inline SPOT_HD double spot_philox_log(double x)
{
    const int64_t root = 0x3fe6a09e667f3bcd;      /* sqrt(1/2): the mantissa lands in [0.707, 1.414) */
    int64_t bits;
    double k, f, s, z, r, half;

    memcpy(&bits, &x, sizeof bits);
    k = (double)((bits - root) >> 52);
    bits = ((bits - root) & 0x000fffffffffffff) + root;
    memcpy(&f, &bits, sizeof f);
    f -= 1;
    s = f / (2 + f);
    z = s * s;
    r = 1.479819860511658591e-01;
    r = 1.531383769920937332e-01 + z * r;
    r = 1.818357216161805012e-01 + z * r;
    r = 2.222219843214978396e-01 + z * r;
    r = 2.857142874366239149e-01 + z * r;
    r = 3.999999999940941908e-01 + z * r;
    r = 6.666666666666735130e-01 + z * r;
    half = 0.5 * f * f;
    return k * 6.93147180369123816490e-01 - ((half - (s * (half + z * r) + k * 1.90821492927058770002e-10)) - f);
}

/* cos(2 pi v) for v in [0, 1] with at most 50 fractional bits, so that subtracting the nearest quarter is exact. */
static inline SPOT_HD double spot_philox_cos(double v)
{
    int quarter = (int)(4 * v + 0.5);
    double a = 6.283185307179586 * (v - 0.25 * quarter), z = a * a, r, w;

    if (quarter % 2) {
        r = 1.58969099521155010221e-10;
        r = -2.50507602534068634195e-08 + z * r;
        r = 2.75573137070700676789e-06 + z * r;
        r = -1.98412698298579493134e-04 + z * r;
        r = 8.33333333332248946124e-03 + z * r;
        r = -1.66666666666666324348e-01 + z * r;
        r = a + a * z * r;
        return quarter == 1 ? -r : r;
    }
    r = -1.13596475577881948265e-11;
    r = 2.08757232129817482790e-09 + z * r;
    r = -2.75573143513906633035e-07 + z * r;
    r = 2.48015872894767294178e-05 + z * r;
    r = -1.38888888888741095749e-03 + z * r;
    r = 4.16666666666666019037e-02 + z * r;
    w = 1 - 0.5 * z;
    r = w + (1 - w - 0.5 * z + z * z * r);
    return quarter == 2 ? -r : r;
}

/* Box-Muller, two words a number. */
static inline SPOT_HD double spot_philox_normal(spot_rng *r)
{
    double u = spot_philox_uniform(r), v = spot_philox_uniform(r);

    return sqrt(-2 * spot_philox_log(u)) * spot_philox_cos(v);
}

#endif
