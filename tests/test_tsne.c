/* test_tsne.c - t-SNE: gradient, P, quality, bits, and inputs that break others. ctest: threads, heavy */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "map/affinity.h"
#include "blobs.h"
#include "map/distance.h"
#include "golden_text.h"
#include "map/tsne.h"

enum { N = 60, DIMS = 4 };

/* A dense random P of `n` points, symmetric with sum 1, in the op's form. */
static void random_problem(spot_tsne_problem *t, int n, int dim, int *start, int *to, float *p, float *y)
{
    int width = (n + 15) / 16 * 16;
    double sum = 0;
    spot_rng r = spot_rng_at(3, SPOT_RNG_TSNE, 0, 0);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < width; j++) {
            to[i * width + j] = j < n ? j : i;
            p[i * width + j] = 0;
            if (j < i) p[i * width + j] = p[j * width + i] = (float)spot_rng_uniform(&r);
        }
    for (int e = 0; e < n * width; e++) sum += p[e];
    for (int e = 0; e < n * width; e++) p[e] /= (float)sum;
    for (int i = 0; i <= n; i++) start[i] = i * width;
    *t = (spot_tsne_problem){ .n = n, .dim = dim, .stride = spot_tsne_stride(n), .start = start, .to = to, .p = p, .y = y };
    for (int k = 0; k < dim; k++)
        for (int i = 0; i < n; i++) y[k * t->stride + i] = (float)spot_rng_normal(&r);
}

/* KL(P || Q) from its definition, in double. */
static double divergence(const spot_tsne_problem *t)
{
    double z = 0, kl = 0;
    int f = t->dim > 2 ? t->dim - 1 : 1;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < t->n; i++)
            for (int j = 0; j < t->n; j++) {
                double d = 0, p = t->p[t->start[i] + j];
                if (i == j) continue;
                for (int k = 0; k < t->dim; k++)
                    d += pow((double)t->y[k * t->stride + i] - t->y[k * t->stride + j], 2);
                double w = pow(1 + d / f, -(f + 1) / 2.0);
                if (pass == 0) z += w;
                else if (p > 0) kl += p * log(p * z / w);
            }
    return kl;
}

TEST(gradient_is_the_slope)
{
    for (int dim = 1; dim <= DIMS; dim++) {
        spot_ctx c = check_ctx(2);
        spot_arena a;
        spot_tsne_problem t;
        static int start[N + 1], to[N * 64];
        static float p[N * 64], y[DIMS * 64];
        double g[N * DIMS], kl, largest = 0;

        CHECK_OK(&c, spot_arena_open(&c, &a, 1 << 20));
        random_problem(&t, N, dim, start, to, p, y);
        CHECK_OK(&c, spot_tsne_gradient(&c, &a, &t, &(spot_tsne_config){ .exaggeration = 1 }, g, &kl));
        CHECK_NEAR(kl, divergence(&t), 1e-5);
        for (int e = 0; e < N * dim; e++) largest = fmax(largest, fabs(g[e]));
        for (int e = 0; e < N * dim; e += 7) {
            float *at = &y[e % dim * t.stride + e / dim], was = *at, up = was + 0x1p-10f, down = was - 0x1p-10f;
            *at = up;
            double high = divergence(&t);
            *at = down;
            double low = divergence(&t);
            *at = was;
            CHECK_NEAR(g[e], (high - low) / ((double)up - down), 1e-5 * largest + 1e-8);
        }
        spot_arena_close(&a);
    }
}

TEST(joint_probabilities_are_those_of_scikit_learn)
{
    enum { COUNT = 40, WIDTH = 6 };
    static float x[COUNT * WIDTH], d[COUNT * COUNT], p[COUNT * COUNT];
    static double want[COUNT * (COUNT - 1) / 2];
    const spot_affinity_rule rule = { log(7), 1e-5, 100 };
    spot_mat xs = { x, COUNT, WIDTH }, ds = { d, COUNT, COUNT }, ps = { p, COUNT, COUNT };
    spot_ctx c = check_ctx(2);
    int at = 0;

    assert_int_equal(golden_numbers("golden/tsne.txt", want, LEN(want)), LEN(want));
    for (int e = 0; e < LEN(x); e++) x[e] = golden_wave(e, 0.31, 0.007);
    CHECK_OK(&c, spot_distance_squared(&c, 1, &ds, &xs, &xs));
    for (int i = 0; i < COUNT; i++) d[i * COUNT + i] = SPOT_FAR;
    CHECK_OK(&c, spot_affinity_rows(&c, 1, &ps, &ds, &rule));
    for (int i = 0; i < COUNT; i++)
        for (int j = i + 1; j < COUNT; j++, at++)
            CHECK_NEAR((p[i * COUNT + j] + p[j * COUNT + i]) / (2.0 * COUNT), want[at], 2e-5 * want[at] + 1e-9);
}

