/* test_cuda_umap.c - strengths, the descent and whole maps: CUDA gives the CPU's bits. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <cblas.h>
#include <math.h>

#include "map/affinity.h"
#include "blobs.h"
#include "map/umap.h"

enum { MANY = 33 };      /* more than go into one launch */

/* Rows of distances: of few and many neighbours, one of equals alone, one with some equals, spread over six decades. */
static void strengths_agree(void **state)
{
    static const struct { int rows, k; } cases[] = { { 1, 1 }, { 129, 14 }, { 40, 9 }, { 5, 999 }, { 128, 2 } };
    spot_umap_row want[MANY];
    spot_ctx cpu = check_ctx(2);

    (void)state;
    for (int p = 0; p < MANY; p++) {
        int rows = cases[p % LEN(cases)].rows, k = cases[p % LEN(cases)].k;
        spot_rng r = spot_rng_at(4, SPOT_RNG_TSNE, 0, (uint32_t)p);
        float *near = malloc((size_t)rows * k * sizeof *near);

        for (int e = 0; e < rows * k; e++) {
            int row = e / k;
            near[e] = row % 7 == 3 || (row % 7 == 4 && e % 3 == 0) ? 0 : (float)exp(7 * spot_rng_normal(&r) + row % 5);
        }
        want[p] = (spot_umap_row){ { near, rows, k }, malloc((size_t)rows * k * sizeof(float)), malloc(rows * sizeof(float)),
                                   malloc(rows * sizeof(float)) };
    }
    CHECK_OK(&cpu, spot_umap_strengths(&cpu, MANY, want));
    for (int s = 0; s < LEN(schedules); s++) {
        spot_umap_row got[MANY];
        spot_ctx c;

        open_cuda(&c, s);
        for (int p = 0; p < MANY; p++) {
            size_t rows = (size_t)want[p].near.rows, edges = rows * (size_t)want[p].near.cols;
            got[p] = want[p];
            got[p].near.v = to_device(&c, want[p].near.v, edges * sizeof(float));
            got[p].p = to_device(&c, NULL, edges * sizeof(float));
            got[p].rho = to_device(&c, NULL, rows * sizeof(float));
            got[p].sigma = to_device(&c, NULL, rows * sizeof(float));
        }
        CHECK_OK(&c, spot_umap_strengths(&c, MANY, got));
        for (int p = 0; p < MANY; p++) {
            size_t rows = (size_t)want[p].near.rows, edges = rows * (size_t)want[p].near.cols;
            for (size_t e = 0; e < edges; e++) assert_true(want[p].p[e] >= 0 && want[p].p[e] <= 1);
            expect_bytes(&c, got[p].p, want[p].p, edges * sizeof(float), "strengths", p, s);
            expect_bytes(&c, got[p].rho, want[p].rho, rows * sizeof(float), "rho", p, s);
            expect_bytes(&c, got[p].sigma, want[p].sigma, rows * sizeof(float), "sigma", p, s);
            spot_device_give(&c, got[p].near.v);
        }
        spot_device_close(&c);
    }
    for (int p = 0; p < MANY; p++) free(want[p].near.v), free(want[p].p), free(want[p].rho), free(want[p].sigma);
}

/* Ragged: one point; hubs; dimensions with and without a kernel of their own; negatives that fill their blocks of random words
 * or do not; layouts that end before others. Rows of the graph are whole multiples of 16 long. */
static const struct { int n, dim, length, negatives, steps; } cases[] = {
    { 1, 2, 16, 5, 9 }, { 33, 2, 16, 5, 9 }, { 129, 2, 48, 4, 9 }, { 40, 1, 32, 1, 9 }, { 64, 3, 16, 0, 4 },
    { 50, 5, 16, 7, 9 }, { 17, 8, 160, 5, 9 },
};

