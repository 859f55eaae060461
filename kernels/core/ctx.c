/* ctx.c - opening and closing a context: its device and its threads. */
#define _GNU_SOURCE
#include "spotter/ctx.h"

#include <cblas.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "core/device.h"

enum { MOST_THREADS = 1024 };

static int cores_of_this_process(void)
{
    cpu_set_t set;      /* of 1,024 cores; a larger machine refuses it */

    return sched_getaffinity(0, sizeof set, &set) ? MOST_THREADS : CPU_COUNT(&set);
}

spot_status spot_ctx_open(spot_ctx *c, const char *device, int threads)
{
    c->ops = NULL;
    c->device = NULL;
    c->threads = 1;
    c->label = NULL;
    c->who = NULL;
    spot_forget(c);
    if (threads < 0 || threads > MOST_THREADS)
        return spot_fail(c, SPOT_USAGE, "%d threads asked for; give 1 to %d, or 0 for every core", threads, MOST_THREADS);
    c->threads = threads ? threads : cores_of_this_process();
    openblas_set_num_threads(1);      /* called from inside our own threads, whose number must not change results */
    return spot_device_open(c, device);
}

void spot_ctx_close(spot_ctx *c) { spot_device_close(c); }

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
