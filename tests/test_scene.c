/* test_scene.c - data sets and blindspots: the authors' statistics, the paper's rules, JSON, impossible settings. */
#define _POSIX_C_SOURCE 200809L
#include "check_scene.h"

#include <math.h>
#include <stdlib.h>

#include <yajl/yajl_tree.h>

#include "spotter/config.h"

/* Two shares of independent draws differ by no more than chance: 4.5 standard deviations. */
static void same_share(double a, double n, double b, double m, const char *what, int layer, int attribute)
{
    double p = (a + b) / (n + m), sd = sqrt(p * (1 - p) * (1 / n + 1 / m));
    if (!(fabs(a / n - b / m) <= 4.5 * sd))
        fail_msg("%s %s.%s: %.4f, the authors' sampler %.4f (sd %.4f)", what, spot_layer_name(layer),
                 spot_attribute_name(attribute), a / n, b / m, sd);
}

/* tools/golden/scene_pil.py ran the authors' sampler: how often each attribute varies, is named, and is named with 1. */
TEST(ecs_are_the_authors)
{
    enum { ECS = 6000 };
    spot_scene_config cfg = spot_scene_defaults();
    int rollable[SPOT_LAYERS][SPOT_ATTRIBUTES] = { 0 }, named[SPOT_LAYERS][SPOT_ATTRIBUTES] = { 0 };
    int one[SPOT_LAYERS][SPOT_ATTRIBUTES] = { 0 }, blindspots = 0, textured = 0, golden_ecs, golden_blindspots;
    int l, a, r, n, o, rows = 0, extras[4] = { 0 }, counts[9] = { 0 }, many[4] = { 0 };
    FILE *f = fopen("golden/scene_ec.txt", "r");
    for (uint32_t i = 0; i < ECS; i++) {
        spot_ec ec = an_ec(&cfg, i);
        extras[ec.extras]++;
        counts[ec.rollable_count]++;
        many[ec.blindspot_count]++;
        for (l = 0; l < SPOT_LAYERS; l++)
            for (a = 0; a < SPOT_ATTRIBUTES; a++) rollable[l][a] += ec.rollable[l][a];
        for (int m = 0; m < ec.blindspot_count; m++, blindspots++) {
            int texture = 0;
            for (int k = 0; k < ec.blindspot[m].len; k++) {
                const spot_triplet *t = &ec.blindspot[m].triplet[k];
                named[t->layer][t->attribute]++;
                one[t->layer][t->attribute] += t->value;
                texture |= t->layer != SPOT_BACKGROUND && t->attribute == SPOT_TEXTURE;
            }
            textured += texture;
        }
    }
    for (int k = 1; k <= 3; k++) {
        CHECK_NEAR(extras[k], ECS / 3., 4.5 * sqrt(ECS * 2 / 9.));
        CHECK_NEAR(many[k], ECS / 3., 4.5 * sqrt(ECS * 2 / 9.));
        CHECK_NEAR(counts[5 + k], ECS / 3., 4.5 * sqrt(ECS * 2 / 9.));
    }
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d %d", &golden_ecs, &golden_blindspots), 2);
    for (; fscanf(f, "%d %d %d %d %d", &l, &a, &r, &n, &o) == 5; rows++) {
        int meta = a == SPOT_RELATIVE_POSITION;
        same_share(meta ? ECS : rollable[l][a], ECS, r, golden_ecs, "rollable", l, a);
        same_share(named[l][a], blindspots, n, golden_blindspots, "named", l, a);
        if (l != SPOT_SQUARE || a != SPOT_PRESENCE) same_share(one[l][a], named[l][a], o, n, "one", l, a);
    }
    assert_int_equal(rows, 20);
    fclose(f);
    /* what was written down of 400 ECs */
    CHECK_NEAR((double)named[SPOT_BACKGROUND][SPOT_RELATIVE_POSITION] / blindspots, 0.80, 0.02);
    CHECK_NEAR((double)named[SPOT_CIRCLE][SPOT_PRESENCE] / blindspots, 0.55, 0.03);
    CHECK_NEAR((double)textured / blindspots, 0.45, 0.04);
}

