/* conv_amx.c - both operands are brought into the order of AMX's tiles; then each thread computes its own part of dw. */
#include "net/conv_amx.h"

#include <oneapi/dnnl/dnnl.h>
#include <string.h>

#include "core/bf16.h"
#include "core/lanes.h"
#include "net/amx_tiles.h"

/* A block: 32 channels, or 32 pixels. A thread's product is of 2 x 2 tiles, two blocks of channels; STEPS blocks of pixels stay
 * in the nearest caches. */
enum { BLOCK = 32, TILE = 16, STEPS = 16 };

typedef uint16_t vh __attribute__((vector_size(64), may_alias));
typedef uint32_t vw __attribute__((vector_size(64), may_alias));

/* The row of pixels: `side` pixels a row, `area` an image, `steps` blocks in all, of which `span` at a time are brought into
 * order. x begins `margin` pixels earlier, and its `pairs` pixels by two hold the furthest tap. */
typedef struct {
    int out, side, area, pixels, steps, span, margin, pairs, phases;
    int ci, co;                            /* in blocks */
    size_t x_bytes, dy_bytes, index_bytes, dw_bytes;
} grid;

/* Steps whose operands stay in the caches, but enough that dw is read and written again less often than they are. */
static int most_steps(const spot_conv_shape *s, const grid *g)
{
    size_t step = (size_t)(g->co + (s->ci == 3 ? s->k : 2 * g->phases * g->ci)) * BLOCK * BLOCK * sizeof(uint16_t);
    size_t near = (1 << 20) + (size_t)s->co * s->ci * s->k * s->k * sizeof(float) / 2;

    return (int)(near / step) + 1;
}

static void set_span(grid *g, const spot_conv_shape *s, int span)
{
    int pad = g->side - g->out;

    g->span = span;
    g->margin = pad * (g->side + 2) / 2 * 2;
    g->pairs = (g->margin + span * BLOCK + pad * (g->side + 1)) / 2 + 2;
    g->x_bytes = (size_t)g->phases * 2 * g->ci * g->pairs * BLOCK * 2 * sizeof(uint16_t);
    g->dy_bytes = (size_t)g->co * span * BLOCK * BLOCK * sizeof(uint16_t);
    g->index_bytes = spot_arena_room((size_t)g->pairs * 2 * sizeof(int));
    g->dw_bytes = 0;
    if (s->ci > 3) return;
    g->x_bytes = (size_t)s->k * span * BLOCK * BLOCK * sizeof(uint16_t);
    g->dw_bytes = (size_t)g->co * s->k * BLOCK * BLOCK * sizeof(float);
}

static grid grid_of(const spot_conv_shape *s, int rows)
{
    int out = s->size / s->stride, side = s->ci == 3 ? out : out + s->k / 2, spans;
    grid g = { .out = out, .side = side, .area = side * side, .phases = s->k == 1 || s->ci == 3 ? 1 : s->stride * s->stride,
               .ci = (s->ci + BLOCK - 1) / BLOCK, .co = (s->co + BLOCK - 1) / BLOCK };

    g.pixels = rows * g.area;
    g.steps = (g.pixels + BLOCK - 1) / BLOCK;
    spans = (g.steps + most_steps(s, &g) - 1) / most_steps(s, &g);
    set_span(&g, s, (g.steps + spans - 1) / spans);
    return g;
}

static bool has_amx(const spot_conv_shape *s)
{
    int isa = dnnl_cpu_isa_avx512_core_amx;

    return SPOT_AMX_TILES && s->precision == SPOT_BF16 && ((int)dnnl_get_effective_cpu_isa() & isa) == isa;
}

bool spot_conv_amx_able(const spot_conv_shape *s)
{
    return s->train && (s->ci == 3 ? 3 * s->k <= BLOCK : s->k <= 3) && has_amx(s);
}

