/* test_bdm.c - what holds for every discovery method of the table. ctest: threads, both */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "blobs.h"
#include "check_methods.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* Confidences that fall with the row. */
static void fall(float *confidence, int n)
{
    for (int i = 0; i < n; i++) confidence[i] = (float)(0.99 - 0.95 * i / n);
}

/* spot_bdm_needs counts takes that are aligned from the start; an arena may be used up to any byte before. Sizes that are no
 * multiples of anything show what gets lost in between. */
TEST(a_method_takes_no_more_than_it_said)
{
    static const int sizes[][2] = { { 4, 1 }, { 5, 3 }, { 33, 7 }, { 130, 40 } };
    const spot_seed seed = { 1, 0 };
    for (int method = 0; method < SPOT_METHODS; method++)
        for (int s = 0; s < LEN(sizes); s++)
            for (int threads = 1; threads <= 2; threads++) {
                spot_ctx c = check_ctx(threads);
                int n = sizes[s][0], d = sizes[s][1];
                spot_bdm_config cfg = spot_bdm_defaults(method);
                spot_view view = blobs(n, d, 2, 7);
                spot_points points = { .n = n, .d = d, .at = view.feature };
                spot_hypotheses found;
                spot_arena a;
                char *byte;
                spot_status e;
                view.confidence = malloc((size_t)n * sizeof *view.confidence);
                fall(view.confidence, n);
                cfg.spotlight.steps = 20;
                if (method == SPOT_PLANESPOT) cfg.mixture.k_max = 3;
                if (d > SPOT_MAX_MIXTURE_DIM && (method == SPOT_PLANESPOT || method == SPOT_GEORGE)) points.d = 5;
                CHECK_OK(&c, spot_arena_open(&c, &a, spot_bdm_needs(&c, 1, &n, points.d, &cfg).host + 1));
                CHECK_OK(&c, SPOT_TAKE(&c, &a, byte, 1));
                e = spot_bdm_find(&c, &a, 1, &found, &view, &points, &seed, &cfg);
                if (e == SPOT_NOMEM)
                    fail_msg("method %d, (%d, %d): %s", method, n, d, spot_message(&c, e));
                if (e == SPOT_OK) assert_in_range(found.len, 0, cfg.top);
                spot_forget(&c);
                spot_arena_close(&a);
                free(view.confidence);
                blobs_free(&view);
            }
}

/* A batch of two ECs, of whose features PCA makes 11 and 40 dimensions where 60 were wanted (30 where a mixture takes no
 * more), gives what each gives alone, in the memory that was planned for the larger. */
TEST(fewer_components_than_wanted_are_enough)
{
    enum { D = 40 };
    static const int n[2] = { 12, 90 };
    const int most[2] = { 90, 90 };
    const spot_seed seed[2] = { { 1, 0 }, { 1, 1 } };
    for (int method = 0; method < SPOT_METHODS; method++) {
        spot_ctx c = check_ctx(2);
        spot_bdm_config cfg = spot_bdm_defaults(method);
        if (method == SPOT_ITEMSETS) continue;     /* takes attributes alone */
        float confidence[90];
        spot_view view[2];
        spot_points points[2], one;
        spot_hypotheses found[2], alone;
        spot_bytes embed, find;
        spot_arena a;
        cfg.embed.method = SPOT_REDUCE_PCA;
        cfg.embed.dim = method == SPOT_PLANESPOT || method == SPOT_GEORGE ? 30 : 60;
        cfg.spotlight.steps = 20;
        cfg.mixture.k_max = 3;
        cfg.embed.hardness = 0;
        fall(confidence, 90);
        for (int p = 0; p < 2; p++) {
            view[p] = blobs(n[p], D, 2, 7);
            view[p].confidence = confidence;
        }
        embed = spot_embed_needs(&c, 2, most, D, &cfg.embed);
        find = spot_bdm_needs(&c, 2, most, spot_embed_dim(&cfg.embed, 90, D), &cfg);
        CHECK_OK(&c, spot_arena_open(&c, &a, embed.host + find.host));
        CHECK_OK(&c, spot_embed_fit(&c, &a, 2, points, view, seed, &cfg.embed));
        assert_true(points[0].d == 11 && points[1].d == (cfg.embed.dim < D ? cfg.embed.dim : D));
        CHECK_OK(&c, spot_bdm_find(&c, &a, 2, found, view, points, seed, &cfg));
        for (int p = 0; p < 2; p++) {
            spot_arena b;
            CHECK_OK(&c, spot_arena_open(&c, &b, embed.host + find.host));
            CHECK_OK(&c, spot_embed_fit(&c, &b, 1, &one, &view[p], &seed[p], &cfg.embed));
            CHECK_OK(&c, spot_bdm_find(&c, &b, 1, &alone, &view[p], &one, &seed[p], &cfg));
            check_same_hypotheses(&alone, &found[p], 0);
            spot_arena_close(&b);
        }
        spot_arena_close(&a);
        for (int p = 0; p < 2; p++) blobs_free(&view[p]);
    }
}

