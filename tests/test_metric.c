/* test_metric.c - BP, BR, DR, FDR, u and the four failures: by hand, on the thresholds, and by another route. ctest: both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "stats/logistic.h"
#include "golden_file.h"
#include "spotter/metric.h"
#include "spotter/rng.h"

#define SET(...) ((spot_hypothesis){ .len = LEN(((int[]){ __VA_ARGS__ })), .row = (int[]){ __VA_ARGS__ } })

static spot_hypotheses list(const spot_hypothesis *h, int len)
{
    spot_hypotheses out = { .len = len };
    for (int i = 0; i < len; i++) out.h[i] = h[i];
    return out;
}

static spot_score score(const spot_hypotheses *found, uint32_t *mask, int n, int blindspots, spot_metric_config cfg)
{
    spot_ctx c = check_ctx(1);
    spot_truth truth = { n, blindspots, mask };
    spot_score s;
    CHECK_OK(&c, spot_metric_score(&c, &s, found, &truth, &cfg));
    return s;
}

static spot_metric_config with(int profile, double lambda)
{
    return (spot_metric_config){ .profile = profile, .lambda_p = lambda, .lambda_r = lambda, .top = 10 };
}

/* Appendix A.3: images (X,Y) = 00 01 10 11. S1 = {X=1}, {X=0,Y=1}; S2 = {X=1,Y=0}, {Y=1}. */
TEST(the_papers_ambiguous_pair)
{
    uint32_t mask[] = { 0, 2, 1, 1 };
    spot_hypothesis s2[] = { SET(2), SET(1, 3) };
    spot_hypotheses found = list(s2, 2);
    spot_score s = score(&found, mask, 4, 2, with(SPOT_PROFILE_TMLR, 1));
    assert_true(s.bp[0][0] == 1 && s.bp[0][1] == 0 && s.bp[1][0] == 0.5 && s.bp[1][1] == 0.5);
    assert_true(s.br[0] == 0.5 && s.br[1] == 0);
    assert_true(s.dr == 0 && isnan(s.fdr) && s.u == 0);
    assert_true(s.belongs[0] == 0 && s.belongs[1] == -1);
    assert_true(s.failure[0][SPOT_FOUND] == 0.5 && s.failure[0][SPOT_MERGED] == 0.5);
    assert_true(s.failure[1][SPOT_MERGED] == 1);
}

/* Two hypotheses, neither enough alone, that overlap: rows 0-5 and 3-9 of a blindspot of ten. A stranger stands
 * between them and one behind: u is 3, so only the first counts as false. */
TEST(a_union_covers_and_u_ends_there)
{
    uint32_t mask[20] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    spot_hypothesis h[] = { SET(0, 1, 2, 3, 4, 5), SET(10, 11), SET(3, 4, 5, 6, 7, 8, 9), SET(12), SET(0, 1) };
    spot_hypotheses found = list(h, 5);
    spot_score s = score(&found, mask, 20, 1, spot_metric_defaults());
    assert_true(s.br[0] == 1 && s.dr == 1 && s.covered[0] && s.u == 3);
    CHECK_NEAR(s.fdr, 1.0 / 3, 1e-15);
    assert_true(isnan(s.failure[0][SPOT_FOUND]));
}

