/* test_cuda_spotlight.c - spotlights on CUDA: of spherical precision the CPU's bits, of full precision its numbers; and the
 * method, from views to hypotheses. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <cblas.h>
#include <math.h>

#include "blobs.h"
#include "fit/spotlight_fit.h"

/* Ragged: the edges of tiles, blocks and slabs, one row, and a problem whose rows are too far off to have any weight. */
static struct { int n, d; float scale; } cases[] = {
    { 130, 32, 1 }, { 257, 96, 1 }, { 1, 32, 1 }, { 40, 320, 1 }, { 60, 64, 1e4f }, { 128, 64, 1 },
};
enum { CASES = LEN(cases) };

typedef struct { size_t state, weight, trace; } sizes;      /* bytes of a problem's results */

static sizes sizes_of(int q, const spot_spotlight_config *cfg)
{
    size_t d = (size_t)cases[q].d, full = cfg->precision == SPOT_PRECISION_FULL;

    return (sizes){ (full ? d * (d + 2) : d + 1) * sizeof(double), (size_t)cases[q].n * sizeof(double),
                    3 * (size_t)cfg->steps * sizeof(double) };
}

/* The start: mean off the origin, so that no column is alike. */
static spot_spotlight_problem host_problem(int q, const spot_view *v, const spot_spotlight_config *cfg)
{
    sizes s = sizes_of(q, cfg);
    int d = cases[q].d, full = cfg->precision == SPOT_PRECISION_FULL;
    double *state = aligned_alloc(64, (s.state + 63) / 64 * 64), *loss = aligned_alloc(64, (s.weight + 63) / 64 * 64);
    spot_spotlight_problem p = { .n = v->n, .d = d, .x = v->feature, .loss = loss, .mean = state, .log_precision = state + d,
                                 .axes = full ? state + 2 * d : NULL, .weight = calloc(1, s.weight),
                                 .trace = calloc(1, s.trace) };

    memset(state, 0, s.state);
    for (int j = 0; j < d; j++) state[j] = 0.01 * (j % 7);
    for (int j = 0; j < (full ? d : 1); j++) p.log_precision[j] = -9 - 0.1 * (j % 3);
    for (int j = 0; full && j < d; j++) p.axes[j * (d + 1)] = 1;
    for (int i = 0; i < v->n; i++) loss[i] = i % 4 == 0 ? 3 + 0.01 * (i % 9) : 0.1 * (i % 5);
    return p;
}

static void shine(spot_ctx *c, int problems, const spot_spotlight_problem *p, const spot_spotlight_config *cfg)
{
    spot_arena a;

    size_t scratch = spot_spotlight_scratch(problems, 257, 320, cfg, c->device ? 0 : c->threads);

    CHECK_OK(c, spot_arena_open_device(c, &a, 64 + scratch));
    CHECK_OK(c, spot_spotlight_shine(c, &a, problems, p, cfg, 0));
    spot_arena_close(&a);
}

/* got's bytes are want's, or its numbers are. */
static void compare(spot_ctx *c, const double *got, const double *want, size_t bytes, int bits, const char *what, int q, int s)
{
    double *back = malloc(bytes);

    CHECK_OK(c, spot_device_copy(c, back, got, bytes));
    for (size_t e = 0; e < bytes / sizeof *back; e++)
        if (bits ? memcmp(&back[e], &want[e], sizeof *back) != 0 : !(fabs(back[e] - want[e]) <= 1e-8 * (1e-3 + fabs(want[e]))))
            fail_msg("%s of problem %d, %s: number %zu is %.17g, the CPU's %.17g", what, q, schedules[s], e, back[e], want[e]);
    free(back);
    spot_device_give(c, (void *)got);
}

