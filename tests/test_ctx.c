/* test_ctx.c - opening a context: its threads, its device, and a BLAS that keeps to one thread. */
#define _GNU_SOURCE
#include "checks.h"

#include <cblas.h>
#include <sched.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "core/blas_kernels.h"
#include "core/team.h"

/* OpenBLAS 0.3.21 takes an Emerald Rapids for a Prescott. */
TEST(a_cpu_that_openblas_does_not_know_gets_kernels_of_its_instructions)
{
    spot_ctx c = { 0 };

    assert_string_equal(spot_blas_kernels_for("Prescott", true, true), "SkylakeX");
    assert_string_equal(spot_blas_kernels_for("PRESCOTT", true, false), "Haswell");
    assert_null(spot_blas_kernels_for("Prescott", false, false));        /* which it may be */
    assert_null(spot_blas_kernels_for("Haswell", true, true));
    assert_null(spot_blas_kernels_for("Sapphirerapids", true, true));
    CHECK_OK(&c, spot_ctx_open(&c, "cpu", 1));
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && !getenv("OPENBLAS_CORETYPE"))
        assert_int_not_equal(strcasecmp(openblas_get_corename(), "Prescott"), 0);
#endif
    spot_ctx_close(&c);
}

TEST(threads_default_to_the_cores_we_may_use)
{
    spot_ctx c = { 0 };
    cpu_set_t all, one;
    int first = 0;
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
TEST(an_unclean_context_is_no_trouble)
{
    spot_ctx c;
    memset(&c, 0x5a, sizeof c);
    c.on_log = NULL;
    c.on_progress = NULL;
    c.stop = NULL;
    CHECK_FAILS(&c, spot_ctx_open(&c, "cpu", -1), SPOT_USAGE, "threads.number: -1");
    spot_ctx_close(&c);
    memset(&c.status, 0x5a, sizeof c.status);
    CHECK_OK(&c, spot_ctx_open(&c, "cpu", 1));
    assert_int_equal(c.status, SPOT_OK);
    spot_ctx_close(&c);
}

TEST(nonsense_is_refused_and_may_be_closed)
{
    spot_ctx c = { 0 };
    CHECK_FAILS(&c, spot_ctx_open(&c, "cpu", -1), SPOT_USAGE, "threads.number: -1");
    spot_ctx_close(&c);
    CHECK_FAILS(&c, spot_ctx_open(&c, "gpu", 1), SPOT_USAGE, "device.unknown: gpu");
    spot_ctx_close(&c);
}

static char heard[256];
static void hear(void *user, spot_log_level level, const char *text)
{
    (void)user, (void)level;
    snprintf(heard, sizeof heard, "%s", text);
}

static void call_it_class(void *user, uint32_t problem, char *text, size_t size)
{
    (void)user;
    snprintf(text, size, "class %u", problem);
}

/* An id is no part of the sentence. It survives a sentence in front, unless that has its own. */
TEST(a_failure_has_an_id)
{
    spot_ctx c = { 0 }, other = { 0 };

    assert_string_equal(spot_failure_id(&c), "");
    assert_int_equal(spot_fail(&c, SPOT_INPUT, "{row.nan} row %d is NaN", 3), SPOT_INPUT);
    assert_string_equal(spot_failure_id(&c), "row.nan");
    assert_string_equal(spot_message(&c, SPOT_INPUT), "row 3 is NaN");
    spot_fail(&c, SPOT_INPUT, "{row.more} a consequence");
    assert_string_equal(spot_failure_id(&c), "row.nan");
    spot_fail(&c, SPOT_INPUT, "a.npy: %s", spot_take_message(&c, SPOT_INPUT));
    assert_string_equal(spot_failure_id(&c), "row.nan");
    spot_fail_from(&other, SPOT_INPUT, &c);
    assert_string_equal(spot_failure_id(&other), "row.nan");
    assert_string_equal(spot_message(&other, SPOT_INPUT), "a.npy: row 3 is NaN");
    CHECK_FAILS(&c, spot_fail(&c, SPOT_INPUT, "{array.unread} %s", spot_take_message(&c, SPOT_INPUT)), SPOT_INPUT,
                "array.unread: a.npy | row 3");

    spot_fail_of(&c, SPOT_INPUT, 5, "{row.nan} row %d is NaN", 3);
    assert_string_equal(spot_failure_id(&c), "row.nan");
    assert_string_equal(spot_message(&c, SPOT_INPUT), "EC 5: row 3 is NaN");
    assert_string_equal(spot_message_alone(&c, SPOT_INPUT), "row 3 is NaN");
    (void)spot_take_message(&c, SPOT_INPUT);
    assert_string_equal(spot_failure_id(&c), "");
    spot_fail(&c, SPOT_INPUT, "another failure");                  /* whose sentence has no part of the last one's */
    assert_string_equal(spot_failure_id(&c), "");
    spot_forget(&c);
    assert_int_equal(spot_fail_from(&c, SPOT_NOMEM, &(spot_ctx){ 0 }), SPOT_NOMEM);
    assert_string_equal(spot_message(&c, SPOT_NOMEM), "out of memory");
    CHECK_FAILS(&c, spot_fail(&c, SPOT_INPUT, "{%s} is no id's form but a word in braces", "x"), SPOT_INPUT, "");
}

#define SAYS(call, words) ((call), assert_string_equal(heard, (words)))

/* The sentence of a failure, taken, may be a part of the next one, and then c holds no failure but that. */
TEST(a_sentence_is_taken_for_another)
{
    spot_ctx c = { 0 };

    spot_fail_of(&c, SPOT_NUMERIC, 5, "row %d is NaN", 3);
    spot_fail(&c, SPOT_INPUT, "a.npy: %s", spot_take_message(&c, SPOT_NUMERIC));
    assert_int_equal(c.status, SPOT_INPUT);
    assert_string_equal(spot_message(&c, SPOT_INPUT), "a.npy: EC 5: row 3 is NaN");
    assert_string_equal(spot_message_alone(&c, SPOT_INPUT), "a.npy: EC 5: row 3 is NaN");
    assert_string_equal(spot_take_message(&c, SPOT_INPUT), "a.npy: EC 5: row 3 is NaN");
    assert_int_equal(c.status, SPOT_OK);
    assert_string_equal(spot_take_message(&c, SPOT_NOMEM), "out of memory");
}

TEST(a_sentence_names_its_problem)
{
    spot_ctx c = { .on_log = hear };
    CHECK_FAILS(&c, spot_fail_of(&c, SPOT_INPUT, 5, "row %d", 3), SPOT_INPUT, ": EC 5 | row 3");
    spot_fail_of(&c, SPOT_INPUT, 5, "row %d", 3);
    spot_fail(&c, SPOT_INPUT, "a consequence");
    assert_string_equal(spot_message_alone(&c, SPOT_INPUT), "row 3");
    spot_forget(&c);
    spot_fail(&c, SPOT_INPUT, "a disk");
    assert_string_equal(spot_message_alone(&c, SPOT_INPUT), "a disk");
    spot_forget(&c);
    assert_string_equal(spot_message_alone(&c, SPOT_NOMEM), "out of memory");

    SAYS(spot_log(&c, SPOT_LOG_INFO, "%d rows", 9), "9 rows");
    SAYS(spot_log_of(&c, SPOT_LOG_INFO, 5, "%d rows", 9), "EC 5: 9 rows");
    c.who = "domino";
    SAYS(spot_log(&c, SPOT_LOG_INFO, "%d rows", 9), "domino: 9 rows");
    SAYS(spot_log_of(&c, SPOT_LOG_INFO, 5, "%d rows\n", 9), "EC 5, domino: 9 rows?");
    c.label = call_it_class;
    SAYS(spot_log_of(&c, SPOT_LOG_INFO, 5, "%d rows", 9), "class 5, domino: 9 rows");
    spot_fail_of(&c, SPOT_INPUT, 5, "row %d", 3);
    assert_string_equal(spot_message(&c, SPOT_INPUT), "class 5: row 3");
    assert_string_equal(spot_message_alone(&c, SPOT_INPUT), "row 3");
}

/* Steps that take 1 ms with `fast` threads and 9 ms with any other number: the share of steps with `fast`. */
static double share_of(int fast, int threads)
{
    const struct timespec quick = { .tv_nsec = 1000000 }, slow = { .tv_nsec = 9000000 };
    spot_team team = spot_team_of(threads);
    int steps = 0, right = 0;

    for (double since = spot_clock(); spot_clock() - since < 1.6; steps++) {
        nanosleep(team.threads == fast ? &quick : &slow, NULL);
        right += team.threads == fast;
        assert_in_range(spot_team_step(&team), 1, threads);
    }
    return (double)right / steps;
}

TEST(a_team_is_as_large_as_is_fast)
{
    spot_team alone = spot_team_of(1);

    assert_int_equal(spot_team_step(&alone), 1);
    assert_true(share_of(1, 2) > 0.6);
    assert_true(share_of(6, 6) > 0.6);
    assert_true(share_of(3, 6) > 0.6);
}
