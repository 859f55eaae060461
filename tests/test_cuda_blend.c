/* test_cuda_blend.c - kernels/image/blend: odd sizes, sides of one pixel, more levels than there is room for, bytes and floats,
 * more pairs than a launch takes; identities; OpenCV's pyramids. kernels/image/backdrop: every kind, objects that are the whole
 * picture or nothing. ctest: threads */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "golden_file.h"
#include "image/blend.h"
#include "op_backdrop.h"
#include "op_blend.h"

enum { BYTES = SPOT_PIXEL_BYTES, FLOATS = SPOT_PIXEL_FLOATS };

/* width, height, levels, targets, backgrounds, pairs, kind of pixels, kind of alphas */
static const int sizes[][SPOT_OP_SIZES] = {
    { 16, 16, 3, 2, 3, 6, BYTES, BYTES }, { 33, 21, 5, 1, 2, 2, BYTES, FLOATS }, { 20, 27, 4, 2, 1, 2, FLOATS, BYTES },
    { 1, 1, 3, 1, 1, 1, BYTES, BYTES },   { 1, 19, 4, 1, 1, 1, FLOATS, FLOATS }, { 40, 2, 6, 1, 1, 1, BYTES, BYTES },
    { 3, 5, 16, 1, 1, 1, BYTES, BYTES },  { 17, 18, 1, 2, 2, 4, BYTES, BYTES },  { 2, 3, 2, 3, 3, 600, BYTES, BYTES },
    { 8, 8, 2, 2, 2, 0, BYTES, BYTES },   { 5, 4, 1, 2, 2, 3, FLOATS, FLOATS },
};

/* width, height, pictures, kind, least, ten times sigma */
static const int backdrops[][SPOT_OP_SIZES] = {
    { 24, 17, 5, SPOT_BACKDROP_TILED, 128, 0 },    { 17, 24, 5, SPOT_BACKDROP_TILED, 1, 0 },
    { 20, 16, 5, SPOT_BACKDROP_BOX, 255, 0 },
    { 30, 13, 3, SPOT_BACKDROP_BLURRED, 100, 15 }, { 9, 21, 5, SPOT_BACKDROP_BLURRED, 1, 60 },
    { 12, 10, 4, SPOT_BACKDROP_CUT, 0, 0 }, { 11, 9, 2, SPOT_BACKDROP_NOISE, 0, 400 }, { 6, 5, 2, SPOT_BACKDROP_PLAIN, 0, 0 },
    { 13, 9, 5, SPOT_BACKDROP_NOISE_ON, 128, 640 }, { 9, 14, 5, SPOT_BACKDROP_NOISE_OFF, 128, 640 },
    { 1, 1, 5, SPOT_BACKDROP_TILED, 1, 0 }, { 1, 7, 2, SPOT_BACKDROP_BLURRED, 1, 320 }, { 8, 8, 0, SPOT_BACKDROP_CUT, 0, 0 },
};