/* Feasible, of the asked length, ascending, apart in two attributes, and about things that vary. */
TEST(blindspots_obey_the_rules)
{
    for (int variant = 0; variant < 4; variant++) {
        spot_scene_config cfg = spot_scene_defaults();
        int squareless = 0;      /* that do not name the square */
        cfg.attribute_choice = variant & 1;
        cfg.square_presence = variant >> 1;
        for (uint32_t i = 0; i < 1000; i++) {
            spot_ec ec = an_ec(&cfg, i);
            assert_int_equal(ec.images[SPOT_TRAIN], 400 << ec.rollable_count);
            assert_int_equal(ec.images[SPOT_TEST], 50 << ec.rollable_count);
            for (int m = 0; m < ec.blindspot_count; m++) {
                const spot_blindspot *b = &ec.blindspot[m];
                int square = asks(&ec, m, SPOT_SQUARE, SPOT_PRESENCE);
                assert_in_range(b->specificity, 5, 7);
                assert_int_equal(b->len, b->specificity);
                if (m) assert_true(b->specificity >= b[-1].specificity);
                if (cfg.square_presence == SPOT_SQUARE_FORCED) assert_int_equal(square, 1);
                assert_int_not_equal(square, 0);                 /* it would have no positives */
                squareless += square != 1;
                for (int k = 0; k < b->len; k++) {
                    int l = b->triplet[k].layer, a = b->triplet[k].attribute;
                    if (a == SPOT_RELATIVE_POSITION) {
                        assert_int_equal(l, SPOT_BACKGROUND);
                        assert_int_not_equal(square, 0);
                        continue;
                    }
                    assert_true(ec.rollable[l][a]);
                    if (l != SPOT_BACKGROUND && a != SPOT_PRESENCE)
                        assert_int_equal(asks(&ec, m, l, SPOT_PRESENCE), 1);
                    if (k) assert_true(b->triplet[k - 1].layer < l || b->triplet[k - 1].attribute < a);
                }
                for (int other = 0; other < m; other++) {
                    int opposite = 0;
                    for (int k = 0; k < b->len; k++) {
                        int theirs = asks(&ec, other, b->triplet[k].layer, b->triplet[k].attribute);
                        opposite += theirs >= 0 && theirs != b->triplet[k].value;
                    }
                    assert_true(opposite >= 2);
                }
            }
        }
        assert_int_equal(squareless > 0, cfg.square_presence == SPOT_SQUARE_FREE);
    }
}

/* The second attribute, when all of an EC with a circle vary: of eight pairs (background 3, square 4, the circle's
 * presence) one is the circle's; of three layers, as the paper goes, one is the circle. */
TEST(the_choice_of_attributes_shows)
{
    for (int choice = 0; choice < 2; choice++) {
        spot_scene_config cfg = spot_scene_defaults();
        int other = 0;
        cfg.attribute_choice = choice;
        cfg.extra_layers[0] = cfg.extra_layers[1] = 1;
        cfg.rollable[0] = cfg.rollable[1] = 11;
        cfg.blindspots[0] = cfg.blindspots[1] = 1;
        cfg.specificity[0] = cfg.specificity[1] = 2;
        for (uint32_t i = 0; i < 3000; i++) {
            spot_ec ec = an_ec(&cfg, i);
            other += asks(&ec, 0, ec.extra[0], SPOT_PRESENCE) >= 0;
        }
        CHECK_NEAR(other / 3000., choice == SPOT_CHOICE_PAIRS ? 1. / 8 : 1. / 3, 0.04);
    }
}

static yajl_val child(yajl_val v, const char *name, yajl_type type)
{
    const char *path[] = { name, NULL };
    yajl_val found = yajl_tree_get(v, path, type);
    if (!found) fail_msg("no %s", name);
    return found;
}