TEST(nearest_takes_the_lower_column_of_equals)
{
    float d[2][5] = { { 3, 1, 3, SPOT_FAR, 0 }, { 2, 2, 2, 2, 2 } }, near[2][3];
    int column[2][3];
    uint64_t scratch[5];
    spot_ctx c = check_ctx(1);

    spot_affinity_search s = { { d[0], 2, 5 }, -1, column[0], { near[0], 2, 3 } };
    CHECK_OK(&c, spot_affinity_nearest(&c, 1, &s, scratch));
    assert_memory_equal(column, ((int[2][3]){ { 0, 1, 4 }, { 0, 1, 2 } }), sizeof column);
    assert_memory_equal(near, ((float[2][3]){ { 3, 1, 0 }, { 2, 2, 2 } }), sizeof near);
    s.own = 1;      /* columns 1 and 2 are the rows themselves */
    CHECK_OK(&c, spot_affinity_nearest(&c, 1, &s, scratch));
    assert_memory_equal(column, ((int[2][3]){ { 0, 2, 4 }, { 0, 1, 3 } }), sizeof column);
    s.own = 4;
    CHECK_FAILS(&c, spot_affinity_nearest(&c, 1, &s, scratch), SPOT_INVALID, "affinity.sizes: 4");
}

/* Part of the mean neighbourhood of 5 that is new in the map (Venna & Kaski 2001), as scikit-learn's trustworthiness. */
static double trustworthiness(const float *x, const float *y, int n, int d, int dim)
{
    enum { K = 5 };
    double penalty = 0, *far = malloc(2 * n * sizeof *far), *near = far + n;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            far[j] = near[j] = 0;
            for (int k = 0; k < d; k++) far[j] += pow((double)x[i * d + k] - x[j * d + k], 2);
            for (int k = 0; k < dim; k++) near[j] += pow((double)y[i * dim + k] - y[j * dim + k], 2);
        }
        near[i] = INFINITY;
        for (int nth = 0; nth < K; nth++) {
            int best = 0, rank = 0;
            for (int j = 1; j < n; j++)
                if (near[j] < near[best]) best = j;
            near[best] = INFINITY;
            for (int j = 0; j < n; j++) rank += j != i && far[j] < far[best];
            penalty += fmax(0, rank + 1 - K);
        }
    }
    free(far);
    return 1 - penalty * 2 / (n * K * (2.0 * n - 3 * K - 1));
}

TEST(blobs_are_mapped_the_same_on_any_number_of_threads)
{
    enum { SMALL = 150, LARGE = 333, D = 20 };
    spot_embed_config cfg = spot_embed_defaults();
    float *keep[2][2] = { { 0 } };

    cfg.method = SPOT_REDUCE_TSNE;
    for (int threads = 1; threads <= 2; threads++) {
        spot_ctx c = check_ctx(threads);
        spot_view v[2] = { blobs(LARGE, D, 5, 1), blobs(SMALL, D, 3, 2) };
        spot_seed seeds[2] = { { 1, 0 }, { 1, 1 } };
        spot_points out[2], alone;
        spot_arena a;
        int n[2] = { LARGE, SMALL };

        CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(2, n, D, &cfg, threads)));
        CHECK_OK(&c, spot_embed_fit(&c, &a, 2, out, v, seeds, &cfg));
        for (int p = 0; p < 2; p++) {
            size_t bytes = (size_t)out[p].n * 2 * sizeof(float);
            keep[threads - 1][p] = malloc(bytes);
            memcpy(keep[threads - 1][p], out[p].at, bytes);
            assert_memory_equal(keep[threads - 1][p], keep[0][p], bytes);
        }
        assert_true(trustworthiness(v[0].feature, out[0].at, LARGE, D, 2) > 0.93);
        assert_true(out[0].objective > 0 && out[0].objective < 1.5);
        a.used = 0;
        CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &alone, &v[1], &seeds[1], &cfg));
        assert_memory_equal(alone.at, keep[0][1], SMALL * 2 * sizeof(float));
        spot_arena_close(&a);
        blobs_free(&v[0]), blobs_free(&v[1]);
    }
    for (int t = 0; t < 2; t++) free(keep[t][0]), free(keep[t][1]);
}

TEST(degenerate_inputs_end_finite)
{
    static const struct { int n, d, dim, distinct; } cases[] = {
        { 4, 3, 2, 4 }, { 5, 1, 2, 5 }, { 31, 2, 3, 31 }, { 100, 8, 2, 100 }, { 100, 8, 2, 1 }, { 90, 8, 1, 2 },
        { 40, 4, 5, 3 },
    };
    for (int i = 0; i < LEN(cases); i++) {
        int n = cases[i].n, d = cases[i].d;
        spot_ctx c = check_ctx(2);
        spot_embed_config cfg = spot_embed_defaults();
        spot_view v = blobs(n, d, 2, 5);
        spot_seed seed = { 1, 0 };
        spot_points out;
        spot_arena a;

        cfg.method = SPOT_REDUCE_TSNE;
        cfg.dim = cases[i].dim;
        for (int r = cases[i].distinct; r < n; r++)
            memcpy(v.feature + r * d, v.feature + r % cases[i].distinct * d, d * sizeof(float));
        CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &n, d, &cfg, 2)));
        CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg));
        assert_true(isfinite(out.objective));
        for (int e = 0; e < n * cfg.dim; e++) assert_true(isfinite(out.at[e]));
        spot_arena_close(&a);
        blobs_free(&v);
    }
}
