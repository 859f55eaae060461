/* test_examine_compare.c - two versions of a model: verdicts on results of known change, nights of equal code, odd runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "spotter/rng.h"
#include "versions/versions_examine.h"

enum { OBJECTS = 10, SEEDS = 3, EXAMINERS = 4, NUMBERS = 3 };

static const double MARGIN = 0.05;

/* A run of one model. Each object has its own p; a search adds noise; `change` is of the model. */
static void make_run(spot_examine_results *r, spot_ctx *c, int objects, uint32_t night, double change)
{
    static const char config[] =
        "study: examine\n"
        "objects: {catalogue: x, choice: first, per_class: 1}\n"
        "search: {renders: 100, points: \"100\"}\n"
        "classes: [{name: a}, {name: b}]\n"
        "models: [{name: one, command: x}]\n"
        "examiners: [{method: random}, {method: cem}, {method: cma}, {method: local}]\n";

    *r = (spot_examine_results){ .cfg = calloc(1, sizeof *r->cfg), .objects = objects, .units = EXAMINERS * SEEDS * objects };
    CHECK_OK(c, spot_examine_parse(c, r->cfg, config, sizeof config - 1, "test"));
    r->unit = calloc((size_t)r->units, sizeof *r->unit);
    for (int u = 0; u < r->units; u++) {
        const int object = u % objects;
        spot_rng known = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 77, (uint32_t)object);
        spot_rng noise = spot_rng_at(night, SPOT_RNG_BOOTSTRAP, 78, (uint32_t)u);
        const double p = 0.2 + 0.4 * spot_rng_uniform(&known);
        spot_examine_point *last = &r->unit[u].point[0];
        r->unit[u].index = u, r->unit[u].points = 1;
        r->unit[u].examiner = u / objects / SEEDS, r->unit[u].seed = u / objects % SEEDS;
        snprintf(r->unit[u].object, sizeof r->unit[u].object, "object %d", object);
        last->mean = p + change + 0.15 * (spot_rng_uniform(&noise) - 0.5);
        last->lowest = last->lowest_valid = p / 2 + change + 0.15 * (spot_rng_uniform(&noise) - 0.5);
        last->robust = p / 2 + 0.05 + change + 0.15 * (spot_rng_uniform(&noise) - 0.5);
    }
}

/* k keeps its changes until it is closed, values do not. */
static spot_status compare_runs(spot_ctx *c, spot_model_comparison *k, const spot_examine_results runs[SPOT_VERSIONS],
                                double margin)
{
    static const int first[SPOT_VERSIONS] = { 0, 0 };
    spot_version_values v[SPOT_VERSIONS] = { 0 };
    spot_status s = spot_examine_version_values(c, v, runs, first);

    *k = (spot_model_comparison){ 0 };
    if (s == SPOT_OK) s = spot_model_values_compare(c, k, &spot_examine_versions.words, v, margin);
    spot_memory_close(&v[0].memory), spot_memory_close(&v[1].memory);
    return s;
}

static spot_model_comparison compare_at(spot_ctx *c, int objects, uint32_t first, uint32_t second, double change, double margin)
{
    spot_examine_results runs[SPOT_VERSIONS];
    spot_model_comparison k;

    make_run(&runs[0], c, objects, first, 0), make_run(&runs[1], c, objects, second, change);
    CHECK_OK(c, compare_runs(c, &k, runs, margin));
    spot_examine_close(&runs[0]), spot_examine_close(&runs[1]);
    return k;
}

static spot_model_comparison compare(spot_ctx *c, int objects, uint32_t first, uint32_t second, double change)
{
    return compare_at(c, objects, first, second, change, MARGIN);
}

TEST(the_same_run_is_the_same)
{
    spot_ctx c = check_ctx(1);
    spot_model_comparison k = compare(&c, OBJECTS, 5, 5, 0);

    assert_int_equal(k.changes, NUMBERS * EXAMINERS);
    assert_int_equal(k.objects, OBJECTS);
    assert_false(k.failed);
    for (int i = 0; i < k.changes; i++) {
        assert_true(k.change[i].p_worse == 1 && k.change[i].p_better == 1 && k.change[i].verdict == SPOT_CHANGE_SAME);
        assert_true(!k.change[i].worse && !k.change[i].better && k.change[i].change.value == 0);
        assert_int_equal(k.change[i].objects, OBJECTS);
    }
    spot_memory_close(&k.memory);
}

