/* test_barlow.c - Barlow against the authors' code on a real view, its published numbers, and views that say little.
 * ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "check_bdm.h"
#include "golden_file.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* Depth and features as said, features by their mean. */
static spot_bdm_config settings(int depth, int features)
{
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_BARLOW);

    cfg.barlow = (spot_barlow_config){ .depth = depth, .features = features, .choose = SPOT_CHOOSE_ACTIVATION };
    return cfg;
}

TEST(agrees_with_the_authors)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/barlow.bin", "rb");
    int size[2], variants;
    assert_non_null(f);
    get(f, size, sizeof size);
    float *x = malloc((size_t)size[0] * size[1] * sizeof *x), *confidence = malloc((size_t)size[0] * sizeof *confidence);
    get(f, x, (size_t)size[0] * size[1] * sizeof *x);
    get(f, confidence, (size_t)size[0] * sizeof *confidence);
    get(f, &variants, sizeof variants);
    assert_true(variants >= 4);
    for (int v = 0; v < variants; v++) {
        spot_view view = { .n = size[0], .confidence = confidence };
        spot_points points = { .n = size[0], .d = size[1], .at = x };
        spot_hypotheses found;
        spot_arena a;
        double rates[2], aler, ber, importance;
        int head[2], leaves, len, rows[1024];
        get(f, head, sizeof head);
        get(f, rates, sizeof rates);
        get(f, &leaves, sizeof leaves);
        spot_bdm_config cfg = settings(head[0], head[1]);
        CHECK_OK(&c, find(&c, &a, &found, 1, &view, &points, &cfg));
        assert_true(found.len == leaves && found.components == leaves);
        for (int k = 0; k < leaves; k++) {
            get(f, &importance, sizeof importance);
            get(f, &len, sizeof len);
            get(f, rows, (size_t)len * sizeof *rows);
            assert_int_equal(found.h[k].len, len);
            assert_memory_equal(found.h[k].row, rows, (size_t)len * sizeof *rows);
            CHECK_NEAR(found.h[k].score, importance, 1e-12);
        }
        assert_int_equal(sscanf(strstr(murmured, "ALER"), "ALER %lf, BER %lf", &aler, &ber), 2);
        CHECK_NEAR(aler, rates[0], 5.1e-5);
        CHECK_NEAR(ber, rates[1], 5.1e-5);
        assert_string_equal(heard, "");
        spot_arena_close(&a);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    free(x), free(confidence);
}

/* ImageNet's class 845 by prediction: 1,406 images with 284 failures, of which 139 lie among the 395 below a threshold. The
 * paper's figures are BER .2020, ALER .2455, and for the leaf .3519 x .4894 = .1722. */
TEST(the_published_numbers)
{
    enum { N = 1406, LEAF = 395, LEAF_FAILURES = 139, FAILURES = 284 };
    static float x[N], confidence[N];
    spot_ctx c = check_ctx(1);
    spot_view view = { .n = N, .confidence = confidence };
    spot_points points = { .n = N, .d = 1, .at = x };
    spot_bdm_config cfg = settings(1, 50);
    spot_hypotheses found;
    spot_arena a;
    int failures = 0;
    for (int i = 0; i < N; i++) {      /* failures spread evenly on either side, so that the best cut is between the two */
        int left = i < LEAF, k = left ? i : i - LEAF, of = left ? LEAF : N - LEAF;
        int most = left ? LEAF_FAILURES : FAILURES - LEAF_FAILURES, fails = (k + 1) * most / of > k * most / of;
        failures += fails;
        confidence[i] = fails ? 0.3f : 0.8f;
        x[i] = left ? 0.2325f - 1e-3f * (LEAF - 1 - i) / LEAF : 0.232598f + 1e-3f * k;
    }
    assert_int_equal(failures, FAILURES);
    CHECK_OK(&c, find(&c, &a, &found, 1, &view, &points, &cfg));
    assert_true(found.len == 2 && found.h[0].len == LEAF && found.h[1].len == N - LEAF);
    CHECK_NEAR(found.h[0].score, 0.1722, 5e-5);
    CHECK_NEAR(found.h[0].score, (double)LEAF_FAILURES / LEAF * LEAF_FAILURES / FAILURES, 1e-15);
    CHECK_NEAR(found.h[0].score + found.h[1].score, 0.2455, 5e-5);
    CHECK_NEAR(found.h[0].mean_error, (0.7 * 139 + 0.2 * (395 - 139)) / 395, 1e-6);
    assert_non_null(strstr(murmured, "a tree of 2 leaves, ALER 0.2455, BER 0.2020"));
    spot_arena_close(&a);
}

