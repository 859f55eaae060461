/* check_cuda.h - what tests of CUDA against the CPU share. A test runs on a GPU, is skipped (exit 77) where there is none,
 * and runs once more on the block emulator, there under several schedules, all of which must give the same bits. */
#ifndef SPOTTER_TESTS_CHECK_CUDA_H
#define SPOTTER_TESTS_CHECK_CUDA_H

#include <stdbool.h>
#include <stdlib.h>

#include "checks.h"
#include "core/device.h"

static const char *const schedules[] = { "identity", "reversed", "shuffled:1", "shuffled:2", "shuffled:3" };

/* Whether the emulator watches every access (test_race_*): one schedule then shows what others might, and the CPU's own cases
 * have been seen. */
static inline bool is_watched(void) { return getenv("SPOT_WATCHED") != NULL; }

/* ASan, too, looks at each access and takes ten times as long. A case then has one schedule: the bits of several are compared
 * without it. op_one_by_one has another than op_agrees. */
static inline bool is_slow(void) { return SANITIZED || is_watched(); }
static inline int schedule_after(int s, int step) { return is_slow() ? LEN(schedules) : s + step; }

static inline const char *schedule(int s) { return schedules[s % LEN(schedules)]; }

/* A CUDA context; on the emulator under the s-th schedule. On a GPU every s is one more run. */
static inline void open_cuda(spot_ctx *c, int s)
{
    *c = (spot_ctx){ .threads = 1 };
    if (getenv("SPOT_EMULATOR")) setenv("SPOT_EMULATOR", schedule(s), 1);
    CHECK_OK(c, spot_device_open(c, "cuda"));
}

/* bytes of host memory as device memory; NULL from leaves them uninitialised. */
static inline void *to_device(spot_ctx *c, const void *from, size_t bytes)
{
    void *p;

    CHECK_OK(c, spot_device_take(c, &p, bytes));
    if (from && bytes) CHECK_OK(c, spot_device_copy(c, p, from, bytes));
    return p;
}

/* p's bytes are those of `want`; p is given back. */
static inline void expect_bytes(spot_ctx *c, void *p, const void *want, size_t bytes, const char *what, int problem, int s)
{
    unsigned char *back = malloc(bytes + 1);
    size_t i;

    if (bytes) CHECK_OK(c, spot_device_copy(c, back, p, bytes));
    for (i = 0; i < bytes && back[i] == ((const unsigned char *)want)[i]; i++) {}
    if (i < bytes) fail_msg("%s of problem %d, %s: byte %zu of %zu is not the CPU's", what, problem, schedule(s), i, bytes);
    free(back);
    spot_device_give(c, p);
}

/* The largest piece of device memory that was taken since note_takes. */
static size_t noted;
static const spot_plugin *noted_plugin;

static inline spot_status noted_take(spot_ctx *c, void **out, size_t bytes)
{
    if (bytes > noted) noted = bytes;
    return noted_plugin->take(c, out, bytes);
}

static inline void note_takes(spot_ctx *c)
{
    static spot_plugin noting;
    spot_device *d = c->device;

    noted = 0;
    noted_plugin = d->plugin;
    noting = *d->plugin;
    noting.take = noted_take;
    d->plugin = &noting;
}

/* Whether a GPU or the emulator is there. */
static inline int has_cuda(void)
{
    spot_ctx c = { .threads = 1 };
    int yes = getenv("SPOT_EMULATOR") || spot_device_open(&c, "cuda") == SPOT_OK;

    if (!yes) print_message("skipped on CUDA: %s\n", spot_message(&c, SPOT_DEVICE));
    spot_device_close(&c);
    return yes;
}

/* main() of a test of CUDA: 77 where neither is. */
static inline int run_cuda_tests(void) { return has_cuda() ? run_all_tests() : 77; }

#endif
