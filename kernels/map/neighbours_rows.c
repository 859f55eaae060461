/* neighbours_rows.c - see neighbours_rows.h. */
#include "map/neighbours_rows.h"

#ifdef __AVX512VNNI__
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

#include "core/column_sums.h"

enum { PANEL = SPOT_PACKED_PANEL, ROWS = SPOT_GEMM_ROWS };
enum { DEPTH = 128, LANES = 16 };      /* 128 features of a panel fit L1 */
enum { QUAD = 4, PAIR = 2 * QUAD };    /* bytes of a product; AVX2 adds two products before it widens them */
enum { FEW = 16, LONGEST = 1 << 15 };  /* fewer features than FEW gain nothing from bytes; more than LONGEST may overflow */

#define UP (1 + 0x1p-20)       /* makes a float that is rounded from a double no less than it */

/* WHOLE: the greatest q; MIDDLE: its addend to a byte of a tile's row. AVX2 adds four products in 16 bits, which
 * 4 x (64 + 63) x 63 fits. */
#ifdef __AVX512VNNI__
enum { HAS_BYTES = 1, WHOLE = 127, MIDDLE = 128 };
#elif SPOT_GEMM_AVX2
enum { HAS_BYTES = 1, WHOLE = 63, MIDDLE = 64 };
#else
enum { HAS_BYTES = 0, WHOLE = 127, MIDDLE = 128 };
#endif

