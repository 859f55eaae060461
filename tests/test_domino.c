/* test_domino.c - Domino on views that are planted and on views that are poor; its mixture: test_domino_mixture.c.
 * ctest: threads, both */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "check_bdm.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* A view of four groups in D dimensions: the second and the third are errors, the third the worse. */
enum { N = 200, D = 6 };
typedef struct { float x[N * D], confidence[N]; uint8_t label[N]; } four_groups;

static bdm_bed plant(four_groups *g, int threads)
{
    bdm_bed b = bed_of(SPOT_DOMINO, threads, N, D, g->x, g->confidence);
    spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 0, 0);
    const double sure[] = { 0.97, 0.3, 0.05, 0.9 };

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++) g->x[i * D + j] = (float)(5 * (j == i % 4) + 0.5 * spot_rng_normal(&r));
        g->confidence[i] = (float)(sure[i % 4] + 0.02 * spot_rng_uniform(&r));
        g->label[i] = 1;
    }
    b.view.d = D;
    b.view.feature = g->x;
    return b;
}

static void each_row_once(const spot_hypotheses *found, int n, int all)
{
    int rows = 0, *seen = calloc((size_t)n, sizeof *seen);

    for (int k = 0; k < found->len; k++) {
        const spot_hypothesis *h = &found->h[k];
        assert_true(h->len > 0 && isfinite(h->score) && h->mean_error >= 0 && h->mean_error <= 1);
        assert_true(!k || h->score <= found->h[k - 1].score);
        for (int i = 0; i < h->len; i++) {
            assert_true(h->row[i] >= 0 && h->row[i] < n && (!i || h->row[i] > h->row[i - 1]) && !seen[h->row[i]]++);
            rows++;
        }
    }
    if (all) assert_int_equal(rows, n);
    free(seen);
}

TEST(planted_slices_come_first)
{
    four_groups g;
    bdm_bed b = plant(&g, 2);

    b.cfg.domino.components = 4;
    for (int start = SPOT_START_CONFUSION; start <= SPOT_START_KMEANS; start++)
        for (int covariance = SPOT_COVARIANCE_DIAG; covariance <= SPOT_COVARIANCE_FULL; covariance++) {
            b.cfg.domino.start = start;
            b.cfg.domino.covariance = covariance;
            CHECK_OK(&b.c, find_in(&b, &b.cfg));
            each_row_once(&b.found, N, 1);
            check_shares(&b.found, N, b.found.len == b.cfg.domino.components);
            assert_string_equal(heard, "");
            if (start == SPOT_START_KMEANS) {
                assert_true(b.found.h[0].len == N / 4 && b.found.h[0].row[0] == 2);
                assert_true(b.found.h[1].len == N / 4 && b.found.h[1].row[0] == 1);
                CHECK_NEAR(b.found.h[0].mean_error, 0.94, 0.005);
                CHECK_NEAR(b.found.h[0].score, b.found.h[0].mean_error, 1e-6);
            } else {      /* it tells errors from the rest, but stops at the tolerance before groups part */
                assert_true(b.found.h[0].mean_error > 0.75 && b.found.h[b.found.len - 1].mean_error < 0.06);
            }
        }
    spot_arena_close(&b.a);
}

/* Rows of slices that are not returned go to the best that is, or nowhere. */
TEST(the_list_is_cut)
{
    four_groups g;
    bdm_bed b = plant(&g, 1);

    b.cfg.domino.components = 4;
    b.cfg.domino.start = SPOT_START_KMEANS;
    b.cfg.top = 2;
    for (int assign = SPOT_ASSIGN_KEPT; assign <= SPOT_ASSIGN_ALL; assign++) {
        b.cfg.domino.assign = assign;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_true(b.found.len == 2 && b.found.components == 4);
        each_row_once(&b.found, N, assign == SPOT_ASSIGN_KEPT);
        assert_int_equal(b.found.h[0].len + b.found.h[1].len, assign == SPOT_ASSIGN_KEPT ? N : N / 2);
    }
    spot_arena_close(&b.a);
}

/* The errors of negatives are those with much confidence. */
TEST(labels_turn_errors_round)
{
    four_groups g;
    bdm_bed b = plant(&g, 1);

    b.view.label = g.label;
    b.cfg.domino.components = 4;
    b.cfg.domino.start = SPOT_START_KMEANS;
    for (int both = 0; both < 2; both++) {
        for (int i = 0; i < N; i++) g.label[i] = both && i % 4 < 2;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        each_row_once(&b.found, N, 1);
        assert_int_equal(b.found.h[0].row[0], both ? 3 : 0);
        CHECK_NEAR(b.found.h[0].mean_error, both ? 0.91 : 0.98, 0.005);
    }
    spot_arena_close(&b.a);
}

/* Views that say little are no mistake. */
TEST(views_that_say_little)
{
    four_groups g;
    bdm_bed b = plant(&g, 2);

    for (int kind = 0; kind < 4 * 6; kind++) {
        int what = kind / 4;
        plant(&g, 2);
        b.cfg.domino.start = kind % 2;
        b.cfg.domino.covariance = kind / 2 % 2;
        for (int i = 0; i < N; i++) {
            if (what < 2) g.confidence[i] = (float)what;                                  /* only errors; none */
            if (what == 2) g.confidence[i] = (float)(i % 2);                              /* probabilities of 0 and 1 */
            if (what == 3) memcpy(&g.x[i * D], &g.x[i % 7 * D], D * sizeof *g.x);         /* seven points, many times */
            if (what == 4) memcpy(&g.x[i * D], &g.x[0], D * sizeof *g.x);                 /* one */
            if (what == 5) g.x[i * D + 1] = -7, g.x[i * D + 2] = 1e6f + g.x[i * D + 2];   /* a constant; far from the origin */
        }
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_true(b.found.len >= 1 && b.found.len <= b.cfg.top && b.found.components <= b.cfg.domino.components);
        each_row_once(&b.found, N, 1);
        if (what < 2) CHECK_NEAR(b.found.h[0].mean_error, 1 - what, 0);
    }
    spot_arena_close(&b.a);
}