/* 12 features, of which the 4th and the 9th tell failures: those of rows 0..19 and of rows 20..29. */
enum { N = 200, D = 12 };
static void planted(float x[N * D], float confidence[N])
{
    spot_rng r = spot_rng_at(4, SPOT_RNG_BOOTSTRAP, 0, 0);

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++) x[i * D + j] = (float)spot_rng_uniform(&r);
        if (i < 20) x[i * D + 3] += 2;
        else if (i < 30) x[i * D + 8] -= 2;
        confidence[i] = i < 30 ? 0.1f : 0.9f;
    }
}

TEST(finds_what_was_planted)
{
    float x[N * D], confidence[N];
    bdm_bed b = bed_of(SPOT_BARLOW, 2, N, D, x, confidence);
    planted(x, confidence);
    for (int features = 2; features <= D; features += 10) {      /* chosen by information, and all */
        b.cfg.barlow.features = features;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_true(b.found.len == 2 && b.found.components == 2 && b.found.h[0].len == 20 && b.found.h[1].len == 10);
        assert_true(b.found.h[0].row[0] == 0 && b.found.h[0].row[19] == 19);
        assert_true(b.found.h[1].row[0] == 20 && b.found.h[1].row[9] == 29);
        CHECK_NEAR(b.found.h[0].score, 20. / 30, 1e-12);
        CHECK_NEAR(b.found.h[0].mean_error, 0.9, 1e-6);
    }
    b.cfg.top = 1;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 1 && b.found.components == 2 && b.found.h[0].len == 20);
    spot_arena_close(&b.a);
}

/* compat lists the leaf without failures, sees a probability of 1/2 as the negative class, and gives ties to the feature of
 * least information, where the default gives them to the first. */
TEST(compat_acts)
{
    float x[N * D], confidence[N];
    bdm_bed b = bed_of(SPOT_BARLOW, 1, N, D, x, confidence);
    planted(x, confidence);
    b.cfg.compat = 1;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 3 && b.found.components == 3 && b.found.h[2].len == 170 && b.found.h[2].score == 0);
    for (int i = 0; i < N; i++) confidence[i] = i < 20 ? 0.5f : 0.9f;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 2 && b.found.h[0].len == 20);
    b.cfg.compat = 0;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, 0);
    /* Column 0 tells the first 20 rows apart, and so does column 1, which says less, as it says no more than that: the other
     * rows that fail have values of their own in column 0 alone, but in too small a leaf to be the first cut. */
    b.cfg.barlow = (spot_barlow_config){ .depth = 1, .features = 2 };
    b.points.d = 2;
    for (int compat = 0; compat <= 1; compat++) {
        b.cfg.compat = compat;
        for (int i = 0; i < N; i++) {
            int u = i * 37 % N;
            confidence[i] = i < 20 || i % 20 == 19 ? 0.1f : 0.9f;
            x[2 * i] = i < 20 ? 5 + 0.01f * (float)i : (i % 20 == 19 ? 0 : 1) + 0.001f * (float)u;
            x[2 * i + 1] = i < 20 ? 5 + 0.01f * (float)i : 0.001f * (float)u;
        }
        x[2 * 0] = 1.0505f;         /* each column misses a row of its own */
        x[2 * 1 + 1] = 0.0505f;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_true(b.found.h[0].len == 19 && b.found.h[0].row[0] == (compat ? 0 : 1));
    }
    spot_arena_close(&b.a);
}

