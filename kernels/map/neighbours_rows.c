/* neighbours_rows.c - see neighbours_rows.h. */
#include "map/neighbours_rows.h"

#ifdef __AVX512VNNI__
#include <immintrin.h>
#endif
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/column_sums.h"

enum { PANEL = SPOT_PACKED_PANEL, ROWS = SPOT_GEMM_ROWS };
enum { DEPTH = 128, LANES = 16 };      /* 128 features of a panel fit L1 */
enum { QUAD = 4, WHOLE = 127 };        /* bytes of a product; the greatest q of a panel's row */
enum { FEW = 16, LONGEST = 1 << 15 };  /* fewer features than FEW gain nothing from bytes; more than LONGEST may overflow */

#define UP (1 + 0x1p-20)       /* makes a float that is rounded from a double no less than it */

/* OWN: the greatest q of a tile's row; MIDDLE: its addend to a byte. AVX2 adds two products in 16 bits, which 2 x 127 x 127
 * fits. */
#ifdef __AVX512VNNI__
enum { HAS_BYTES = 1, OWN = WHOLE, MIDDLE = 128 };
#elif SPOT_GEMM_AVX2
enum { HAS_BYTES = 1, OWN = 63, MIDDLE = 64 };
#else
enum { HAS_BYTES = 0, OWN = WHOLE, MIDDLE = 128 };
#endif

spot_status spot_packed_rows_take(spot_ctx *c, spot_arena *a, spot_packed_rows *f, const spot_neighbours *s)
{
    int d = s->x.cols, panels = (s->x.rows + PANEL - 1) / PANEL;
    size_t rows = (size_t)panels * PANEL;

    *f = (spot_packed_rows){ .s = s, .n = s->x.rows, .d = d, .panels = panels,
                             .wide = HAS_BYTES && d >= FEW && d <= LONGEST ? (d + QUAD - 1) / QUAD * QUAD : 0 };
    SPOT_TRY(SPOT_TAKE(c, a, f->mean, d));
    SPOT_TRY(SPOT_TAKE(c, a, f->packed, f->wide ? 0 : rows * d));
    SPOT_TRY(SPOT_TAKE(c, a, f->quads, rows * f->wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->bytes, rows * f->wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->norm, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->length, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->off, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->scale, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->own_off, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->own_scale, rows));
    return SPOT_TAKE(c, a, f->middle, rows);
}

/* ---- packing ---- */

static void mean_of_rows(const spot_packed_rows *f, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int j0 = 0; j0 < f->d; j0 += LANES) {
        int cols = f->d - j0 < LANES ? f->d - j0 : LANES;
        double mean[LANES];
        spot_column_means(mean, f->s->x.v, f->n, f->d, j0, cols);
        for (int j = 0; j < cols; j++) f->mean[j0 + j] = (float)mean[j];
    }
}

static void pack_panel(const spot_packed_rows *f, int p, double shrink)
{
    float *to = f->packed + (size_t)p * f->d * PANEL;

    for (int j = 0; j < PANEL; j++) {
        int i = p * PANEL + j;
        const float *x = f->s->x.v + (size_t)(i < f->n ? i : 0) * f->d;
        double squares = 0;
        for (int k = 0; k < f->d; k++) {
            float off = i < f->n ? x[k] - f->mean[k] : 0;
            to[(size_t)k * PANEL + j] = off;
            squares += (double)off * off;
        }
        f->norm[i] = i < f->n ? (float)(squares * shrink) : INFINITY;
    }
}

/* part as q steps of `scale`, -whole <= q <= whole, and the square of what that leaves. */
static inline int step_of(float part, float scale, int whole, double *left)
{
    const float steps = scale > 0 ? rintf(part / scale) : 0;
    const int q = !(steps < (float)whole) ? whole : steps < (float)-whole ? -whole : (int)steps;
    const double off = part - (double)scale * q;

    *left += off * off;
    return q;
}