/* 8 of 10 is 0.8: reached in the TMLR profile, not in the workshop's. In doubles 0.8 * 10 == 8 but 0.7 * 10 != 7. */
TEST(thresholds_hit_exactly)
{
    static const struct { double lambda; int part; } cases[] = {
        { 0.8, 8 }, { 0.7, 7 }, { 0.6, 6 }, { 0.3, 3 }, { 0.1, 1 }, { 1.0, 10 },
    };
    int rows[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    for (int i = 0; i < LEN(cases); i++) {
        spot_hypothesis h = { .len = 10, .row = rows };
        spot_hypotheses found = list(&h, 1);
        uint32_t mask[20] = { 0 };
        for (int j = 0; j < cases[i].part; j++) mask[j] = 1;             /* BP = part/10 */
        for (int j = 10; j < 20 - cases[i].part; j++) mask[j] = 1;       /* BR = part/10 */
        spot_score tmlr = score(&found, mask, 20, 1, with(SPOT_PROFILE_TMLR, cases[i].lambda));
        spot_score workshop = score(&found, mask, 20, 1, with(SPOT_PROFILE_WORKSHOP, cases[i].lambda));
        assert_true(tmlr.dr == 1 && tmlr.fdr == 0 && tmlr.u == 1);
        assert_true(workshop.dr == 0 && workshop.belongs[0] == -1);
        spot_score above = score(&found, mask, 20, 1, with(SPOT_PROFILE_TMLR, cases[i].lambda - 1e-3));
        spot_score strict = score(&found, mask, 20, 1, with(SPOT_PROFILE_WORKSHOP, cases[i].lambda - 1e-3));
        assert_true(above.dr == 1 && strict.dr == 1);
    }
}

/* The workshop counts "at most lambda" as false, and its BR is strict on its own. */
TEST(workshop_fdr_counts_the_threshold_itself)
{
    uint32_t mask[20] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    spot_hypothesis h[] = { SET(0, 1, 2, 3, 10), SET(0, 1, 2, 3, 4, 5, 6, 7, 8, 9) };
    spot_hypotheses found = list(h, 2);
    spot_score t = score(&found, mask, 20, 1, with(SPOT_PROFILE_TMLR, 0.8));
    spot_score w = score(&found, mask, 20, 1, with(SPOT_PROFILE_WORKSHOP, 0.8));
    assert_true(t.u == 2 && t.fdr == 0 && w.u == 2 && w.fdr == 0.5 && w.dr == 1);
}

/* Blindspots of five: A rows 0-4, B rows 5-9. One row in each of the four bins for A. */
TEST(four_ways_to_miss)
{
    uint32_t mask[20] = { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 };
    spot_hypothesis h[] = { SET(0, 1),                      /* A's own: found */
                            SET(1, 2, 5, 6),                /* both blindspots: row 2 merged, row 1 stays found */
                            SET(2, 3, 15, 16, 17) };        /* mostly neither: row 3 impure, row 2 stays merged */
    spot_hypotheses found = list(h, 3);
    spot_score s = score(&found, mask, 20, 2, spot_metric_defaults());
    CHECK_NEAR(s.failure[0][SPOT_FOUND], 0.4, 1e-15);
    CHECK_NEAR(s.failure[0][SPOT_MERGED], 0.2, 1e-15);
    CHECK_NEAR(s.failure[0][SPOT_IMPURE], 0.2, 1e-15);
    CHECK_NEAR(s.failure[0][SPOT_NOT_RETURNED], 0.2, 1e-15);
    CHECK_NEAR(s.failure[1][SPOT_MERGED], 0.4, 1e-15);
    CHECK_NEAR(s.failure[1][SPOT_NOT_RETURNED], 0.6, 1e-15);
}

TEST(nothing_found_is_a_score)
{
    uint32_t mask[4] = { 1, 1, 0, 0 };
    spot_hypotheses none = { .len = 0 }, empty = { .len = 1 };
    spot_score s = score(&none, mask, 4, 1, spot_metric_defaults());
    assert_true(s.dr == 0 && isnan(s.fdr) && s.hypotheses == 0 && s.failure[0][SPOT_NOT_RETURNED] == 1);
    s = score(&empty, mask, 4, 1, spot_metric_defaults());
    assert_true(s.belongs[0] == -1 && s.bp[0][0] == 0 && s.dr == 0);
}

/* Two pieces and a stranger: the blindspot is spread over both pieces, and the stranger stands behind u. */
TEST(pieces_and_strangers_are_charged)
{
    uint32_t mask[20] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 };
    spot_hypothesis h[] = { SET(0, 1, 2, 3, 4), SET(5, 6, 7, 8, 9), SET(15, 16), SET(10) };
    spot_hypotheses found = list(h, 4), none = { .len = 0 };
    spot_score s = score(&found, mask, 20, 2, spot_metric_defaults());
    assert_true(s.u == 2 && s.fdr == 0 && s.dr == 0.5);
    assert_true(s.beside[SPOT_SPREAD] == 2 && s.beside[SPOT_FALSE_SHARE] == 0.25);
    assert_true(isnan(s.beside[SPOT_FALSE_ALARMS]) && isnan(s.beside[SPOT_DCBENCH_AP]) && isnan(s.coherence[0]));
    s = score(&none, mask, 20, 2, spot_metric_defaults());
    assert_true(isnan(s.beside[SPOT_SPREAD]) && isnan(s.beside[SPOT_FALSE_SHARE]));
}

