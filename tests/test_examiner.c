/* test_examiner.c - the factor space and the frame of examiners. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "examine/examiners.h"
#include "landscapes.h"
#include "spotter/examiner.h"
#include "spotter/rng.h"

/* ---- the factor space ---- */

TEST(factors_have_names_and_units)
{
    for (int f = 0; f < SPOT_FACTORS; f++) assert_int_equal(spot_factor_find(spot_factor_label(f)), f);
    assert_int_equal(spot_factor_find("camera_elevation"), SPOT_CAMERA_ELEVATION);
    assert_int_equal(spot_factor_find("elevation"), -1);
    assert_int_equal(spot_factor_find(""), -1);
    assert_string_equal(spot_factor_unit(SPOT_SUN_X), "degrees");
    assert_string_equal(spot_factor_unit(SPOT_LAMP_DISTANCE), "diagonals");
    assert_string_equal(spot_factor_unit(SPOT_SUN_ENERGY), "");
    assert_string_equal(spot_factor_unit(-1), "");
    assert_string_equal(spot_factor_label(SPOT_FACTORS), "unknown");
}

TEST(the_papers_space)
{
    static const bool turns[] = {
#define X(NAME, name, symbol, unit, least, most, turns) turns,
        SPOT_FACTOR_TABLE(X)
#undef X
    };
    spot_factor_space s = spot_factor_space_paper();
    spot_conditions f;
    double x[SPOT_FACTORS], back[SPOT_FACTORS];

    assert_int_equal(s.dims, 9);
    assert_int_equal(s.factor[0], SPOT_LAMP_ENERGY);
    assert_int_equal(s.factor[8], SPOT_CAMERA_ROLL);
    for (int d = 0; d < s.dims; d++) assert_int_equal(s.turns[d], turns[s.factor[d]]);
    for (int k = 0; k <= 4; k++) {
        for (int d = 0; d < s.dims; d++) x[d] = k / 4.0;
        spot_factor_space_place(&f, &s, x);
        for (int d = 0; d < s.dims; d++)
            CHECK_NEAR(f.value[s.factor[d]], s.least[d] + k / 4.0 * (s.most[d] - s.least[d]), 1e-5 * (s.most[d] - s.least[d]));
        spot_factor_space_point(back, &s, &f);
        for (int d = 0; d < s.dims; d++) CHECK_NEAR(back[d], x[d], 1e-6);
    }
}

TEST(a_space_of_ranges)
{
    const spot_factor_range ranges[] = { { SPOT_CAMERA_AZIMUTH, -180, 180 }, { SPOT_SUN_ENERGY, 2, 2 },
                                         { SPOT_CAMERA_ROLL, 0, 90 } };
    const spot_factor_range twice[] = { { SPOT_CAMERA_ROLL, 0, 90 }, { SPOT_CAMERA_ROLL, 90, 180 } };
    const spot_factor_range bad[] = { { SPOT_CAMERA_ROLL, 1, 0 }, { SPOT_CAMERA_ROLL, NAN, 1 },
                                      { SPOT_CAMERA_ROLL, 0, INFINITY }, { SPOT_CAMERA_DISTANCE, 0, 1 },
                                      { SPOT_SUN_X, 0, 1e9 }, { SPOT_FACTORS, 0, 1 } };
    static const char *const words[] = { "conditions.order: camera_roll | 1", "conditions.order: nan", "conditions.range: inf",
                                        "conditions.distance",
                                        "conditions.range: sun_x",
                                        "conditions.factor: factor 12" };
    spot_ctx c = check_ctx(1);
    spot_conditions fixed;
    spot_factor_space s;

    CHECK_OK(&c, spot_factor_space_of(&c, &s, &fixed, ranges, 3));
    assert_int_equal(s.dims, 2);
    assert_true(s.turns[0]);
    assert_false(s.turns[1]);
    for (int f = 0; f < SPOT_FACTORS; f++)
        if (f == SPOT_SUN_ENERGY) assert_true(fixed.value[f] == 2);
        else assert_true(isnan(fixed.value[f]));
    CHECK_FAILS(&c, spot_factor_space_of(&c, &s, &fixed, ranges + 1, 1), SPOT_USAGE, "conditions.none_left");
    CHECK_FAILS(&c, spot_factor_space_of(&c, &s, &fixed, ranges, 0), SPOT_USAGE, "conditions.none_left");
    CHECK_FAILS(&c, spot_factor_space_of(&c, &s, &fixed, twice, 2), SPOT_USAGE, "conditions.factor_twice");
    for (int i = 0; i < LEN(bad); i++) CHECK_FAILS(&c, spot_factor_space_of(&c, &s, &fixed, &bad[i], 1), SPOT_USAGE, words[i]);
}

