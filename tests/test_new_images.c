/* test_new_images.c - attributes of scenes by their words, and new images that have them or lack one. */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <string.h>

#include "spotter/scene.h"

static spot_ec draw_ec(spot_ctx *c)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec;

    cfg.size = 32;
    cfg.rollable[0] = cfg.rollable[1] = 8;
    CHECK_OK(c, spot_ec_draw(c, &ec, &cfg, 3, 1));
    return ec;
}

/* 1 or 0 as the image's record in the table has the item or not; -1: the table has no such column. */
static int table_says(const spot_ec *ec, const spot_image *image, const char *item)
{
    const bool denied = !strncmp(item, "not ", 4);
    const char *equal = strchr(item, '='), *name = item + (denied ? 4 : 0);
    const size_t letters = equal ? (size_t)(equal - item) : strlen(name);
    char head[4096] = "", text[4096] = "", *column = head, *cell = text;
    FILE *f = fmemopen(head, sizeof head, "w"), *g = fmemopen(text, sizeof text, "w");

    spot_ec_columns(f, ec);
    spot_ec_record(g, ec, image, "x");
    fclose(f);
    fclose(g);
    for (;;) {
        const size_t n = strcspn(column, ",\n"), m = strcspn(cell, ",\n");
        if (n == letters && !memcmp(column, name, n)) {
            cell[m] = 0;
            return !strcmp(cell, equal ? equal + 1 : denied ? "0" : "1");
        }
        if (column[n] != ',') return -1;
        column += n + 1;
        cell += m + 1;
    }
}

TEST(items_as_in_the_table)
{
    static const char *const item[] = { "circle", "not circle", "square", "square color=orange", "square color=blue",
        "relative_position=above", "background texture=salt_and_pepper", "background color=grey", "circle size=small",
        "not text", "square number=two" };
    spot_scene_config cfg = spot_scene_defaults();
    spot_ctx c = check_ctx(1);
    int seen = 0, held = 0;

    cfg.size = 32;
    for (uint32_t e = 0; e < 6; e++) {
        spot_ec ec;
        CHECK_OK(&c, spot_ec_draw(&c, &ec, &cfg, 7, e));
        for (uint32_t i = 0; i < 200 * LEN(item); i++) {
            const char *of = item[i % LEN(item)];
            spot_triplet t;
            spot_image image;
            spot_image_draw(&image, &ec, SPOT_TEST, i / LEN(item));
            assert_true(spot_triplet_read(&t, of));
            if (table_says(&ec, &image, of) < 0) continue;
            seen++;
            held += spot_triplet_holds(&t, &image);
            if (table_says(&ec, &image, of) != spot_triplet_holds(&t, &image)) fail_msg("EC %u, %u: %s", e, i, of);
        }
    }
    printf("%d of %d hold\n", held, seen);
    assert_true(seen > 2000 && held > seen / 5 && held < seen - seen / 5);
}

TEST(words_that_are_no_attributes)
{
    static const char *const word[] = { "", "dog", "not dog", "square=orange", "square color", "square color=red",
        "color=orange", "not square color=orange", "background", "square relative_position=above", "size=low (<= 3.2)",
        "circle number=two=one", "not ", "=", "square color=" };
    spot_triplet t;

    for (size_t i = 0; i < LEN(word); i++)
        if (spot_triplet_read(&t, word[i])) fail_msg("\"%s\" is read", word[i]);
}

TEST(new_images_have_the_attributes_or_lack_one)
{
    spot_ctx c = check_ctx(1);
    spot_ec ec = draw_ec(&c), renewed, again, other;
    uint32_t with[40], without[40];
    spot_drawn_images d = { .with = with, .without = without };
    int label = 1, position = 0;
    spot_triplet t[2];
    spot_image a, b;

    assert_true(spot_triplet_read(&t[0], "relative_position=above"));
    assert_true(spot_triplet_read(&t[1], "square"));
    CHECK_OK(&c, spot_ec_renew(&c, &renewed, &ec, 0));
    CHECK_OK(&c, spot_ec_renew(&c, &again, &ec, 0));
    CHECK_OK(&c, spot_ec_renew(&c, &other, &ec, 1));
    assert_true(renewed.seed == again.seed && renewed.seed != ec.seed && other.seed != renewed.seed);
    CHECK_OK(&c, spot_images_with(&c, &d, 40, &renewed, label, t, 2));
    assert_int_equal(d.found[0], 40);
    assert_int_equal(d.found[1], 40);
    for (int i = 0; i < 40; i++) {
        spot_image_draw(&a, &renewed, SPOT_TEST, with[i]);
        spot_image_draw(&b, &renewed, SPOT_TEST, without[i]);
        assert_true(a.label == 1 && b.label == 1 && a.relative_position == 1 && b.relative_position == 0);
        position += a.relative_position;
        if (i) assert_true(with[i] > with[i - 1] && without[i] > without[i - 1]);
    }
    assert_int_equal(position, 40);
    t[1] = (spot_triplet){ t[0].layer, t[0].attribute, !t[0].value };
    CHECK_OK(&c, spot_images_with(&c, &d, 40, &renewed, label, t, 2));
    assert_int_equal(d.found[0], 0);
    assert_int_equal(d.found[1], 40);
}