/* Finite, but too large for sums of squares in float: the same sentence from every method, whatever reduces. */
TEST(features_that_are_too_large_are_refused_alike)
{
    static const float large[] = { 1e30f, -1e30f, 1.1e12f, INFINITY, NAN };
    static const int reducers[] = { SPOT_REDUCE_NONE, SPOT_REDUCE_PCA, SPOT_REDUCE_TSNE };
    const spot_seed seed = { 1, 4 };
    for (int method = 0; method < SPOT_METHODS; method++)
        for (int i = 0; i < LEN(large) * LEN(reducers); i++) {
            spot_ctx c = check_ctx(1);
            spot_bdm_config cfg = spot_bdm_defaults(method);
            spot_view view = blobs(30, 6, 2, 7);
            spot_points points = { .n = 30, .d = 6, .at = view.feature, .objective = NAN };
            spot_hypotheses found;
            float confidence[30];
            char words[120];
            spot_arena a;
            fall(confidence, 30);
            view.confidence = confidence;
            cfg.embed.method = reducers[i % LEN(reducers)];
            cfg.embed.hardness = 0;
            view.feature[17 * 6 + 5] = large[i / LEN(reducers)];
            snprintf(words, sizeof words, "features.value: EC 4 | feature 5 | row 17 | %g | 1e+12",
                     large[i / LEN(reducers)]);
            CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
            if (!spot_embed_is_nothing(&cfg.embed))
                CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &points, &view, &seed, &cfg.embed), SPOT_INPUT, words);
            else {
                CHECK_FAILS(&c, spot_bdm_find(&c, &a, 1, &found, &view, &points, &seed, &cfg), SPOT_INPUT, words);
                view.feature = NULL;
                CHECK_FAILS(&c, spot_bdm_find(&c, &a, 1, &found, &view, &points, &seed, &cfg), SPOT_INPUT, words);
            }
            spot_arena_close(&a);
            free(points.at == view.feature ? view.feature : points.at);
        }
}

/* Points as the variant's reducer makes them, and hypotheses, by that many threads. */
static spot_arena from_views(int threads, int problems, spot_points *points, spot_hypotheses *found, const spot_view *v,
                             const spot_seed *seed, const spot_bdm_config *cfg)
{
    spot_ctx c = check_ctx(threads);
    int n[METHOD_PROBLEMS];
    spot_arena a;

    for (int q = 0; q < problems; q++) n[q] = v[q].n;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_embed_needs(&c, problems, n, METHOD_D, &cfg->embed).host
                                 + spot_bdm_needs(&c, problems, n, METHOD_D, cfg).host));
    for (int q = 0; q < problems; q++) points[q] = (spot_points){ .n = n[q], .d = METHOD_D, .at = v[q].feature };
    if (!spot_embed_is_nothing(&cfg->embed)) CHECK_OK(&c, spot_embed_fit(&c, &a, problems, points, v, seed, &cfg->embed));
    CHECK_OK(&c, spot_bdm_find(&c, &a, problems, found, v, points, seed, cfg));
    return a;
}