/* The mean of a uniform number in a range is its middle. */
TEST(conditions_are_drawn_in_the_papers_ranges)
{
    double sum[SPOT_FACTORS] = { 0 };
    spot_factor_space s = spot_factor_space_paper();

    for (uint32_t i = 0; i < 2000; i++) {
        spot_conditions f, again;
        for (int k = 0; k < SPOT_FACTORS; k++) f.value[k] = NAN;
        again = f;
        f.value[SPOT_CAMERA_ROLL] = 7;
        spot_conditions_draw(&f, 5, i);
        spot_conditions_draw(&again, 5, i);
        assert_true(f.value[SPOT_CAMERA_ROLL] == 7);
        assert_true(f.value[SPOT_SUN_X] == again.value[SPOT_SUN_X] && f.value[SPOT_SUN_X] != f.value[SPOT_SUN_Y]);
        for (int k = 0; k < SPOT_FACTORS; k++) sum[k] += again.value[k] / 2000;
    }
    for (int d = 0; d < s.dims; d++)
        CHECK_NEAR(sum[s.factor[d]], (s.least[d] + s.most[d]) / 2, .03 * (s.most[d] - s.least[d]));
    CHECK_NEAR(sum[SPOT_SUN_X], 180, 8);
}

/* ---- the frame ---- */

static const uint32_t numbers[] = { 3, 11, 4, 40 };

TEST(budgets_cut_the_last_batch)
{
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_RANDOM);
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search s = { &space, 2, 7, 1, numbers };
    double at[2 * 3 * 9], loss[2 * 3] = { 0 };
    spot_ctx c = check_ctx(1);
    spot_examiner *e;
    int asked = 0;

    assert_int_equal(cfg.random.batch, 32);
    cfg.random.batch = 3;
    CHECK_OK(&c, spot_examiner_open(&c, &e, &cfg, &s));
    CHECK_FAILS(&c, spot_examiner_tell(&c, e, loss), SPOT_INVALID, "examiner.not_asked");
    for (int n; (n = spot_examiner_wants(e)); asked += n) {
        assert_int_equal(n, asked < 6 ? 3 : 1);
        CHECK_OK(&c, spot_examiner_ask(&c, e, at));
        CHECK_FAILS(&c, spot_examiner_ask(&c, e, at), SPOT_INVALID, "examiner.waits");
        loss[0] = NAN;
        CHECK_FAILS(&c, spot_examiner_tell(&c, e, loss), SPOT_INVALID, "examiner.loss: nan");
        loss[0] = INFINITY;
        CHECK_FAILS(&c, spot_examiner_tell(&c, e, loss), SPOT_INVALID, "examiner.loss: inf");
        loss[0] = 0;
        CHECK_OK(&c, spot_examiner_tell(&c, e, loss));
    }
    assert_int_equal(asked, 7);
    CHECK_FAILS(&c, spot_examiner_ask(&c, e, at), SPOT_INVALID, "examiner.finished: its 7");
    spot_examiner_close(e);
    spot_examiner_close(NULL);
}

