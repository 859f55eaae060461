/* spot_change_above and its kin: the level at a margin, with groups and a spread; intervals that agree with tests; rows that
 * would decide, found by simulation.
 * ctest: both */
#include "checks.h"

#include <math.h>

#include "stats/change_test.h"
#include "stats/paired.h"
#include "stats/statistics.h"
#include "spotter/rng.h"

enum { TRIALS = SANITIZED ? 200 : 4000, GROUPS = 40, SIZE = 25 };

static spot_change_test draw_rows(spot_rng *r, int n, double up, double down)
{
    int rose = 0, fell = 0;

    for (int i = 0; i < n; i++) {
        const double u = spot_rng_uniform(r);
        rose += u < up, fell += u > 1 - down;
    }
    return spot_change_test_of(rose, fell, n, 1, NULL, 0);
}

TEST(no_change_is_tested_exactly)
{
    for (int up = 0; up < 20; up++)
        for (int down = 0; down < 20; down++) {
            const spot_change_test t = spot_change_test_of(up, down, 60, 1, NULL, 0);
            assert_true(spot_change_above(&t, 0) >= spot_mcnemar_tail(up, down) - 1e-15);
            assert_true(spot_change_above(&t, 0.02) >= spot_change_above(&t, 0));
            CHECK_NEAR(spot_change_below(&t, -0.02), spot_change_above(&(spot_change_test){
                .up = down, .down = up, .n = 60, .scale = 1, .exact = { t.exact[1], t.exact[0] } }, 0.02), 0);
        }
    assert_true(spot_change_above(&(spot_change_test){ 0 }, 0) == 1);
}

TEST(a_change_of_the_margin_is_called_more_in_5_percent)
{
    for (int k = 0; k < 3; k++) {
        const double down = k == 0 ? 0.02 : k == 1 ? 0.1 : 0.25;
        int above = 0, below = 0;
        for (uint32_t i = 0; i < TRIALS; i++) {
            spot_rng r = spot_rng_at(5, SPOT_RNG_BOOTSTRAP, (uint32_t)k, i);
            const spot_change_test t = draw_rows(&r, 200, down + 0.03, down);
            above += spot_change_above(&t, 0.03) <= 0.05;
            below += spot_change_below(&t, 0.03) <= 0.05;
        }
        if (above > 0.065 * TRIALS + 8 || below > 0.065 * TRIALS + 8) fail_msg("%d and %d of %d", above, below, TRIALS);
    }
}

/* Whole groups turn: each changed group has most of its rows changed one way. */
TEST(groups_keep_the_level_at_a_margin)
{
    spot_ctx c = check_ctx(1);
    spot_group_sums sums;
    int above = 0, alone = 0;

    CHECK_OK(&c, spot_group_sums_open(&c, &sums, GROUPS));
    for (uint32_t i = 0; i < TRIALS; i++) {
        spot_rng r = spot_rng_at(6, SPOT_RNG_BOOTSTRAP, 0, i);
        int up = 0, down = 0;
        spot_group_sums_clear(&sums);
        for (int g = 0; g < GROUPS; g++) {
            const double own = 0.05 + 0.2 * spot_rng_normal(&r);       /* mean 0.05: the margin */
            for (int k = 0; k < SIZE; k++) {
                const double u = spot_rng_uniform(&r), share = fmin(0.9, fmax(-0.9, own));
                const int by = u < 0.05 + fmax(0, share) ? 1 : u > 0.95 - fmax(0, -share) ? -1 : 0;
                up += by > 0, down += by < 0;
                spot_group_sums_add(&sums, g, by);
            }
        }
        const spot_change_test t = spot_change_test_of(up, down, GROUPS * SIZE, 1, &sums, i);
        const spot_change_test one = spot_change_test_of(up, down, GROUPS * SIZE, 1, NULL, i);
        above += spot_change_above(&t, 0.05) <= 0.05;
        alone += spot_change_above(&one, 0.05) <= 0.05;
    }
    spot_group_sums_close(&sums);
    if (above > 0.065 * TRIALS + 8) fail_msg("%d of %d", above, TRIALS);
    assert_true(alone > above);
}

/* Equal trainings whose true changes have a spread that is known from few degrees of freedom. */
TEST(a_spread_keeps_the_level_with_few_degrees_of_freedom)
{
    const int freedom = 4;
    int above = 0, without = 0;

    for (uint32_t i = 0; i < TRIALS; i++) {
        spot_rng r = spot_rng_at(7, SPOT_RNG_BOOTSTRAP, 0, i);
        const double move = 0.04 * spot_rng_normal(&r);
        double square = 0;
        spot_change_test t = draw_rows(&r, 600, 0.12 + fmax(0, move), 0.12 + fmax(0, -move));
        without += spot_change_above(&t, 0) <= 0.05;
        for (int k = 0; k < freedom; k++) square += pow(0.04 * spot_rng_normal(&r), 2);
        t.spread = square / freedom;
        t.freedom = freedom;
        above += spot_change_above(&t, 0) <= 0.05;
    }
    if (above > 0.065 * TRIALS + 8) fail_msg("%d of %d", above, TRIALS);
    assert_true(without > 0.1 * TRIALS);
}

TEST(an_interval_holds_what_the_tests_do_not_refuse)
{
    for (int up = 0; up < 40; up += 7)
        for (int down = 0; down < 40; down += 5) {
            spot_change_test t = spot_change_test_of(up, down, 300, 1, NULL, 0);
            t.spread = up % 2 ? 1e-4 : 0, t.freedom = up % 2 ? 5 : 0;
            const spot_interval k = spot_change_interval(&t, 0.01, 0.02);
            assert_true(k.low <= k.value && k.value <= k.high);
            assert_true(spot_change_above(&t, k.low - 1e-9) <= 0.01 && spot_change_above(&t, k.low + 1e-6) >= 0.01 - 1e-9);
            assert_true(spot_change_below(&t, k.high + 1e-9) <= 0.02 && spot_change_below(&t, k.high - 1e-6) >= 0.02 - 1e-9);
        }
}

static double power_at(int n, double up, double down, double by, double tail, uint32_t stream)
{
    int told = 0;

    for (uint32_t i = 0; i < TRIALS / 2; i++) {
        spot_rng r = spot_rng_at(8, SPOT_RNG_BOOTSTRAP, stream, i);
        const spot_change_test t = draw_rows(&r, n, up, down);
        told += (up - down > by ? spot_change_above(&t, by) : spot_change_below(&t, by)) <= tail;
    }
    return told / (TRIALS / 2.0);
}

/* The number of rows that gives 80 %, by simulation, is within a quarter of what is said. */
TEST(rows_that_would_decide)
{
    static const double world[][4] = { { 0.16, 0.06, 0.02, 0.01 }, { 0.10, 0.10, 0.03, 0.01 }, { 0.12, 0.10, 0.07, 0.002 } };

    for (int w = 0; w < LEN(world) && !SANITIZED; w++) {
        const double *k = world[w];
        const spot_change_test t = spot_change_test_of((int)(1e4 * k[0]), (int)(1e4 * k[1]), 10000, 1, NULL, 0);
        const double said = spot_change_needed(&t, k[2], k[3]);
        assert_true(power_at((int)(said / 1.25), k[0], k[1], k[2], k[3], (uint32_t)w) < 0.8);
        assert_true(power_at((int)(said * 1.25), k[0], k[1], k[2], k[3], (uint32_t)w) > 0.8);
    }
    const spot_change_test even = spot_change_test_of(30, 10, 1000, 1, NULL, 0);
    assert_true(isinf(spot_change_needed(&even, 0.02, 0.05)));
}
