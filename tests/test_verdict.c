/* test_verdict.c - verdicts from matrices: labels, splits, the baseline, the forest with its reasons and its range, on features
 * whose truth is known. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "check_folder.h"
#include "check_verdict.h"
#include "golden_text.h"

#include "background/verdict/verdict_reach.h"
#include "background/verdict/verdict_rows.h"
#include "spotter/verdict.h"

enum { MODELS = 48 };

/* ---- labels ---- */

TEST_IN_FOLDER(labels_are_voted_on)
{
    spot_ctx c = check_ctx(1);
    spot_verdict_table t = table_of(&c, 5, 1, 1);
    spot_verdict_labels l;
    const char *path = put_text("labels.csv",
        "rater,label,model\r\nann,invariant,model-00\nbob,Invariant,model-00\ncid,variant,model-00\n"
        "ann,invariant,model-01\nbob,borderline,model-01\ncid,variant,model-01\n"
        "ann,variant,\"model-02\"\nbob,variant,model-02\ncid,variant,model-02\n"
        "ann,invariant,model-03\nbob,variant,model-03\nann,variant,elsewhere\n");

    CHECK_OK(&c, spot_verdict_labels_read(&c, &l, &t, path));
    assert_int_equal(l.raters, 3);
    assert_int_equal(l.labelled, 4);
    assert_int_equal(l.ties, 2);
    assert_int_equal(l.others, 1);
    assert_int_equal(l.majority[0], SPOT_INVARIANT);
    assert_int_equal(l.majority[1], SPOT_BORDERLINE);
    assert_int_equal(l.majority[2], SPOT_VARIANT);
    assert_int_equal(l.majority[3], SPOT_BORDERLINE);          /* one against one */
    assert_int_equal(l.majority[4], -1);
    assert_true(l.tied[1] && l.tied[3] && !l.tied[0]);
    assert_int_equal(l.count[SPOT_BORDERLINE], 2);
    assert_int_equal(l.kappa_models, 3);
    /* P: 1/3, 0, 1; shares 3/9, 1/9, 5/9 */
    CHECK_NEAR(l.kappa, (4.0 / 9 - 35.0 / 81) / (1 - 35.0 / 81), 1e-12);
    spot_verdict_labels_free(&l);
    spot_verdict_table_free(&t);
}

TEST_IN_FOLDER(wrong_labels_are_refused_by_line)
{
    spot_ctx c = check_ctx(1);
    spot_verdict_table t = table_of(&c, 3, 1, 1);
    spot_verdict_labels l;

    CHECK_FAILS(&c, spot_verdict_labels_read(&c, &l, &t, put_text("a.csv", "model,rater,label\nmodel-00,a,good\n")),
                SPOT_INPUT, "labels.unknown: line 2 | \"good\"");
    CHECK_FAILS(&c, spot_verdict_labels_read(&c, &l, &t, put_text("b.csv",
                "model,rater,label\nmodel-00,a,variant\nmodel-00,a,variant\n")), SPOT_INPUT,
                "labels.twice: line 3 | -00");
    CHECK_FAILS(&c, spot_verdict_labels_read(&c, &l, &t, put_text("c.csv", "model,rater\nmodel-00,a\n")), SPOT_INPUT,
                "table.no_column: \"label\"");
    CHECK_FAILS(&c, spot_verdict_labels_read(&c, &l, &t, put_text("d.csv", "model,rater,label\nx,a,variant\n")), SPOT_INPUT,
                "labels.no_model: 3");
    CHECK_FAILS(&c, spot_verdict_labels_read(&c, &l, &t, put_text("e.csv", "")), SPOT_INPUT, "file.empty");
    CHECK_FAILS(&c, spot_verdict_labels_read(&c, &l, &t, "/nowhere/labels.csv"), SPOT_IO, "file.unopened: /nowhere/labels.csv");
    spot_verdict_table_free(&t);
}

