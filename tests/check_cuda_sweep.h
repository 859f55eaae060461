/* check_cuda_sweep.h - for tests of sweeps on CUDA: the runs "cpu" and "cuda" in the test's folder are compared; a device with
 * little memory. */
#ifndef SPOTTER_TESTS_CHECK_CUDA_SWEEP_H
#define SPOTTER_TESTS_CHECK_CUDA_SWEEP_H

#include <math.h>

#include "check_cuda.h"
#include "check_sweep.h"
#include "sweep/pipeline.h"

static inline spot_segment *read_segment(spot_ctx *c, const char *name, int index)
{
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state state;
    char dir[128], why[1300];

    assert_non_null(s);
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    CHECK_OK(c, spot_segment_read(c, dir, index, s, &state, why, sizeof why));
    assert_int_equal(state, SPOT_SEGMENT_WHOLE);
    return s;
}

static inline float *confidences(spot_ctx *c, spot_arena *a, const spot_config *cfg, const char *name, int ec, int *n)
{
    spot_identity id;
    spot_source source;
    spot_store store;
    spot_seen seen;
    char dir[128];
    bool found;

    snprintf(dir, sizeof dir, "%s/%s", root, name);
    CHECK_OK(c, spot_store_open(c, &store, dir));
    CHECK_OK(c, spot_source_open(c, &source, cfg));
    CHECK_OK(c, spot_identify(c, &id, cfg, source.photos));
    CHECK_OK(c, spot_recall(c, a, &store, spot_key_of_model(c, &id, cfg, (uint32_t)ec), "view", spot_pack_seen, &seen, &found));
    assert_true(found);
    spot_source_close(&source);
    *n = seen.view.n;
    return seen.view.confidence;
}

/* Two steps from chance: Adam divides by gradients' sizes, so that the last bits of a tiny gradient move a weight by as much
 * as a learning rate. */
static inline void compare_runs(spot_ctx *cpu, spot_ctx *cuda, const spot_config *cfg, int ecs, double tolerance)
{
    for (int ec = 0; ec < ecs; ec++) {
        spot_segment *want = read_segment(cpu, "cpu", ec), *got = read_segment(cuda, "cuda", ec);
        float *x, *y;
        int n, m;
        spot_arena a;

        assert_string_equal(got->device, "cuda");
        assert_int_equal(got->status, want->status);
        assert_int_equal(got->lesson.learned, want->lesson.learned);
        CHECK_NEAR(got->lesson.epoch[0].val_loss, want->lesson.epoch[0].val_loss, tolerance);
        CHECK_NEAR(got->lesson.outside, want->lesson.outside, 0);
        for (int b = 0; b < cfg->bdms; b++) {
            assert_int_equal(got->method[b].status, want->method[b].status);
            CHECK_NEAR(got->method[b].score.dr, want->method[b].score.dr, 0);
        }
        CHECK_OK(cpu, spot_arena_open(cpu, &a, 1 << 20));
        x = confidences(cpu, &a, cfg, "cpu", ec, &n);
        y = confidences(cuda, &a, cfg, "cuda", ec, &m);
        assert_int_equal(n, m);
        for (int i = 0; i < n; i++) CHECK_NEAR(y[i], x[i], tolerance);
        spot_arena_close(&a);
        spot_segment_free(want), spot_segment_free(got);
    }
}

/* The emulator has so many bytes of device memory. */
static inline void hold(size_t bytes)
{
    char text[32];

    snprintf(text, sizeof text, "%zu", bytes);
    setenv("SPOT_EMULATOR_MEMORY", text, 1);
}

#endif
