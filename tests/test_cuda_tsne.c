/* test_cuda_tsne.c - forces, descent and whole maps: CUDA against the CPU. ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda_tsne.h"

#include <cblas.h>

#include "blobs.h"
#include "spotter/embed.h"
#include "spotter/rng.h"
#include "map/tsne.h"

/* Forces and descent, on the P of a random graph: n points to `dim`. */
static void make_problem(spot_ctx *c, spot_tsne_problem *t, int n, int dim, int k, double size)
{
    int *column = on(c, NULL, (size_t)n * k * sizeof(int)), stride = spot_tsne_stride(n);
    float *p = on(c, NULL, (size_t)n * k * sizeof(float)), *y = on(c, NULL, (size_t)dim * stride * sizeof(float));
    spot_rng r = spot_rng_at(6, SPOT_RNG_TSNE, 0, (uint32_t)(n * 16 + dim));
    spot_affinity_graph g;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            column[i * k + j] = j + (j >= i);
            p[i * k + j] = 1.0f / k;
            if (i > k) column[i * k + j] = i - k + j;
        }
    g = take_graph(c, n, k, column, p);
    CHECK_OK(c, spot_affinity_joint(c, 1, &g));
    for (int e = 0; e < dim * stride; e++) y[e] = (float)(size * spot_rng_normal(&r));
    *t = (spot_tsne_problem){ .n = n, .dim = dim, .stride = stride, .start = g.start, .to = g.to, .p = g.joint, .y = y };
}

/* The same problem in the memory of c. */
static spot_tsne_problem carry(spot_ctx *c, const spot_tsne_problem *t)
{
    spot_tsne_problem there = *t;

    there.start = on(c, t->start, (t->n + 1) * sizeof(int));
    there.to = on(c, t->to, t->start[t->n] * sizeof(int));
    there.p = on(c, t->p, t->start[t->n] * sizeof(float));
    there.y = on(c, t->y, (size_t)t->dim * t->stride * sizeof(float));
    return there;
}

static const struct { int n, dim, k; double size; } forces[] = {
    { 2, 2, 1, 1 }, { 31, 1, 5, 3 }, { 33, 3, 32, 1 }, { 255, 2, 17, 20 }, { 257, 2, 3, 1e-4 }, { 40, 5, 7, 2 },
    { 1061, 2, 4, 10 }, { 64, 2, 8, 0 },
};

static void gradients_agree(void **state)
{
    const spot_tsne_config cfg = { .exaggeration = 4 };

    (void)state;
    for (int q = 0; q < LEN(forces); q++) {
        int entries = forces[q].n * forces[q].dim;
        double *want = malloc(entries * sizeof *want), *got = malloc(entries * sizeof *got), kl, gkl, most = 0;
        spot_ctx host = check_ctx(2);
        spot_arena h;
        spot_tsne_problem t;

        CHECK_OK(&host, spot_arena_open(&host, &h, 1 << 22));
        make_problem(&host, &t, forces[q].n, forces[q].dim, forces[q].k, forces[q].size);
        CHECK_OK(&host, spot_tsne_gradient(&host, &h, &t, &cfg, want, &kl));
        for (int e = 0; e < entries; e++) most = fmax(most, fabs(want[e]));
        for (int s = 0; s < LEN(schedules); s++) {
            spot_tsne_problem there;
            spot_arena a;
            spot_ctx c;

            open_cuda(&c, s);
            CHECK_OK(&c, spot_arena_open_device(&c, &a, 1 << 20));
            there = carry(&c, &t);
            CHECK_OK(&c, spot_tsne_gradient(&c, &a, &there, &cfg, got, &gkl));
            CHECK_NEAR(gkl, kl, 1e-6 * fabs(kl));
            for (int e = 0; e < entries; e++) CHECK_NEAR(got[e], want[e], 1e-5 * most);
            if (getenv("SPOT_EMULATOR")) assert_memory_equal(got, want, entries * sizeof *got);
            spot_arena_close(&a);
            give_back(&c);
            spot_device_close(&c);
        }
        spot_arena_close(&h);
        give_back(&host);
        free(want), free(got);
    }
}