TEST(nothing_fails_or_everything)
{
    spot_ctx c = check_ctx(2);
    float x[N * D], confidence[N], none[N], all[N];
    spot_view views[] = { { .n = N, .confidence = none }, { .n = N, .confidence = confidence }, { .n = N, .confidence = all } };
    spot_points points[] = { { .n = N, .d = D, .at = x }, { .n = N, .d = D, .at = x }, { .n = N, .d = D, .at = x } };
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_BARLOW);
    spot_hypotheses found[3];
    spot_arena a;
    planted(x, confidence);
    for (int i = 0; i < N; i++) none[i] = 1, all[i] = 0;
    cfg.barlow.features = 4;
    CHECK_OK(&c, find(&c, &a, found, 3, views, points, &cfg));
    assert_true(found[0].len == 0 && found[0].components == 0 && found[1].len == 2);
    assert_true(found[2].len == 1 && found[2].h[0].len == N && found[2].h[0].score == 1 && found[2].h[0].mean_error == 1);
    assert_non_null(strstr(heard, "EC 0: none of the 200 images fails"));
    assert_non_null(strstr(heard, "EC 2: all 200 images fail"));
    spot_arena_close(&a);
    CHECK_OK(&c, find(&c, &a, found, 1, views, points, &cfg));      /* a batch without a tree */
    assert_int_equal(found[0].len, 0);
    spot_arena_close(&a);
}

/* Labels turn errors round; the negative class alone is a view like any other. */
TEST(labels_count)
{
    float x[N * D], confidence[N];
    uint8_t label[N];
    bdm_bed b = bed_of(SPOT_BARLOW, 1, N, D, x, confidence);
    b.view.label = label;
    planted(x, confidence);
    for (int i = 0; i < N; i++) { label[i] = 0; confidence[i] = 1 - confidence[i]; }
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 2 && b.found.h[0].len == 20 && b.found.h[1].len == 10);
    CHECK_NEAR(b.found.h[0].mean_error, 0.9, 1e-6);
    spot_arena_close(&b.a);
}

/* Probabilities of 0 and 1, duplicate rows, a constant feature, one feature, few rows. */
TEST(views_that_say_little)
{
    float x[N * D], confidence[N];
    bdm_bed b = bed_of(SPOT_BARLOW, 1, N, D, x, confidence);
    b.cfg.barlow.features = 3;
    for (int i = 0; i < N; i++) {      /* rows come in fours that are alike, one of which fails; the rest is constant */
        confidence[i] = i % 4 != 0;
        for (int j = 0; j < D; j++) x[i * D + j] = j < 2 ? (float)(i / 4 % (3 + j)) : 7;
    }
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len >= 1 && b.found.len <= 10);
    for (int k = 0; k < b.found.len; k++) CHECK_NEAR(b.found.h[k].mean_error, 0.25, 1e-12);
    for (int i = 0; i < N * D; i++) x[i] = 7;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 1 && b.found.h[0].len == N);
    CHECK_NEAR(b.found.h[0].score, 0.25, 1e-12);
    for (b.view.n = b.points.n = 1; b.view.n <= 5; b.points.n = ++b.view.n) {
        for (int i = 0; i < 5 * D; i++) x[i] = (float)(i / D);
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_true(b.found.len >= 1 && b.found.h[0].row[0] == 0);
    }
    spot_arena_close(&b.a);
}

TEST(bad_input_gets_a_sentence)
{
    float x[N * D], confidence[N];
    bdm_bed b = bed_of(SPOT_BARLOW, 1, N, D, x, confidence);
    spot_bdm_config bad;
    planted(x, confidence);
    x[D + 2] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "features.value: feature 2 | row 1");
    x[D + 2] = 0;
    confidence[3] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "confidence.value: row 3");
    confidence[3] = 0;
    bad = b.cfg; bad.barlow.depth = 31;
    spot_arena_close(&b.a);
    CHECK_OK(&b.c, spot_arena_open(&b.c, &b.a, 4096));
    CHECK_FAILS(&b.c, spot_bdm_find(&b.c, &b.a, 0, NULL, NULL, NULL, NULL, &bad),
                SPOT_INVALID, "setting.value: barlow.depth | 31 | 1 | 30");
    bad = b.cfg; bad.barlow.features = 0;
    CHECK_FAILS(&b.c, spot_bdm_find(&b.c, &b.a, 0, NULL, NULL, NULL, NULL, &bad), SPOT_INVALID, "setting.value: features | 0");
    bad = b.cfg; bad.barlow.choose = 7;
    CHECK_FAILS(&b.c, spot_bdm_find(&b.c, &b.a, 0, NULL, NULL, NULL, NULL, &bad),
                SPOT_INVALID, "setting.value: barlow.choose | 7 | information | activation");
    spot_arena_close(&b.a);
}