static spot_umap_layout random_layout(int p)
{
    int n = cases[p % LEN(cases)].n, length = cases[p % LEN(cases)].length, dim = cases[p % LEN(cases)].dim;
    int *start = malloc((n + 1) * sizeof *start), *to = malloc((size_t)n * length * sizeof *to);
    int *order = malloc(n * sizeof *order);
    float *weight = malloc((size_t)n * length * sizeof *weight);
    spot_umap_layout u = { .n = n, .dim = dim, .steps = cases[p % LEN(cases)].steps, .seed = 5, .ec = (uint32_t)p, .a = 1.58f,
                           .b = 0.9f, .lr = 1, .scale = 0.5f, .negatives = cases[p % LEN(cases)].negatives, .start = start,
                           .to = to, .weight = weight, .order = order };
    spot_rng r = spot_rng_at(5, SPOT_RNG_TSNE, 0, (uint32_t)p);

    start[0] = 0;
    for (int i = 0; i < n; i++) {
        int here = i % 3 ? length : length / 32 * 16;
        order[i] = (int)((i * 7919u + 3) % (unsigned)n);
        for (int e = start[i]; e < start[i] + here; e++) {
            to[e] = (int)spot_rng_below(&r, (uint32_t)n);
            weight[e] = e % 5 == 0 ? 0 : (float)spot_rng_uniform(&r);
        }
        start[i + 1] = start[i] + here;
    }
    for (int k = 0; k < 2; k++) u.y[k] = calloc((size_t)n * dim, sizeof(float));
    for (int e = 0; e < n * dim; e++) u.y[0][e] = e % 11 == 0 ? 1 : (float)(3 * spot_rng_normal(&r));
    return u;
}

static void descents_agree(void **state)
{
    spot_umap_layout want[MANY];
    spot_ctx cpu = check_ctx(2);
    float *begin[MANY];

    (void)state;
    for (int p = 0; p < MANY; p++) {
        want[p] = random_layout(p);
        size_t bytes = (size_t)want[p].n * want[p].dim * sizeof(float);
        memcpy(begin[p] = malloc(bytes), want[p].y[0], bytes);
    }
    CHECK_OK(&cpu, spot_umap_advance(&cpu, MANY, want, 0, 5));
    CHECK_OK(&cpu, spot_umap_advance(&cpu, MANY, want, 5, 4));
    for (int s = 0; s < LEN(schedules); s++) {
        spot_umap_layout got[MANY];
        spot_ctx c;

        open_cuda(&c, s);
        for (int p = 0; p < MANY; p++) {
            size_t n = (size_t)want[p].n, bytes = n * want[p].dim * sizeof(float);
            got[p] = want[p];
            got[p].start = to_device(&c, want[p].start, (n + 1) * sizeof(int));
            got[p].to = to_device(&c, want[p].to, want[p].start[n] * sizeof(int));
            got[p].weight = to_device(&c, want[p].weight, want[p].start[n] * sizeof(float));
            got[p].order = to_device(&c, want[p].order, n * sizeof(int));
            got[p].y[0] = to_device(&c, begin[p], bytes);
            got[p].y[1] = to_device(&c, NULL, bytes);
        }
        CHECK_OK(&c, spot_umap_advance(&c, MANY, got, 0, 9));
        for (int p = 0; p < MANY; p++) {
            size_t bytes = (size_t)want[p].n * want[p].dim * sizeof(float);
            expect_bytes(&c, got[p].y[0], want[p].y[0], bytes, "map of even steps", p, s);
            expect_bytes(&c, got[p].y[1], want[p].y[1], bytes, "map of odd steps", p, s);
            spot_device_give(&c, (void *)got[p].start), spot_device_give(&c, (void *)got[p].to);
            spot_device_give(&c, (void *)got[p].weight), spot_device_give(&c, (void *)got[p].order);
        }
        spot_device_close(&c);
    }
    for (int p = 0; p < MANY; p++) {
        free((void *)want[p].start), free((void *)want[p].to), free((void *)want[p].weight), free((void *)want[p].order);
        free(want[p].y[0]), free(want[p].y[1]), free(begin[p]);
    }
}

