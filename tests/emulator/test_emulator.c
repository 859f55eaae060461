/* test_emulator.c - an emulator that sees nothing proves nothing: it must catch kernels that are wrong on purpose, and
 * give the same bits for those that are right. */
#define _GNU_SOURCE   /* setenv */
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planted_faults.h"

static const char *const schedules[] = { "identity", "reversed", "shuffled:1", "shuffled:2", "shuffled:3" };

/* Runs the fault in a process of its own; whether that ended badly, as ASan ends it. */
static int dies(const spot_fault *fault)
{
    float out[FAULT_OUTPUTS];
    char report[1024];
    int status;
    pid_t child = fork();

    if (!child) {
        if (!freopen("/dev/null", "w", stderr)) _exit(0);
        spot_fault_run(fault->run, out, report, sizeof report);
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && status != 0;
}

static void one_fault(const spot_fault *fault)
{
    float first[FAULT_OUTPUTS], out[FAULT_OUTPUTS];
    char report[1024];
    int differs = 0, reported = 0, nan = 0, all = LEN(schedules);

    for (int s = 0; s < all; s++) {
        setenv("SPOT_EMULATOR", schedules[s], 1);
        if (fault->sign == SPOT_DIES) {
            reported += dies(fault);
            continue;
        }
        spot_fault_run(fault->run, out, report, sizeof report);
        if (!s && *report) print_message("    %s\n", report);
        reported += fault->report ? strstr(report, fault->report) != NULL : *report != 0;
        if (!s) memcpy(first, out, sizeof out);
        differs += memcmp(first, out, sizeof out) != 0;
        nan += isnan(out[0]);
    }
    switch (fault->sign) {
    case SPOT_CORRECT:    if (!differs && !reported && !nan) return; break;
    case SPOT_VARIES:     if (differs && !reported) return; break;
    case SPOT_LEAVES_NAN: if (nan == all && !reported) return; break;
    case SPOT_DIES:
    case SPOT_REPORTED:   if (reported == all) return; break;
    }
    fail_msg("%s: of %d schedules %d differ, %d report, %d leave NaN", fault->name, all, differs, reported, nan);
}

static void sums_what_it_should(void **state)
{
    float out[FAULT_OUTPUTS];
    char report[1024];
    (void)state;
    setenv("SPOT_EMULATOR", "shuffled:7", 1);
    spot_fault_run(spot_faults[0].run, out, report, sizeof report);
    for (int i = 0; i < FAULT_OUTPUTS; i++) assert_true(out[i] == 96 * 97 / 2);
}

static void recorded_kernel_runs_when_replayed(void **state)
{
    (void)state;
    setenv("SPOT_EMULATOR", "identity", 1);
    assert_true(spot_capture_works() == 96 * 97 / 2);
}

static void capture_refuses_what_a_gpu_refuses(void **state)
{
    (void)state;
    for (int i = 0; i < spot_captured_call_count; i++)
        if (!spot_capture_refuses(&spot_captured_calls[i])) fail_msg("a capture takes %s", spot_captured_calls[i].name);
}

/* Under "identity" a branch runs before what is beside it, under other schedules behind it. So a race between them, or a wait
 * that is missing, gives other bits; and a capture must not end without the wait. */
static void branch_runs_beside(void **state)
{
    enum { UNJOINED = 904, INVALIDATED = 901 };
    int ended;

    (void)state;
    for (int s = 0; s < LEN(schedules); s++) {
        setenv("SPOT_EMULATOR", schedules[s], 1);
        assert_true(spot_fork(FORK_RIGHT, &ended) == 5 && !ended);
        assert_true(spot_fork_at_once(FORK_RIGHT) == 5);
        assert_true(spot_fork(FORK_RACES, &ended) == (s ? 14 : 5) && !ended);
        assert_true(spot_fork_at_once(FORK_RACES) == (s ? 14 : 5));
        assert_true(!(spot_fork_at_once(FORK_UNJOINED) == 5) == (s > 0));
        spot_fork(FORK_UNJOINED, &ended);
        assert_int_equal(ended, UNJOINED);
        spot_fork(FORK_OUTSIDE, &ended);
        assert_int_equal(ended, INVALIDATED);
    }
}

static void run_fault(void **state) { one_fault(*state); }

int main(void)
{
    enum { OWN = 4 };
    struct CMUnitTest tests[32] = { cmocka_unit_test(sums_what_it_should), cmocka_unit_test(recorded_kernel_runs_when_replayed),
                                    cmocka_unit_test(capture_refuses_what_a_gpu_refuses),
                                    cmocka_unit_test(branch_runs_beside) };

    for (int i = 0; i < spot_fault_count; i++)
        tests[i + OWN] = (struct CMUnitTest){ .name = spot_faults[i].name, .test_func = run_fault,
                                            .initial_state = (void *)&spot_faults[i] };
    return _cmocka_run_group_tests("emulator", tests, (size_t)spot_fault_count + OWN, NULL, NULL);
}
