/* test_shifts.c - impact and slope of shifts against numpy, against brute force and against truth. ctest: both */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "core/philox.h"
#include "golden_text.h"
#include "spotter/shifts.h"

enum { CLASSES = 12, MODELS = 7, SHIFTS = 3 };

/* The counts of tools/golden/slopes.py: whole numbers from a wave, so that both sides have the same. */
static int wave(int i, int a, int b, int most) { return (int)floor(fabs((double)golden_wave(i, a, b * 0.01)) * 0.999 * most); }

typedef struct {
    int pictures[SHIFTS + 1][CLASSES], right[SHIFTS + 1][MODELS * CLASSES], category[SHIFTS];
    spot_shift_tally tally[SHIFTS + 1];
    spot_shift_table t;
} wave_table;

static void fill_waves(wave_table *w)
{
    for (int s = 0; s <= SHIFTS; s++) {
        for (int k = 0; k < CLASSES; k++) w->pictures[s][k] = s ? wave(k + 40 * s, 3, 1, 14) : 20 + k;
        for (int m = 0; m < MODELS; m++)
            for (int k = 0; k < CLASSES; k++)
                w->right[s][m * CLASSES + k] = wave(m * CLASSES + k + 7 * s, 5, 2 + s, w->pictures[s][k] + 1);
        w->tally[s] = (spot_shift_tally){ w->pictures[s], w->right[s] };
    }
    w->category[0] = w->category[2] = 1, w->category[1] = 0;
    w->t = (spot_shift_table){ CLASSES, MODELS, SHIFTS, 2, w->tally[0], &w->tally[1], w->category, NULL };
}

/* tests/golden/shifts.txt: for each of three axes and three shifts: used, few, lost, impact, slope, intercept, correlation, the
 * accuracies of the models on base and shift. */
TEST(impact_and_slope_are_numpys)
{
    double gold[3 * SHIFTS * (7 + 2 * MODELS)];
    const double *g = gold;
    spot_ctx c = check_ctx(2);
    spot_shift_rule rule = spot_shift_rule_defaults();
    spot_shift_estimates e;
    wave_table w;

    fill_waves(&w);
    assert_int_equal(golden_numbers("golden/shifts.txt", gold, LEN(gold)), LEN(gold));
    rule.draws = 50;
    for (rule.axes = 0; rule.axes < 3; rule.axes++) {
        CHECK_OK(&c, spot_shift_evaluate(&c, &e, &w.t, &rule));
        for (int s = 0; s < SHIFTS; s++, g += 7 + 2 * MODELS) {
            const spot_shift_estimate *v = &e.shift[s];
            assert_true(v->used == g[0] && v->few == g[1] && v->lost == g[2] && !v->few_base);
            CHECK_NEAR(v->impact.value, g[3], 1e-12);
            CHECK_NEAR(v->slope.value, g[4], 1e-8);           /* the golden's quantile of the normal is SciPy's */
            CHECK_NEAR(v->intercept, g[5], 1e-8);
            CHECK_NEAR(v->correlation, g[6], 1e-8);
            for (int m = 0; m < MODELS; m++) {
                CHECK_NEAR(v->base[m], g[7 + m], 1e-12);
                CHECK_NEAR(v->shift[m], g[7 + MODELS + m], 1e-12);
            }
        }
        CHECK_NEAR(e.category[1].slope.value, (e.shift[0].slope.value + e.shift[2].slope.value) / 2, 1e-12);
        CHECK_NEAR(e.across[0].impact.value, e.shift[1].impact.value - e.category[1].impact.value, 1e-12);
        assert_true(e.category[1].shifts == 2 && e.between[2].a == 1 && e.between[2].b == 2);
        spot_shift_estimates_close(&e);
    }
}

