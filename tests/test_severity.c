/* test_severity.c - errors inside and outside of blindspots, and what counts as a blindspot of the wanted severity. */
#include "checks.h"

#include <math.h>

#include "spotter/metric.h"

TEST(errors_are_counted_by_blindspot)
{
    float confidence[] = { 0.9f, 0.1f, 0.5f, 0.51f, 0.2f, 0.7f };        /* one half is wrong: the label is 1 */
    uint32_t mask[] = { 0, 0, 1, 1, 3, 2 };
    spot_view view = { .n = 6, .confidence = confidence };
    spot_truth truth = { 6, 2, mask };
    spot_severity s;
    spot_severity_of(&s, &view, &truth);
    assert_int_equal(s.blindspots, 2);
    assert_true(s.outside.rows == 2 && s.outside.wrong == 1);
    assert_true(s.inside[0].rows == 3 && s.inside[0].wrong == 2);
    assert_true(s.inside[1].rows == 2 && s.inside[1].wrong == 1);
    assert_true(spot_error_rate(s.outside) == 0.5 && isnan(spot_error_rate(s.inside[2])));
    truth.blindspots = 0;
    memset(mask, 0, sizeof mask);
    spot_severity_of(&s, &view, &truth);
    assert_true(s.blindspots == 0 && s.outside.rows == 6 && s.outside.wrong == 3);
}

/* `wrong` of `rows` inside, 20 of 200 outside. scipy.stats.fisher_exact([[wrong, rows - wrong], [20, 180]], "greater") says:
 * 4 of 10: p = 0.01744; 5 of 10: p = 0.00270; 6 of 10: p = 0.00031. */
static bool learns(const double band[2], int blindspots, const int wrong[], double *outside)
{
    spot_model_config cfg = spot_model_defaults();
    spot_learning l = { .blindspots = blindspots, .outside = 0.25, .learned = false };
    spot_severity s = { .blindspots = blindspots, .outside = { 200, 20 } };
    for (int m = 0; m < blindspots; m++) s.inside[m] = (spot_errors){ 10, wrong[m] };
    memcpy(cfg.learned_band, band, sizeof cfg.learned_band);
    spot_learning_by_band(&l, &s, &cfg);
    if (outside) *outside = l.outside;
    for (int m = 0; m < blindspots && band[1] > 0; m++) {
        assert_int_equal(l.inside_count[m], 10);
        CHECK_NEAR(l.inside[m], 1 - wrong[m] / 10., 1e-12);
    }
    return l.learned;
}

TEST(a_band_and_a_test_decide)
{
    const double all[] = { 0.1, 1 }, low[] = { 0.1, 0.5 }, none[] = { 0, 0 };
    double outside;
    assert_false(learns(all, 1, (int[]){ 4 }, &outside));        /* 0.017 is no proof */
    CHECK_NEAR(outside, 0.9, 1e-12);
    assert_true(learns(all, 1, (int[]){ 5 }, NULL));
    assert_true(learns(low, 1, (int[]){ 5 }, NULL));             /* the ends belong to the band */
    assert_false(learns(low, 1, (int[]){ 6 }, NULL));            /* too severe */
    assert_true(learns(all, 2, (int[]){ 5, 6 }, NULL));          /* 2 x 0.0003, then 1 x 0.0027 */
    assert_true(learns(all, 3, (int[]){ 5, 5, 5 }, NULL));       /* 3 x 0.0027 = 0.0081 */
    assert_false(learns(all, 4, (int[]){ 5, 5, 5, 5 }, NULL));   /* 4 x 0.0027 = 0.0108: Holm's correction */
    assert_true(learns(all, 4, (int[]){ 5, 5, 5, 6 }, NULL));    /* 4 x 0.0003, then 3 x 0.0027: Bonferroni would refuse */
    assert_false(learns(all, 2, (int[]){ 9, 4 }, NULL));         /* every blindspot counts */
    assert_false(learns(none, 1, (int[]){ 9 }, &outside));       /* not asked: nothing changes */
    CHECK_NEAR(outside, 0.25, 0);
    learns(all, 0, NULL, &outside);                              /* nothing planted: the other rules */
    CHECK_NEAR(outside, 0.25, 0);
}