TEST(a_fall_is_worse_and_a_rise_is_better)
{
    spot_ctx c = check_ctx(1);
    spot_model_comparison worse = compare(&c, OBJECTS, 5, 6, -0.15), better = compare(&c, OBJECTS, 5, 6, 0.15);

    assert_true(worse.failed);
    assert_false(better.failed);
    for (int i = 0; i < worse.changes; i++) {
        assert_true(worse.change[i].verdict == SPOT_CHANGE_WORSE);
        assert_true(worse.change[i].worse >= OBJECTS - 1);
        assert_true(better.change[i].verdict == SPOT_CHANGE_BETTER);
        CHECK_NEAR(worse.change[i].change.value, -0.15, 0.06);
        assert_true(worse.change[i].change.low < -0.15 + 0.06 && worse.change[i].change.high > -0.15 - 0.06);
        CHECK_NEAR(worse.change[i].now - worse.change[i].before, worse.change[i].change.value, 1e-12);
    }
    spot_memory_close(&worse.memory), spot_memory_close(&better.memory);
}

typedef struct { int failed, better, same; } night_count;         /* nights with such a verdict anywhere */

static night_count count_nights(spot_ctx *c, int nights, double change, double margin)
{
    night_count n = { 0 };

    for (uint32_t night = 0; night < (uint32_t)nights; night++) {
        spot_model_comparison k = compare_at(c, OBJECTS, 1000 + 2 * night, 1001 + 2 * night, change, margin);
        bool better = false, same = false;
        for (int i = 0; i < k.changes; i++)
            better |= k.change[i].verdict == SPOT_CHANGE_BETTER, same |= k.change[i].verdict == SPOT_CHANGE_SAME;
        n.failed += k.failed, n.better += better, n.same += same;
        spot_memory_close(&k.memory);
    }
    return n;
}

/* Nights of other noise, of which one in 20 may fail by chance. Equal code, where any change counts, and with the margin; code
 * that is worse, or better, by the margin itself. */
TEST(nights_without_a_change_beyond_the_margin_do_not_fail)
{
    spot_ctx c = check_ctx(1);
    const night_count any = count_nights(&c, 60, 0, 0), equal = count_nights(&c, 20, 0, MARGIN),
                      worse = count_nights(&c, 60, -MARGIN, MARGIN), better = count_nights(&c, 20, MARGIN, MARGIN);

    assert_true(any.failed <= 3 && any.better <= 3);
    assert_true(!equal.failed && !equal.better && equal.same >= 17);
    assert_true(worse.failed <= 3 && worse.same <= 3 && !worse.better);
    assert_true(better.better <= 1 && !better.failed);
}

/* A small fall is worse where any change counts, and nothing with the margin. */
TEST(the_margin_enters_the_test)
{
    enum { MANY = 60 };
    spot_ctx c = check_ctx(1);
    spot_model_comparison any = compare_at(&c, MANY, 5, 6, -0.025, 0), with = compare_at(&c, MANY, 5, 6, -0.025, MARGIN);

    assert_true(any.failed && !with.failed);
    for (int i = 0; i < any.changes; i++) {
        assert_int_equal(any.change[i].verdict, SPOT_CHANGE_WORSE);
        assert_int_equal(with.change[i].verdict, SPOT_CHANGE_SAME);
        assert_true(with.change[i].change.high < 0 && with.change[i].needed == 0);
    }
    spot_memory_close(&any.memory), spot_memory_close(&with.memory);
}

/* One quantity of n objects, of which `fell` fell from 1 to 0 and the others are 1. */
static spot_model_change change_of(spot_ctx *c, spot_model_scale scale, int sign, int n, int fell)
{
    static const spot_model_words words = { .objects = "targets" };
    spot_version_values v[SPOT_VERSIONS] = { 0 };
    spot_model_comparison k = { 0 };
    spot_model_change x;

    for (int u = 0; u < SPOT_VERSIONS; u++) {
        CHECK_OK(c, spot_version_values_open(c, &v[u], n, 1));
        v[u].quantity->sign = sign, v[u].quantity->scale = scale;
        for (int i = 0; i < n; i++) {
            snprintf(v[u].id[i], sizeof v[u].id[i], "%d", i);
            *spot_version_value(&v[u], 0, i) = u == 0 || i >= fell;
        }
    }
    CHECK_OK(c, spot_model_values_compare(c, &k, &words, v, MARGIN));
    assert_true(k.pending == (sign && k.change->verdict == SPOT_CHANGE_PENDING));
    x = *k.change;
    spot_memory_close(&k.memory), spot_memory_close(&v[0].memory), spot_memory_close(&v[1].memory);
    return x;
}