/* A hypothesis where nothing is to find is a false alarm, and neither DR nor FDR. It stays out of their averages. */
TEST(without_blindspots_there_are_false_alarms)
{
    uint32_t mask[4] = { 0 }, other[4] = { 1, 1, 0, 0 };
    spot_hypothesis h[] = { SET(3), SET(0, 1) };
    spot_hypotheses found = list(h, 2);
    spot_score s = score(&found, mask, 4, 0, spot_metric_defaults());
    spot_rates rates[2];
    spot_summary sum;
    assert_true(isnan(s.dr) && isnan(s.fdr) && s.u == 0 && s.hypotheses == 2 && s.belongs[0] == -1 && s.belongs[1] == -1);
    assert_true(s.beside[SPOT_FALSE_ALARMS] == 2 && isnan(s.beside[SPOT_FALSE_SHARE]));
    rates[0] = spot_metric_rates(&s);
    s = score(&found, other, 4, 1, spot_metric_defaults());
    rates[1] = spot_metric_rates(&s);
    spot_metric_summarise(&sum, rates, NULL, 2);
    assert_true(sum.dr.n == 1 && sum.dr.mean == 1 && sum.dr.left_out == 1);
    assert_true(sum.fdr.n == 1 && sum.fdr.mean == 0.5 && sum.fdr.left_out == 0);
    assert_true(sum.failure[0].n == 0 && sum.failure[0].left_out == 1);
    assert_true(sum.beside[SPOT_FALSE_ALARMS].n == 1 && sum.beside[SPOT_FALSE_ALARMS].mean == 2);
    assert_true(sum.beside[SPOT_SPREAD].n == 1 && sum.beside[SPOT_SPREAD].left_out == 1);
}

/* One case of golden/ranking.bin. */
static void check_ranking(spot_ctx *c, FILE *f)
{
    spot_hypotheses found = { .len = 0 };
    spot_metric_config cfg = spot_metric_defaults();
    int head[4], used;
    double want[6], coherence;
    spot_score s;
    get(f, head, sizeof head);
    int n = head[0];
    spot_view view = { .n = n, .d = head[1] };
    view.feature = read_new(f, (size_t)n * (size_t)view.d * sizeof(float));
    view.confidence = read_new(f, (size_t)n * sizeof(float));
    uint32_t *mask = read_new(f, (size_t)n * sizeof *mask);
    spot_truth truth = { n, head[2], mask };
    int *column = malloc((size_t)n * 10 * sizeof *column);
    found.len = head[3];
    found.n = n;
    for (int k = 0; k < found.len; k++) {
        int soft;
        get(f, &found.h[k].len, sizeof(int));
        found.h[k].row = read_new(f, (size_t)found.h[k].len * sizeof(int));
        get(f, &soft, sizeof soft);
        if (soft) found.h[k].weight = read_new(f, (size_t)n * sizeof(float));
    }
    get(f, want, sizeof want);
    CHECK_OK(c, spot_metric_score(c, &s, &found, &truth, &cfg));
    CHECK_OK(c, spot_metric_rank(c, &s, &found, &view, &truth));
    CHECK_OK(c, spot_metric_graph(c, column, &used, &view, 10));
    CHECK_OK(c, spot_metric_coherence(c, &s, &found, column, n, used));
    assert_int_equal(used, 10);
    for (int i = 0; i < 6; i++) CHECK_NEAR(s.beside[SPOT_DCBENCH_P10 + i], want[i], 1e-12);
    for (int k = 0; k < found.len; k++) {
        get(f, &coherence, sizeof coherence);
        CHECK_NEAR(s.coherence[k], coherence, 1e-12);
        free(found.h[k].row);
        free(found.h[k].weight);
    }
    free(column), free(mask), free(view.feature), free(view.confidence);
}

