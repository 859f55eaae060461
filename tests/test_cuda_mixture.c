/* test_cuda_mixture.c - mixtures on CUDA against the CPU. Runs on a GPU, is skipped (exit 77) where there is none, and runs
 * once more on the block emulator, there under several schedules, all of which must give the same bits. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <sys/time.h>

#include "core/device.h"
#include "fit/mixture.h"
#include "spotter/rng.h"

/* Of a fit: weights, means and covariances stand together, from fit.weight on. */
static size_t values_of(const spot_mixture_job *j) { return (size_t)j->fit.k * (size_t)(1 + j->fit.d + j->fit.d * j->fit.d); }
static size_t points_of(const spot_mixture_job *j) { return (size_t)j->fit.n * (size_t)j->fit.d; }
static size_t resps_of(const spot_mixture_job *j) { return (size_t)j->fit.n * (size_t)j->fit.k; }

static void point_into(spot_mixture *f, double *value)
{
    f->weight = value;
    f->mean = value + f->k;
    f->covariance = value + f->k + f->k * f->d;
}

/* A fit with results of its own to points of somebody else. */
static spot_mixture_job job_on(const float *x, int n, int d, int k, uint32_t ec)
{
    spot_mixture_job j = { .x = x, .seed = { 3, ec }, .fit = { .n = n, .d = d, .k = k }, .label = calloc((size_t)n, 1) };

    point_into(&j.fit, calloc(values_of(&j), sizeof(double)));
    return j;
}

static void free_results(spot_mixture_job *j)
{
    free(j->fit.weight);
    free(j->label);
}

/* n points in overlapping clouds. */
static float *clouds(int n, int d, int count, uint32_t seed)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);
    float *x = malloc((size_t)n * (size_t)d * sizeof *x);

    for (int i = 0; i < n; i++)
        for (int a = 0; a < d; a++) {
            int at = (i % count) * (a + 3) % 7;
            x[i * d + a] = (float)(at / 7.0 + (0.05 + 0.02 * (i % count)) * spot_rng_normal(&r));
        }
    return x;
}

/* The jobs through CUDA: their results, with pointers to host memory, into out. */
static spot_status on_cuda(spot_ctx *c, spot_mixture_job *out, const spot_mixture_job *jobs, int count,
                           const spot_mixture_config *cfg)
{
    spot_mixture_job *there = malloc((size_t)(count + 1) * sizeof *there);
    int n = 0, d = 0, k = 0;
    spot_arena scratch;
    spot_status s;

    for (int j = 0; j < count; j++) {
        spot_mixture_job *to = &there[j];
        void *x, *resp = NULL, *label, *value;
        *to = jobs[j];
        CHECK_OK(c, spot_device_take(c, &x, points_of(to) * sizeof(float)));
        CHECK_OK(c, spot_device_copy(c, x, to->x, points_of(to) * sizeof(float)));
        if (to->resp) {
            CHECK_OK(c, spot_device_take(c, &resp, resps_of(to) * sizeof(double)));
            CHECK_OK(c, spot_device_copy(c, resp, to->resp, resps_of(to) * sizeof(double)));
        }
        CHECK_OK(c, spot_device_take(c, &label, (size_t)to->fit.n));
        CHECK_OK(c, spot_device_take(c, &value, values_of(to) * sizeof(double)));
        to->x = x, to->resp = resp, to->label = label;
        point_into(&to->fit, value);
        n = to->fit.n > n ? to->fit.n : n;
        d = to->fit.d > d ? to->fit.d : d;
        k = to->fit.k > k ? to->fit.k : k;
    }
    CHECK_OK(c, spot_arena_open_device(c, &scratch, spot_mixture_scratch(count, n, d, k, 0)));
    s = spot_mixture_em(c, &scratch, there, count, cfg);
    assert_true(scratch.used == 0 && (s != SPOT_OK || scratch.peak == scratch.size || !count));
    spot_arena_close(&scratch);
    for (int j = 0; j < count; j++) {
        spot_mixture_job *from = &there[j];
        spot_mixture fit = from->fit;
        if (s == SPOT_OK) {
            out[j] = job_on(jobs[j].x, fit.n, fit.d, fit.k, jobs[j].seed.ec);
            CHECK_OK(c, spot_device_copy(c, out[j].fit.weight, fit.weight, values_of(from) * sizeof(double)));
            CHECK_OK(c, spot_device_copy(c, out[j].label, from->label, (size_t)fit.n));
            point_into(&fit, out[j].fit.weight);
            out[j].fit = fit;
        }
        spot_device_give(c, (void *)from->x);
        spot_device_give(c, (void *)from->resp);
        spot_device_give(c, from->label);
        spot_device_give(c, from->fit.weight);
    }
    free(there);
    return s;
}

