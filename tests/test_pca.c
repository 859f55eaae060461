/* test_pca.c - principal components against scikit-learn, their signs, and spot_embed_fit's checks. ctest: threads, both */
#include "check_blas.h"
#include "checks.h"

#include <cblas.h>
#include <math.h>

#include "blobs.h"
#include "core/outer.h"
#include "map/eigen.h"
#include "map/pca.h"
#include "golden_text.h"

static spot_points fit(spot_ctx *c, spot_arena *a, const spot_view *v, const spot_embed_config *cfg)
{
    spot_seed seed = { 1, 0 };
    spot_points out;

    CHECK_OK(c, spot_arena_open(c, a, spot_embed_bytes(1, &v->n, v->d, cfg, c->threads)));
    CHECK_OK(c, spot_embed_fit(c, a, 1, &out, v, &seed, cfg));
    return out;
}

TEST(scores_are_those_of_scikit_learn)
{
    enum { N = 50, D = 7, DIM = 3 };
    spot_ctx c = check_ctx(1);
    spot_embed_config cfg = spot_embed_defaults();
    double want[N * DIM + 1];
    float x[N * D];
    spot_arena a;
    spot_points out;

    assert_int_equal(golden_numbers("golden/pca.txt", want, LEN(want)), LEN(want));
    for (int e = 0; e < N * D; e++) x[e] = (float)(3 + sin(0.31 * e + 0.007 * e * e));
    cfg.method = SPOT_REDUCE_PCA;
    cfg.dim = DIM;
    out = fit(&c, &a, &(spot_view){ .n = N, .d = D, .feature = x }, &cfg);
    CHECK_NEAR(out.objective, want[N * DIM], 1e-6);
    for (int k = 0; k < DIM; k++) {
        double sign = out.at[k] * want[k] < 0 ? -1 : 1;
        for (int i = 0; i < N; i++) CHECK_NEAR(out.at[i * DIM + k], sign * want[i * DIM + k], 1e-6);
    }
    spot_arena_close(&a);
}

/* A loading is the covariance of a score with a feature, but for a positive factor. */
TEST(largest_loading_is_positive)
{
    enum { N = 40, D = 6, DIM = 3 };

    for (uint64_t seed = 0; seed < 10; seed++) {
        spot_ctx c = check_ctx(1);
        spot_embed_config cfg = spot_embed_defaults();
        spot_view v = blobs(N, D, 4, seed);
        spot_arena a;
        spot_points out;

        cfg.method = SPOT_REDUCE_PCA;
        cfg.dim = DIM;
        out = fit(&c, &a, &v, &cfg);
        for (int k = 0; k < DIM; k++) {
            double largest = 0;
            for (int j = 0; j < D; j++) {
                double loading = 0;
                for (int i = 0; i < N; i++) loading += (double)out.at[i * DIM + k] * v.feature[i * D + j];
                if (fabs(loading) > fabs(largest)) largest = loading;
            }
            assert_true(largest > 0);
        }
        spot_arena_close(&a);
        blobs_free(&v);
    }
}

static char heard[400];
static void hear(void *user, spot_log_level level, const char *text)
{
    (void)user, (void)level;
    snprintf(heard, sizeof heard, "%s", text);
}

/* As many dimensions as there can be components, no column of zeros, and a word on it that says whose. */
TEST(there_are_no_more_components_than_there_can_be)
{
    static const struct { int n, d, hardness, dim, is; } cases[] = {
        { 6, 2, 0, 4, 2 }, { 6, 2, 0, 2, 2 }, { 5, 40, 0, 30, 4 }, { 5, 40, 0, 4, 4 }, { 6, 1, 0, 3, 1 },
        { 6, 3, 1, 9, 3 }, { 6, 3, 1, 3, 3 }, { 5, 40, 1, 30, 5 }, { 6, 3, 1, 1, 1 },
    };

    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        spot_embed_config cfg = spot_embed_defaults();
        spot_view v = blobs(cases[i].n, cases[i].d, 1, 1);
        float head[40] = { 1, 2 };
        char words[80];
        spot_arena a;
        spot_points out;

        c.on_log = hear;
        c.who = "mine";
        heard[0] = 0;
        v.head = head;
        cfg.method = SPOT_REDUCE_PCA;
        cfg.hardness = cases[i].hardness;
        cfg.dim = cases[i].dim;
        out = fit(&c, &a, &v, &cfg);
        assert_int_equal(out.d, cases[i].is);
        assert_int_equal(spot_embed_dim(&cfg, v.n, v.d), cases[i].is);
        for (int k = 0; k < out.d; k++) {
            double squares = 0;
            for (int r = 0; r < v.n; r++) squares += out.at[r * out.d + k] * out.at[r * out.d + k];
            assert_true(squares > 1e-6);
        }
        snprintf(words, sizeof words, "EC 0, mine: %d rows of %d features have no %d principal", v.n, v.d, cases[i].dim);
        if (out.d < cfg.dim) assert_non_null(strstr(heard, words));
        else assert_int_equal(heard[0], 0);
        spot_arena_close(&a);
        blobs_free(&v);
    }
}