TEST(what_is_out_of_range_is_refused)
{
    static const spot_blend_pair here = { 0, 0 }, below = { -1, 0 }, above = { 0, 1 };
    static const struct { spot_blend p; const char *words; } bad[] = {
        { { .width = 0, .height = 3, .levels = 1 }, "blend.sizes: 0 | 3" },
        { { .width = 3, .height = SPOT_BLEND_SIDE + 1, .levels = 1 }, "blend.sizes: 3 | 8193" },
        { { .width = 3, .height = 3, .levels = 0 }, "blend.sizes: 0" },
        { { .width = 3, .height = 3, .levels = SPOT_BLEND_LEVELS + 1 }, "blend.sizes: 17" },
        { { .width = 3, .height = 3, .levels = 1, .targets = -1 }, "blend.counts: -1" },
        { { .width = 3, .height = 3, .levels = 1, .backgrounds = SPOT_BLEND_PICTURES + 1 }, "blend.counts: 16777216" },
        { { .width = 3, .height = 3, .levels = 1, .pairs = -1 }, "blend.counts: -1" },
        { { .width = 3, .height = 3, .levels = 1, .pixels = SPOT_PIXEL_KINDS }, "blend.counts: kinds 2 | 0" },
        { { .width = 3, .height = 3, .levels = 1, .alphas = SPOT_PIXEL_KINDS }, "blend.counts: kinds 0 | 2" },
        { { .width = 3, .height = 3, .levels = 1, .pairs = 1, .pair = &here }, "blend.pair: pair 0 | target 0 | 0" },
        { { .width = 3, .height = 3, .levels = 1, .targets = 1, .backgrounds = 1, .pairs = 1, .pair = &below },
          "blend.pair: target -1" },
        { { .width = 3, .height = 3, .levels = 1, .targets = 1, .backgrounds = 1, .pairs = 1, .pair = &above },
          "blend.pair: background 1 | 1" },
    };
    spot_ctx c = check_ctx(1);
    spot_arena a = spot_arena_counting();

    for (int i = 0; i < LEN(bad); i++) CHECK_FAILS(&c, spot_blend_pairs(&c, &a, 1, &bad[i].p), SPOT_INVALID, bad[i].words);
}

enum { WIDE = 37, HIGH = 29, PIXELS = WIDE * HIGH, NUMBERS = 3 * PIXELS };

static void blend_one(const spot_blend *p)
{
    spot_ctx c = check_ctx(2);
    spot_arena a;

    CHECK_OK(&c, spot_arena_open(&c, &a, spot_blend_scratch(1, p, 2)));
    CHECK_OK(&c, spot_blend_pairs(&c, &a, 1, p));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
}

static void random_bytes(uint8_t *to, int count, uint32_t state)
{
    for (int i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        to[i] = state >> 30 ? (uint8_t)(state >> 22) : state >> 29 & 1 ? 255 : 0;
    }
}

/* A full mask gives the target, an empty one the background, and a picture on itself is itself under any mask. */
TEST(bytes_stay_what_they_are)
{
    static uint8_t target[NUMBERS], background[NUMBERS], mask[PIXELS], out[3][NUMBERS];
    static const spot_blend_pair pair[] = { { 0, 0 } };

    random_bytes(target, NUMBERS, 1), random_bytes(background, NUMBERS, 2);
    for (int levels = 1; levels <= 8; levels++) {
        spot_blend p = { WIDE, HIGH, levels, 1, 1, 1, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES, target, mask, background, pair,
                         out[0] };
        memset(mask, 255, sizeof mask);
        blend_one(&p);
        assert_memory_equal(out[0], target, NUMBERS);
        memset(mask, 0, sizeof mask);
        p.out = out[1];
        blend_one(&p);
        assert_memory_equal(out[1], background, NUMBERS);
        random_bytes(mask, PIXELS, 3);
        p.background = target;
        p.out = out[2];
        blend_one(&p);
        assert_memory_equal(out[2], target, NUMBERS);
    }
}

TEST(floats_stay_to_1e_6)
{
    static float target[NUMBERS], background[NUMBERS], mask[PIXELS], out[NUMBERS];
    static uint8_t bytes[NUMBERS];
    static const spot_blend_pair pair[] = { { 0, 0 } };

    random_bytes(bytes, NUMBERS, 4);
    for (int i = 0; i < NUMBERS; i++) target[i] = bytes[i] / 255.0f, background[i] = bytes[NUMBERS - 1 - i] / 255.0f;
    for (int levels = 1; levels <= 8; levels++)
        for (int full = 0; full < 3; full++) {
            spot_blend p = { WIDE, HIGH, levels, 1, 1, 1, SPOT_PIXEL_FLOATS, SPOT_PIXEL_FLOATS, target, mask,
                             full < 2 ? background : target, pair, out };
            for (int i = 0; i < PIXELS; i++) mask[i] = full < 2 ? (float)full : target[i];
            blend_one(&p);
            for (int i = 0; i < NUMBERS; i++) assert_true(fabs(out[i] - (full ? target : background)[i]) <= 1e-6);
        }
}

