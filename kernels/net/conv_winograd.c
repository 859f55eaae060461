/* conv_winograd.c - Lavin and Gray 2016: a tile of 6 x 6 pixels, transformed, times transformed weights at each of 36 points,
 * summed over channels, is the transform of 4 x 4 outputs. The points of the interpolation are 0, +-A, +-C and infinity. */
#include "net/conv_winograd.h"

#include "core/gemm.h"

#if SPOT_GEMM_AVX2

#include <omp.h>

enum { B = SPOT_CHANNELS, IN = 6, OUT = 4, POINTS = IN * IN, WIDE = 2 * B, HIGH = 6, TILES = 48, GAP = 16 };

static const double A = 0.625, C = 1.5;

/* Tiles of a pass over the channels. Numbers of a point lie GAP further on than they need: else all points would be in one set
 * of the cache. */
typedef struct { int side, image, all; size_t in, out; } tiling;

static tiling tiling_of(const spot_conv_shape *s, int rows)
{
    const int side = (s->size + OUT - 1) / OUT;

    return (tiling){ side, side * side, rows * side * side, (size_t)TILES * (size_t)s->ci + GAP,
                     (size_t)TILES * (size_t)s->co + GAP };
}

/* ---- transforms ---- */

static inline __m256 times(double a, __m256 x, __m256 y) { return _mm256_fmadd_ps(_mm256_set1_ps((float)a), x, y); }

static inline __m256 scaled(double a, __m256 x) { return _mm256_mul_ps(_mm256_set1_ps((float)a), x); }

/* Six pixels of a line at the six points. */
static inline __attribute__((always_inline)) void transform_line(__m256 to[IN], const __m256 x[IN])
{
    const __m256 even_a = times(-C * C, x[2], x[4]), odd_a = times(-C * C, x[1], x[3]);
    const __m256 even_c = times(-A * A, x[2], x[4]), odd_c = times(-A * A, x[1], x[3]);

    to[0] = times(A * A * C * C, x[0], times(-A * A - C * C, x[2], x[4]));
    to[1] = times(A, odd_a, even_a), to[2] = times(-A, odd_a, even_a);
    to[3] = times(C, odd_c, even_c), to[4] = times(-C, odd_c, even_c);
    to[5] = times(A * A * C * C, x[1], times(-A * A - C * C, x[3], x[5]));
}

/* Four outputs of a line. */
static inline __attribute__((always_inline)) void restore_line(__m256 to[OUT], const __m256 m[IN])
{
    const __m256 sum_a = _mm256_add_ps(m[1], m[2]), sum_c = _mm256_add_ps(m[3], m[4]);
    const __m256 less_a = _mm256_sub_ps(m[1], m[2]), less_c = _mm256_sub_ps(m[3], m[4]);

    to[0] = _mm256_add_ps(m[0], _mm256_add_ps(sum_a, sum_c));
    to[1] = times(A, less_a, scaled(C, less_c));
    to[2] = times(A * A, sum_a, scaled(C * C, sum_c));
    to[3] = times(A * A * A, less_a, times(C * C * C, less_c, m[5]));
}

/* A tile of a block of channels, whose first pixel is (left, top) of the image: v's numbers of all points. */
static inline __attribute__((always_inline)) void transform_tile(float *v, size_t step, const float *x, int left, int top,
                                                                 int size, bool whole)
{
    __m256 line[IN][IN], at[IN], to[IN];

    for (int i = 0; i < IN; i++) {
        for (int j = 0; j < IN; j++) {
            const bool here = whole || (top + i >= 0 && top + i < size && left + j >= 0 && left + j < size);
            at[j] = here ? _mm256_loadu_ps(x + ((ptrdiff_t)(top + i) * size + left + j) * B) : _mm256_setzero_ps();
        }
        transform_line(line[i], at);
    }
    for (int j = 0; j < IN; j++) {
        for (int i = 0; i < IN; i++) at[i] = line[i][j];
        transform_line(to, at);
        for (int i = 0; i < IN; i++) _mm256_storeu_ps(v + (size_t)(i * IN + j) * step, to[i]);
    }
}