/* Constant features, repeated ones, fewer rows than features: eigenvalues of 0 and equal ones. What is left of the covariance
 * is in the scores, and they are uncorrelated. */
TEST(poor_features_have_components)
{
    enum { D = 40 };
    const int rows[] = { 4, 11, 60 };

    for (int kind = 0; kind < 12; kind++) {
        int n = rows[kind % 3];
        spot_ctx c = check_ctx(1);
        spot_embed_config cfg = spot_embed_defaults();
        spot_view v = blobs(n, D, 5, (uint64_t)kind);
        double total = 0, kept = 0;
        spot_arena a;
        spot_points out;

        for (int e = 0; e < n * D; e++) {
            if (kind / 3 == 0 && e % 2) v.feature[e] = 3;
            if (kind / 3 == 1 && e % D > 2) v.feature[e] = v.feature[e - 3];
            if (kind / 3 == 2) v.feature[e] = (float)(e % D == e / D % D);
            if (kind / 3 == 3) v.feature[e] = -1;
        }
        for (int j = 0; j < D; j++) {
            double mean = 0;
            for (int i = 0; i < n; i++) mean += v.feature[i * D + j] / (double)n;
            for (int i = 0; i < n; i++) total += (v.feature[i * D + j] - mean) * (v.feature[i * D + j] - mean);
        }
        cfg.method = SPOT_REDUCE_PCA;
        cfg.dim = D;
        out = fit(&c, &a, &v, &cfg);
        for (int j = 0; j < out.d; j++)
            for (int k = 0; k <= j; k++) {
                double product = 0;
                for (int i = 0; i < n; i++) product += (double)out.at[i * out.d + j] * out.at[i * out.d + k];
                if (j == k) kept += product;
                else CHECK_NEAR(product, 0, 1e-6 * total + 1e-20);
            }
        CHECK_NEAR(kept, total, 1e-6 * total + 1e-20);
        spot_arena_close(&a);
        blobs_free(&v);
    }
}

/* Features of kinds that take every way through eigen.c: eigenvalues far apart, so close beside great ones that Newton takes
 * more than a step, repeated ones, all but a few at rounding, none at all. */
static float feature_of(spot_rng *r, int kind, int i, int j, float before)
{
    double u = spot_rng_uniform(r) - 0.5, g = i % 24, groups = 10 * g * sin(0.1 * j * g);
    double part[] = { u, groups + sin(0.01 * i * j) + 1e-6 * u, j % 2 ? before : u, u * exp(-j), 0 };

    return (float)part[kind];
}

/* Against LAPACK's values; residuals and right angles to rounding; the same bits from 1 and from 3 threads. */
TEST(leading_eigenvectors)
{
    enum { N = 300, D = 150, KEPT = 70 };
    static float x[N * D];
    static double cov[D * D], lost[D * D], all[D], first[KEPT * D];
    spot_arena sizes = spot_arena_counting(), a;
    spot_ctx c = check_ctx(1);
    spot_eigen s;

    CHECK_OK(&c, spot_eigen_take(&c, &sizes, &s, D, KEPT));
    CHECK_OK(&c, spot_arena_open(&c, &a, sizes.peak));
    CHECK_OK(&c, spot_eigen_take(&c, &a, &s, D, KEPT));
    for (int kind = 0; kind < 5; kind++) {
        spot_rng r = spot_rng_at(1, SPOT_RNG_PCA, 0, (uint32_t)kind);
        for (int e = 0; e < N * D; e++) x[e] = feature_of(&r, kind, e / D, e % D, e ? x[e - 1] : 0);
        memset(cov, 0, sizeof cov);
        for (int i = 0; i < N; i++)
            for (int e = 0; e < D * D; e++) cov[e] += (double)x[i * D + e / D] * x[i * D + e % D];
        memcpy(lost, cov, sizeof lost);
        assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', D, lost, D, all), 0);
        for (int threads = 1; threads <= 3; threads += 2) {
            memcpy(lost, cov, sizeof lost);
            assert_true(spot_eigen_top(&s, lost, D, KEPT, threads));
            if (threads > 1) assert_memory_equal(s.vector, first, sizeof first);
            memcpy(first, s.vector, sizeof first);
        }
        for (int k = 0; k < KEPT; k++) {
            CHECK_NEAR(s.value[k], all[D - KEPT + k], 1e-13 * all[D - 1]);
            for (int i = 0; i < D; i++) {
                double image = 0;
                for (int j = 0; j < D; j++) image += cov[i * D + j] * first[k * D + j];
                CHECK_NEAR(image, s.value[k] * first[k * D + i], 1e-13 * all[D - 1]);
            }
            for (int l = 0; l <= k; l++) CHECK_NEAR(cblas_ddot(D, first + k * D, 1, first + l * D, 1), k == l, 1e-12);
        }
    }
    spot_arena_close(&a);
}

