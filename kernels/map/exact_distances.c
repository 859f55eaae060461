/* exact_distances.c - see exact_distances.h. */
#include "map/exact_distances.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

#include "core/gemm.h"

enum { LANES = SPOT_EXACT_LANES };

#if SPOT_GEMM_AVX2
/* 4 features of 8 rows, from k on -> 4 features side by side from place l on. */
static inline void turn_part(float to[4][LANES], const float *const *b, int k, int l)
{
    __m256 v[4], low[2], high[2];

    for (int i = 0; i < 4; i++)
        v[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(b[i] + k)), _mm_loadu_ps(b[i + 4] + k), 1);
    for (int i = 0; i < 2; i++) {
        low[i] = _mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]);
        high[i] = _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]);
    }
    _mm256_storeu_ps(to[0] + l, _mm256_shuffle_ps(low[0], low[1], 0x44));
    _mm256_storeu_ps(to[1] + l, _mm256_shuffle_ps(low[0], low[1], 0xee));
    _mm256_storeu_ps(to[2] + l, _mm256_shuffle_ps(high[0], high[1], 0x44));
    _mm256_storeu_ps(to[3] + l, _mm256_shuffle_ps(high[0], high[1], 0xee));
}
#endif

/* 16 features of 16 rows, from k on -> 16 features side by side. */
static void turn(float to[LANES][LANES], const float *const b[LANES], int k)
{
#ifdef __AVX512F__
    __m512 v[LANES];
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);

    for (int l = 0; l < LANES; l++) v[l] = _mm512_loadu_ps(b[l] + k);
    for (int s = 1; s < LANES; s *= 2) {       /* blocks of s x s change places across the diagonal */
        const __mmask16 upper = _mm512_test_epi32_mask(lane, _mm512_set1_epi32(s));
        const __m512i low = _mm512_mask_add_epi32(lane, upper, lane, _mm512_set1_epi32(LANES - s));
        const __m512i high = _mm512_mask_add_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(s)), upper, lane,
                                                   _mm512_set1_epi32(LANES));
        for (int l = 0; l < LANES; l++) {
            __m512 a = v[l], c = v[l ^ s];
            if (l & s) continue;
            v[l] = _mm512_permutex2var_ps(a, low, c);
            v[l ^ s] = _mm512_permutex2var_ps(a, high, c);
        }
    }
    for (int l = 0; l < LANES; l++) _mm512_storeu_ps(to[l], v[l]);
#elif SPOT_GEMM_AVX2
    for (int l = 0; l < LANES; l += 8)
        for (int i = 0; i < LANES; i += 4) turn_part(to + i, b + l, k + i, l);
#else
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < LANES; i++) to[i][l] = b[l][k + i];
#endif
}

void spot_exact_distances(float to[LANES], const float *a, const float *const b[LANES], int d)
{
    float turned[LANES][LANES], sum[LANES] = { 0 };      /* on the stack: stores to `to` might change rows */
    int k = 0;

    for (; k + LANES <= d; k += LANES) {
        turn(turned, b, k);
        for (int i = 0; i < LANES; i++)
            for (int l = 0; l < LANES; l++) {
                float x = a[k + i] - turned[i][l];
                sum[l] = fmaf(x, x, sum[l]);
            }
    }
    for (; k < d; k++)
        for (int l = 0; l < LANES; l++) {
            float x = a[k] - b[l][k];
            sum[l] = fmaf(x, x, sum[l]);
        }
    memcpy(to, sum, sizeof sum);
}
