/* test_group_sums.c - sums of rows in groups: p by signs and intervals against numpy (golden/group_signs.txt, which
 * tools/golden/group_signs.py made), draws against all signs, the level where nothing is behind the sums. */
#include "checks.h"
#include "golden_text.h"
#include "spotter/rng.h"
#include "stats/group_sums.h"

#include <math.h>

TEST(signs_and_means_are_those_of_numpy)
{
    static double number[2000];
    const int n = golden_numbers("golden/group_signs.txt", number, LEN(number));
    const double *v = number;
    spot_ctx c = check_ctx(1);
    spot_group_sums g;
    int cases = 0;

    CHECK_OK(&c, spot_group_sums_open(&c, &g, 16));
    for (; v < number + n; cases++) {
        const int rows = (int)v[0], groups = (int)v[1];
        spot_interval mean;
        spot_group_sums_clear(&g);
        for (int i = 0; i < rows; i++) spot_group_sums_add(&g, (int)v[2 + 2 * i], v[3 + 2 * i]);
        v += 2 + 2 * rows;
        assert_int_equal(g.n, groups);
        CHECK_NEAR(spot_signs_tail(&g, 0), v[0], 1e-12);
        CHECK_NEAR(spot_signs_below(&g, 0), v[1], 1e-12);
        mean = spot_group_mean(&g, 0.025);
        CHECK_NEAR(mean.value, v[2], 1e-12);
        CHECK_NEAR(mean.low, v[3], 1e-6);
        CHECK_NEAR(mean.high, v[4], 1e-6);
        v += 5;
    }
    assert_int_equal(cases, 7);
    spot_group_sums_clear(&g);
    assert_true(spot_signs_tail(&g, 0) == 1 && isnan(spot_group_mean(&g, 0.025).value));
    spot_group_sums_close(&g);
}

/* Seventeen equal parts are drawn: P(at least 13 of 17 heads) = 0.02452; no p is below 2^-m, nor below one draw. */
TEST(many_groups_are_drawn)
{
    spot_ctx c = check_ctx(1);
    spot_group_sums g;

    CHECK_OK(&c, spot_group_sums_open(&c, &g, 100));
    for (int i = 0; i < 17; i++) spot_group_sums_add(&g, 5 * i, i < 13 ? 1 : -1);
    CHECK_NEAR(spot_signs_tail(&g, 3), 0.02452, 0.005);
    CHECK_NEAR(spot_signs_below(&g, 3), 0.99364, 0.003);
    assert_true(spot_signs_tail(&g, 3) == spot_signs_tail(&g, 3));
    spot_group_sums_clear(&g);
    for (int i = 0; i < 100; i++) spot_group_sums_add(&g, i, 1);
    assert_true(spot_signs_tail(&g, 0) == 1.0 / (1 + SPOT_SIGNS_DRAWS));
    spot_group_sums_clear(&g);
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 50; r++) spot_group_sums_add(&g, i, 1);
    assert_true(spot_signs_tail(&g, 0) == 1.0 / 16);
    spot_group_sums_close(&g);
}

/* Errors of chance that are shared within a group: of 500 sums at most 5 % and three standard errors have p <= 0.05, for few
 * groups and many; the same rows taken as alone (one group a row) far more. */
TEST(shared_errors_of_chance_keep_the_level)
{
    enum { RUNS = 500, ROWS = 25, ALONE = 40 };
    static const int groups[] = { 5, 8, 16, 40 };
    spot_ctx c = check_ctx(1);
    spot_group_sums g;

    CHECK_OK(&c, spot_group_sums_open(&c, &g, 40 * ROWS));
    for (int m = 0; m < LEN(groups); m++) {
        int hits[2] = { 0, 0 };
        for (int run = 0; run < (SANITIZED ? 50 : RUNS); run++)
            for (int alone = 0; alone < 2; alone++) {
                spot_rng r = spot_rng_at(5, SPOT_RNG_VERSIONS, (uint32_t)m, (uint32_t)run);
                spot_group_sums_clear(&g);
                for (int i = 0; i < groups[m]; i++) {
                    const double rate = spot_rng_uniform(&r) < 0.25 ? 0.5 : 0.1;       /* 0.2 on average */
                    for (int k = 0; k < ROWS; k++)
                        spot_group_sums_add(&g, alone ? i * ROWS + k : i, (spot_rng_uniform(&r) < rate) - 0.2);
                }
                if (!alone || run < ALONE) hits[alone] += spot_signs_tail(&g, (uint32_t)run) <= 0.05;
            }
        if (SANITIZED) continue;
        assert_true(hits[0] <= RUNS * 0.05 + 3 * sqrt(RUNS * 0.05 * 0.95));
        assert_true(hits[1] > ALONE * 0.15);
    }
    spot_group_sums_close(&g);
}
