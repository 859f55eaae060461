/* test_calls_discover.c - how often `discover` and the fits of its methods call the CUDA runtime, and what they copy, against
 * calls_discover_budget.txt. ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "call_budget.h"
#include "check_copies.h"
#include "check_findings.h"
#include "fit/hinge.h"
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

int main(void) { return run_cuda_tests(); }
