/* ctx.c - name, clock and end of a context; kernels/open.c opens it. */
#define _GNU_SOURCE
#include "spotter/ctx.h"

#include <time.h>

#include "core/device.h"

void spot_ctx_close(spot_ctx *c)
{
    spot_device_close(c);
}

const char *spot_ctx_device_name(const spot_ctx *c) { return spot_device_name(c); }

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double spot_clock(void) { return seconds(CLOCK_MONOTONIC); }

spot_spent spot_spent_now(void)
{
    return (spot_spent){ spot_clock(), seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

void spot_spend(spot_spent *sum, spot_spent *at)
{
    spot_spent now = spot_spent_now();

    sum->wall += now.wall - at->wall;
    sum->cpu += now.cpu - at->cpu;
    *at = now;
}