/* Tiles [first, first + count) of all rows, for all channels. */
static void transform_tiles(const spot_conv_shape *s, const tiling *g, float *v, const float *x, int first, int count)
{
    const size_t area = (size_t)s->size * (size_t)s->size;

    for (int t = 0; t < count; t++) {
        const int row = (first + t) / g->image, at = (first + t) % g->image;
        const int left = at % g->side * OUT - 1, top = at / g->side * OUT - 1;
        const bool whole = left >= 0 && top >= 0 && left + IN <= s->size && top + IN <= s->size;
        for (int b = 0; b < s->ci / B; b++) {
            const float *from = x + ((size_t)row * (size_t)(s->ci / B) + (size_t)b) * area * B;
            float *to = v + (size_t)t * (size_t)s->ci + (size_t)b * B;
            if (whole) transform_tile(to, g->in, from, left, top, s->size, true);
            else       transform_tile(to, g->in, from, left, top, s->size, false);
        }
    }
}

/* Outputs of a tile for a block of channels. */
static inline __attribute__((always_inline)) void restore_tile(const spot_conv_shape *s, float *y, const float *m, size_t step,
                                                               __m256 bias, int left, int top)
{
    __m256 column[OUT][IN], at[IN], to[OUT];

    for (int j = 0; j < IN; j++) {
        for (int i = 0; i < IN; i++) at[i] = _mm256_loadu_ps(m + (size_t)(i * IN + j) * step);
        restore_line(to, at);
        for (int i = 0; i < OUT; i++) column[i][j] = to[i];
    }
    for (int i = 0; i < OUT && top + i < s->size; i++) {
        restore_line(to, column[i]);
        for (int j = 0; j < OUT && left + j < s->size; j++) {
            float *out = y + ((size_t)(top + i) * (size_t)s->size + (size_t)(left + j)) * B;
            __m256 sum = _mm256_add_ps(to[j], bias);
            if (s->add) sum = _mm256_add_ps(sum, _mm256_loadu_ps(out));
            if (s->relu) sum = _mm256_max_ps(_mm256_setzero_ps(), sum);           /* the second where one is NaN */
            _mm256_storeu_ps(out, sum);
        }
    }
}

static void restore_tiles(const spot_conv_shape *s, const tiling *g, float *y, const float *m, const float *bias, int first,
                          int count)
{
    const size_t area = (size_t)s->size * (size_t)s->size;

    for (int t = 0; t < count; t++) {
        const int row = (first + t) / g->image, at = (first + t) % g->image;
        for (int b = 0; b < s->co / B; b++)
            restore_tile(s, y + ((size_t)row * (size_t)(s->co / B) + (size_t)b) * area * B,
                         m + (size_t)t * (size_t)s->co + (size_t)b * B, g->out,
                         bias ? _mm256_loadu_ps(bias + b * B) : _mm256_setzero_ps(), at % g->side * OUT, at / g->side * OUT);
    }
}

/* ---- products ---- */

/* m (high, WIDE) = v (high, depth) u (depth, WIDE): 6 x 16 sums are in registers. */
static void multiply(float *m, size_t m_row, const float *v, const float *u, int depth, int high)
{
    const float *a[HIGH];
    __m256 s[HIGH][2];

    for (int i = 0; i < HIGH; i++) {
        a[i] = v + (size_t)(i < high ? i : 0) * (size_t)depth;
        s[i][0] = s[i][1] = _mm256_setzero_ps();
    }
    for (int k = 0; k < depth; k++, u += WIDE) {
        const __m256 u0 = _mm256_loadu_ps(u), u1 = _mm256_loadu_ps(u + B);
        __asm__("" : : "x"(u0), "x"(u1));          /* as in gemm.h: gcc would load them again for each row */
        for (int i = 0; i < HIGH; i++) {
            const __m256 own = _mm256_set1_ps(a[i][k]);
            s[i][0] = _mm256_fmadd_ps(own, u0, s[i][0]);
            s[i][1] = _mm256_fmadd_ps(own, u1, s[i][1]);
        }
    }
    for (int i = 0; i < HIGH; i++)
        if (i < high) {
            _mm256_storeu_ps(m + (size_t)i * m_row, s[i][0]);
            _mm256_storeu_ps(m + (size_t)i * m_row + B, s[i][1]);
        }
}

static void multiply_points(const spot_conv_shape *s, const tiling *g, float *m, const float *v, const float *w, int count)
{
    const size_t panel = (size_t)s->ci * WIDE;

    for (int q = 0; q < POINTS; q++)
        for (int o = 0; o < s->co / WIDE; o++, w += panel)
            for (int t = 0; t < count; t += HIGH)
                multiply(m + (size_t)q * g->out + (size_t)t * (size_t)s->co + (size_t)o * WIDE, (size_t)s->co,
                         v + (size_t)q * g->in + (size_t)t * (size_t)s->ci, w, s->ci, count - t < HIGH ? count - t : HIGH);
}