size_t spot_conv_amx_scratch(const spot_conv_shape *s)
{
    grid g = grid_of(s, s->rows);

    set_span(&g, s, g.steps < most_steps(s, &g) ? g.steps : most_steps(s, &g));            /* fewer rows may have it */
    return g.x_bytes + g.dy_bytes + g.index_bytes + g.dw_bytes;
}

/* -- operands ---------------------------------------------------------------------------------------------------- */

/* `count` pixels of the row, from `first` on -> their numbers in a tensor whose images have size x size pixels, of which this
 * is the phase; -1: 0. */
static void index_pixels(spot_ctx *c, int *index, const grid *g, int first, int count, int size, int stride, int phase)
{
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < count; i++) {
        int p = first + i, n = p / g->area, y = p % g->area / g->side, x = p % g->side;
        bool inside = p >= 0 && p < g->pixels && y < g->out && x < g->out;
        index[i] = inside ? (n * size + y * stride + phase / 2) * size + x * stride + phase % 2 : -1;
    }
}

/* BLOCK channels of a pixel; a tensor of half a block more has 0 there. */
static inline vh pixel_at(const uint16_t *tensor, int pixel, int channels, int block)
{
    vh v = { 0 };
    int left = channels - block * BLOCK;

    if (pixel < 0) return v;
    memcpy(&v, tensor + (size_t)pixel * channels + block * BLOCK, left < BLOCK ? TILE * sizeof(uint16_t) : sizeof v);
    return v;
}

/* (a0 b0 a1 b1 ...), the lower or the upper half. */
static inline vh interleave(vh a, vh b, int upper)
{
    if (upper)
        return __builtin_shufflevector(a, b, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55, 24, 56, 25, 57, 26,
                                       58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
    return __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8, 40, 9, 41, 10, 42, 11, 43,
                                   12, 44, 13, 45, 14, 46, 15, 47);
}

/* The numbers of an image's three channels under row ky of the taps of pixel i, 3k of them, of which the last stay 0. */
static inline vh image_row(const uint16_t *x, int i, const grid *g, const spot_conv_shape *s, int ky)
{
    int n = i / g->area, row = i % g->area / g->side * s->stride + ky - s->k / 2, left = i % g->side * s->stride - s->k / 2;
    int from = left < 0 ? -left : 0, end = s->size - left < s->k ? s->size - left : s->k;
    vh v = { 0 };

    if (i >= g->pixels || row < 0 || row >= s->size) return v;
    x += (((size_t)n * s->size + row) * s->size + left + from) * 3;
    if (s->k == 7 && end - from == 7) memcpy(&v, x, 21 * sizeof *x);
    else                              memcpy((uint16_t *)&v + 3 * from, x, 3 * (size_t)(end - from) * sizeof *x);
    return v;
}

/* Pairs of pixels, (k, pairs, 32, 2): image_row of each. */
static void pair_rows(spot_ctx *c, const spot_conv_shape *s, const grid *g, uint16_t *to, const uint16_t *x, int first)
{
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int ky = 0; ky < s->k; ky++)
        for (int j = 0; j < g->span * TILE; j++) {
            vh a = image_row(x, first * BLOCK + 2 * j, g, s, ky), b = image_row(x, first * BLOCK + 2 * j + 1, g, s, ky);
            vh *t = (vh *)(to + ((size_t)ky * g->span * TILE + j) * BLOCK * 2);
            t[0] = interleave(a, b, 0);
            t[1] = interleave(a, b, 1);
        }
}

/* Pairs of pixels, (ci/32, pairs, 32, 2), that begin at an even pixel, then the same from an odd one. */
static void pair_pixels(spot_ctx *c, uint16_t *to, const uint16_t *x, const int *index, const grid *g, int channels)
{
    int parts = (g->pairs + 63) / 64;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int block = 0; block < g->ci; block++)
        for (int part = 0; part < parts; part++) {
            int end = part == parts - 1 ? g->pairs : part * 64 + 64;
            uint16_t *even = to + (size_t)block * g->pairs * BLOCK * 2;
            uint16_t *odd = even + (size_t)g->ci * g->pairs * BLOCK * 2;
            for (int j = part * 64; j < end; j++) {
                vh a = pixel_at(x, index[2 * j], channels, block), b = pixel_at(x, index[2 * j + 1], channels, block);
                vh next = pixel_at(x, j + 1 < g->pairs ? index[2 * j + 2] : -1, channels, block);
                for (int upper = 0; upper < 2; upper++) {
                    *(vh *)(even + ((size_t)j * 2 + upper) * BLOCK) = interleave(a, b, upper);
                    *(vh *)(odd + ((size_t)j * 2 + upper) * BLOCK) = interleave(b, next, upper);
                }
            }
        }
}