TEST(json_says_what_is_there)
{
    static char text[SPOT_SCENE_JSON], error[256];
    spot_ctx c = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec;
    spot_image image;
    yajl_val v, o;
    /* the form by hand */
    image = (spot_image){ .index = 4, .split = SPOT_VAL, .label = 1, .blindspots = 2, .background_color = 1,
        .background_texture = 1, .relative_position = 1, .object_count = 1,
        .object = { { .layer = SPOT_CIRCLE, .size = 1, .color = 1, .texture = 1, .stripe_phase = 3, .x0 = 1, .y0 = 2,
                      .x1 = 21, .y1 = 22 } } };
    CHECK_OK(&c, spot_scene_jsonl(&c, text, sizeof text, &image, "a\"b.png"));
    assert_string_equal(text,
        "{\"index\":4,\"split\":\"val\",\"file\":\"a\\\"b.png\",\"label\":1,\"train_label\":0,\"blindspots\":[1],"
        "\"background\":{\"color\":\"grey\",\"texture\":\"salt_and_pepper\"},\"objects\":[{\"layer\":\"circle\","
        "\"box\":[1,2,21,22],\"size\":\"small\",\"color\":\"orange\",\"texture\":\"stripes\",\"stripe_phase\":3}],"
        "\"relative_position\":1}\n");
    CHECK_FAILS(&c, spot_scene_jsonl(&c, text, 100, &image, "a.png"), SPOT_INVALID, "scene_json.room: 100");
    /* the largest EC fits */
    cfg.extra_layers[0] = 3;
    cfg.rollable[0] = cfg.rollable[1] = 19;
    cfg.blindspots[0] = cfg.blindspots[1] = 8;
    cfg.specificity[0] = cfg.specificity[1] = 20;
    for (int k = 0; k < SPOT_SPLITS; k++) cfg.per_bucket[k] = 1;
    CHECK_OK(&c, spot_ec_draw(&c, &ec, &cfg, 9, 0));
    CHECK_OK(&c, spot_ec_json(&c, text, sizeof text, &ec));
    v = yajl_tree_parse(text, error, sizeof error);
    if (!v) fail_msg("%s", error);
    assert_int_equal(YAJL_GET_ARRAY(child(v, "layers", yajl_t_array))->len, 5);
    assert_int_equal(YAJL_GET_ARRAY(child(v, "rollable", yajl_t_array))->len, 19);
    o = child(v, "blindspots", yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(o)->len, 8);
    o = YAJL_GET_ARRAY(o)->values[7];
    assert_int_equal(YAJL_GET_INTEGER(child(o, "specificity", yajl_t_number)), 20);
    assert_int_equal(YAJL_GET_ARRAY(child(o, "triplets", yajl_t_array))->len, 20);
    assert_true(YAJL_GET_DOUBLE(child(o, "share", yajl_t_number)) == spot_blindspot_share(&ec, 7));
    assert_string_equal(YAJL_GET_STRING(child(v, "induce", yajl_t_string)), "flip");
    assert_true(YAJL_GET_DOUBLE(child(v, "strength", yajl_t_number)) == 1);
    yajl_tree_free(v);
}

/* The columns of 0 and 1 say what the table says: of each of its cells one column for each of the two words, and none for no
 * word. */
TEST(attributes_as_columns)
{
    spot_ctx c = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    int words = 0;
    for (uint32_t number = 0; number < 12; number++) {
        char word[64][32] = { "" };
        float item[64];
        spot_ec ec;
        CHECK_OK(&c, spot_ec_draw(&c, &ec, &cfg, 5, number));
        int items = spot_ec_items(&ec);
        assert_in_range(items, 2, spot_source_items(&(spot_source){ .scene = cfg }));
        for (uint32_t i = 0; i < 200; i++) {
            char *line = NULL, *cell;
            size_t size;
            spot_image image;
            FILE *f = open_memstream(&line, &size);
            spot_image_draw(&image, &ec, SPOT_TEST, i);
            spot_ec_record(f, &ec, &image, "x");
            fclose(f);
            spot_image_items(item, &image, &ec);
            cell = strchr(line, ',');
            for (int k = 0; k < items; k += 2) {
                size_t long_ = strcspn(cell + 1, ",\n");
                assert_true(item[k] + item[k + 1] == (long_ > 0) && (item[k] == 0 || item[k] == 1));
                char *own = word[item[k] ? k : k + 1];
                if (long_ && !*own) words++, snprintf(own, 32, "%.*s", (int)long_, cell + 1);
                if (long_) assert_true(strlen(own) == long_ && !strncmp(own, cell + 1, long_));
                cell += 1 + long_;
            }
            assert_string_equal(cell, "\n");
            free(line);
        }
        for (int k = 0; k < items; k += 2) assert_string_not_equal(word[k], word[k + 1]);
    }
    assert_true(words > 100);
}

