/* test_scvis.c - scvis: loss and gradient against PyTorch (tools/golden/scvis.py), the TensorFlow graph of its authors
 * (tools/golden/scvis_authors.py) and finite differences, the schedule's constants, bits, quality, failures.
 * ctest: threads, heavy */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "blobs.h"
#include "models/reduce.h"
#include "golden_text.h"
#include "map/scvis.h"

static spot_scvis_config config(int compat)
{
    spot_scvis_config cfg = spot_embed_defaults().scvis;

    if (!compat) memset(&cfg.compat, 0, sizeof cfg.compat);
    return cfg;
}

/* The batch of tools/golden/scvis.py's case(n, d, dim, step); free params. */
static spot_scvis_batch golden_batch(int n, int d, int dim, int step)
{
    size_t size = spot_scvis_params(d, dim);
    float *params = malloc((size + n * d + n * dim + 32 * dim) * sizeof *params);
    float *x = params + size, *noise = x + n * d, *keep = noise + n * dim;

    for (size_t e = 0; e < size; e++) params[e] = (float)(0.2 * golden_wave((int)e, 1.7, 0.013) + 0.02);
    for (int j = 0; j < d; j++) params[size - d + j] = (float)(1.0 + golden_wave(j, 0.9, 0.1));
    for (int e = 0; e < n * d; e++) x[e] = golden_wave(e, 0.31, 0.007);
    for (int e = 0; e < n * dim; e++) noise[e] = (float)(1.3 * golden_wave(e, 2.3, 0.11));
    for (int e = 0; e < 32 * dim; e++) keep[e] = e % 10 != 3;
    return (spot_scvis_batch){ n, d, dim, step, params, x, noise, keep };
}

TEST(loss_and_gradient_are_those_of_pytorch_and_of_the_authors_graph)
{
    static const struct { const char *path; int n, d, dim, step, compat; } cases[] = {
        { "golden/scvis_compat.bin", 48, 8, 2, 3, 1 },  { "golden/scvis_plain.bin", 37, 9, 3, 20, 0 },
        { "golden/scvis_authors.bin", 48, 8, 2, 3, 1 },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_scvis_batch b = golden_batch(cases[i].n, cases[i].d, cases[i].dim, cases[i].step);
        spot_scvis_config cfg = config(cases[i].compat);
        size_t size = spot_scvis_params(b.d, b.dim), third = (size + 2) / 3;
        float *g = malloc(2 * size * sizeof *g), *want = g + size, largest = 0;
        double loss, want_loss, norm, squares = 0;
        spot_ctx c = check_ctx(2);
        spot_arena a;
        FILE *f = fopen(cases[i].path, "rb");

        assert_non_null(f);
        assert_int_equal(fread(&want_loss, sizeof want_loss, 1, f), 1);
        assert_int_equal(fread(want, sizeof *want, size, f), third);
        fclose(f);
        CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
        CHECK_OK(&c, spot_scvis_gradient(&c, &a, &b, &cfg, g, &loss, &norm));
        for (size_t e = 0; e < size; e++) squares += (double)g[e] * g[e];
        CHECK_NEAR(norm, sqrt(squares), 1e-9 * norm);
        CHECK_NEAR(loss, want_loss, 1e-4 * fabs(want_loss));
        for (size_t e = 0; e < third; e++) largest = fmaxf(largest, fabsf(want[e]));
        for (size_t e = 0; e < third; e++) CHECK_NEAR(g[3 * e], want[e], 1e-4 * fabs(want[e]) + 1e-5 * largest);
        spot_arena_close(&a);
        free(g);
        free((float *)b.params);
    }
}

/* Along the gradient itself the loss must rise by its squared norm. */
TEST(gradient_is_the_slope)
{
    spot_scvis_batch b = golden_batch(24, 5, 2, 4);
    spot_scvis_config cfg = config(1);
    size_t size = spot_scvis_params(b.d, b.dim);
    float *g = malloc(3 * size * sizeof *g), *moved = g + size, *unused = moved + size;
    double loss, norm, side[2], squares = 0, h = 1e-3;
    spot_ctx c = check_ctx(1);
    spot_arena a;

    CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
    CHECK_OK(&c, spot_scvis_gradient(&c, &a, &b, &cfg, g, &loss, &norm));
    for (size_t e = 0; e < size; e++) squares += (double)g[e] * g[e];
    for (int k = 0; k < 2; k++) {
        spot_scvis_batch at = b;
        for (size_t e = 0; e < size; e++) moved[e] = (float)(b.params[e] + (k ? h : -h) * g[e] / sqrt(squares));
        at.params = moved;
        CHECK_OK(&c, spot_scvis_gradient(&c, &a, &at, &cfg, unused, &side[k], &norm));
    }
    CHECK_NEAR((side[1] - side[0]) / (2 * h), sqrt(squares), 5e-3 * sqrt(squares));
    spot_arena_close(&a);
    free(g);
    free((float *)b.params);
}

TEST(iterations_follow_the_original_rule)
{
    spot_scvis_config cfg = config(1);

    assert_int_equal(spot_scvis_iterations(100, &cfg), 3000);
    assert_int_equal(spot_scvis_iterations(6400, &cfg), 3000);
    assert_int_equal(spot_scvis_iterations(100000, &cfg), 19500);
    assert_int_equal(spot_scvis_iterations(512 * 5 / 2 * 100, &cfg), 25000);
    assert_int_equal(spot_scvis_iterations(1000000, &cfg), 30000);
    assert_int_equal(spot_scvis_iterations(512 * 20000, &cfg), 40000);
    cfg.iterations = 7;
    assert_int_equal(spot_scvis_iterations(100, &cfg), 7);
}

