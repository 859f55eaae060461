/* test_ctx.c - opening a context: its threads, its device, and a BLAS that keeps to one thread. */
#define _GNU_SOURCE
#include "checks.h"

#include <cblas.h>
#include <sched.h>

static void threads_default_to_the_cores_we_may_use(void **state)
{
    spot_ctx c = { 0 };
    cpu_set_t all, one;
    int first = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CHECK_OK(&c, spot_ctx_open(&c, "cpu", 0));
    assert_int_equal(c.threads, CPU_COUNT(&all));
    assert_int_equal(openblas_get_num_threads(), 1);
    assert_string_equal(spot_ctx_device_name(&c), "cpu");
    spot_ctx_close(&c);

    while (!CPU_ISSET(first, &all)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_OK(&c, spot_ctx_open(&c, "cpu", 0));
    assert_int_equal(c.threads, 1);
    spot_ctx_close(&c);
    sched_setaffinity(0, sizeof all, &all);

    CHECK_OK(&c, spot_ctx_open(&c, "cpu", 3));
    assert_int_equal(c.threads, 3);
    spot_ctx_close(&c);
}

/* The callbacks, user and stop are the caller's; what the rest held does not matter. */
static void an_unclean_context_is_no_trouble(void **state)
{
    spot_ctx c;
    (void)state;
    memset(&c, 0x5a, sizeof c);
    c.on_log = NULL;
    c.on_progress = NULL;
    c.stop = NULL;
    CHECK_FAILS(&c, spot_ctx_open(&c, "cpu", -1), SPOT_USAGE, "-1 threads asked for");
    spot_ctx_close(&c);
    memset(&c.status, 0x5a, sizeof c.status);
    CHECK_OK(&c, spot_ctx_open(&c, "cpu", 1));
    assert_int_equal(c.status, SPOT_OK);
    spot_ctx_close(&c);
}

static void nonsense_is_refused_and_may_be_closed(void **state)
{
    spot_ctx c = { 0 };
    (void)state;
    CHECK_FAILS(&c, spot_ctx_open(&c, "cpu", -1), SPOT_USAGE, "-1 threads asked for");
    spot_ctx_close(&c);
    CHECK_FAILS(&c, spot_ctx_open(&c, "gpu", 1), SPOT_USAGE, "gpu");
    spot_ctx_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_default_to_the_cores_we_may_use),
        cmocka_unit_test(an_unclean_context_is_no_trouble),
        cmocka_unit_test(nonsense_is_refused_and_may_be_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
