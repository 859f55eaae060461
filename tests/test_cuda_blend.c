/* test_cuda_blend.c - kernels/image/blend: odd sizes, sides of one pixel, more levels than there is room for, bytes and floats,
 * more pairs than a launch takes; identities; OpenCV's pyramids. ctest: threads */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "golden_file.h"
#include "image/blend.h"
#include "op_blend.h"

enum { BYTES = SPOT_PIXEL_BYTES, FLOATS = SPOT_PIXEL_FLOATS };

/* width, height, levels, targets, backgrounds, pairs, kind of pixels, kind of alphas */
static const int sizes[][SPOT_OP_SIZES] = {
    { 16, 16, 3, 2, 3, 6, BYTES, BYTES },    { 33, 21, 5, 1, 2, 2, BYTES, FLOATS }, { 20, 27, 4, 2, 1, 2, FLOATS, BYTES },
    { 1, 1, 3, 1, 1, 1, BYTES, BYTES },      { 1, 19, 4, 1, 1, 1, FLOATS, FLOATS }, { 40, 2, 6, 1, 1, 1, BYTES, BYTES },
    { 3, 5, 16, 1, 1, 1, BYTES, BYTES },     { 17, 18, 1, 2, 2, 4, BYTES, BYTES },  { 2, 3, 2, 3, 3, 600, BYTES, BYTES },
    { 8, 8, 2, 2, 2, 0, BYTES, BYTES },      { 5, 4, 1, 2, 2, 3, FLOATS, FLOATS },
};

TEST(what_is_out_of_range_is_refused)
{
    static const spot_blend_pair here = { 0, 0 }, below = { -1, 0 }, above = { 0, 1 };
    static const struct { spot_blend p; const char *words; } bad[] = {
        { { .width = 0, .height = 3, .levels = 1 }, "0 x 3 pixels" },
        { { .width = 3, .height = SPOT_BLEND_SIDE + 1, .levels = 1 }, "3 x 8193 pixels" },
        { { .width = 3, .height = 3, .levels = 0 }, "in 0 levels" },
        { { .width = 3, .height = 3, .levels = SPOT_BLEND_LEVELS + 1 }, "in 17 levels" },
        { { .width = 3, .height = 3, .levels = 1, .targets = -1 }, "-1 targets" },
        { { .width = 3, .height = 3, .levels = 1, .backgrounds = SPOT_BLEND_PICTURES + 1 }, "at most 16777216" },
        { { .width = 3, .height = 3, .levels = 1, .pairs = -1 }, "-1 pairs" },
        { { .width = 3, .height = 3, .levels = 1, .pixels = SPOT_PIXEL_KINDS }, "kinds 2 and 0" },
        { { .width = 3, .height = 3, .levels = 1, .alphas = SPOT_PIXEL_KINDS }, "kinds 0 and 2" },
        { { .width = 3, .height = 3, .levels = 1, .pairs = 1, .pair = &here }, "pair 0 is target 0 of 0" },
        { { .width = 3, .height = 3, .levels = 1, .targets = 1, .backgrounds = 1, .pairs = 1, .pair = &below }, "is target -1" },
        { { .width = 3, .height = 3, .levels = 1, .targets = 1, .backgrounds = 1, .pairs = 1, .pair = &above },
          "background 1 of 1" },
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
        spot_blend p = { WIDE, HIGH, levels, 1, 1, 1, SPOT_PIXEL_BYTES, SPOT_PIXEL_BYTES, target, mask, background, pair, out[0] };
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

int main(void)
{
    static op_row rows[] = { OP_ROW(spot_op_blend, sizes, .problems = 2 * LEN(sizes)) };

    return run_ops(rows, LEN(rows));
}
