/* test_cuda_george.c - silhouettes and all that GEORGE does on CUDA against the CPU: silhouettes have its bits. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <math.h>

#include "fit/mixture.h"
#include "fit/silhouette.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* Ragged: edges of blocks and of passes, one row, one cluster, clusters without rows; more than go into one launch. */
static const struct { int n, d, k; } cases[] = {
    { 65, 2, 4 }, { 1, 3, 1 }, { 64, 1, 1 }, { 40, 7, 40 }, { 150, 2, 130 }, { 33, 70, 64 }, { 20, 2, 65 },
};
enum { CASES = LEN(cases), MANY = 90 };

static spot_silhouette_job host_job(int which)
{
    int n = cases[which % CASES].n, d = cases[which % CASES].d, k = cases[which % CASES].k;
    spot_rng r = spot_rng_at(2, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)which);
    float *x = malloc((size_t)n * d * sizeof *x);
    uint16_t *label = malloc((size_t)n * sizeof *label);
    for (int i = 0; i < n * d; i++) x[i] = (float)(i / d % 5 ? spot_rng_normal(&r) : 1);     /* some equal points */
    for (int i = 0; i < n; i++) label[i] = (uint16_t)spot_rng_below(&r, (uint32_t)k);
    return (spot_silhouette_job){ n, d, k, x, label, malloc((size_t)n * sizeof(double)) };
}

static void silhouettes_have_the_same_bits(void **state)
{
    spot_ctx cpu = check_ctx(2);
    spot_silhouette_job want[MANY], there[MANY];
    (void)state;
    for (int q = 0; q < MANY; q++) want[q] = host_job(q);
    CHECK_OK(&cpu, spot_silhouette_samples(&cpu, want, MANY));
    for (int s = 0; s < LEN(schedules); s++) {
        spot_ctx c;
        open_cuda(&c, s);
        for (int q = 0; q < MANY; q++) {
            size_t n = (size_t)want[q].n;
            there[q] = want[q];
            there[q].x = to_device(&c, want[q].x, n * (size_t)want[q].d * sizeof(float));
            there[q].label = to_device(&c, want[q].label, n * sizeof(uint16_t));
            there[q].silhouette = to_device(&c, NULL, n * sizeof(double));
        }
        CHECK_OK(&c, spot_silhouette_samples(&c, there, MANY));
        for (int q = 0; q < MANY; q++) {
            expect_bytes(&c, there[q].silhouette, want[q].silhouette, (size_t)want[q].n * sizeof(double), "silhouettes", q, s);
            spot_device_give(&c, (void *)there[q].x);
            spot_device_give(&c, (void *)there[q].label);
        }
        spot_device_close(&c);
    }
    for (int q = 0; q < MANY; q++) free((void *)want[q].x), free((void *)want[q].label), free(want[q].silhouette);
}

/* Four clouds, of which one fails. */
enum { N = 120, PROBLEMS = 3 };
static void clouds(float *at, float *confidence, uint32_t seed)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 1, 0);
    for (int i = 0; i < N; i++) {
        at[2 * i] = (float)(12 * (i % 2) + spot_rng_normal(&r));
        at[2 * i + 1] = (float)(15 * (i % 4 / 2) + spot_rng_normal(&r));
        confidence[i] = (float)((i % 4 == 3 ? 0.1 : 0.9) + 0.05 * spot_rng_uniform(&r));
    }
}

/* The whole method; k-means labels must agree, too, which the same draws and well separated groups see to. */
static void hypotheses_agree(void **state)
{
    static float at[PROBLEMS][2 * N], confidence[PROBLEMS][N];
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_GEORGE);
    spot_seed seeds[PROBLEMS];
    spot_points points[PROBLEMS];
    spot_view views[PROBLEMS];
    int n[PROBLEMS];
    (void)state;
    for (int p = 0; p < PROBLEMS; p++) {
        n[p] = N - 40 * p;
        clouds(at[p], confidence[p], (uint32_t)p);
        seeds[p] = (spot_seed){ 1, (uint32_t)p };
        views[p] = (spot_view){ .n = n[p], .confidence = confidence[p] };
        points[p] = (spot_points){ .n = n[p], .d = 2, .at = at[p] };
    }
    cfg.george.clusters = 4;
    cfg.george.starts = 2;
    cfg.george.overcluster = 2;
    cfg.least = 5;
    for (int kmeans = 0; kmeans < 2; kmeans++) {
        spot_hypotheses found[2][PROBLEMS];
        spot_arena a[2];
        cfg.george.cluster = kmeans;
        for (int cuda = 0; cuda < 2; cuda++) {
            spot_ctx c = check_ctx(1), host = check_ctx(1);
            spot_bytes needs;
            if (cuda) open_cuda(&c, 3);
            needs = spot_bdm_needs(&c, PROBLEMS, n, 2, &cfg);
            CHECK_OK(&host, spot_arena_open(&host, &a[cuda], needs.host));
            if (cuda) note_takes(&c);
            CHECK_OK(&c, spot_bdm_find(&c, &a[cuda], PROBLEMS, found[cuda], views, points, seeds, &cfg));
            if (cuda) assert_true(noted > 0 && noted <= needs.device);
            spot_device_close(&c);
        }
        for (int p = 0; p < PROBLEMS; p++) {
            assert_int_equal(found[0][p].len, found[1][p].len);
            for (int k = 0; k < found[0][p].len; k++) {
                const spot_hypothesis *x = &found[0][p].h[k], *y = &found[1][p].h[k];
                assert_int_equal(x->len, y->len);
                assert_memory_equal(x->row, y->row, (size_t)x->len * sizeof(int));
                assert_memory_equal(&x->score, &y->score, sizeof(double));
            }
        }
        spot_arena_close(&a[0]);
        spot_arena_close(&a[1]);
    }
}

static void failures_are_told(void **state)
{
    float x[2] = { 0, 1 };
    uint16_t label[2] = { 0, 1 };
    double silhouette[2];
    spot_silhouette_job job = { 2, 1, 2, x, label, silhouette };
    uint8_t byte[2];
    spot_mixture_job mixture = { .x = x, .fit = { .n = 2, .d = 1, .k = 2 }, .label = byte };
    spot_arena scratch;
    spot_ctx c;
    (void)state;
    open_cuda(&c, 0);
    CHECK_FAILS(&c, spot_silhouette_samples(&c, &job, 1), SPOT_UNSUPPORTED, "host memory");
    CHECK_OK(&c, spot_arena_open_device(&c, &scratch, spot_mixture_scratch(1, 2, 1, 2, 0)));
    CHECK_FAILS(&c, spot_mixture_kmeans(&c, &scratch, &mixture, 1), SPOT_UNSUPPORTED, "host memory");
    spot_arena_close(&scratch);
    CHECK_OK(&c, spot_silhouette_samples(&c, NULL, 0));
    spot_device_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silhouettes_have_the_same_bits),
        cmocka_unit_test(hypotheses_agree),
        cmocka_unit_test(failures_are_told),
    };
    return RUN_ON_CUDA(tests);
}