static const spot_background_verdict *cuts(double invariant, double variant)
{
    static spot_background_verdict cfg = { .learned_invariant = 0.05, .learned_variant = 0.25 };

    cfg.invariant = invariant, cfg.variant = variant;
    return &cfg;
}

TEST(cuts_of_a_known_reliance_make_labels)
{
    spot_ctx c = check_ctx(1);
    spot_verdict_table t = table_of(&c, 6, 1, 1);              /* 0, .2, .4, .6, .8, 1 */
    spot_verdict_labels l;

    t.model[5].reliance[SPOT_TRUTH_PLANTED] = NAN;
    CHECK_OK(&c, spot_verdict_labels_cut(&c, &l, &t, SPOT_TRUTH_PLANTED, cuts(0.4, 0.8)));
    for (int i = 0; i < 5; i++)
        assert_int_equal(l.majority[i], i < 2 ? SPOT_INVARIANT : i < 4 ? SPOT_BORDERLINE : SPOT_VARIANT);
    assert_int_equal(l.majority[5], -1);
    assert_int_equal(l.labelled, 5);
    assert_true(isnan(l.kappa));
    assert_non_null(strstr(l.source, "planted reliance (share of "));
    assert_non_null(strstr(l.source, "class): invariant below 0.4, variant from 0.8"));
    spot_verdict_labels_free(&l);
    CHECK_FAILS(&c, spot_verdict_labels_cut(&c, &l, &t, SPOT_TRUTH_PLANTED, cuts(0.5, 0.4)), SPOT_USAGE,
                "verdict.thresholds");
    for (int i = 0; i < 6; i++) t.model[i].reliance[SPOT_TRUTH_LEARNED] = i < 2 ? NAN : i < 4 ? 0.04 : 0.3;
    CHECK_OK(&c, spot_verdict_labels_cut(&c, &l, &t, SPOT_TRUTH_LEARNED, cuts(0.4, 0.8)));       /* learned: 0.05 and 0.25 */
    assert_true(l.majority[1] == -1 && l.majority[2] == SPOT_INVARIANT && l.majority[5] == SPOT_VARIANT);
    assert_int_equal(l.labelled, 4);
    assert_string_equal(l.rater[0], "learned");
    spot_verdict_labels_free(&l);
    spot_verdict_table_free(&t);
}

/* ---- the table ---- */

TEST(models_that_do_not_compare_are_refused_together)
{
    spot_ctx c = check_ctx(1);
    spot_verdict_table t = table_of(&c, 2, SPOT_BACKGROUND_MATRICES, 1);
    spot_verdict_model m = model_of(2, 3, 1);

    CHECK_FAILS(&c, spot_verdict_table_put(&c, &t, &m, 1), SPOT_INPUT,
                "verdict.model_matrices: model-00 | 4 | model-02 | 1 | 4");
    m.feature[17] = NAN;
    CHECK_FAILS(&c, spot_verdict_table_put(&c, &t, &m, SPOT_BACKGROUND_MATRICES), SPOT_INPUT,
                "verdict.value: model-02 | neurons");
    m = t.model[1];
    CHECK_FAILS(&c, spot_verdict_table_put(&c, &t, &m, SPOT_BACKGROUND_MATRICES), SPOT_INPUT, "verdict.name_twice: model-01");
    strcpy(t.model[0].identity, "abc"), strcpy(m.identity, "abc"), strcpy(m.name, "again");
    CHECK_FAILS(&c, spot_verdict_table_put(&c, &t, &m, SPOT_BACKGROUND_MATRICES), SPOT_INPUT,
                "verdict.model_twice: model-00 | again");
    assert_int_equal(t.models, 2);
    spot_verdict_table_free(&t);
}

/* ---- the baseline ---- */

/* All pairs of cuts, without the sums of verdict_splits.c. */
static int most_right(const double *worst, const uint8_t *label, int n)
{
    int most = -1;

    for (int a = 0; a <= n; a++)
        for (int b = 0; b <= n; b++) {
            const double low = a < n ? worst[a] : INFINITY, high = b < n ? worst[b] : INFINITY;
            int right = 0;
            for (int i = 0; i < n; i++)
                right += label[i] == (worst[i] < low ? SPOT_VARIANT : worst[i] < high ? SPOT_BORDERLINE : SPOT_INVARIANT);
            if (low <= high && right > most) most = right;
        }
    return most;
}