/* Interpolated forces: dense, sparse over two sizes of the grid, to a line, points that are all one. */
static const struct { int n, dim; double size; } grids[] = { { 257, 2, 1e-3 }, { 300, 2, 25 }, { 500, 1, 60 }, { 33, 2, 0 } };

static void interpolated_forces_agree(void **state)
{
    const spot_tsne_config cfg = { .exaggeration = 4, .repulsion = SPOT_TSNE_BY_FFT };

    (void)state;
    for (int q = 0; q < LEN(grids); q++) {
        int entries = grids[q].n * grids[q].dim;
        double *want = malloc(entries * sizeof *want), *got = malloc(entries * sizeof *got), kl, gkl, most = 0;
        spot_ctx host = check_ctx(2);
        spot_arena h;
        spot_tsne_problem t;

        CHECK_OK(&host, spot_arena_open(&host, &h, (size_t)1 << 30));
        make_problem(&host, &t, grids[q].n, grids[q].dim, 5, grids[q].size);
        CHECK_OK(&host, spot_tsne_gradient(&host, &h, &t, &cfg, want, &kl));
        for (int e = 0; e < entries; e++) most = fmax(most, fabs(want[e]));
        for (int s = 0; s < (q == 1 ? LEN(schedules) : 2 - SANITIZED); s++) {
            spot_tsne_problem there;
            spot_arena a;
            spot_ctx c;

            open_cuda(&c, s);
            CHECK_OK(&c, spot_arena_open_device(&c, &a, 80 << 20));
            there = carry(&c, &t);
            CHECK_OK(&c, spot_tsne_gradient(&c, &a, &there, &cfg, got, &gkl));
            CHECK_NEAR(gkl, kl, 1e-6 * fabs(kl));
            for (int e = 0; e < entries; e++) CHECK_NEAR(got[e], want[e], 1e-5 * most);
            if (getenv("SPOT_EMULATOR")) assert_memory_equal(got, want, entries * sizeof *got);
            spot_arena_close(&a);
            give_back(&c);
            spot_device_close(&c);
        }
        spot_arena_close(&h);
        give_back(&host);
        free(want), free(got);
    }
}

/* The grid grows with the map from step to step; two maps at once and each alone. */
static void interpolated_descents_agree(void **state)
{
    const spot_tsne_config cfg = { .iterations = 3, .exaggeration = 12, .repulsion = SPOT_TSNE_BY_FFT };
    spot_ctx host = check_ctx(2);
    spot_tsne_problem start[2], t[2];
    spot_arena h;

    (void)state;
    CHECK_OK(&host, spot_arena_open(&host, &h, (size_t)1 << 30));
    for (int q = 0; q < 2; q++) {
        make_problem(&host, &start[q], 90 + 200 * q, 2, 5, 1e-2);
        t[q] = carry(&host, &start[q]);
    }
    CHECK_OK(&host, spot_tsne_fit(&host, &h, 2, t, &cfg));
    for (int alone = 0; alone < 2; alone++) {
        spot_tsne_problem there[2];
        spot_arena a;
        spot_ctx c;

        open_cuda(&c, 2 + alone);
        CHECK_OK(&c, spot_arena_open_device(&c, &a, 160 << 20));
        for (int q = 0; q < 2; q++) there[q] = carry(&c, &start[q]);
        for (int q = 0; q < 1 + alone; q++) CHECK_OK(&c, spot_tsne_fit(&c, &a, 2 - alone, there + q, &cfg));
        for (int q = 0; q < 2; q++)
            for (int k = 0; k < 2; k++)
                check_floats(&c, "map", there[q].y + k * t[q].stride, t[q].y + k * t[q].stride, t[q].n, 1e-3);
        spot_arena_close(&a);
        give_back(&c);
        spot_device_close(&c);
    }
    spot_arena_close(&h);
    give_back(&host);
}

/* Three maps at once and each alone, past a look at 50; a few points through both phases. */
static const struct { int n, k, iterations; } fits[][3] = {
    { { 2, 1, 55 }, { 257, 5, 55 }, { 33, 8, 55 } },
    { { 4, 1, 301 }, { 3, 2, 301 }, { 5, 2, 301 } },
};

