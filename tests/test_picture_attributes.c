/* test_picture_attributes.c - attributes of pictures by themselves: numbers against numpy and Pillow, thirds, what has none.
 * ctest: threads, both */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <math.h>

#include "check_folder.h"
#include "discover/describe/attributes_pictures.h"
#include "discover/describe/describe_match.h"
#include "discover/subject/attributes.h"
#include "formats/png.h"
#include "spotter/discover.h"

/* tools/golden/picture_attributes.py. Alpha is told by blending on white and on black, which rounds. */
TEST(numbers_are_those_of_numpy_and_pillow)
{
    FILE *f = fopen("golden/picture_attributes.txt", "r");
    spot_picture p = { 0 };
    spot_ctx c = check_ctx(1);
    char path[200];
    int pictures = 0, wrong = 0;

    assert_non_null(f);
    while (fscanf(f, "%199s", path) == 1) {
        spot_picture_numbers got = { { NAN } };
        if (spot_picture_measure(&c, &got, &p, path, NULL)) print_message("%s\n", spot_take_message(&c, SPOT_INPUT)), wrong++;
        for (int k = 0; k < SPOT_PICTURE_NUMBERS; k++) {
            double want;
            assert_int_equal(fscanf(f, "%lf", &want), 1);
            if (fabs(got.of[k] - want) > (k == SPOT_PICTURE_NUMBERS - 1 ? 0.004 : 1e-8 * (1 + fabs(want))))
                print_message("%s: number %d is %.12g, and %.12g is wanted\n", path, k, got.of[k], want), wrong++;
        }
        pictures++;
    }
    fclose(f);
    spot_picture_close(&p);
    assert_true(pictures > 100 && !wrong);
}

enum { ROWS = 9, SIDE = 8 };

static uint32_t crc_of(const uint8_t *v, size_t n)
{
    uint32_t r = UINT32_MAX;

    for (size_t i = 0; i < 8 * n; i++) {
        if (i % 8 == 0) r ^= v[i / 8];
        r = r >> 1 ^ (r & 1 ? 0xedb88320u : 0);
    }
    return ~r;
}

static size_t put_chunk(uint8_t *out, const char *kind, const uint8_t *data, uint32_t n)
{
    const uint8_t size[] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };
    uint32_t crc;

    memcpy(out, size, 4);
    memcpy(out + 4, kind, 4);
    memcpy(out + 8, data, n);
    crc = crc_of(out + 4, n + 4);
    for (int k = 0; k < 4; k++) out[8 + n + k] = (uint8_t)(crc >> (24 - 8 * k));
    return n + 12;
}

/* Half of the pixels have the colour that a chunk tRNS makes transparent; it stands behind a private chunk of 6,000 bytes, as
 * behind a profile of colours. */
TEST_IN_FOLDER(transparency_is_told_behind_long_chunks)
{
    static const uint8_t clear[] = { 0, 10, 0, 20, 0, 30 };
    static uint8_t file[20000], filler[6000];
    uint8_t rgb[SIDE * SIDE * 3];
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    spot_picture_numbers got;
    unsigned char *png;
    size_t bytes, used = 33;

    for (int i = 0; i < LEN(rgb); i++) rgb[i] = (uint8_t)(i < LEN(rgb) / 2 ? 10 * (i % 3 + 1) : 200);
    CHECK_OK(&c, spot_png_encode(&c, &png, &bytes, rgb, SIDE, SIDE));
    memcpy(file, png, used);                                           /* the mark and IHDR */
    used += put_chunk(file + used, "prVt", filler, sizeof filler);
    used += put_chunk(file + used, "tRNS", clear, sizeof clear);
    memcpy(file + used, png + 33, bytes - 33);
    CHECK_OK(&c, spot_picture_measure(&c, &got, &p, put_bytes(in_root("clear.png"), file, used + bytes - 33), NULL));
    CHECK_NEAR(got.of[SPOT_PICTURE_NUMBERS - 1], 0.5, 1e-9);
    spot_picture_close(&p);
    free(png);
}