TEST(cuts_of_worst_case_accuracy_are_the_best_ones)
{
    spot_ctx c = check_ctx(1);
    double worst[20];
    uint8_t label[20];
    spot_worst_cuts cuts;

    for (int round = 0; round < 200; round++) {
        spot_rng r = spot_rng_at(7, SPOT_RNG_PLANT, 0, (uint32_t)round);
        const int n = 1 + (int)spot_rng_below(&r, 20);
        int right = 0;
        for (int i = 0; i < n; i++) worst[i] = spot_rng_below(&r, 8) / 8.0, label[i] = (uint8_t)spot_rng_below(&r, 3);
        CHECK_OK(&c, spot_worst_cuts_fit(&c, &cuts, worst, label, n));
        for (int i = 0; i < n; i++) right += spot_worst_cuts_label(&cuts, worst[i]) == label[i];
        assert_int_equal(right, cuts.right);
        assert_int_equal(right, most_right(worst, label, n));
    }
}

TEST(of_equal_cuts_the_lowest_are_taken)
{
    spot_ctx c = check_ctx(1);
    const double worst[] = { 0.1, 0.3, 0.5 };
    const uint8_t none[] = { SPOT_INVARIANT, SPOT_INVARIANT, SPOT_INVARIANT };
    const uint8_t all[] = { SPOT_VARIANT, SPOT_BORDERLINE, SPOT_INVARIANT };
    spot_worst_cuts cuts;

    CHECK_OK(&c, spot_worst_cuts_fit(&c, &cuts, worst, none, 3));
    assert_true(cuts.low == -INFINITY && cuts.high == -INFINITY);
    CHECK_OK(&c, spot_worst_cuts_fit(&c, &cuts, worst, all, 3));
    CHECK_NEAR(cuts.low, 0.2, 1e-12);
    CHECK_NEAR(cuts.high, 0.4, 1e-12);
}

/* ---- splits ---- */

/* Every tested model is in the confusion; the judged ones are in steps of the vote, and surer votes are more often right. */
static void check_counts(const spot_verdict_scores *s, const spot_verdict_labels *l, uint64_t seed)
{
    int tested = 0, right = 0, judged = 0, sure = 0, of[SPOT_BACKGROUND_LABELS] = { 0 };
    uint32_t order[MODELS];

    for (int i = 0; i < s->splits; i++)
        for (int k = spot_split_rows(order, MODELS, (spot_seed){ seed, 0 }, i); k < MODELS; k++) of[l->majority[order[k]]]++;
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) {
        const int *n = s->assessor[SPOT_ASSESSOR_WORST].confusion[k];
        assert_int_equal(n[0] + n[1] + n[2], of[k]);
    }

    for (int j = 0; j < SPOT_BACKGROUND_LABELS; j++)
        for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) tested += s->assessor[SPOT_ASSESSOR_FOREST].confusion[j][k];
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) right += s->assessor[SPOT_ASSESSOR_FOREST].confusion[k][k];
    assert_int_equal(tested, s->splits * s->test);
    CHECK_NEAR((double)right / tested, s->assessor[SPOT_ASSESSOR_FOREST].of_accuracy.mean, 1e-12);
    for (int i = 0; i < SPOT_VERDICT_VOTES; i++) judged += s->sure[i].models, sure += s->sure[i].right;
    assert_true(judged == s->judged && sure == s->judged_right);
    assert_true(judged > 0.85 * tested && judged <= tested);
    assert_true((double)s->sure[4].right * s->sure[0].models > (double)s->sure[0].right * s->sure[4].models);
}

