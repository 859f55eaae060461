/* test_cuda_domino.c - k-means, the start from the confusion matrix, Domino's mixture and the method: CUDA against the CPU,
 * whose bits it has but where covariances are full. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <cblas.h>
#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "blobs.h"
#include "fit/domino_mixture.h"
#include "fit/kmeans.h"
#include "spotter/bdm.h"

/* Ragged: edges of blocks and tiles, one row, one column, more columns than threads, as many slices as rows. */
static const struct { int n, d, k, classes, full, label; } cases[] = {
    { 65, 7, 5, 2, 0, 0 }, { 1, 1, 1, 1, 0, 1 }, { 64, 130, 9, 2, 0, 0 }, { 129, 3, 17, 3, 0, 1 }, { 40, 5, 40, 2, 0, 1 },
    { 70, 4, 4, 2, 1, 0 }, { 17, 66, 2, 2, 1, 1 }, { 100, 1, 6, 2, 0, 0 },
};
enum { CASES = LEN(cases), OUTPUTS = 6 };

/* What a case is made of and makes, on the host. */
typedef struct {
    spot_view v;
    spot_domino_job job;
    spot_kmeans_job means;
    uint8_t *y;
    float *p;
    int *label;
    double *out[OUTPUTS];       /* r, weight, mean, covariance, of_y, of_p */
} one;

static size_t output_of(const spot_domino_job *j, int which)
{
    size_t values = (size_t)j->k * j->d, sizes[] = { (size_t)j->n * j->k, j->k, values, values * (j->full ? j->d : 1),
                                                     (size_t)j->k * j->classes, (size_t)j->k * j->classes };
    return sizes[which] * sizeof(double);
}

static void point_at(spot_domino_job *j, double *const *out)
{
    j->r = out[0], j->weight = out[1], j->mean = out[2], j->covariance = out[3], j->of_y = out[4], j->of_p = out[5];
}

static one make(int q)
{
    int n = cases[q].n, d = cases[q].d, k = cases[q].k, classes = cases[q].classes;
    one o = { .v = blobs(n, d, 4, (uint64_t)q), .y = malloc((size_t)n), .label = malloc((size_t)n * sizeof(int)),
              .p = malloc((size_t)n * classes * sizeof(float)) };
    spot_rng r = spot_rng_at(9, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)q);

    for (int i = 0; i < n; i++) {
        double sum = 0, p[3];
        o.y[i] = (uint8_t)(i % 7 % classes);
        for (int c = 0; c < classes; c++) sum += p[c] = spot_rng_uniform(&r) + (c == o.y[i]);
        for (int c = 0; c < classes; c++) o.p[i * classes + c] = (float)(p[c] / sum);
    }
    o.job = (spot_domino_job){ .n = n, .d = d, .k = k, .classes = classes, .full = cases[q].full, .x = o.v.feature, .y = o.y,
                               .p = o.p, .gamma = 3, .gamma_hat = 2 };
    for (int w = 0; w < OUTPUTS; w++) o.out[w] = calloc(1, output_of(&o.job, w));
    point_at(&o.job, o.out);
    o.means = (spot_kmeans_job){ .n = n, .d = d, .k = k, .x = o.v.feature, .seed = { 3, (uint32_t)q }, .label = o.label,
                                 .centre = calloc((size_t)k * d, sizeof(double)) };
    return o;
}

static void free_one(one *o)
{
    blobs_free(&o->v);
    for (int w = 0; w < OUTPUTS; w++) free(o->out[w]);
    free(o->y), free(o->p), free(o->label), free(o->means.centre);
}

static spot_domino_cells cells_of(const spot_domino_job *job, int q)
{
    return (spot_domino_cells){ job->n, job->k, job->classes, job->y, job->p, 0.01, { 5, (uint32_t)q }, job->r };
}

/* All jobs through c: k-means, starts, mixtures. Everything in the memory of c's device. */
static void run(spot_ctx *c, spot_kmeans_job *means, spot_domino_job *jobs, int count, int from, const spot_mixture_config *cfg)
{
    int threads = c->device ? 0 : c->threads;
    spot_arena a;

    CHECK_OK(c, spot_arena_open_device(c, &a, spot_kmeans_scratch(count, 129, 130, 40, threads)));
    CHECK_OK(c, spot_kmeans_fit(c, &a, count, means));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
    for (int q = 0; q < count; q++) {
        spot_domino_cells cells = cells_of(&jobs[q], from + q);
        jobs[q].label = cases[from + q].label ? means[q].label : NULL;
        if (!jobs[q].label) CHECK_OK(c, spot_domino_confusion(c, 1, &cells));
    }
    CHECK_OK(c, spot_arena_open_device(c, &a, spot_domino_scratch(count, 129, 130, 40, 3, 1, threads)));
    CHECK_OK(c, spot_domino_em(c, &a, count, jobs, cfg));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
}