/* A colour is the same colour everywhere after reducing and enlarging; two colours under a mask stay between them. */
TEST(colours_stay)
{
    static uint8_t target[NUMBERS], background[NUMBERS], mask[PIXELS], out[NUMBERS];
    static const spot_blend_pair pair[] = { { 0, 0 } };
    spot_blend p = { WIDE, HIGH, 5, 1, 1, 1, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES, target, mask, background, pair, out };

    random_bytes(mask, PIXELS, 5);
    for (int colour = 0; colour < 256; colour += 15) {
        memset(target, colour, sizeof target), memset(background, colour, sizeof background);
        blend_one(&p);
        for (int i = 0; i < NUMBERS; i++) assert_int_equal(out[i], colour);
        memset(background, 100, sizeof background);
        blend_one(&p);
        for (int i = 0; i < NUMBERS; i++)
            assert_true(out[i] >= (colour < 100 ? colour : 100) && out[i] <= (colour < 100 ? 100 : colour));
    }
}

/* Every pixel of tools/golden/blend.py, at the edges, too: floats to 2e-6, bytes to the rounding and levels/256. */
TEST(opencv_blends_alike)
{
    FILE *f = fopen("golden/blend.bin", "rb");
    static const spot_blend_pair pair[] = { { 0, 0 } };
    int shape[3], cases = 0;

    assert_non_null(f);
    for (; fread(shape, sizeof shape, 1, f) == 1; cases++) {
        const size_t pixels = (size_t)shape[0] * (size_t)shape[1], numbers = 3 * pixels;
        uint8_t *target = read_new(f, numbers), *mask = read_new(f, pixels), *background = read_new(f, numbers);
        float *want = read_new(f, numbers * sizeof *want), *in = malloc(3 * numbers * sizeof *in), *out = in + 2 * numbers;
        uint8_t *byte = malloc(numbers);
        spot_blend p = { shape[0], shape[1], shape[2], 1, 1, 1, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES, target, mask, background,
                         pair, byte };
        blend_one(&p);
        for (size_t i = 0; i < numbers; i++) in[i] = target[i] / 255.0f, in[numbers + i] = background[i] / 255.0f;
        p.pixels = SPOT_PIXEL_FLOATS, p.target = in, p.background = in + numbers, p.out = out;
        blend_one(&p);
        for (size_t i = 0; i < numbers; i++) {
            const float limited = want[i] < 0 ? 0 : want[i] > 1 ? 1 : want[i];
            assert_true(fabsf(out[i] - limited) <= 2e-6f);
            assert_true(fabs(byte[i] - 255.0 * limited) <= 0.5 + shape[2] / 256.0);
        }
        free(target), free(mask), free(background), free(want), free(in), free(byte);
    }
    assert_int_equal(cases, 7);
    fclose(f);
}

/* A mask of floats that are none: limited, and NaN is background. */
TEST(a_mask_out_of_range_is_limited)
{
    static uint8_t target[NUMBERS], background[NUMBERS], out[NUMBERS];
    static float mask[PIXELS];
    static const spot_blend_pair pair[] = { { 0, 0 } };
    spot_blend p = { WIDE, HIGH, 1, 1, 1, 1, SPOT_PIXEL_BYTES, SPOT_PIXEL_FLOATS, target, mask, background, pair, out };
    static const float wild[] = { NAN, -INFINITY, -3e9f, 3e9f, INFINITY };

    random_bytes(target, NUMBERS, 6), random_bytes(background, NUMBERS, 7);
    for (int i = 0; i < PIXELS; i++) mask[i] = wild[i % LEN(wild)];
    blend_one(&p);
    for (int i = 0; i < NUMBERS; i++) assert_int_equal(out[i], (i / 3 % LEN(wild) < 3 ? background : target)[i]);
}

