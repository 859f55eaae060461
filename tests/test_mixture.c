/* test_mixture.c - against scikit-learn from the same start; bits for threads and batches; what cannot be fitted.
 * ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "heard.h"
#include "golden_file.h"
#include "fit/mixture.h"
#include "fit/mixture_cpu.h"
#include "spotter/rng.h"

/* Point i lies in cloud i % blobs; the clouds are well apart. */
static spot_mat clouds(int n, int d, int blobs, uint32_t seed)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);
    spot_mat x = { malloc((size_t)n * d * sizeof(float)), n, d };
    for (int i = 0; i < n; i++)
        for (int a = 0; a < d; a++)
            x.v[i * d + a] = (float)((i % blobs + a * (i % blobs) % 3) / (double)blobs + 0.02 * spot_rng_normal(&r));
    return x;
}

static void open_for(spot_ctx *c, spot_arena *a, int problems, const spot_mat *x, const spot_mixture_config *cfg)
{
    int n[8];
    for (int p = 0; p < problems; p++) n[p] = x[p].rows;
    CHECK_OK(c, spot_arena_open(c, a, spot_mixture_bytes(problems, n, x[0].cols, cfg, c->threads)));
}

TEST(exp_is_good_to_an_ulp)
{
    spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, 0);
    double worst = 0;
    for (int i = 0; i < 1 << 18; i++) {
        double x = (i & 1 ? -707 : 1.5) * spot_rng_uniform(&r) + (i & 1 ? 0 : -0.75);
        double got = vd_exp(vd_all(x))[i % LANES];
        long double want = expl((long double)x);
        double ulp = nextafter((double)want, INFINITY) - (double)want;
        worst = fmax(worst, (double)(fabsl(got - want) / ulp));
    }
    assert_true(worst > 0.5 && worst < 1.05);
#define EXP(x) vd_exp(vd_all(x))[0]
    assert_true(EXP(0) == 1 && EXP(-0.0) == 1 && EXP(1e-300) == 1);
    assert_true(EXP(-708) > 0 && EXP(-709) == 0 && EXP(-INFINITY) == 0 && isnan(EXP(NAN)));
    assert_true(EXP(709) > 8e307 && isfinite(EXP(709)));
}

static void check_fit(FILE *f, const spot_mixture *fit, const int *label, double *bic)
{
    int k = fit->k, d = fit->d, iterations[2], differ = 0;
    double want[2], *value = malloc((size_t)k * (1 + d + d * d) * sizeof *value);
    uint8_t *labels = malloc((size_t)fit->n);
    get(f, want, sizeof want);
    get(f, iterations, sizeof iterations);
    get(f, value, (size_t)k * (1 + d + d * d) * sizeof *value);
    get(f, labels, (size_t)fit->n);
    CHECK_NEAR(fit->log_likelihood, want[0], 1e-8 * fabs(want[0]));
    CHECK_NEAR(fit->bic, *bic = want[1], 1e-8 * fabs(want[1]));
    assert_int_equal(fit->iterations, iterations[0]);
    assert_int_equal(fit->converged, iterations[1]);
    for (int i = 0; i < k; i++) CHECK_NEAR(fit->weight[i], value[i], 1e-9);
    for (int i = 0; i < k * d; i++) CHECK_NEAR(fit->mean[i], value[k + i], 1e-9);
    for (int i = 0; i < k * d * d; i++) CHECK_NEAR(fit->covariance[i], value[k * (1 + d) + i], 1e-9);
    for (int i = 0; i < fit->n; i++) differ += label[i] != labels[i];
    assert_int_equal(differ, 0);
    free(value);
    free(labels);
}