static void check_learned(spot_ctx *c, const spot_verdict_table *t, const spot_verdict_labels *l)
{
    spot_verdict_scores s, two;
    spot_interval rho;
    double truth[MODELS];
    spot_ctx other = check_ctx(2);

    CHECK_OK(c, spot_verdict_try(c, &s, t, l, 10, 3));
    assert_int_equal(s.train, 32);
    assert_int_equal(s.test, 16);
    assert_true(s.assessor[SPOT_ASSESSOR_FOREST].of_accuracy.mean > 0.75);
    assert_true(s.assessor[SPOT_ASSESSOR_FOREST].of_accuracy.mean > s.assessor[SPOT_ASSESSOR_WORST].of_accuracy.mean);
    CHECK_NEAR(s.gain.mean,
               s.assessor[SPOT_ASSESSOR_FOREST].of_accuracy.mean - s.assessor[SPOT_ASSESSOR_WORST].of_accuracy.mean, 1e-12);
    check_counts(&s, l, 3);
    for (int i = 0; i < MODELS; i++) truth[i] = t->model[i].reliance[SPOT_TRUTH_PLANTED];
    CHECK_OK(c, spot_rank_correlation(c, &rho, s.held_out, truth, MODELS, 1));
    assert_true(rho.value > 0.8 && rho.low > 0.6 && rho.high <= 1);
    CHECK_OK(&other, spot_verdict_try(&other, &two, t, l, 10, 3));
    for (int i = 0; i < 10; i++) {
        assert_true(s.assessor[0].accuracy[i] == two.assessor[0].accuracy[i]);
        assert_true(s.assessor[1].accuracy[i] == two.assessor[1].accuracy[i]);
    }
    spot_verdict_scores_free(&s);
    spot_verdict_scores_free(&two);
}

/* Labels that have nothing to do with the features are not learned: each third of the models is as likely as any. */
static void check_not_learned(spot_ctx *c, const spot_verdict_table *t, spot_verdict_labels *l)
{
    spot_rng r = spot_rng_at(5, SPOT_RNG_SHUFFLE, 0, 0);
    int8_t from[MODELS];
    uint32_t order[MODELS];
    spot_verdict_scores s;

    spot_rng_shuffle(&r, order, MODELS);
    memcpy(from, l->majority, sizeof from);
    for (int i = 0; i < MODELS; i++) l->majority[i] = from[order[i]];
    CHECK_OK(c, spot_verdict_try(c, &s, t, l, 10, 3));
    for (int a = 0; a < SPOT_ASSESSORS; a++) assert_true(s.assessor[a].of_accuracy.mean < 0.6);
    assert_true(fabs(s.assessor[SPOT_ASSESSOR_FOREST].of_kappa.mean) < 0.35);
    spot_verdict_scores_free(&s);
}

TEST(a_forest_learns_what_the_features_know)
{
    spot_ctx c = check_ctx(1);
    spot_verdict_table t = table_of(&c, MODELS, SPOT_BACKGROUND_MATRICES, 1);
    spot_verdict_labels l;

    CHECK_OK(&c, spot_verdict_labels_cut(&c, &l, &t, SPOT_TRUTH_PLANTED, cuts(1.0 / 3, 2.0 / 3)));
    check_learned(&c, &t, &l);
    check_not_learned(&c, &t, &l);
    spot_verdict_labels_free(&l);
    spot_verdict_table_free(&t);
}

