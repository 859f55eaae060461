/* test_tsne_fft.c - t-SNE's interpolated repulsion against the exact one: forces, whole runs, bits, and what it refuses.
 * ctest: threads, heavy */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "blobs.h"
#include "map/tsne.h"

/* A map of n points in seven blobs of that size, whose P is 0: its gradient is the repulsion over Z. */
static spot_tsne_problem repelling(int n, int dim, double size)
{
    int stride = spot_tsne_stride(n);
    float *y = malloc((size_t)dim * stride * sizeof *y);
    spot_rng r = spot_rng_at(8, SPOT_RNG_TSNE, 0, (uint32_t)n);

    for (int k = 0; k < dim; k++)
        for (int i = 0; i < n; i++)
            y[(size_t)k * stride + i] = (float)(size * (spot_rng_normal(&r) + i % 7 * (k ? 1.7 : -1)));
    return (spot_tsne_problem){ .n = n, .dim = dim, .stride = stride, .start = calloc(n + 1, sizeof(int)), .y = y };
}

static void give_back(spot_tsne_problem *t) { free(t->y), free((int *)t->start); }

/* Gradient and log Z of t by one way, into g (n, dim). */
static double force(const spot_tsne_problem *t, int repulsion, int threads, double *g)
{
    const spot_tsne_config cfg = { .exaggeration = 1, .repulsion = repulsion };
    spot_ctx c = check_ctx(threads);
    spot_arena a;
    double log_z;

    CHECK_OK(&c, spot_arena_open(&c, &a, (size_t)1 << 30));
    CHECK_OK(&c, spot_tsne_gradient(&c, &a, t, &cfg, g, &log_z));
    spot_arena_close(&a);
    return log_z;
}

/* Tolerances are twice what was measured, of the largest force. The last of each lies as sparse as a map gets in its end. */
static const struct { int n, dim; double size, tolerance; } maps[] = {
    { 2500, 2, 1e-4, 2e-5 }, { 2500, 2, 1, 1e-5 }, { 5000, 2, 4, 1e-2 }, { 5000, 2, 9, 2e-2 },
    { 2500, 1, 1e-4, 1e-5 }, { 2500, 1, 1, 1e-5 }, { 5000, 1, 40, 5e-3 }, { 2, 2, 1, 1e-4 }, { 300, 2, 0, 1e-9 },
};

TEST(forces_are_the_exact_ones)
{
    for (int m = 0; m < LEN(maps); m++) {
        spot_tsne_problem t = repelling(maps[m].n, maps[m].dim, maps[m].size);
        int entries = t.n * t.dim;
        double *want = malloc(entries * sizeof *want), *got = malloc(entries * sizeof *got), most = 0, worst = 0;
        double log_z = force(&t, SPOT_TSNE_BY_PAIR, 2, want), near = force(&t, SPOT_TSNE_BY_FFT, 2, got);

        for (int e = 0; e < entries; e++) most = fmax(most, fabs(want[e]));
        for (int e = 0; e < entries; e++) worst = fmax(worst, fabs(got[e] - want[e]));
        print_message("%d points to %d, size %g: forces to %.1e of the largest, log Z to %.1e\n", t.n, t.dim, maps[m].size,
                      worst / fmax(most, 1e-9), fabs(near - log_z));
        CHECK_NEAR(worst, 0, maps[m].tolerance * most + 1e-9);
        CHECK_NEAR(near, log_z, 1e-3);
        give_back(&t);
        free(want), free(got);
    }
}

TEST(forces_have_the_same_bits_on_any_number_of_threads)
{
    spot_tsne_problem t = repelling(3000, 2, 20);
    double *one = malloc(6000 * sizeof *one), *three = malloc(6000 * sizeof *three);

    assert_true(force(&t, SPOT_TSNE_BY_FFT, 1, one) == force(&t, SPOT_TSNE_BY_FFT, 3, three));
    assert_memory_equal(one, three, 6000 * sizeof *one);
    give_back(&t);
    free(one), free(three);
}

