/* test_gaussian_process.c - likelihood, slopes, posterior and fit against scikit-learn (golden/gaussian_process.txt, which
 * tools/golden/gaussian_process.py writes), slopes against differences, points that are added against all at once.
 * ctest: both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "check_blas.h"
#include "core/vmath.h"
#include "stats/gaussian_process.h"
#include "golden_text.h"

enum { ASKED = 7, MOST = 160 };

typedef struct {
    spot_arena a;
    spot_gp    g;
    double    *x, *y;          /* (n + ASKED, d), (n) */
    int        n, d;
} world;

/* One length scale, or one for each feature; or features 0 and 1 share one, as an angle's do (`pair`). */
static world open_world(spot_ctx *c, int n, int d, bool isotropic, spot_gp_scaling scaling, bool pair)
{
    world w = { .n = n, .d = d };
    spot_gp_shape shape = { d, isotropic ? 1 : pair ? d - 1 : d, { 0 } };

    for (int f = 0; f < d; f++) shape.scale_of[f] = isotropic ? 0 : pair ? (f ? f - 1 : 0) : f;
    CHECK_OK(c, spot_arena_open(c, &w.a, 8u << 20));
    CHECK_OK(c, spot_gp_take(c, &w.a, &w.g, &shape, scaling, MOST));
    CHECK_OK(c, SPOT_TAKE(c, &w.a, w.x, (n + ASKED) * d));
    CHECK_OK(c, SPOT_TAKE(c, &w.a, w.y, n));
    for (int i = 0; i < (n + ASKED) * d; i++) w.x[i] = golden_wave(i, 0.37, 1e-4);
    for (int i = 0; i < n; i++)
        w.y[i] = 3 + 2 * sin(2 * w.x[i * d]) + w.x[i * d + 1 % d] * w.x[i * d + 1 % d] + 0.2 * golden_wave(i, 1.7, 0.003);
    spot_gp_set(&w.g, w.x, w.y, n);
    return w;
}

static spot_gp_kernel some_kernel(const world *w, double length, double noise)
{
    spot_gp_kernel k = { .amplitude = 1.5, .noise = noise };

    for (int s = 0; s < w->g.shape.scales; s++) k.length[s] = length * (1 + 0.3 * s);
    return k;
}

/* -- scikit-learn ---------------------------------------------------------------------------------------------------------- */

static void check_case(spot_ctx *c, const double **golden)
{
    const double *v = *golden;
    int n = (int)v[0], d = (int)v[1], scales = v[2] != 0 ? 1 : d;
    world w = open_world(c, n, d, v[2] != 0, v[3] != 0 ? SPOT_GP_SCALED : SPOT_GP_CENTRED, false);
    double slope[SPOT_GP_VALUES], mean[ASKED], deviation[ASKED], fitted;
    spot_gp_search search = { { 1e-2, 1e2 }, { 1e-3, 1e3 }, { 1e-6, 1 }, 1, 0, 10, 200, 1e-9, NULL };
    spot_rng r = spot_rng_at(1, SPOT_RNG_EXAMINER, 0, 0);
    spot_gp_kernel k;

    v += 4;
    for (int s = 0; s < scales; s++) k.length[s] = *v++;
    k.amplitude = *v++;
    k.noise = *v++;
    CHECK_NEAR(spot_gp_likelihood(&w.g, &k, slope), *v, 1e-9 * (1 + fabs(*v)));
    v++;
    for (int s = 0; s < scales + 2; s++, v++) CHECK_NEAR(slope[s], *v, 1e-8 * (1 + fabs(*v)));
    assert_true(spot_gp_factor(&w.g, &k));
    spot_gp_posterior(&w.g, w.x + n * d, ASKED, mean, deviation);
    for (int i = 0; i < ASKED; i++, v++) CHECK_NEAR(mean[i], *v, 1e-8);
    for (int i = 0; i < ASKED; i++, v++) CHECK_NEAR(deviation[i], *v, 1e-8);
    assert_true(spot_gp_fit(&w.g, &search, &r));
    fitted = spot_gp_likelihood(&w.g, &w.g.kernel, NULL);
    print_message("n %d, d %d: likelihood %.9g, scikit-learn's %.9g\n", n, d, fitted, *v);
    assert_true(fitted >= *v - 1e-6 * (1 + fabs(*v)));
    if (n > 1 && fitted < *v + 1e-4) {             /* the same hill: the same place */
        for (int s = 0; s < scales; s++)
            if (v[1 + s] < 90) CHECK_NEAR(w.g.kernel.length[s] / v[1 + s], 1, 2e-3);
        CHECK_NEAR(w.g.kernel.amplitude / v[1 + scales], 1, 5e-3);
    }
    *golden = v + 3 + scales;
    spot_arena_close(&w.a);
}

TEST(likelihood_slopes_posterior_and_fit_are_scikit_learns)
{
    static double number[400];
    int count = golden_numbers("golden/gaussian_process.txt", number, LEN(number));
    spot_ctx c = check_ctx(1);
    const double *v = number;

    for (int i = 0; i < 5; i++) check_case(&c, &v);
    assert_int_equal(v - number, count);
}

/* -- slopes ---------------------------------------------------------------------------------------------------------------- */

