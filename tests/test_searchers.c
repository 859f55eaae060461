/* test_searchers.c - random, local, cem, cma: equal points after an interruption and for any threads and neighbours; hostile
 * losses; planted landscapes; cross-entropy against tools/golden/searchers.py. "ctest: threads, heavy" */
#include <math.h>
#include <stdlib.h>

#include "golden_text.h"
#include "searches.h"

static const int methods[] = { SPOT_EXAMINER_RANDOM, SPOT_EXAMINER_LOCAL, SPOT_EXAMINER_CEM, SPOT_EXAMINER_CMA };
static const uint32_t numbers[] = { 3, 11, 4, 40, 5, 0, 7, 1000000, 9, 12 };

static double flat(const spot_conditions *f, uint32_t number)
{
    (void)f, (void)number;
    return .5;
}

static double huge(const spot_conditions *f, uint32_t number)
{
    return (landscape_smooth(f, number) - .5) * 1e308;
}

static spot_examiner_search search_of(const spot_factor_space *space, int problems, int budget)
{
    return (spot_examiner_search){ space, problems, budget, 1, numbers };
}

static bool same_points(const searched *a, int i, const searched *b, int j)
{
    size_t count = (size_t)a->budget * (size_t)a->dims;

    return !memcmp(a->at + (size_t)i * count, b->at + (size_t)j * count, count * sizeof *a->at);
}

TEST(points_depend_on_the_object_alone)
{
    spot_factor_space space = spot_factor_space_paper();

    for (int m = 0; m < LEN(methods); m++) {
        spot_examiner_config cfg = spot_examiner_defaults(methods[m]);
        spot_examiner_search s = search_of(&space, 4, 301), one = search_of(&space, 1, 301);
        spot_ctx c = check_ctx(1), many = check_ctx(4);
        searched all = search_all(&c, &cfg, &s, landscape_corner, 0), alone;
        searched threads = search_all(&many, &cfg, &s, landscape_corner, 0);
        one.number = numbers + 2;
        alone = search_all(&c, &cfg, &one, landscape_corner, 0);
        for (int i = 0; i < 4; i++) assert_true(same_points(&all, i, &threads, i));
        assert_true(same_points(&all, 2, &alone, 0));
        assert_false(same_points(&all, 1, &alone, 0));
        searched_free(&all), searched_free(&threads), searched_free(&alone);
    }
}

TEST(an_interrupted_search_goes_on_to_the_same_points)
{
    spot_factor_space space = spot_factor_space_paper();

    for (int m = 0; m < LEN(methods); m++)
        for (int asks = 1; asks < 12; asks += 5) {
            spot_examiner_config cfg = spot_examiner_defaults(methods[m]);
            spot_examiner_search s = search_of(&space, 3, 407);
            spot_ctx c = check_ctx(1);
            searched whole = search_all(&c, &cfg, &s, landscape_smooth, 0);
            searched again = search_all(&c, &cfg, &s, landscape_smooth, asks);
            for (int i = 0; i < 3; i++) assert_true(same_points(&whole, i, &again, i));
            searched_free(&whole), searched_free(&again);
        }
}

TEST(a_stopped_ask_is_asked_again)
{
    spot_factor_space space = spot_factor_space_paper();

    for (int m = 0; m < LEN(methods); m++) {
        spot_examiner_config cfg = spot_examiner_defaults(methods[m]);
        spot_examiner_search s = search_of(&space, 1, 10);
        double at[10 * 9], again[10 * 9] = { 0 };
        volatile sig_atomic_t stop = 0;
        spot_ctx c = check_ctx(1);
        spot_examiner *e, *other;
        c.stop = &stop;
        CHECK_OK(&c, spot_examiner_open(&c, &e, &cfg, &s));
        CHECK_OK(&c, spot_examiner_open(&c, &other, &cfg, &s));
        CHECK_OK(&c, spot_examiner_ask(&c, e, at));
        stop = 1;
        assert_int_equal(spot_examiner_ask(&c, other, again), SPOT_STOPPED);
        stop = 0;
        spot_forget(&c);
        CHECK_OK(&c, spot_examiner_ask(&c, other, again));
        assert_memory_equal(at, again, (size_t)spot_examiner_wants(e) * 9 * sizeof *at);
        spot_examiner_close(e), spot_examiner_close(other);
    }
}