TEST(auto_interpolates_above_its_limit)
{
    spot_tsne_problem t = repelling(SPOT_TSNE_EXACT + 1, 2, 20);
    double *by_fft = malloc(2 * (size_t)t.n * sizeof *by_fft), *by_auto = malloc(2 * (size_t)t.n * sizeof *by_auto);

    assert_true(force(&t, SPOT_TSNE_BY_FFT, 2, by_fft) == force(&t, SPOT_TSNE_AUTO, 2, by_auto));
    assert_memory_equal(by_fft, by_auto, 2 * (size_t)t.n * sizeof *by_fft);
    give_back(&t);
    free(by_fft), free(by_auto);
}

static double run(const spot_view *v, int dim, int repulsion, int iterations, int threads, float *map)
{
    spot_embed_config cfg = spot_embed_defaults();
    spot_ctx c = check_ctx(threads);
    spot_seed seed = { 1, 0 };
    spot_points out;
    spot_arena a;

    cfg.method = SPOT_REDUCE_TSNE;
    cfg.dim = dim;
    cfg.tsne.repulsion = repulsion;
    cfg.tsne.iterations = iterations;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &v->n, v->d, &cfg, threads)));
    CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, v, &seed, &cfg));
    memcpy(map, out.at, (size_t)v->n * dim * sizeof *map);
    spot_arena_close(&a);
    return out.objective;
}

/* Two descents part in the digits where their forces do, and end in different maps of the same quality. */
TEST(whole_runs_end_as_low)
{
    enum { N = 700 };
    spot_view v = blobs(N, 10, 6, 3);
    float map[2][2 * N];
    int steps = SANITIZED ? 60 : 400;
    double exact = run(&v, 2, SPOT_TSNE_BY_PAIR, steps, 2, map[0]);

    CHECK_NEAR(run(&v, 2, SPOT_TSNE_AUTO, steps, 2, map[1]), exact, 0);      /* so few points are exact */
    assert_memory_equal(map[0], map[1], sizeof map[0]);
    CHECK_NEAR(run(&v, 2, SPOT_TSNE_BY_FFT, steps, 2, map[0]), exact, 0.02 * exact);
    CHECK_NEAR(run(&v, 2, SPOT_TSNE_BY_FFT, 60, 1, map[0]), run(&v, 2, SPOT_TSNE_BY_FFT, 60, 2, map[1]), 0);
    assert_memory_equal(map[0], map[1], sizeof map[0]);
    blobs_free(&v);
}

TEST(more_dimensions_and_NaNs_are_told)
{
    spot_tsne_problem t = repelling(64, 3, 1), many = { .n = 20001, .dim = 3, .stride = spot_tsne_stride(20001) };
    spot_tsne_config cfg = { .iterations = 100, .exaggeration = 12, .repulsion = SPOT_TSNE_BY_FFT };
    spot_ctx c = check_ctx(2);
    spot_arena a;

    CHECK_OK(&c, spot_arena_open(&c, &a, (size_t)1 << 30));
    CHECK_FAILS(&c, spot_tsne_fit(&c, &a, 1, &t, &cfg), SPOT_UNSUPPORTED, "tsne.interpolated");
    cfg.repulsion = SPOT_TSNE_AUTO;
    CHECK_FAILS(&c, spot_tsne_fit(&c, &a, 1, &many, &cfg), SPOT_UNSUPPORTED, "tsne.interpolated: 20001 | 3");
    cfg.repulsion = SPOT_TSNE_BY_FFT;
    t.dim = 2;
    t.y[5] = NAN;
    CHECK_FAILS(&c, spot_tsne_fit(&c, &a, 1, &t, &cfg), SPOT_NUMERIC, "tsne.diverged");
    spot_arena_close(&a);
    give_back(&t);
}