/* Alone, in a batch, on any number of threads. A method that can do without more is given one row; PCA wants four. */
static void a_batch_equals_its_problems(void **state)
{
    const struct variant *v = *state;
    const spot_bdm_config cfg = config_of(v);
    const int rows[] = { 200, 97, 131, v->maps || v->reduce == SPOT_REDUCE_PCA ? 8 : 1 };
    spot_points points[2][METHOD_PROBLEMS], one;
    spot_hypotheses found[2][METHOD_PROBLEMS], alone;
    spot_arena a[2], b;
    method_data of;

    open_data(&of, v, rows, LEN(rows));
    for (int many = 0; many < 2; many++)
        a[many] = from_views(many ? 5 : 2, LEN(rows), points[many], found[many], of.v, of.seed, &cfg);
    for (int q = 0; q < LEN(rows); q++) {
        b = from_views(q % 2 ? 1 : 3, 1, &one, &alone, &of.v[q], &of.seed[q], &cfg);      /* a team on one problem, or one */
        check_same_hypotheses(&alone, &found[0][q], 0);
        check_same_hypotheses(&alone, &found[1][q], 0);
        assert_memory_equal(one.at, points[0][q].at, (size_t)one.n * one.d * sizeof(float));
        assert_memory_equal(one.at, points[1][q].at, (size_t)one.n * one.d * sizeof(float));
        if (!q || q == 2) assert_true(alone.len > 0);
        if (rows[q] == 1 && (v->method == SPOT_PLANESPOT || v->method == SPOT_GEORGE)) assert_int_equal(alone.len, 1);
        if (v->method == SPOT_DOMINO && !q) assert_true(alone.len > 2);
        spot_arena_close(&b);
    }
    spot_arena_close(&a[0]);
    spot_arena_close(&a[1]);
    close_data(&of);
}

/* Every method says which number is none, and stops before it begins when it was asked to. */
static void input_and_requests_are_looked_at(void **state)
{
    const struct variant *v = *state;
    const spot_bdm_config cfg = config_of(v);
    const char *words = v->reduce == SPOT_REDUCE_NONE ? "features.value: feature 2 | row 1" :
        "points.value: coordinate 2 | point 1";
    const int rows[] = { 90, 90, 90 };
    volatile sig_atomic_t stop = 1;
    spot_ctx c = check_ctx(1);
    spot_hypotheses found;
    method_data of;
    spot_arena a;

    open_data(&of, v, rows, LEN(rows));
    spot_points points = { .n = 90, .d = METHOD_D, .at = of.v[1].feature };
    points.at[METHOD_D + 2] = NAN;
    CHECK_FAILS(&c, find(&c, &a, &found, 1, of.v, &points, &cfg), SPOT_INPUT, words);
    spot_arena_close(&a);
    points.at[METHOD_D + 2] = 0;
    for (int i = 0; i < 2; i++) {
        of.v[0].confidence[3] = i ? 1.5f : NAN;
        CHECK_FAILS(&c, find(&c, &a, &found, 1, of.v, &points, &cfg), SPOT_INPUT, "confidence.value: row 3");
        spot_arena_close(&a);
    }
    of.v[0].confidence[3] = 0.5f;
    points.n = 89;
    CHECK_FAILS(&c, find(&c, &a, &found, 1, of.v, &points, &cfg), SPOT_INVALID, "points.count: 89 | 90");
    spot_arena_close(&a);
    points.n = 90;
    c.stop = &stop;
    CHECK_FAILS(&c, find(&c, &a, &found, 1, of.v, &points, &cfg), SPOT_STOPPED, "run.stopped");
    spot_arena_close(&a);
    close_data(&of);
}

int main(void)
{
    static char name[2 * LEN(variants)][80];

    for (int i = 0; i < 2 * LEN(variants); i++) {
        struct variant *v = &variants[i / 2];
        snprintf(name[i], sizeof *name, i % 2 ? "%s_looks_at_its_input" : "%s_is_the_same_in_a_batch", v->name);
        add_test(&check_tests, (struct CMUnitTest){ name[i], i % 2 ? input_and_requests_are_looked_at
                                                                  : a_batch_equals_its_problems, NULL, NULL, v });
    }
    return run_all_tests();
}
