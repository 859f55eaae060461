/* test_bo.c - examiners with a Gaussian process: bo-2019 against the package (golden/bo2019.txt, by tools/golden/bo2019.py)
 * and a dense grid, TuRBO's region against NumPy (golden/trust_region.txt), planted landscapes, what must not end a search.
 * ctest: both */
#include <math.h>
#include <stdlib.h>

#include "checks.h"

#include "check_blas.h"
#include "core/vmath.h"
#include "examine/acquisition.h"
#include "examine/trust_region.h"
#include "golden_text.h"
#include "landscapes.h"

static const int methods[] = { SPOT_EXAMINER_BO2019, SPOT_EXAMINER_BO, SPOT_EXAMINER_TURBO };
static const uint32_t numbers[] = { 3, 11, 4, 40 };

/* ---- bo-2019 against the package ---- */

/* The space whose raw features, in the order of names, are the golden's columns. */
static spot_factor_space golden_space(int dims, int which)
{
    static const spot_factor_range pairs[2][2] = { { { SPOT_SUN_ENERGY, 0, 5 }, { SPOT_CAMERA_DISTANCE, 1, 5 } },
                                                   { { SPOT_CAMERA_ELEVATION, -90, 90 }, { SPOT_CAMERA_AZIMUTH, 0, 180 } } };
    spot_ctx c = check_ctx(1);
    spot_conditions fixed;
    spot_factor_space s;

    if (dims == 9) return spot_factor_space_paper();
    CHECK_OK(&c, spot_factor_space_of(&c, &s, &fixed, pairs[which], 2));
    return s;
}

/* The features of our points are the package's: least + x (most - least), in the order of names. */
static void cube_point(const spot_surrogate *s, double *x, const double *raw)
{
    for (int f = 0; f < s->search.space->dims; f++) {
        int d = s->dim[f];
        x[d] = (raw[f] - s->search.space->least[d]) / (s->search.space->most[d] - s->search.space->least[d]);
    }
}

/* release: a spot_bo2019_release. */
static void check_step(spot_ctx *c, const double **golden, int which, int release)
{
    const double *v = *golden;
    int dims = (int)v[0], n = (int)v[1], scaled = (int)v[2];
    const double *x = v + 3, *y = x + n * dims, *asked = y + n, *model = asked + 5 * dims;
    spot_factor_space space = golden_space(dims, which);
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_BO2019);
    spot_examiner_search search = { &space, 1, n + 1, 7, numbers };
    spot_surrogate_plan plan = { .best = n, .tries = 1, .scaling = scaled ? SPOT_GP_SCALED : SPOT_GP_CENTRED,
                                 .features = SPOT_FEATURES_RAW };
    double at[40 * 9], mean[5], deviation[5], x_of_ours[9], ours, grid = -INFINITY;
    spot_gp_kernel k = { .length = { model[0] }, .amplitude = 1, .noise = cfg.bo2019.noise };
    spot_gp_search fit = { { 1e-5, 1e5 }, { 1, 1 }, { 1e-6, 1e-6 }, 1, 0, 20, 100, 1e-9, NULL };
    spot_rng r = spot_rng_at(1, SPOT_RNG_EXAMINER, 0, 0);
    spot_surrogate s;
    spot_gp *g;
    void *state;

    CHECK_OK(c, spot_surrogate_open(c, &s, &plan, &search));
    for (int i = 0; i < n; i++) cube_point(&s, at + i * dims, x + i * dims);
    spot_surrogate_tell(&s, at, y, n);
    spot_surrogate_choose(&s, &s.desk[0], 0, 0);
    g = &s.desk[0].g;
    spot_gp_set(g, s.desk[0].x, s.desk[0].y, n);

    CHECK_NEAR(spot_gp_likelihood(g, &k, NULL), model[1], 1e-7 * (1 + fabs(model[1])));
    assert_true(spot_gp_factor(g, &k));
    spot_gp_posterior(g, asked, 5, mean, deviation);
    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(mean[i], model[2 + i], 1e-7);
        CHECK_NEAR(deviation[i], model[7 + i], 1e-7);
    }
    g->kernel.length[0] = 1;
    assert_true(spot_gp_fit(g, &fit, &r));
    print_message("%d factors, scaled %d: length scale %.6g, the package's %.6g\n", dims, scaled, g->kernel.length[0],
                  model[0]);
    assert_true(spot_gp_likelihood(g, &g->kernel, NULL) >= model[1] - 1e-6 * (1 + fabs(model[1])));
    CHECK_NEAR(g->kernel.length[0] / model[0], 1, 1e-3);

    cfg.bo2019.first = n;
    cfg.bo2019.scaled = scaled;
    cfg.bo2019.release = release;
    CHECK_OK(c, spot_examiner_bo2019.open(c, &state, &cfg, &search));
    CHECK_OK(c, spot_examiner_bo2019.tell(c, state, at, y, n));
    CHECK_OK(c, spot_examiner_bo2019.ask(c, state, x_of_ours, 1));
    spot_examiner_bo2019.close(state);
    assert_true(spot_gp_factor(g, &k));
    ours = spot_acquisition_at(&s, g, cfg.bo2019.kappa, x_of_ours, NULL);
    print_message("upper confidence bound %.9g, the package's %.9g\n", ours, model[12]);
    assert_true(ours >= model[12] - 1e-6 * fabs(model[12]));
    if (release == SPOT_BO2019_1_0_1) CHECK_NEAR(ours, model[12], 1e-4 * fabs(model[12]));     /* both find the highest hill */
    if (dims == 2) {
        for (int i = 0; i <= 200; i++)
            for (int j = 0; j <= 200; j++)
                grid = fmax(grid, spot_acquisition_at(&s, g, cfg.bo2019.kappa, (double[]){ i / 200., j / 200. }, NULL));
        assert_true(ours >= grid - 1e-7 * fabs(grid));
        CHECK_NEAR(ours, grid, 0.02 * fabs(grid));
    }
    spot_surrogate_close(&s);
    *golden = model + 13;
}

