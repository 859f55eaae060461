/* test_cuda_pca.c - covariance, scores and whole principal components: CUDA gives the CPU's bits. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <cblas.h>
#include <math.h>

#include "blobs.h"
#include "embed/reduce.h"
#include "map/pca.h"

/* Ragged: edges of tiles, slabs and blocks, one row, one column, more columns than rows. All run in one call. */
static const struct { int n, d, dim; } cases[] = {
    { 50, 7, 3 }, { 4, 1, 2 }, { 33, 64, 2 }, { 17, 65, 5 }, { 300, 130, 2 }, { 64, 3, 3 }, { 5, 40, 4 },
};
enum { CASES = LEN(cases), MANY = 45 };      /* more than go into one launch */

static spot_pca_problem host_problem(const spot_view *v, int kept)
{
    spot_pca_problem p = { .n = v->n, .d = v->d, .kept = kept, .x = v->feature };
    double *axis = malloc((size_t)kept * v->d * sizeof *axis);
    spot_rng r = spot_rng_at(3, SPOT_RNG_PCA, 2, (uint32_t)v->n);

    for (int e = 0; e < kept * v->d; e++) axis[e] = spot_rng_normal(&r);
    p.axis = axis;
    p.mean = calloc(v->d, sizeof *p.mean);
    p.cov = calloc((size_t)v->d * v->d, sizeof *p.cov);
    p.score = calloc((size_t)v->n * kept, sizeof *p.score);
    return p;
}

static void products_agree(void **state)
{
    spot_view v[MANY];
    spot_pca_problem want[MANY];
    spot_ctx cpu = check_ctx(2);

    (void)state;
    for (int q = 0; q < MANY; q++) {
        v[q] = blobs(cases[q % CASES].n, cases[q % CASES].d, 2, (uint64_t)q);
        want[q] = host_problem(&v[q], cases[q % CASES].dim < v[q].d ? cases[q % CASES].dim : v[q].d);
    }
    CHECK_OK(&cpu, spot_pca_covariance(&cpu, MANY, want));
    CHECK_OK(&cpu, spot_pca_project(&cpu, MANY, want));
    for (int s = 0; s < LEN(schedules); s++) {
        spot_pca_problem p[MANY];
        spot_ctx c;

        open_cuda(&c, s);
        for (int q = 0; q < MANY; q++) {
            size_t d = v[q].d, rows = v[q].n;
            p[q] = want[q];
            p[q].x = to_device(&c, v[q].feature, rows * d * sizeof(float));
            p[q].axis = to_device(&c, want[q].axis, p[q].kept * d * sizeof(double));
            p[q].mean = to_device(&c, NULL, d * sizeof(double));
            p[q].cov = to_device(&c, NULL, d * d * sizeof(double));
            p[q].score = to_device(&c, NULL, rows * p[q].kept * sizeof(float));
            CHECK_OK(&c, spot_device_clear(&c, p[q].cov, d * d * sizeof(double)));      /* the half that is not written */
        }
        CHECK_OK(&c, spot_pca_covariance(&c, MANY, p));
        CHECK_OK(&c, spot_pca_project(&c, MANY, p));
        for (int q = 0; q < MANY; q++) {
            size_t d = v[q].d, rows = v[q].n;
            expect_bytes(&c, p[q].mean, want[q].mean, d * sizeof(double), "mean", q, s);
            expect_bytes(&c, p[q].cov, want[q].cov, d * d * sizeof(double), "covariance", q, s);
            expect_bytes(&c, p[q].score, want[q].score, rows * p[q].kept * sizeof(float), "score", q, s);
            spot_device_give(&c, (void *)p[q].x);
            spot_device_give(&c, (void *)p[q].axis);
        }
        spot_device_close(&c);
    }
    for (int q = 0; q < MANY; q++) {
        blobs_free(&v[q]);
        free((void *)want[q].axis), free(want[q].mean), free(want[q].cov), free(want[q].score);
    }
}

/* Components, signs and what is left out, of views in the host's memory. */
static void map(spot_ctx *c, int problems, spot_points *out, const spot_view *v)
{
    spot_arena host = spot_arena_counting(), work = host;

    CHECK_OK(c, spot_pca_map(c, &host, &work, problems, out, v));
    CHECK_OK(c, spot_arena_open(c, &host, host.peak));
    CHECK_OK(c, spot_arena_open_device(c, &work, work.peak));
    CHECK_OK(c, spot_pca_map(c, &host, &work, problems, out, v));
    spot_arena_close(&host);
    spot_arena_close(&work);
}

static void components_agree(void **state)
{
    spot_view v[MANY];
    spot_points want[MANY], got[MANY];
    spot_ctx cpu = check_ctx(2);

    (void)state;
    for (int q = 0; q < MANY; q++) {
        size_t bytes = (size_t)cases[q % CASES].n * cases[q % CASES].dim * sizeof(float);
        v[q] = blobs(cases[q % CASES].n, cases[q % CASES].d, 3, (uint64_t)q);
        want[q] = got[q] = (spot_points){ .n = v[q].n, .d = cases[q % CASES].dim };
        want[q].at = malloc(bytes);
        got[q].at = malloc(bytes);
    }
    map(&cpu, MANY, want, v);
    for (int s = 0; s < LEN(schedules); s++) {
        spot_ctx c;

        open_cuda(&c, s);
        for (int alone = 0; alone < 2; alone++) {
            int count = alone ? 1 : MANY, from = alone ? 20 : 0;
            map(&c, count, got + from, v + from);
            for (int q = from; q < from + count; q++) {
                for (int e = 0; e < got[q].n * got[q].d; e++) CHECK_NEAR(got[q].at[e], want[q].at[e], 1e-5);
                CHECK_NEAR(got[q].objective, want[q].objective, 1e-9 * (1 + want[q].objective));
                assert_memory_equal(got[q].at, want[q].at, (size_t)got[q].n * got[q].d * sizeof(float));
                got[q].at[0] = NAN;
            }
        }
        spot_device_close(&c);
    }
    for (int q = 0; q < MANY; q++) blobs_free(&v[q]), free(want[q].at), free(got[q].at);
}

static void failures_are_told(void **state)
{
    float x[4] = { 1, 2, 3, 4 };
    double mean[2], cov[4];
    spot_pca_problem p = { .n = 2, .d = 2, .kept = 3, .x = x, .mean = mean, .cov = cov };
    spot_ctx c;

    (void)state;
    open_cuda(&c, 0);
    CHECK_FAILS(&c, spot_pca_covariance(&c, 1, &p), SPOT_UNSUPPORTED, "host memory");
    CHECK_FAILS(&c, spot_pca_project(&c, 1, &p), SPOT_INVALID, "3 axes");
    p.n = 0;
    CHECK_FAILS(&c, spot_pca_covariance(&c, 1, &p), SPOT_INVALID, "(0,2)");
    spot_device_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree), cmocka_unit_test(components_agree), cmocka_unit_test(failures_are_told),
    };

    openblas_set_num_threads(1);
    return RUN_ON_CUDA(tests);
}