/* Row i less the mean as whole numbers, as a row of a panel and of a tile, and what they leave. */
static void pack_bytes(const spot_packed_rows *f, int i, double shrink)
{
    const float *x = f->s->x.v + (size_t)(i < f->n ? i : 0) * f->d;
    int8_t *quad = f->quads + ((size_t)(i / PANEL) * f->wide * PANEL + (size_t)(i % PANEL) * QUAD);
    uint8_t *byte = f->bytes + (size_t)i * f->wide;
    double squares = 0, left = 0, own_left = 0;
    float most = 0, scale, own_scale;
    int sum = 0;
    const bool same = (int)OWN == (int)WHOLE;

    for (int k = 0; k < f->d && i < f->n; k++) most = fmaxf(most, fabsf(x[k] - f->mean[k]));
    scale = most / WHOLE, own_scale = most / OWN;
    for (int k = 0; k < f->wide; k++) {
        const float part = k < f->d && i < f->n ? x[k] - f->mean[k] : 0;
        const int q = step_of(part, scale, WHOLE, &left), own = same ? q : step_of(part, own_scale, OWN, &own_left);
        squares += (double)part * part;
        sum += q;
        byte[k] = (uint8_t)(own + MIDDLE);
        quad[(size_t)(k / QUAD) * QUAD * PANEL + k % QUAD] = (int8_t)q;
    }
    f->middle[i] = -MIDDLE * sum;
    f->scale[i] = scale, f->own_scale[i] = own_scale;
    f->length[i] = (float)(sqrt(squares) * UP);
    f->off[i] = (float)(sqrt(left) * UP);
    f->own_off[i] = same ? f->off[i] : (float)(sqrt(own_left) * UP);
    f->norm[i] = i < f->n ? (float)(squares * shrink) : INFINITY;
}

/* ---- products ---- */

/* Products of the tile's rows, which begin at row i0, with the panel's. */
static void multiply_floats(float (*dot)[PANEL], const spot_packed_rows *f, int i0, int rows, int panel)
{
    memset(dot, 0, (size_t)(rows + ROWS - 1) / ROWS * ROWS * sizeof *dot);
    for (int k0 = 0; k0 < f->d; k0 += DEPTH) {
        float (*b)[PANEL] = (float (*)[PANEL])(f->packed + ((size_t)panel * f->d + k0) * PANEL);
        int depth = f->d - k0 < DEPTH ? f->d - k0 : DEPTH;
        for (int r = 0; r < rows; r += ROWS) {
            const float *row[ROWS];
            for (int i = 0; i < ROWS; i++)
                row[i] = f->packed + ((size_t)((i0 + r) / PANEL) * f->d + k0) * PANEL + r % PANEL + i;
            spot_gemm_tile(dot + r, row, PANEL, b, depth, 0);
        }
    }
}

#if SPOT_GEMM_AVX2
/* Products of 4 rows from `row` on with 16 columns of the panel from j0 on. */
static void multiply_part(float (*dot)[PANEL], const spot_packed_rows *f, int row, int panel, int j0)
{
    const int32_t *middle = f->middle + (size_t)panel * PANEL + j0;
    const float *scale = f->scale + (size_t)panel * PANEL + j0;
    const int8_t *b = f->quads + (size_t)panel * f->wide * PANEL + j0 * QUAD;
    const uint8_t *a[4];
    const __m256i one = _mm256_set1_epi16(1);
    __m256i sum[4][2];

    for (int i = 0; i < 4; i++) {
        a[i] = f->bytes + (size_t)(row + i) * f->wide;
        sum[i][0] = _mm256_loadu_si256((const __m256i *)middle), sum[i][1] = _mm256_loadu_si256((const __m256i *)(middle + 8));
    }
    for (int k = 0; k < f->wide; k += QUAD) {
        const __m256i *at = (const __m256i *)(b + (size_t)k * PANEL);
        const __m256i first = _mm256_loadu_si256(at), last = _mm256_loadu_si256(at + 1);
        for (int i = 0; i < 4; i++) {
            int32_t four;
            memcpy(&four, a[i] + k, sizeof four);
            const __m256i own = _mm256_set1_epi32(four);
            sum[i][0] = _mm256_add_epi32(sum[i][0], _mm256_madd_epi16(_mm256_maddubs_epi16(own, first), one));
            sum[i][1] = _mm256_add_epi32(sum[i][1], _mm256_madd_epi16(_mm256_maddubs_epi16(own, last), one));
        }
    }
    for (int i = 0; i < 4; i++) {
        const __m256 own = _mm256_set1_ps(f->own_scale[row + i]);
        for (int h = 0; h < 2; h++) {
            const __m256 both = _mm256_mul_ps(own, _mm256_loadu_ps(scale + 8 * h));
            _mm256_storeu_ps(dot[i] + j0 + 8 * h, _mm256_mul_ps(both, _mm256_cvtepi32_ps(sum[i][h])));
        }
    }
}
#endif