/* Tiles of sums against one fma chain each, in the order of the rows: rows past a slab, columns past a panel and past a tile,
 * both triangles, with weights and row numbers and without. */
TEST(tiles_of_sums_are_plain_chains)
{
    enum { N = 150, MOST = 131 };
    static const int sizes[] = { 1, 7, 95, 98, MOST };
    static float x[N * MOST];
    double centre[MOST], weight[N], sum[SPOT_OUTER_HIGH][SPOT_OUTER_WIDE];
    int row[N];

    for (int e = 0; e < N * MOST; e++) x[e] = (float)sin(0.31 * e + 0.007 * e * e);
    for (int j = 0; j < MOST; j++) centre[j] = 0.1 * cos(j);
    for (int i = 0; i < N; i++) weight[i] = sin(i) * sin(i), row[i] = i * 7 % N;
    for (size_t way = 0; way < 4 * LEN(sizes); way++) {
        const int d = sizes[way / 4], own = way & 1, lower = way >> 1 & 1;
        const spot_outer_rows s = { d, N, x, centre, own ? row : NULL, own ? weight : NULL, lower };
        for (int j0 = 0; j0 < d; j0 += SPOT_OUTER_HIGH)
            for (int k0 = 0; k0 < d; k0 += SPOT_OUTER_WIDE) {
                memset(sum, 0, sizeof sum);
                spot_outer_add(sum, &s, j0, k0);
                for (int j = j0; j < d && j < j0 + SPOT_OUTER_HIGH; j++)
                    for (int k = k0; k < d && k < k0 + SPOT_OUTER_WIDE; k++) {
                        double want = 0;
                        for (int i = 0; i < N && (lower ? k <= j : k >= j); i++) {
                            const float *at = x + (size_t)(own ? row[i] : i) * d;
                            want = fma((own ? weight[i] : 1) * (at[j] - centre[j]), at[k] - centre[k], want);
                        }
                        if (lower ? k <= j : k >= j) assert_true(sum[j - j0][k - k0] == want);
                    }
            }
    }
}

/* Scores against one fma chain each. */
TEST(scores_are_plain_chains)
{
    enum { N = 101, D = 140, KEPT = 67 };
    static float x[N * D], score[N * KEPT];
    static double mean[D], axis[KEPT * D];
    spot_ctx c = check_ctx(2);

    for (int e = 0; e < N * D; e++) x[e] = (float)sin(0.31 * e + 0.007 * e * e);
    for (int e = 0; e < KEPT * D; e++) axis[e] = cos(0.13 * e + 0.003 * e * e);
    for (int j = 0; j < D; j++) mean[j] = 0.1 * cos(j);
    for (int kept = 1; kept <= KEPT; kept += 33) {
        const spot_pca_problem p = { .n = N, .d = D, .kept = kept, .x = x, .mean = mean, .axis = axis, .score = score };
        CHECK_OK(&c, spot_pca_project(&c, 1, &p));
        for (int i = 0; i < N; i++)
            for (int k = 0; k < kept; k++) {
                double want = 0;
                for (int j = 0; j < D; j++) want = fma(x[i * D + j] - mean[j], axis[k * D + j], want);
                assert_true(score[i * kept + k] == (float)want);
            }
    }
}

TEST(none_copies_the_features)
{
    spot_ctx c = check_ctx(1);
    spot_embed_config cfg = spot_embed_defaults();
    spot_view v = blobs(6, 3, 1, 1);
    spot_arena a;
    spot_points out;

    cfg.method = SPOT_REDUCE_NONE;
    out = fit(&c, &a, &v, &cfg);
    assert_int_equal(out.d, 3);
    assert_memory_equal(out.at, v.feature, 6 * 3 * sizeof(float));
    assert_true(isnan(out.objective));
    spot_arena_close(&a);
    blobs_free(&v);
}

TEST(says_what_is_wrong_with_the_input)
{
    spot_ctx c = check_ctx(1);
    spot_embed_config cfg = spot_embed_defaults();
    spot_view v = blobs(6, 3, 1, 1), few = { .n = 3, .d = 3, .feature = v.feature };
    spot_seed seed = { 1, 7 };
    spot_arena a = { 0 };
    spot_points out;

    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &few, &seed, &cfg), SPOT_INPUT, "reducer.few_rows");
    v.feature[7] = NAN;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg), SPOT_INPUT, "features.value: feature 1 | row 2");
    v.feature[7] = 0;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg), SPOT_NOMEM, "arena.full");
    cfg.dim = 0;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg), SPOT_USAGE, "setting.value: dim | 0");
    cfg.dim = 2;
    cfg.scvis.lr = NAN;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg), SPOT_USAGE, "setting.value: scvis.lr | nan");
    blobs_free(&v);
}
