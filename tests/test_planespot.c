/* test_planespot.c - PlaneSpot against its recipe in scikit-learn on a planted map, and the maps that say nothing.
 * ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "golden_file.h"
#include "check_bdm.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

static void check_list(FILE *f, const spot_hypotheses *found, int len)
{
    assert_int_equal(found->len, len);
    assert_int_equal(found->components, len);
    for (int k = 0; k < len; k++) {
        double want[2];
        int size, rows[1024];
        get(f, want, sizeof want);
        get(f, &size, sizeof size);
        get(f, rows, (size_t)size * sizeof *rows);
        assert_int_equal(found->h[k].len, size);
        assert_memory_equal(found->h[k].row, rows, (size_t)size * sizeof *rows);
        CHECK_NEAR(found->h[k].score, want[0], 1e-9 * want[0]);
        CHECK_NEAR(found->h[k].mean_error, want[1], 1e-9);
    }
}

TEST(agrees_with_the_recipe)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/planespot.bin", "rb");
    int n, count, head[5];
    assert_non_null(f);
    get(f, &n, sizeof n);
    float *at = malloc((size_t)n * 2 * sizeof *at), *confidence = malloc((size_t)n * sizeof *confidence);
    get(f, at, (size_t)n * 2 * sizeof *at);
    get(f, confidence, (size_t)n * sizeof *confidence);
    get(f, &count, sizeof count);
    for (int v = 0; v < count; v++) {
        spot_view view = { .n = n, .confidence = confidence };
        spot_points points = { .n = n, .d = 2, .at = at };
        spot_bdm_config cfg = spot_bdm_defaults(SPOT_PLANESPOT);
        spot_hypotheses found;
        spot_arena a;
        get(f, head, sizeof head);
        cfg.norm = head[0];
        cfg.order = head[1];
        cfg.mixture.k_min = head[2];
        cfg.mixture.k_max = head[3];
        CHECK_OK(&c, find(&c, &a, &found, 1, &view, &points, &cfg));
        check_list(f, &found, head[4]);
        check_shares(&found, n, found.len == found.components);
        assert_string_equal(heard, "");
        spot_arena_close(&a);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    free(at);
    free(confidence);
}

/* Two clouds of 40, the second with low confidence. */
enum { N = 80 };
static void two_clouds(float at[2 * N], float confidence[N])
{
    spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 0, 0);
    for (int i = 0; i < N; i++) {
        at[2 * i] = (float)((i < N / 2 ? 0 : 10) + spot_rng_normal(&r));
        at[2 * i + 1] = (float)spot_rng_normal(&r);
        confidence[i] = (float)(i < N / 2 ? 0.9 : 0.1) + (float)(0.02 * spot_rng_uniform(&r));
    }
}

TEST(the_list_is_cut_and_ordered)
{
    float at[2 * N], confidence[N];
    double sum = 0;
    bdm_bed b = bed_of(SPOT_PLANESPOT, 1, N, 2, at, confidence);
    two_clouds(at, confidence);
    b.cfg.top = 1;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 1 && b.found.components == 2 && b.found.h[0].len == N / 2);
    for (int i = 0; i < N / 2; i++) {
        assert_int_equal(b.found.h[0].row[i], N / 2 + i);
        sum += 1 - (double)confidence[N / 2 + i];
    }
    CHECK_NEAR(b.found.h[0].score, sum * sum / (N / 2), 1e-12);
    spot_arena_close(&b.a);
}

/* The second cloud's confidence of 0.1 is an error where its label is positive, and the first one's of 0.9 where not. */
TEST(an_error_is_against_the_label)
{
    float at[2 * N], confidence[N];
    uint8_t label[N] = { 0 };
    bdm_bed b = bed_of(SPOT_PLANESPOT, 1, N, 2, at, confidence);
    b.view.label = label;
    two_clouds(at, confidence);
    for (int order = SPOT_ORDER_SOFT; order <= SPOT_ORDER_HARD; order++)
        for (int positive = 0; positive < 2; positive++) {
            memset(label, positive, sizeof label);
            b.cfg.order = order;
            CHECK_OK(&b.c, find_in(&b, &b.cfg));
            assert_int_equal(b.found.h[0].row[0], positive ? N / 2 : 0);
            CHECK_NEAR(b.found.h[0].mean_error, positive ? 0.89 : 0.91, 0.005);
        }
    spot_arena_close(&b.a);
}

