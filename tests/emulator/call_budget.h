/* call_budget.h - the counts of calls (calls.h) of a test on the emulator, against a file of budgets (budget.h). */
#ifndef SPOTTER_EMULATOR_CALL_BUDGET_H
#define SPOTTER_EMULATOR_CALL_BUDGET_H

#include <dlfcn.h>

#include "budget.h"
#include "calls.h"
#include "check_cuda.h"

static inline const spot_emulator_calls *calls_of(const spot_ctx *c)
{
    const spot_emulator_calls *calls = dlsym(((const spot_device *)c->device)->library, "spot_emulator_calls");

    if (!calls) fail_msg("the plugin of %s has no spot_emulator_calls: is it the emulator's?", spot_device_name(c));
    return calls;
}

static inline void add_calls(void *user, const char *stage, const char *call, long long count)
{
    if (count) budget_add(user, call, stage[0] ? stage : "-")->figure[0] = count;
}

static inline void stays_within(const spot_ctx *c, const char *path)
{
    budget now = { .figures = 1, .what = { "calls or bytes" } }, most = now;

    budget_read(&most, path);
    calls_of(c)->each(add_calls, &now);
    budget_write(&now, getenv("SPOT_CALLS_NOW"));
    if (budget_over(&now, &most)) fail_msg("counts are above tests/%s; SPOT_CALLS_NOW=FILE adds today's", path);
}

#endif