static void descents_agree(void **state)
{
    (void)state;
    for (int batch = 0; batch < LEN(fits); batch++) {
        spot_tsne_config cfg = { .perplexity = 5, .iterations = fits[batch][0].iterations, .exaggeration = 12 };
        spot_ctx host = check_ctx(2);
        spot_arena h;
        spot_tsne_problem start[3], t[3];

        CHECK_OK(&host, spot_arena_open(&host, &h, 1 << 22));
        for (int q = 0; q < 3; q++) {
            make_problem(&host, &start[q], fits[batch][q].n, 2, fits[batch][q].k, 1e-4);
            t[q] = carry(&host, &start[q]);
        }
        CHECK_OK(&host, spot_tsne_fit(&host, &h, 3, t, &cfg));
        for (int s = 0; s < LEN(schedules); s++)
            for (int alone = 0; alone < 2; alone++) {
                spot_tsne_problem there[3];
                spot_arena a;
                spot_ctx c;

                if (alone && s > (SANITIZED ? 0 : 2)) continue;
                open_cuda(&c, s);
                CHECK_OK(&c, spot_arena_open_device(&c, &a, 1 << 20));
                for (int q = 0; q < 3; q++) there[q] = carry(&c, &start[q]);
                for (int q = 0; q < (alone ? 3 : 1); q++)
                    CHECK_OK(&c, spot_tsne_fit(&c, &a, alone ? 1 : 3, there + q, &cfg));
                for (int q = 0; q < 3; q++) {
                    CHECK_NEAR(there[q].kl, t[q].kl, 0.01 * fabs(t[q].kl) + 1e-6);
                    if (!getenv("SPOT_EMULATOR")) continue;
                    assert_memory_equal(&there[q].kl, &t[q].kl, sizeof t[q].kl);
                    assert_int_equal(there[q].steps, t[q].steps);
                    for (int k = 0; k < 2; k++)
                        check_floats(&c, "map", there[q].y + k * t[q].stride, t[q].y + k * t[q].stride, t[q].n, 0);
                }
                spot_arena_close(&a);
                give_back(&c);
                spot_device_close(&c);
            }
        spot_arena_close(&h);
        give_back(&host);
    }
}

static void failures_are_told(void **state)
{
    spot_tsne_config cfg = { .perplexity = 5, .iterations = 100, .exaggeration = 12, .lr = 1e30 };
    volatile sig_atomic_t stop = 0;
    spot_tsne_problem t, there;
    spot_ctx host = check_ctx(1), c;
    spot_arena h, a;

    (void)state;
    CHECK_OK(&host, spot_arena_open(&host, &h, 1 << 20));
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_arena_open_device(&c, &a, 1 << 20));
    make_problem(&host, &t, 20, 2, 3, 1e-4);
    there = carry(&c, &t);
    CHECK_FAILS(&c, spot_tsne_fit(&c, &a, 1, &there, &cfg), SPOT_NUMERIC, "left the finite numbers");
    cfg.lr = 0;
    there = carry(&c, &t);
    c.stop = &stop;
    stop = 1;
    CHECK_FAILS(&c, spot_tsne_fit(&c, &a, 1, &there, &cfg), SPOT_STOPPED, "stopped on request");
    stop = 0;
    CHECK_FAILS(&c, spot_tsne_fit(&c, &a, 1, &t, &cfg), SPOT_UNSUPPORTED, "host memory");
    make_problem(&host, &t, 20, 9, 3, 1);
    there = carry(&c, &t);
    CHECK_FAILS(&c, spot_tsne_fit(&c, &a, 1, &there, &cfg), SPOT_UNSUPPORTED, "9 dimensions");
    spot_arena_close(&a);
    give_back(&c);
    spot_device_close(&c);
    spot_arena_close(&h);
    give_back(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_agree),
        cmocka_unit_test(interpolated_forces_agree),
        cmocka_unit_test(interpolated_descents_agree),
        cmocka_unit_test(descents_agree),
        cmocka_unit_test(failures_are_told),
    };

    openblas_set_num_threads(1);
    return RUN_ON_CUDA(tests);
}