/* Where all losses are equal, points go on to cover the cube. A restart of CMA covers a part of it, LOCAL stays where it is. */
TEST(equal_losses_teach_nothing)
{
    spot_factor_space space = spot_factor_space_paper();

    for (int m = 0; m < LEN(methods); m++) {
        spot_examiner_config cfg = spot_examiner_defaults(methods[m]);
        spot_examiner_search s = search_of(&space, 2, 3000);
        spot_ctx c = check_ctx(1);
        searched r = search_all(&c, &cfg, &s, flat, 0);
        for (int d = 0; d < space.dims && methods[m] != SPOT_EXAMINER_LOCAL; d++) {
            double sum = 0, squares = 0;
            for (int k = 2000; k < 3000; k++) {
                double x = r.at[(size_t)k * 9 + (size_t)d];
                sum += x / 1000, squares += x * x / 1000;
            }
            assert_true(squares - sum * sum > (methods[m] == SPOT_EXAMINER_CMA ? .03 : .9 / 12));
        }
        searched_free(&r);
    }
}

TEST(small_budgets_few_factors_and_huge_losses)
{
    const spot_factor_range all[] = { { 0, 0, 360 }, { 1, 0, 360 }, { 2, 0, 360 }, { 3, 0.3, 1 }, { 4, 0, 5 },
                                      { 5, 8, 20 }, { 6, 0, 360 }, { 7, -90, 90 }, { 8, 1, 5 }, { 9, 0, 180 },
                                      { 10, -90, 90 }, { 11, 0, 360 } };
    const spot_factor_range one = { SPOT_CAMERA_ELEVATION, -90, 90 }, fixed = { SPOT_CAMERA_ROLL, 5, 5 };
    const spot_factor_range two[] = { one, fixed };
    static const int budgets[] = { 1, 2, 7, 300 };
    spot_factor_space space[2];
    spot_conditions f;
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_factor_space_of(&c, &space[0], &f, two, 2));
    CHECK_OK(&c, spot_factor_space_of(&c, &space[1], &f, all, LEN(all)));
    for (int m = 0; m < LEN(methods); m++)
        for (int b = 0; b < LEN(budgets); b++)
            for (int k = 0; k < 2; k++) {
                spot_examiner_config cfg = spot_examiner_defaults(methods[m]);
                spot_examiner_search s = search_of(&space[k], 2, budgets[b]);
                searched r = search_all(&c, &cfg, &s, b % 2 ? huge : landscape_smooth, 0);
                assert_true(spot_examiner_bytes(&cfg, &s) > (size_t)budgets[b] % 4096 * sizeof(double));
                searched_free(&r);
            }
}

TEST(settings_that_cannot_be_are_refused)
{
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search s = search_of(&space, 1, 10);
    spot_examiner_config cem = spot_examiner_defaults(SPOT_EXAMINER_CEM), cma = spot_examiner_defaults(SPOT_EXAMINER_CMA);
    spot_ctx c = check_ctx(1);
    spot_examiner *e;

    cem.cem.elite = cem.cem.generation + 1;
    CHECK_FAILS(&c, spot_examiner_open(&c, &e, &cem, &s), SPOT_USAGE, "cem.elite");
    cma.cma.population = 3;
    CHECK_FAILS(&c, spot_examiner_open(&c, &e, &cma, &s), SPOT_USAGE, "cma.population: 3");
    cma.cma.population = 0, cma.cma.sigma = NAN;
    CHECK_FAILS(&c, spot_examiner_open(&c, &e, &cma, &s), SPOT_USAGE, "setting.value: sigma");
    assert_null(e);
}

/* The rules of cem.c in NumPy, from the same random numbers. */
TEST(cross_entropy_draws_what_its_rules_say)
{
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_CEM);
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_search s = { &space, 1, 96, 7, numbers + 1 };
    double want[3 * 12 * 9], at[12 * 9], loss[12], *next = want;
    spot_ctx c = check_ctx(1);
    spot_examiner *e;

    cfg.cem = (spot_cem_config){ .generation = 12, .elite = 3, .bins = 16, .smooth = .5, .floor = .05, .spread = .5 };
    assert_int_equal(golden_numbers("golden/searchers.txt", want, LEN(want)), LEN(want));
    CHECK_OK(&c, spot_examiner_open(&c, &e, &cfg, &s));
    for (int g = 0; g < 8; g++) {
        CHECK_OK(&c, spot_examiner_ask(&c, e, at));
        if (g == 0 || g == 3 || g == 7)
            for (int i = 0; i < LEN(at); i++) CHECK_NEAR(at[i], *next++, 1e-12);
        for (int k = 0; k < 12; k++) {
            double sum = 0;
            for (int d = 0; d < 9; d++) sum += (at[k * 9 + d] - (d + .5) / 9) * (at[k * 9 + d] - (d + .5) / 9);
            loss[k] = g ? -sum : floor(-sum * 8) / 8;
        }
        CHECK_OK(&c, spot_examiner_tell(&c, e, loss));
    }
    spot_examiner_close(e);
}

