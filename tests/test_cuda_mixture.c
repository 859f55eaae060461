/* test_cuda_mixture.c - Gaussian mixtures on CUDA against the CPU. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include <signal.h>
#include <sys/time.h>

#include "fit/mixture.h"
#include "noise.h"
#include "op_mixtures.h"

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

/* The rows of this file differ in these beside their points. */
static spot_mixture_config rule;

/* A fit of k components to x (n, d), which malloc gave; resp: to start from. Weights, means and covariances stand together. */
static void make_fit(spot_op_run *r, spot_mixture_job *j, float *x, int n, int d, int k, double *resp, uint32_t ec)
{
    size_t values = (size_t)k * (size_t)(1 + d + d * d);

    *j = (spot_mixture_job){ .seed = { 3, ec }, .fit = { .n = n, .d = d, .k = k } };
    j->x = spot_op_given(r, x, (size_t)n * d * sizeof *x);
    j->resp = spot_op_given(r, resp, (size_t)n * k * sizeof *resp);
    j->fit.weight = spot_op_each(r, "parameters", NULL, SPOT_OP_DOUBLE, values, 1e-8, 1);
    j->fit.mean = j->fit.weight + k;
    j->fit.covariance = j->fit.mean + (size_t)k * d;
    j->label = spot_op_out(r, "labels", SPOT_OP_BYTE, (size_t)n, 0);
    spot_op_told(r, "iterations", &j->fit.iterations, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "converged", &j->fit.converged, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "ill", &j->fit.ill, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "likelihood", &j->fit.log_likelihood, SPOT_OP_DOUBLE, 1, 1e-8);
}

static spot_status run_fit(spot_op_run *r, void *problems, int count)
{
    spot_mixture_job *job = problems;
    int n = 0, d = 0, k = 0;
    spot_arena *a;

    for (int j = 0; j < count; j++) {
        n = job[j].fit.n > n ? job[j].fit.n : n;
        d = job[j].fit.d > d ? job[j].fit.d : d;
        k = job[j].fit.k > k ? job[j].fit.k : k;
    }
    SPOT_TRY(spot_op_scratch(r, &a, spot_mixture_scratch(count, n, d, k, r->c->device ? 0 : r->c->threads)));
    SPOT_OP(r, spot_mixture_em(r->c, a, job, count, &rule));
    assert_true(r->misplaced || !count || !r->c->device || a->peak == a->size);
    for (int i = 0; i < r->results; i++) {      /* a fit that was given up has no more to it than that */
        const spot_mixture_job *j = (spot_mixture_job *)r->problem + r->result[i].number;
        if (!r->result[i].on_host && j->fit.ill && r->result[i].kind == SPOT_OP_BYTE) r->result[i].count = 0;
        if (!r->result[i].on_host && j->fit.ill) r->result[i].off = INFINITY;
    }
    return SPOT_OK;
}

/* points, dimensions, components, clouds, given: edges of warps and blocks; every dimension that has kernels of its own and
 * some that have not; more components than warps, and the most there can be. given: responsibilities to start from, unlike
 * (1) or all equal (2), which leaves every point with equal components to choose its label from. */
static const int cloud_sizes[][SPOT_OP_SIZES] = {
    { 1, 3, 1, 1, 0 },   { 31, 2, 4, 3, 0 },  { 33, 3, 9, 4, 0 },  { 255, 4, 5, 6, 0 },  { 257, 3, 12, 5, 0 },
    { 257, 3, 1, 5, 0 }, { 256, 3, 8, 7, 0 }, { 64, 1, 3, 3, 0 },  { 90, 6, 3, 4, 0 },   { 100, 32, 2, 2, 0 },
    { 257, 3, 4, 5, 1 }, { 130, 2, 64, 7, 0 }, { 65, 3, 63, 6, 0 },  { 70, 3, 3, 3, 2 },
};
static const int one_size[][SPOT_OP_SIZES] = { { 257, 3, 4, 3, 0, 19 } };

static void make_clouds(spot_op_run *r, void *problem, const int *size)
{
    int n = size[0], d = size[1], k = size[2];
    double *resp = size[4] ? malloc((size_t)n * k * sizeof *resp) : NULL;

    for (int e = 0; resp && e < n * k; e++) resp[e] = size[4] == 2 ? 1.0 / k : 0.9 * (e / k % k == e % k) + 0.1 / k;
    make_fit(r, problem, clouds(n, d, size[3], (uint32_t)(r->number + size[5])), n, d, k, resp,
             (uint32_t)(size[5] ? 4 : r->number));
}