/* One data set for every K: likelihoods, parameters, iterations, labels, and the choice by BIC. */
static void check_case(spot_ctx *c, FILE *f)
{
    int head[3], ours = 0, theirs = 0;
    double soft, least[2] = { INFINITY, INFINITY };
    get(f, head, sizeof head);
    get(f, &soft, sizeof soft);
    int n = head[0], d = head[1], *label = malloc((size_t)n * sizeof *label);
    spot_mat x = { malloc((size_t)n * d * sizeof(float)), n, d };
    double *resp = malloc((size_t)n * head[2] * sizeof *resp);
    uint8_t *start = malloc((size_t)n);
    get(f, x.v, (size_t)n * d * sizeof(float));
    for (int k = 1; k <= head[2]; k++) {
        spot_mixture_config cfg = spot_mixture_defaults();
        spot_mixture fit;
        spot_arena a;
        double bic;
        get(f, start, (size_t)n);
        for (int i = 0; i < n * k; i++) resp[i] = (1 - soft) * (start[i / k] == i % k) + soft / k;
        open_for(c, &a, 1, &x, &cfg);
        CHECK_OK(c, spot_mixture_fit_from(c, &a, &fit, label, x, k, resp, &cfg));
        check_fit(f, &fit, label, &bic);
        if (fit.bic < least[0]) { least[0] = fit.bic; ours = k; }
        if (bic < least[1]) { least[1] = bic; theirs = k; }
        spot_arena_close(&a);
    }
    assert_int_equal(ours, theirs);
    free(label); free(x.v); free(resp); free(start);
}

TEST(agrees_with_scikit_learn)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/mixture.bin", "rb");
    int cases;
    assert_non_null(f);
    get(f, &cases, sizeof cases);
    for (int i = 0; i < cases; i++) check_case(&c, f);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* Ten points spread like 0 1 2 and ten equal ones a million away: moments about any centre but their own mean would
 * lose the one covariance, and make the other's rounding error larger than the ridge, often negative. */
TEST(far_clusters_keep_their_digits)
{
    spot_ctx c = check_ctx(1);
    spot_mixture_config cfg = spot_mixture_defaults();
    float v[20];
    double resp[40], square = 0;
    spot_mat x = { v, 20, 1 };
    int label[20];
    for (int i = 0; i < 10; i++) square += (i % 3 - 0.9) * (i % 3 - 0.9) / 10;
    for (int trial = 0; trial < 10; trial++) {
        spot_mixture fit;
        spot_arena a;
        for (int i = 0; i < 20; i++) {
            v[i] = i % 2 ? 1234567.125f + 1000.375f * (float)trial : (float)(i / 2 % 3);
            resp[2 * i] = 1 - i % 2;
            resp[2 * i + 1] = i % 2;
        }
        open_for(&c, &a, 1, &x, &cfg);
        CHECK_OK(&c, spot_mixture_fit_from(&c, &a, &fit, label, x, 2, resp, &cfg));
        CHECK_NEAR(fit.covariance[0], square + 1e-6, 1e-9);
        CHECK_NEAR(fit.covariance[1], 1e-6, 1e-12);
        spot_arena_close(&a);
    }
}

/* k-means ends where it should: no centre is farther from the mean of its points than the tolerance allows, no point
 * nearer to another centre, and no cluster of 256 scattered points is empty. */
TEST(k_means_settles)
{
    enum { N = 256, BLOCKS = N / LANES, K = 12 };
    static vd x[2 * BLOCKS], live[BLOCKS], near[BLOCKS];
    static vi label[BLOCKS];
    double prefix[N], centre[2 * K], sum[2 * K], moved = 0;
    spot_mixture_work w = { .n = N, .d = 2, .k = K, .blocks = BLOCKS, .x = x, .live = live, .label = label, .near = near,
                            .prefix = prefix, .centre = centre, .sum = sum };
    spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, 0);
    for (int i = 0; i < 2 * N; i++) x[i / LANES][i % LANES] = spot_rng_uniform(&r);
    for (int b = 0; b < BLOCKS; b++) live[b] = vd_all(1);
    r = spot_rng_at(1, SPOT_RNG_KMEANS, 0, K);
    spot_mixture_start(&w, &r);
    for (int k = 0; k < K; k++) {
        double mean[2] = { 0 }, count = 0;
        for (int i = 0; i < N; i++) {
            double own = 0, here = 0;
            for (int a = 0; a < 2; a++) {
                double at = x[a * BLOCKS + i / LANES][i % LANES];
                own += pow(at - centre[2 * label[i / LANES][i % LANES] + a], 2);
                here += pow(at - centre[2 * k + a], 2);
                if (label[i / LANES][i % LANES] == k) mean[a] += at;
            }
            assert_true(own <= here);
            count += label[i / LANES][i % LANES] == k;
        }
        assert_true(count > 0);
        for (int a = 0; a < 2; a++) moved += pow(mean[a] / count - centre[2 * k + a], 2);
    }
    assert_true(moved <= 1e-4 / 12);   /* the variance of a uniform column */
}

