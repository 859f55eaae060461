/* test_variance.c - variance matrices and their features against numpy (tools/golden/variance.py); limits of the matrices, and
 * the binned method against the exact one. test_cuda_rbf.c compares with the definition, on every device. ctest: both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "golden_text.h"
#include "map/rbf.h"
#include "noise.h"
#include "spotter/verdict.h"

typedef struct {
    int targets, images, signals, grid;
    float *distance, *signal, *value;
    int *count, left_out[SPOT_RBF_REASONS];
} model;

static model model_of(int targets, int images, int signals, int grid)
{
    size_t n = (size_t)targets * (size_t)images, cells = (size_t)grid * (size_t)grid;
    model m = { .targets = targets, .images = images, .signals = signals, .grid = grid };

    m.distance = malloc(n * sizeof *m.distance);
    m.signal = malloc((size_t)signals * n * sizeof *m.signal);
    m.value = malloc((size_t)signals * cells * sizeof *m.value);
    m.count = malloc(cells * sizeof *m.count);
    return m;
}

static void free_model(model *m) { free(m->distance), free(m->signal), free(m->value), free(m->count); }

static void compute(model *m, spot_rbf_config cfg, float range)
{
    spot_ctx c = check_ctx(2);
    spot_rbf_problem p = { m->targets, m->images, m->signals, range, m->distance, m->signal, m->value, m->count, m->left_out };
    spot_arena a;

    CHECK_OK(&c, spot_arena_open(&c, &a, spot_rbf_scratch(&cfg, 1, &p, c.threads)));
    CHECK_OK(&c, spot_rbf_matrices(&c, &a, &cfg, 1, &p));
    spot_arena_close(&a);
}

/* Distances from 0 to 1, responses that fall with them, and noise. */
static model random_model(int targets, int images, int grid)
{
    model m = model_of(targets, images, 1, grid);
    spot_rng r = noise_at(7, targets);

    for (int i = 0; i < targets * images; i++) {
        m.distance[i] = i % images ? (float)spot_rng_uniform(&r) : 0;
        m.signal[i] = (float)(exp(-m.distance[i]) + 0.2 * spot_rng_uniform(&r));
    }
    return m;
}

static double greatest(const model *m)
{
    double most = 0;

    for (int e = 0; e < m->grid * m->grid; e++) most = fmax(most, (double)m->value[e]);
    return most;
}

enum { NUMBERS = 2000 };

TEST(matrices_are_numpys)
{
    static const spot_rbf_config settings[] = {
        { 13, 6, 8, 2, SPOT_RBF_EXACT }, { 13, 6, 8, 2, SPOT_RBF_BINNED }, { 9, 4, 32, 0.5f, SPOT_RBF_EXACT },
        { 10, 5, 3, 10, SPOT_RBF_EXACT },
    };
    static double golden[NUMBERS];
    const double *want = golden;
    assert_true(golden_numbers("golden/variance.txt", golden, NUMBERS) > 3 * 169 * 2);
    for (int q = 0; q < LEN(settings); q++) {
        model m = model_of(11, 7, 2, settings[q].grid);
        int cells = m.grid * m.grid;
        for (int i = 0; i < 77; i++) {
            m.distance[i] = golden_wave(i, 5, 0.002) > 0.9f ? NAN : i % 7 ? fabsf(golden_wave(i, 2, 0.003)) * 0.7f : 0;
            for (int s = 0; s < 2; s++) m.signal[77 * s + i] = golden_wave(i, 3 + s, 0.001);
        }
        compute(&m, settings[q], 0.6f);
        assert_true(m.left_out[SPOT_RBF_ABSENT] > 5 && m.left_out[SPOT_RBF_OUTSIDE] > 5 && !m.left_out[SPOT_RBF_UNUSABLE]);
        for (int e = 0; e < 2 * cells; e++) assert_true(fabs((double)m.value[e] - *want++) <= 1e-6);
        for (int e = 0; e < cells; e++) assert_int_equal(m.count[e], *want++);
        free_model(&m);
    }
}