/* Features to maps: in pieces and whole, fewer rows than neighbours, equal rows; and GEORGE's way, hardness beside it. */
static void maps_agree(void **state)
{
    enum { PROBLEMS = 5, D = 12 };
    static const int n[PROBLEMS] = { 120, 45, 7, 60, 4 };
    spot_seed seeds[PROBLEMS];
    spot_view v[PROBLEMS];
    float head[D];

    (void)state;
    for (int k = 0; k < D; k++) head[k] = (float)(k % 5 - 1);
    for (int p = 0; p < PROBLEMS; p++) {
        v[p] = blobs(n[p], D, p ? 1 : 4, (uint64_t)p);
        v[p].head = head;
        seeds[p] = (spot_seed){ 2, (uint32_t)p };
        for (int i = 0; p == 3 && i < n[p]; i++) memcpy(v[p].feature + i * D, v[p].feature + i % 6 * D, D * sizeof(float));
    }
    for (int hard = 0; hard < 2; hard++) {
        spot_embed_config cfg = spot_embed_defaults();
        spot_points want[PROBLEMS], got[PROBLEMS];
        spot_ctx cpu = check_ctx(2);
        spot_arena a, b;

        cfg.method = SPOT_REDUCE_UMAP;
        cfg.umap.epochs = 20;
        cfg.umap.neighbours = 10;
        cfg.normalise = cfg.hardness = hard;
        CHECK_OK(&cpu, spot_arena_open(&cpu, &a, spot_embed_bytes(PROBLEMS, n, D, &cfg, 2)));
        CHECK_OK(&cpu, spot_embed_fit(&cpu, &a, PROBLEMS, want, v, seeds, &cfg));
        for (int s = 0; s < LEN(schedules); s++) {
            spot_ctx c;

            open_cuda(&c, s);
            CHECK_OK(&c, spot_arena_open(&c, &b, spot_embed_needs(&c, PROBLEMS, n, D, &cfg).host));
            CHECK_OK(&c, spot_embed_fit(&c, &b, PROBLEMS, got, v, seeds, &cfg));
            for (int p = 0; p < PROBLEMS; p++)
                assert_memory_equal(got[p].at, want[p].at, (size_t)n[p] * cfg.dim * sizeof(float));
            b.used = 0;
            CHECK_OK(&c, spot_embed_fit(&c, &b, 1, got, v + 1, seeds + 1, &cfg));
            assert_memory_equal(got->at, want[1].at, (size_t)n[1] * cfg.dim * sizeof(float));
            spot_arena_close(&b);
            spot_device_close(&c);
        }
        spot_arena_close(&a);
    }
    for (int p = 0; p < PROBLEMS; p++) blobs_free(&v[p]);
}

static void failures_are_told(void **state)
{
    float near[4] = { 1, 2, 3, 4 }, p[4], rho[2], sigma[2];
    spot_umap_row row = { { near, 2, 2 }, p, rho, sigma };
    spot_umap_layout u = random_layout(1);
    spot_ctx c;

    (void)state;
    open_cuda(&c, 0);
    CHECK_FAILS(&c, spot_umap_strengths(&c, 1, &row), SPOT_UNSUPPORTED, "host memory");
    CHECK_FAILS(&c, spot_umap_advance(&c, 1, &u, 0, 1), SPOT_UNSUPPORTED, "host memory");
    row.near.cols = 0;
    CHECK_FAILS(&c, spot_umap_strengths(&c, 1, &row), SPOT_INVALID, "(2,0)");
    u.dim = 33;
    CHECK_FAILS(&c, spot_umap_advance(&c, 1, &u, 0, 1), SPOT_INVALID, "33 dimensions");
    spot_device_close(&c);
    free((void *)u.start), free((void *)u.to), free((void *)u.weight), free((void *)u.order), free(u.y[0]), free(u.y[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strengths_agree), cmocka_unit_test(descents_agree), cmocka_unit_test(maps_agree),
        cmocka_unit_test(failures_are_told),
    };

    openblas_set_num_threads(1);
    return RUN_ON_CUDA(tests);
}