TEST(rankings_agree_with_scikit_learn)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/ranking.bin", "rb");
    int cases;
    assert_non_null(f);
    get(f, &cases, sizeof cases);
    for (int i = 0; i < cases; i++) check_ranking(&c, f);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

static void check_logistic(spot_ctx *c, FILE *f)
{
    int head[2];
    get(f, head, sizeof head);
    size_t n = (size_t)head[0], d = (size_t)head[1];
    double *x = read_new(f, n * d * sizeof *x), *v = malloc(d * sizeof *v);
    uint8_t *y = read_new(f, n);
    double *weight = read_new(f, n * sizeof *weight), want;
    spot_logistic p = { .n = head[0], .d = head[1], .x = x, .y = y, .weight = weight, .v = v };
    spot_arena a = spot_arena_counting();
    get(f, &p.c, sizeof p.c);
    CHECK_OK(c, spot_logistic_fit(c, &a, &p));
    size_t bytes = a.peak;
    CHECK_OK(c, spot_arena_open(c, &a, bytes));
    CHECK_OK(c, spot_logistic_fit(c, &a, &p));
    for (size_t j = 0; j < d; j++) {
        get(f, &want, sizeof want);
        CHECK_NEAR(v[j], want, 1e-7 * (1 + fabs(want)));
    }
    get(f, &want, sizeof want);
    CHECK_NEAR(p.b, want, 1e-7 * (1 + fabs(want)));
    assert_true(p.iterations > 2 && p.iterations < 40);
    spot_arena_close(&a);
    free(x), free(v), free(y), free(weight);
}

static void check_repair(spot_ctx *c, FILE *f)
{
    spot_hypotheses found = { .len = 0 };
    spot_metric_config cfg = spot_metric_defaults();
    spot_repair same = { 0 };
    double want[3];
    int head[5];
    spot_score s;
    get(f, head, sizeof head);
    spot_view positives = { .n = head[0], .d = head[2] }, negatives = { .n = head[1], .d = head[2] };
    positives.feature = read_new(f, (size_t)positives.n * (size_t)positives.d * sizeof(float));
    negatives.feature = read_new(f, (size_t)negatives.n * (size_t)negatives.d * sizeof(float));
    uint32_t *mask = read_new(f, (size_t)positives.n * sizeof *mask);
    spot_truth truth = { positives.n, head[3], mask };
    found.len = head[4];
    for (int k = 0; k < found.len; k++) {
        get(f, &found.h[k].len, sizeof(int));
        found.h[k].row = read_new(f, (size_t)found.h[k].len * sizeof(int));
    }
    get(f, want, sizeof want);
    CHECK_OK(c, spot_metric_score(c, &s, &found, &truth, &cfg));
    for (int again = 0; again < 2; again++) {                  /* the second time with what methods share */
        CHECK_OK(c, spot_metric_repair(c, &s, &same, &found, &positives, &truth, &negatives));
        for (int i = 0; i < 3; i++) CHECK_NEAR(s.beside[SPOT_REPAIR_NONE + i], want[i], 1e-12);
        if (want[1] > want[0])
            CHECK_NEAR(s.beside[SPOT_REPAIR_SHARE], (want[2] - want[0]) / (want[1] - want[0]), 1e-12);
        else
            assert_true(isnan(s.beside[SPOT_REPAIR_SHARE]));
    }
    for (int k = 0; k < found.len; k++) free(found.h[k].row);
    free(positives.feature), free(negatives.feature), free(mask);
}

TEST(repairs_agree_with_scikit_learn)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/repair.bin", "rb");
    int fits, repairs;
    assert_non_null(f);
    get(f, &fits, sizeof fits);
    for (int i = 0; i < fits; i++) check_logistic(&c, f);
    get(f, &repairs, sizeof repairs);
    for (int i = 0; i < repairs; i++) check_repair(&c, f);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

