/* test_scene_image.c - images: places, positions, labels, memberships; each alone. ctest: heavy */
#include "check_scene.h"

#include <math.h>
#include <stdlib.h>

#include "image/raster.h"
#include "image/scene_draw.h"

TEST(images_do_not_depend_on_company)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec = an_ec(&cfg, 3), again = an_ec(&cfg, 3);
    spot_image a, b, other;
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

/* The content of a sweep's ECs, by a sum over all that is told of 900 images and their targets: results depend on it. */
TEST(images_stay_what_they_were)
{
    static char text[SPOT_SCENE_JSON];
    spot_ctx c = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    uint64_t sum = 0xcbf29ce484222325u;
    cfg.flip = 0.5;
    for (uint32_t e = 0; e < 3; e++) {
        spot_ec ec = an_ec(&cfg, e);
        if (e == 2) spot_ec_base(&ec, &cfg, 1, 100, 100);
        for (uint32_t i = 0; i < 300; i++) {
            float target[SPOT_BASE_TARGETS];
            spot_image image;
            spot_image_draw(&image, &ec, i % SPOT_SPLITS, i);
            spot_image_targets(target, &image, &ec);
            CHECK_OK(&c, spot_scene_jsonl(&c, text, sizeof text, &image, ""));
            for (int k = 0; k < ec.targets; k++) sum = (sum ^ (uint64_t)(2 * target[k])) * 0x100000001b3u;
            for (const char *t = text; *t; t++) sum = (sum ^ (unsigned char)*t) * 0x100000001b3u;
        }
    }
    assert_int_equal(sum, 0x0285ed68aa5db415);
}

/* A gap counts from the far side of one box, as PIL is given it, to the near side of the next. */
TEST(objects_keep_their_distance)
{
    for (int tiny = 0; tiny < 2; tiny++) {
        spot_scene_config cfg = spot_scene_defaults();
        int tight[4] = { 99, 99, 99, 99 }, pairs = 0, crowd = 0;    /* right, left, below, above */
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
                    int gap[4] = { q->place_x - p->place_x - s->w, p->place_x - q->place_x - t->w,
                                   q->place_y - p->place_y - s->h, p->place_y - q->place_y - t->h }, side = 0, wide = 0;
                    for (int d = 0; d < 4; d++)
                        if (gap[d] >= g.margin) side = d, wide++;
                    assert_true(wide);
                    if (wide == 1 && gap[side] < tight[side]) tight[side] = gap[side];
                }
            }
        }
        assert_true(pairs > 10000);
        assert_true(crowd > 100);
        for (int d = 0; d < 4; d++) assert_int_equal(tight[d], g.margin);          /* the margin itself is allowed */
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

/* The middle of the topmost square against the centre line, from its box as PIL gets it. */
static int position_of(const spot_image *image, const spot_geometry *g)
{
    int top = 999;

    for (int k = 0; k < image->object_count; k++) {
        const spot_object *o = &image->object[k];
        int middle = (2 * o->place_y + g->shape[o->layer][o->size].h) / 2;
        if (o->layer == SPOT_SQUARE && middle < top) top = middle;
    }
    return top == 999 ? -1 : top < 112;
}

