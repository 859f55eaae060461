/* test_information.c - mutual information against scikit-learn with its noise and against a naive count; bits for threads and
 * batches. ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "golden_file.h"
#include "fit/information.h"
#include "spotter/rng.h"

static void mutual(spot_ctx *c, int problems, const spot_information_problem *p)
{
    int n = 1, d = 1;
    spot_arena a;

    for (int q = 0; q < problems; q++) {
        if (p[q].n > n) n = p[q].n;
        if (p[q].d > d) d = p[q].d;
    }
    CHECK_OK(c, spot_arena_open(c, &a, spot_information_scratch(problems, n, d, c->threads)));
    CHECK_OK(c, spot_information_mutual(c, &a, problems, p));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
}

TEST(agrees_with_scikit_learn)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/information.bin", "rb");
    int cases, size[2];
    assert_non_null(f);
    get(f, &cases, sizeof cases);
    assert_true(cases >= 5);
    for (int k = 0; k < cases; k++) {
        get(f, size, sizeof size);
        size_t n = (size_t)size[0], d = (size_t)size[1];
        float *x = malloc(n * d * sizeof *x);
        uint8_t *y = malloc(n);
        double *noise = malloc(n * d * sizeof *noise), *want = malloc(d * sizeof *want), *got = malloc(d * sizeof *got);
        spot_information_problem p = { .n = size[0], .d = size[1], .x = x, .y = y, .noise = noise, .information = got };
        get(f, x, n * d * sizeof *x);
        get(f, y, n);
        get(f, noise, n * d * sizeof *noise);
        get(f, want, d * sizeof *want);
        mutual(&c, 1, &p);
        for (int j = 0; j < size[1]; j++) CHECK_NEAR(got[j], want[j], 1e-8);
        free(x), free(y), free(noise), free(want), free(got);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* psi(n) = H(n-1) - gamma, by a sum of its own. */
static double psi(int n)
{
    double sum = 0;

    for (int i = n - 1; i >= 1; i--) sum += 1.0 / i;
    return sum - 0.57721566490153286;
}

static int by_value(const void *a, const void *b)
{
    return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

/* Every pair of rows: no sorted lists, no windows. */
static double naive(int n, const double *v, const uint8_t *y)
{
    double *off = malloc((size_t)n * sizeof *off), sum = 0, total;
    int count[2] = { 0 }, all = 0;

    for (int i = 0; i < n; i++) count[y[i]]++;
    for (int i = 0; i < n; i++) {
        int own = count[y[i]], k = own - 1 < 3 ? own - 1 : 3, m = 0, others = 0;
        if (own < 2) continue;
        for (int j = 0; j < n; j++)
            if (j != i && y[j] == y[i]) off[others++] = fabs(v[i] - v[j]);
        qsort(off, (size_t)others, sizeof *off, by_value);
        for (int j = 0; j < n; j++)
            if (count[y[j]] > 1) m += fabs(v[i] - v[j]) <= nextafter(off[k - 1], 0);
        sum += psi(k) - psi(own) - psi(m);
        all++;
    }
    free(off);
    total = all ? psi(all) + sum / all : 0;
    return total > 0 ? total : 0;
}

/* Ties kept: a noise of zeros. */
TEST(agrees_with_every_pair)
{
    enum { N = 120, D = 6 };
    spot_ctx c = check_ctx(2);
    for (uint32_t seed = 0; seed < 12; seed++) {
        spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);
        float x[N * D];
        double noise[N * D] = { 0 }, v[N], got[D];
        uint8_t y[N];
        int n = seed < 4 ? 2 + (int)seed * 3 : N;
        spot_information_problem p = { .n = n, .d = D, .x = x, .y = y, .noise = noise, .information = got };
        for (int i = 0; i < n; i++) {
            y[i] = seed == 11 ? i == 5 : spot_rng_below(&r, 4) == 0;
            for (int j = 0; j < D; j++) x[i * D + j] = (float)(spot_rng_between(&r, 0, 1 << (2 * j)) + y[i]) - 7;
        }
        mutual(&c, 1, &p);
        for (int j = 0; j < D; j++) {
            double mean = 0, square = 0;
            int same = 1;
            for (int i = 0; i < n; i++) mean += x[i * D + j];
            mean /= n;
            for (int i = 0; i < n; i++) square += (x[i * D + j] - mean) * (x[i * D + j] - mean);
            for (int i = 0; i < n; i++) v[i] = x[i * D + j] / sqrt(square / n), same &= x[i * D + j] == x[j];
            CHECK_NEAR(got[j], same ? 0 : naive(n, v, y), 1e-12);
        }
    }
}