TEST(a_step_of_bo_2019_is_the_packages)
{
    static double number[2000];
    int count = golden_numbers("golden/bo2019.txt", number, LEN(number));
    spot_ctx c = check_ctx(1);
    const double *v = number;

    for (int i = 0; i < 6; i++) check_step(&c, &v, i % 3, SPOT_BO2019_1_0_3);
    assert_int_equal(v - number, count);
}

/* golden/bo2019_101.txt: release 1.0.1 of the package, which searches longer. */
TEST(a_step_of_release_101_is_the_packages)
{
    static double number[2000];
    int count = golden_numbers("golden/bo2019_101.txt", number, LEN(number));
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_BO2019);
    spot_ctx c = check_ctx(1);
    const double *v = number + 3;
    spot_bo2019_config as;

    cfg.bo2019.release = SPOT_BO2019_1_0_1;
    as = spot_bo2019_released(&cfg.bo2019);
    assert_int_equal(as.restarts, (int)number[0]);
    assert_int_equal(as.warm, (int)number[1]);
    assert_int_equal(as.starts, (int)number[2]);
    check_step(&c, &v, 2, SPOT_BO2019_1_0_1);
    check_step(&c, &v, 1, SPOT_BO2019_1_0_1);
    assert_int_equal(v - number, count);
}

/* x (9) of the third render. */
static void third_render(spot_ctx *c, double *x, const spot_bo2019_config *own)
{
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_BO2019);
    spot_examiner_search search = { &space, 1, 3, 7, numbers };
    spot_examiner *e;

    cfg.bo2019 = *own;
    CHECK_OK(c, spot_examiner_open(c, &e, &cfg, &search));
    CHECK_OK(c, spot_examiner_ask(c, e, x));
    CHECK_OK(c, spot_examiner_tell(c, e, (double[]){ -.2, -.9 }));
    CHECK_OK(c, spot_examiner_ask(c, e, x));
    spot_examiner_close(e);
}

TEST(a_release_stands_for_its_numbers)
{
    spot_bo2019_config cfg = spot_examiner_defaults(SPOT_EXAMINER_BO2019).bo2019;
    spot_ctx c = check_ctx(1);
    double newer[18], older[18], given[18];

    assert_int_equal(spot_bo2019_released(&cfg).starts, cfg.starts);
    third_render(&c, newer, &cfg);
    cfg.release = SPOT_BO2019_1_0_1;
    third_render(&c, older, &cfg);
    cfg.release = SPOT_BO2019_1_0_3, cfg.restarts = 25, cfg.warm = 100000, cfg.starts = 250;
    third_render(&c, given, &cfg);
    assert_memory_equal(older, given, 9 * sizeof *older);
    assert_memory_not_equal(older, newer, 9 * sizeof *older);
}