TEST(a_backdrop_out_of_range_is_refused)
{
    uint8_t pixel[3] = { 0 };
    const struct { spot_backdrop p; const char *words; } bad[] = {
        { { .kind = SPOT_BACKDROPS, .width = 2, .height = 2 }, "backdrop.sizes: kind 8" },
        { { .kind = SPOT_BACKDROP_PLAIN, .width = 0, .height = 2 }, "backdrop.sizes: 0 | 2" },
        { { .kind = SPOT_BACKDROP_PLAIN, .width = 2, .height = SPOT_BACKDROP_SIDE + 1 }, "backdrop.sizes: 2 | 8193" },
        { { .kind = SPOT_BACKDROP_PLAIN, .width = 2, .height = 2, .pictures = -1 }, "backdrop.sizes: -1" },
        { { .kind = SPOT_BACKDROP_NOISE, .width = 2, .height = 2, .sigma = 0 }, "backdrop.sigma: 0" },
        { { .kind = SPOT_BACKDROP_NOISE, .width = 2, .height = 2, .sigma = NAN }, "backdrop.sigma" },
        { { .kind = SPOT_BACKDROP_BLURRED, .width = 2, .height = 2, .least = 1, .sigma = 33 }, "backdrop.sigma: 32" },
        { { .kind = SPOT_BACKDROP_TILED, .width = 2, .height = 2 }, "backdrop.mask: 0" },
        { { .kind = SPOT_BACKDROP_BOX, .width = 2, .height = 2, .least = 256 }, "backdrop.mask: 256" },
        { { .kind = SPOT_BACKDROP_NOISE_ON, .width = 2, .height = 2, .sigma = 1 }, "backdrop.mask: 0" },
        { { .kind = SPOT_BACKDROP_NOISE_OFF, .width = 2, .height = 2, .least = 1 }, "backdrop.sigma: 0" },
        { { .kind = SPOT_BACKDROP_CUT, .width = 1, .height = 1, .pictures = 1, .out = pixel },
          "backdrop.array_missing: kind 3" },
        { { .kind = SPOT_BACKDROP_BOX, .width = 1, .height = 1, .pictures = 1, .least = 1, .out = pixel, .rgb = pixel,
            .mask = pixel }, "backdrop.array_missing: kind 4" },
    };
    spot_ctx c = check_ctx(1);
    spot_arena a = spot_arena_counting();

    for (int i = 0; i < LEN(bad); i++) CHECK_FAILS(&c, spot_backdrop_make(&c, &a, 1, &bad[i].p), SPOT_INVALID, bad[i].words);
}

static void make_one(const spot_backdrop *p)
{
    spot_ctx c = check_ctx(1);
    spot_arena a;

    CHECK_OK(&c, spot_arena_open(&c, &a, spot_backdrop_scratch(1, p, 1)));
    CHECK_OK(&c, spot_backdrop_make(&c, &a, 1, p));
    spot_arena_close(&a);
}

/* Written by hand: the object in columns 3 and 4 of row 1. The three columns to its left have 9 pixels, the row below has 6. */
TEST(the_largest_strip_is_tiled)
{
    static const char picture[] = "abcdefghijklmnopqr", *want[] = { "abcdefghiablmnopqr", "abcdefghi..lmnopqr" };
    uint8_t rgb[54], mask[18] = { 0 }, out[54];
    int box[4];

    for (int i = 0; i < 54; i++) rgb[i] = (uint8_t)picture[i / 3];
    mask[9] = 200, mask[10] = 255, mask[0] = 199;
    for (int kind = 0; kind < 2; kind++) {
        spot_backdrop p = { .kind = kind ? SPOT_BACKDROP_BOX : SPOT_BACKDROP_TILED, .width = 6, .height = 3, .pictures = 1,
                            .rgb = rgb, .mask = mask, .least = 200, .colour = { '.', '.', '.' }, .out = out, .box = box };
        make_one(&p);
        for (int i = 0; i < 54; i++) assert_int_equal(out[i], want[kind][i / 3]);
        assert_memory_equal(box, ((const int[]){ 3, 1, 5, 2 }), sizeof box);
    }
}