/* The square, one attribute of another layer, and that layer's object; each attribute once; no dependence on specificity. */
TEST(correlated_attributes_define_blindspots)
{
    spot_scene_config cfg = spot_scene_defaults();
    int rare[2] = { 0 }, blindspots = 0, sizes[4] = { 0 };
    cfg.induce = SPOT_CORRELATE;
    cfg.blindspots[0] = 0;
    cfg.extra_layers[0] = 2;
    cfg.blindspots[1] = 2;
    for (uint32_t i = 0; i < 3000; i++) {
        spot_ec ec = an_ec(&cfg, i);
        assert_in_range(ec.blindspot_count, 0, 2);
        for (int m = 0; m < ec.blindspot_count; m++, blindspots++) {
            const spot_blindspot *b = &ec.blindspot[m];
            const spot_triplet *t = b->triplet[0].layer == SPOT_BACKGROUND ? &b->triplet[0] : &b->triplet[b->len - 1];
            const bool deep = t->layer != SPOT_BACKGROUND && t->attribute != SPOT_PRESENCE;
            char words[512];
            spot_blindspot read;
            assert_int_equal(b->len, 2 + deep);
            assert_int_equal(b->specificity, b->len);
            assert_int_equal(asks(&ec, m, SPOT_SQUARE, SPOT_PRESENCE), 1);
            assert_true(t->layer != SPOT_SQUARE && ec.rollable[t->layer][t->attribute]);
            if (deep) assert_int_equal(asks(&ec, m, t->layer, SPOT_PRESENCE), 1);
            if (m) assert_true(b->specificity >= b[-1].specificity && memcmp(b, b - 1, sizeof *b));
            spot_blindspot_describe(words, sizeof words, b);
            assert_true(spot_blindspot_read(&read, words));
            assert_memory_equal(&read, b, sizeof read);
            rare[t->value]++;
            sizes[b->len]++;
        }
    }
    assert_true(blindspots > 2800 && sizes[2] > 200 && sizes[3] > 200);
    CHECK_NEAR((double)rare[1] / blindspots, 0.5, 4.5 * 0.5 / sqrt(blindspots));
}

/* The first is that of a correlation; the others differ from it in one attribute, and from each other in two as always. */
TEST(mixed_blindspots_share_no_image)
{
    spot_scene_config cfg = spot_scene_defaults();
    int of_count[4] = { 0 }, common = 0;
    cfg.induce = SPOT_MIXED;
    cfg.blindspots[0] = 0;
    cfg.specificity[0] = 4;
    for (uint32_t i = 0; i < 1000; i++) {
        spot_ec ec = an_ec(&cfg, i);
        const spot_blindspot *b = ec.blindspot;
        of_count[ec.blindspot_count]++;
        if (!ec.blindspot_count) continue;
        const spot_triplet *t = b->triplet[0].layer == SPOT_BACKGROUND ? &b->triplet[0] : &b->triplet[b->len - 1];
        assert_in_range(b->len, 2, 3);
        assert_int_equal(asks(&ec, 0, SPOT_SQUARE, SPOT_PRESENCE), 1);
        assert_true(t->layer != SPOT_SQUARE && ec.rollable[t->layer][t->attribute]);
        for (int m = 1; m < ec.blindspot_count; m++) {
            assert_in_range(b[m].specificity, 4, 7);
            assert_true(b[m].specificity >= b[m - 1].specificity);
            common += asks(&ec, m, (int)t->layer, (int)t->attribute) == !t->value;
            for (int k = 0, opposite = 0; k < m; k++, opposite = 0) {
                for (int j = 0; j < b[m].len; j++) {
                    const spot_triplet *u = &b[m].triplet[j];
                    opposite += asks(&ec, k, u->layer, u->attribute) == !u->value;
                }
                assert_true(opposite >= (k ? 2 : 1));
            }
        }
    }
    for (int n = 0; n < 4; n++) assert_true(of_count[n] > 180);
    assert_true(common > 300);
}