/* 16 x 16 words: four times rows i and i + 8 become rows 2i and 2i + 1, interleaved. */
static inline void transpose(vw *row)
{
    for (int round = 0; round < 4; round++) {
        vw was[TILE];
        memcpy(was, row, sizeof was);
        for (int i = 0; i < TILE / 2; i++) {
            vw a = was[i], b = was[i + TILE / 2];
            row[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            row[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        }
    }
}

/* dy -> (co/32, span, 32 co, 32 pixels). */
static void transpose_pixels(spot_ctx *c, uint16_t *to, const uint16_t *dy, const int *index, const grid *g, int channels)
{
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int block = 0; block < g->co; block++)
        for (int step = 0; step < g->span; step++) {
            vw *out = (vw *)(to + ((size_t)block * g->span + step) * BLOCK * BLOCK), word[2][TILE];
            for (int p = 0; p < TILE; p++) {
                const int *at = index + step * BLOCK + 2 * p;
                vh a = pixel_at(dy, at[0], channels, block), b = pixel_at(dy, at[1], channels, block);
                for (int upper = 0; upper < 2; upper++) word[upper][p] = (vw)interleave(a, b, upper);
            }
            for (int upper = 0; upper < 2; upper++) {
                transpose(word[upper]);
                memcpy(out + upper * TILE, word[upper], sizeof word[upper]);
            }
        }
}

/* -- products ---------------------------------------------------------------------------------------------------- */

typedef struct { uint8_t palette, start, unused[14]; uint16_t bytes[16]; uint8_t rows[16]; } tile_config;

WITH_AMX static void begin_tiles(void)
{
    tile_config t = { .palette = 1 };

    for (int i = 0; i < 8; i++) t.bytes[i] = 64, t.rows[i] = TILE;
    _tile_loadconfig(&t);
}

WITH_AMX static void end_tiles(void) { _tile_release(); }

/* c[i][j], tiles of 16 co x 16 ci, += the product of `steps` blocks; `fresh`: the tiles begin as 0. A tile that is NULL is not
 * kept. */
WITH_AMX static void multiply(float *c[2][2], const uint16_t *dy, const uint16_t *x, int steps, bool fresh)
{
    enum { WIDE = 2 * TILE * sizeof(float) };

    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (!fresh) {
        _tile_loadd(0, c[0][0], 64);
        if (c[0][1]) { _tile_loadd(1, c[0][1], 64); }
        if (c[1][0]) { _tile_loadd(2, c[1][0], 64); }
        if (c[1][1]) { _tile_loadd(3, c[1][1], 64); }
    }
    for (int k = 0; k < steps; k++, dy += BLOCK * BLOCK, x += BLOCK * BLOCK) {
        _tile_loadd(6, x, WIDE);
        _tile_loadd(4, dy, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, x + BLOCK, WIDE);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, dy + TILE * BLOCK, 64);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c[0][0], 64);
    if (c[0][1]) { _tile_stored(1, c[0][1], 64); }
    if (c[1][0]) { _tile_stored(2, c[1][0], 64); }
    if (c[1][1]) { _tile_stored(3, c[1][1], 64); }
}

/* The tap's place in x: which phase, and how many pixels on. */
static int offset_of(const spot_conv_shape *s, const grid *g, int ky, int kx, int *phase)
{
    int dy = ky - s->k / 2, dx = kx - s->k / 2, odd_y = dy & 1, odd_x = dx & 1;

    *phase = 0;
    if (s->stride == 1) return dy * g->side + dx;
    *phase = 2 * odd_y + odd_x;
    return (dy - odd_y) / 2 * g->side + (dx - odd_x) / 2;
}