/* Mean and deviation of 3 x 40,000 numbers, 5 standard errors wide, and no correlation of neighbours or channels. */
TEST(noise_is_normal)
{
    enum { SIDE = 200, N = SIDE * SIDE };
    uint8_t *out = malloc(2 * 3 * N);
    spot_backdrop p = { .kind = SPOT_BACKDROP_NOISE, .width = SIDE, .height = SIDE, .pictures = 2, .colour = { 128, 128, 128 },
                        .sigma = 20, .seed = { 5, 6 }, .first = 9, .out = out };
    double sum = 0, squares = 0, right = 0, channel = 0;

    make_one(&p);
    for (int i = 0; i < 3 * N; i++) {
        const double v = out[i] - 128.0;
        sum += v, squares += v * v;
        if (i + 3 < 3 * N) right += v * (out[i + 3] - 128.0);
        if (i + 1 < 3 * N) channel += v * (out[i + 1] - 128.0);
    }
    assert_true(fabs(sum / (3 * N)) < 5 * 20 / sqrt(3.0 * N));
    assert_true(fabs(squares / (3 * N) - 400 - 1 / 12.0) < 5 * 400 * sqrt(2 / (3.0 * N)));
    assert_true(fabs(right / (3 * N)) < 5 * 400 / sqrt(3.0 * N) && fabs(channel / (3 * N)) < 5 * 400 / sqrt(3.0 * N));
    assert_true(memcmp(out, out + 3 * N, 3 * N) != 0);
    p.pictures = 1, p.first = 10, p.out = out;      /* the second picture alone */
    uint8_t *second = malloc(3 * N);
    memcpy(second, out + 3 * N, 3 * N);
    make_one(&p);
    assert_memory_equal(out, second, 3 * N);
    free(out), free(second);
}

/* The noise of NOISE_ON and NOISE_OFF is that of NOISE around the picture's own pixels; no other pixel changes. */
TEST(noise_lies_on_the_object_or_beside_it)
{
    enum { SIDE = 40, N = SIDE * SIDE };
    uint8_t rgb[3 * N], mask[N], on[3 * N], off[3 * N], all[3 * N];
    spot_backdrop p = { .kind = SPOT_BACKDROP_NOISE_ON, .width = SIDE, .height = SIDE, .pictures = 1, .least = 128,
                        .sigma = 30, .seed = { 5, 6 }, .first = 9, .rgb = rgb, .mask = mask, .out = on };

    memset(rgb, 100, sizeof rgb);
    for (int e = 0; e < N; e++) mask[e] = (uint8_t)(e % SIDE < 15 ? 128 : 127);
    make_one(&p);
    p.kind = SPOT_BACKDROP_NOISE_OFF, p.out = off;
    make_one(&p);
    p.kind = SPOT_BACKDROP_NOISE, p.out = all, memset(p.colour, 100, 3);
    make_one(&p);
    for (int e = 0; e < 3 * N; e++) {
        const bool object = mask[e / 3] == 128;
        assert_int_equal(on[e], object ? all[e] : 100);
        assert_int_equal(off[e], object ? 100 : all[e]);
    }
}

int main(void)
{
    static op_row rows[] = { OP_ROW(spot_op_blend, sizes, .problems = 2 * LEN(sizes)),
                             OP_ROW(spot_op_backdrop, backdrops, .problems = 2 * LEN(backdrops)) };

    return run_ops(rows, LEN(rows));
}