TEST(few_rows_are_told)
{
    four_groups g;
    spot_seed seed = { 1, 0 };
    bdm_bed b = bed_of(SPOT_DOMINO, 1, 11, 128, NULL, g.confidence);

    b.view.d = 40;
    b.view.feature = g.x;
    plant(&g, 1);
    CHECK_OK(&b.c, spot_arena_open(&b.c, &b.a, spot_embed_bytes(1, &b.view.n, b.view.d, &b.cfg.embed, 1) + 4096
                                 + spot_bdm_bytes(1, &b.view.n, b.cfg.embed.dim, &b.cfg, 1)));
    heard[0] = 0;
    b.c.on_log = hear;
    CHECK_OK(&b.c, spot_embed_fit(&b.c, &b.a, 1, &b.points, &b.view, &seed, &b.cfg.embed));
    CHECK_OK(&b.c, spot_bdm_find(&b.c, &b.a, 1, &b.found, &b.view, &b.points, &seed, &b.cfg));
    assert_non_null(strstr(heard, "11 rows of 40 features have no 128 principal components; the map has 10"));
    assert_non_null(strstr(heard, "11 rows, so domino has 11 components instead of 25"));
    each_row_once(&b.found, 11, 1);
    b.view.n = b.points.n = 3;
    CHECK_FAILS(&b.c, spot_bdm_find(&b.c, &b.a, 1, &b.found, &b.view, &b.points, &seed, &b.cfg), SPOT_INPUT,
                "domino.few_rows: 3");
    b.cfg.domino.start = SPOT_START_KMEANS;
    for (b.view.n = b.points.n = 1; b.view.n < 4; b.view.n = ++b.points.n) {
        CHECK_OK(&b.c, spot_bdm_find(&b.c, &b.a, 1, &b.found, &b.view, &b.points, &seed, &b.cfg));
        each_row_once(&b.found, b.view.n, 1);
    }
    spot_arena_close(&b.a);
}

TEST(bad_input_gets_a_sentence)
{
    four_groups g;
    spot_seed seed = { 1, 0 };
    bdm_bed b = plant(&g, 1);
    spot_bdm_config bad;
    static const struct {
        double gamma, gamma_hat, noise, ridge, tol;
        int components, start, iterations;
        const char *words;
    } no[] = {
        { NAN, -1, 0, 0, 0, 25, 0, 9, "setting.value: gamma | nan" },     { 1, INFINITY, 0, 0, 0, 25, 0, 9,
                                                             "setting.value: gamma_hat | inf" },
        { 1, NAN, 0, 0, 0, 25, 0, 9, "setting.value: gamma_hat | nan" },     { 1, 1, NAN, 0, 0, 25, 0, 9,
                                                                              "setting.value: noise | nan" },
        { 1, 1, 0, NAN, 0, 25, 0, 9, "setting.value: domino.mixture.ridge | nan" },         { 1, 1, 0, 0, -1, 25, 0, 9,
                                                                               "setting.value: mixture.tol | -1" },
        { 1, 1, 0, 0, 0, 25, 0, 0, "setting.value: max_iterations | 0" },        { 1, 1, 0, 0, 0, 513, 0, 9,
                                                                    "setting.value: components | 513" },
        { 1, 1, 0, 0, 0, 3, SPOT_START_CONFUSION, 9, "domino.components: 4" },
    };

    for (int i = 0; i < LEN(no); i++) {
        bad = b.cfg;
        bad.domino = (spot_domino_config){ .components = 25, .gamma = no[i].gamma, .gamma_hat = no[i].gamma_hat,
                                           .noise = no[i].noise, .start = no[i].start };
        bad.mixture.ridge = no[i].ridge;
        bad.mixture.tol = no[i].tol;
        bad.mixture.max_iterations = no[i].iterations;
        CHECK_OK(&b.c, spot_arena_open(&b.c, &b.a, 1 << 24));
        bad.domino.components = no[i].components;
        CHECK_FAILS(&b.c, spot_bdm_find(&b.c, &b.a, 1, &b.found, &b.view, &b.points, &seed, &bad), SPOT_INVALID, no[i].words);
        spot_arena_close(&b.a);
    }
    for (int i = 0; i < N; i++) g.x[i * D + 3] = 0;
    bad = b.cfg;
    bad.mixture.ridge = 0;      /* a constant feature has no density without a ridge */
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_NUMERIC, "domino.covariances");
    bad.domino.covariance = SPOT_COVARIANCE_FULL;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_NUMERIC, "domino.covariances");
    g.x[7] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "features.value: feature 1 | row 1");
    g.x[7] = 0;
    g.confidence[5] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "confidence.value: row 5");
    spot_arena_close(&b.a);
}

TEST(names)
{
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_DOMINO);
    char text[48];

    assert_string_equal(spot_bdm_name(&cfg, text, sizeof text), "domino");
    assert_true(cfg.domino.gamma == 10 && cfg.domino.gamma_hat < 0 && cfg.domino.components == 25 && cfg.embed.dim == 128
                && cfg.embed.method == SPOT_REDUCE_PCA && cfg.domino.start == SPOT_START_CONFUSION);
}