TEST(finds_planted_clusters)
{
    spot_ctx c = check_ctx(2);
    for (uint32_t seed = 0; seed < 5; seed++) {
        spot_mat x = clouds(500, 3, 5, seed);
        spot_mixture_config cfg = spot_mixture_defaults();
        spot_seed where = { seed, 0 };
        spot_mixture best, *all;
        spot_arena a;
        int *label;
        open_for(&c, &a, 1, &x, &cfg);
        CHECK_OK(&c, spot_mixture_fit(&c, &a, &(spot_mixture_data){ 1, &x, NULL, &where }, &best, &label, &all, &cfg));
        assert_int_equal(best.k, 5);
        for (int i = 5; i < 500; i++) assert_int_equal(label[i], label[i % 5]);
        for (int k = 1; k <= 32; k++) {
            double parameters = 10 * k - 1, sum = 0;
            assert_int_equal(all[k - 1].k, k);
            CHECK_NEAR(all[k - 1].bic, parameters * log(500) - 2 * all[k - 1].log_likelihood, 1e-9);
            assert_true(all[k - 1].bic >= best.bic);
            for (int i = 0; i < k; i++) sum += all[k - 1].weight[i];
            CHECK_NEAR(sum, 1, 1e-12);
        }
        spot_arena_close(&a);
        free(x.v);
    }
}

static void same_fit(const spot_mixture *a, const spot_mixture *b)
{
    assert_true(a->k == b->k && a->n == b->n && a->d == b->d && a->iterations == b->iterations);
    assert_memory_equal(&a->log_likelihood, &b->log_likelihood, sizeof(double));
    assert_memory_equal(a->mean, b->mean, (size_t)a->k * a->d * sizeof(double));
    assert_memory_equal(a->covariance, b->covariance, (size_t)a->k * a->d * a->d * sizeof(double));
}

/* A ragged batch on one, two and three threads against each problem alone. */
TEST(bits_depend_on_neither_threads_nor_batch)
{
    spot_mat x[] = { clouds(300, 3, 4, 1), clouds(65, 3, 3, 2), clouds(8, 3, 2, 3), clouds(64, 3, 3, 4) };
    spot_seed seeds[] = { { 9, 0 }, { 9, 1 }, { 9, 2 }, { 9, 3 } };
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_mixture *alone[4], best;
    spot_arena first[4];
    spot_ctx one = check_ctx(1);
    int *label[4];
    cfg.k_max = 8;
    for (int p = 0; p < 4; p++) {
        open_for(&one, &first[p], 1, &x[p], &cfg);
        CHECK_OK(&one, spot_mixture_fit(&one, &first[p], &(spot_mixture_data){ 1, &x[p], NULL, &seeds[p] }, &best, &label[p],
                                        &alone[p], &cfg));
    }
    for (int threads = 1; threads <= 3; threads++) {
        spot_ctx c = check_ctx(threads);
        spot_mixture bests[4], *all[4];
        spot_arena a;
        int *labels[4];
        open_for(&c, &a, 4, x, &cfg);
        CHECK_OK(&c, spot_mixture_fit(&c, &a, &(spot_mixture_data){ 4, x, NULL, seeds }, bests, labels, all, &cfg));
        for (int p = 0; p < 4; p++) {
            for (int k = 0; k < 8; k++) same_fit(&all[p][k], &alone[p][k]);
            assert_memory_equal(labels[p], label[p], (size_t)x[p].rows * sizeof(int));
        }
        spot_arena_close(&a);
    }
    for (int p = 0; p < 4; p++) { spot_arena_close(&first[p]); free(x[p].v); }
}

static spot_status fit_all(spot_ctx *c, spot_arena *a, spot_mixture *best, spot_mixture **all, spot_mat x,
                           const spot_mixture_config *cfg)
{
    spot_seed seed = { 1, 1 };
    int *label;
    heard[0] = 0;
    c->on_log = hear;
    CHECK_OK(c, spot_arena_open(c, a, spot_mixture_bytes(1, &x.rows, x.cols, cfg, c->threads)));
    return spot_mixture_fit(c, a, &(spot_mixture_data){ 1, &x, NULL, &seed }, best, &label, all, cfg);
}