static void near_enough(spot_ctx *c, void *there, const double *want, size_t bytes, const char *what, int q)
{
    double *got = malloc(bytes), most = 0;

    CHECK_OK(c, spot_device_copy(c, got, there, bytes));
    for (size_t i = 0; i < bytes / sizeof *got; i++) most = fmax(most, fabs(want[i]));
    for (size_t i = 0; i < bytes / sizeof *got; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-8 * most))
            fail_msg("%s %zu of case %d: %.12g, on the CPU %.12g", what, i, q, got[i], want[i]);
    free(got);
    spot_device_give(c, there);
}

/* Cases from .. from+count-1 on the device under schedule s, against the CPU's. */
static void on_cuda(const one *want, int from, int count, int s, const spot_mixture_config *cfg)
{
    static const char *const names[] = { "r", "weight", "mean", "covariance", "P", "Q" };
    spot_kmeans_job means[CASES];
    spot_domino_job jobs[CASES];
    spot_ctx c;

    open_cuda(&c, s);
    for (int q = 0; q < count; q++) {
        const one *o = &want[from + q];
        size_t n = o->job.n, values = (size_t)o->job.k * o->job.d * sizeof(double);
        double *out[OUTPUTS];
        means[q] = o->means;
        jobs[q] = o->job;
        means[q].x = jobs[q].x = to_device(&c, o->v.feature, n * o->job.d * sizeof(float));
        means[q].label = to_device(&c, NULL, n * sizeof(int));
        means[q].centre = to_device(&c, NULL, values);
        jobs[q].y = to_device(&c, o->y, n);
        jobs[q].p = to_device(&c, o->p, n * o->job.classes * sizeof(float));
        jobs[q].bound = to_device(&c, NULL, (size_t)cfg->max_iterations * sizeof(double));
        for (int w = 0; w < OUTPUTS; w++) out[w] = to_device(&c, NULL, output_of(&o->job, w));
        point_at(&jobs[q], out);
    }
    run(&c, means, jobs, count, from, cfg);
    for (int q = 0; q < count; q++) {
        const one *o = &want[from + q];
        size_t n = o->job.n;
        double last;
        assert_int_equal(jobs[q].iterations, o->job.iterations);
        assert_int_equal(jobs[q].converged, o->job.converged);
        assert_int_equal(jobs[q].ill, o->job.ill);
        assert_int_equal(means[q].iterations, o->means.iterations);
        assert_memory_equal(&means[q].inertia, &o->means.inertia, sizeof(double));
        CHECK_NEAR(jobs[q].last_bound, o->job.last_bound, o->job.full ? 1e-8 * fabs(o->job.last_bound) : 0);
        CHECK_OK(&c, spot_device_copy(&c, &last, jobs[q].bound + jobs[q].iterations - 1, sizeof last));
        assert_true(last == jobs[q].last_bound);
        expect_bytes(&c, means[q].centre, o->means.centre, (size_t)o->job.k * o->job.d * sizeof(double), "centre", from + q, s);
        expect_bytes(&c, means[q].label, o->label, n * sizeof(int), "label", from + q, s);
        double *const out[] = { jobs[q].r, jobs[q].weight, jobs[q].mean, jobs[q].covariance, jobs[q].of_y, jobs[q].of_p };
        for (int w = 0; w < OUTPUTS; w++) {
            if (o->job.full) near_enough(&c, out[w], o->out[w], output_of(&o->job, w), names[w], from + q);
            else             expect_bytes(&c, out[w], o->out[w], output_of(&o->job, w), names[w], from + q, s);
        }
        spot_device_give(&c, (void *)jobs[q].x);
        spot_device_give(&c, (void *)jobs[q].y);
        spot_device_give(&c, (void *)jobs[q].p);
        spot_device_give(&c, jobs[q].bound);
    }
    spot_device_close(&c);
}

static void mixtures_agree(void **state)
{
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_kmeans_job means[CASES];
    spot_domino_job jobs[CASES];
    spot_ctx cpu = check_ctx(2);
    one want[CASES];

    (void)state;
    cfg.max_iterations = 10;      /* more than are done between two looks */
    for (int q = 0; q < CASES; q++) {
        want[q] = make(q);
        means[q] = want[q].means;
        jobs[q] = want[q].job;
    }
    run(&cpu, means, jobs, CASES, 0, &cfg);
    for (int q = 0; q < CASES; q++) {
        want[q].means = means[q];
        want[q].job = jobs[q];
    }
    for (int s = 0; s < LEN(schedules); s += 2) on_cuda(want, 0, CASES, s, &cfg);
    for (int q = 1; q < CASES; q += 3) on_cuda(want, q, 1, 1, &cfg);
    for (int q = 0; q < CASES; q++) free_one(&want[q]);
}

