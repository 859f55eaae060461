/* test_bdm.c - what holds for every discovery method of the table. ctest: threads */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "blobs.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* Confidences that fall with the row. */
static void fall(float *confidence, int n)
{
    for (int i = 0; i < n; i++) confidence[i] = (float)(0.99 - 0.95 * i / n);
}

/* spot_bdm_needs counts takes that are aligned from the start; an arena may be used up to any byte before. Sizes that are no
 * multiples of anything show what gets lost in between. */
static void a_method_takes_no_more_than_it_said(void **state)
{
    static const int sizes[][2] = { { 4, 1 }, { 5, 3 }, { 33, 7 }, { 130, 40 } };
    const spot_seed seed = { 1, 0 };
    (void)state;
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

/* What a batch of two ECs gives, of whose features PCA makes 11 and 40 dimensions where 60 were wanted (30 where a mixture
 * takes no more), is what each gives alone, in the memory that was planned for the larger. */
static void fewer_components_than_wanted_are_enough(void **state)
{
    enum { D = 40 };
    static const int n[2] = { 12, 90 };
    const int most[2] = { 90, 90 };
    const spot_seed seed[2] = { { 1, 0 }, { 1, 1 } };
    (void)state;
    for (int method = 0; method < SPOT_METHODS; method++) {
        spot_ctx c = check_ctx(2);
        spot_bdm_config cfg = spot_bdm_defaults(method);
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
            assert_int_equal(alone.len, found[p].len);
            for (int k = 0; k < alone.len; k++) {
                assert_int_equal(alone.h[k].len, found[p].h[k].len);
                assert_memory_equal(alone.h[k].row, found[p].h[k].row, (size_t)alone.h[k].len * sizeof(int));
                assert_memory_equal(&alone.h[k].score, &found[p].h[k].score, sizeof(double));
            }
            spot_arena_close(&b);
        }
        spot_arena_close(&a);
        for (int p = 0; p < 2; p++) blobs_free(&view[p]);
    }
}

/* Finite, but too large for sums of squares in float: the same sentence from every method, whatever reduces. */
static void features_that_are_too_large_are_refused_alike(void **state)
{
    static const float large[] = { 1e30f, -1e30f, 1.1e12f, INFINITY, NAN };
    static const int reducers[] = { SPOT_REDUCE_NONE, SPOT_REDUCE_PCA, SPOT_REDUCE_TSNE };
    const spot_seed seed = { 1, 4 };
    (void)state;
    for (int method = 0; method < SPOT_METHODS; method++)
        for (int i = 0; i < LEN(large) * LEN(reducers); i++) {
            spot_ctx c = check_ctx(1);
            spot_bdm_config cfg = spot_bdm_defaults(method);
            spot_view view = blobs(30, 6, 2, 7);
            spot_points points = { 30, 6, view.feature, NAN };
            spot_hypotheses found;
            float confidence[30];
            char words[120];
            spot_arena a;
            fall(confidence, 30);
            view.confidence = confidence;
            cfg.embed.method = reducers[i % LEN(reducers)];
            cfg.embed.hardness = 0;
            view.feature[17 * 6 + 5] = large[i / LEN(reducers)];
            snprintf(words, sizeof words, "EC 4: feature 5 of row 17 is %g; features must be finite and within 1e+12",
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_method_takes_no_more_than_it_said),
        cmocka_unit_test(fewer_components_than_wanted_are_enough),
        cmocka_unit_test(features_that_are_too_large_are_refused_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