/* Without a Gaussian's reach each cell has the nearest point's value; a diagonal cell has two, of equal value. */
TEST(a_small_sigma_leaves_the_nearest)
{
    model m = random_model(9, 6, 15);
    compute(&m, (spot_rbf_config){ 15, 6, 1, 0.001f, SPOT_RBF_EXACT }, 1);
    for (int e = 0; e < 15 * 15; e++) {
        double least = INFINITY, value = 0;
        for (int t = 0; t < 9; t++)
            for (int j = 6 * t; j < 6 * t + 6; j++)
                for (int k = 6 * t; k < 6 * t + 6; k++) {
                    double far = hypot(m.distance[j] * 15 - e / 15 - 0.5, m.distance[k] * 15 - e % 15 - 0.5);
                    if (j == k || far >= least) continue;
                    least = far;
                    value = fabs((double)m.signal[j] - (double)m.signal[k]);
                }
        assert_true(fabs((double)m.value[e] - value) <= 1e-6);
    }
    free_model(&m);
}

/* A window over everything and a wide Gaussian: the mean of all points, which is also u when all are asked for. */
TEST(a_large_sigma_is_the_mean_of_all)
{
    for (int method = 0; method < SPOT_RBF_METHODS; method++) {
        model m = random_model(4, 5, 6);
        double sum = 0;
        compute(&m, (spot_rbf_config){ 6, 40, 200, 1e6f, (spot_rbf_method)method }, 1);
        for (int i = 0; i < 20; i++)
            for (int k = 0; k < 5; k++) sum += fabs((double)m.signal[i] - (double)m.signal[i / 5 * 5 + k]) / 80;
        for (int e = 0; e < 36; e++) assert_true(m.count[e] == 80 && fabs((double)m.value[e] - sum) <= 1e-6);
        free_model(&m);
    }
}

TEST(binned_is_exact_on_rounded_distances)
{
    model m = random_model(40, 12, 32), rounded = random_model(40, 12, 32);
    for (int i = 0; i < 40 * 12; i++) rounded.distance[i] = (floorf(m.distance[i] * 32) + 0.5f) / 32;
    compute(&m, (spot_rbf_config){ 32, 9, 32, 3, SPOT_RBF_BINNED }, 1);
    compute(&rounded, (spot_rbf_config){ 32, 9, 32, 3, SPOT_RBF_EXACT }, 1);
    for (int e = 0; e < 32 * 32; e++) {
        assert_int_equal(m.count[e], rounded.count[e]);
        assert_true(fabs((double)m.value[e] - (double)rounded.value[e]) <= 1e-6);
    }
    free_model(&m), free_model(&rounded);
}

/* The numbers that rbf.h states. */
TEST(binned_is_near_exact)
{
    static const struct { int kernel; float sigma; double off; } at[] = {
        { 32, 10, 0.004 }, { 16, 5, 0.004 }, { 32, 2, 0.004 },
    };
    model m = random_model(SANITIZED ? 50 : 1712, 33, 128);
    float *exact = malloc(128 * 128 * sizeof *exact);
    for (int q = 0; q < LEN(at); q++) {
        double off = 0, most;
        compute(&m, (spot_rbf_config){ 128, at[q].kernel, 32, at[q].sigma, SPOT_RBF_EXACT }, 1);
        most = greatest(&m);
        memcpy(exact, m.value, 128 * 128 * sizeof *exact);
        compute(&m, (spot_rbf_config){ 128, at[q].kernel, 32, at[q].sigma, SPOT_RBF_BINNED }, 1);
        for (int e = 0; e < 128 * 128; e++) off = fmax(off, fabs((double)m.value[e] - (double)exact[e]) / most);
        if (getenv("SPOT_SHOW")) printf("binned, kernel %d, sigma %g: off by %.4f\n", at[q].kernel, (double)at[q].sigma, off);
        assert_true(off > 1e-5 && (SANITIZED || off <= at[q].off));
    }
    free(exact);
    free_model(&m);
}

/* Targets backwards, and each target's images, too. */
TEST(order_changes_nothing)
{
    for (int method = 0; method < SPOT_RBF_METHODS; method++) {
        spot_rbf_config cfg = { 20, 6, 5, 2, (spot_rbf_method)method };
        model m = random_model(50, 7, 20), back = random_model(50, 7, 20);
        for (int i = 0; i < 350; i++) {
            m.distance[i] = floorf(m.distance[i] * 30) / 30;                 /* many equal ones */
            back.distance[349 - i] = m.distance[i];
            back.signal[349 - i] = m.signal[i];
        }
        compute(&m, cfg, 1);
        compute(&back, cfg, 1);
        for (int e = 0; e < 400; e++)
            assert_true(m.count[e] == back.count[e] && fabs((double)m.value[e] - (double)back.value[e]) <= 1e-6);
        free_model(&m), free_model(&back);
    }
}

