/* test_scene.c - data sets, blindspots, images and labels: the authors' statistics, the paper's rules. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include <yajl/yajl_tree.h>

#include "raster.h"
#include "spotter/rng.h"
#include "spotter/scene.h"

static spot_ec an_ec(const spot_scene_config *cfg, uint32_t index)
{
    spot_ctx c = check_ctx(1);
    spot_ec ec;

    CHECK_OK(&c, spot_ec_draw(&c, &ec, cfg, 1, index));
    return ec;
}

/* The value that blindspot m asks of an attribute, or -1. */
static int asks(const spot_ec *ec, int m, int layer, int attribute)
{
    for (int i = 0; i < ec->blindspot[m].len; i++) {
        const spot_triplet *t = &ec->blindspot[m].triplet[i];
        if (t->layer == layer && t->attribute == attribute) return t->value;
    }
    return -1;
}

/* Two shares of independent draws differ by no more than chance: 4.5 standard deviations. */
static void same_share(double a, double n, double b, double m, const char *what, int layer, int attribute)
{
    double p = (a + b) / (n + m), sd = sqrt(p * (1 - p) * (1 / n + 1 / m));
    if (!(fabs(a / n - b / m) <= 4.5 * sd))
        fail_msg("%s %s.%s: %.4f, the authors' sampler %.4f (sd %.4f)", what, spot_layer_name(layer),
                 spot_attribute_name(attribute), a / n, b / m, sd);
}

/* tools/golden/scene.py ran the authors' sampler: how often each attribute varies, is named, and is named with 1. */
static void ecs_are_the_authors(void **state)
{
    enum { ECS = 6000 };
    spot_scene_config cfg = spot_scene_defaults();
    int rollable[SPOT_LAYERS][SPOT_ATTRIBUTES] = { 0 }, named[SPOT_LAYERS][SPOT_ATTRIBUTES] = { 0 };
    int one[SPOT_LAYERS][SPOT_ATTRIBUTES] = { 0 }, blindspots = 0, textured = 0, golden_ecs, golden_blindspots;
    int l, a, r, n, o, rows = 0, extras[4] = { 0 }, counts[9] = { 0 }, many[4] = { 0 };
    FILE *f = fopen("golden/scene_ec.txt", "r");
    (void)state;
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
static void blindspots_obey_the_rules(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        spot_scene_config cfg = spot_scene_defaults();
        int squareless = 0;
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

/* The paper goes by layers: with all attributes of an EC varying, five of the pairs' are the square's; a layer is one in five. */
static void the_choice_of_attributes_shows(void **state)
{
    double rate[2];
    (void)state;
    for (int choice = 0; choice < 2; choice++) {
        spot_scene_config cfg = spot_scene_defaults();
        int meta = 0;
        cfg.attribute_choice = choice;
        cfg.extra_layers[0] = cfg.extra_layers[1] = 1;
        cfg.rollable[0] = cfg.rollable[1] = 11;
        cfg.blindspots[0] = cfg.blindspots[1] = 1;
        cfg.specificity[0] = cfg.specificity[1] = 2;
        for (uint32_t i = 0; i < 3000; i++) {
            spot_ec ec = an_ec(&cfg, i);
            meta += asks(&ec, 0, SPOT_BACKGROUND, SPOT_RELATIVE_POSITION) >= 0;
        }
        rate[choice] = meta / 3000.;
    }
    CHECK_NEAR(rate[SPOT_CHOICE_PAIRS], 1. / 8, 0.03);             /* background 3, square 4, presence of the other */
    CHECK_NEAR(rate[SPOT_CHOICE_LAYER_FIRST], 1. / 3 / 3, 0.03);
}

static void images_do_not_depend_on_company(void **state)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec = an_ec(&cfg, 3), again = an_ec(&cfg, 3);
    spot_image a, b, other;
    (void)state;
    assert_memory_equal(&ec, &again, sizeof ec);
    for (uint32_t i = 0; i < 500; i++) {
        spot_image_draw(&a, &ec, SPOT_TEST, i);
        spot_image_draw(&other, &again, SPOT_TEST, 499 - i);
        spot_image_draw(&b, &again, SPOT_TEST, i);
        assert_memory_equal(&a, &b, sizeof a);
        spot_image_draw(&b, &again, SPOT_TRAIN, i);
        assert_memory_not_equal(a.value, b.value, sizeof a.value + sizeof a.object + 8);
    }
}

/* A gap counts from the far side of one box, as PIL is given it, to the near side of the next. */
static void objects_keep_their_distance(void **state)
{
    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        spot_scene_config cfg = spot_scene_defaults();
        int tight = 99, pairs = 0, crowd = 0;
        cfg.size = tiny ? 32 : 224;
        cfg.extra_layers[0] = 3;
        cfg.rollable[0] = cfg.rollable[1] = 19;
        for (int k = 0; k < SPOT_SPLITS; k++) cfg.per_bucket[k] = 1;
        spot_ec ec = an_ec(&cfg, 0);
        spot_geometry g = spot_geometry_of(&cfg);
        for (uint32_t i = 0; i < 10000; i++) {
            spot_image image;
            spot_image_draw(&image, &ec, SPOT_TRAIN, i);
            crowd += image.object_count == SPOT_MAX_OBJECTS;
            for (int k = 0; k < image.object_count; k++) {
                const spot_object *p = &image.object[k];
                const spot_shape *s = &g.shape[p->layer][p->size];
                assert_in_range(p->place_x, 0, cfg.size - s->w);
                assert_in_range(p->place_y, 0, cfg.size - s->h);
                assert_in_range(p->stripe_phase, 0, p->texture ? g.run - 1 : 0);
                for (int j = 0; j < k; j++, pairs++) {
                    const spot_object *q = &image.object[j];
                    const spot_shape *t = &g.shape[q->layer][q->size];
                    int x = p->place_x > q->place_x ? p->place_x - q->place_x - t->w : q->place_x - p->place_x - s->w;
                    int y = p->place_y > q->place_y ? p->place_y - q->place_y - t->h : q->place_y - p->place_y - s->h;
                    int gap = x > y ? x : y;
                    assert_true(gap >= g.margin);
                    if (gap < tight) tight = gap;
                }
            }
        }
        assert_true(pairs > 10000);
        assert_true(crowd > 100);
        assert_int_equal(tight, g.margin);          /* the margin itself is allowed */
    }
}

