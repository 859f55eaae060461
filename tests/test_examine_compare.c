/* test_examine_compare.c - two versions of a model: verdicts on results of known change, nights of equal code, odd runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "spotter/rng.h"
#include "versions/versions_examine.h"

enum { OBJECTS = 10, SEEDS = 3, EXAMINERS = 4, NUMBERS = 3 };

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
static spot_status compare_runs(spot_ctx *c, spot_model_comparison *k, const spot_examine_results runs[SPOT_VERSIONS])
{
    static const int first[SPOT_VERSIONS] = { 0, 0 };
    spot_version_values v[SPOT_VERSIONS] = { 0 };
    spot_status s = spot_examine_version_values(c, v, runs, first);

    *k = (spot_model_comparison){ 0 };
    if (s == SPOT_OK) s = spot_model_values_compare(c, k, &spot_examine_versions.words, v);
    spot_memory_close(&v[0].memory), spot_memory_close(&v[1].memory);
    return s;
}

static spot_model_comparison compare(spot_ctx *c, int objects, uint32_t first, uint32_t second, double change)
{
    spot_examine_results runs[SPOT_VERSIONS];
    spot_model_comparison k;

    make_run(&runs[0], c, objects, first, 0), make_run(&runs[1], c, objects, second, change);
    CHECK_OK(c, compare_runs(c, &k, runs));
    spot_examine_close(&runs[0]), spot_examine_close(&runs[1]);
    return k;
}

TEST(the_same_run_is_the_same)
{
    spot_ctx c = check_ctx(1);
    spot_model_comparison k = compare(&c, OBJECTS, 5, 5, 0);

    assert_int_equal(k.changes, NUMBERS * EXAMINERS);
    assert_int_equal(k.objects, OBJECTS);
    assert_false(k.failed);
    for (int i = 0; i < k.changes; i++) {
        assert_true(k.change[i].p == 1 && !k.change[i].worse && !k.change[i].better && k.change[i].change.value == 0);
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
        assert_true(worse.change[i].is_worse && !worse.change[i].is_better && worse.change[i].p < 0.05);
        assert_true(worse.change[i].worse >= OBJECTS - 1);
        assert_true(better.change[i].is_better && !better.change[i].is_worse);
        CHECK_NEAR(worse.change[i].change.value, -0.15, 0.06);
        assert_true(worse.change[i].change.low < -0.15 + 0.06 && worse.change[i].change.high > -0.15 - 0.06);
        CHECK_NEAR(worse.change[i].now - worse.change[i].before, worse.change[i].change.value, 1e-12);
    }
    spot_memory_close(&worse.memory), spot_memory_close(&better.memory);
}

/* 60 nights of equal code with other noise: 3 may fail by chance, if the tests kept their level exactly; one-sided they are
 * half of it, and Holm's correction makes them fewer. */
TEST(nights_of_equal_code_do_not_fail)
{
    spot_ctx c = check_ctx(1);
    int failed = 0;

    for (uint32_t night = 0; night < 60; night++) {
        spot_model_comparison k = compare(&c, OBJECTS, 1000 + 2 * night, 1001 + 2 * night, 0);
        failed += k.failed;
        spot_memory_close(&k.memory);
    }
    assert_true(failed <= 3);
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
    CHECK_FAILS(&c, compare_runs(&c, &k, runs), SPOT_INPUT, "versions.other_config: search.seed | 1 | 9");
    b->cfg->search.seed = 1;
    for (int u = 0; u < b->units; u++) strcat(b->unit[u].object, " of another catalogue");
    CHECK_FAILS(&c, compare_runs(&c, &k, runs), SPOT_INPUT, "versions.objects: objects");
    spot_memory_close(&k.memory);
    for (int u = 0; u < b->units; u++)                                 /* half of them are the same */
        if (u % OBJECTS < OBJECTS / 2) strcpy(b->unit[u].object, a->unit[u].object);
    CHECK_OK(&c, compare_runs(&c, &k, runs));
    assert_int_equal(k.objects, OBJECTS / 2);
    assert_int_equal(k.left_out, OBJECTS);
    spot_memory_close(&k.memory);
    for (int u = 0; u < b->units; u++) b->unit[u].point[0].robust = NAN;       /* nothing was perturbed */
    CHECK_OK(&c, compare_runs(&c, &k, runs));
    assert_int_equal(k.changes, 2 * EXAMINERS);
    spot_memory_close(&k.memory);
    spot_examine_close(a), spot_examine_close(b);
    CHECK_FAILS(&c, spot_models_compare(&c, &k, "/nowhere", "/nowhere"), SPOT_IO, "run.missing");
}
