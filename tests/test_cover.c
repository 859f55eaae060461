/* test_cover.c - density, coverage, precision and recall against the package prdc (tools/golden/cover.py), the chance of
 * equal distributions against its formula, intervals on worlds whose numbers are known, and pictures that are alike.
 * ctest: both */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "golden_text.h"
#include "stats/cover.h"

static float *waves(int n, int d, double a, double b, float scale, float shift)
{
    float *v = malloc((size_t)n * (size_t)d * sizeof *v);

    for (int i = 0; i < n * d; i++) v[i] = scale * golden_wave(i, a, b) + shift;
    return v;
}

static spot_cover_draws *cover(float *real, int n, float *made, int m, int d, uint32_t unit)
{
    spot_ctx c = check_ctx(1);
    spot_cover_draws *v = malloc(sizeof *v);

    CHECK_OK(&c, spot_cover_of(&c, v, (spot_mat){ real, n, d }, (spot_mat){ made, m, d }, unit));
    return v;
}

TEST(numbers_are_those_of_prdc)
{
    enum { CASES = 5, EACH = 7 };
    double gold[CASES * EACH];

    assert_int_equal(golden_numbers("golden/cover.txt", gold, LEN(gold)), LEN(gold));
    for (int k = 0; k < CASES; k++) {
        const double *g = gold + k * EACH;
        const int n = (int)g[0], m = (int)g[1], d = (int)g[2];
        float *real = waves(n, d, 3, 0.01, 1, 0), *made = waves(m, d, 5, 0.02, 0.75f, 0.25f);
        spot_cover_draws *v = cover(real, n, made, m, d, 0);
        for (int i = 0; i < SPOT_COVER_NUMBERS; i++) CHECK_NEAR(v->value[i], g[3 + i], 1e-12);
        free(real), free(made), free(v);
    }
}

static float *gaussian(spot_rng *r, int n, int d, float shift)
{
    float *v = malloc((size_t)n * (size_t)d * sizeof *v);

    for (int i = 0; i < n * d; i++) v[i] = (float)spot_rng_normal(r) + (i % d ? 0 : shift);
    return v;
}

/* Naeem et al., lemma 2: of m and n pictures of one distribution, 1 - (n - 1) ... (n - k) / (m + n - 1) ... (m + n - k). */
static double coverage_of_equals(int n, int m)
{
    double left = 1;

    for (int k = 1; k <= SPOT_COVER_K; k++) left *= (double)(n - k) / (m + n - k);
    return 1 - left;
}

/* The chance of a class has the expected coverage of as many pictures in that ratio, and a density of 1. */
TEST(chance_is_that_of_equal_distributions)
{
    enum { WORLDS = 60, D = 6 };
    static const struct { int n, m; } size[] = { { 40, 40 }, { 60, 20 }, { 20, 60 } };
    spot_rng r = spot_rng_at(7, SPOT_RNG_NOISE_TEST, 0, 0);

    for (int k = 0; k < LEN(size); k++) {
        const int n = size[k].n, m = size[k].m, part = (int)lround((double)n * n / (n + m)) < 6 ? 6 : n * n / (n + m);
        double density = 0, coverage = 0;
        for (int i = 0; i < WORLDS; i++) {
            float *real = gaussian(&r, n, D, 0), *made = gaussian(&r, m, D, 0);
            spot_cover_draws *v = cover(real, n, made, m, D, (uint32_t)i);
            density += v->chance[SPOT_COVER_DENSITY] / WORLDS, coverage += v->chance[SPOT_COVER_COVERAGE] / WORLDS;
            free(real), free(made), free(v);
        }
        printf("%d, %d: density %.3f, coverage %.3f, by the formula %.3f\n", n, m, density, coverage,
               coverage_of_equals(part, n - part));
        CHECK_NEAR(density, 1, 0.03);
        CHECK_NEAR(coverage, coverage_of_equals(part, n - part), 0.015);
    }
}

/* The interval of a world of four classes holds the mean over all worlds as often as it says. */
TEST(intervals_hold_what_they_say)
{
    enum { WORLDS = 100, CLASSES = 4, D = 8, N = 40, M = 24 };
    spot_rng r = spot_rng_at(8, SPOT_RNG_NOISE_TEST, 0, 0);
    spot_interval v[WORLDS][SPOT_COVER_NUMBERS];
    spot_cover_draws *of = malloc(CLASSES * sizeof *of);

    for (int w = 0; w < WORLDS; w++) {
        for (int k = 0; k < CLASSES; k++) {
            float *real = gaussian(&r, N, D, 0), *made = gaussian(&r, M, D, 1.5f);
            spot_cover_draws *one = cover(real, N, made, M, D, (uint32_t)k);
            of[k] = *one;
            free(real), free(made), free(one);
        }
        for (int i = 0; i < SPOT_COVER_NUMBERS; i++) v[w][i] = spot_cover_mean(of, CLASSES, (spot_cover_number)i);
    }
    for (int i = 0; i < SPOT_COVER_NUMBERS; i++) {
        double mean = 0, width = 0;
        int held = 0;
        for (int w = 0; w < WORLDS; w++) mean += v[w][i].value / WORLDS, width += (v[w][i].high - v[w][i].low) / WORLDS;
        for (int w = 0; w < WORLDS; w++) held += v[w][i].low <= mean && mean <= v[w][i].high;
        printf("number %d: mean %.3f, width %.3f, held %d of %d\n", i, mean, width, held, (int)WORLDS);
        assert_true(held >= 90 && width < 0.4);
    }
    free(of);
}

/* All pictures equal: nothing lies within a ball of no size. As many as a few, or of another width: refused. */
TEST(odd_pictures)
{
    enum { N = 20, D = 3 };
    float real[N * D] = { 0 }, made[N * D] = { 0 };
    spot_ctx c = check_ctx(1);
    spot_cover_draws *v = cover(real, N, made, N, D, 0);

    for (int i = 0; i < SPOT_COVER_NUMBERS; i++) assert_true(v->value[i] == 0 && v->chance[i] == 0);
    assert_true(spot_cover_mean(v, 1, SPOT_COVER_COVERAGE).high > 0.1);
    CHECK_FAILS(&c, spot_cover_of(&c, v, (spot_mat){ real, 11, D }, (spot_mat){ made, N, D }, 0), SPOT_INVALID,
                "cover.sizes: 11 | 20");
    CHECK_FAILS(&c, spot_cover_of(&c, v, (spot_mat){ real, N, D }, (spot_mat){ made, N, 2 }, 0), SPOT_INVALID,
                "cover.sizes: 20 | 2");
    free(v);
}

/* More pictures than are taken: evenly, and the numbers are of those. */
TEST(of_many_pictures_some_are_taken)
{
    enum { N = 2 * SPOT_COVER_MOST, D = 2 };
    float *real = waves(N, D, 3, 0.01, 1, 0), *made = waves(12, D, 5, 0.02, 1, 0), *half = malloc(N / 2 * D * sizeof *half);
    spot_cover_draws *v, *w;

    for (int i = 0; i < N / 2; i++) half[D * i] = real[2 * D * i], half[D * i + 1] = real[2 * D * i + 1];
    v = cover(real, N, made, 12, D, 0), w = cover(half, N / 2, made, 12, D, 0);
    assert_int_equal(v->real, SPOT_COVER_MOST);
    assert_memory_equal(v, w, sizeof *v);
    free(real), free(made), free(half), free(v), free(w);
}