TEST(labels_and_memberships)
{
    int two_above[2], two_of[2];
    spot_geometry g;
    spot_scene_config cfg = spot_scene_defaults();
    double flipped = 0;
    int ecs = 150, above[2][2] = { 0 }, of[2][2] = { 0 };       /* [number][size] */
    read_two_squares(two_above, two_of);
    g = spot_geometry_of(&cfg);
    for (int e = 0; e < ecs; e++) {
        spot_ec ec = an_ec(&cfg, (uint32_t)e);
        int positives = 0, wrong = 0;
        for (uint32_t i = 0; i < 2000; i++) {
            spot_image image;
            spot_image_draw(&image, &ec, i % SPOT_SPLITS, i);
            assert_int_equal(image.relative_position, position_of(&image, &g));
            assert_int_equal(image.label, image.object_count && image.object[0].layer == SPOT_SQUARE);
            assert_true((image.blindspots & (image.blindspots - 1)) == 0);       /* never in two */
            assert_int_equal(image.train_label, image.label && !(image.blindspots && image.split != SPOT_TEST));
            positives += image.label;
            wrong += image.blindspots != 0;
            if (!image.label) continue;
            const int8_t *square = image.value[SPOT_SQUARE];
            above[square[SPOT_NUMBER]][square[SPOT_SIZE]] += image.relative_position;
            of[square[SPOT_NUMBER]][square[SPOT_SIZE]]++;
            for (int l = 0; l < SPOT_LAYERS; l++)
                for (int a = 0; a < SPOT_RELATIVE_POSITION; a++)
                    if (!ec.rollable[l][a])
                        assert_int_equal(image.value[l][a], l == SPOT_BACKGROUND && a == SPOT_PRESENCE);
        }
        CHECK_NEAR(positives, 1000, 4.5 * sqrt(500));
        flipped += (double)wrong / positives / ecs;
    }
    CHECK_NEAR(flipped, 0.0705, 0.0055 + 0.01);                         /* 6.5 to 7.6 %, and 150 ECs' chance */
    for (int small = 0; small < 2; small++) {
        CHECK_NEAR((double)above[0][small] / of[0][small], 0.497, 4.5 * 0.5 / sqrt(of[0][small]));
        CHECK_NEAR((double)above[1][small] / of[1][small], (double)two_above[small] / two_of[small],
                   4.5 * 0.45 * sqrt(1. / of[1][small] + 1. / two_of[small]));
    }
}

