/* test_cuda_multiaccuracy.c - normal equations, scores and whole Multiaccuracy on CUDA: the CPU's bits, for what lies between
 * is LAPACK's on the host. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <cblas.h>
#include <math.h>

#include "fit/ridge.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* Ragged: edges of tiles, slabs and blocks, no rows, one row, one column; more than go into one launch. All in one call. */
static const struct { int n, d, rows, scores; } cases[] = {
    { 50, 7, 30, 3 }, { 4, 1, 0, 1 }, { 33, 64, 33, 4 }, { 17, 65, 1, 2 }, { 300, 70, 257, 3 }, { 1, 3, 1, 1 },
    { 90, 257, 16, 2 },
};
enum { CASES = LEN(cases), MANY = 70 };

static int case_of(int which) { return which < CASES ? which : which % 2; }      /* the large ones once */

typedef struct { spot_ridge_rows rows; spot_ridge_fit fit; float *x; double *centre, *weight, *w; int *row; } host_case;

static double *noise(spot_rng *r, size_t count)
{
    double *v = malloc((count + 1) * sizeof *v);
    for (size_t i = 0; i < count; i++) v[i] = spot_rng_normal(r);
    return v;
}

static host_case make(int which)
{
    int n = cases[case_of(which)].n, d = cases[case_of(which)].d, rows = cases[case_of(which)].rows;
    int scores = cases[case_of(which)].scores;
    spot_rng r = spot_rng_at(4, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)which);
    size_t numbers = (size_t)n * d;
    host_case h = { .x = malloc(numbers * sizeof(float)), .row = malloc(((size_t)rows + 1) * sizeof(int)) };
    for (size_t i = 0; i < numbers; i++) h.x[i] = (float)(3 + spot_rng_normal(&r));
    for (int i = 0; i < rows; i++) h.row[i] = (int)spot_rng_below(&r, (uint32_t)n);
    h.centre = noise(&r, (size_t)d);
    h.weight = noise(&r, (size_t)rows);
    h.w = noise(&r, (size_t)scores * (d + 1));
    h.rows = (spot_ridge_rows){ n, d, rows, h.x, h.centre, h.row, which % 3 ? h.weight : NULL, NULL };
    h.fit = (spot_ridge_fit){ n, d, scores, h.x, h.centre, h.w, h.w + (size_t)scores * d,
                              malloc((size_t)scores * n * sizeof(double)) };
    return h;
}

static void sums_and_scores_have_the_same_bits(void **state)
{
    spot_ctx cpu = check_ctx(2);
    host_case h[MANY];
    spot_ridge_rows gram[MANY], moment[MANY], rows[MANY];
    spot_ridge_fit fit[MANY];
    (void)state;
    for (int q = 0; q < MANY; q++) {
        size_t d = (size_t)cases[case_of(q)].d;
        h[q] = make(q);
        gram[q] = moment[q] = h[q].rows;
        gram[q].out = noise(&(spot_rng){ .seed = 9 }, d * d);      /* the gram is added to what is there */
        moment[q].out = malloc(d * sizeof(double));
        fit[q] = h[q].fit;
    }
    for (int s = 0; s < LEN(schedules); s++) {
        spot_ctx c;
        double *grams[MANY], *moments[MANY], *scores[MANY];
        open_cuda(&c, s);
        for (int q = 0; q < MANY; q++) {
            const spot_ridge_rows *from = &h[q].rows;
            size_t d = (size_t)from->d, n = (size_t)from->n, v = (size_t)fit[q].scores;
            double *start = noise(&(spot_rng){ .seed = 9 }, d * d);
            rows[q] = *from;
            rows[q].x = to_device(&c, h[q].x, n * d * sizeof(float));
            rows[q].centre = to_device(&c, h[q].centre, d * sizeof(double));
            rows[q].row = to_device(&c, h[q].row, (size_t)from->rows * sizeof(int) + 1);
            if (from->weight) rows[q].weight = to_device(&c, h[q].weight, (size_t)from->rows * sizeof(double) + 1);
            rows[q].out = grams[q] = to_device(&c, start, d * d * sizeof(double));
            moments[q] = to_device(&c, NULL, d * sizeof(double));
            scores[q] = to_device(&c, NULL, v * n * sizeof(double));
            fit[q].x = rows[q].x, fit[q].centre = rows[q].centre, fit[q].score = scores[q];
            fit[q].w = to_device(&c, h[q].w, v * (d + 1) * sizeof(double));
            fit[q].b = fit[q].w + v * d;
            free(start);
        }
        CHECK_OK(&c, spot_ridge_gram(&c, MANY, rows));
        for (int q = 0; q < MANY; q++) rows[q].out = moments[q];
        CHECK_OK(&c, spot_ridge_moment(&c, MANY, rows));
        CHECK_OK(&c, spot_ridge_score(&c, MANY, fit));
        if (!s) {
            spot_ridge_fit want[MANY];
            for (int q = 0; q < MANY; q++) want[q] = h[q].fit;
            CHECK_OK(&cpu, spot_ridge_gram(&cpu, MANY, gram));
            CHECK_OK(&cpu, spot_ridge_moment(&cpu, MANY, moment));
            CHECK_OK(&cpu, spot_ridge_score(&cpu, MANY, want));
        }
        for (int q = 0; q < MANY; q++) {
            size_t d = (size_t)h[q].rows.d, n = (size_t)h[q].rows.n;
            expect_bytes(&c, grams[q], gram[q].out, d * d * sizeof(double), "gram", q, s);
            expect_bytes(&c, moments[q], moment[q].out, d * sizeof(double), "moment", q, s);
            expect_bytes(&c, scores[q], h[q].fit.score, (size_t)fit[q].scores * n * sizeof(double), "scores", q, s);
            spot_device_give(&c, (void *)rows[q].x), spot_device_give(&c, (void *)rows[q].centre);
            spot_device_give(&c, (void *)rows[q].row), spot_device_give(&c, (void *)rows[q].weight);
            spot_device_give(&c, (void *)fit[q].w);
        }
        spot_device_close(&c);
    }
    for (int q = 0; q < MANY; q++) {
        free(h[q].x), free(h[q].row), free(h[q].centre), free(h[q].weight), free(h[q].w), free(h[q].fit.score);
        free(gram[q].out), free(moment[q].out);
    }
}