TEST(nothing_is_learned_from_too_little)
{
    spot_ctx c = check_ctx(1);
    spot_verdict_table t = table_of(&c, 6, 1, 1);
    spot_verdict_labels l;
    spot_verdict_scores s;

    CHECK_OK(&c, spot_verdict_labels_cut(&c, &l, &t, SPOT_TRUTH_PLANTED, cuts(1, 1)));
    l.majority[5] = -1, l.labelled = 5, l.count[SPOT_VARIANT] = 0;
    CHECK_FAILS(&c, spot_verdict_try(&c, &s, &t, &l, 10, 1), SPOT_INPUT, "verdict.few_labels: 5 | 6");
    l.majority[5] = SPOT_INVARIANT, l.labelled = 6;
    CHECK_FAILS(&c, spot_verdict_try(&c, &s, &t, &l, 10, 1), SPOT_INPUT, "verdict.one_label: all 6 | invariant");
    l.majority[5] = SPOT_VARIANT, l.count[SPOT_VARIANT] = 1;
    CHECK_OK(&c, spot_verdict_try(&c, &s, &t, &l, 10, 1));     /* some training parts have one label only */
    assert_int_equal(s.test, 2);
    assert_true(s.assessor[SPOT_ASSESSOR_FOREST].of_kappa.n < 10);
    spot_verdict_scores_free(&s);
    spot_verdict_labels_free(&l);
    spot_verdict_table_free(&t);
}

/* ---- verdicts ---- */

typedef struct { spot_verdict_table t; spot_verdict_labels l; spot_forest f; } trained;

static trained train(spot_ctx *c, int matrices)
{
    trained w = { .t = table_of(c, MODELS, matrices, 1) };

    CHECK_OK(c, spot_verdict_labels_cut(c, &w.l, &w.t, SPOT_TRUTH_PLANTED, cuts(1.0 / 3, 2.0 / 3)));
    CHECK_OK(c, spot_verdict_train(c, &w.f, &w.t, &w.l, 1));
    return w;
}

static void untrain(trained *w)
{
    spot_forest_close(&w->f);
    spot_verdict_labels_free(&w->l);
    spot_verdict_table_free(&w->t);
}

/* A model as one of those in the middle of a label, but for nothing. */
static spot_verdict_model like(const spot_verdict_table *t, int i, const char *name)
{
    spot_verdict_model m = t->model[i];

    snprintf(m.name, sizeof m.name, "%s", name);
    return m;
}

TEST(a_verdict_has_reasons)
{
    spot_ctx c = check_ctx(1);
    trained w = train(&c, SPOT_BACKGROUND_MATRICES);
    spot_verdict_table t = { .measured = "grid 8" };
    const spot_verdict_model a = like(&w.t, 4, "steady"), b = like(&w.t, 44, "leaning");
    spot_model_verdict v[2];
    char words[1000];

    CHECK_OK(&c, spot_verdict_table_put(&c, &t, &a, SPOT_BACKGROUND_MATRICES));
    CHECK_OK(&c, spot_verdict_table_put(&c, &t, &b, SPOT_BACKGROUND_MATRICES));
    CHECK_OK(&c, spot_verdict_give(&c, v, &w.f, &t));
    assert_int_equal(v[0].label, SPOT_INVARIANT);
    assert_int_equal(v[1].label, SPOT_VARIANT);
    CHECK_NEAR(v[0].share[0] + v[0].share[1] + v[0].share[2], 1, 1e-9);
    assert_int_equal(v[0].reasons, SPOT_VERDICT_REASONS);
    for (int i = 0; i < SPOT_VERDICT_REASONS; i++) {
        assert_int_equal(v[1].reason[i].feature % 2, 0);       /* the others are noise */
        assert_true(v[1].reason[i].effect > 0 && (!i || v[1].reason[i].effect <= v[1].reason[i - 1].effect));
    }
    assert_true(v[0].known);
    spot_verdict_words(words, sizeof words, &v[1]);
    assert_memory_equal(words, "variant, with ", 14);
    assert_non_null(strstr(words, " % of the vote (the forest was trained on this very model); for it: "));
    assert_int_equal(strlen(spot_verdict_words(words, 20, &v[1])), 19);
    spot_verdict_table_free(&t);
    untrain(&w);
}

/* The verdict on a model, alone. */
static spot_model_verdict judge(spot_ctx *c, const trained *w, spot_verdict_model m)
{
    spot_verdict_table t = { .measured = "grid 8" };
    spot_model_verdict v;

    snprintf(m.name, sizeof m.name, "odd");
    CHECK_OK(c, spot_verdict_table_put(c, &t, &m, w->t.features / SPOT_BACKGROUND_FEATURES));
    CHECK_OK(c, spot_verdict_give(c, &v, &w->f, &t));
    spot_verdict_table_free(&t);
    return v;
}