TEST(rankings_of_nothing_and_bad_weights)
{
    spot_ctx c = check_ctx(1);
    uint32_t mask[4] = { 1, 1, 0, 0 };
    float confidence[4] = { .1f, .2f, .9f, .8f }, weight[4] = { 0, INFINITY, 0, 0 }, feature[4] = { 1, 2, 3, 4 };
    spot_view view = { .n = 4, .d = 1, .confidence = confidence, .feature = feature }, other = { .n = 3 };
    spot_truth truth = { 4, 1, mask };
    spot_hypothesis h[] = { SET(0, 1) };
    spot_hypotheses none = { .len = 0 }, found = list(h, 1);
    int column[12], used;
    spot_score s = score(&none, mask, 4, 1, spot_metric_defaults());
    CHECK_OK(&c, spot_metric_rank(&c, &s, &none, &view, &truth));
    assert_true(s.beside[SPOT_DCBENCH_AP] == 0 && s.beside[SPOT_GESD_P10] == 0);
    CHECK_OK(&c, spot_metric_graph(&c, column, &used, &view, 10));      /* no more than there are */
    assert_int_equal(used, 3);
    CHECK_OK(&c, spot_metric_coherence(&c, &s, &none, column, 4, used));
    assert_true(isnan(s.beside[SPOT_COHERENCE]));
    s = score(&found, mask, 4, 1, spot_metric_defaults());
    CHECK_OK(&c, spot_metric_coherence(&c, &s, &found, column, 4, used));
    CHECK_NEAR(s.coherence[0], 1.0 / 3, 1e-15);                          /* each has one member among its three */
    CHECK_FAILS(&c, spot_metric_rank(&c, &s, &found, &other, &truth), SPOT_INVALID, "ranking.sizes: 3");
    found.h[0].weight = weight;
    CHECK_FAILS(&c, spot_metric_rank(&c, &s, &found, &view, &truth), SPOT_INVALID, "ranking.rows: 0");
    found.n = 4;
    CHECK_FAILS(&c, spot_metric_rank(&c, &s, &found, &view, &truth), SPOT_INVALID, "ranking.weight: row 1 | weight inf");
}

/* Where nothing was planted there is nothing to discover: both rates are undefined and count in no average. */
TEST(nothing_planted_has_no_rates)
{
    uint32_t mask[4] = { 0 };
    spot_hypothesis h[] = { SET(3), SET(0, 1) };
    spot_hypotheses found = list(h, 2), none = list(h, 0);
    spot_score s = score(&found, mask, 4, 0, spot_metric_defaults()), empty = score(&none, mask, 4, 0, spot_metric_defaults());
    spot_rates rates[2] = { spot_metric_rates(&s), { .dr = 0.5, .fdr = 0.25 } };
    spot_summary sum;
    assert_true(isnan(s.dr) && isnan(s.fdr) && s.u == 0 && s.hypotheses == 2);
    assert_true(s.belongs[0] == -1 && s.belongs[1] == -1);
    assert_true(isnan(empty.dr) && isnan(empty.fdr) && empty.hypotheses == 0);
    spot_metric_summarise(&sum, rates, NULL, 2);
    assert_true(sum.dr.n == 1 && sum.dr.mean == 0.5 && sum.fdr.n == 1 && sum.fdr.mean == 0.25 && sum.fdr.left_out == 0);
}

TEST(only_the_top_is_looked_at)
{
    uint32_t mask[4] = { 1, 1, 0, 0 };
    spot_hypothesis h[] = { SET(3), SET(0, 1) };
    spot_hypotheses found = list(h, 2);
    spot_metric_config cfg = spot_metric_defaults();
    assert_true(score(&found, mask, 4, 1, cfg).dr == 1);
    cfg.top = 1;
    assert_true(score(&found, mask, 4, 1, cfg).dr == 0 && score(&found, mask, 4, 1, cfg).hypotheses == 1);
}