static void agrees(int kernel, int precision, int steps)
{
    spot_spotlight_config cfg = { .min_weight = 0.1, .kernel = kernel, .precision = precision, .steps = steps, .patience = 0,
                                  .lr = 0.01, .barrier_scale = 1, .barrier_end = 0.05 };
    int full = precision == SPOT_PRECISION_FULL;
    spot_ctx cpu = check_ctx(2);
    spot_view v[CASES];
    spot_spotlight_problem want[CASES], from[CASES];

    if (full) cases[1].n = 131, cases[1].d = cases[3].d = 64, cases[5].d = 32;      /* so that the emulator is done soon */
    for (int q = 0; q < CASES; q++) {
        v[q] = blobs(cases[q].n, cases[q].d, 4, (uint64_t)q);
        for (int e = 0; e < v[q].n * v[q].d; e++) v[q].feature[e] *= cases[q].scale;
        float *copy = aligned_alloc(64, ((size_t)v[q].n * v[q].d * sizeof *copy + 63) / 64 * 64);
        memcpy(copy, v[q].feature, (size_t)v[q].n * v[q].d * sizeof *copy);
        blobs_free(&v[q]);
        v[q].feature = copy;
        from[q] = host_problem(q, &v[q], &cfg);
        want[q] = host_problem(q, &v[q], &cfg);
    }
    shine(&cpu, CASES, want, &cfg);
    assert_true(want[4].weight[0] == 0 && want[0].weight[0] > 0 && want[2].trace[3 * steps - 1] < cfg.lr);
    for (int s = 0; s < LEN(schedules); s += full ? 3 : 1) {
        spot_spotlight_problem p[CASES];
        spot_ctx c;

        open_cuda(&c, s);
        for (int q = 0; q < CASES; q++) {
            sizes bytes = sizes_of(q, &cfg);
            p[q] = from[q];
            p[q].x = to_device(&c, from[q].x, (size_t)from[q].n * from[q].d * sizeof(float));
            p[q].loss = to_device(&c, from[q].loss, bytes.weight);
            p[q].mean = to_device(&c, from[q].mean, bytes.state);
            p[q].log_precision = p[q].mean + p[q].d;
            p[q].axes = full ? p[q].mean + 2 * p[q].d : NULL;
            p[q].weight = to_device(&c, NULL, bytes.weight);
            p[q].trace = to_device(&c, from[q].trace, bytes.trace);
        }
        shine(&c, s % 2 ? CASES - 1 : CASES, p, &cfg);
        if (s % 2) shine(&c, 1, &p[CASES - 1], &cfg);        /* alone */
        for (int q = 0; q < CASES; q++) {
            sizes bytes = sizes_of(q, &cfg);
            compare(&c, p[q].weight, want[q].weight, bytes.weight, !full, "a weight", q, s);
            compare(&c, p[q].trace, want[q].trace, bytes.trace, !full, "the trace", q, s);
            compare(&c, p[q].mean, want[q].mean, bytes.state, !full, "a parameter", q, s);
            spot_device_give(&c, (void *)p[q].x);
            spot_device_give(&c, (void *)p[q].loss);
        }
        spot_device_close(&c);
    }
    for (int q = 0; q < CASES; q++) {
        blobs_free(&v[q]);
        free((void *)want[q].loss), free(want[q].mean), free(want[q].weight), free(want[q].trace);
        free((void *)from[q].loss), free(from[q].mean), free(from[q].weight), free(from[q].trace);
    }
}