/* New models of the same kind are judged, nearly all of them; half a spread beyond one range is no reason to refuse one. */
TEST(models_like_those_of_the_training_are_judged)
{
    spot_ctx c = check_ctx(1);
    trained w = train(&c, SPOT_BACKGROUND_MATRICES);
    spot_verdict_model m = w.t.model[20];
    int judged = 0;

    for (int i = 0; i < MODELS; i++) {
        const spot_model_verdict v = judge(&c, &w, model_of(i, MODELS, 2));
        judged += v.label >= 0;
        assert_true(v.reach.within == (v.label >= 0) && v.reach.within == (v.reach.distance <= v.reach.limit) && !v.known);
    }
    assert_true(judged >= MODELS - 5);
    m.feature[3] = nextafterf(w.f.most[3], INFINITY), m.feature[0] = w.f.least[0] - 0.4f * (w.f.most[0] - w.f.least[0]);
    assert_true(judge(&c, &w, m).label >= 0);
    untrain(&w);
}

static void check_refused(spot_ctx *c, const trained *w, const spot_verdict_model *m, const char *part)
{
    const spot_model_verdict v = judge(c, w, *m);
    char words[1000];

    assert_int_equal(v.label, -1);
    assert_true(isnan(v.share[0]) && !v.reasons && !v.reach.within);
    spot_verdict_words(words, sizeof words, &v);
    if (!strstr(words, part)) fail_msg("\"%s\" does not say \"%s\"", words, part);
}

/* Features of another scale or sign, and extremes that do not go together; a model that is mostly wrong. */
TEST(no_verdict_on_models_of_another_kind)
{
    spot_ctx c = check_ctx(1);
    trained w = train(&c, SPOT_BACKGROUND_MATRICES);
    spot_verdict_model scaled = w.t.model[30], turned = w.t.model[47], mixed = w.t.model[30], poor = w.t.model[30];

    for (int k = 0; k < SPOT_VERDICT_FEATURES; k++) {
        scaled.feature[k] *= 8, turned.feature[k] *= -1;
        mixed.feature[k] = k % 4 ? w.f.least[k] : w.f.most[k];
    }
    check_refused(&c, &w, &scaled, "the forest has not seen such a model: it is ");
    check_refused(&c, &w, &scaled, " times as far from the nearest models of the training as is usual, most by ");
    check_refused(&c, &w, &turned, "(they have ");
    check_refused(&c, &w, &mixed, "most by ");
    poor.accuracy = 0.79;          /* the training has 0.9 */
    check_refused(&c, &w, &poor, "it is right on 79 % of the originals, those of the training are on 90 % or more");
    poor.accuracy = 0.81;
    assert_true(judge(&c, &w, poor).label >= 0);
    poor.accuracy = NAN;
    assert_int_equal(judge(&c, &w, poor).label, -1);
    untrain(&w);
}

/* The feature that is odd stands first, beside the values of its nearest models. */
TEST(a_refusal_names_what_is_odd)
{
    spot_ctx c = check_ctx(1);
    trained w = train(&c, 1);
    spot_verdict_model m = w.t.model[20];
    spot_model_verdict v;

    for (int k = 0; k < 4; k++) m.feature[k] = w.f.most[k] + 50 * (w.f.most[k] - w.f.least[k]);
    m.feature[2] += 1e6f;
    v = judge(&c, &w, m);
    assert_true(v.label == -1 && v.reach.oddities == SPOT_VERDICT_REASONS);
    for (int i = 0; i < SPOT_VERDICT_REASONS; i++) {
        const spot_verdict_oddity o = v.reach.oddity[i];
        assert_true(o.feature < 4 && o.value == m.feature[o.feature] && o.least <= o.most && o.most < o.value);
        assert_true(o.part > 0.1 && o.part < 1 && (!i || o.part <= v.reach.oddity[i - 1].part));
    }
    untrain(&w);
}