/* A point of bo-2019 takes longer by the square of the points before it, so half of the points are an eighth of the work. */
TEST(half_of_the_points_are_not_half_of_the_work)
{
    spot_factor_space space = spot_factor_space_paper();
    const spot_examiner_search s = { &space, 1, 8, 1, numbers };
    double at[8 * 9], loss[8] = { 0 };
    spot_ctx c = check_ctx(1);
    spot_examiner *e;

    for (int method = 0; method < SPOT_EXAMINERS; method++) {
        spot_examiner_config cfg = spot_examiner_defaults(method);
        int told = 0;
        CHECK_OK(&c, spot_examiner_open(&c, &e, &cfg, &s));
        for (int n; (n = spot_examiner_wants(e)); told += n) {
            CHECK_NEAR(spot_examiner_share(e), pow(told / 8., method == SPOT_EXAMINER_BO2019 ? 3 : 1), 1e-12);
            CHECK_OK(&c, spot_examiner_ask(&c, e, at));
            CHECK_OK(&c, spot_examiner_tell(&c, e, loss));
        }
        assert_true(told == 8 && spot_examiner_share(e) == 1);
        spot_examiner_close(e);
    }
}

TEST(what_is_out_of_range_is_refused)
{
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_RANDOM);
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search s = { &space, 1, 0, 1, numbers };
    spot_ctx c = check_ctx(1);
    spot_examiner *e = (spot_examiner *)&c;

    CHECK_FAILS(&c, spot_examiner_open(&c, &e, &cfg, &s), SPOT_USAGE, "examiner.renders");
    assert_null(e);
    s.budget = 1, s.problems = 0;
    CHECK_FAILS(&c, spot_examiner_open(&c, &e, &cfg, &s), SPOT_USAGE, "examiner.objects: 0");
    s.problems = 1, cfg.random.batch = 0;
    CHECK_FAILS(&c, spot_examiner_open(&c, &e, &cfg, &s), SPOT_USAGE, "setting.value: batch");
    cfg.method = SPOT_EXAMINERS;
    CHECK_FAILS(&c, spot_examiner_open(&c, &e, &cfg, &s), SPOT_USAGE, "examiner.unknown");
    assert_string_equal(spot_examiner_name(SPOT_EXAMINER_BO2019), "bo-2019");
    assert_string_equal(spot_examiner_name(-1), "unknown");
}

/* ---- time ---- */

/* Sums of work that grows by a power of what was asked, after two points that cost nothing. */
TEST(time_of_an_examiner_grows_as_it_did)
{
    for (int power = 0; power <= 3; power++) {
        spot_examiner_moment mark[3] = { { 0, 0 } }, now = { 0, 0 };
        double seconds[501] = { 0 };
        for (int n = 1; n <= 500; n++) seconds[n] = seconds[n - 1] + (n <= 2 ? 0 : 1e-3 * pow(n, power));
        for (int n = 1; n <= 100; n++) {
            now = (spot_examiner_moment){ seconds[n], n };
            if (n >= 2 * mark[2].asked) mark[0] = mark[1], mark[1] = mark[2], mark[2] = now;
        }
        assert_int_equal(mark[2].asked, 64);
        const double ratio = spot_examiner_seconds(mark, now, 500, now.asked / 500.) / seconds[500];
        if (power < 3) CHECK_NEAR(ratio, 1, .02);
        else assert_true(ratio > .1 && ratio < .2);        /* held to a power of 2: that of a few points may be anything */
    }
    const spot_examiner_moment early[3] = { { 0, 0 }, { 0, 0 }, { 1e-4, 2 } };
    CHECK_NEAR(spot_examiner_seconds(early, (spot_examiner_moment){ .5, 4 }, 500, 4 / 500.), 62.5, 1e-9);
    CHECK_NEAR(spot_examiner_seconds(early, (spot_examiner_moment){ .5, 100 }, 200, .125), 4, 1e-9);    /* it is known */
}
