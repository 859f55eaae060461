/* test_base_model.c - a base model: what it is asked, that it learns, that ECs start from it. */
#define _POSIX_C_SOURCE 200809L
#include "check_scene.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "spotter/model.h"

static spot_scene_config scene(void) { return tiny_scene(4, 3, 4, 4, 4); }

static spot_model_config model(void)
{
    spot_model_config cfg = spot_model_defaults();

    cfg.width = 16;
    cfg.epochs = 1;
    cfg.batch = 64;
    cfg.schedule = SPOT_ONE_CYCLE;
    cfg.base = (spot_base_config){ .images = 1280, .epochs = 4, .lr = 4e-3 };
    return cfg;
}

/* Every attribute of the draw list stands in the targets, and 0.5 where there is nothing to see. */
TEST(targets_say_what_is_drawn)
{
    static const spot_layer object[] = { SPOT_SQUARE, SPOT_RECTANGLE, SPOT_CIRCLE, SPOT_TEXT };
    spot_scene_config s = scene();
    int seen[SPOT_BASE_TARGETS][3] = { { 0 } };
    spot_ec ec;
    spot_ec_base(&ec, &s, 3, 400, 10);
    assert_int_equal(ec.rollable_count + 1, SPOT_BASE_TARGETS);
    for (uint32_t i = 0; i < 400; i++) {
        spot_image image;
        float t[SPOT_BASE_TARGETS + 1] = { [SPOT_BASE_TARGETS] = 7 };
        int at = 3;
        spot_image_draw(&image, &ec, SPOT_TRAIN, i);
        spot_image_targets(t, &image, &ec);
        assert_true(t[SPOT_BASE_TARGETS] == 7);                       /* and writes no further */
        assert_true(t[0] == image.background_color && t[1] == image.background_texture);
        assert_true(t[2] == (image.relative_position < 0 ? 0.5f : image.relative_position));
        for (int k = 0; k < LEN(object); k++) {
            const spot_object *o = NULL;
            int count = 0;
            for (int j = 0; j < image.object_count; j++)
                if (image.object[j].layer == object[k]) o = &image.object[j], count++;
            assert_true(t[at] == (o != NULL));
            assert_true(t[at + 1] == (o ? o->size : 0.5f));
            assert_true(t[at + 2] == (o ? o->color : 0.5f));
            assert_true(t[at + 3] == (o ? o->texture : 0.5f));
            at += 4;
            if (object[k] == SPOT_SQUARE) assert_true(t[at++] == (o ? count - 1 : 0.5f));
        }
        for (int k = 0; k < SPOT_BASE_TARGETS; k++) seen[k][(int)(2 * t[k])]++;
        assert_true(image.train_label == image.label && !image.blindspots);
    }
    for (int k = 0; k < SPOT_BASE_TARGETS; k++) assert_true(seen[k][0] > 60 && seen[k][2] > 60);
}

TEST(learns_and_hands_on_all_but_the_head)
{
    spot_ctx c = check_ctx(2);
    spot_scene_config s = scene();
    spot_model_config cfg = model();
    spot_model_tensor table[SPOT_MAX_TENSORS];
    spot_learning lesson;
    spot_model base, from_base, from_file;
    spot_arena a;
    spot_ec ec;
    char path[] = "/tmp/spot_base_XXXXXX";
    size_t head;
    close(mkstemp(path));
    CHECK_OK(&c, spot_arena_open(&c, &a, (size_t)1 << 28));
    CHECK_OK(&c, spot_model_base(&c, &a, &base, &lesson, &s, &cfg, 3));
    assert_int_equal(base.outputs, SPOT_BASE_TARGETS);
    assert_true(lesson.epochs == 4 && lesson.epoch[3].train_loss < 0.85 * lesson.epoch[0].train_loss);
    assert_true(lesson.outside > 0.66 && lesson.outside_count > 2048 * 12);

    CHECK_OK(&c, spot_ec_draw(&c, &ec, &s, 3, 0));
    cfg.lr = 1e-9;                                  /* nothing is learned: what training left is where it began */
    CHECK_OK(&c, spot_model_train(&c, &a, &from_base, &lesson, &ec, &cfg, &base));
    assert_int_equal(from_base.outputs, 1);
    spot_model_layout(table, SPOT_ARCH_RESNET18, 16, 1);
    head = table[120].offset;
    for (int t = 0; t < 120; t++)
        if (strstr(table[t].name, "conv"))
            for (size_t i = table[t].offset; i < table[t].offset + table[t].count; i++)
                assert_true(fabsf(from_base.value[i] - base.value[i]) <= 1e-6f);

    CHECK_OK(&c, spot_model_save(&c, path, &base));
    cfg.init = check_text("%s", path);
    CHECK_OK(&c, spot_model_train(&c, &a, &from_file, &lesson, &ec, &cfg, NULL));
    for (size_t i = 0; i < head; i++)
        if (fabsf(from_file.value[i] - from_base.value[i]) > 1e-3f * fmaxf(1, fabsf(from_base.value[i])))
            fail_msg("weight %zu: %g from the file, %g from the model", i, from_file.value[i], from_base.value[i]);

    cfg.width = 32;
    CHECK_FAILS(&c, spot_model_train(&c, &a, &from_file, &lesson, &ec, &cfg, &base), SPOT_USAGE, "model.init_width: width 16");
    unlink(path);
    spot_arena_close(&a);
}