/* The interval of one shift, draw by draw, in the plainest code. */
static void brute_interval(const wave_table *w, int s, const spot_shift_rule *rule, double *low, double *high)
{
    static double drawn[4000];
    int any[CLASSES], n = 0, have = 0;

    for (int k = 0; k < CLASSES; k++) {
        bool used = false;
        for (int o = 1; o <= SHIFTS; o++) used |= w->pictures[o][k] >= rule->least;
        if (used) any[n++] = k;
    }
    for (int d = 0; d < rule->draws; d++) {
        spot_rng a = spot_rng_at(rule->seed, SPOT_RNG_BOOTSTRAP, 0x53480000, (uint32_t)d);
        spot_rng b = spot_rng_at(rule->seed, SPOT_RNG_BOOTSTRAP, 0x53480001, (uint32_t)d);
        int drawn_class[CLASSES], used = 0;
        double sum = 0;
        for (int i = 0; i < n; i++) {
            const int k = any[spot_rng_below(&a, (uint32_t)n)];
            if (w->pictures[s][k] >= rule->least) drawn_class[used++] = k;
        }
        if (!used) continue;
        for (int i = 0; i < MODELS; i++) {
            const int m = (int)spot_rng_below(&b, MODELS);
            for (int j = 0; j < used; j++) {
                const int k = drawn_class[j];
                sum += (double)w->right[0][m * CLASSES + k] / w->pictures[0][k];
                sum -= (double)w->right[s][m * CLASSES + k] / w->pictures[s][k];
            }
        }
        drawn[have++] = sum / used / MODELS;
    }
    for (int i = 1; i < have; i++)
        for (int j = i; j && drawn[j] < drawn[j - 1]; j--) {
            const double t = drawn[j];
            drawn[j] = drawn[j - 1], drawn[j - 1] = t;
        }
    *low = spot_quantile(drawn, have, 0.025), *high = spot_quantile(drawn, have, 0.975);
}

TEST(the_interval_is_that_of_brute_force)
{
    spot_ctx c = check_ctx(2), one = check_ctx(1);
    spot_shift_rule rule = spot_shift_rule_defaults();
    spot_shift_estimates e, f;
    double low, high;
    wave_table w;

    fill_waves(&w);
    rule.draws = 400;
    CHECK_OK(&c, spot_shift_evaluate(&c, &e, &w.t, &rule));
    CHECK_OK(&one, spot_shift_evaluate(&one, &f, &w.t, &rule));
    for (int s = 0; s < SHIFTS; s++) {
        brute_interval(&w, s + 1, &rule, &low, &high);
        CHECK_NEAR(e.shift[s].impact.low, low, 1e-12);
        CHECK_NEAR(e.shift[s].impact.high, high, 1e-12);
        assert_memory_equal(&e.shift[s].slope, &f.shift[s].slope, sizeof e.shift[s].slope);
    }
    assert_memory_equal(e.between, f.between, 3 * sizeof *e.between);
    spot_shift_estimates_close(&e);
    spot_shift_estimates_close(&f);
}

TEST(quantiles_and_shares_are_those_of_numpy_and_statsmodels)
{
    const double v[] = { 1, 2, 4, 8, 16 };
    const spot_interval none = spot_share_of(0, 10), some = spot_share_of(7, 10), all = spot_share_of(10, 10);

    CHECK_NEAR(spot_quantile(v, 5, 0.2), 1.8, 1e-15);          /* np.percentile(v, 20) */
    CHECK_NEAR(spot_quantile(v, 5, 0.975), 15.2, 1e-14);
    CHECK_NEAR(spot_quantile(v, 5, 1), 16, 0);
    CHECK_NEAR(spot_quantile(v, 1, 0.2), 1, 0);
    CHECK_NEAR(spot_binomial_tail(8, 10, 0.5), 56 / 1024.0, 1e-14);
    CHECK_NEAR(spot_binomial_tail(40, 1000, 0.03) / 0.04373437893478382, 1, 1e-11);    /* scipy: binom.sf(39, 1000, 0.03) */
    assert_true(spot_binomial_tail(0, 10, 0.1) >= 1 && spot_binomial_tail(11, 10, 0.1) <= 0);
    assert_true(isnan(spot_quantile(v, 0, 0.2)) && isnan(spot_share_of(0, 0).value));
    CHECK_NEAR(none.high, 0.27753279, 1e-8);                   /* proportion_confint(k, 10, method="wilson") */
    CHECK_NEAR(some.low, 0.39677815, 1e-8);
    CHECK_NEAR(some.high, 0.89220873, 1e-8);
    CHECK_NEAR(all.low, 0.72246720, 1e-8);
    assert_true(none.low == 0 && all.high == 1);
}

/* ---- truth ---- */

enum { MANY = 25, FORTY = 40, EACH = 40 };

/* A world in which a shift has slope b: the skill of model m is u, the ease of class k is e; base u + e, shift a + b u + e + a
 * term of class and shift. Counts are binomial. Returns the slope that infinitely many pictures of these classes would give. */