TEST(shares_are_expectations)
{
    enum { IMAGES = 40000 };
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

/* Where two squares of one size keep their distance, the margin moves their share by half a percent. */
TEST(shares_know_the_margin)
{
    enum { IMAGES = 800000 };
    spot_scene_config cfg = spot_scene_defaults();
    int above = 0, of = 0;
    uint32_t e = 0;
    spot_ec ec;
    cfg.extra_layers[0] = cfg.extra_layers[1] = 1;
    cfg.rollable[0] = cfg.rollable[1] = 3;
    cfg.blindspots[0] = cfg.blindspots[1] = 1;
    cfg.specificity[0] = cfg.specificity[1] = 4;            /* all that varies, and the relative position */
    do ec = an_ec(&cfg, e++);
    while (asks(&ec, 0, SPOT_SQUARE, SPOT_NUMBER) != 1);
    for (uint32_t i = 0; i < IMAGES; i++) {
        spot_image image;
        spot_image_draw(&image, &ec, SPOT_TRAIN, i);
        if (!image.label || !image.value[SPOT_SQUARE][SPOT_NUMBER]) continue;
        above += image.relative_position == asks(&ec, 0, SPOT_BACKGROUND, SPOT_RELATIVE_POSITION);
        of++;
    }
    CHECK_NEAR((double)above / of, 8 * spot_blindspot_share(&ec, 0), 4.5 * 0.41 / sqrt(of));
}

TEST(flips_by_chance)
{
    spot_scene_config cfg = spot_scene_defaults();
    int in = 0, wrong[SPOT_SPLITS] = { 0 }, differ = 0, negative = 0;
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

/* Nothing of a blindspot is in training, where classes are as before; val and test are what they were, with right labels. */
TEST(blindspots_are_left_out)
{
    spot_scene_config cfg = spot_scene_defaults();
    int in[SPOT_SPLITS] = { 0 }, same = 0, of = 0;
    for (uint32_t e = 0; e < 20; e++) {
        spot_ec flipped = an_ec(&cfg, e), ec = flipped;
        ec.scene.induce = SPOT_LEAVE_OUT;
        for (uint32_t i = 0; i < 2000; i++)
            for (int k = 0; k < SPOT_SPLITS; k++) {
                spot_image was, is;
                spot_image_draw(&was, &flipped, k, i);
                spot_image_draw(&is, &ec, k, i);
                assert_int_equal(is.label, was.label);
                assert_int_equal(is.train_label, is.label);
                in[k] += is.blindspots != 0;
                if (k == SPOT_TRAIN && was.blindspots) continue;
                was.train_label = is.train_label;
                same += !memcmp(&is, &was, sizeof is);
                of++;
            }
    }
    assert_int_equal(in[SPOT_TRAIN], 0);
    assert_true(in[SPOT_VAL] > 500 && in[SPOT_TEST] > 500);
    assert_int_equal(same, of);
}

/* Both means are 1/2, and the cells are those of P(attribute | label) = (1 + c) / 2, by chi-square with a chance of 1e-6. The
 * test split is as without a correlation. */
TEST(attributes_correlate_with_the_label)
{
    enum { IMAGES = 20000 };
    static const double strength[] = { 0, 0.3, 0.9, 1 };
    for (int k = 0; k < LEN(strength); k++)
        for (uint32_t e = 0; e < 6; e++) {
            spot_scene_config cfg = spot_scene_defaults();
            int in[SPOT_SPLITS][2][2] = { 0 };
            cfg.induce = SPOT_CORRELATE;
            cfg.correlation = strength[k];
            cfg.blindspots[0] = cfg.blindspots[1] = 1;
            spot_ec ec = an_ec(&cfg, e), plain = ec;
            const spot_blindspot *b = &ec.blindspot[0];
            const spot_triplet *t = b->triplet[0].layer == SPOT_BACKGROUND ? &b->triplet[0] : &b->triplet[b->len - 1];
            plain.scene.induce = SPOT_FLIP_LABELS;
            for (int split = 0; split < SPOT_SPLITS; split++)
                for (uint32_t i = 0; i < IMAGES; i++) {
                    spot_image image, was;
                    spot_image_draw(&image, &ec, (spot_split)split, i);
                    in[split][image.label][image.value[t->layer][t->attribute] == t->value]++;
                    assert_int_equal(image.train_label, image.label);
                    if (split != SPOT_TEST && i >= 1000) continue;
                    spot_image_draw(&was, &plain, (spot_split)split, i);
                    assert_int_equal(was.label, image.label);
                    if (split == SPOT_TEST) assert_memory_equal(&was, &image, sizeof was);
                }
            for (int split = 0; split < SPOT_SPLITS; split++) {
                const double c = split == SPOT_TEST ? 0 : strength[k];
                double chi = 0;
                for (int label = 0; label < 2; label++)
                    for (int rare = 0; rare < 2; rare++) {
                        double n = in[split][label][0] + in[split][label][1];
                        double want = n * (label == rare ? 1 - c : 1 + c) / 2, off = in[split][label][rare] - want;
                        if (want == 0) assert_int_equal(in[split][label][rare], 0);
                        else chi += off * off / want;
                    }
                assert_true(chi < 27.6);                       /* two degrees of freedom */
            }
        }
}

/* A blindspot's share of train and val is `rare` of what it is in test, in each class apart; without it train is left out. */
TEST(blindspots_are_rare)
{
    static const double strength[] = { 0, 0.1, 0.5, 1 };
    enum { IMAGES = 6000 };
    for (int k = 0; k < LEN(strength); k++) {
        spot_scene_config cfg = spot_scene_defaults();
        double in[SPOT_SPLITS] = { 0 }, want = 0;
        int differ = 0;
        cfg.square_presence = SPOT_SQUARE_FREE;
        for (uint32_t e = 0; e < 20; e++) {
            spot_ec flipped = an_ec(&cfg, e), ec = flipped, out = flipped;
            ec.scene.induce = SPOT_RARE;
            ec.scene.rare = strength[k];
            out.scene.induce = SPOT_LEAVE_OUT;
            for (int m = 0; m < ec.blindspot_count; m++) want += IMAGES * spot_blindspot_share(&ec, m);
            for (uint32_t i = 0; i < IMAGES; i++)
                for (int split = 0; split < SPOT_SPLITS; split++) {
                    spot_image was, is;
                    spot_image_draw(&is, &ec, split, i);
                    assert_int_equal(is.train_label, is.label);
                    in[split] += is.blindspots != 0;
                    if (split == SPOT_VAL) continue;
                    spot_image_draw(&was, split == SPOT_TEST || strength[k] == 1 ? &flipped : &out, split, i);
                    was.train_label = is.train_label;
                    assert_int_equal(was.label, is.label);
                    differ += memcmp(&is, &was, sizeof is) != 0;
                    if (split == SPOT_TEST) assert_int_equal(differ, 0);
                    if (split == SPOT_TRAIN && strength[k] > 0 && strength[k] < 1) differ = 0;
                }
        }
        assert_int_equal(differ, 0);
        CHECK_NEAR(in[SPOT_TEST], want, 4.5 * sqrt(want));
        CHECK_NEAR(in[SPOT_TRAIN], strength[k] * want, 4.5 * sqrt(strength[k] * want) + 1e-9);
        CHECK_NEAR(in[SPOT_VAL], strength[k] * want, 4.5 * sqrt(strength[k] * want) + 1e-9);
    }
}

/* In one data set: the first blindspot's attribute goes with the label, the second is rare, the third has flipped labels. The
 * test split is as if nothing were planted. The rare one's place is taken by images outside of all blindspots. */
TEST(three_ways_in_one_data_set)
{
    enum { IMAGES = 6000, ECS = 20 };
    double in[SPOT_SPLITS][3] = { 0 }, wrong[SPOT_SPLITS][3] = { 0 }, want[3] = { 0 };
    spot_scene_config cfg = spot_scene_defaults();
    cfg.induce = SPOT_MIXED;
    cfg.blindspots[0] = 3;
    cfg.specificity[0] = cfg.specificity[1] = 4;
    cfg.correlation = 0.8, cfg.rare = 0.25, cfg.flip = 0.6;
    for (uint32_t e = 0; e < ECS; e++) {
        const spot_ec ec = an_ec(&cfg, e);
        const spot_triplet *t = spot_scene_rare(&ec.blindspot[0]);
        spot_ec plain = ec;
        plain.scene.induce = SPOT_FLIP_LABELS;
        for (uint32_t i = 0; i < IMAGES * SPOT_SPLITS; i++) {
            const spot_split split = i % SPOT_SPLITS;
            spot_image is, was;
            spot_image_draw(&is, &ec, split, i / SPOT_SPLITS);
            spot_image_draw(&was, &plain, split, i / SPOT_SPLITS);
            assert_int_equal(is.label, was.label);
            if (split == SPOT_TEST) assert_memory_equal(&is, &was, sizeof is);
            assert_false(is.blindspots & (is.blindspots - 1));
            if (!is.blindspots) assert_int_equal(is.train_label, is.label);
            for (int m = 0; is.blindspots && m < 3; m++) {
                const int asked = asks(&ec, m, t->layer, t->attribute);
                const double times = asked < 0 ? 1 : asked == t->value ? 1 - cfg.correlation : 1 + cfg.correlation;
                if (!(is.blindspots >> m & 1)) continue;
                in[split][m]++;
                wrong[split][m] += is.train_label != is.label;
                if (split == SPOT_TEST) want[m] += times * (m == 1 ? cfg.rare : 1);
            }
        }
    }
    for (int split = 0; split < SPOT_SPLITS; split++)
        for (int m = 0; m < 3; m++) {
            const double flip = m == 2 && split != SPOT_TEST ? cfg.flip : 0;
            if (split != SPOT_TEST) CHECK_NEAR(in[split][m], want[m], 6 * sqrt(want[m] + in[SPOT_TEST][m]));
            assert_true(in[split][m] > 100);
            CHECK_NEAR(wrong[split][m] / in[split][m], flip, 6 * sqrt(flip * (1 - flip) / in[split][m]));
        }
}

TEST(positives_need_no_rendering)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ec ec = an_ec(&cfg, 2);
    int *index = malloc((size_t)ec.images[SPOT_TEST] * sizeof *index), n, at = 0;
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