static void read_two_squares(int above[2], int of[2])
{
    FILE *f = fopen("golden/scene_ec.txt", "r");
    char line[80];
    int found = 0, small, up, n;

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "above %d %d %d", &small, &up, &n) == 3) above[small] = up, of[small] = n, found++;
    fclose(f);
    assert_int_equal(found, 2);
}

static void labels_and_memberships(void **state)
{
    int two_above[2], two_of[2];
    spot_scene_config cfg = spot_scene_defaults();
    double flipped = 0;
    int ecs = 150, above[2][2] = { 0 }, of[2][2] = { 0 };       /* [number][size] */
    (void)state;
    read_two_squares(two_above, two_of);
    for (int e = 0; e < ecs; e++) {
        spot_ec ec = an_ec(&cfg, (uint32_t)e);
        int positives = 0, wrong = 0;
        for (uint32_t i = 0; i < 2000; i++) {
            spot_image image;
            spot_image_draw(&image, &ec, i % SPOT_SPLITS, i);
            assert_int_equal(image.label, image.relative_position >= 0);
            assert_int_equal(image.label, image.object_count && image.object[0].layer == SPOT_SQUARE);
            assert_true((image.blindspots & (image.blindspots - 1)) == 0);       /* never in two */
            assert_int_equal(image.train_label, image.label && !(image.blindspots && image.split != SPOT_TEST));
            positives += image.label;
            wrong += image.blindspots != 0;
            if (!image.label) continue;
            above[image.value[SPOT_SQUARE][SPOT_NUMBER]][image.value[SPOT_SQUARE][SPOT_SIZE]] += image.relative_position;
            of[image.value[SPOT_SQUARE][SPOT_NUMBER]][image.value[SPOT_SQUARE][SPOT_SIZE]]++;
            for (int l = 0; l < SPOT_LAYERS; l++)
                for (int a = 0; a < SPOT_RELATIVE_POSITION; a++)
                    if (!ec.rollable[l][a]) assert_int_equal(image.value[l][a], l == SPOT_BACKGROUND && a == SPOT_PRESENCE);
        }
        CHECK_NEAR(positives, 1000, 4.5 * sqrt(500));
        flipped += (double)wrong / positives / ecs;
    }
    CHECK_NEAR(flipped, 0.0705, 0.0055 + 0.01);                         /* 6.5 to 7.6 %, and 150 ECs' chance */
    for (int small = 0; small < 2; small++) {
        CHECK_NEAR((double)above[0][small] / of[0][small], 0.497, 4.5 * 0.5 / sqrt(of[0][small]));
        same_share(above[1][small], of[1][small], two_above[small], two_of[small], "above", SPOT_SQUARE, SPOT_SIZE);
    }
}