/* Features of nothing, of the outcome, and of half of it, with noise from the addresses. */
TEST(says_what_a_feature_says)
{
    enum { N = 2000, D = 4 };
    static float x[N * D];
    static uint8_t y[N];
    double got[D], again[D];
    spot_ctx c = check_ctx(2);
    spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, 0);
    spot_information_problem p = { .n = N, .d = D, .x = x, .y = y, .seed = { 5, 1 }, .information = got };
    for (int i = 0; i < N; i++) {
        y[i] = i % 2;
        x[i * D] = (float)spot_rng_normal(&r);
        x[i * D + 1] = y[i];
        x[i * D + 2] = i % 4 < 2 ? y[i] : 0.5f;
        x[i * D + 3] = 3;
    }
    mutual(&c, 1, &p);
    assert_true(got[0] < 0.05);
    CHECK_NEAR(got[1], log(2), 0.01);
    CHECK_NEAR(got[2], log(2) / 2, 0.03);
    assert_true(got[3] == 0);
    p.seed.seed = 6;
    p.information = again;
    mutual(&c, 1, &p);
    assert_true(got[2] != again[2]);
    CHECK_NEAR(got[2], again[2], 0.03);
}

/* Noise that is drawn has the bits of the generator's numbers, of every row and feature. */
TEST(noise_has_addresses)
{
    enum { N = 300, D = 3 };
    static float x[N * D];
    static double z[N * D];
    uint8_t y[N];
    double drawn[D], given[D];
    spot_ctx c = check_ctx(1);
    spot_information_problem p = { .n = N, .d = D, .x = x, .y = y, .seed = { 11, 4 }, .information = drawn };
    for (int j = 0; j < D; j++) {
        spot_rng r = spot_rng_at(11, SPOT_RNG_INFORMATION, 4, (uint32_t)j);
        for (int i = 0; i < N; i++) z[i * D + j] = spot_rng_normal(&r);
    }
    for (int i = 0; i < N; i++) {      /* few values, so that the noise says nearly everything */
        y[i] = i % 3 == 0;
        for (int j = 0; j < D; j++) x[i * D + j] = i % 3 < 2 ? (float)((i / 3 + j) % 2) : 2;
    }
    mutual(&c, 1, &p);
    p.noise = z;
    p.information = given;
    mutual(&c, 1, &p);
    assert_true(drawn[0] > 0.1 && drawn[0] != drawn[1]);
    assert_memory_equal(drawn, given, sizeof drawn);
}

/* One outcome, one row of an outcome, one row: nothing to say, and no NaN. */
TEST(little_to_ask)
{
    spot_ctx c = check_ctx(1);
    float x[] = { 1, 2, 3, 4, 5, 6 };
    uint8_t none[3] = { 0 }, one[] = { 0, 1, 0 };
    double got[2] = { 9, 9 };
    spot_information_problem p = { .n = 3, .d = 2, .x = x, .y = none, .information = got };
    mutual(&c, 1, &p);
    assert_true(got[0] == 0 && got[1] == 0);
    got[0] = got[1] = 9;
    p.y = one;
    mutual(&c, 1, &p);
    assert_true(got[0] == 0 && got[1] == 0);
    got[0] = got[1] = 9;
    for (p.n = 1; p.n <= 2; p.n++) {
        mutual(&c, 1, &p);
        assert_true(got[0] == 0 && got[1] == 0);
    }
    p.n = 0;
    CHECK_FAILS(&c, spot_information_mutual(&c, NULL, 1, &p), SPOT_INVALID, "information.sizes: 0 | 2");
}

TEST(bits_depend_on_neither_threads_nor_batch)
{
    enum { N = 300, D = 37, PROBLEMS = 3 };
    static float x[N * D];
    static uint8_t y[N];
    double alone[PROBLEMS][D], batch[PROBLEMS][D];
    spot_information_problem p[PROBLEMS];
    spot_rng r = spot_rng_at(2, SPOT_RNG_BOOTSTRAP, 0, 0);
    spot_ctx one = check_ctx(1);
    for (int i = 0; i < N; i++) {
        y[i] = spot_rng_below(&r, 3) == 0;
        for (int j = 0; j < D; j++) x[i * D + j] = fmaxf(0, (float)spot_rng_normal(&r) + (float)(y[i] * j) / D);
    }
    for (int q = 0; q < PROBLEMS; q++) {
        p[q] = (spot_information_problem){ .n = N - 100 * q, .d = D, .x = x, .y = y, .seed = { 1, (uint32_t)q },
                                           .information = alone[q] };
        mutual(&one, 1, &p[q]);
        p[q].information = batch[q];
    }
    for (int threads = 1; threads <= 3; threads++) {
        spot_ctx c = check_ctx(threads);
        memset(batch, 0, sizeof batch);
        mutual(&c, PROBLEMS, p);
        assert_memory_equal(batch, alone, sizeof batch);
    }
}
