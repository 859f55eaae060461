/* test_cuda_barlow.c - information, trees and what Barlow makes of them: CUDA gives the CPU's bits. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <math.h>

#include "fit/information.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"
#include "spotter/tree.h"

/* Ragged: one row, one column, a class of none, of one, ends of warps and blocks, many ties. All run in one call. */
static const struct { int n, d, ones; } cases[] = {
    { 50, 7, 20 }, { 1, 1, 0 }, { 33, 4, 0 }, { 64, 3, 1 }, { 257, 5, 60 }, { 31, 40, 31 }, { 130, 2, 128 },
};
enum { CASES = LEN(cases), MANY = 58 };      /* more than go into one launch; after the first round small ones */

typedef struct { int n, d; float *x; uint8_t *y; double *noise; } table;

static table make(int q)
{
    spot_rng r = spot_rng_at(7, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)q);
    int k = q < CASES ? q : 1 + q % 2, n = cases[k].n, d = cases[k].d;
    table t = { n, d, malloc((size_t)n * d * sizeof(float)), malloc(n), malloc((size_t)n * d * sizeof(double)) };

    for (int i = 0; i < n; i++) {
        t.y[i] = q < CASES ? i * 7 % n < cases[k].ones : i % 3 == q % 3;
        for (int j = 0; j < d; j++) {
            float z = (float)spot_rng_normal(&r) + t.y[i] * (float)(j % 3);
            t.x[i * d + j] = j % 4 == 3 ? 2 : j % 3 ? fmaxf(0, z) : roundf(2 * z);
            t.noise[i * d + j] = q % 2 ? 0 : spot_rng_normal(&r);
        }
    }
    return t;
}

static void forget(table *t) { free(t->x), free(t->y), free(t->noise); }

/* Noise given to every third problem. */
static void information_agrees(void **state)
{
    static double want[MANY][40];
    spot_ctx cpu = check_ctx(2), c;
    spot_information_problem p[MANY];
    table t[MANY];
    spot_arena a;

    (void)state;
    for (int q = 0; q < MANY; q++) {
        t[q] = make(q);
        p[q] = (spot_information_problem){ .n = t[q].n, .d = t[q].d, .x = t[q].x, .y = t[q].y, .seed = { 3, (uint32_t)q },
                                           .noise = q % 3 ? NULL : t[q].noise, .information = want[q] };
    }
    CHECK_OK(&cpu, spot_arena_open(&cpu, &a, spot_information_scratch(MANY, 257, 40, 2)));
    CHECK_OK(&cpu, spot_information_mutual(&cpu, &a, MANY, p));
    spot_arena_close(&a);
    assert_true(want[0][2] > 0 && want[4][2] > 0 && want[2][0] < 1e-12 && want[0][3] == 0);
    for (int s = 0; s < LEN(schedules); s += 2) {
        spot_information_problem there[MANY];
        open_cuda(&c, s);
        CHECK_OK(&c, spot_arena_open_device(&c, &a, spot_information_scratch(MANY, 257, 40, 0)));
        for (int q = 0; q < MANY; q++) {
            size_t values = (size_t)t[q].n * t[q].d;
            there[q] = p[q];
            there[q].x = to_device(&c, t[q].x, values * sizeof(float));
            there[q].y = to_device(&c, t[q].y, t[q].n);
            if (p[q].noise) there[q].noise = to_device(&c, t[q].noise, values * sizeof(double));
            there[q].information = to_device(&c, NULL, t[q].d * sizeof(double));
        }
        CHECK_OK(&c, spot_information_mutual(&c, &a, MANY, there));
        for (int q = 0; q < MANY; q++) {
            expect_bytes(&c, there[q].information, want[q], t[q].d * sizeof(double), "information", q, s);
            spot_device_give(&c, (void *)there[q].x);
            spot_device_give(&c, (void *)there[q].y);
            spot_device_give(&c, (void *)there[q].noise);
        }
        spot_arena_close(&a);
        spot_device_close(&c);
    }
    for (int q = 0; q < MANY; q++) forget(&t[q]);
}

static size_t open_for(spot_ctx *c, spot_arena *a, const spot_mat *x, int depth)
{
    size_t device = 0;
    spot_bytes all = { 0, 0 };

    for (int q = 0; q < MANY; q++) {
        spot_bytes one = spot_tree_needs(c, 1, &x[q].rows, x[q].cols, depth);
        all.host += one.host;
        device += one.device;
    }
    CHECK_OK(c, spot_arena_open(c, a, all.host));
    return device;
}

static int same(const spot_tree_node *a, const spot_tree_node *b)
{
    return a->feature == b->feature && a->left == b->left && a->right == b->right && a->rows == b->rows && a->ones == b->ones &&
           a->threshold == b->threshold;
}