/* The taps of row ky, for blocks `out` and `in` of channels. */
static void multiply_taps(const spot_conv_shape *s, const grid *g, float *dw, const uint16_t *xs, const uint16_t *dys, int out,
                          int in, int ky, bool fresh)
{
    int ni = s->ci / TILE, area = s->k * s->k, pieces = (g->span + STEPS - 1) / STEPS;

    for (int piece = 0; piece < pieces; piece++) {
        int first = g->span * piece / pieces, end = g->span * (piece + 1) / pieces;
        for (int kx = 0; kx < s->k; kx++) {
            int phase, at = g->margin + first * BLOCK + offset_of(s, g, ky, kx, &phase);
            size_t plane = ((size_t)(2 * phase + at % 2) * g->ci + in) * g->pairs + at / 2;
            float *c[2][2];
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) {
                    int o = 2 * out + i, n = 2 * in + j;
                    bool found = o < s->co / TILE && n < ni;
                    c[i][j] = found ? dw + (((size_t)o * ni + n) * area + ky * s->k + kx) * TILE * TILE : NULL;
                }
            multiply(c, dys + ((size_t)out * g->span + first) * BLOCK * BLOCK, xs + plane * BLOCK * 2, end - first,
                     fresh && !piece);
        }
    }
}

/* Row ky of the taps of an image's channels, for block `out` of dy's: dw (co/32, k, 2, 2, 16 co, 16 numbers of a row). */
static void multiply_rows(const spot_conv_shape *s, const grid *g, float *dw, const uint16_t *xs, const uint16_t *dys, int out,
                          int ky, bool fresh)
{
    int pieces = (g->span + STEPS - 1) / STEPS;
    float *c[2][2], *first = dw + (size_t)(out * s->k + ky) * BLOCK * BLOCK;

    for (int i = 0; i < 4; i++) c[i / 2][i % 2] = first + i * TILE * TILE;
    for (int piece = 0; piece < pieces; piece++) {
        int from = g->span * piece / pieces, end = g->span * (piece + 1) / pieces;
        multiply(c, dys + ((size_t)out * g->span + from) * BLOCK * BLOCK, xs + ((size_t)ky * g->span + from) * BLOCK * BLOCK,
                 end - from, fresh && !piece);
    }
}

/* dw as multiply_rows leaves it -> (co/16, k, k, 3, 16). */
static void place_rows(const spot_conv_shape *s, float *dw, const float *from)
{
    int taps = 3 * s->k;

    for (int o = 0; o < s->co; o++)
        for (int t = 0; t < s->k * taps; t++) {
            const float *tile = from + (((size_t)(o / BLOCK) * s->k + t / taps) * 4 + o % BLOCK / TILE * 2 + t % taps / TILE)
                              * TILE * TILE;
            dw[((size_t)(o / TILE) * s->k * taps + t) * TILE + o % TILE] = tile[o % TILE * TILE + t % taps % TILE];
        }
}

static void add_image_span(spot_ctx *c, const spot_conv_shape *s, const grid *g, const void *x, const void *dy, int first,
                           char *scratch)
{
    uint16_t *xs = (uint16_t *)(void *)scratch, *dys = (uint16_t *)(void *)(scratch + g->x_bytes);
    int *index = (int *)(void *)(scratch + g->x_bytes + g->dy_bytes);
    float *dw = (float *)(void *)((char *)index + g->index_bytes);

    index_pixels(c, index, g, first * BLOCK, g->span * BLOCK, g->out, 1, 0);
    transpose_pixels(c, dys, dy, index, g, s->co);
    pair_rows(c, s, g, xs, x, first);
#pragma omp parallel num_threads(c->threads)
    {
        begin_tiles();
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < g->co * s->k; i++) multiply_rows(s, g, dw, xs, dys, i / s->k, i % s->k, !first);
        end_tiles();
    }
}