#define AGREES(kernel, precision, steps) \
    (void **state) { (void)state; agrees(SPOT_KERNEL_##kernel, SPOT_PRECISION_##precision, steps); }
static void gaussian_has_the_same_bits AGREES(GAUSSIAN, SPHERICAL, 25)
static void compact_has_the_same_bits AGREES(COMPACT, SPHERICAL, 25)
static void full_gaussian_agrees AGREES(GAUSSIAN, FULL, 3)
static void full_compact_agrees AGREES(COMPACT, FULL, 3)

/* Views to hypotheses, three problems, the first with fewer columns than the others, two spotlights each. */
static void the_method_agrees(void **state)
{
    enum { PROBLEMS = 3, D = 36 };
    static const int rows[PROBLEMS] = { 70, 33, 129 };
    spot_view v[PROBLEMS];
    spot_points points[PROBLEMS];
    spot_seed seed[PROBLEMS] = { { 1, 0 } };
    spot_ctx cpu = check_ctx(2), c;
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_SPOTLIGHT);

    (void)state;
    for (int q = 0; q < PROBLEMS; q++) {
        v[q] = blobs(rows[q], D, 3, (uint64_t)q);
        v[q].confidence = malloc((size_t)rows[q] * sizeof(float));
        for (int i = 0; i < rows[q]; i++) v[q].confidence[i] = i % 3 ? 0.9f + 0.01f * (float)(i % 7) : 0.02f * (float)(i % 5);
        points[q] = (spot_points){ .n = rows[q], .d = q ? D : 20, .at = v[q].feature };
    }
    cfg.top = 2;
    for (int precision = 0; precision < 2; precision++) {
        spot_hypotheses want[PROBLEMS], got[PROBLEMS];
        spot_arena a, b;
        cfg.spotlight.precision = precision;
        cfg.spotlight.steps = precision ? 4 : 25;
        CHECK_OK(&cpu, spot_arena_open(&cpu, &a, spot_bdm_needs(&cpu, PROBLEMS, rows, D, &cfg).host));
        CHECK_OK(&cpu, spot_bdm_find(&cpu, &a, PROBLEMS, want, v, points, seed, &cfg));
        open_cuda(&c, 2);
        assert_true(spot_bdm_needs(&c, PROBLEMS, rows, D, &cfg).device > spot_bdm_needs(&c, 1, rows, D, &cfg).device);
        CHECK_OK(&c, spot_arena_open(&c, &b, spot_bdm_needs(&c, PROBLEMS, rows, D, &cfg).host));
        CHECK_OK(&c, spot_bdm_find(&c, &b, PROBLEMS, got, v, points, seed, &cfg));
        for (int q = 0; q < PROBLEMS; q++) {
            assert_true(want[q].len == 2 && got[q].len == 2);
            for (int k = 0; k < 2; k++) {
                assert_int_equal(got[q].h[k].len, want[q].h[k].len);
                assert_memory_equal(got[q].h[k].row, want[q].h[k].row, (size_t)want[q].h[k].len * sizeof(int));
                CHECK_NEAR(got[q].h[k].score, want[q].h[k].score, precision ? 1e-8 : 0);
            }
        }
        spot_arena_close(&a);
        spot_arena_close(&b);
        spot_device_close(&c);
    }
    for (int q = 0; q < PROBLEMS; q++) free(v[q].confidence), blobs_free(&v[q]);
}

static void failures_are_told(void **state)
{
    float x[32] = { 1 };
    double loss[1] = { 1 }, start[33] = { 0 }, weight[1];
    spot_spotlight_problem p = { .n = 1, .d = 32, .x = x, .loss = loss, .mean = start, .log_precision = start + 32,
                                 .weight = weight };
    spot_spotlight_config cfg = { .min_weight = 0.1, .steps = 2, .lr = 0.1, .barrier_end = 0.05 };
    spot_arena a;
    spot_ctx c;

    (void)state;
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_arena_open_device(&c, &a, 64 + spot_spotlight_scratch(1, 1, 32, &cfg, 0)));
    CHECK_FAILS(&c, spot_spotlight_shine(&c, &a, 1, &p, &cfg, 0), SPOT_UNSUPPORTED, "spotlight: x: in host memory");
    spot_arena_close(&a);
    spot_device_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_has_the_same_bits), cmocka_unit_test(compact_has_the_same_bits),
        cmocka_unit_test(full_gaussian_agrees),       cmocka_unit_test(full_compact_agrees),
        cmocka_unit_test(the_method_agrees),          cmocka_unit_test(failures_are_told),
    };

    openblas_set_num_threads(1);
    return RUN_ON_CUDA(tests);
}