/* The limit by hand: five models of one feature, each a group, whose distances to the others are plain. */
TEST(the_limit_is_that_of_the_training)
{
    spot_ctx c = check_ctx(1);
    const float x[] = { 0, 1, 2, 3, 4 }, accuracy[] = { 0.5f, 0.6f, 0.7f, 0.8f, 0.9f };
    const int group[] = { 0, 1, 2, 3, 4 };
    const spot_reach_models of = { 5, 1, x, accuracy, group };
    spot_verdict_reach *reach;
    spot_verdict_distance d;

    CHECK_OK(&c, spot_verdict_reach_open(&c, &reach, &of));
    spot_verdict_reach_find(reach, &d, (float[]){ 2 }, 0.7);
    CHECK_NEAR(d.distance, (0 + 0.2 + 0.2) / 3, 1e-12);        /* places .1, .3, .5, .7, .9 */
    /* 0 among 1 to 4: the place of 1, .125, less 1 of a spread of 2.4; the three nearest stand at .125, .375, .625 */
    CHECK_NEAR(d.limit, 1 / 2.4 + 0.25, 1e-12);
    assert_true(d.within && d.oddity[0].least == 1 && d.oddity[0].most == 3);
    CHECK_NEAR(d.least_accuracy, 0.5, 1e-6);
    spot_verdict_reach_find(reach, &d, (float[]){ 1e9f }, 0.7);
    CHECK_NEAR(d.distance, SPOT_REACH_BEYOND + 0.2, 1e-12);
    assert_false(d.within);
    spot_verdict_reach_close(reach);
}

/* ---- how sure ---- */

TEST(a_verdict_says_how_often_such_votes_are_right)
{
    spot_ctx c = check_ctx(1);
    trained w = train(&c, SPOT_BACKGROUND_MATRICES);
    const spot_model_verdict v = judge(&c, &w, model_of(45, MODELS, 2));
    int models = 0, right = 0;
    char words[1000], part[100];

    assert_true(v.label == SPOT_VARIANT && v.sure.models > 0);
    for (int i = 0; i < MODELS; i++) {
        const double *own = w.f.kept.share + 3 * i, most = fmax(own[0], fmax(own[1], own[2]));
        uint8_t label;
        spot_forest_classes(&label, own, 1, 3);
        if (spot_verdict_vote_step(most) != spot_verdict_vote_step(v.share[SPOT_VARIANT])) continue;
        models++, right += label == w.l.majority[i];
    }
    assert_true(v.sure.models == models && v.sure.right == right);
    snprintf(part, sizeof part, "(such votes were right for %d of %d models not trained on)", right, models);
    assert_non_null(strstr(spot_verdict_words(words, sizeof words, &v), part));
    assert_true(spot_verdict_vote_step(0.4) == 0 && spot_verdict_vote_step(0.5) == 1 && spot_verdict_vote_step(0.59) == 1);
    assert_true(spot_verdict_vote_step(0.9) == 5 && spot_verdict_vote_step(1) == 5);
    assert_non_null(strstr(spot_verdict_words(words, sizeof words, &(spot_model_verdict){ .label = 1, .known = true }),
                           "trained on this very model"));
    untrain(&w);
}

TEST(forests_of_other_features_are_refused)
{
    spot_ctx c = check_ctx(1);
    trained w = train(&c, SPOT_BACKGROUND_MATRICES);
    spot_verdict_table one = table_of(&c, 2, 1, 1);
    spot_model_verdict v[MODELS];

    CHECK_FAILS(&c, spot_verdict_give(&c, v, &w.f, &one), SPOT_INPUT, "verdict.features: with");
    strcpy(w.t.measured, "grid 16");
    CHECK_FAILS(&c, spot_verdict_give(&c, v, &w.f, &w.t), SPOT_INPUT, "verdict.matrices: grid 8 | grid 16");
    strcpy(w.t.measured, "grid 8");
    CHECK_OK(&c, spot_verdict_give(&c, v, &w.f, &w.t));
    assert_true(v[0].known);
    spot_verdict_table_free(&one);
    untrain(&w);
}