/* 40 unchanged answers do not show that fewer than 5 % change (.95^40 = .13), 80 do; nor do 40 shares that may change as a
 * whole. Falls are worse, better, or neither. */
TEST(answers_shares_and_directions)
{
    spot_ctx c = check_ctx(1);

    for (spot_model_scale s = SPOT_MODEL_ANSWER; s <= SPOT_MODEL_SHARE; s++) {
        spot_model_change few = change_of(&c, s, 1, 40, 0), many = change_of(&c, s, 1, 80, 0),
                          fall = change_of(&c, s, 1, 80, 20), good = change_of(&c, s, -1, 80, 20),
                          shown = change_of(&c, s, 0, 80, 20);
        assert_true(few.verdict == SPOT_CHANGE_PENDING && few.needed > 40 && many.verdict == SPOT_CHANGE_SAME);
        assert_true(fall.verdict == SPOT_CHANGE_WORSE && fall.worse == 20 && fall.change.value == -0.25);
        assert_true(fall.change.low < -0.25 && fall.change.high > -0.25 && fall.change.high < -MARGIN);
        assert_true(good.verdict == SPOT_CHANGE_BETTER && good.better == 20 && good.change.value == -0.25);
        CHECK_NEAR(good.change.low, fall.change.low, 1e-9);
        CHECK_NEAR(good.p_better, fall.p_worse, 1e-9);
        assert_string_equal(spot_model_change_word(&shown), "only shown");
        assert_true(isnan(shown.p_worse) && shown.worse == 20 && shown.now == 0.75 && shown.needed == 0);
    }
}

TEST(few_objects_show_nothing)
{
    spot_ctx c = check_ctx(1);
    spot_model_comparison few = compare(&c, 4, 5, 6, -0.3), enough = compare(&c, OBJECTS, 5, 6, -0.3);

    assert_false(few.failed);
    assert_true(few.least_p >= 0.05 && enough.least_p < 0.05);
    spot_memory_close(&few.memory), spot_memory_close(&enough.memory);
}

TEST(runs_that_cannot_be_compared)
{
    spot_ctx c = check_ctx(1);
    spot_examine_results runs[SPOT_VERSIONS], *a = &runs[0], *b = &runs[1];
    spot_model_comparison k;

    make_run(a, &c, OBJECTS, 1, 0), make_run(b, &c, OBJECTS, 2, 0);
    b->cfg->search.seed = 9;
    CHECK_FAILS(&c, compare_runs(&c, &k, runs, MARGIN), SPOT_INPUT, "versions.other_config: search.seed | 1 | 9");
    b->cfg->search.seed = 1;
    for (int u = 0; u < b->units; u++) strcat(b->unit[u].object, " of another catalogue");
    CHECK_FAILS(&c, compare_runs(&c, &k, runs, MARGIN), SPOT_INPUT, "versions.objects: objects");
    spot_memory_close(&k.memory);
    for (int u = 0; u < b->units; u++)                                 /* half of them are the same */
        if (u % OBJECTS < OBJECTS / 2) strcpy(b->unit[u].object, a->unit[u].object);
    CHECK_OK(&c, compare_runs(&c, &k, runs, MARGIN));
    assert_int_equal(k.objects, OBJECTS / 2);
    assert_int_equal(k.left_out, OBJECTS);
    spot_memory_close(&k.memory);
    for (int u = 0; u < b->units; u++) b->unit[u].point[0].robust = NAN;       /* nothing was perturbed */
    CHECK_OK(&c, compare_runs(&c, &k, runs, MARGIN));
    assert_int_equal(k.changes, 2 * EXAMINERS);
    spot_memory_close(&k.memory);
    spot_examine_close(a), spot_examine_close(b);
    CHECK_FAILS(&c, spot_models_compare(&c, &k, "/nowhere", "/nowhere", MARGIN), SPOT_IO, "run.missing");
}