TEST(few_and_equal_points)
{
    spot_ctx c = check_ctx(2);
    spot_mixture_config cfg = spot_mixture_defaults();
    float point[] = { 3, -2 }, same[20] = { 0 }, two[] = { 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1 };
    spot_mixture best, *all;
    spot_arena a;
    CHECK_OK(&c, fit_all(&c, &a, &best, &all, (spot_mat){ point, 1, 2 }, &cfg));
    assert_int_equal(best.k, 1);
    CHECK_NEAR(best.mean[0], 3, 1e-13);
    CHECK_NEAR(best.mean[1], -2, 1e-13);
    CHECK_NEAR(best.covariance[0], 1e-6, 1e-12);
    CHECK_NEAR(best.log_likelihood, -log(2 * 3.14159265358979323846 * 1e-6), 1e-6);
    assert_non_null(strstr(heard, "K stops at 1"));
    assert_true(isinf(all[1].bic) && all[1].k == 2);
    spot_arena_close(&a);
    CHECK_OK(&c, fit_all(&c, &a, &best, &all, (spot_mat){ same, 10, 2 }, &cfg));
    assert_true(best.k == 1 && isfinite(best.bic));
    spot_arena_close(&a);
    CHECK_OK(&c, fit_all(&c, &a, &best, &all, (spot_mat){ two, 6, 2 }, &cfg));
    assert_true(best.k == 2 && isfinite(best.bic));
    spot_arena_close(&a);
}

/* Without a ridge a component on one point has no covariance; one on many points has. */
TEST(ill_conditioned_fits_are_given_up)
{
    spot_ctx c = check_ctx(2);
    spot_mixture_config cfg = spot_mixture_defaults();
    float x[] = { 0, 0, 1, 0, 0, 1, 1, 1, 50, 50 }, line[] = { 1, 1, 2, 2, 3, 3, 4, 4 };
    spot_mixture best, *all;
    spot_arena a;
    cfg.ridge = 0;
    cfg.k_max = 4;
    CHECK_OK(&c, fit_all(&c, &a, &best, &all, (spot_mat){ x, 5, 2 }, &cfg));
    assert_true(best.k == 1 && all[0].ill == 0 && all[1].ill == 1 && isinf(all[1].bic));
    assert_non_null(strstr(heard, "K=2: given up"));
    spot_arena_close(&a);
    CHECK_FAILS(&c, fit_all(&c, &a, &best, &all, (spot_mat){ line, 4, 2 }, &cfg), SPOT_NUMERIC, "mixture.none_fitted");
    spot_arena_close(&a);
}

TEST(bad_input_gets_a_sentence)
{
    spot_ctx c = check_ctx(1);
    spot_mixture_config cfg = spot_mixture_defaults(), bad;
    float x[] = { 0, 0, 1, 0, 0, 1, NAN, 1 };
    spot_mixture best;
    spot_arena a;
    volatile sig_atomic_t stop = 1;
    CHECK_FAILS(&c, fit_all(&c, &a, &best, NULL, (spot_mat){ x, 4, 2 }, &cfg), SPOT_INPUT, "points.value: row 3 | column 0");
    spot_arena_close(&a);
    bad = cfg; bad.k_min = 10;
    CHECK_FAILS(&c, fit_all(&c, &a, &best, NULL, (spot_mat){ x, 3, 2 }, &bad), SPOT_INPUT, "mixture.few_points: 3 | 10");
    spot_arena_close(&a);
    bad = cfg; bad.tol = NAN;
    CHECK_FAILS(&c, fit_all(&c, &a, &best, NULL, (spot_mat){ x, 3, 2 }, &bad), SPOT_INVALID,
                "setting.value: mixture.tol | nan");
    spot_arena_close(&a);
    bad = cfg; bad.k_min = 9; bad.k_max = 8;
    CHECK_OK(&c, spot_arena_open(&c, &a, 4096));
    CHECK_FAILS(&c, spot_mixture_fit(&c, &a, &(spot_mixture_data){ 0, NULL, NULL, NULL }, NULL, NULL, NULL,
                                     &bad), SPOT_INVALID, "mixture.components: 9 | 8");
    CHECK_OK(&c, spot_mixture_fit(&c, &a, &(spot_mixture_data){ 0, NULL, NULL, NULL }, NULL, NULL, NULL, &cfg));
    spot_arena_close(&a);
    c.stop = &stop;
    CHECK_FAILS(&c, fit_all(&c, &a, &best, NULL, (spot_mat){ x, 3, 2 }, &cfg), SPOT_STOPPED, "run.stopped");
    spot_arena_close(&a);
}