/* ---- the bound on circles ---- */

TEST(slopes_of_the_bound_are_differences)
{
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search search = { &space, 1, 60, 7, numbers };
    spot_surrogate_plan plan = { .best = 60, .tries = 1, .ard = true, .scaling = SPOT_GP_SCALED };
    spot_ctx c = check_ctx(1);
    double at[60 * 9], loss[60], x[9], slope[9], start, found;
    spot_gp_kernel k = { .amplitude = 1, .noise = 1e-3 };
    spot_surrogate s;
    spot_gp *g;

    CHECK_OK(&c, spot_surrogate_open(&c, &s, &plan, &search));
    assert_int_equal(s.shape.features, 11);
    spot_surrogate_uniform(&s, at, 60);
    for (int i = 0; i < 60; i++) loss[i] = sin(6.28 * at[9 * i + 3]) + at[9 * i] * at[9 * i + 7];
    spot_surrogate_tell(&s, at, loss, 60);
    spot_surrogate_choose(&s, &s.desk[0], 0, 0);
    g = &s.desk[0].g;
    spot_gp_set(g, s.desk[0].x, s.desk[0].y, 60);
    for (int d = 0; d < 9; d++) k.length[d] = 0.4 + 0.1 * d, x[d] = 0.1 + 0.09 * d;
    assert_true(spot_gp_factor(g, &k));
    spot_acquisition_at(&s, g, 2, x, slope);
    for (int d = 0; d < 9; d++) {
        double own = x[d], up, down;
        x[d] = own + 1e-5;
        up = spot_acquisition_at(&s, g, 2, x, NULL);
        x[d] = own - 1e-5;
        down = spot_acquisition_at(&s, g, 2, x, NULL);
        x[d] = own;
        CHECK_NEAR(slope[d], (up - down) / 2e-5, 1e-6);
    }
    /* a turn goes on over its end */
    x[3] = 0.97;
    start = spot_acquisition_at(&s, g, 2, x, NULL);
    for (int i = 0; i < 2; i++) {
        const double usual[9] = { 0.1, 0.19, 0.28, 0.97, 0.46, 0.55, 0.64, 0.73, 0.82 };
        memcpy(x, usual, sizeof x);
        found = spot_acquisition_climb(&s, g, 2, x, i ? NLOPT_LD_CCSAQ : NLOPT_LD_SLSQP, 100, 1e-7);
        assert_true(found > start);
        CHECK_NEAR(spot_acquisition_at(&s, g, 2, x, NULL), found, 1e-9);
        for (int d = 0; d < 9; d++) assert_true(x[d] >= 0 && x[d] <= 1);
    }
    spot_surrogate_close(&s);
}

/* ---- the bounded set ---- */

TEST(a_set_has_the_best_and_the_newest)
{
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search search = { &space, 1, 1000, 7, numbers };
    spot_surrogate_plan plan = { .best = 10, .last = 5, .tries = 1 };
    static double at[1000 * 9], loss[1000];
    spot_ctx c = check_ctx(1);
    spot_surrogate s;
    int *which;

    CHECK_OK(&c, spot_surrogate_open(&c, &s, &plan, &search));
    which = s.desk[0].which;
    for (int i = 0; i < 1000; i++) loss[i] = (i * 7919) % 995;
    spot_surrogate_tell(&s, at, loss, 15);
    spot_surrogate_choose(&s, &s.desk[0], 0, 0);
    assert_int_equal(s.desk[0].n, 15);
    spot_surrogate_tell(&s, at + 15 * 9, loss + 15, 985);
    spot_surrogate_choose(&s, &s.desk[0], 0, 0);
    assert_int_equal(s.desk[0].n, 15);
    for (int i = 0; i < 10; i++) assert_true(loss[which[i]] == 994 - i);
    for (int i = 0; i < 5; i++) assert_int_equal(which[10 + i], 995 + i);
    spot_surrogate_choose(&s, &s.desk[0], 0, 990);
    assert_int_equal(s.desk[0].n, 10);
    for (int i = 0; i < 10; i++) assert_in_range(which[i], 990, 999);
    spot_surrogate_close(&s);
}

