/* test_calls_discover.c - how often `discover` and the fits of its methods call the CUDA runtime, and what they copy, against
 * calls_discover_budget.txt. ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "call_budget.h"
#include "check_copies.h"
#include "check_findings.h"
#include "fit/hinge.h"
#include "fit/mixture.h"
#include "spotter/discover.h"

/* Features go up once, however many methods and seeds read them, and once more for labels that may be wrong, behind the search;
 * methods that make rows of their own copy only those. */
TEST(features_go_to_the_device_once_for_all_methods)
{
    enum { N = 240 };
    const spot_bdm_config bdm[] = { spot_bdm_defaults(SPOT_JOINSPOT), spot_bdm_defaults(SPOT_WARD),
                                    spot_bdm_defaults(SPOT_SVM), spot_bdm_defaults(SPOT_DENSITY),
                                    spot_bdm_defaults(SPOT_DOMINO) };
    spot_findings found = { .count = 0 };
    fake_findings k;
    spot_ctx c;

    fake_open(&k, N, 2, 2, 3);
    k.o.bdm = bdm, k.o.bdms = LEN(bdm), k.o.cls = SPOT_ALL_CLASSES;
    open_cuda(&c, 0);
    count_copies(&c);
    watch_copies(k.s.feature, N * 2 * sizeof(float));
    calls_of(&c)->reset();
    CHECK_OK(&c, spot_discover(&c, &found, &k.s, &k.o));
    assert_int_equal(copies.from_watched, 2 * N * 2 * sizeof(float));
    for (int i = 0; i < found.count; i++) assert_int_equal(found.finding[i].status, SPOT_OK);
    stays_within(&c, "emulator/calls_discover_budget.txt");
    spot_findings_close(&found);
    fake_close(&k);
    spot_device_close(&c);
}

/* ---- fits of the methods ---- */

enum { MACHINES = 50, ROWS = 9 };

/* All machines of a call are one launch. */
TEST(machines_of_a_call_are_one_launch)
{
    spot_hinge_problem p[MACHINES];
    spot_arena a;
    spot_ctx c;
    double *room;
    float x[ROWS];
    double bound[ROWS];
    int row[ROWS];

    for (int i = 0; i < ROWS; i++) x[i] = (float)i, row[i] = i, bound[i] = i % 2 ? 1 : -1;
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_arena_open_device(&c, &a, 1 << 20));
    for (int q = 0; q < MACHINES; q++) {
        p[q] = q ? p[0] : (spot_hinge_problem){ .n = ROWS, .d = 1, .rows = ROWS, .cost = 1, .tolerance = 1e-3, .most = 20,
                                                .x = to_device(&c, x, sizeof x), .row = to_device(&c, row, sizeof row),
                                                .bound = to_device(&c, bound, sizeof bound) };
        p[q].seed.ec = (uint32_t)q;
        CHECK_OK(&c, SPOT_TAKE(&c, &a, room, 2 + 2 * ROWS));
        p[q].w = room, p[q].dual = room + 2, p[q].square = room + 2 + ROWS;
        CHECK_OK(&c, SPOT_TAKE(&c, &a, p[q].end, 1));
    }
    calls_of(&c)->reset();
    CHECK_OK(&c, spot_hinge_fit(&c, &a, MACHINES, p));
    assert_int_equal(calls_of(&c)->count(NULL, "launches"), 1);
    assert_int_equal(calls_of(&c)->count(NULL, "copies_in"), 1);
    spot_arena_close(&a);
    spot_device_close(&c);
}

enum { PIECE = 4096, DIM = 2, POINTS = PIECE + 1, ITERATIONS = 5 };

/* Launches of `count` fits of two components to n of two far groups of points. */
static long long launches_of_mixtures(spot_ctx *c, int n, int count)
{
    const spot_mixture_config cfg = { .max_iterations = ITERATIONS, .tol = 0, .ridge = 1e-6 };
    spot_mixture_job job[2] = { { .fit = { .n = n, .d = DIM, .k = 2 } } };
    static float x[POINTS * DIM];
    float *points;
    spot_arena a;

    for (int i = 0; i < n * DIM; i++) x[i] = (float)(i / DIM % 2 * 10) + (float)(i % 17) / 17;
    points = to_device(c, x, sizeof x);
    CHECK_OK(c, spot_arena_open_device(c, &a, 4096 + 2 * POINTS + spot_mixture_scratch(count, n, DIM, 2, 0)));
    for (int j = 0; j < count; j++) {
        job[j] = job[0];
        job[j].x = points, job[j].seed.ec = (uint32_t)j;
        CHECK_OK(c, SPOT_TAKE(c, &a, job[j].label, n));
        CHECK_OK(c, SPOT_TAKE(c, &a, job[j].fit.weight, 2 * (1 + DIM + DIM * DIM)));
        job[j].fit.mean = job[j].fit.weight + 2, job[j].fit.covariance = job[j].fit.mean + 2 * DIM;
    }
    calls_of(c)->reset();
    CHECK_OK(c, spot_mixture_em(c, &a, job, count, &cfg));
    assert_int_equal(job[0].fit.iterations, ITERATIONS);
    spot_arena_close(&a);
    spot_device_give(c, points);
    return calls_of(c)->count(NULL, "launches");
}

/* A fit of a piece: its start and its iterations. More points: the columns and their squares, 2 for the first centre and 3 for
 * the second, a round of 25 iterations of k-means with 2 each; the first M step, 5; a round of EM. Two fits take no more. */
TEST(mixtures_of_many_points_take_two_launches_an_iteration)
{
    enum { ROUND = 25 * 2, WIDE = 2 + 2 + 3 + ROUND + 5 + ROUND };
    spot_ctx c;

    open_cuda(&c, 0);
    assert_int_equal(launches_of_mixtures(&c, PIECE, 2), 2);
    assert_int_equal(launches_of_mixtures(&c, POINTS, 1), WIDE);
    assert_int_equal(launches_of_mixtures(&c, POINTS, 2), WIDE);
    spot_device_close(&c);
}

int main(void) { return run_cuda_tests(); }
