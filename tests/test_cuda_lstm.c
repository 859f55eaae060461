/* test_cuda_lstm.c - kernels/net/lstm: the paper's policy; more cells, values and rows than warps and lanes; one of everything;
 * batches that are not full; entropy; several updates. test_lstm.c compares with PyTorch and with slopes. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include <dlfcn.h>

#include "emulator/calls.h"
#include "op_lstm.h"
#include "spotter/examiner.h"

/* factors, values, hidden, batch, live, policies, weight of the entropy in hundredths, rounds */
static const int sizes[][SPOT_OP_SIZES] = {
    { 9, 100, 30, 32, 32, 2, 0, 1 }, { 3, 7, 31, 33, 33, 1, 10, 1 }, { 2, 5, 32, 70, 65, 1, 0, 1 }, { 1, 3, 2, 4, 4, 3, 5, 1 },
    { 4, 1, 1, 1, 1, 1, 0, 1 },      { 2, 40, 65, 5, 2, 1, 1, 1 },   { 5, 9, 6, 40, 3, 3, 20, 3 },
};

/* ---- a search on the device: its points, and its calls of the runtime ---- */

enum { OBJECTS = 3, ROWS = 5 };

static long long count(const spot_emulator_calls *calls, const char *call) { return calls ? calls->count(NULL, call) : 0; }

/* An ask is a launch and a tell two, for all objects; each has a copy in, and an ask a copy out. */
static void expect_calls(const spot_ctx *c, long long launches, long long in, long long out)
{
    const spot_emulator_calls *calls = dlsym(((const spot_device *)c->device)->library, "spot_emulator_calls");

    if (!calls) return;      /* a GPU */
    assert_true(count(calls, "launches") == launches && count(calls, "clears") == 0 && count(calls, "takes") == 0);
    assert_true(count(calls, "copies_in") == in && count(calls, "copies_out") == out && count(calls, "copies_within") == 0);
    calls->reset();
}

static void reset_calls(const spot_ctx *c)
{
    const spot_emulator_calls *calls = dlsym(((const spot_device *)c->device)->library, "spot_emulator_calls");

    if (calls) calls->reset();
}

/* points (rounds, OBJECTS, ROWS, dims) */
static void search(spot_ctx *c, double *points, int rounds, bool device)
{
    static const uint32_t numbers[OBJECTS] = { 2, 71, 5 };
    const spot_factor_space space = spot_factor_space_paper();
    const spot_examiner_search s = { &space, OBJECTS, rounds * ROWS - 2, 4, numbers };
    spot_examiner_config cfg = spot_examiner_defaults(SPOT_EXAMINER_RL);
    double loss[OBJECTS * ROWS];
    spot_examiner *e;

    cfg.rl.batch = ROWS, cfg.rl.values = 20, cfg.rl.hidden = 8, cfg.rl.lr = .1;
    CHECK_OK(c, spot_examiner_open(c, &e, &cfg, &s));
    for (int n; (n = spot_examiner_wants(e)); points += OBJECTS * ROWS * space.dims) {
        if (device) reset_calls(c);
        CHECK_OK(c, spot_examiner_ask(c, e, points));
        if (device) expect_calls(c, 1, 1, 1);
        for (int i = 0; i < OBJECTS * n; i++) loss[i] = -points[i * space.dims] * points[i * space.dims + 3];
        CHECK_OK(c, spot_examiner_tell(c, e, loss));
        if (device) expect_calls(c, 2, 1, 0);
    }
    spot_examiner_close(e);
}

TEST_ON_CUDA(a_search_has_the_cpus_points)
{
    enum { ROUNDS = 4, POINTS = ROUNDS * OBJECTS * ROWS * 9 };
    double *want = calloc(POINTS, sizeof *want), *got = calloc(POINTS, sizeof *got);
    spot_ctx cpu = check_ctx(2), c;

    search(&cpu, want, ROUNDS, false);
    for (int s = 0; s < LEN(schedules); s = schedule_after(s, 2)) {
        open_cuda(&c, s);
        search(&c, got, ROUNDS, true);
        assert_memory_equal(got, want, POINTS * sizeof *want);
        spot_device_close(&c);
    }
    free(want), free(got);
}

int main(void)
{
    static op_row rows[] = { OP_ROW(spot_op_lstm, sizes, .step = 2) };

    return run_ops(rows, LEN(rows));
}