enum { TOLD = 400, BEST = 6, SPREAD = 30, ROUND = 10 };

static double apart(const double *at, const int *list, int n, int k)
{
    double least = INFINITY;

    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int d = 0; d < 2; d++) sum += (at[2 * k + d] - at[2 * list[j] + d]) * (at[2 * k + d] - at[2 * list[j] + d]);
        least = fmin(least, sum);
    }
    return least;
}

/* The same set by the definition, in loops over all points that are left. */
static int keep_plainly(const double *at, const double *loss, int *set, int n, int from, int end)
{
    int list[BEST + SPREAD + ROUND], all = n;
    bool taken[BEST + SPREAD + ROUND] = { false };

    memcpy(list, set, (size_t)n * sizeof *set);
    for (int k = from; k < end; k++) list[all++] = k;
    if (all <= BEST + SPREAD) memcpy(set, list, (size_t)all * sizeof *set);
    if (all <= BEST + SPREAD) return all;
    for (n = 0; n < BEST + SPREAD; n++) {
        int next = -1;
        for (int j = 0; j < all; j++)
            if (!taken[j] && (next < 0 || (n < BEST ? loss[list[j]] > loss[list[next]]
                                                    : apart(at, set, n, list[j]) > apart(at, set, n, list[next])))) next = j;
        taken[next] = true;
        set[n] = list[next];
    }
    return n;
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* 400 points that crowd in a corner: the set has the best ones, and others all over the square. */
TEST(a_set_has_the_best_and_points_far_from_each_other)
{
    spot_ctx c = check_ctx(1);
    spot_factor_space space = golden_space(2, 0);
    spot_examiner_search search = { &space, 1, TOLD, 7, numbers };
    spot_surrogate_plan plan = { .best = BEST, .spread = SPREAD, .tries = 1, .features = SPOT_FEATURES_CIRCLES };
    spot_rng r = spot_rng_at(5, SPOT_RNG_EXAMINER, 0, 0);
    static double at[TOLD * 2], loss[TOLD];
    int set[BEST + SPREAD], n = 0, crowd = 0, *which;
    spot_surrogate s;

    for (int k = 0; k < TOLD; k++) {
        for (int d = 0; d < 2; d++) at[2 * k + d] = spot_rng_uniform(&r) * (k < 40 ? 1 : 0.1);
        loss[k] = -at[2 * k] - at[2 * k + 1];
    }
    CHECK_OK(&c, spot_surrogate_open(&c, &s, &plan, &search));
    for (int k = 0; k < TOLD; k += ROUND) {
        spot_surrogate_tell(&s, at + 2 * k, loss + k, ROUND);
        spot_surrogate_choose(&s, &s.desk[0], 0, 0);
        which = s.desk[0].which;
        n = keep_plainly(at, loss, set, n, k, k + ROUND);
        assert_int_equal(s.desk[0].n, n);
        for (int i = 1; i < n; i++) assert_true(loss[which[i - 1]] >= loss[which[i]]);
        qsort(which, (size_t)n, sizeof *which, by_number);
        qsort(set, (size_t)n, sizeof *set, by_number);
        assert_memory_equal(which, set, (size_t)n * sizeof *set);
    }
    for (int i = 0; i < n; i++) crowd += set[i] >= 40;
    print_message("of %d points that are kept %d are of the crowd, which has %d of %d\n", n, crowd, TOLD - 40, TOLD);
    assert_true(n == BEST + SPREAD && crowd >= BEST && crowd < n / 2);
    spot_surrogate_close(&s);
}

/* ---- TuRBO's region ---- */

TEST(trust_regions_are_those_of_numpy)
{
    static double number[2000];
    int count = golden_numbers("golden/trust_region.txt", number, LEN(number));
    const double *v = number;

    assert_true(count > 100);
    while (v - number < count) {
        int dims = (int)v[0], steps = (int)v[5];
        spot_trust_region t = { 0.8, 0.0078125, 1.6, (int)v[2], (int)v[3], 0, 0, -v[4] };
        const bool turns[12] = { false };
        double low[12], high[12];
        v += 6;
        for (int i = 0; i < steps; i++, v += 4) {
            assert_int_equal(spot_trust_region_move(&t, -v[0]), v[3] != 0);
            CHECK_NEAR(t.length, v[1], 1e-15);
            CHECK_NEAR(t.best, -v[2], 1e-15);
        }
        spot_trust_region_box(&t, dims, v, v + dims, turns, low, high);
        for (int d = 0; d < dims; d++) {
            CHECK_NEAR(low[d], v[2 * dims + d], 1e-12);
            CHECK_NEAR(high[d], v[3 * dims + d], 1e-12);
        }
        v += 4 * dims;
    }
    assert_int_equal(v - number, count);
}

/* ---- searches ---- */

typedef struct {
    double lowest[4], inside[4], mean[4];  /* lowest p; of the last 50 points, the share in a region and the mean p */
} outcome;

typedef int (*region)(const spot_conditions *f);

static outcome search_landscape(spot_ctx *c, const spot_examiner_config *cfg, landscape p, region in, int problems, int budget,
                                uint64_t seed)
{
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search search = { &space, problems, budget, seed, numbers };
    static double at[4 * 512 * 9], loss[4 * 512];
    spot_examiner *e;
    outcome o;
    int told = 0;

    for (int i = 0; i < 4; i++) o.lowest[i] = INFINITY, o.inside[i] = o.mean[i] = 0;
    CHECK_OK(c, spot_examiner_open(c, &e, cfg, &search));
    for (int n; (n = spot_examiner_wants(e)); told += n) {
        CHECK_OK(c, spot_examiner_ask(c, e, at));
        for (int i = 0; i < problems * n; i++) {
            spot_conditions f = { { 0 } };
            double own;
            spot_factor_space_place(&f, &space, at + i * 9);
            own = p(&f, numbers[i / n]);
            loss[i] = -own;
            o.lowest[i / n] = fmin(o.lowest[i / n], own);
            if (told + i % n < budget - 50) continue;
            o.inside[i / n] += in && in(&f) ? 1. / 50 : 0;
            o.mean[i / n] += own / 50;
        }
        CHECK_OK(c, spot_examiner_tell(c, e, loss));
    }
    spot_examiner_close(e);
    return o;
}

static const int long_run = SANITIZED ? 60 : 200;

/* The caps take a third of the volume, the corner an eighth. */
TEST(bo_finds_the_planted_regions_within_200_renders)
{
    spot_ctx c = check_ctx(2);
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_BO);

    for (uint64_t seed = 1; seed <= 3; seed++) {
        outcome caps = search_landscape(&c, &cfg, landscape_caps, landscape_in_caps, 4, long_run, seed);
        outcome corner = search_landscape(&c, &cfg, landscape_corner, landscape_in_corner, 4, long_run, seed);
        for (int i = 0; i < 4; i++) {
            print_message("seed %d, object %d: share of the last 50 in the caps %.2f, in the corner %.2f\n", (int)seed, i,
                          caps.inside[i], corner.inside[i]);
            assert_true(SANITIZED || (caps.inside[i] >= 0.9 && corner.inside[i] >= 0.8));
        }
    }
}