/* ---- planted landscapes: ten objects, two seeds ---- */

typedef struct {
    int method;
    landscape land;
    int (*inside)(const spot_conditions *f);
    int n;                     /* renders */
    double lowest;             /* the lowest p so far, mean over objects, is at most this */
    double share;              /* share of the last 100 inside, mean over objects, is at least this */
    int found;                 /* objects of 20 with .8 of the last 100 inside, at least */
} planted;

static const planted plantings[] = {
    { SPOT_EXAMINER_RANDOM, landscape_smooth, NULL,                1000, .14, 0,   0 },
    { SPOT_EXAMINER_LOCAL,  landscape_smooth, NULL,                1000, .12, 0,   0 },
    { SPOT_EXAMINER_CEM,    landscape_smooth, NULL,                 200, .13, 0,   0 },
    { SPOT_EXAMINER_CEM,    landscape_smooth, NULL,                1000, .12, 0,   0 },
    { SPOT_EXAMINER_CMA,    landscape_smooth, NULL,                1000, .12, 0,   0 },
    { SPOT_EXAMINER_LOCAL,  landscape_caps,   landscape_in_caps,    500, .031, .80, 16 },
    { SPOT_EXAMINER_CEM,    landscape_caps,   landscape_in_caps,    200, .031, .90, 20 },
    { SPOT_EXAMINER_CMA,    landscape_caps,   landscape_in_caps,   1000, .031, .50, 4 },
    { SPOT_EXAMINER_LOCAL,  landscape_corner, landscape_in_corner,  500, .031, .90, 20 },
    { SPOT_EXAMINER_CEM,    landscape_corner, landscape_in_corner,  200, .04, .90, 19 },
    { SPOT_EXAMINER_CEM,    landscape_corner, landscape_in_corner,  500, .031, .95, 20 },
    { SPOT_EXAMINER_CMA,    landscape_corner, landscape_in_corner, 1000, .04, .50, 8 },
    { SPOT_EXAMINER_RANDOM, landscape_rough,  NULL,                 500, .14, 0,   0 },
    { SPOT_EXAMINER_LOCAL,  landscape_rough,  NULL,                 500, .08, 0,   0 },
    { SPOT_EXAMINER_CEM,    landscape_rough,  NULL,                 500, .05, 0,   0 },
    { SPOT_EXAMINER_CMA,    landscape_rough,  NULL,                 500, .07, 0,   0 },
};

TEST(planted_regions_are_found)
{
    spot_factor_space space = spot_factor_space_paper();
    spot_ctx c = check_ctx(2);

    for (int t = 0; t < LEN(plantings); t++) {
        const planted *w = &plantings[t];
        double lowest = 0, share = 0;
        int found = 0;
        for (uint64_t seed = 1; seed < 3; seed++) {
            spot_examiner_config cfg = spot_examiner_defaults(w->method);
            spot_examiner_search s = { &space, LEN(numbers), w->n, seed, numbers };
            searched r = search_all(&c, &cfg, &s, w->land, 0);
            for (int i = 0; i < LEN(numbers); i++) {
                double in = w->inside ? searched_inside(&r, &space, i, w->n - 100, w->n, w->inside) : 0;
                lowest += searched_lowest(&r, i, w->n) / 20;
                share += in / 20;
                found += in >= .8;
            }
            searched_free(&r);
        }
        print_message("%s after %d: lowest %.4f, inside %.2f, found %d of 20\n", spot_examiner_name(w->method), w->n, lowest,
                      share, found);
        if (!(lowest <= w->lowest && share >= w->share && found >= w->found))
            fail_msg("%s after %d: lowest %g, inside %g, found %d", spot_examiner_name(w->method), w->n, lowest, share, found);
    }
}