TEST(nothing_may_be_planted)
{
    spot_scene_config cfg = spot_scene_defaults();
    int without = 0;
    cfg.blindspots[0] = 0;
    for (uint32_t i = 0; i < 2000; i++) without += an_ec(&cfg, i).blindspot_count == 0;
    CHECK_NEAR(without, 500, 4.5 * sqrt(2000 * 3 / 16.));
}

TEST(blindspots_in_words)
{
    spot_blindspot b = { .len = 3, .triplet = { { SPOT_BACKGROUND, SPOT_RELATIVE_POSITION, 0 },
                                                { SPOT_SQUARE, SPOT_PRESENCE, 1 }, { SPOT_CIRCLE, SPOT_COLOR, 0 } } };
    char text[64], cut[9];
    spot_blindspot_describe(text, sizeof text, &b);
    assert_string_equal(text, "square below, square, circle blue");
    spot_blindspot_describe(cut, sizeof cut, &b);
    assert_string_equal(cut, "square b");
}

TEST(impossible_settings_are_named)
{
    spot_ctx c = check_ctx(1);
    spot_scene_config good = spot_scene_defaults(), s;
    spot_ec ec;
    CHECK_OK(&c, spot_scene_check(&c, &good));
#define REFUSES(words, ...)                                                            \
    do {                                                                               \
        s = good;                                                                      \
        __VA_ARGS__;                                                                   \
        CHECK_FAILS(&c, spot_ec_draw(&c, &ec, &s, 1, 0), SPOT_USAGE, words);           \
    } while (0)
    REFUSES("setting.value: scene.size | 31", s.size = 31);
    REFUSES("setting.value: scene.size | 1025", s.size = 1025);
    REFUSES("setting.value: scene.rollable | [8, 6] | [least, most]", s.rollable[0] = 8, s.rollable[1] = 6);
    REFUSES("setting.value: scene.specificity | [7, 5] | [least, most]", s.specificity[0] = 7, s.specificity[1] = 5);
    REFUSES("setting.value: scene.blindspots | [1, 9]", s.blindspots[1] = 9);
    REFUSES("setting.value: scene.extra_layers | [0, 3]", s.extra_layers[0] = 0);
    REFUSES("scene.specificity: 7", s.specificity[1] = 8);
    REFUSES("scene.rollable_least: 4", s.rollable[0] = 3);
    REFUSES("scene.rollable: 11", s.rollable[1] = 12);
    REFUSES("scene.specificity_least: 2", s.specificity[0] = 3);
    REFUSES("scene.specificity_least: 0", s.specificity[0] = 1);
    REFUSES("setting.value: scene.per_bucket.val | -1", s.per_bucket[SPOT_VAL] = -1);
    REFUSES("setting.value: scene.per_bucket.train | 1000000000", s.per_bucket[SPOT_TRAIN] = 1000000000);
    REFUSES("setting.value: scene.jpeg_quality | 101", s.jpeg_quality = 101);
    REFUSES("setting.value: scene.flip | nan", s.flip = NAN);
    REFUSES("setting.value: scene.flip | 1.5", s.flip = 1.5);
    REFUSES("setting.value: scene.correlation | 1.5", s.correlation = 1.5);
    REFUSES("setting.value: scene.rare | -1", s.rare = -1);
    REFUSES("setting.value: scene.induce | 5", s.induce = 5);
    REFUSES("scene.mixed: 3", s.induce = SPOT_MIXED, s.blindspots[1] = 1, s.specificity[0] = 3);
    REFUSES("scene.specificity_least: 2", s.induce = SPOT_MIXED, s.blindspots[1] = 4, s.specificity[0] = 4);
    REFUSES("scene.blindspots: 1", s.induce = SPOT_CORRELATE, s.blindspots[1] = 2);
    REFUSES("setting.value: scene.attribute_choice | 2", s.attribute_choice = 2);
    /* not to be seen from the numbers: an object's presence is no longer free once its colour is named */
    REFUSES("scene.no_blindspots: 8",
            s.blindspots[0] = s.blindspots[1] = 8, s.specificity[0] = s.specificity[1] = 5,
            s.extra_layers[0] = s.extra_layers[1] = 1, s.rollable[0] = s.rollable[1] = 4);
}