static void shares_are_expectations(void **state)
{
    enum { IMAGES = 40000 };
    (void)state;
    for (uint32_t e = 0; e < 24; e++) {
        spot_scene_config cfg = spot_scene_defaults();
        cfg.square_presence = e % 2 ? SPOT_SQUARE_FREE : SPOT_SQUARE_FORCED;
        cfg.size = e % 3 ? 224 : 64;
        cfg.specificity[0] = 4;
        cfg.specificity[1] = 5;
        spot_ec ec = an_ec(&cfg, e);
        int in[SPOT_MAX_BLINDSPOTS] = { 0 };
        for (uint32_t i = 0; i < IMAGES; i++) {
            spot_image image;
            spot_image_draw(&image, &ec, SPOT_TRAIN, i);
            for (int m = 0; m < ec.blindspot_count; m++) in[m] += image.blindspots >> m & 1;
        }
        for (int m = 0; m < ec.blindspot_count; m++) {
            double p = spot_blindspot_share(&ec, m);
            CHECK_NEAR((double)in[m] / IMAGES, p, 4.5 * sqrt(p * (1 - p) / IMAGES));
        }
    }
}

static void flips_by_chance(void **state)
{
    spot_scene_config cfg = spot_scene_defaults();
    int in = 0, wrong[SPOT_SPLITS] = { 0 }, differ = 0, negative = 0;
    (void)state;
    cfg.flip = 0.3;
    cfg.square_presence = SPOT_SQUARE_FREE;
    for (uint32_t e = 0; e < 20; e++) {
        spot_ec ec = an_ec(&cfg, e);
        for (uint32_t i = 0; i < 5000; i++) {
            spot_image image[SPOT_SPLITS];
            for (int k = 0; k < SPOT_SPLITS; k++) {
                spot_image_draw(&image[k], &ec, k, i);
                if (!image[k].blindspots) assert_int_equal(image[k].label, image[k].train_label);
                wrong[k] += image[k].train_label != image[k].label;
                in += k == SPOT_TRAIN && image[k].blindspots;
                negative += image[k].train_label > image[k].label;
            }
            differ += image[0].blindspots && image[1].blindspots &&
                      (image[0].train_label != image[0].label) != (image[1].train_label != image[1].label);
        }
    }
    CHECK_NEAR((double)wrong[SPOT_TRAIN] / in, 0.3, 4.5 * sqrt(0.21 / in));
    CHECK_NEAR((double)wrong[SPOT_VAL] / in, 0.3, 0.05);
    assert_int_equal(wrong[SPOT_TEST], 0);
    assert_true(differ > 0);       /* the splits' coins are two */
    assert_true(negative > 0);     /* free blindspots reach negatives */
}

static void positives_need_no_rendering(void **state)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec = an_ec(&cfg, 2);
    int *index = malloc((size_t)ec.images[SPOT_TEST] * sizeof *index), n, at = 0;
    (void)state;
    assert_non_null(index);
    n = spot_ec_positives(index, &ec, SPOT_TEST);
    assert_int_equal(spot_ec_positives(NULL, &ec, SPOT_TEST), n);
    for (int i = 0; i < ec.images[SPOT_TEST]; i++) {
        spot_image image;
        spot_image_draw(&image, &ec, SPOT_TEST, (uint32_t)i);
        if (image.label) assert_int_equal(index[at++], i);
    }
    assert_int_equal(at, n);
    free(index);
}

static yajl_val child(yajl_val v, const char *name, yajl_type type)
{
    const char *path[] = { name, NULL };
    yajl_val found = yajl_tree_get(v, path, type);
    if (!found) fail_msg("no %s", name);
    return found;
}