static void on_cpu(spot_mixture_job *jobs, int count, const spot_mixture_config *cfg)
{
    spot_ctx c = check_ctx(1);
    spot_arena scratch;
    int n = 0, d = 0, k = 0;

    for (int j = 0; j < count; j++) {
        n = jobs[j].fit.n > n ? jobs[j].fit.n : n;
        d = jobs[j].fit.d > d ? jobs[j].fit.d : d;
        k = jobs[j].fit.k > k ? jobs[j].fit.k : k;
    }
    CHECK_OK(&c, spot_arena_open_device(&c, &scratch, spot_mixture_scratch(count, n, d, k, 1)));
    CHECK_OK(&c, spot_mixture_em(&c, &scratch, jobs, count, cfg));
    spot_arena_close(&scratch);
}

/* Within the tolerance of mixture.h. A fit that was given up has no more to it than that. */
static void agree(const spot_mixture_job *cuda, const spot_mixture_job *cpu, int j)
{
    const spot_mixture *a = &cuda->fit, *b = &cpu->fit;

    if (a->ill != b->ill || a->iterations != b->iterations || a->converged != b->converged)
        fail_msg("job %d (n %d, d %d, k %d): %d iterations, converged %d, ill %d; the CPU has %d, %d, %d", j, a->n, a->d, a->k,
                 a->iterations, a->converged, a->ill, b->iterations, b->converged, b->ill);
    if (a->ill) return;
    CHECK_NEAR(a->log_likelihood, b->log_likelihood, 1e-8 * fabs(b->log_likelihood));
    for (size_t i = 0; i < values_of(cpu); i++) CHECK_NEAR(a->weight[i], b->weight[i], 1e-8 * (1 + fabs(b->weight[i])));
    assert_memory_equal(cuda->label, cpu->label, (size_t)a->n);
}

static void same_bits(const spot_mixture_job *a, const spot_mixture_job *b, int j, const char *how)
{
    if (a->fit.iterations != b->fit.iterations || a->fit.ill != b->fit.ill ||
        memcmp(&a->fit.log_likelihood, &b->fit.log_likelihood, sizeof(double)) ||
        (!a->fit.ill && memcmp(a->label, b->label, (size_t)a->fit.n)) ||
        memcmp(a->fit.weight, b->fit.weight, values_of(a) * sizeof(double)))
        fail_msg("job %d (n %d, d %d, k %d), %s: other bits", j, a->fit.n, a->fit.d, a->fit.k, how);
}

/* All jobs in one call under every schedule, each against the CPU, and each by itself. */
static void check_jobs(spot_mixture_job *jobs, int count, const spot_mixture_config *cfg)
{
    spot_mixture_job *first = malloc((size_t)count * sizeof *first), *now = malloc((size_t)count * sizeof *now);

    on_cpu(jobs, count, cfg);
    for (int s = 0; s < LEN(schedules); s++) {
        spot_ctx c;
        open_cuda(&c, s);
        CHECK_OK(&c, on_cuda(&c, s ? now : first, jobs, count, cfg));
        for (int j = 0; j < count; j++) {
            if (!s) agree(&first[j], &jobs[j], j);
            else {
                same_bits(&now[j], &first[j], j, schedules[s]);
                free_results(&now[j]);
            }
        }
        for (int j = 0; j < count && s == 2; j++) {
            CHECK_OK(&c, on_cuda(&c, now, &jobs[j], 1, cfg));
            same_bits(now, &first[j], j, "alone");
            free_results(now);
        }
        spot_device_close(&c);
    }
    for (int j = 0; j < count; j++) free_results(&first[j]);
    free(first), free(now);
}

/* Edges of warps and blocks; every dimension that has kernels of its own and some that have not; more components than
 * warps, and the most there can be. given: responsibilities to start from, unlike (1) or all equal (2), which leaves every
 * point with equal components to choose its label from. */
