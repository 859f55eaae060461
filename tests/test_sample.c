/* test_sample.c - batches of images as one asks for them one by one; what cannot be asked for; bf16. ctest: both */
#include "check_scene.h"

#include <math.h>
#include <stdlib.h>

#include "image/raster.h"
#include "image/sample.h"

enum { N = 300 };

TEST(batches_are_single_images)
{
    static spot_image image[N];
    static float target[N * SPOT_BASE_TARGETS];
    static uint32_t mask[N], index[N + 12];
    const uint32_t cursor = 9;
    spot_scene_config cfg = spot_scene_defaults();
    for (uint32_t i = 0; i < N + 12; i++) index[i] = 3 * (N + 12 - i);
    for (int kind = 0; kind < 8; kind++) {
        bool base = kind & 1, indexed = kind & 2;
        spot_ctx c = check_ctx(1 + kind / 4);
        spot_ec ec = an_ec(&cfg, (uint32_t)kind);
        if (base) spot_ec_base(&ec, &cfg, 4, N, N);
        CHECK_OK(&c, spot_sample_images(&c, 2, (spot_sample[]){
            { &ec, SPOT_TRAIN, 100, 3, indexed ? index : NULL, &cursor, image, target, mask },
            { &ec, SPOT_TEST, N - 100, 0, NULL, NULL, image + 100, target + 100 * ec.targets, mask + 100 } }));
        for (uint32_t i = 0; i < N; i++) {
            uint32_t number = i >= 100 ? i - 100 : indexed ? index[i + 12] : i + 12;
            float told[SPOT_BASE_TARGETS];
            spot_image one;
            spot_image_draw(&one, &ec, i < 100 ? SPOT_TRAIN : SPOT_TEST, number);
            spot_image_targets(told, &one, &ec);
            assert_memory_equal(&image[i], &one, sizeof one);
            assert_memory_equal(target + i * (uint32_t)ec.targets, told, (size_t)ec.targets * sizeof *told);
            assert_int_equal(mask[i], one.blindspots);
        }
    }
}

TEST(only_what_is_wanted)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec = an_ec(&cfg, 1);
    spot_ctx c = check_ctx(2);
    uint32_t mask[5];
    spot_image one;
    CHECK_OK(&c, spot_sample_images(&c, 1, &(spot_sample){ .ec = &ec, .n = 5, .mask = mask }));
    CHECK_OK(&c, spot_sample_images(&c, 1, &(spot_sample){ .ec = &ec, .n = 5 }));
    CHECK_OK(&c, spot_sample_images(&c, 0, NULL));
    CHECK_OK(&c, spot_sample_positives(&c, 0, NULL));
    CHECK_OK(&c, spot_sample_shuffle(&c, 0, NULL));
    for (uint32_t i = 0; i < 5; i++) {
        spot_image_draw(&one, &ec, SPOT_TRAIN, i);
        assert_int_equal(mask[i], one.blindspots);
    }
}

TEST(nonsense_is_refused)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec = an_ec(&cfg, 1), other = ec, none = { 0 };
    spot_ctx c = check_ctx(1);
    uint32_t order[2];
    other.scene.size = 64;
    CHECK_FAILS(&c, spot_sample_images(&c, 2, (spot_sample[]){ { .ec = &ec }, { .ec = &other } }), SPOT_INVALID,
                "sample.mixed: problem 1 | 64");
    CHECK_FAILS(&c, spot_sample_images(&c, 1, &(spot_sample){ .ec = &ec, .n = -1 }), SPOT_INVALID, "sample.images: -1");
    CHECK_FAILS(&c, spot_sample_images(&c, 1, &(spot_sample){ .ec = &ec, .split = SPOT_SPLITS }), SPOT_INVALID,
                "sample.ec");
    CHECK_FAILS(&c, spot_sample_images(&c, 1, &(spot_sample){ .ec = &none }), SPOT_INVALID, "sample.ec");
    CHECK_FAILS(&c, spot_sample_images(&c, 1, &(spot_sample){ .n = 0 }), SPOT_INVALID, "sample.ec");
    other = ec;
    other.blindspot_count = 9;
    CHECK_FAILS(&c, spot_sample_images(&c, 1, &(spot_sample){ .ec = &other }), SPOT_INVALID, "sample.ec");
    CHECK_FAILS(&c, spot_sample_positives(&c, 1, &(spot_positives){ &ec, SPOT_TEST, NULL }), SPOT_INVALID, "sample.positives");
    CHECK_FAILS(&c, spot_sample_shuffle(&c, 1, &(spot_shuffle){ .n = 2 }), SPOT_INVALID, "sample.order: 2");
    CHECK_FAILS(&c, spot_sample_shuffle(&c, 1, &(spot_shuffle){ .n = 1u << 31, .order = order }), SPOT_INVALID, "sample.order");
}

static float of_bf16(uint32_t b)
{
    uint32_t bits = b << 16;
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Every bf16 is itself, and half-way between two neighbours the even one is taken. */
TEST(bf16_is_the_nearest)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ctx c = check_ctx(2);
    static float x[3 * 50 * 50 * 6];
    static uint16_t b[LEN(x)], blocks[LEN(x) / 3 * 4];
    static float wide[LEN(x) / 3 * 4];
    spot_image image[6];
    spot_ec ec;
    for (uint32_t k = 0; k < 0x7f7f; k++)
        for (uint32_t sign = 0; sign < 0x10000; sign += 0x8000) {
            float low = of_bf16(sign + k), high = of_bf16(sign + k + 1), middle = low + (high - low) / 2;
            assert_int_equal(spot_bf16_bits(low), sign + k);
            assert_int_equal(spot_bf16_bits(middle), sign + k + (k & 1));
            assert_int_equal(spot_bf16_bits(nextafterf(middle, low)), sign + k);
            assert_int_equal(spot_bf16_bits(nextafterf(middle, high)), sign + k + 1);
        }
    assert_true(isnan(of_bf16(spot_bf16_bits(NAN))));
    cfg.size = 50;
    spot_ec_base(&ec, &cfg, 3, 6, 6);
    for (uint32_t i = 0; i < 6; i++) spot_image_draw(&image[i], &ec, SPOT_TRAIN, i);
    CHECK_OK(&c, spot_raster_input(&c, x, 3, SPOT_FP32, image, 6, &cfg));
    CHECK_OK(&c, spot_raster_input(&c, b, 3, SPOT_BF16, image, 6, &cfg));
    CHECK_OK(&c, spot_raster_input(&c, blocks, 4, SPOT_BF16, image, 6, &cfg));
    CHECK_OK(&c, spot_raster_input(&c, wide, 4, SPOT_TF32, image, 6, &cfg));
    for (int i = 0; i < LEN(x); i++) assert_int_equal(b[i], spot_bf16_bits(x[i]));
    for (int i = 0; i < LEN(wide); i++) {
        int at = i / 4 % 2500, pixel = i / 4 - at + spot_stem_pixel(at, 50);
        float want = i % 4 < 3 ? x[pixel * 3 + i % 4] : 0;
        assert_memory_equal(&wide[i], &want, sizeof want);
        assert_int_equal(blocks[i], spot_bf16_bits(want));
    }
    CHECK_FAILS(&c, spot_raster_input(&c, b, 8, SPOT_BF16, image, 1, &cfg), SPOT_INVALID, "raster.channels: 8");
    cfg.size = 51;
    CHECK_FAILS(&c, spot_raster_input(&c, blocks, 4, SPOT_BF16, image, 1, &cfg), SPOT_INVALID, "raster.odd_size");
}