static void json_says_what_is_there(void **state)
{
    static char text[SPOT_SCENE_JSON], error[256];
    spot_ctx c = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec;
    spot_image image;
    yajl_val v, o;
    (void)state;
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
    CHECK_FAILS(&c, spot_scene_jsonl(&c, text, 100, &image, "a.png"), SPOT_INVALID, "do not fit into 100");
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
    yajl_tree_free(v);
}

static void blindspots_in_words(void **state)
{
    spot_blindspot b = { .len = 3, .triplet = { { SPOT_BACKGROUND, SPOT_RELATIVE_POSITION, 0 }, { SPOT_SQUARE, SPOT_PRESENCE, 1 },
                                                { SPOT_CIRCLE, SPOT_COLOR, 0 } } };
    char text[64], cut[9];
    (void)state;
    spot_blindspot_describe(text, sizeof text, &b);
    assert_string_equal(text, "background.relative_position=0 square=1 circle.color=0");
    spot_blindspot_describe(cut, sizeof cut, &b);
    assert_string_equal(cut, "backgrou");
}

static void impossible_settings_are_named(void **state)
{
    spot_ctx c = check_ctx(1);
    spot_scene_config good = spot_scene_defaults(), s;
    spot_ec ec;
    (void)state;
    CHECK_OK(&c, spot_scene_check(&c, &good));
#define REFUSES(words, ...)                                                            \
    do {                                                                               \
        s = good;                                                                      \
        __VA_ARGS__;                                                                   \
        CHECK_FAILS(&c, spot_ec_draw(&c, &ec, &s, 1, 0), SPOT_USAGE, words);           \
    } while (0)
    REFUSES("scene.size is 31", s.size = 31);
    REFUSES("scene.size is 1025", s.size = 1025);
    REFUSES("scene.rollable is [8, 6], upside down", s.rollable[0] = 8, s.rollable[1] = 6);
    REFUSES("scene.specificity is [7, 5], upside down", s.specificity[0] = 7, s.specificity[1] = 5);
    REFUSES("scene.blindspots is [1, 9]", s.blindspots[1] = 9);
    REFUSES("scene.extra_layers is [0, 3]", s.extra_layers[0] = 0);
    REFUSES("can define at most 7", s.specificity[1] = 8);
    REFUSES("the presences of 4 object layers", s.rollable[0] = 3);
    REFUSES("only 11 attributes", s.rollable[1] = 12);
    REFUSES("leaves 2 attributes", s.specificity[0] = 3);
    REFUSES("leaves 0 attributes", s.specificity[0] = 1);
    REFUSES("scene.per_bucket.val is -1", s.per_bucket[SPOT_VAL] = -1);
    REFUSES("scene.per_bucket.train is 1000000000", s.per_bucket[SPOT_TRAIN] = 1000000000);
    REFUSES("scene.jpeg_quality is 101", s.jpeg_quality = 101);
    REFUSES("scene.flip is nan", s.flip = NAN);
    REFUSES("scene.flip is 1.5", s.flip = 1.5);
    REFUSES("scene.attribute_choice is 2", s.attribute_choice = 2);
    /* not to be seen from the numbers: an object's presence is no longer free once its colour is named */
    REFUSES("no 8 unambiguous blindspots", s.blindspots[0] = s.blindspots[1] = 8, s.specificity[0] = s.specificity[1] = 5,
            s.extra_layers[0] = s.extra_layers[1] = 1, s.rollable[0] = s.rollable[1] = 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ecs_are_the_authors),
        cmocka_unit_test(blindspots_obey_the_rules),
        cmocka_unit_test(the_choice_of_attributes_shows),
        cmocka_unit_test(images_do_not_depend_on_company),
        cmocka_unit_test(objects_keep_their_distance),
        cmocka_unit_test(labels_and_memberships),
        cmocka_unit_test(shares_are_expectations),
        cmocka_unit_test(flips_by_chance),
        cmocka_unit_test(positives_need_no_rendering),
        cmocka_unit_test(json_says_what_is_there),
        cmocka_unit_test(blindspots_in_words),
        cmocka_unit_test(impossible_settings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