/* -- features ---------------------------------------------------------------------------------------------------------- */

TEST(features_are_numpys)
{
    static const struct { int grid; bool holes; } at[] = { { 12, false }, { 17, true }, { 3, false } };
    static double golden[NUMBERS];
    spot_ctx c = check_ctx(1);
    const double *want = golden + golden_numbers("golden/variance.txt", golden, NUMBERS) - LEN(at) * SPOT_VARIANCE_FEATURES;
    for (int q = 0; q < LEN(at); q++) {
        float value[17 * 17], part[17 * 17];
        double feature[SPOT_VARIANCE_FEATURES];
        for (int i = 0; i < at[q].grid * at[q].grid; i++) {
            value[i] = at[q].holes && golden_wave(i, 1.7, 0.001) > 0.6f ? NAN : fabsf(golden_wave(i, 0.37, 0.0005));
            part[i] = fabsf(golden_wave(i, 0.39, 0.0004));
        }
        CHECK_OK(&c, spot_variance_features(&c, feature, value, part, at[q].grid));
        for (int i = 0; i < SPOT_VARIANCE_FEATURES; i++, want++)
            if (!(fabs(feature[i] - *want) <= 1e-7 * (1 + fabs(*want))))
                fail_msg("%s of matrix %d is %.9g, wanted %.9g", spot_variance_names[i], q, feature[i], *want);
    }
}

/* A model whose responses never change: every feature is a number, and 0. */
TEST(an_invariant_model_has_no_features)
{
    spot_ctx c = check_ctx(1);
    model m = random_model(10, 5, 8);
    double feature[SPOT_VARIANCE_FEATURES];
    for (int i = 0; i < 50; i++) m.signal[i] = 0.25f;
    compute(&m, (spot_rbf_config){ 8, 4, 8, 1, SPOT_RBF_EXACT }, 1);
    CHECK_OK(&c, spot_variance_features(&c, feature, m.value, m.value, 8));
    for (int i = 0; i < SPOT_VARIANCE_FEATURES; i++) assert_true(feature[i] == 0);
    free_model(&m);
}

TEST(a_matrix_without_values_is_refused)
{
    const float none[] = { NAN, NAN, NAN, NAN }, some[] = { NAN, 1, NAN, NAN }, endless[] = { 0, 0, INFINITY, 0 };
    double feature[SPOT_VARIANCE_FEATURES];
    spot_ctx c = check_ctx(1);
    CHECK_FAILS(&c, spot_variance_features(&c, feature, none, some, 2), SPOT_INVALID, "variance.empty");
    CHECK_FAILS(&c, spot_variance_features(&c, feature, some, none, 2), SPOT_INVALID, "variance.empty: part");
    CHECK_FAILS(&c, spot_variance_features(&c, feature, endless, some, 2), SPOT_INVALID, "variance.value: row 1 | column 0");
    CHECK_FAILS(&c, spot_variance_features(&c, feature, some, some, 1), SPOT_INVALID, "variance.cells: 1");
    CHECK_OK(&c, spot_variance_features(&c, feature, some, some, 2));
    for (int i = 0; i < SPOT_VARIANCE_FEATURES; i++) assert_true(isfinite(feature[i]));
}

TEST(a_part_is_ninety_percent)
{
    enum { TARGETS = 40, DRAWS = 2000 };
    static const int kept_of[][2] = { { 1, 1 }, { 4, 4 }, { 5, 5 }, { 6, 5 }, { 10, 9 }, { 25, 23 }, { 1712, 1541 } };
    unsigned char kept[1712];
    int often[TARGETS] = { 0 };
    for (int q = 0; q < LEN(kept_of); q++) {
        int sum = 0;
        assert_int_equal(spot_variance_part(kept, kept_of[q][0], (spot_seed){ 2, 0 }), kept_of[q][1]);
        for (int t = 0; t < kept_of[q][0]; t++) sum += kept[t];
        assert_int_equal(sum, kept_of[q][1]);
    }
    for (uint32_t i = 0; i < DRAWS; i++) {
        (void)spot_variance_part(kept, TARGETS, (spot_seed){ 2, i });
        for (int t = 0; t < TARGETS; t++) often[t] += kept[t];
    }
    for (int t = 0; t < TARGETS; t++)      /* five standard deviations of 0.9 x 2,000 */
        assert_true(abs(often[t] - 1800) <= 67);
}