/* Greys 10, 20, ... 70, of which half a picture is 1 brighter; the last row has none, that before a broken one. */
static void write_pictures(spot_ctx *c, char *image[ROWS])
{
    for (int i = 0; i < ROWS - 2; i++) {
        uint8_t rgb[SIDE * SIDE * 3];
        for (int e = 0; e < LEN(rgb); e++) rgb[e] = (uint8_t)(10 * (i + 1) + (e >= LEN(rgb) / 2));
        unsigned char *png;
        size_t bytes;
        CHECK_OK(c, spot_png_encode(c, &png, &bytes, rgb, SIDE, SIDE));
        image[i] = strdup(put_bytes(in_root("%d.png", i), png, bytes));
        free(png);
    }
    image[ROWS - 2] = strdup(in_root("broken.png"));
    put_text("broken.png", "no picture");
    image[ROWS - 1] = NULL;
}

/* Items of other pictures, by their ranges: what is no item of pictures, and a row without a readable picture, has no row. */
TEST_IN_FOLDER(new_pictures_are_measured_by_the_ranges_of_old_ones)
{
    static char *const name[] = { "brightness: dark (<= 25)", "size=low (<= 25)", "brightness: bright (> 40)",
                                  "brightness: odd" };
    enum { ITEMS = LEN(name) };
    static double range[ITEMS][2] = { { -INFINITY, 25 }, { -INFINITY, 25 }, { 40, INFINITY }, { NAN, NAN } };
    const spot_attributes like = { .rows = 1, .items = ITEMS, .words = 1, .name = (char **)(uintptr_t)name, .range = range };
    spot_ctx c = check_ctx(3);
    char *image[ROWS];
    const spot_subject s = { .n = ROWS, .image = image };
    spot_attributes a;

    write_pictures(&c, image);
    assert_true(spot_is_of_pictures(&like, 0) && !spot_is_of_pictures(&like, 1) && spot_is_of_pictures(&like, 2)
                && !spot_is_of_pictures(&like, 3));
    CHECK_OK(&c, spot_attributes_names(&c, &a, ROWS, &like));
    CHECK_OK(&c, spot_attributes_like_pictures(&c, &a, &s, &like));
    for (int i = 0; i < ROWS; i++) {                   /* picture i has the brightness 10 (i + 1) + 0.5 */
        assert_int_equal(spot_item_holds(&a, 0, i), i < 2);
        assert_int_equal(spot_item_holds(&a, 2, i), i >= 3 && i < ROWS - 2);
        assert_false(spot_item_holds(&a, 1, i) || spot_item_holds(&a, 3, i));
    }
    spot_attributes_close(&a);
    for (int i = 0; i < ROWS; i++) free(image[i]);
}

TEST_IN_FOLDER(thirds_have_plain_names)
{
    spot_ctx c = check_ctx(3);
    char *image[ROWS];
    const spot_subject s = { .n = ROWS, .image = image }, none = { .n = ROWS };
    spot_attributes a;

    write_pictures(&c, image);
    CHECK_OK(&c, spot_attributes_of_pictures(&c, &a, &s, 0));
    assert_int_equal(a.items, 3);                      /* all other numbers are equal */
    assert_string_equal(a.name[0], "brightness: dark (<= 30.5)");
    assert_string_equal(a.name[1], "brightness: middle (<= 50.5)");
    assert_string_equal(a.name[2], "brightness: bright (> 50.5)");
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 3; k++) assert_int_equal(spot_item_holds(&a, k, i), i < 7 && (i < 3 ? 0 : i < 5 ? 1 : 2) == k);
    assert_true(a.range[0][0] == -INFINITY && a.range[0][1] == 30.5 && a.range[2][0] == 50.5 && a.range[2][1] == INFINITY);
    spot_attributes_close(&a);
    CHECK_OK(&c, spot_attributes_of_pictures(&c, &a, &none, 0));
    assert_int_equal(a.items, 0);
    spot_attributes_close(&a);
    for (int i = 0; i < ROWS; i++) free(image[i]);
}
