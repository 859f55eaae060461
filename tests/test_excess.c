/* test_excess.c - the 95 % interval of a slice's error rate less that of its classes: by hand within one class; how often it
 * holds the truth, within one class and over several. */
#include "checks.h"

#include <math.h>

#include "stats/statistics.h"
#include "spotter/rng.h"

TEST(one_class_is_the_difference_to_the_others)
{
    const spot_interval x = spot_share_excess(9, 10, 12, 20, 6), none = spot_share_excess(0, 0, 5, 10, 0),
                        whole = spot_share_excess(5, 10, 5, 10, 5);

    CHECK_NEAR(x.value, 0.3, 1e-12);                     /* half of 9/10 - 3/10, whose interval is Newcombe's (test_proof.c) */
    CHECK_NEAR(x.low, 0.1705 / 2, 3e-5);
    CHECK_NEAR(x.high, 0.8090 / 2, 3e-5);
    assert_true(isnan(none.value) && isnan(none.low) && isnan(none.high));
    assert_true(whole.value == 0 && whole.low == 0 && whole.high == 0);
}

typedef struct { int in, out; double inside, outside; } stratum;       /* rows of the slice and others; their error rates */

/* How often the interval holds the difference of the true rates, and its mean width. */
static double coverage(const stratum *s, int strata, uint32_t number, double *width)
{
    enum { WORLDS = 4000 };
    spot_rng r = spot_rng_at(31, SPOT_RNG_BOOTSTRAP, 9, number);
    int held = 0;

    *width = 0;
    for (int w = 0; w < WORLDS; w++) {
        int wrong = 0, rows = 0, all_wrong = 0, all = 0;
        double base = 0, truth = 0;
        for (int k = 0; k < strata; k++) {
            const int n = s[k].in + s[k].out;
            int own = 0, other = 0;
            for (int i = 0; i < s[k].in; i++) own += spot_rng_uniform(&r) < s[k].inside;
            for (int i = 0; i < s[k].out; i++) other += spot_rng_uniform(&r) < s[k].outside;
            wrong += own, rows += s[k].in, all_wrong += own + other, all += n;
            base += (double)s[k].in * (own + other) / n;
            truth += s[k].in * (s[k].inside - (s[k].in * s[k].inside + s[k].out * s[k].outside) / n);
        }
        const spot_interval x = spot_share_excess(wrong, rows, all_wrong, all, base);
        held += x.low <= truth / rows && truth / rows <= x.high;
        *width += (x.high - x.low) / WORLDS;
    }
    return (double)held / WORLDS;
}

/* 4,000 worlds at 95 %: below 93.5 % has a probability below 0.0001. */
TEST(intervals_hold_the_truth)
{
    static const struct { int strata; stratum s[4]; } cases[] = {
        { 1, { { 40, 400, 0.5, 0.1 } } }, { 1, { { 15, 60, 0.8, 0.4 } } }, { 1, { { 200, 100, 0.3, 0.2 } } },
        { 3, { { 30, 300, 0.5, 0.1 }, { 10, 200, 0.4, 0.3 }, { 20, 100, 0.9, 0.5 } } },
        { 2, { { 80, 20, 0.6, 0.5 }, { 5, 900, 0.3, 0.02 } } },                 /* most of one class, little of another */
        { 4, { { 12, 90, 0.2, 0.1 }, { 12, 90, 0.9, 0.8 }, { 12, 90, 0.5, 0.4 }, { 12, 90, 0.1, 0.02 } } },
    };

    for (int i = 0; i < LEN(cases); i++) {
        double width, share = coverage(cases[i].s, cases[i].strata, (uint32_t)i, &width);
        print_message("case %d, %d classes: %.1f %% hold the truth, mean width %.3f\n", i, cases[i].strata, 100 * share, width);
        assert_true(share >= 0.935);
    }
}