/* The pixels from block `first` on. Blocks after the last hold 0. */
static void add_span(spot_ctx *c, const spot_conv_shape *s, const grid *g, float *dw, const void *x, const void *dy, int first,
                     char *scratch)
{
    uint16_t *xs = (uint16_t *)(void *)scratch, *dys = (uint16_t *)(void *)(scratch + g->x_bytes);
    int *index = (int *)(void *)(scratch + g->x_bytes + g->dy_bytes);

    index_pixels(c, index, g, first * BLOCK, g->span * BLOCK, g->out, 1, 0);
    transpose_pixels(c, dys, dy, index, g, s->co);
    for (int phase = 0; phase < g->phases; phase++) {
        index_pixels(c, index, g, first * BLOCK - g->margin, 2 * g->pairs, s->size, s->stride, phase);
        pair_pixels(c, xs + (size_t)phase * 2 * g->ci * g->pairs * BLOCK * 2, x, index, g, s->ci);
    }
#pragma omp parallel num_threads(c->threads)
    {
        begin_tiles();
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < g->co * g->ci * s->k; i++)
            multiply_taps(s, g, dw, xs, dys, i / s->k / g->ci, i / s->k % g->ci, i % s->k, !first);
        end_tiles();
    }
}

void spot_conv_amx_weights(spot_ctx *c, const spot_conv_shape *s, float *dw, const void *x, const void *dy, int rows,
                           void *scratch)
{
    grid g = grid_of(s, rows);

    for (int first = 0; first < g.steps; first += g.span)
        if (s->ci == 3) add_image_span(c, s, &g, x, dy, first, scratch);
        else            add_span(c, s, &g, dw, x, dy, first, scratch);
    if (s->ci == 3) place_rows(s, dw, (const float *)(void *)((char *)scratch + g.x_bytes + g.dy_bytes + g.index_bytes));
}

/* -- forward, and back to x ---------------------------------------------------------------------------------------- */

/* Where the weights of one call exceed a core's cache oneDNN waits for them; elsewhere it is as fast or faster. */
bool spot_conv_amx_deep(const spot_conv_shape *s, bool back)
{
    return has_amx(s) && s->k == 3 && s->stride <= (back ? 1 : 2) && s->ci % BLOCK == 0 && s->co % BLOCK == 0
        && (size_t)s->ci * s->co >= 512 * 256;
}

/* x is `phases` rows of this many pixels, padded: before the first, and after the last, lies the furthest tap. */
static size_t padded_pixels(const grid *g) { return (size_t)g->steps * BLOCK + 2 * (g->side + 1); }

size_t spot_conv_amx_product_scratch(const spot_conv_shape *s)
{
    grid g = grid_of(s, s->rows);
    size_t most = s->ci > s->co ? s->ci : s->co, pixels = padded_pixels(&g);

    return g.phases * pixels * most * sizeof(uint16_t) + spot_arena_room(pixels * sizeof(int));
}

/* x -> (channels/32, phases, padded pixels, 32), the pixels of one phase. */
static void pad_pixels(spot_ctx *c, uint16_t *to, const uint16_t *x, const int *index, int pixels, int phases, int channels)
{
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int block = 0; block < channels / BLOCK; block++)
        for (int i = 0; i < pixels; i++)
            *(vh *)(to + ((size_t)block * phases * pixels + i) * BLOCK) = pixel_at(x, index[i], channels, block);
}

/* sum: 32 pixels x 32 channels, in tiles; over nine taps and `blocks` blocks of channels. x: the first pixel at the first tap;
 * tap t is `at[t]` pixels on, the next block `next` pixels. w, v: the weights of the two tiles of channels. */
