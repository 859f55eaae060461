/* test_nights.c - the verdict's statistics beside an outside oracle, and whether nights by chance raise the alarm as seldom,
 * and find what is lost as surely, as checks.h says. ctest: both */
#include "checks.h"
#include "check_night.h"
#include "golden_text.h"
#include "stats/bootstrap.h"
#include "stats/statistics.h"

TEST(test_holm)
{
    double p[] = { 0.01, 0.04, 0.03, 0.005, 0.6 };                 /* statsmodels: multipletests(p, method="holm") */
    static const double want[] = { 0.04, 0.09, 0.09, 0.025, 0.6 };
    spot_ranked_p scratch[5];
    spot_holm(p, 5, scratch);
    for (int i = 0; i < 5; i++) CHECK_NEAR(p[i], want[i], 1e-12);
}

/* A family of any size is adjusted to its last member. */
TEST(test_holm_of_many)
{
    enum { N = 5000 };
    static spot_ranked_p scratch[N];
    static double p[N];

    for (int i = 0; i < N; i++) p[i] = 1e-9 * (N - i);
    spot_holm(p, N, scratch);
    CHECK_NEAR(p[N - 1], N * 1e-9, 1e-15);
    CHECK_NEAR(p[N - 2], (N - 1) * 2e-9, 1e-15);
    CHECK_NEAR(p[0], 2500 * 2501e-9, 1e-12);           /* the greatest so far, in the middle of the order */
}

TEST(draws_without_a_number_are_left_out)
{
    const double drawn[] = { 3, NAN, 1, 2, INFINITY, 0 };
    double draw[6];
    spot_interval v = { 0.5, 0, 0 };

    memcpy(draw, drawn, sizeof draw);
    assert_int_equal(spot_percentiles(&v, draw, 6, 4), 4);
    CHECK_NEAR(v.low, 0.025 * 3, 1e-15);
    CHECK_NEAR(v.high, 0.975 * 3, 1e-15);
    memcpy(draw, drawn, sizeof draw);
    assert_int_equal(spot_percentiles(&v, draw, 6, 5), 4);     /* too few */
    assert_true(isnan(v.low) && isnan(v.high));
    v = (spot_interval){ NAN, 0, 0 };
    assert_int_equal(spot_percentiles(&v, draw, 4, 1), 4);
    assert_true(isnan(v.low) && isnan(v.high));
}

TEST(a_p_at_the_level_is_significant)
{
    assert_true(spot_is_significant(SPOT_LEVEL, SPOT_LEVEL) && spot_is_significant(0, SPOT_LEVEL));
    assert_false(spot_is_significant(0.0500001, SPOT_LEVEL) || spot_is_significant(NAN, SPOT_LEVEL));
}

/* tools/golden/check.py. SciPy resamples with other random numbers: its ends, of 200,000 resamples, are met within what our
 * 10,000 scatter. */
TEST(test_intervals_are_scipys)
{
    static double v[2000];
    spot_ctx c = check_ctx(1);
    int read = golden_numbers("golden/check.txt", v, LEN(v)), cases = 0;
    for (const double *at = v; at < v + read; cases++) {
        int n = (int)at[0], m = (int)at[1];
        const double *x = at + 2, *y = x + n, *want = y + m;       /* mean, 95 %, 90 %, tolerance, p */
        spot_difference d;
        CHECK_OK(&c, spot_difference_of(&c, &d, x, n, m ? y : NULL, m, (uint32_t)cases));
        CHECK_NEAR(d.mean, want[0], 1e-11);
        CHECK_NEAR(d.low, want[1], want[5]);
        CHECK_NEAR(d.high, want[2], want[5]);
        CHECK_NEAR(d.inner_low, want[3], want[5]);
        CHECK_NEAR(d.inner_high, want[4], want[5]);
        if (!(d.p > 0.7 * want[6] && d.p < 1.4 * want[6] + 2e-5)) fail_msg("case %d: p %g, SciPy's %g", cases, d.p, want[6]);
        at = want + 7;
    }
    assert_int_equal(cases, 4);
}

/* Student's tails by Simpson's rule on the density (Python, 200,000 steps). */
TEST(test_quantiles)
{
    static const struct { double t; int df; double p; } student[] = {
        { 1, 1, 0.25 }, { 3, 2, 0.04773298313335384 }, { 2.5, 5, 0.027245049671188615 }, { 4, 15, 0.0005796584248805437 },
        { 2, 10, 0.03669401738537065 }, { 6, 23, 2.0284331069060974e-06 }, { 3.3, 999, 0.0005005156315280331 },
    };

    CHECK_NEAR(spot_normal_quantile(0.975), 1.959963984540054, 1e-9);
    CHECK_NEAR(spot_normal_quantile(0.05), -1.6448536269514722, 1e-9);
    CHECK_NEAR(spot_normal_tail(1.6448536269514722), 0.05, 1e-12);
    for (int i = 0; i < LEN(student); i++) {
        CHECK_NEAR(spot_student_tail(student[i].t, student[i].df), student[i].p, 1e-13 + 1e-11 * student[i].p);
        CHECK_NEAR(spot_student_tail(-student[i].t, student[i].df), 1 - student[i].p, 1e-12);
        CHECK_NEAR(spot_student_above(student[i].p, student[i].df), student[i].t, 1e-5);
    }
}

/* ---- nights: a short sample; how many were tried once, and what came of them, is in bench/studies/nightly.md ---- */

static int alarms(const nights *w, int n, const char *method)
{
    spot_ctx c = check_ctx(1);
    int alarm = 0;
    for (int i = 0; i < n; i++) {
        night t;
        bool worse = false;
        night_open(&c, &t, w, (uint32_t)i);
        CHECK_OK(&c, spot_check_pairs(&t.g));
        for (int k = 0; k < t.check.lines; k++)
            worse |= t.check.line[k].verdict == SPOT_WORSE && (!method || !strcmp(t.check.line[k].method, method));
        alarm += worse;
        night_close(&t);
    }
    return alarm;
}

TEST(test_nights)
{
    const nights same = { .ecs = 100, .paired = true, .shared = 0.5, .fresh = 0.3 };
    const nights seeds = { .ecs = 60, .shared = 0.5 };
    const nights drop = { .ecs = 300, .paired = true, .shared = 0.5, .fresh = 0.05, .drop = 0.08 };
    int n = SANITIZED ? 1 : 20;
    assert_int_equal(alarms(&same, n, NULL), 0);
    assert_int_equal(alarms(&seeds, n, NULL), 0);
    assert_true(alarms(&drop, n / 2 + 1, "m1") >= n / 2);
}