enum { N = 130, D = 9, PROBLEMS = 3 };

static void hypotheses_have_the_same_bits(void **state)
{
    static float x[PROBLEMS][N * D], confidence[PROBLEMS][N];
    static uint8_t label[N];
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_MULTIACCURACY);
    spot_points points[PROBLEMS];
    spot_view views[PROBLEMS];
    spot_seed seeds[PROBLEMS];
    int n[PROBLEMS];
    (void)state;
    for (int p = 0; p < PROBLEMS; p++) {
        spot_rng r = spot_rng_at(6, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)p);
        n[p] = N - 30 * p;
        for (int i = 0; i < N * D; i++) x[p][i] = (float)spot_rng_normal(&r);
        for (int i = 0; i < N; i++) {
            label[i] = x[2][i * D] > -1;
            confidence[p][i] = (float)(1 / (1 + exp(-1 - 2 * x[p][i * D] - 0.3 * spot_rng_normal(&r))));
        }
        seeds[p] = (spot_seed){ 1, (uint32_t)p };
        views[p] = (spot_view){ .n = n[p], .confidence = confidence[p], .label = p == 2 ? label : NULL };
        points[p] = (spot_points){ .n = n[p], .d = D, .at = x[p] };
    }
    for (int compat = 0; compat < 2; compat++) {
        spot_hypotheses found[2][PROBLEMS];
        spot_arena a[2];
        cfg.compat = compat;
        cfg.top = 4;
        for (int cuda = 0; cuda < 2; cuda++) {
            spot_ctx c = check_ctx(1), host = check_ctx(1);
            spot_bytes needs;
            if (cuda) open_cuda(&c, 3);
            needs = spot_bdm_needs(&c, PROBLEMS, n, D, &cfg);
            CHECK_OK(&host, spot_arena_open(&host, &a[cuda], needs.host));
            if (cuda) note_takes(&c);
            CHECK_OK(&c, spot_bdm_find(&c, &a[cuda], PROBLEMS, found[cuda], views, points, seeds, &cfg));
            if (cuda) assert_true(noted > 0 && noted <= needs.device);
            spot_device_close(&c);
        }
        for (int p = 0; p < PROBLEMS; p++) {
            assert_true(found[0][p].len > 0 && found[0][p].len == found[1][p].len);
            for (int k = 0; k < found[0][p].len; k++) {
                const spot_hypothesis *u = &found[0][p].h[k], *v = &found[1][p].h[k];
                assert_int_equal(u->len, v->len);
                assert_memory_equal(u->row, v->row, (size_t)u->len * sizeof(int));
                assert_memory_equal(&u->score, &v->score, sizeof(double));
            }
        }
        spot_arena_close(&a[0]);
        spot_arena_close(&a[1]);
    }
}

static void failures_are_told(void **state)
{
    float x[2] = { 0, 1 };
    double centre[1] = { 0 }, out[2];
    int row[2] = { 0, 1 };
    spot_ridge_rows rows = { 2, 1, 2, x, centre, row, NULL, out };
    spot_ridge_fit fit = { 2, 1, 1, x, centre, out, out, out };
    spot_ctx c;
    (void)state;
    open_cuda(&c, 0);
    CHECK_FAILS(&c, spot_ridge_gram(&c, 1, &rows), SPOT_UNSUPPORTED, "host memory");
    CHECK_FAILS(&c, spot_ridge_moment(&c, 1, &rows), SPOT_UNSUPPORTED, "host memory");
    CHECK_FAILS(&c, spot_ridge_score(&c, 1, &fit), SPOT_UNSUPPORTED, "host memory");
    CHECK_OK(&c, spot_ridge_gram(&c, 0, NULL));
    spot_device_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_scores_have_the_same_bits),
        cmocka_unit_test(hypotheses_have_the_same_bits),
        cmocka_unit_test(failures_are_told),
    };

    openblas_set_num_threads(1);
    return RUN_ON_CUDA(tests);
}