static const struct { int n, d, k, clouds, given; } cases[] = {
    { 1, 3, 1, 1, 0 },   { 31, 2, 4, 3, 0 },  { 33, 3, 9, 4, 0 },  { 255, 4, 5, 6, 0 },  { 257, 3, 12, 5, 0 },
    { 257, 3, 1, 5, 0 }, { 256, 3, 8, 7, 0 }, { 64, 1, 3, 3, 0 },  { 90, 6, 3, 4, 0 },   { 100, 32, 2, 2, 0 },
    { 257, 3, 4, 5, 1 }, { 130, 2, 64, 7, 0 }, { 65, 3, 63, 6, 0 },  { 70, 3, 3, 3, 2 },
};

static void fits_agree(void **state)
{
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_mixture_job jobs[LEN(cases)];
    int polls = 0;
    (void)state;
    for (int j = 0; j < LEN(cases); j++) {
        int n = cases[j].n, d = cases[j].d, k = cases[j].k;
        jobs[j] = job_on(clouds(n, d, cases[j].clouds, (uint32_t)j), n, d, k, (uint32_t)j);
        if (cases[j].given) {
            double *resp = malloc(resps_of(&jobs[j]) * sizeof *resp);
            for (int e = 0; e < n * k; e++) resp[e] = cases[j].given == 2 ? 1.0 / k : 0.9 * (e / k % k == e % k) + 0.1 / k;
            jobs[j].resp = resp;
        }
    }
    check_jobs(jobs, LEN(cases), &cfg);
    for (int j = 0; j < LEN(cases); j++) {
        polls += jobs[j].fit.iterations > 25;
        free_results(&jobs[j]);
        free((void *)jobs[j].x), free((void *)jobs[j].resp);
    }
    assert_true(polls > 0);   /* else no fit went through two launches */
}

/* A tolerance under which a fit ends with its 26th iteration, the first of the second launch: what one launch leaves to the
 * next must be all there. */
static void launches_hand_over(void **state)
{
    spot_mixture_config cfg = spot_mixture_defaults();
    float *x = clouds(257, 3, 3, 19);
    spot_mixture_job job = job_on(x, 257, 3, 4, 4);
    double total[2];
    (void)state;
    cfg.tol = 0;
    for (int i = 0; i < 2; i++) {
        cfg.max_iterations = 24 + i;
        on_cpu(&job, 1, &cfg);
        total[i] = job.fit.log_likelihood;
    }
    cfg.max_iterations = 100;
    cfg.tol = 1.0001 * (total[1] - total[0]) / 257;
    check_jobs(&job, 1, &cfg);
    assert_int_equal(job.fit.iterations, 26);
    free_results(&job);
    free(x);
}

/* Few and equal points: clusters that start empty, distances of 0, ties. */
static void equal_points_agree(void **state)
{
    static const float two[] = { 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1 };
    float same[80] = { 0 };
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_mixture_job jobs[7];
    (void)state;
    for (int k = 1; k <= 4; k++) jobs[k - 1] = job_on(two, 6, 2, k, 1);
    for (int k = 1; k <= 3; k++) jobs[3 + k] = job_on(same, 40, 2, k * k, 1);
    check_jobs(jobs, LEN(jobs), &cfg);
    for (int j = 0; j < LEN(jobs); j++) free_results(&jobs[j]);
}

/* Without a ridge a component on one point has no covariance. */
static void ill_conditioned_fits_are_given_up_alike(void **state)
{
    static const float x[] = { 0, 0, 1, 0, 0, 1, 1, 1, 50, 50 }, line[] = { 1, 1, 2, 2, 3, 3, 4, 4 };
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_mixture_job jobs[5];
    int ill = 0;
    (void)state;
    cfg.ridge = 0;
    for (int k = 1; k <= 4; k++) jobs[k - 1] = job_on(x, 5, 2, k, 1);
    jobs[4] = job_on(line, 4, 2, 1, 1);
    check_jobs(jobs, LEN(jobs), &cfg);
    for (int j = 0; j < LEN(jobs); j++) {
        ill += jobs[j].fit.ill;
        free_results(&jobs[j]);
    }
    assert_true(!jobs[0].fit.ill && jobs[1].fit.ill == 1 && jobs[4].fit.ill == 1 && ill > 4);
}

/* spot_mixture_fit as the sweep calls it, with points and results on the host: the same K and labels on both devices; and
 * from given responsibilities. */