TEST_IN_FOLDER(a_forest_is_kept_in_a_file)
{
    spot_ctx c = check_ctx(1);
    trained w = train(&c, 1);
    spot_model_verdict a[MODELS], b[MODELS];
    spot_forest f;

    const char *path = in_root("forest.safetensors");
    assert_non_null(strstr(w.f.about, "trained on 48 models (16 invariant, 16 borderline, 16 variant; planted reliance"));
    CHECK_OK(&c, spot_forest_save(&c, &w.f, path));
    CHECK_OK(&c, spot_verdict_forest_open(&c, &f, path));
    assert_string_equal(f.about, w.f.about);
    CHECK_OK(&c, spot_verdict_give(&c, a, &w.f, &w.t));
    CHECK_OK(&c, spot_verdict_give(&c, b, &f, &w.t));
    for (int i = 0; i < MODELS; i++) {
        assert_int_equal(a[i].label, b[i].label);
        assert_memory_equal(a[i].share, b[i].share, sizeof a[i].share);
    }
    free(f.feature_name[3]);
    f.feature_name[3] = strdup("other");
    CHECK_OK(&c, spot_forest_save(&c, &f, path));
    spot_forest_close(&f);
    CHECK_FAILS(&c, spot_verdict_forest_open(&c, &f, path), SPOT_INPUT, "verdict.feature: feature 3 | \"other\" | confidence:");
    CHECK_FAILS(&c, spot_verdict_forest_open(&c, &f, put_text("x.safetensors", "no forest")), SPOT_INPUT,
                "safetensors.header_length: x.safetensors");
    untrain(&w);
}

TEST(the_forest_of_the_build_is_whole_or_absent)
{
    spot_ctx c = check_ctx(1);
    spot_forest f;

    if (!spot_default_forest_size)
        CHECK_FAILS(&c, spot_verdict_forest_open(&c, &f, ""), SPOT_INPUT, "verdict.no_forest: spotter verdict --train");
    else CHECK_OK(&c, spot_verdict_forest_open(&c, &f, ""));
    spot_forest_close(&f);
}

/* ---- rank correlation ---- */

/* scipy.stats.spearmanr (tools/golden/verdict.py); about a tenth of the values are tied. */
TEST(ranks_correlate_as_scipy_says)
{
    double number[400];
    const int numbers = golden_numbers("golden/verdict.txt", number, LEN(number));
    spot_ctx c = check_ctx(1);
    spot_interval rho;
    int cases = 0;

    for (const double *at = number; at < number + numbers; cases++) {
        const int n = (int)at[0];
        const double *x = at + 1, *y = x + n, *truth = y + n;
        CHECK_OK(&c, spot_rank_correlation(&c, &rho, x, y, n, 1));
        CHECK_NEAR(rho.value, truth[0], 1e-12);
        CHECK_NEAR(rho.low, truth[1], 0.06);           /* other draws, and 2,000 of them */
        CHECK_NEAR(rho.high, truth[2], 0.06);
        at = truth + 3;
    }
    assert_int_equal(cases, 4);
}

TEST(ranks_of_nothing_have_no_correlation)
{
    spot_ctx c = check_ctx(1);
    const double x[] = { 1, NAN, 3, 4 }, y[] = { 2, 7, NAN, 1 }, same[] = { 5, 5, 5, 5 };
    spot_interval rho;

    CHECK_OK(&c, spot_rank_correlation(&c, &rho, x, y, 4, 1));
    CHECK_NEAR(rho.value, -1, 1e-12);              /* two whole pairs */
    CHECK_OK(&c, spot_rank_correlation(&c, &rho, x, same, 4, 1));
    assert_true(isnan(rho.value) && isnan(rho.low));
    CHECK_OK(&c, spot_rank_correlation(&c, &rho, x, y, 0, 1));
    assert_true(isnan(rho.value));
}