WITH_AMX static void multiply_pixels(float sum[4][TILE * TILE], const uint16_t *x, const ptrdiff_t at[9], size_t next,
                                     const uint16_t *w, const uint16_t *v, int blocks)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int t = 0; t < 9; t++) {
        const uint16_t *a = x + at[t] * BLOCK;
        for (int k = 0; k < blocks; k++, a += next * BLOCK, w += TILE * BLOCK, v += TILE * BLOCK) {
            _tile_loadd(6, w, 64);
            _tile_loadd(4, a, 64);
            _tile_dpbf16ps(0, 4, 6);
            _tile_loadd(7, v, 64);
            _tile_dpbf16ps(1, 4, 7);
            _tile_loadd(5, a + TILE * BLOCK, 64);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, sum[0], 64);
    _tile_stored(1, sum[1], 64);
    _tile_stored(2, sum[2], 64);
    _tile_stored(3, sum[3], 64);
}

/* Finishes and rounds the sums of the pixels that y has. */
static void place_pixels(const spot_conv_shape *s, uint16_t *y, float sum[4][TILE * TILE], const float *bias, const int *index,
                         int channels, int block)
{
    for (int p = 0; p < BLOCK; p++) {
        uint16_t *to = index[p] < 0 ? NULL : y + (size_t)index[p] * channels + block * BLOCK;
        float v[BLOCK];
        if (!to) continue;
        for (int j = 0; j < BLOCK; j++) v[j] = sum[p / TILE * 2 + j / TILE][p % TILE * TILE + j % TILE];
        for (int j = 0; bias && j < BLOCK; j++) v[j] += bias[block * BLOCK + j];
        for (int j = 0; s->add && j < BLOCK; j++) v[j] += spot_bf16_float(to[j]);
        for (int j = 0; s->relu && j < BLOCK; j++) v[j] = v[j] < 0 ? 0 : v[j];
        for (int j = 0; j < BLOCK; j++) to[j] = spot_bf16_bits(v[j]);
    }
}

/* x, padded, and in index the places of y's pixels; at: the places of the taps, from the pixel of phase 0 on. */
static void order_pixels(spot_ctx *c, const spot_conv_shape *s, const grid *g, bool back, uint16_t *to, const void *x,
                         int *index, ptrdiff_t at[9])
{
    int pixels = (int)padded_pixels(g), edge = g->side + 1, phase;

    for (int t = 0; t < 9; t++) {
        int on = offset_of(s, g, t / 3, t % 3, &phase);
        at[t] = back ? -on : (ptrdiff_t)phase * pixels + on;
    }
    for (phase = 0; phase < g->phases; phase++) {
        index_pixels(c, index, g, -edge, pixels, s->size, s->stride, phase);
        pad_pixels(c, to + (size_t)phase * pixels * BLOCK, x, index, pixels, g->phases, back ? s->co : s->ci);
    }
    if (g->phases > 1) index_pixels(c, index, g, -edge, pixels, g->out, 1, 0);
}

void spot_conv_amx_product(spot_ctx *c, const spot_conv_shape *s, bool back, void *y, const void *x, const void *w,
                           const float *bias, int rows, void *scratch)
{
    grid g = grid_of(s, rows);
    int in = back ? s->co : s->ci, out = back ? s->ci : s->co, edge = g.side + 1;
    size_t tile = (size_t)9 * in * TILE, next = g.phases * padded_pixels(&g);
    uint16_t *xs = scratch;
    int *index = (int *)(void *)(xs + next * in);
    ptrdiff_t at[9];

    order_pixels(c, s, &g, back, xs, x, index, at);
#pragma omp parallel num_threads(c->threads)
    {
        begin_tiles();
#pragma omp for collapse(2) schedule(dynamic, 8)
        for (int block = 0; block < out / BLOCK; block++)
            for (int step = 0; step < g.steps; step++) {
                float sum[4][TILE * TILE] __attribute__((aligned(64)));
                int first = edge + step * BLOCK;
                const uint16_t *ws = (const uint16_t *)w + 2 * block * tile;
                multiply_pixels(sum, xs + (size_t)first * BLOCK, at, next, ws, ws + tile, in / BLOCK);
                place_pixels(s, y, sum, bias, index + first, out, block);
            }
        end_tiles();
    }
}