static spot_embed_config short_run(int iterations)
{
    spot_embed_config cfg = spot_embed_defaults();

    cfg.scvis.iterations = iterations;
    return cfg;
}

TEST(same_bits_alone_in_a_batch_and_on_any_number_of_threads)
{
    enum { P = 3, D = 20 };
    static const int n[P] = { 700, 130, 61 };
    spot_embed_config cfg = short_run(SANITIZED ? 6 : 40);
    float *keep[P] = { 0 };

    for (int round = 0; round < 3; round++) {      /* threads 1, 2; then each alone on 2 */
        spot_ctx c = check_ctx(round ? 2 : 1);
        spot_view v[P];
        spot_seed seeds[P];
        spot_points out[P];
        spot_arena a;

        CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(P, n, D, &cfg, c.threads)));
        for (int p = 0; p < P; p++) {
            v[p] = blobs(n[p], D, 4, (uint64_t)p);
            seeds[p] = (spot_seed){ 5, (uint32_t)p };
        }
        if (round < 2) CHECK_OK(&c, spot_embed_fit(&c, &a, P, out, v, seeds, &cfg));
        for (int p = 0; p < P; p++) {
            size_t bytes = (size_t)n[p] * 2 * sizeof(float);
            if (round == 2) {
                a.used = 0;
                CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out[p], &v[p], &seeds[p], &cfg));
            }
            if (!keep[p]) {
                keep[p] = malloc(bytes);
                memcpy(keep[p], out[p].at, bytes);
            }
            assert_memory_equal(keep[p], out[p].at, bytes);
        }
        for (int p = 0; p < P; p++) blobs_free(&v[p]);
        spot_arena_close(&a);
    }
    for (int p = 0; p < P; p++) free(keep[p]);
}

/* Part of points whose nearest neighbour in the map is of their own blob. */
static double purity(const float *y, int n, int centres)
{
    int right = 0;

    for (int i = 0; i < n; i++) {
        int best = i ? 0 : 1;
        double least = INFINITY;
        for (int j = 0; j < n; j++) {
            double d = hypot(y[2 * i] - y[2 * j], y[2 * i + 1] - y[2 * j + 1]);
            if (j != i && d < least) least = d, best = j;
        }
        right += i % centres == best % centres;
    }
    return (double)right / n;
}

TEST(blobs_stay_apart)
{
    enum { N = 300, D = 24, CENTRES = 5 };
    static const int n = N;

    for (int compat = 0; compat <= 1; compat++) {
        spot_embed_config cfg = short_run(SANITIZED ? 10 : 400);
        spot_ctx c = check_ctx(2);
        spot_view v = blobs(N, D, CENTRES, 9);
        spot_seed seed = { 1, 0 };
        spot_points out;
        spot_arena a;

        cfg.scvis.compat = config(compat).compat;
        cfg.scvis.batch = 128;
        CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &n, D, &cfg, 2)));
        CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg));
        assert_true(isfinite(out.objective));
        assert_true(SANITIZED || purity(out.at, N, CENTRES) > 0.95);
        spot_arena_close(&a);
        blobs_free(&v);
    }
}

TEST(degenerate_inputs_end_finite_or_say_so)
{
    static const struct { int n, d, distinct, dim; } cases[] = {
        { 4, 1, 4, 2 }, { 50, 3, 1, 1 }, { 33, 6, 2, 2 }, { 40, 5, 40, 3 },
    };

    for (int i = 0; i < LEN(cases); i++) {
        int n = cases[i].n, d = cases[i].d;
        spot_embed_config cfg = short_run(SANITIZED ? 20 : 100);
        spot_ctx c = check_ctx(1);
        spot_view v = blobs(n, d, 2, 5);
        spot_seed seed = { 1, 0 };
        spot_points out;
        const spot_reduction r = { 1, &out, &v, &seed };
        spot_arena a;

        cfg.dim = cases[i].dim;
        for (int k = cases[i].distinct; k < n; k++)
            memcpy(v.feature + k * d, v.feature + k % cases[i].distinct * d, d * sizeof(float));
        CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &n, d, &cfg, 1)));
        CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg));
        for (int e = 0; e < n * cfg.dim; e++) assert_true(isfinite(out.at[e]));
        cfg.scvis.lr = 1e30;               /* no config takes it; no rate that one takes diverges here */
        CHECK_FAILS(&c, spot_scvis_map(&c, &a, &r, &cfg.scvis), SPOT_NUMERIC, "scvis.diverged: iteration 2");
        CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg), SPOT_USAGE, "setting.value: scvis.lr | 1e+30");
        spot_arena_close(&a);
        blobs_free(&v);
    }
}

TEST(stops_on_request)
{
    volatile sig_atomic_t stop = 1;
    spot_embed_config cfg = short_run(3000);
    spot_ctx c = check_ctx(2);
    spot_view v = blobs(64, 4, 2, 5);
    spot_seed seed = { 1, 0 };
    spot_points out;
    spot_arena a;

    c.stop = &stop;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_bytes(1, &v.n, v.d, &cfg, 2)));
    for (cfg.method = SPOT_REDUCE_TSNE; cfg.method <= SPOT_REDUCE_SCVIS; cfg.method++) {
        a.used = 0;
        CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg), SPOT_STOPPED, "run.stopped");
    }
    spot_arena_close(&a);
    blobs_free(&v);
}