static void bic_chooses_alike(void **state)
{
    enum { PROBLEMS = 3 };
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_seed seeds[PROBLEMS] = { { 1, 0 }, { 1, 1 }, { 1, 2 } };
    int n[PROBLEMS] = { 200, 6, 150 };
    spot_mixture best[2][PROBLEMS], *all[2][PROBLEMS], from[2];
    int *label[2][PROBLEMS], from_label[2][200];
    spot_arena a[2];
    spot_mat x[PROBLEMS];
    double resp[400];
    (void)state;
    cfg.k_max = 8;
    for (int i = 0; i < 400; i++) resp[i] = 0.8 * (i / 2 % 2 == i % 2) + 0.1;
    for (int p = 0; p < PROBLEMS; p++) x[p] = (spot_mat){ clouds(n[p], 3, 3 + p, 40 + (uint32_t)p), n[p], 3 };
    for (int cuda = 0; cuda < 2; cuda++) {
        spot_ctx c = check_ctx(1), host = check_ctx(1);
        if (cuda) open_cuda(&c, 3);
        CHECK_OK(&host, spot_arena_open(&host, &a[cuda], 2 * spot_mixture_bytes(PROBLEMS, n, 3, &cfg, 1)));
        CHECK_OK(&c, spot_mixture_fit(&c, &a[cuda], PROBLEMS, best[cuda], label[cuda], all[cuda], x, seeds, &cfg));
        CHECK_OK(&c, spot_mixture_fit_from(&c, &a[cuda], &from[cuda], from_label[cuda], x[0], 2, resp, &cfg));
        spot_device_close(&c);
    }
    for (int p = 0; p < PROBLEMS; p++) {
        assert_int_equal(best[0][p].k, best[1][p].k);
        assert_memory_equal(label[0][p], label[1][p], (size_t)n[p] * sizeof(int));
        for (int k = 0; k < 8; k++) {
            if (all[0][p][k].bic == INFINITY) assert_true(all[1][p][k].bic == INFINITY);
            else CHECK_NEAR(all[1][p][k].bic, all[0][p][k].bic, 1e-8 * fabs(all[0][p][k].bic));
        }
        for (int i = 0; i < best[0][p].k * 3; i++) CHECK_NEAR(best[1][p].mean[i], best[0][p].mean[i], 1e-8);
        free(x[p].v);
    }
    CHECK_NEAR(from[1].log_likelihood, from[0].log_likelihood, 1e-8 * fabs(from[0].log_likelihood));
    assert_memory_equal(from_label[0], from_label[1], sizeof from_label[0]);
    spot_arena_close(&a[0]), spot_arena_close(&a[1]);
}

static volatile sig_atomic_t stop;

static void stop_now(int signal)
{
    (void)signal;
    stop = 1;
}

/* A fit that would never end, stopped while it runs; and one that does not begin. */
static void stops_on_request(void **state)
{
    const struct itimerval soon = { .it_value = { .tv_usec = 50000 } };
    spot_mixture_config cfg = spot_mixture_defaults();
    float *x = clouds(60, 3, 3, 1);
    spot_mixture_job job = job_on(x, 60, 3, 2, 1);
    spot_ctx c;
    (void)state;
    cfg.max_iterations = 1 << 30;
    cfg.tol = 0;
    open_cuda(&c, 0);
    c.stop = &stop;
    signal(SIGALRM, stop_now);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (int again = 0; again < 2; again++) CHECK_FAILS(&c, on_cuda(&c, NULL, &job, 1, &cfg), SPOT_STOPPED, "stopped");
    spot_device_close(&c);
    free_results(&job);
    free(x);
}

static void nothing_to_do(void **state)
{
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_ctx c;
    (void)state;
    open_cuda(&c, 0);
    CHECK_OK(&c, on_cuda(&c, NULL, NULL, 0, &cfg));
    spot_device_close(&c);
}

static void host_memory_is_refused(void **state)
{
    static const float x[6] = { 0, 0, 0, 1, 1, 1 };
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_mixture_job job = job_on(x, 2, 3, 1, 0);
    spot_arena scratch;
    spot_ctx c;
    (void)state;
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_arena_open_device(&c, &scratch, spot_mixture_scratch(1, 2, 3, 1, 0)));
    CHECK_FAILS(&c, spot_mixture_em(&c, &scratch, &job, 1, &cfg), SPOT_UNSUPPORTED, "host memory");
    assert_int_equal(scratch.used, 0);
    spot_arena_close(&scratch);
    spot_device_close(&c);
    free_results(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_agree),
        cmocka_unit_test(launches_hand_over),
        cmocka_unit_test(equal_points_agree),
        cmocka_unit_test(ill_conditioned_fits_are_given_up_alike),
        cmocka_unit_test(bic_chooses_alike),
        cmocka_unit_test(stops_on_request),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(host_memory_is_refused),
    };

    return RUN_ON_CUDA(tests);
}