static void simulate(int *pictures, int *right, double a, double b, uint32_t world, bool shifted)
{
    spot_rng skill = spot_rng_at(9, SPOT_RNG_EC, world, 0), ease = spot_rng_at(9, SPOT_RNG_EC, world, 1);
    spot_rng own = spot_rng_at(9, SPOT_RNG_EC, world, shifted ? 2 : 3), coin = spot_rng_at(9, SPOT_RNG_EC, world, 4 + shifted);
    double u[MANY], e[FORTY], o[FORTY];

    for (int m = 0; m < MANY; m++) u[m] = 0.45 + 0.35 * spot_rng_uniform(&skill);
    for (int k = 0; k < FORTY; k++) e[k] = 0.2 * (spot_rng_uniform(&ease) - 0.5), o[k] = 0.1 * (spot_rng_uniform(&own) - 0.5);
    for (int k = 0; k < FORTY; k++) pictures[k] = EACH;
    for (int m = 0; m < MANY; m++)
        for (int k = 0; k < FORTY; k++) {
            const double p = (shifted ? a + b * u[m] + o[k] : u[m]) + e[k];
            int hits = 0;
            for (int i = 0; i < EACH; i++) hits += spot_rng_uniform(&coin) < p;
            right[m * FORTY + k] = hits;
        }
}

/* In 200 simulated sets, the 95 % intervals hold the planted impact and slope 90 % of the time or more: stated in the page. */
TEST(intervals_hold_planted_impact_and_slope)
{
    static int pictures[2][FORTY], right[2][MANY * FORTY];
    const int worlds = SANITIZED ? 20 : 200;
    const double slope = 0.6, impact = 0.625 - (0.1 + slope * 0.625);
    spot_ctx c = check_ctx(2);
    spot_shift_rule rule = spot_shift_rule_defaults();
    double mean = 0;
    int slopes = 0, impacts = 0;

    rule.draws = 200;
    for (int i = 0; i < worlds; i++) {
        const spot_shift_tally base = { pictures[0], right[0] }, shift = { pictures[1], right[1] };
        const spot_shift_table t = { FORTY, MANY, 1, 0, base, &shift, NULL, NULL };
        spot_shift_estimates e;
        simulate(pictures[0], right[0], 0, 1, (uint32_t)i, false);
        simulate(pictures[1], right[1], 0.1, slope, (uint32_t)i, true);
        CHECK_OK(&c, spot_shift_evaluate(&c, &e, &t, &rule));
        mean += e.shift->slope.value / worlds;
        slopes += e.shift->slope.low <= slope && slope <= e.shift->slope.high;
        impacts += e.shift->impact.low <= impact && impact <= e.shift->impact.high;
        spot_shift_estimates_close(&e);
    }
    printf("of %d intervals, %d hold the slope and %d the impact; mean slope %.4f, planted %.4f\n", worlds, slopes, impacts,
           mean, slope);
    CHECK_NEAR(mean, slope, 0.02);
    if (!SANITIZED) assert_true(slopes >= 0.9 * worlds && impacts >= 0.9 * worlds);    /* 20 worlds are few for a share */
}

/* ---- edges ---- */

TEST(shifts_without_classes_and_models_without_spread)
{
    const int none[2] = { 0, 4 }, some[2] = { 10, 10 }, right[4] = { 5, 5, 5, 5 }, few[4] = { 0, 1, 0, 2 };
    const spot_shift_tally base = { some, right }, shifts[2] = { { none, few }, { some, right } };
    const spot_shift_table t = { 2, 2, 2, 0, base, shifts, NULL, NULL };
    const int over[4] = { 11, 5, 5, 5 };
    spot_ctx c = check_ctx(1);
    spot_shift_rule rule = spot_shift_rule_defaults();
    spot_shift_table bad = t;
    spot_shift_estimates e;

    CHECK_OK(&c, spot_shift_evaluate(&c, &e, &t, &rule));
    assert_true(e.shift[0].used == 0 && e.shift[0].lost == 1 && e.shift[0].few == 1 && isnan(e.shift[0].impact.value));
    assert_true(e.shift[1].used == 2 && e.shift[1].impact.value == 0 && isnan(e.shift[1].slope.value));
    assert_true(isnan(e.between[0].slope_p) && isnan(e.shift[0].base[0]));
    spot_shift_estimates_close(&e);
    bad.base.right = over;
    CHECK_FAILS(&c, spot_shift_evaluate(&c, &e, &bad, &rule), SPOT_INVALID, "shift.counts: 11 | 10");
    rule.least = 0;
    CHECK_FAILS(&c, spot_shift_evaluate(&c, &e, &t, &rule), SPOT_INVALID, "shift.sizes");
}
