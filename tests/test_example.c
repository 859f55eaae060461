/* test_example.c - the example of host/bdm/README.md finds what it says, within what it said that it needs. */
#include "blobs.h"
#include "checks.h"

#include "example_method.c"

enum { N = 200, D = 16 };

static spot_hypotheses found;
static float confidence[N];

/* Four blobs; the classifier is sure of all but two of them, and of the second less than of the first. */
static spot_status look(spot_ctx *c, spot_arena *a, float first, float second)
{
    const int n = N;
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_PLANESPOT);
    spot_view v = blobs(N, D, 4, 1);
    spot_points points = { .n = N, .d = D, .at = v.feature };
    spot_status s;

    for (int i = 0; i < N; i++) confidence[i] = i % 4 == 1 ? first : i % 4 == 2 ? second : 0.99f;
    v.confidence = confidence;
    spot_method_islands.defaults(&cfg);
    const spot_bdm_group all = { .problems = 1, .out = &found, .views = &v, .points = &points, .seeds = &(spot_seed){ 1, 0 },
                                 .cfg = &cfg };
    found = (spot_hypotheses){ 0 };
    CHECK_OK(c, spot_arena_open(c, a, spot_bdm_groups_needs(c, 1, &n, D, &cfg, &spot_method_islands).host));
    s = spot_bdm_groups_find(c, a, &all, &spot_method_islands);
    blobs_free(&v);
    return s;
}

TEST(islands_are_where_it_fails)
{
    spot_ctx c = check_ctx(1);
    spot_arena a;
    bool seen[N] = { false };
    CHECK_OK(&c, look(&c, &a, 0.1f, 0.3f));
    assert_int_equal(found.len, 10);                            /* 2 blobs of 50 rows, 11 rows an island */
    for (int k = 0; k < found.len; k++) {
        assert_int_equal(found.h[k].len, N / 20 + 1);
        for (int i = 0; i < found.h[k].len; i++) {
            assert_true(!i || found.h[k].row[i - 1] < found.h[k].row[i]);
            assert_false(seen[found.h[k].row[i]]);
            seen[found.h[k].row[i]] = true;
            if (k < 4) assert_int_equal(found.h[k].row[i] % 4, 1);
        }
    }
    CHECK_NEAR(found.h[0].score, 0.9, 1e-6);
    CHECK_NEAR(found.h[0].mean_error, 0.9, 1e-6);
    spot_arena_close(&a);
    CHECK_OK(&c, look(&c, &a, 0.9f, 0.9f));                     /* no error at all: nothing to find */
    assert_int_equal(found.len, 0);
    spot_arena_close(&a);
}