static void trees_agree(void **state)
{
    spot_ctx cpu = check_ctx(2), c;
    spot_tree want[MANY], got[MANY];
    const uint8_t *y[MANY];
    spot_mat x[MANY];
    spot_arena a, b;
    table t[MANY];
    int nodes = 0;

    (void)state;
    for (int q = 0; q < MANY; q++) {
        t[q] = make(q);
        x[q] = (spot_mat){ t[q].x, t[q].n, t[q].d };
        y[q] = t[q].y;
    }
    assert_int_equal(open_for(&cpu, &a, x, 9), 0);
    CHECK_OK(&cpu, spot_tree_fit(&cpu, &a, MANY, want, x, y, 9));
    for (int s = 0; s < LEN(schedules); s += 2) {
        open_cuda(&c, s);
        assert_true(open_for(&c, &b, x, 9) > 0);
        CHECK_OK(&c, spot_tree_fit(&c, &b, MANY, got, x, y, 9));
        for (int q = 0; q < MANY; q++) {
            assert_true(got[q].nodes == want[q].nodes && got[q].leaves == want[q].leaves && got[q].weight == want[q].weight);
            for (int k = 0; k < got[q].nodes; k++) assert_true(same(&got[q].node[k], &want[q].node[k]));
            nodes += got[q].nodes;
        }
        spot_arena_close(&b);
        spot_device_close(&c);
    }
    assert_true(nodes > 3 * 5 * MANY);
    spot_arena_close(&a);
    for (int q = 0; q < MANY; q++) forget(&t[q]);
}

static void barlow_agrees(void **state)
{
    enum { PROBLEMS = 3, D = 12 };
    static const int rows[PROBLEMS] = { 90, 33, 128 };
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_BARLOW);
    spot_hypotheses want[PROBLEMS], got[PROBLEMS];
    spot_points points[PROBLEMS];
    spot_view views[PROBLEMS];
    spot_seed seeds[PROBLEMS];
    spot_ctx cpu = check_ctx(2), c;
    spot_arena a, b;

    (void)state;
    cfg.barlow.features = 5;
    for (int q = 0; q < PROBLEMS; q++) {
        spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)q);
        points[q] = (spot_points){ .n = rows[q], .d = D, .at = malloc((size_t)rows[q] * D * sizeof(float)) };
        views[q] = (spot_view){ .n = rows[q], .confidence = malloc(rows[q] * sizeof(float)) };
        seeds[q] = (spot_seed){ 2, (uint32_t)q };
        for (int i = 0; i < rows[q]; i++) {
            views[q].confidence[i] = q == 1 || spot_rng_below(&r, 4) ? 0.9f : 0.2f;      /* nothing fails in problem 1 */
            for (int j = 0; j < D; j++)
                points[q].at[i * D + j] = fmaxf(0, (float)spot_rng_normal(&r) + (j < 3 ? 2 - 2 * views[q].confidence[i] : 0));
        }
    }
    CHECK_OK(&cpu, spot_arena_open(&cpu, &a, spot_bdm_needs(&cpu, PROBLEMS, rows, D, &cfg).host));
    CHECK_OK(&cpu, spot_bdm_find(&cpu, &a, PROBLEMS, want, views, points, seeds, &cfg));
    assert_true(want[0].len > 2 && want[1].len == 0 && want[2].len > 2);
    for (int s = 0; s < LEN(schedules); s += 2) {
        open_cuda(&c, s);
        assert_true(spot_bdm_needs(&c, PROBLEMS, rows, D, &cfg).device > spot_bdm_needs(&c, 1, rows, D, &cfg).device);
        CHECK_OK(&c, spot_arena_open(&c, &b, spot_bdm_needs(&c, PROBLEMS, rows, D, &cfg).host));
        CHECK_OK(&c, spot_bdm_find(&c, &b, PROBLEMS, got, views, points, seeds, &cfg));
        for (int q = 0; q < PROBLEMS; q++) {
            assert_true(got[q].len == want[q].len && got[q].components == want[q].components);
            for (int k = 0; k < want[q].len; k++) {
                assert_true(got[q].h[k].len == want[q].h[k].len && got[q].h[k].score == want[q].h[k].score);
                assert_memory_equal(got[q].h[k].row, want[q].h[k].row, want[q].h[k].len * sizeof(int));
            }
        }
        spot_arena_close(&b);
        spot_device_close(&c);
    }
    spot_arena_close(&a);
    for (int q = 0; q < PROBLEMS; q++) free(points[q].at), free(views[q].confidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(information_agrees),
        cmocka_unit_test(trees_agree),
        cmocka_unit_test(barlow_agrees),
    };

    return RUN_ON_CUDA(tests);
}