/* The clouds that make one fit go through two launches. */
static spot_status check_clouds(spot_op_run *r, void *problem)
{
    static int polls;
    const spot_mixture_job *j = problem;

    polls = (r->number ? polls : 0) + (j->fit.iterations > 25);
    assert_true(!j->fit.ill && (r->number < r->problems - 1 || polls > 0));
    return SPOT_OK;
}

/* Few and equal points: clusters that start empty, distances of 0, ties; candidates for a second centre that are as good as
 * each other, at both sides of the first. points, components, how many differ */
static const int equal_sizes[][SPOT_OP_SIZES] = { { 6, 1, 2 },  { 6, 2, 2 },  { 6, 3, 2 }, { 6, 4, 2 },
                                                  { 40, 1, 1 }, { 40, 4, 1 }, { 40, 9, 1 },
                                                  { 6, 2, 3 },  { 9, 2, 3 },  { 12, 2, 3 }, { 15, 2, 3 },
                                                  { 18, 2, 3 }, { 21, 2, 3 }, { 24, 2, 3 }, { 27, 2, 3 } };

static void make_equal(spot_op_run *r, void *problem, const int *size)
{
    float *x = malloc(2 * (size_t)size[0] * sizeof *x);

    for (int e = 0; e < 2 * size[0]; e++) x[e] = (float)(e / 2 % size[2]);
    make_fit(r, problem, x, size[0], 2, size[1], NULL, 1);
}

/* Without a ridge a component on one point has no covariance. */
static const int ill_sizes[][SPOT_OP_SIZES] = { { 5, 1 }, { 5, 2 }, { 5, 3 }, { 5, 4 }, { 4, 1 } };

static void make_ill(spot_op_run *r, void *problem, const int *size)
{
    static const float square[] = { 0, 0, 1, 0, 0, 1, 1, 1, 50, 50 }, line[] = { 1, 1, 2, 2, 3, 3, 4, 4 };
    size_t bytes = 2 * (size_t)size[0] * sizeof(float);

    make_fit(r, problem, memcpy(malloc(bytes), size[0] == 4 ? line : square, bytes), size[0], 2, size[1], NULL, 1);
}

static spot_status run_ill(spot_op_run *r, void *problems, int count)
{
    spot_status s;

    rule.ridge = 0;
    s = run_fit(r, problems, count);
    rule = spot_mixture_defaults();
    return s;
}

static spot_status check_ill(spot_op_run *r, void *problem)
{
    static const int least[] = { 0, 1, 1, 1, 1 }, most[] = { 0, 1, 9, 9, 1 };

    assert_in_range(((const spot_mixture_job *)problem)->fit.ill, least[r->number], most[r->number]);
    return SPOT_OK;
}

/* More points than a piece has, whose fits have a block a piece, and one fit of a piece beside them: sizes as above. */
static const int wide_sizes[][SPOT_OP_SIZES] = {
    { 4096, 3, 3, 3, 0 }, { 4097, 3, 3, 3, 0 }, { 8193, 2, 4, 3, 0 }, { 4097, 4, 2, 2, 1 }, { 4200, 6, 2, 2, 0 },
    { 4100, 3, 9, 4, 0 },
};

/* Some of them end before the last iteration that they may have, and some do not. */
static spot_status run_wide(spot_op_run *r, void *problems, int count)
{
    spot_status s;

    rule.max_iterations = 5;
    s = run_fit(r, problems, count);
    rule = spot_mixture_defaults();
    return s;
}

static spot_status check_wide(spot_op_run *r, void *problem)
{
    const spot_mixture *f = &((const spot_mixture_job *)problem)->fit;
    static int converged;

    converged = (r->number ? converged : 0) + f->converged;
    assert_true(!f->ill && (r->number < r->problems - 1 || (converged > 0 && converged < r->problems)));
    return SPOT_OK;
}

/* Equal points in all pieces: clusters that start empty and take the first of equal points; without a ridge no covariance. */
static const int wide_equal_sizes[][SPOT_OP_SIZES] = { { 4100, 3, 2 }, { 4100, 4, 1 }, { 8200, 2, 3 } };
static const int wide_ill_sizes[][SPOT_OP_SIZES] = { { 4100, 1, 1 }, { 8200, 2, 2 } };

static spot_status check_wide_ill(spot_op_run *r, void *problem)
{
    assert_int_equal(((const spot_mixture_job *)problem)->fit.ill, r->number + 1);
    return SPOT_OK;
}

