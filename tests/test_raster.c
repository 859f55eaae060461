/* test_raster.c - pixels: against PIL, against the pixel rule, alone and together, as bytes and as floats.
 * ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>

#include "formats/jpeg.h"
#include "formats/png.h"
#include "image/photo.h"
#include "image/raster.h"
#include "spotter/config.h"

enum { N = 24 };

/* Images of an EC in which nearly everything varies. */
static void some_images(spot_image *image, int n, spot_scene_config *cfg, int size)
{
    spot_ctx c = check_ctx(1);
    spot_ec ec;

    *cfg = spot_scene_defaults();
    cfg->size = size;
    cfg->extra_layers[0] = cfg->extra_layers[1] = 3;
    cfg->rollable[0] = cfg->rollable[1] = 19;
    for (int k = 0; k < SPOT_SPLITS; k++) cfg->per_bucket[k] = 1;
    CHECK_OK(&c, spot_ec_draw(&c, &ec, cfg, 11, 5));
    for (int i = 0; i < n; i++) spot_image_draw(&image[i], &ec, i % SPOT_SPLITS, (uint32_t)(1000 + i));
}

static uint8_t *bytes_of(int n, int size)
{
    uint8_t *rgb = calloc((size_t)n, 3 * (size_t)size * (size_t)size);
    assert_non_null(rgb);
    return rgb;
}

/* 33 and 333: rows that begin inside a Philox block. */
TEST(spans_follow_the_pixel_rule)
{
    const int sizes[] = { 32, 33, 64, 224, 333, SPOT_MAX_SIZE };
    for (int s = 0; s < LEN(sizes); s++) {
        int size = sizes[s], n = size > 300 ? 4 : N;
        spot_ctx c = check_ctx(2);
        spot_image image[N];
        spot_scene_config cfg;
        uint8_t *rgb = bytes_of(n, size), *at = rgb;
        some_images(image, n, &cfg, size);
        spot_geometry g = spot_geometry_of(&cfg);
        CHECK_OK(&c, spot_raster_draw(&c, rgb, image, n, &cfg));
        for (int i = 0; i < n; i++)
            for (int y = 0; y < size; y++)
                for (int x = 0; x < size; x++, at += 3) {
                    uint32_t want = spot_raster_pixel(&g, &image[i], x, y);
                    uint32_t got = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
                    if (got != want) fail_msg("size %d image %d (%d,%d): %06x, rule %06x", size, i, x, y, got, want);
                }
        free(rgb);
    }
}

static spot_object object_at(const spot_geometry *g, int layer, int size, int x, int y)
{
    const spot_shape *s = &g->shape[layer][size];
    spot_object o = { .layer = (uint8_t)layer, .size = (uint8_t)size, .place_x = (int16_t)x, .place_y = (int16_t)y };

    o.x0 = (int16_t)(x + s->ink_x);
    o.y0 = (int16_t)(y + s->ink_y);
    o.x1 = (int16_t)(o.x0 + s->ink_w - 1 < g->size ? o.x0 + s->ink_w - 1 : g->size - 1);
    o.y1 = (int16_t)(o.y0 + s->ink_h - 1 < g->size ? o.y0 + s->ink_h - 1 : g->size - 1);
    return o;
}

static uint64_t fnv(const uint8_t *v, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ v[i]) * 0x100000001b3u;
    return h;
}

/* tools/golden/scene_pil.py: row by row the masks of PIL's rectangle and ellipse, then whole images. */
TEST(shapes_are_pils)
{
    spot_ctx c = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    spot_geometry g = spot_geometry_of(&cfg);
    FILE *f = fopen("golden/scene_pil.txt", "r");
    uint8_t *rgb = bytes_of(1, 224);
    int area[SPOT_LAYERS][2] = { 0 }, layer, size, y, from, to, grey, objects, scenes = 0;
    unsigned long long want;
    assert_non_null(f);
    while (fscanf(f, " mask %d %d %d %d %d", &layer, &size, &y, &from, &to) == 5) {
        spot_object o = object_at(&g, layer, size, 0, 0);
        assert_in_range(y, 0, g.shape[layer][size].ink_h - 1);
        for (int x = 0; x < g.shape[layer][size].ink_w; x++)
            assert_int_equal(spot_shape_covers(&g, &o, x, y), x >= from && x <= to);
        area[layer][size] += to - from + 1;
    }
    assert_int_equal(area[SPOT_SQUARE][0], 41 * 41);    assert_int_equal(area[SPOT_SQUARE][1], 21 * 21);
    assert_int_equal(area[SPOT_RECTANGLE][0], 51 * 31); assert_int_equal(area[SPOT_RECTANGLE][1], 26 * 16);
    assert_int_equal(area[SPOT_CIRCLE][0], 1313);       assert_int_equal(area[SPOT_CIRCLE][1], 349);
    for (; fscanf(f, " scene %d %d %llx", &grey, &objects, &want) == 3; scenes++) {
        spot_image image = { .background_color = (uint8_t)grey, .object_count = (uint8_t)objects };
        for (int k = 0; k < objects; k++) {
            int color, texture, phase, x;
            assert_int_equal(fscanf(f, " object %d %d %d %d", &layer, &size, &color, &texture), 4);
            assert_int_equal(fscanf(f, "%d %d %d", &phase, &x, &y), 3);
            image.object[k] = object_at(&g, layer, size, x, y);
            image.object[k].color = (uint8_t)color;
            image.object[k].texture = (uint8_t)texture;
            image.object[k].stripe_phase = (uint8_t)phase;
        }
        CHECK_OK(&c, spot_raster_draw(&c, rgb, &image, 1, &cfg));
        if (fnv(rgb, 3 * 224 * 224) != want) fail_msg("scene %d is not PIL's", scenes);
    }
    assert_int_equal(scenes, 12);
    free(rgb);
    fclose(f);
}