spot_status spot_packed_rows_take(spot_ctx *c, spot_arena *a, spot_packed_rows *f, const spot_neighbours *s)
{
    int d = s->x.cols, panels = (s->x.rows + PANEL - 1) / PANEL;
    size_t rows = (size_t)panels * PANEL;

    *f = (spot_packed_rows){ .s = s, .n = s->x.rows, .d = d, .panels = panels,
                             .wide = HAS_BYTES && d >= FEW && d <= LONGEST ? (d + PAIR - 1) / PAIR * PAIR : 0 };
    SPOT_TRY(SPOT_TAKE(c, a, f->mean, d));
    SPOT_TRY(SPOT_TAKE(c, a, f->packed, f->wide ? 0 : rows * d));
    SPOT_TRY(SPOT_TAKE(c, a, f->quads, rows * f->wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->bytes, rows * f->wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->norm, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->length, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->off, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->scale, rows));
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

/* part as steps of `scale`, a whole number from -WHOLE to WHOLE. */
static inline float step_of(float part, float scale)
{
    float steps = rintf(part / scale);

    steps = steps < (float)WHOLE ? steps : (float)WHOLE;       /* where scale is 0 or not finite, too */
    return steps > (float)-WHOLE ? steps : (float)-WHOLE;
}

/* Features k .. k+15 of row i less the mean, 0 past the last. */
static inline void centre(float part[LANES], const spot_packed_rows *f, int i, int k)
{
    const float *x = f->s->x.v + (size_t)i * f->d + k, *mean = f->mean + k;

    if (f->d - k >= LANES) for (int l = 0; l < LANES; l++) part[l] = x[l] - mean[l];
    else for (int l = 0; l < LANES; l++) part[l] = k + l < f->d ? x[l] - mean[l] : 0;
}

/* Row i less the mean as whole numbers, as a row of a panel and of a tile, and what they leave. */
static void pack_bytes(const spot_packed_rows *f, int i, double shrink)
{
    int8_t *quad = f->quads + ((size_t)(i / PANEL) * f->wide * PANEL + (size_t)(i % PANEL) * QUAD);
    uint8_t *byte = f->bytes + (size_t)i * f->wide;
    double squares[LANES] = { 0 }, left[LANES] = { 0 };
    float part[LANES], most[LANES] = { 0 }, scale = 0;
    int sum = 0;

    for (int k = 0; k < f->d; k += LANES) {
        centre(part, f, i, k);
        for (int l = 0; l < LANES; l++) most[l] = fabsf(part[l]) > most[l] ? fabsf(part[l]) : most[l];
    }
    for (int l = 0; l < LANES; l++) scale = fmaxf(scale, most[l] / WHOLE);
    scale = scale > 0 ? scale : 1;
    for (int k = 0; k < f->wide; k += LANES) {
        int8_t q[LANES];
        uint8_t own[LANES];
        int wide = f->wide - k < LANES ? f->wide - k : LANES;
        centre(part, f, i, k);
        for (int l = 0; l < LANES; l++) {
            const float steps = step_of(part[l], scale);
            const double off = part[l] - (double)scale * steps;
            squares[l] += (double)part[l] * part[l];
            left[l] += off * off;
            q[l] = (int8_t)steps, own[l] = (uint8_t)((int)steps + MIDDLE);
        }
        for (int l = 0; l < wide; l++) sum += q[l];
        for (int l = 0; l < wide; l += QUAD) {
            memcpy(byte + k + l, own + l, QUAD);
            memcpy(quad + (size_t)(k + l) * PANEL, q + l, QUAD);
        }
    }
    for (int l = 1; l < LANES; l++) squares[0] += squares[l], left[0] += left[l];
    f->middle[i] = -MIDDLE * sum;
    f->scale[i] = scale;
    f->length[i] = (float)(sqrt(squares[0]) * UP);
    f->off[i] = (float)(sqrt(left[0]) * UP);
    f->norm[i] = (float)(squares[0] * shrink);
}

/* A row past the last, which is near to none. */
static void pack_nothing(const spot_packed_rows *f, int i)
{
    for (int k = 0; k < f->wide; k += QUAD)
        memset(f->quads + ((size_t)(i / PANEL) * f->wide + k) * PANEL + (size_t)(i % PANEL) * QUAD, 0, QUAD);
    memset(f->bytes + (size_t)i * f->wide, 0, (size_t)f->wide);
    f->middle[i] = 0;
    f->scale[i] = f->length[i] = f->off[i] = 0;
    f->norm[i] = INFINITY;
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
/* Products of 8 rows from `row` on with 8 columns of the panel from j0 on. */
static void multiply_part(float (*dot)[PANEL], const spot_packed_rows *f, int row, int panel, int j0)
{
    const int8_t *b = f->quads + (size_t)panel * f->wide * PANEL + j0 * QUAD;
    const uint8_t *a = f->bytes + (size_t)row * f->wide;
    const size_t wide = (size_t)f->wide, at = (size_t)panel * PANEL + (size_t)j0;
    const __m256i one = _mm256_set1_epi16(1), middle = _mm256_loadu_si256((const __m256i *)(f->middle + at));
    const __m256 scale = _mm256_loadu_ps(f->scale + at);
    __m256i sum[ROWS];

    for (int i = 0; i < ROWS; i++) sum[i] = middle;
    for (size_t k = 0; k < wide; k += PAIR) {
        const __m256i first = _mm256_loadu_si256((const __m256i *)(b + k * PANEL));
        const __m256i last = _mm256_loadu_si256((const __m256i *)(b + (k + QUAD) * PANEL));
        __asm__("" : : "x"(first), "x"(last));     /* gcc would load them again for each row */
        for (int i = 0; i < ROWS; i++) {
            int32_t four[2];
            memcpy(four, a + (size_t)i * wide + k, sizeof four);
            const __m256i two = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_set1_epi32(four[0]), first),
                                                 _mm256_maddubs_epi16(_mm256_set1_epi32(four[1]), last));
            sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(two, one));
        }
    }
    for (int i = 0; i < ROWS; i++) {
        const __m256 both = _mm256_mul_ps(_mm256_set1_ps(f->scale[row + i]), scale);
        _mm256_storeu_ps(dot[i] + j0, _mm256_mul_ps(both, _mm256_cvtepi32_ps(sum[i])));
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
            __m512 own = _mm512_set1_ps(f->scale[i0 + r + i]);
            for (int h = 0; h < 2; h++) {
                __m512 both = _mm512_mul_ps(own, _mm512_loadu_ps(scale + h * LANES));
                _mm512_storeu_ps(dot[r + i] + h * LANES, _mm512_mul_ps(both, _mm512_cvtepi32_ps(sum[i][h])));
            }
        }
    }
#elif SPOT_GEMM_AVX2
    for (int r = 0; r < rows; r += ROWS)
        for (int j0 = 0; j0 < PANEL; j0 += 8) multiply_part(dot + r, f, i0 + r, panel, j0);
#else
    (void)dot, (void)f, (void)i0, (void)rows, (void)panel;
#endif
}

void spot_packed_rows_fill(const spot_packed_rows *f, double shrink, int threads)
{
    mean_of_rows(f, threads);
    if (!f->wide) memset(f->length, 0, (size_t)f->panels * PANEL * sizeof *f->length);
    if (!f->wide) memset(f->off, 0, (size_t)f->panels * PANEL * sizeof *f->off);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int p = 0; p < f->panels; p++) {
        if (!f->wide) pack_panel(f, p, shrink);
        for (int i = p * PANEL; f->wide && i < (p + 1) * PANEL; i++)
            if (i < f->n) pack_bytes(f, i, shrink);
            else pack_nothing(f, i);
    }
}

void spot_packed_rows_multiply(float (*dot)[PANEL], const spot_packed_rows *f, int i0, int rows, int panel)
{
    if (f->wide) multiply_bytes(dot, f, i0, rows, panel);
    else multiply_floats(dot, f, i0, rows, panel);
}