/* The released normalisation divides by the maximum: the same points elsewhere on the plane are scaled otherwise. */
TEST(switches_act)
{
    float at[2 * N], confidence[N], far[2 * N];
    bdm_bed b = bed_of(SPOT_PLANESPOT, 1, N, 2, at, confidence);
    two_clouds(at, confidence);
    for (int i = 0; i < 2 * N; i++) far[i] = at[i] + 100000;
    b.points.at = far;
    b.cfg.mixture.k_max = 4;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.components, 2);
    b.cfg.norm = SPOT_NORM_RELEASED;      /* 1e-4 wide: within the ridge, so only the confidences separate */
    b.cfg.weight = 0;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.components, 1);
    b.points.at = at;
    b.cfg = spot_bdm_defaults(SPOT_PLANESPOT);
    b.cfg.order = SPOT_ORDER_HARD;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.h[0].score == N / 2 && b.found.h[1].score == 0);
    CHECK_NEAR(b.found.h[0].mean_error, 0.89, 0.005);
    spot_arena_close(&b.a);
}

TEST(maps_that_say_nothing_get_a_message)
{
    float at[2 * N], confidence[N], flat[2 * N], ending[2 * N];
    bdm_bed b = bed_of(SPOT_PLANESPOT, 1, N, 2, at, confidence);
    two_clouds(at, confidence);
    for (int i = 0; i < N; i++) {
        flat[2 * i] = at[2 * i];
        flat[2 * i + 1] = -7;
        ending[2 * i] = i - (N - 1);
        ending[2 * i + 1] = at[2 * i + 1];
    }
    b.points.at = flat;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_non_null(strstr(heard, "column 1 of the map is -7 everywhere"));
    assert_int_equal(b.found.components, 2);
    b.cfg.norm = SPOT_NORM_RELEASED;
    b.points.at = ending;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_non_null(strstr(heard, "column 0 of the map has maximum 0"));
    b.points.at = at;
    for (int i = 0; i < N; i++) confidence[i] = 1;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_non_null(strstr(heard, "every confidence is 1"));
    assert_true(b.found.len >= 1 && b.found.h[0].score == 0 && b.found.h[0].mean_error == 0);
    spot_arena_close(&b.a);
}

TEST(bad_input_gets_a_sentence)
{
    float at[2 * N], confidence[N];
    bdm_bed b = bed_of(SPOT_PLANESPOT, 1, N, 2, at, confidence);
    spot_bdm_config bad;
    two_clouds(at, confidence);
    at[7] = INFINITY;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "points.value: coordinate 1 | point 3");
    at[7] = 0;
    confidence[5] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "confidence.value: row 5");
    confidence[5] = 0.5;
    b.points.n = N - 1;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INVALID, "points.count: 79 | 80");
    b.view.n = b.points.n = 0;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "view.empty");
    b.view.n = b.points.n = N;
    bad = b.cfg; bad.weight = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &bad),
                SPOT_INVALID, "setting.value: planespot.weight | nan | 0 | 1000");
    bad = b.cfg; bad.mixture.k_min = bad.mixture.k_max = 64; b.view.n = b.points.n = 20;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INPUT, "mixture.few_points: 20 | 64");
    spot_arena_close(&b.a);
    CHECK_OK(&b.c, spot_arena_open(&b.c, &b.a, 64));
    bad = b.cfg; bad.method = 99;
    CHECK_FAILS(&b.c, spot_bdm_find(&b.c, &b.a, 0, NULL, NULL, NULL, NULL, &bad), SPOT_INVALID, "method.unknown: method 99");
    spot_arena_close(&b.a);
}

TEST(names)
{
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_PLANESPOT);
    char text[48];
    assert_string_equal(spot_bdm_name(&cfg, text, sizeof text), "planespot-scvis");
    assert_true(cfg.weight == 0.025 && cfg.mixture.k_min == 1 && cfg.mixture.k_max == 32 && cfg.embed.dim == 2);
    cfg.embed.method = SPOT_REDUCE_TSNE;
    assert_string_equal(spot_bdm_name(&cfg, text, sizeof text), "planespot-tsne");
    cfg.name = "mine";
    assert_string_equal(spot_bdm_name(&cfg, text, sizeof text), "mine");
}
