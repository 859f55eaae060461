/* test_background_pictures.c - the pictures of a run made again: a model whose answer depends on every byte answers as it did
 * in the run. And which models Figure 8 takes. */
#define _GNU_SOURCE
#include "check_background.h"

#include "report/figure/figures_background.h"
#include "spotter/background_pictures.h"

enum { PICTURE = 3 * SIDE * SIDE };

/* A number from 0 to 4 that depends on every byte. */
static float sum_of(const uint8_t *rgb)
{
    uint32_t h = 2166136261u;

    for (int i = 0; i < PICTURE; i++) h = (h ^ rgb[i]) * 16777619u;
    return (float)(h >> 8) / (1 << 22);
}

static spot_status predict_sum(spot_ctx *c, void *user, const spot_prediction *p)
{
    (void)c, (void)user;
    for (int i = 0; i < p->n; i++) p->logit[2 * i] = sum_of(p->rgb + (size_t)i * PICTURE), p->logit[2 * i + 1] = 2;
    return SPOT_OK;
}

static void run_sums(spot_ctx *c, spot_background_results *r, spot_background_responses *a)
{
    spot_background_config *cfg = world_config(4);
    spot_background_options o = { .place.shards = 1, .function = predict_sum, .outputs = 2, .identity = "sum" };
    spot_run_report report;

    make_world(3, 7);
    o.place.out = in_world("run");
    CHECK_OK(c, spot_background_run(c, cfg, &o, &report));
    CHECK_OK(c, spot_background_read(c, r, in_world("run")));
    CHECK_OK(c, spot_background_responses_read(c, a, in_world("run"), &r->unit[0]));
    CHECK_CONFIG_FREE(cfg);
}

static void assert_confidence(float confidence, const uint8_t *rgb)
{
    const double a = sum_of(rgb), most = a > 2 ? a : 2, least = a > 2 ? 2 : a;

    CHECK_NEAR(confidence, 1 / (1 + exp(least - most)), 1e-6);
}

/* The mask is the square [8, 24): pyramids would carry its colours over the edge. */
static void assert_only_black_behind(const uint8_t *rgb)
{
    int object = 0;

    for (int i = 0; i < PICTURE; i++) {
        const int x = i / 3 % SIDE, y = i / 3 / SIDE;
        if (x >= 8 && x < 24 && y >= 8 && y < 24) object += rgb[i] != 0;
        else assert_int_equal(rgb[i], 0);
    }
    assert_true(object > 0);
}

TEST_IN_FOLDER(pictures_are_those_that_the_model_saw)
{
    spot_ctx c = check_ctx(2);
    spot_background_results r;
    spot_background_responses a;
    spot_background_pictures *p;
    uint8_t rgb[PICTURE];
    int seen = 0;

    run_sums(&c, &r, &a);
    CHECK_OK(&c, spot_background_pictures_open(&c, &p, &r, false));
    for (int t = r.suite->targets; t-- > 0;) {
        for (int image = r.suite->n; image >= 0; image--) {
            CHECK_OK(&c, spot_background_picture(&c, p, rgb, t, image));
            assert_int_equal(a.answer[t * 5 + image], sum_of(rgb) > 2 ? 0 : 1);
            assert_confidence(a.signal[t * 5 + image], rgb);
        }
        for (int k = SPOT_SET_ONLY_FG; k < SPOT_SET_SUITE; k++) {
            CHECK_OK(&c, spot_background_picture(&c, p, rgb, t, 5 + k));
            assert_int_equal(a.derived[t * SPOT_BACKGROUND_SETS + k], sum_of(rgb) > 2 ? 0 : 1);
            seen++;
        }
    }
    assert_int_equal(seen, 6 * 12);
    CHECK_OK(&c, spot_background_picture(&c, p, rgb, 0, 5 + SPOT_SET_ONLY_FG));
    assert_only_black_behind(rgb);
    CHECK_FAILS(&c, spot_background_picture(&c, p, rgb, 0, 5 + SPOT_SET_SUITE), SPOT_INPUT, "pictures.unknown");
    CHECK_FAILS(&c, spot_background_picture(&c, p, rgb, 6, 0), SPOT_INVALID, "pictures.number: target 6 | 6");
    spot_background_pictures_close(p);
    spot_background_responses_free(&a), spot_background_close(&r);
}

/* The last background of target 0 as it is in the file. */
static void assert_behind(spot_ctx *c, spot_background_pictures *p, const spot_background_results *r)
{
    const char *name = r->suite->background[r->suite->chosen[3]];
    uint8_t rgb[PICTURE], expected[PICTURE];
    int number;

    assert_int_equal(sscanf(name + strcspn(name, "0123456789"), "%d", &number), 1);
    paint_background(expected, *name == 'b', 2 * number + (*name != 'b'));
    CHECK_OK(c, spot_background_behind(c, p, rgb, 0, 4));
    assert_memory_equal(rgb, expected, PICTURE);
}