TEST(turbo_and_bo_2019_find_caps)
{
    spot_ctx c = check_ctx(2);
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_TURBO);
    outcome o = search_landscape(&c, &cfg, landscape_caps, landscape_in_caps, 4, long_run, 1);

    for (int i = 0; i < 4; i++) assert_true(o.lowest[i] < 0.05);
    assert_true(SANITIZED || (o.inside[0] + o.inside[1] + o.inside[2] + o.inside[3]) / 4 > 0.5);
    cfg = spot_examiner_defaults(SPOT_EXAMINER_BO2019);
    cfg.bo2019.warm = 500, cfg.bo2019.starts = 3, cfg.bo2019.restarts = 2;
    o = search_landscape(&c, &cfg, landscape_caps, landscape_in_caps, 4, 60, 1);
    assert_true((o.inside[0] + o.inside[1] + o.inside[2] + o.inside[3]) / 4 > 0.5);
}

/* Two functions of the paper's kind in the cube: x in [-1, 2]^9 of the sphere, [-2, 2]^9 of Rosenbrock's. */
static double cube_of(const spot_conditions *f, double *x)
{
    spot_factor_space s = spot_factor_space_paper();

    s.turns[0] = false;
    spot_factor_space_point(x, &s, f);
    return 0;
}

static double sphere(const spot_conditions *f, uint32_t number)
{
    double x[9], sum = cube_of(f, x);

    (void)number;
    for (int d = 0; d < 9; d++) sum += (3 * x[d] - 1) * (3 * x[d] - 1);
    return sum;
}