/* The canvas cuts one row and one column where the authors' placement ends. */
TEST(the_last_place_is_cut)
{
    spot_ctx c = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    spot_geometry g = spot_geometry_of(&cfg);
    uint8_t *rgb = bytes_of(2, 224);         /* the second is not asked for */
    int blue = 0;
    spot_image image = { .object_count = 1, .object = { object_at(&g, SPOT_SQUARE, 0, 184, 184) } };
    assert_int_equal(image.object[0].x1, 223);
    memset(rgb + 3 * 224 * 224, 7, 3 * 224 * 224);
    CHECK_OK(&c, spot_raster_draw(&c, rgb, &image, 1, &cfg));
    for (int i = 0; i < 2 * 224 * 224; i++) blue += rgb[3 * i] == 31 && rgb[3 * i + 1] == 119 && rgb[3 * i + 2] == 180;
    assert_int_equal(blue, 40 * 40);
    for (int i = 0; i < 3 * 224 * 224; i++) assert_int_equal(rgb[3 * 224 * 224 + i], 7);
    free(rgb);
}

/* Arial's figures at 25 and 50 pixels are the aim (facts: 235 and 916 pixels of ink). */
TEST(the_word_has_its_size)
{
    const int want[2][5] = { { 40, 17, 235, 40, 23 }, { 79, 35, 916, 81, 46 } };
    spot_scene_config cfg = spot_scene_defaults();
    for (int smaller = 0; smaller < 2; smaller++) {
        cfg.text_alternative = smaller;
        spot_geometry g = spot_geometry_of(&cfg);
        for (int k = 0; k < 2; k++) {
            const int *w = want[k != smaller];
            spot_shape s = g.shape[SPOT_TEXT][k];
            spot_object o = object_at(&g, SPOT_TEXT, k, 0, 0);
            int ink = 0, left = 99, right = -1, top = 99, bottom = -1;
            assert_int_equal(s.w, w[3]);
            assert_int_equal(s.h, w[4]);
            for (int v = -2; v < 60; v++)
                for (int u = -2; u < 99; u++) {
                    if (!spot_shape_covers(&g, &o, u, v)) continue;
                    ink++;
                    if (u < left) left = u;
                    if (u > right) right = u;
                    if (v < top) top = v;
                    if (v > bottom) bottom = v;
                }
            assert_int_equal(left, 0);           assert_int_equal(top, 0);
            assert_int_equal(right + 1, w[0]);   assert_int_equal(bottom + 1, w[1]);
            CHECK_NEAR(ink, w[2], 0.03 * w[2]);
        }
    }
}

TEST(noise_is_addressed)
{
    spot_ctx c = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    spot_image image = { .seed = 0x123456789abcdefu, .ec = 7, .index = 42, .split = SPOT_VAL, .background_texture = 1,
                         .background_color = 1 };
    spot_rng r = spot_rng_at(image.seed, SPOT_RNG_NOISE_VAL, 7, 42);
    uint8_t *rgb = bytes_of(1, 224);
    int specks = 0;
    CHECK_OK(&c, spot_raster_draw(&c, rgb, &image, 1, &cfg));
    for (int i = 0; i < 224 * 224; i++) {
        int want = spot_rng_uniform(&r) < 0.1 ? 100 : 200;
        for (int k = 0; k < 3; k++) assert_int_equal(rgb[3 * i + k], want);
        specks += want == 100;
    }
    assert_in_range(specks, 5018 - 270, 5018 + 270);     /* 4 sigma */
    free(rgb);
}

TEST(alone_together_threads)
{
    spot_ctx one = check_ctx(1), two = check_ctx(2);
    spot_image image[N];
    spot_scene_config cfg;
    size_t bytes = 3 * 64 * 64;
    uint8_t *a = bytes_of(N, 64), *b = bytes_of(N, 64);
    some_images(image, N, &cfg, 64);
    for (int jpeg = 0; jpeg < 2; jpeg++) {
        cfg.jpeg_quality = 75 * jpeg;
        CHECK_OK(&one, spot_image_render(&one, a, image, N, &cfg));
        CHECK_OK(&two, spot_image_render(&two, b, image, N, &cfg));
        assert_memory_equal(a, b, N * bytes);
        memset(b, 0, N * bytes);
        for (size_t i = N; i-- > 0;) CHECK_OK(&one, spot_image_render(&one, b + i * bytes, &image[i], 1, &cfg));
        assert_memory_equal(a, b, N * bytes);
    }
    free(a);
    free(b);
}