/* A constant column and no ridge: both devices give up the same slices. */
static void ill_fits_are_given_up_alike(void **state)
{
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_ctx cpu = check_ctx(1), c;

    (void)state;
    cfg.ridge = 0;
    for (int q = 0; q < CASES; q += 5) {
        one o = make(q);
        spot_domino_job job;
        spot_kmeans_job means = o.means;
        for (int i = 0; i < o.job.n; i++) o.v.feature[i * o.job.d] = 0;
        job = o.job;
        run(&cpu, &means, &job, 1, q, &cfg);
        assert_true(job.ill == o.job.k && job.iterations == 0);
        open_cuda(&c, 2);
        means.x = job.x = to_device(&c, o.v.feature, (size_t)o.job.n * o.job.d * sizeof(float));
        means.label = to_device(&c, NULL, o.job.n * sizeof(int));
        means.centre = to_device(&c, NULL, (size_t)o.job.k * o.job.d * sizeof(double));
        job.y = to_device(&c, o.y, o.job.n);
        job.p = to_device(&c, o.p, (size_t)o.job.n * o.job.classes * sizeof(float));
        double *out[OUTPUTS];
        for (int w = 0; w < OUTPUTS; w++) out[w] = to_device(&c, NULL, output_of(&o.job, w));
        point_at(&job, out);
        job.ill = -1;
        run(&c, &means, &job, 1, q, &cfg);
        assert_true(job.ill == o.job.k && job.iterations == 0);
        void *all[] = { (void *)job.x, means.label, means.centre, (void *)job.y, (void *)job.p };
        for (int i = 0; i < LEN(all); i++) spot_device_give(&c, all[i]);
        for (int w = 0; w < OUTPUTS; w++) spot_device_give(&c, out[w]);
        spot_device_close(&c);
        free_one(&o);
    }
}

enum { PROBLEMS = 3, D = 9 };

static void find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *v, const spot_seed *seed,
                 const spot_bdm_config *cfg)
{
    int rows[PROBLEMS];
    spot_points points[PROBLEMS];
    spot_bytes embed, needs;

    for (int q = 0; q < problems; q++) rows[q] = v[q].n;
    embed = spot_embed_needs(c, problems, rows, D, &cfg->embed);
    needs = spot_bdm_needs(c, problems, rows, cfg->embed.dim, cfg);
    assert_true((needs.device > 0) == (c->device != NULL));
    CHECK_OK(c, spot_arena_open(c, a, embed.host + needs.host));
    CHECK_OK(c, spot_embed_fit(c, a, problems, points, v, seed, &cfg->embed));
    CHECK_OK(c, spot_bdm_find(c, a, problems, out, v, points, seed, cfg));
}

/* The points of PCA have the same bits everywhere, and so have diagonal mixtures. */
static void hypotheses_agree(void **state)
{
    static const int rows[] = { 70, 8, 130 };
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_DOMINO);
    spot_ctx cpu = check_ctx(2), c;
    spot_view v[PROBLEMS];
    spot_seed seed[PROBLEMS];
    spot_hypotheses want[PROBLEMS], got[PROBLEMS];
    spot_arena a, b;

    (void)state;
    cfg.embed.dim = 16;         /* more than there are: columns are left out */
    cfg.domino.components = 11;
    for (int q = 0; q < PROBLEMS; q++) {
        v[q] = blobs(rows[q], D, 3, (uint64_t)q);
        v[q].confidence = malloc(rows[q] * sizeof(float));
        for (int i = 0; i < rows[q]; i++) v[q].confidence[i] = i % 3 ? 0.9f + 0.01f * (i % 7) : 0.02f * (i % 5);
        seed[q] = (spot_seed){ 3, (uint32_t)(10 + q) };
    }
    for (int kind = 0; kind < 2; kind++) {
        cfg.domino.start = kind ? SPOT_START_KMEANS : SPOT_START_CONFUSION;
        cfg.domino.covariance = kind ? SPOT_COVARIANCE_FULL : SPOT_COVARIANCE_DIAG;
        cfg.mixture.max_iterations = 20;
        find(&cpu, &a, PROBLEMS, want, v, seed, &cfg);
        for (int s = 0; s < LEN(schedules); s += 3) {
            open_cuda(&c, s);
            find(&c, &b, PROBLEMS, got, v, seed, &cfg);
            for (int q = 0; q < PROBLEMS; q++) {
                assert_true(got[q].len == want[q].len && got[q].components == want[q].components && want[q].len > 1);
                for (int k = 0; k < got[q].len; k++) {
                    assert_int_equal(got[q].h[k].len, want[q].h[k].len);
                    assert_memory_equal(got[q].h[k].row, want[q].h[k].row, (size_t)want[q].h[k].len * sizeof(int));
                    CHECK_NEAR(got[q].h[k].score, want[q].h[k].score, kind ? 1e-8 : 0);
                }
            }
            spot_arena_close(&b);
            spot_device_close(&c);
        }
        spot_arena_close(&a);
    }
    for (int q = 0; q < PROBLEMS; q++) free(v[q].confidence), v[q].confidence = NULL, blobs_free(&v[q]);
}

