/* test_race.c - the race detector sees each planted race under any one schedule, and none where it was mended. */
#define _GNU_SOURCE   /* setenv */
#include "checks.h"

#include <stdlib.h>
#include <string.h>

#include "planted_faults.h"

static const char *const schedules[] = { "identity", "reversed", "shuffled:1" };

static void run(void (*kernel)(float *out), char report[1024])
{
    float out[FAULT_OUTPUTS];

    spot_fault_run(kernel, out, report, 1024);
}

/* Both lines stand in the report. */
static void expect_race(const char *name, const char *report, const char *words)
{
    const char *first = strstr(report, "planted_faults.cu:");

    if (!strstr(report, "race: ") || !first || !strstr(first + 1, "planted_faults.cu:") || !strstr(report, words))
        fail_msg("%s: no race with the words '%s' and two lines is reported, but '%s'", name, words, report);
}

static void sees_race(void **state)
{
    const spot_race *race = *state;
    char report[1024];

    for (int s = 0; s < LEN(schedules); s++) {
        setenv("SPOT_EMULATOR", schedules[s], 1);
        run(race->broken, report);
        if (!s) print_message("    %s\n", report);
        expect_race(race->name, report, race->report);
        run(race->mended, report);
        if (*report) fail_msg("%s, mended: %s", race->name, report);
    }
}

/* Kernels whose outputs depend on the schedule are reported without another schedule; correct ones are not. */
TEST(one_schedule_is_enough)
{
    char report[1024];

    setenv("SPOT_EMULATOR", "identity", 1);
    for (int i = 0; i < spot_fault_count; i++) {
        const spot_fault *fault = &spot_faults[i];
        run(fault->run, report);
        if (fault->sign == SPOT_VARIES) expect_race(fault->name, report, "");
        if (fault->sign == SPOT_CORRECT && *report) fail_msg("%s: %s", fault->name, report);
    }
}

int main(void)
{
    for (int i = 0; i < spot_race_count; i++)
        add_test(&check_tests, (struct CMUnitTest){ spot_races[i].name, sees_race, NULL, NULL, (void *)&spot_races[i] });
    return run_all_tests();
}
