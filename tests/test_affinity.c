/* The perplexity search beside one that tries every beta: the same bits, wherever it begins. */
#include "checks.h"

#include <math.h>
#include <string.h>

#include "core/philox.h"
#include "map/affinity_step.h"
#include "spotter/rng.h"

enum { MOST = 700, LANES = 16 };

static float distance[MOST], got[MOST], want[MOST];

/* The plain bisection. Returns how many betas it tried. */
static int search_plainly(int k, const spot_affinity_rule *rule)
{
    spot_affinity_beta b = { 1, 0, INFINITY };
    float least = SPOT_FAR;

    for (int j = 0; j < k; j++) least = fminf(least, distance[j]);
    for (int try = 1;; try++) {
        float s[LANES] = { 0 }, t[LANES] = { 0 }, sum, dot;
        for (int j = 0; j < k; j++) {
            float x = distance[j] - least;
            want[j] = spot_expf(-(float)b.beta * x);
            s[j % LANES] += want[j];
            t[j % LANES] = fmaf(x, want[j], t[j % LANES]);
        }
        sum = spot_fold(s), dot = spot_fold(t);
        double over = spot_philox_log(sum) + b.beta * dot / sum - rule->entropy;
        if (fabs(over) <= rule->tolerance || try >= rule->tries) {
            for (int j = 0; j < k; j++) want[j] = distance[j] < SPOT_FAR ? want[j] / sum : 0;
            return try;
        }
        spot_affinity_bisect(&b, over);
    }
}

/* Distances of `kind`: 0 of many dimensions, 1 spread over decades, 2 two sets, 3 all equal but one, 4 two values. */
static void fill(int k, int kind, uint32_t number)
{
    spot_rng r = spot_rng_at(7, SPOT_RNG_PCA, number, (uint32_t)kind);

    for (int j = 0; j < k; j++) {
        double z = spot_rng_normal(&r), u = spot_rng_uniform(&r);
        distance[j] = (float)(kind == 0 ? 30 + 3 * z : kind == 1 ? exp(4 * z) : kind == 2 ? (j % 9 ? 500 + 9 * u : 2 + u)
                              : kind == 3 ? (j ? 4 : 3) : u < 0.3 ? 1 : 2);
        distance[j] = fmaxf(distance[j], 0);
    }
    if (number % 2) distance[k / 2] = SPOT_FAR;
}

TEST(skipped_tries_change_no_bit)
{
    const int sizes[] = { 2, 15, 16, 91, 512, MOST };
    const double perplexities[] = { 1.5, 10, 27.7, 300 }, tolerances[] = { 1e-3, 1e-4, 1e-5 };
    double guess = 1;

    for (uint32_t number = 0; number < 6 * 5 * 4 * 3 * 4; number++) {
        int k = sizes[number % 6], kind = (int)(number / 6 % 5);
        double perplexity = perplexities[number / 30 % 4];
        spot_affinity_rule rule = { log(perplexity), tolerances[number / 120 % 3], number % 7 ? 51 : 6 };

        fill(k, kind, number);
        search_plainly(k, &rule);
        for (int again = 0; again < 2; again++) {      /* from the last row's beta, then from this row's own */
            spot_affinity_row(got, distance, k, &rule, &guess);
            assert_memory_equal(got, want, (size_t)k * sizeof *want);
            assert_true(isfinite(guess) && guess > 0);
        }
    }
}