static double rosenbrock(const spot_conditions *f, uint32_t number)
{
    double x[9], sum = cube_of(f, x);

    (void)number;
    for (int d = 0; d < 8; d++) {
        double a = 4 * x[d] - 2, b = 4 * x[d + 1] - 2;
        sum += 100 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
    }
    return sum;
}

/* Random search ends at about 3 and 600 here. */
TEST(turbo_goes_down_sphere_and_rosenbrock)
{
    spot_ctx c = check_ctx(2);
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_TURBO);
    spot_examiner_config random = spot_examiner_defaults(SPOT_EXAMINER_RANDOM);
    outcome a = search_landscape(&c, &cfg, sphere, NULL, 2, 2 * long_run, 1);
    outcome b = search_landscape(&c, &cfg, rosenbrock, NULL, 2, 2 * long_run, 1);
    outcome ra = search_landscape(&c, &random, sphere, NULL, 2, 2 * long_run, 1);
    outcome rb = search_landscape(&c, &random, rosenbrock, NULL, 2, 2 * long_run, 1);

    print_message("sphere %.3g %.3g, random %.3g %.3g; Rosenbrock %.3g %.3g, random %.3g %.3g\n", a.lowest[0], a.lowest[1],
                  ra.lowest[0], ra.lowest[1], b.lowest[0], b.lowest[1], rb.lowest[0], rb.lowest[1]);
    for (int i = 0; i < 2 && !SANITIZED; i++) assert_true(a.lowest[i] < 0.05 && b.lowest[i] < rb.lowest[i] / 5);
}

/* ---- what must not end a search ---- */

static double equal(const spot_conditions *f, uint32_t number)
{
    (void)f, (void)number;
    return 0.5;
}

static double steps(const spot_conditions *f, uint32_t number)
{
    (void)number;
    return f->value[SPOT_CAMERA_DISTANCE] > 3 ? 1 : 0;
}

static double huge(const spot_conditions *f, uint32_t number) { return 1e12 * landscape_smooth(f, number); }

static spot_examiner_config short_config(int method)
{
    spot_examiner_config cfg = spot_examiner_defaults(method);

    cfg.bo2019.warm = 200, cfg.bo2019.starts = 2, cfg.bo2019.restarts = 1;
    cfg.bo.best = cfg.bo.spread = 15;
    cfg.turbo.best = cfg.turbo.last = 15, cfg.turbo.tries = 50;
    return cfg;
}

TEST(equal_huge_and_stepwise_losses_and_tiny_budgets_are_no_failure)
{
    static const landscape odd[] = { equal, steps, huge };
    spot_ctx c = check_ctx(1);

    for (int m = 0; m < LEN(methods); m++) {
        spot_examiner_config cfg = short_config(methods[m]);
        for (int budget = 1; budget < 40; budget = 2 * budget + 1) search_landscape(&c, &cfg, equal, NULL, 1, budget, 1);
        for (int k = 0; k < LEN(odd); k++)
            search_landscape(&c, &cfg, odd[k], NULL, 2, methods[m] == SPOT_EXAMINER_BO2019 ? 30 : 80, 1);
    }
}

