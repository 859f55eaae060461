/* test_group_sums.c - sums of rows in groups: p by signs and intervals against numpy (golden/group_signs.txt, which
 * tools/golden/group_signs.py made), draws against all signs, the level where nothing is behind the sums. */
#include "checks.h"
#include "golden_text.h"
#include "spotter/rng.h"
#include "stats/group_sums.h"
#include "stats/statistics.h"

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

/* ---- excess over the rates of classes ---- */

/* Two classes with rows in and out, groups that have both, one group whose class has no row in: the mean, and the standard
 * error of groups' parts by the definition. */
TEST(excess_is_that_of_its_definition)
{
    static const struct { int group, cls, in, wrong; } r[] = {
        { 0, 0, 1, 1 }, { 0, 0, 1, 0 }, { 0, 0, 0, 0 }, { 1, 0, 1, 1 }, { 1, 0, 1, 1 }, { 2, 0, 0, 0 }, { 2, 0, 0, 1 },
        { 3, 0, 0, 0 }, { 3, 1, 1, 1 }, { 4, 1, 1, 0 }, { 4, 1, 0, 0 }, { 5, 1, 0, 1 }, { 6, 2, 0, 1 }, { 6, 2, 0, 0 },
    };
    enum { ROWS = LEN(r), GROUPS = 7, CLASSES = 3 };
    double of[CLASSES] = { 0 }, wrong[CLASSES] = { 0 }, in[CLASSES] = { 0 }, part[GROUPS] = { 0 };
    double excess = 0, rows = 0, square = 0;
    spot_group_row row[ROWS];
    spot_ctx c = check_ctx(1);
    spot_group_sums g;
    spot_interval x;
    int groups;

    for (int i = 0; i < ROWS; i++) of[r[i].cls]++, wrong[r[i].cls] += r[i].wrong, in[r[i].cls] += r[i].in;
    for (int i = 0; i < ROWS; i++) {
        const int k = r[i].cls;
        row[i] = (spot_group_row){ r[i].group, r[i].in, r[i].wrong - wrong[k] / of[k], in[k] / of[k] };
        if (r[i].in) excess += r[i].wrong - wrong[k] / of[k], rows++;
    }
    excess /= rows;
    for (int i = 0; i < ROWS; i++)
        part[r[i].group] += (r[i].in ? row[i].beyond - excess : 0) - row[i].share * row[i].beyond;
    for (int i = 0; i < 6; i++) square += part[i] * part[i];   /* the seventh has no class with a row that is in */
    assert_true(part[6] == 0);
    CHECK_OK(&c, spot_group_sums_open(&c, &g, GROUPS));
    x = spot_group_excess(&g, row, ROWS, &groups);
    assert_int_equal(groups, 4);                               /* 0, 1, 3, 4; others: 0, 2, 3, 4, 5 */
    CHECK_NEAR(x.value, excess, 1e-12);
    CHECK_NEAR(x.high, fmin(1, excess + spot_student_above(0.025, 3) * sqrt(square * 6 / 5) / rows), 1e-12);
    CHECK_NEAR(x.low, fmax(-1, excess - spot_student_above(0.025, 3) * sqrt(square * 6 / 5) / rows), 1e-12);
    spot_group_sums_close(&g);
}

/* Groups that are in fail with 0.5, the others with 0.3, and a group's own rate is uniform within 0.3 of it. */
static bool covers(spot_ctx *c, const int groups[2], const int each[2], uint32_t run, bool rates_are_sure)
{
    enum { MOST = 1024 };
    static spot_group_row row[MOST];
    static int wrong[MOST];
    spot_rng r = spot_rng_at(9, SPOT_RNG_VERSIONS, (uint32_t)(groups[0] + 1000 * groups[1]), run);
    const int of[2] = { groups[0] * each[0], groups[1] * each[1] }, n = of[0] + of[1];
    double all = 0, hits = 0, truth;
    spot_group_sums g;
    spot_interval x, alone;
    int m = 0, own;

    for (int side = 0; side < 2; side++)
        for (int i = 0; i < groups[side]; i++) {
            const double rate = (side ? 0.3 : 0.5) + 0.6 * (spot_rng_uniform(&r) - 0.5);
            for (int k = 0; k < each[side]; k++, m++) {
                row[m] = (spot_group_row){ .group = side * groups[0] + i, .in = !side };
                wrong[m] = spot_rng_uniform(&r) < rate;
                all += wrong[m], hits += side ? 0 : wrong[m];
            }
        }
    for (int i = 0; i < n; i++) row[i].beyond = wrong[i] - all / n, row[i].share = (double)of[0] / n;
    truth = 0.2 * of[1] / n;
    alone = spot_share_excess((int)hits, of[0], (int)all, n, of[0] * all / n);
    CHECK_OK(c, spot_group_sums_open(c, &g, groups[0] + groups[1]));
    if (rates_are_sure) {
        for (int i = 0; i < n; i++)
            if (row[i].in) spot_group_sums_add(&g, row[i].group, row[i].beyond);
        x = spot_wider(alone, spot_group_mean(&g, 0.025));
    } else x = spot_wider(alone, spot_group_excess(&g, row, n, &own));
    spot_group_sums_close(&g);
    return x.low <= truth && truth <= x.high;
}

/* At least 95 % of 400 intervals, less three standard errors, hold the truth, also where the classes' other rows are in few
 * groups; there an interval that takes the classes' rates as sure holds it far less often. */
TEST(intervals_of_an_excess_hold_the_truth)
{
    enum { RUNS = 400 };
    static const int groups[][2] = { { 20, 60 }, { 8, 60 }, { 40, 40 }, { 40, 4 }, { 40, 8 }, { 5, 5 } };
    static const int each[][2] = { { 5, 5 }, { 10, 10 }, { 5, 5 }, { 5, 100 }, { 5, 40 }, { 40, 40 } };
    const int runs = SANITIZED ? 20 : RUNS;
    spot_ctx c = check_ctx(1);
    int sure = 0;

    for (int m = 0; m < LEN(groups); m++) {
        int held = 0;
        for (int run = 0; run < runs; run++) held += covers(&c, groups[m], each[m], (uint32_t)run, false);
        print_message("%d groups in, %d others: %d of %d\n", groups[m][0], groups[m][1], held, runs);
        assert_true(held >= 0.95 * runs - 3 * sqrt(runs * 0.95 * 0.05));
    }
    for (int run = 0; run < runs; run++) sure += covers(&c, groups[3], each[3], (uint32_t)run, true);
    assert_true(SANITIZED || sure < 0.85 * runs);
}
