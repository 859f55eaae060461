/* spot_gatekeep against the procedure step by step, and the familywise error of dependent tests.
 * ctest: both */
#include "checks.h"

#include <math.h>

#include "stats/gatekeeping.h"
#include "spotter/rng.h"

enum { MOST = 24, GATES = 4 };

/* Holm in a level at what it has; a level that is rejected whole, or is empty, passes on what it has. */
static void step_by_step(bool *rejected, const double *p, const spot_gate *gate, int gates, double level)
{
    double have = 0, behind = 0;
    int last = -1;

    for (int g = 0; g < gates; g++)
        if (gate[g].n) last = g;
    for (int g = last + 1; g < gates; g++) behind += gate[g].share;
    for (int g = 0, first = 0; g < gates; first += gate[g++].n) {
        int left = gate[g].n;
        have += level * (gate[g].share + (g == last ? behind : 0));
        for (bool more = true; more && left;) {
            int least = -1;
            for (int i = first; i < first + gate[g].n; i++)
                if (!rejected[i] && (least < 0 || p[i] < p[least])) least = i;
            more = p[least] * left <= have;
            if (more) rejected[least] = true, left--;
        }
        if (left) have = 0;
    }
}

TEST(corrected_p_reject_what_the_steps_reject)
{
    for (uint32_t t = 0; t < 4000; t++) {
        spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 0, t);
        spot_gate gate[GATES];
        spot_ranked_p scratch[MOST];
        double p[MOST], corrected[MOST], at[MOST], sum = 0;
        bool rejected[MOST] = { false };
        const double level = 0.01 + 0.2 * spot_rng_uniform(&r);
        int n = 0;

        for (int g = 0; g < GATES; g++) {
            gate[g] = (spot_gate){ (int)spot_rng_below(&r, 6), 0.05 + spot_rng_uniform(&r) };
            sum += gate[g].share;
            n += gate[g].n;
        }
        for (int g = 0; g < GATES; g++) gate[g].share /= sum;
        for (int i = 0; i < n; i++) p[i] = corrected[i] = pow(spot_rng_uniform(&r), 4);
        spot_gatekeep(corrected, at, gate, GATES, level, scratch);
        step_by_step(rejected, p, gate, GATES, level);
        for (int i = 0; i < n; i++) {
            if (fabs(corrected[i] - level) < 1e-9 * level) continue;
            assert_int_equal(corrected[i] <= level, rejected[i]);
            if (at[i] > 0 && fabs(p[i] - at[i]) > 1e-12) assert_int_equal(p[i] <= at[i], rejected[i]);
            assert_true(corrected[i] >= p[i] * (1 - 1e-12) && corrected[i] <= 1);
        }
    }
}

TEST(one_level_is_holm)
{
    const spot_gate gate[] = { { 0, 0.3 }, { 3, 0.5 }, { 0, 0.2 } };
    double p[] = { 0.04, 0.01, 0.02 };
    spot_ranked_p scratch[3];

    spot_gatekeep(p, NULL, gate, LEN(gate), 0.05, scratch);
    CHECK_NEAR(p[0], 0.04, 1e-12);
    CHECK_NEAR(p[1], 0.03, 1e-12);
    CHECK_NEAR(p[2], 0.04, 1e-12);
}

/* Levels whose first is rejected often and truly: no true hypothesis is rejected in more than the level of trials. */
TEST(the_familywise_error_is_kept)
{
    const spot_gate gate[] = { { 1, 0.2 }, { 2, 0.3 }, { 4, 0.5 } };
    int wrong = 0;

    for (uint32_t t = 0; t < 20000; t++) {
        spot_rng r = spot_rng_at(4, SPOT_RNG_BOOTSTRAP, 0, t);
        const double common = spot_rng_normal(&r);
        spot_ranked_p scratch[7];
        double p[7];
        bool is_wrong = false;

        for (int i = 0; i < 7; i++)            /* 0 and 1 are false hypotheses; the others are true, and depend on each other */
            p[i] = spot_normal_tail((i < 2 ? 4 : 0) + sqrt(0.5) * common + sqrt(0.5) * spot_rng_normal(&r));
        spot_gatekeep(p, NULL, gate, LEN(gate), 0.05, scratch);
        for (int i = 2; i < 7; i++) is_wrong |= p[i] <= 0.05;
        wrong += is_wrong;
    }
    if (wrong > 0.055 * 20000) fail_msg("%d of 20000 trials reject a true hypothesis", wrong);
}