void spot_conv_winograd(const spot_conv_shape *s, float *y, const spot_conv_terms *t, int rows, int threads, void *scratch)
{
    const tiling g = tiling_of(s, rows);
    const size_t own = spot_conv_winograd_scratch(s) / sizeof(float);

#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int first = 0; first < g.all; first += TILES) {
        float *v = (float *)scratch + (size_t)omp_get_thread_num() * own, *m = v + POINTS * g.in;
        const int count = g.all - first < TILES ? g.all - first : TILES;
        transform_tiles(s, &g, v, t->x, first, count);
        multiply_points(s, &g, m, v, t->w, count);
        restore_tiles(s, &g, y, m, t->bias, first, count);
    }
}

/* ---- weights ---- */

/* Three weights of a line at the six points, for WIDE outputs. */
static inline void weigh_line(double (*restrict to)[WIDE], size_t step, double (*restrict w)[WIDE], size_t by)
{
    const double a2 = A * A, c2 = C * C, a_part = 1 / (2 * a2 * (a2 - c2)), c_part = 1 / (2 * c2 * (c2 - a2));

    for (int o = 0; o < WIDE; o++) {
        const double first = w[0][o], second = w[by][o], third = w[2 * by][o];
        to[0][o] = first / (a2 * c2);
        to[step][o] = (first + A * second + a2 * third) * a_part;
        to[2 * step][o] = (first - A * second + a2 * third) * a_part;
        to[3 * step][o] = (first + C * second + c2 * third) * c_part;
        to[4 * step][o] = (first - C * second + c2 * third) * c_part;
        to[5 * step][o] = third;
    }
}

/* The weights of WIDE outputs, `step` numbers apart, for one input: to[point * apart + output]. */
static void transform_weights(float *to, size_t apart, const float *w, size_t step)
{
    double taps[9][WIDE], line[3 * IN][WIDE], all[POINTS][WIDE];

    for (int o = 0; o < WIDE; o++)
        for (int k = 0; k < 9; k++) taps[k][o] = w[(size_t)o * step + (size_t)k];
    for (int y = 0; y < 3; y++) weigh_line(line + y * IN, 1, taps + 3 * y, 1);
    for (int j = 0; j < IN; j++) weigh_line(all + j, IN, line + j, IN);
    for (int q = 0; q < POINTS; q++)
        for (int o = 0; o < WIDE; o++) to[(size_t)q * apart + (size_t)o] = (float)all[q][o];
}

size_t spot_conv_winograd_packed(const spot_conv_shape *s) { return (size_t)POINTS * (size_t)s->ci * (size_t)s->co; }

size_t spot_conv_winograd_scratch(const spot_conv_shape *s)
{
    const tiling g = tiling_of(s, 1);

    return spot_arena_room(POINTS * (g.in + g.out) * sizeof(float));
}

/* packed (points, co / WIDE, ci, WIDE) */
void spot_conv_winograd_pack(spot_ctx *c, const spot_conv_shape *s, float *packed, const float *oihw)
{
    const size_t point = (size_t)s->ci * (size_t)s->co;

#pragma omp parallel for num_threads(c->threads)
    for (int o = 0; o < s->co; o += WIDE)
        for (int i = 0; i < s->ci; i++)
            transform_weights(packed + ((size_t)o * (size_t)s->ci + (size_t)i * WIDE), point,
                              oihw + ((size_t)o * (size_t)s->ci + (size_t)i) * 9, (size_t)s->ci * 9);
}

bool spot_conv_winograd_able(const spot_conv_shape *s) { return s->ci % B == 0 && s->co % WIDE == 0; }

#else

bool spot_conv_winograd_able(const spot_conv_shape *s) { (void)s; return false; }
size_t spot_conv_winograd_packed(const spot_conv_shape *s) { (void)s; return 0; }
size_t spot_conv_winograd_scratch(const spot_conv_shape *s) { (void)s; return 0; }

void spot_conv_winograd_pack(spot_ctx *c, const spot_conv_shape *s, float *packed, const float *oihw)
{
    (void)c, (void)s, (void)packed, (void)oihw;
}

void spot_conv_winograd(const spot_conv_shape *s, float *y, const spot_conv_terms *t, int rows, int threads, void *scratch)
{
    (void)s, (void)y, (void)t, (void)rows, (void)threads, (void)scratch;
}

#endif