/* A dimension that does nothing, one dimension, points that repeat: a grid of four points is all that is told. */
TEST(points_that_repeat_are_no_failure)
{
    const spot_factor_range one = { SPOT_CAMERA_ROLL, 0, 360 };
    spot_ctx c = check_ctx(1);
    spot_conditions fixed;
    spot_factor_space space;
    double at[60], loss[60], x[10];
    volatile sig_atomic_t flag = 1;
    void *own;

    CHECK_OK(&c, spot_factor_space_of(&c, &space, &fixed, &one, 1));
    for (int i = 0; i < 60; i++) at[i] = i % 4 / 4., loss[i] = i % 4 + 1e-3 * (i % 5);
    for (int m = 0; m < LEN(methods); m++) {
        const spot_examiner_kind *kind = m == 0 ? &spot_examiner_bo2019 : m == 1 ? &spot_examiner_bo : &spot_examiner_turbo;
        spot_examiner_config cfg = short_config(methods[m]);
        spot_examiner_search search = { &space, 1, 100, 1, numbers };
        CHECK_OK(&c, kind->open(&c, &own, &cfg, &search));
        CHECK_OK(&c, kind->tell(&c, own, at, loss, 60));
        for (int k = 0; k < 2; k++) {
            int n = kind->wants(own);
            c.stop = &flag;                        /* seen inside an ask, too, where the frame does not look */
            assert_int_equal(kind->ask(&c, own, x, n), SPOT_STOPPED);
            c.stop = NULL;
            spot_forget(&c);
            CHECK_OK(&c, kind->ask(&c, own, x, n));
            for (int i = 0; i < n; i++) assert_true(x[i] >= 0 && x[i] <= 1);
            CHECK_OK(&c, kind->tell(&c, own, x, loss, n));
        }
        kind->close(own);
    }
}

/* ---- the same points ---- */

/* Points of `problems` objects from `number` on after `budget` renders; at (problems, budget, 9). stop: each ask is refused
 * once. */
static void points_of(spot_ctx *c, double *out, const spot_examiner_config *cfg, const uint32_t *number, int problems,
                      int budget, bool stop)
{
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search search = { &space, problems, budget, 5, number };
    static double at[4 * 100 * 9], loss[4 * 100];
    volatile sig_atomic_t flag = 1;
    spot_examiner *e;
    int told = 0;

    CHECK_OK(c, spot_examiner_open(c, &e, cfg, &search));
    for (int n; (n = spot_examiner_wants(e)); told += n) {
        if (stop) {
            c->stop = &flag;
            assert_int_equal(spot_examiner_ask(c, e, at), SPOT_STOPPED);
            c->stop = NULL;
            spot_forget(c);
        }
        CHECK_OK(c, spot_examiner_ask(c, e, at));
        for (int i = 0; i < problems * n; i++) {
            spot_conditions f = { { 0 } };
            spot_factor_space_place(&f, &space, at + i * 9);
            loss[i] = -landscape_corner(&f, number[i / n]);
            memcpy(out + ((size_t)(i / n) * (size_t)budget + (size_t)(told + i % n)) * 9, at + i * 9, 9 * sizeof *at);
        }
        CHECK_OK(c, spot_examiner_tell(c, e, loss));
    }
    spot_examiner_close(e);
}

TEST(points_do_not_depend_on_threads_other_objects_or_stops)
{
    enum { BUDGET = 70 };
    static double all[4 * BUDGET * 9], threads[4 * BUDGET * 9], alone[BUDGET * 9];
    spot_ctx one = check_ctx(1), four = check_ctx(4);

    for (int m = 0; m < LEN(methods); m++) {
        spot_examiner_config cfg = short_config(methods[m]);
        int budget = methods[m] == SPOT_EXAMINER_BO2019 ? 20 : BUDGET;
        size_t each = (size_t)budget * 9 * sizeof *all;
        points_of(&one, all, &cfg, numbers, 4, budget, false);
        points_of(&four, threads, &cfg, numbers, 4, budget, false);
        assert_memory_equal(all, threads, 4 * each);
        points_of(&one, threads, &cfg, numbers, 4, budget, true);
        assert_memory_equal(all, threads, 4 * each);
        points_of(&one, alone, &cfg, numbers + 2, 1, budget, false);
        assert_memory_equal(all + 2 * budget * 9, alone, each);
        assert_true(memcmp(all, alone, each) != 0);
    }
}

TEST(bo_2019_says_that_its_model_is_bounded)
{
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_BO2019);
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search search = { &space, 1, 16000, 1, numbers };
    spot_ctx c = check_ctx(1);
    spot_examiner *e;

    CHECK_FAILS(&c, spot_examiner_open(&c, &e, &cfg, &search), SPOT_USAGE, "bo_2019.renders: 16000");
    for (int m = 0; m < LEN(methods); m++) {
        cfg = spot_examiner_defaults(methods[m]);
        search.budget = 500;
        assert_true(spot_examiner_bytes(&cfg, &search) > 8 * (500 * 10 + 2 * 70 * 70));      /* points, losses, two matrices */
    }
}

int main(void) { return run_all_tests(); }
