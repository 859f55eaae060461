/* test_picture_input.c - how a picture enters a network: what is read, refused, said, part of keys, and the numbers themselves.
 * ctest: both */
#include "checks.h"

#include <string.h>

#include "image/photo.h"
#include "models/picture_input.h"

TEST(numbers_are_one_or_three)
{
    static const struct { spot_picture_input in; spot_pixel_rule want; } cases[] = {
        { { 0 }, { 255, { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f } } },
        { { .mean = "", .std = "" }, { 255, { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f } } },
        { { .mean = "0.5", .std = "0.25" }, { 255, { 0.5f, 0.5f, 0.5f }, { 0.25f, 0.25f, 0.25f } } },
        { { .mean = "-1,0,1e2", .scale = 1 }, { 1, { -1, 0, 100 }, { 0.229f, 0.224f, 0.225f } } },
        { { .std = "1,2,3", .scale = 127.5 }, { 127.5f, { 0.485f, 0.456f, 0.406f }, { 1, 2, 3 } } },
    };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(cases); i++) {
        spot_pixel_rule rule = spot_imagenet_rule();
        CHECK_OK(&c, spot_picture_input_rule(&c, &rule, &cases[i].in));
        assert_memory_equal(&rule, &cases[i].want, sizeof rule);
    }
}

TEST(other_texts_are_refused)
{
    static const struct { spot_picture_input in; const char *words; } cases[] = {
        { { .mean = "x" }, "input.three: mean | x" },          { { .mean = "0.5,0.5" }, "input.three: mean | 0.5,0.5" },
        { { .mean = "1,2,3,4" }, "input.three: mean | 1,2,3,4" }, { { .mean = "nan" }, "input.three: mean | nan" },
        { { .mean = "0.5," }, "input.three: mean | 0.5," },    { { .mean = ",1,2" }, "input.three: mean | ,1,2" },
        { { .mean = "1, 2, 3" }, "input.three: mean | 1, 2, 3" }, { { .mean = "inf" }, "input.three: mean | inf" },
        { { .mean = "0.5x" }, "input.three: mean | 0.5x" },    { { .std = "1 2 3" }, "input.three: std | 1 2 3" },
        { { .std = "0" }, "input.std: 0" },                    { { .std = "1,-1,1" }, "input.std: 1,-1,1" },
        { { .std = "1,1,1e-9" }, "input.std: 1,1,1e-9" },      { { .scale = -1 }, "input.scale: -1" },
        { { .scale = 1e9 }, "input.scale: 1e+09" },            { { .scale = NAN }, "input.scale: nan" },
    };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(cases); i++) {
        spot_pixel_rule rule = spot_imagenet_rule();
        CHECK_FAILS(&c, spot_picture_input_rule(&c, &rule, &cases[i].in), SPOT_USAGE, cases[i].words);
    }
}

TEST(a_program_has_numbers_of_its_own)
{
    const spot_picture_input given[] = { { .mean = "0" }, { .std = "1" }, { .scale = 1 } };
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_picture_input_refuse(&c, &(spot_picture_input){ .mean = "", .interpolation = 2, .crops = true }, "x"));
    for (int i = 0; i < LEN(given); i++)
        CHECK_FAILS(&c, spot_picture_input_refuse(&c, &given[i], "python3 mine.py"), SPOT_USAGE,
                    "input.program: python3 mine.py");
}

static bool is_same(const spot_picture_input *in, bool foreign)
{
    const spot_key k = spot_key_of("model", 5), j = spot_picture_input_join(k, in, foreign);

    return !memcmp(&k, &j, sizeof k);
}

/* ImageNet's numbers are no others, said or not; of a program nobody knows whether they are its own. */
TEST(other_numbers_are_another_key)
{
    const spot_picture_input none = { .mean = "", .interpolation = 1 };
    const spot_picture_input imagenet = { "0.485,0.456,0.406", "0.229,0.224,0.225", 255, 0, false, false };
    spot_picture_input other[] = { { .mean = "0.5" }, { .std = "0.5" }, { .scale = 1 }, { .mean = "wrong" } };

    assert_true(is_same(&none, false) && is_same(&none, true) && is_same(&imagenet, false) && !is_same(&imagenet, true));
    for (int i = 0; i < LEN(other); i++) assert_true(!is_same(&other[i], false) && !is_same(&other[i], true));
}

TEST(words_say_it)
{
    const spot_pixel_rule own = spot_imagenet_rule(), other = { 1, { 0, 0, 0 }, { 127.5f, 127.5f, 127.5f } };
    spot_input_words w;

    assert_string_equal(spot_pixel_words(&w, &own), "pixels / 255, less 0.485,0.456,0.406, by 0.229,0.224,0.225");
    assert_string_equal(spot_pixel_words(&w, &other), "pixels / 1, less 0, by 127.5");
    assert_string_equal(spot_square_words(&w, 256, 224, SPOT_BILINEAR), "shorter side to 256, the middle 224 x 224 (bilinear)");
    assert_string_equal(spot_square_words(&w, SPOT_SQUEEZE, 64, SPOT_BICUBIC), "squeezed to 64 x 64 (bicubic)");
    assert_string_equal(spot_square_words(&w, 0, 32, SPOT_BICUBIC), "the middle 32 x 32");
}

/* Every byte, by the definition in double; without a rule by ImageNet's. */
TEST(bytes_become_these_numbers)
{
    enum { SIDE = 16 };
    const spot_pixel_rule rule = { 127.5f, { 1, 0.5f, -0.25f }, { 1, 0.5f, 2 } };
    uint8_t rgb[SIDE * SIDE][3];
    float x[SIDE * SIDE][3];
    spot_photo_set set = { .pictures = 1, .size = SIDE, .rgb = &rgb[0][0] };
    spot_ctx c = check_ctx(2);

    for (int i = 0; i < SIDE * SIDE; i++) rgb[i][0] = (uint8_t)i, rgb[i][1] = (uint8_t)(255 - i), rgb[i][2] = (uint8_t)(7 * i);
    for (int turn = 0; turn < 2; turn++) {
        const spot_pixel_rule by = turn ? rule : spot_imagenet_rule();
        if (turn) set.pixels = rule;
        CHECK_OK(&c, spot_photo_input(&c, &x[0][0], 3, SPOT_FP32, &set, NULL, 1));
        for (int i = 0; i < SIDE * SIDE; i++)
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(x[i][k], (rgb[i][k] / (double)by.scale - (double)by.mean[k]) / (double)by.std[k], 2e-6);
    }
}