/* The same from bytes. */
static void multiply_bytes(float (*dot)[PANEL], const spot_packed_rows *f, int i0, int rows, int panel)
{
#ifdef __AVX512VNNI__
    const int8_t *b = f->quads + (size_t)panel * f->wide * PANEL;
    const int32_t *middle = f->middle + (size_t)panel * PANEL;
    const float *scale = f->scale + (size_t)panel * PANEL;

    for (int r = 0; r < rows; r += ROWS) {
        const uint8_t *a = f->bytes + (size_t)(i0 + r) * f->wide;
        __m512i sum[ROWS][2];
        for (int i = 0; i < ROWS; i++) sum[i][0] = _mm512_loadu_si512(middle), sum[i][1] = _mm512_loadu_si512(middle + LANES);
        for (int k = 0; k < f->wide; k += QUAD) {
            __m512i first = _mm512_loadu_si512(b + (size_t)k * PANEL), second = _mm512_loadu_si512(b + (size_t)k * PANEL + 64);
            for (int i = 0; i < ROWS; i++) {
                int32_t four;
                memcpy(&four, a + (size_t)i * f->wide + k, sizeof four);
                sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], _mm512_set1_epi32(four), first);
                sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], _mm512_set1_epi32(four), second);
            }
        }
        for (int i = 0; i < ROWS; i++) {
            __m512 own = _mm512_set1_ps(f->own_scale[i0 + r + i]);
            for (int h = 0; h < 2; h++) {
                __m512 both = _mm512_mul_ps(own, _mm512_loadu_ps(scale + h * LANES));
                _mm512_storeu_ps(dot[r + i] + h * LANES, _mm512_mul_ps(both, _mm512_cvtepi32_ps(sum[i][h])));
            }
        }
    }
#elif SPOT_GEMM_AVX2
    for (int r = 0; r < rows; r += 4)
        for (int j0 = 0; j0 < PANEL; j0 += 16) multiply_part(dot + r, f, i0 + r, panel, j0);
#else
    (void)dot, (void)f, (void)i0, (void)rows, (void)panel;
#endif
}

void spot_packed_rows_fill(const spot_packed_rows *f, double shrink, int threads)
{
    mean_of_rows(f, threads);
    if (!f->wide) memset(f->length, 0, (size_t)f->panels * PANEL * sizeof *f->length);
    if (!f->wide) memset(f->off, 0, (size_t)f->panels * PANEL * sizeof *f->off);
    if (!f->wide) memset(f->own_off, 0, (size_t)f->panels * PANEL * sizeof *f->own_off);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int p = 0; p < f->panels; p++) {
        if (!f->wide) pack_panel(f, p, shrink);
        for (int i = p * PANEL; f->wide && i < (p + 1) * PANEL; i++) pack_bytes(f, i, shrink);
    }
}

void spot_packed_rows_multiply(float (*dot)[PANEL], const spot_packed_rows *f, int i0, int rows, int panel)
{
    if (f->wide) multiply_bytes(dot, f, i0, rows, panel);
    else multiply_floats(dot, f, i0, rows, panel);
}