static const spot_op mixture = { "mixture", sizeof(spot_mixture_job), make_clouds, run_fit, check_clouds, true };
static const spot_op of_one = { "mixture_of_two_launches", sizeof(spot_mixture_job), make_clouds, run_fit, NULL, true };
static const spot_op of_equals = { "mixture_of_equal_points", sizeof(spot_mixture_job), make_equal, run_fit, NULL, true };
static const spot_op ill = { "mixture_that_is_ill", sizeof(spot_mixture_job), make_ill, run_ill, check_ill, true };
static const spot_op wide = { "mixture_of_pieces", sizeof(spot_mixture_job), make_clouds, run_wide, check_wide, true };
static const spot_op wide_equals = { "mixture_of_equal_pieces", sizeof(spot_mixture_job), make_equal, run_fit, NULL, true };
static const spot_op wide_ill = { "mixture_of_ill_pieces", sizeof(spot_mixture_job), make_equal, run_ill, check_wide_ill,
                                  true };

/* points, largest K: the sizes of a problem differ, that of a call does not. */
static const int bic_sizes[][SPOT_OP_SIZES] = { { 200, 8 }, { 66, 8 }, { 150, 8 } };

static op_row rows[] = { OP_ROW(mixture, cloud_sizes, .step = 1), OP_ROW(of_equals, equal_sizes, .step = 1),
                         OP_ROW(ill, ill_sizes, .step = 1), OP_ROW(of_one, one_size, .step = 1),
                         OP_ROW(spot_op_bic, bic_sizes, .step = 2, .on_host = true),
                         OP_ROW(wide, wide_sizes, .step = 2), OP_ROW(wide_equals, wide_equal_sizes, .step = 2),
                         OP_ROW(wide_ill, wide_ill_sizes, .step = 2) };

/* The likelihood of rows[3] after that many iterations on the CPU, without a tolerance. */
static double likelihood(int iterations, int *made)
{
    spot_ctx cpu = check_ctx(1);
    spot_op_run *r;
    double total;

    rule.max_iterations = iterations;
    r = run_row(&cpu, &rows[3], false);
    total = ((spot_mixture_job *)r->problem)->fit.log_likelihood;
    *made = ((spot_mixture_job *)r->problem)->fit.iterations;
    spot_op_close(r);
    return total;
}

/* A tolerance under which a fit ends with its 26th iteration, the first of the second launch: what one launch leaves to the
 * next must be all there. */
TEST_ON_CUDA(launches_hand_over)
{
    double last;
    int made;

    rule.tol = 0;
    last = likelihood(24, &made);
    rule.tol = 1.0001 * (likelihood(25, &made) - last) / 257;
    likelihood(100, &made);
    assert_int_equal(made, 26);
    op_on_cuda(&rows[3], false, 0, 1);
    op_on_cuda(&rows[3], true, 2, LEN(schedules));
    rule = spot_mixture_defaults();
}

/* spot_mixture_fit as the sweep calls it, with points and results on the host: the same K and labels on both devices; and
 * from given responsibilities. */
TEST_ON_CUDA(bic_chooses_alike)
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
    cfg.k_max = 8;
    for (int i = 0; i < 400; i++) resp[i] = 0.8 * (i / 2 % 2 == i % 2) + 0.1;
    for (int p = 0; p < PROBLEMS; p++) x[p] = (spot_mat){ clouds(n[p], 3, 3 + p, 40 + (uint32_t)p), n[p], 3 };
    for (int cuda = 0; cuda < 2; cuda++) {
        spot_ctx c = check_ctx(1), host = check_ctx(1);
        if (cuda) open_cuda(&c, 3);
        CHECK_OK(&host, spot_arena_open(&host, &a[cuda], 2 * spot_mixture_bytes(PROBLEMS, n, 3, &cfg, 1)));
        CHECK_OK(&c, spot_mixture_fit(&c, &a[cuda], &(spot_mixture_data){ PROBLEMS, x, NULL, seeds }, best[cuda], label[cuda],
                                      all[cuda], &cfg));
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
TEST_ON_CUDA(stops_on_request)
{
    const struct itimerval soon = { .it_value = { .tv_usec = 50000 } };
    spot_op_run *r;
    spot_ctx c;

    rule.max_iterations = 1 << 30;
    rule.tol = 0;
    open_cuda(&c, 0);
    r = open_run(&c, &rows[3], false);
    c.stop = &stop;
    signal(SIGALRM, stop_now);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (int again = 0; again < 2; again++) CHECK_FAILS(&c, run_fit(r, r->problem, 1), SPOT_STOPPED, "run.stopped");
    assert_int_equal(r->scratch.used, 0);
    spot_op_close(r);
    spot_device_close(&c);
    rule = spot_mixture_defaults();
}

int main(void)
{
    rule = spot_mixture_defaults();
    return run_ops(rows, LEN(rows));
}