TEST(bad_arguments_get_a_sentence)
{
    spot_ctx c = check_ctx(1);
    uint32_t mask[4] = { 1, 1, 0, 0 };
    spot_truth truth = { 4, 1, mask }, two = { 4, 2, mask }, many = { 4, SPOT_MAX_BLINDSPOTS + 1, mask };
    spot_hypothesis out[] = { SET(0, 4) }, twice[] = { SET(1, 1) };
    spot_hypotheses none = { .len = 0 }, outside = list(out, 1), repeated = list(twice, 1);
    spot_metric_config cfg = spot_metric_defaults(), bad = cfg;
    spot_score s;
    CHECK_FAILS(&c, spot_metric_score(&c, &s, &outside, &truth, &cfg), SPOT_INVALID, "score.row: row 4");
    CHECK_FAILS(&c, spot_metric_score(&c, &s, &repeated, &truth, &cfg), SPOT_INVALID, "score.row_order");
    CHECK_FAILS(&c, spot_metric_score(&c, &s, &none, &two, &cfg), SPOT_INPUT, "score.blindspot_empty: blindspot 1");
    CHECK_FAILS(&c, spot_metric_score(&c, &s, &none, &many, &cfg), SPOT_INPUT, "score.blindspots: 9");
    bad.lambda_r = NAN;
    CHECK_FAILS(&c, spot_metric_score(&c, &s, &none, &truth, &bad), SPOT_INVALID, "setting.value: metric.lambda_r | nan");
    bad = cfg; bad.lambda_p = 0;
    CHECK_FAILS(&c, spot_metric_score(&c, &s, &none, &truth, &bad), SPOT_INVALID, "setting.value: metric.lambda_p | 0");
    bad = cfg; bad.top = 0;
    CHECK_FAILS(&c, spot_metric_score(&c, &s, &none, &truth, &bad), SPOT_INVALID, "setting.value: metric.top | 0");
}

/* The definitions once more, on sets as arrays of bools, prefix by prefix, with no shared count. */
enum { N = 60, M = 3, H = 12 };

static double brute_bp(bool h[N], const uint32_t *mask, uint32_t of)
{
    double in = 0, size = 0;
    for (int i = 0; i < N; i++) { size += h[i]; in += h[i] && (mask[i] & of); }
    return size ? in / size : 0;
}

static int brute_covered(bool h[H][N], const uint32_t *mask, int len, double p, double r)
{
    int covered = 0;
    for (int m = 0; m < M; m++) {
        double in = 0, size = 0;
        for (int i = 0; i < N; i++) {
            bool got = false;
            for (int k = 0; k < len; k++) got |= h[k][i] && brute_bp(h[k], mask, 1u << m) > p;
            size += mask[i] >> m & 1;
            in += got && (mask[i] >> m & 1);
        }
        covered += in / size > r;
    }
    return covered;
}

static void check_failures(const spot_score *s, bool h[H][N], const uint32_t *mask, double p)
{
    for (int m = 0; m < M; m++) {
        double share[SPOT_FAILURES] = { 0 };
        for (int i = 0; i < N; i++) {
            int best = SPOT_NOT_RETURNED;
            if (!(mask[i] >> m & 1)) continue;
            for (int k = 0; k < H; k++) {
                if (!h[k][i]) continue;
                int kind = brute_bp(h[k], mask, 1u << m) > p ? SPOT_FOUND
                         : brute_bp(h[k], mask, (1u << M) - 1) > p ? SPOT_MERGED : SPOT_IMPURE;
                if (best == SPOT_NOT_RETURNED || kind < best) best = kind;
            }
            share[best] += 1.0 / s->size[m];
        }
        for (int f = 0; f < SPOT_FAILURES; f++)
            if (!s->covered[m]) CHECK_NEAR(s->failure[m][f], share[f], 1e-12);
    }
}

/* Thresholds that no fraction of at most 60 can meet exactly, so that both profiles and plain doubles must agree.
 * Hypotheses are noisy copies of blindspots (several, so that unions matter) or noise. */