/* A stranger's run names folders of its reader. */
TEST_IN_FOLDER(pictures_that_the_run_did_not_see_are_refused)
{
    spot_ctx c = check_ctx(1);
    spot_background_results r;
    spot_background_responses a;
    spot_background_pictures *p;

    run_sums(&c, &r, &a);
    copy_file("images/a/1.png", "images/a/0.png");              /* the same name, other bytes */
    CHECK_FAILS(&c, spot_background_pictures_open(&c, &p, &r, false), SPOT_INPUT, "pictures.other");
    assert_null(p);
    CHECK_OK(&c, spot_background_pictures_open(&c, &p, &r, true));
    spot_background_pictures_close(p);
    spot_background_responses_free(&a), spot_background_close(&r);
}

TEST_IN_FOLDER(pictures_of_folders_that_have_changed)
{
    spot_ctx c = check_ctx(1);
    spot_background_results r;
    spot_background_responses a;
    spot_background_pictures *p;
    uint8_t rgb[PICTURE];
    char gone[80], words[160];

    run_sums(&c, &r, &a);
    copy_file("images/a/0.png", "images/a/!first.png"), copy_file("masks/a/0.png", "masks/a/!first.png");
    copy_file("backgrounds/dark0.png", "backgrounds/!first.png");
    CHECK_OK(&c, spot_background_pictures_open(&c, &p, &r, true));
    for (int image = 0; image <= 4; image++) {
        CHECK_OK(&c, spot_background_picture(&c, p, rgb, 5, image));
        assert_confidence(a.signal[5 * 5 + image], rgb);
    }
    assert_behind(&c, p, &r);
    CHECK_FAILS(&c, spot_background_picture(&c, p, rgb, 5, 5 + SPOT_SET_MIXED_RAND), SPOT_INPUT, "pictures.changed");
    spot_background_pictures_close(p);

    snprintf(gone, sizeof gone, "backgrounds/%s", r.suite->background[r.suite->chosen[0]]);
    remove_file(gone);
    remove_file("images/b/2.png");
    CHECK_OK(&c, spot_background_pictures_open(&c, &p, &r, true));
    snprintf(words, sizeof words, "pictures.gone: %s", r.suite->background[r.suite->chosen[0]]);
    CHECK_FAILS(&c, spot_background_picture(&c, p, rgb, 0, 1), SPOT_INPUT, words);
    CHECK_FAILS(&c, spot_background_behind(&c, p, rgb, 0, 1), SPOT_INPUT, words);
    CHECK_FAILS(&c, spot_background_picture(&c, p, rgb, 5, 0), SPOT_INPUT, "pictures.gone: b/2.png");
    CHECK_OK(&c, spot_background_picture(&c, p, rgb, 4, 0));
    spot_background_pictures_close(p);

    r.cfg->data.images = check_text("%s", in_world("nowhere"));
    assert_int_not_equal(spot_background_pictures_open(&c, &p, &r, true), SPOT_OK);
    assert_null(p);
    spot_background_responses_free(&a), spot_background_close(&r);
}

/* ---- Figure 8 ---- */

TEST(twins_have_equal_accuracies_and_other_matrices)
{
    enum { UNITS = 5 };
    static const double accuracy[UNITS] = { 0.90, 0.905, 0.91, 0.70, 0.90 }, steady[UNITS] = { 0.5, 0.51, 0.5, 0.5, 0.6 };
    static float matrix[UNITS][4] = { { 0, 0, 0, 0 }, { 0, 0, 0, 0.1f }, { 0, 0.3f, 0, 0.1f }, { 9, 9, 9, 9 }, { 9, 9, 9, 9 } };
    spot_background_summary summary[UNITS];
    spot_background_responses a[UNITS];
    const spot_background_results r = { .units = UNITS, .summary = summary };
    int unit[SPOT_TWINS];

    memset(summary, 0, sizeof summary);
    for (int u = 0; u < UNITS; u++) {
        summary[u].accuracy[SPOT_SET_ORIGINAL].value = summary[u].accuracy[SPOT_SET_SUITE].value = accuracy[u];
        summary[u].steady.value = steady[u];
        a[u] = (spot_background_responses){ .grid = 2, .matrix = matrix[u] };
    }
    /* 0 and 2 differ most; 3 has another accuracy, 4 another worst case */
    assert_int_equal(spot_find_twins(unit, &r, a), 3);
    assert_int_equal(unit[0], 0), assert_int_equal(unit[1], 2), assert_int_equal(unit[2], 1);
    matrix[2][0] = NAN;
    assert_int_equal(spot_find_twins(unit, &r, a), 2);
    assert_int_equal(unit[0], 0), assert_int_equal(unit[1], 1);
    matrix[1][3] = 0;
    assert_int_equal(spot_find_twins(unit, &r, a), 0);
}