static volatile sig_atomic_t asked;
static void ask(int number) { asked = number; }

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One fit of many iterations, then the same one again, which a signal asks to stop when a third of its time is over. */
static void kmeans_hears_a_stop_on_its_way(void **state)
{
    enum { N = 1500, K = 24 };
    spot_kmeans_job job = { .n = N, .d = 2, .k = K, .given = 1 };
    struct sigaction act = { .sa_handler = ask, .sa_flags = SA_RESTART };
    spot_rng r = spot_rng_at(5, SPOT_RNG_BOOTSTRAP, 0, 0);
    struct itimerval when = { .it_value = { 0 } };
    double centre[K * 2], took;
    float x[N * 2];
    spot_arena a;
    spot_ctx c;

    (void)state;
    if (!getenv("SPOT_EMULATOR")) skip();              /* a GPU is through before a timer goes off */
    for (int e = 0; e < N * 2; e++) x[e] = (float)spot_rng_uniform(&r);
    for (int e = 0; e < K * 2; e++) centre[e] = 1e-3 * x[e];
    open_cuda(&c, 0);
    job.x = to_device(&c, x, sizeof x);
    job.label = to_device(&c, NULL, N * sizeof(int));
    job.centre = to_device(&c, centre, sizeof centre);
    CHECK_OK(&c, spot_arena_open_device(&c, &a, spot_kmeans_scratch(1, N, 2, K, 0)));
    took = now();
    CHECK_OK(&c, spot_kmeans_fit(&c, &a, 1, &job));
    took = now() - took;
    assert_in_range(job.iterations, 49, 299);          /* four launches at least */
    CHECK_OK(&c, spot_device_copy(&c, job.centre, centre, sizeof centre));
    sigaction(SIGALRM, &act, NULL);
    c.stop = &asked;
    when.it_value.tv_sec = (time_t)(took / 3);
    when.it_value.tv_usec = (suseconds_t)(1e6 * fmod(took / 3, 1));
    setitimer(ITIMER_REAL, &when, NULL);
    CHECK_FAILS(&c, spot_kmeans_fit(&c, &a, 1, &job), SPOT_STOPPED, "stopped on request");
    spot_arena_close(&a);
    spot_device_give(&c, (void *)job.x);
    spot_device_give(&c, job.label);
    spot_device_give(&c, job.centre);
    spot_device_close(&c);
}

static void host_memory_is_refused(void **state)
{
    spot_mixture_config cfg = spot_mixture_defaults();
    one o = make(0);
    spot_domino_cells cells = cells_of(&o.job, 0);
    spot_arena a;
    spot_ctx c;

    (void)state;
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_arena_open_device(&c, &a, spot_domino_scratch(1, 65, 7, 5, 2, 0, 0)
                                        + spot_kmeans_scratch(1, 65, 7, 5, 0)));
    CHECK_FAILS(&c, spot_domino_em(&c, &a, 1, &o.job, &cfg), SPOT_UNSUPPORTED, "host memory");
    CHECK_FAILS(&c, spot_domino_confusion(&c, 1, &cells), SPOT_UNSUPPORTED, "host memory");
    CHECK_FAILS(&c, spot_kmeans_fit(&c, &a, 1, &o.means), SPOT_UNSUPPORTED, "host memory");
    o.job.k = 66;
    CHECK_FAILS(&c, spot_domino_em(&c, &a, 1, &o.job, &cfg), SPOT_INVALID, "66 slices of (65, 7) points");
    o.job.k = 5;
    cells.k = 3;
    CHECK_FAILS(&c, spot_domino_confusion(&c, 1, &cells), SPOT_INVALID, "3 slices of 65 rows");
    CHECK_OK(&c, spot_domino_em(&c, &a, 0, NULL, &cfg));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
    spot_device_close(&c);
    free_one(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixtures_agree),
        cmocka_unit_test(ill_fits_are_given_up_alike),
        cmocka_unit_test(hypotheses_agree),
        cmocka_unit_test(kmeans_hears_a_stop_on_its_way),
        cmocka_unit_test(host_memory_is_refused),
    };

    openblas_set_num_threads(1);
    return RUN_ON_CUDA(tests);
}