TEST(random_lists_agree_with_the_definitions)
{
    int interesting = 0;
    for (uint32_t trial = 0; trial < 400; trial++) {
        spot_rng r = spot_rng_at(5, SPOT_RNG_BOOTSTRAP, 0, trial);
        static const double lambda[] = { 0.301, 0.503, 0.801 };
        spot_metric_config cfg = { .profile = trial & 1, .lambda_p = lambda[trial % 3],
                                   .lambda_r = lambda[trial / 3 % 3], .top = H };
        uint32_t mask[N] = { 0 };
        bool h[H][N] = { { false } };
        int rows[H][N];
        spot_hypotheses found = { .len = H };
        for (int i = 0; i < N; i++) {
            if (i < M) mask[i] = 1u << i;
            else if (spot_rng_below(&r, 2)) mask[i] = 1 + spot_rng_below(&r, 7);
        }
        for (int k = 0; k < H; k++) {
            uint32_t m = spot_rng_below(&r, M + 1), noise = 2 + spot_rng_below(&r, 30);
            found.h[k].row = rows[k];
            for (int i = 0; i < N; i++) {
                h[k][i] = (mask[i] >> m & 1) ? spot_rng_below(&r, 2) : spot_rng_below(&r, noise) == 0;
                if (h[k][i]) rows[k][found.h[k].len++] = i;
            }
        }
        spot_score s = score(&found, mask, N, M, cfg);
        int all = brute_covered(h, mask, H, cfg.lambda_p, cfg.lambda_r), u = 0;
        double strangers = 0;
        while (brute_covered(h, mask, u, cfg.lambda_p, cfg.lambda_r) < all) u++;
        for (int k = 0; k < u; k++) {
            double most = 0;
            for (int m = 0; m < M; m++) most = fmax(most, brute_bp(h[k], mask, 1u << m));
            strangers += most <= cfg.lambda_p;
        }
        assert_int_equal(s.u, u);
        CHECK_NEAR(s.dr, all / 3.0, 1e-15);
        if (all) CHECK_NEAR(s.fdr, strangers / u, 1e-15);
        else assert_true(isnan(s.fdr));
        for (int k = 0; k < H; k++) {
            int most = 0;
            for (int m = 0; m < M; m++) {
                CHECK_NEAR(s.bp[k][m], brute_bp(h[k], mask, 1u << m), 1e-15);
                if (s.bp[k][m] > s.bp[k][most]) most = m;
            }
            assert_int_equal(s.belongs[k], s.bp[k][most] > cfg.lambda_p ? most : -1);
        }
        check_failures(&s, h, mask, cfg.lambda_p);
        interesting += all > 0 && all < M && strangers > 0;
    }
    assert_true(interesting > 20);
}

TEST(averages_say_what_they_left_out)
{
    spot_score s[5] = {
        { .blindspots = 2, .dr = 1, .fdr = 0.5, .covered = { true, true } },
        { .blindspots = 2, .dr = 0.5, .fdr = 0, .covered = { true, false }, .failure = { { NAN }, { 0.25, 0.75 } } },
        { .blindspots = 2, .dr = 0, .fdr = NAN, .failure = { { 1, 0 }, { 0.5, 0.5 } } },
        { .blindspots = 1, .dr = 0, .fdr = NAN },
        { .blindspots = 1, .dr = 1, .fdr = 0.1, .covered = { true } },
    };
    bool use[] = { true, true, true, false, true };
    spot_rates rates[5];
    spot_summary a;
    for (int i = 0; i < 5; i++) rates[i] = spot_metric_rates(&s[i]);
    spot_metric_summarise(&a, rates, use, 5);
    assert_int_equal(a.not_learned, 1);
    CHECK_NEAR(a.dr.mean, 0.625, 1e-15);                             /* 1 .5 0 1 */
    CHECK_NEAR(a.dr.se, sqrt(0.6875 / 3 / 4), 1e-15);                /* squares .140625*2 + .015625 + .390625 */
    assert_true(a.dr.n == 4 && a.dr.left_out == 0);
    CHECK_NEAR(a.fdr.mean, 0.2, 1e-15);                              /* .5 0 .1 */
    assert_true(a.fdr.n == 3 && a.fdr.left_out == 1);
    CHECK_NEAR(a.failure[SPOT_NOT_RETURNED].mean, 0.5, 1e-15);       /* .25, (1 + .5) / 2 */
    CHECK_NEAR(a.failure[SPOT_FOUND].mean, 0.5, 1e-15);              /* .75, (0 + .5) / 2 */
    CHECK_NEAR(a.failure[SPOT_FOUND].se, 0.25, 1e-15);
    assert_true(a.failure[SPOT_FOUND].n == 2 && a.failure[SPOT_FOUND].left_out == 2);
    spot_metric_summarise(&a, rates, NULL, 0);
    assert_true(isnan(a.dr.mean) && isnan(a.dr.se) && a.dr.n == 0);
    spot_metric_summarise(&a, rates, NULL, 1);
    assert_true(a.dr.mean == 1 && isnan(a.dr.se));
}