TEST(inputs_are_normalised_bytes)
{
    const double mean[] = { 0.485, 0.456, 0.406 }, std[] = { 0.229, 0.224, 0.225 };
    spot_ctx c = check_ctx(2);
    spot_image image[N];
    spot_scene_config cfg;
    size_t values = (size_t)N * 3 * 50 * 50;
    uint8_t *rgb = bytes_of(N, 50);
    const spot_photo_set set = { .pictures = N, .size = 50, .rgb = rgb };
    float *x = malloc(values * sizeof *x), *y = malloc(values * sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    some_images(image, N, &cfg, 50);
    for (int jpeg = 0; jpeg < 2; jpeg++) {
        cfg.jpeg_quality = 90 * jpeg;
        CHECK_OK(&c, spot_image_render(&c, rgb, image, N, &cfg));
        CHECK_OK(&c, spot_photo_input(&c, x, 3, SPOT_FP32, &set, NULL, N));
        CHECK_OK(&c, spot_ec_input(&c, y, 3, SPOT_FP32, image, N, &(spot_ec){ .scene = cfg }, NULL));
        assert_memory_equal(x, y, values * sizeof *x);
        for (size_t i = 0; i < values; i++) CHECK_NEAR(x[i], (rgb[i] / 255.0 - mean[i % 3]) / std[i % 3], 1e-6);
    }
    free(rgb);
    free(x);
    free(y);
}

TEST(lists_off_the_canvas_are_refused)
{
    spot_ctx c = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults(), tiny = cfg;
    spot_geometry g = spot_geometry_of(&cfg);
    uint8_t *rgb = bytes_of(1, 224);
    spot_image good = { .object_count = 1, .object = { object_at(&g, SPOT_CIRCLE, 0, 10, 10) } }, bad = good;
    bad.object[0].x1 = 300;
    CHECK_FAILS(&c, spot_raster_draw(&c, rgb, &bad, 1, &cfg), SPOT_INVALID, "raster.object_place: object 0 | image 0");
    bad = good;
    bad.object[0].layer = SPOT_BACKGROUND;
    CHECK_FAILS(&c, spot_raster_draw(&c, rgb, &bad, 1, &cfg), SPOT_INVALID, "raster.object_place: object 0 | image 0");
    bad = good;
    bad.object_count = 6;
    CHECK_FAILS(&c, spot_raster_draw(&c, rgb, &bad, 1, &cfg), SPOT_INVALID, "raster.objects: 6");
    tiny.size = 64;
    CHECK_FAILS(&c, spot_raster_draw(&c, rgb, &good, 1, &tiny), SPOT_INVALID, "raster.object_place: 64");
    tiny.size = 31;
    CHECK_FAILS(&c, spot_raster_draw(&c, rgb, &good, 1, &tiny), SPOT_INVALID, "raster.sizes: 32 | 1024");
    CHECK_FAILS(&c, spot_raster_input(&c, NULL, 3, SPOT_FP32, &good, 1, &cfg), SPOT_INVALID, "raster.sizes");
    CHECK_OK(&c, spot_raster_draw(&c, NULL, NULL, 0, &cfg));
    free(rgb);
}

/* tools/golden/scene_pil.py: the same formula through PIL's JPEG. */
TEST(jpeg_is_pils)
{
    enum { W = 50, H = 37 };
    static uint8_t rgb[3 * W * H], want[3 * W * H];
    spot_ctx c = check_ctx(1);
    FILE *f = fopen("golden/scene_jpeg.bin", "rb");
    assert_non_null(f);
    assert_int_equal(fread(want, 1, sizeof want, f), sizeof want);
    fclose(f);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int k = 0; k < 3; k++)
                rgb[3 * (y * W + x) + k] = (uint8_t)(x * 5 + y * 3 * k + (x / 9 + y / 7) % 2 * 90);
    CHECK_OK(&c, spot_jpeg_round_trip(&c, rgb, W, H, 75));
    assert_memory_equal(rgb, want, sizeof rgb);
    CHECK_FAILS(&c, spot_jpeg_round_trip(&c, rgb, 70000, 1, 75), SPOT_NUMERIC, "jpeg.encoding: 70000x1");
}

TEST(png_keeps_every_byte)
{
    spot_ctx c = check_ctx(1);
    uint8_t rgb[3 * 7 * 5], back[3 * 7 * 5];
    unsigned char *file;
    size_t size;
    png_image png = { .version = PNG_IMAGE_VERSION };
    for (int i = 0; i < LEN(rgb); i++) rgb[i] = (uint8_t)(i * 37);
    CHECK_OK(&c, spot_png_encode(&c, &file, &size, rgb, 7, 5));
    assert_true(png_image_begin_read_from_memory(&png, file, size));
    assert_int_equal(png.width, 7);
    assert_int_equal(png.height, 5);
    png.format = PNG_FORMAT_RGB;
    assert_true(png_image_finish_read(&png, NULL, back, 0, NULL));
    assert_memory_equal(rgb, back, sizeof rgb);
    free(file);
}