TEST(slopes_of_shared_length_scales_are_differences)
{
    spot_ctx c = check_ctx(1);
    world w = open_world(&c, 50, 4, false, SPOT_GP_SCALED, true);
    spot_gp_kernel k = some_kernel(&w, 0.6, 1e-2);
    double slope[SPOT_GP_VALUES], mean, deviation, mean_slope[4], deviation_slope[4];
    const double step = 1e-5;

    spot_gp_likelihood(&w.g, &k, slope);
    for (int p = 0; p < 5; p++) {
        double *value = p < 3 ? &k.length[p] : p == 3 ? &k.amplitude : &k.noise, at = *value, up, down;
        *value = at * exp(step);
        up = spot_gp_likelihood(&w.g, &k, NULL);
        *value = at * exp(-step);
        down = spot_gp_likelihood(&w.g, &k, NULL);
        *value = at;
        CHECK_NEAR(slope[p], (up - down) / (2 * step), 1e-6 * (1 + fabs(slope[p])));
    }
    assert_true(spot_gp_factor(&w.g, &k));
    spot_gp_slope(&w.g, w.x + 50 * 4, &mean, &deviation, mean_slope, deviation_slope);
    for (int f = 0; f < 4; f++) {
        double at[2][4], m[2], s[2];
        for (int side = 0; side < 2; side++) {
            memcpy(at[side], w.x + 50 * 4, sizeof at[side]);
            at[side][f] += side ? step : -step;
        }
        spot_gp_posterior(&w.g, at[0], 2, m, s);
        CHECK_NEAR(mean_slope[f], (m[1] - m[0]) / (2 * step), 1e-6);
        CHECK_NEAR(deviation_slope[f], (s[1] - s[0]) / (2 * step), 1e-6);
    }
    spot_gp_posterior(&w.g, w.x + 50 * 4, 1, &mean_slope[0], &deviation_slope[0]);
    CHECK_NEAR(mean, mean_slope[0], 1e-12);
    CHECK_NEAR(deviation, deviation_slope[0], 1e-12);
    spot_arena_close(&w.a);
}

/* -- points that are added ------------------------------------------------------------------------------------------------- */

TEST(points_that_are_added_give_what_all_at_once_give)
{
    spot_ctx c = check_ctx(1);
    world w = open_world(&c, 100, 3, false, SPOT_GP_SCALED, false);
    spot_gp_kernel k = some_kernel(&w, 0.7, 1e-3);
    double mean[2][ASKED], deviation[3][ASKED], own, spread;

    assert_true(spot_gp_factor(&w.g, &k));
    spot_gp_posterior(&w.g, w.x + 300, ASKED, mean[0], deviation[0]);
    spot_gp_set(&w.g, w.x, w.y, 60);
    assert_true(spot_gp_factor(&w.g, &k));
    assert_true(spot_gp_append(&w.g, w.x + 180, w.y + 60, 1) && spot_gp_append(&w.g, w.x + 183, w.y + 61, 39));
    spot_gp_posterior(&w.g, w.x + 300, ASKED, mean[1], deviation[1]);
    for (int i = 0; i < ASKED; i++) {
        CHECK_NEAR(mean[1][i], mean[0][i], 1e-9);
        CHECK_NEAR(deviation[1][i], deviation[0][i], 1e-9);
    }
    /* a believed point leaves the means and lowers deviations; forgotten, it leaves nothing */
    assert_true(spot_gp_believe(&w.g, w.x + 300));
    spot_gp_posterior(&w.g, w.x + 300, ASKED, mean[1], deviation[1]);
    for (int i = 0; i < ASKED; i++) {
        CHECK_NEAR(mean[1][i], mean[0][i], 1e-9);
        assert_true(deviation[1][i] < deviation[0][i]);
    }
    own = deviation[0][0], spread = w.g.scale * sqrt(k.noise);
    CHECK_NEAR(deviation[1][0], own * spread / sqrt(own * own + spread * spread), 1e-8);
    spot_gp_forget(&w.g, 100);
    spot_gp_posterior(&w.g, w.x + 300, ASKED, mean[1], deviation[2]);
    for (int i = 0; i < ASKED; i++) CHECK_NEAR(deviation[2][i], deviation[0][i], 1e-9);
    assert_false(spot_gp_append(&w.g, w.x, w.y, MOST));
    spot_arena_close(&w.a);
}

TEST(points_that_repeat_and_equal_values_are_no_failure)
{
    spot_ctx c = check_ctx(1);
    world w = open_world(&c, 60, 2, true, SPOT_GP_SCALED, false);
    spot_gp_search search = { { 1e-5, 1e5 }, { 1, 1 }, { 1e-300, 1e-300 }, 1, 0, 3, 50, 1e-9, NULL };
    spot_rng r = spot_rng_at(1, SPOT_RNG_EXAMINER, 0, 0);
    double mean[ASKED], deviation[ASKED];

    for (int i = 0; i < 60; i++) w.x[2 * i] = 0.25, w.x[2 * i + 1] = i % 2, w.y[i] = 7;
    spot_gp_set(&w.g, w.x, w.y, 60);
    w.g.kernel.noise = 1e-300;
    assert_true(spot_gp_factor(&w.g, &w.g.kernel));
    spot_gp_posterior(&w.g, w.x, ASKED, mean, deviation);
    for (int i = 0; i < ASKED; i++) {
        CHECK_NEAR(mean[i], 7, 1e-6);
        assert_true(deviation[i] >= 0 && deviation[i] < 0.1);
    }
    (void)spot_gp_fit(&w.g, &search, &r);          /* it may find no kernel, but it ends */
    search.noise[0] = search.noise[1] = 1e-6;
    assert_true(spot_gp_fit(&w.g, &search, &r));
    spot_gp_set(&w.g, w.x, w.y, 0);
    assert_true(spot_gp_factor(&w.g, &w.g.kernel));
    spot_gp_posterior(&w.g, w.x, 1, mean, deviation);
    CHECK_NEAR(deviation[0], w.g.scale * sqrt(w.g.kernel.amplitude), 1e-12);
    spot_arena_close(&w.a);
}

int main(void) { return run_all_tests(); }
