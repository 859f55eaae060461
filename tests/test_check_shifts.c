/* test_check_shifts.c - the verdict on a run of shifts: runs with known impact and slope, written as segments. */
#define _GNU_SOURCE
#include "checks.h"
#include "check_folder.h"

#include <math.h>

#include "base/file.h"
#include "check/baseline.h"
#include "check/layers.h"
#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "spotter/rng.h"
#include "store/store.h"
#include "study/frame.h"

enum { CLASSES = 24, MODELS = 16, SHIFTS = 2, EACH = 50 };

/* A run: pictures and answers by chance, with the true slope and drop of the first shift. */
typedef struct {
    uint32_t seed;
    double slope, drop;        /* shift accuracy = base accuracy's mean - drop + slope (base accuracy - mean) */
    int lost;                  /* the first classes have no kept picture of the first shift */
    int models;                /* 0: all */
    const char *class_word;    /* start of the classes' names */
    double pass;               /* share of the first shift's pictures that is kept */
    int few;                   /* classes; 0: all */
} fake_run;

static int classes_of(const fake_run *f) { return f->few ? f->few : CLASSES; }

static int draw(spot_rng *r, int n, double p)
{
    int hits = 0;

    for (int i = 0; i < n; i++) hits += spot_rng_uniform(r) < p;
    return hits;
}

static double accuracy_of(const fake_run *f, int shift, int cls, int model)
{
    const double ability = 0.9 - 0.035 * model, hard = 0.004 * (cls % 7 - 3), base = ability + hard;

    if (shift < 0) return base;
    return shift ? base - 0.1 : 0.64 - f->drop + f->slope * (base - 0.64);
}

static void fill_unit(spot_shift_result *r, const fake_run *f, int shift)
{
    const char *word = f->class_word ? f->class_word : "class";

    for (int k = 0; k < r->classes; k++) {
        spot_rng kept = spot_rng_at(f->seed, SPOT_RNG_EC, (uint32_t)(shift + 1), (uint32_t)k);
        snprintf(r->class_name[k], sizeof *r->class_name, "%s_%02d", word, k);
        r->class_threshold[k] = NAN;
        r->count[SPOT_SHIFT_ALL][k] = EACH;
        r->count[SPOT_SHIFT_KEPT][k] = shift ? EACH : draw(&kept, EACH, f->pass > 0 ? f->pass : 0.8);
        if (!shift && k < f->lost) r->count[SPOT_SHIFT_KEPT][k] = 0;
        for (int m = 0; m < r->models; m++) {
            spot_rng a = spot_rng_at(f->seed + 1000, SPOT_RNG_EC, (uint32_t)(shift + 1), (uint32_t)(k * MODELS + m));
            const int right = draw(&a, r->count[SPOT_SHIFT_KEPT][k], accuracy_of(f, shift, k, m));
            r->right[SPOT_SHIFT_KEPT][m * r->classes + k] = r->right[SPOT_SHIFT_ALL][m * r->classes + k] = right;
        }
    }
}

static const char config[] = "data: {root: here, real: \"\"}\nfilter: {masks: m.npz}\nsources: [{name: sd}]\n"
                             "evaluation: {draws: 0}\nshifts: [{name: in the snow}, {name: blue}]\nmodels:\n";

static void write_unit(spot_ctx *c, const fake_run *f, const spot_shifts_config *cfg, const char *dir, int unit)
{
    const spot_shift_unit at = spot_shift_unit_at(cfg, unit);
    spot_shift_result r = { .index = unit, .numbers = SPOT_SHIFT_NUMBERS, .source = at.source, .shift = at.shift,
                            .classes = classes_of(f), .models = cfg->models, .pictures = EACH * classes_of(f), .filtered = true,
                            .threshold = NAN };

    assert_true(spot_shift_result_take(&r));
    spot_key_text(r.config, spot_shifts_key(cfg));
    spot_shift_unit_name(r.name, cfg, at);
    snprintf(r.inputs, sizeof r.inputs, "%u-%s", f->seed, f->class_word ? f->class_word : "");
    snprintf(r.pictures_hash, sizeof r.pictures_hash, "%u", f->seed);
    fill_unit(&r, f, at.shift);
    CHECK_OK(c, spot_frame_write(c, &spot_shifts_study, dir, unit, &r));
    spot_shift_result_close(&r);
}

static const char *fake(const char *name, fake_run f)
{
    spot_ctx c = check_ctx(1);
    spot_shifts_config *cfg = malloc(sizeof *cfg);
    char text[4096], path[300];
    int n = snprintf(text, sizeof text, "study: shifts\n%s", config);

    for (int m = 0; m < (f.models ? f.models : MODELS); m++)
        n += snprintf(text + n, sizeof text - (size_t)n, "  - {name: m%d, predictions: m%d.csv}\n", m, m);
    CHECK_OK(&c, spot_shifts_parse(&c, cfg, text, (size_t)n, "fake"));
    CHECK_OK(&c, spot_folder_make(&c, in_root("%s", name)));
    snprintf(path, sizeof path, "%s/config.yaml", in_root("%s", name));
    put_text(path, text);
    for (int u = 0; u < spot_shift_units(cfg); u++) write_unit(&c, &f, cfg, in_root("%s", name), u);
    CHECK_CONFIG_FREE(cfg);
    return in_root("%s", name);
}

static const fake_run usual = { .seed = 1, .slope = 0.95, .drop = 0.15 };

static fake_run changed(uint32_t seed, double slope, double drop)
{
    fake_run f = usual;

    f.seed = seed, f.slope = slope, f.drop = drop;
    return f;
}

static void accept_run(const char *run)
{
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_accept(&c, in_root("%s", run), in_root("base.json"), &(spot_accept_options){ .reason = "first" }));
}

static spot_check *check(const char *run)
{
    spot_ctx c = check_ctx(1);
    spot_check *k;

    CHECK_OK(&c, spot_check_run(&c, &k, in_root("base.json"), in_root("%s", run)));
    return k;
}

static const spot_check_line *find(const spot_check *k, const char *method, const char *metric)
{
    for (int i = 0; i < k->lines; i++)
        if (!strcmp(k->line[i].method, method) && !strcmp(k->line[i].metric, metric)) return &k->line[i];
    fail_msg("no line \"%s\" %s", method, metric);
    return NULL;
}

/* Verdicts of the first shift: impact, slope, passed, classes. */
static void says(const char *run, spot_verdict impact, spot_verdict slope, spot_verdict passed, spot_verdict classes)
{
    static const char *const metric[] = { "impact", "slope", "passed", "classes" };
    const spot_verdict want[] = { impact, slope, passed, classes };
    spot_check *k = check(run);
    bool fails = false;

    for (int i = 0; i < 4; i++) {
        const spot_check_line *l = find(k, "sd, in the snow", metric[i]);
        if (l->verdict != want[i])
            fail_msg("%s: %s is %s, not %s: %g -> %g (%g..%g), p %g, %s", run, metric[i], spot_verdict_name(l->verdict),
                     spot_verdict_name(want[i]), l->before, l->now, l->low, l->high, l->p, l->why);
        fails |= spot_verdict_fails(want[i]);
    }
    assert_int_equal(k->failed, fails);
    spot_check_free(k);
}

TEST_IN_FOLDER(the_same_run_is_the_same)
{
    const spot_check_line *l;
    spot_check *k;

    fake("a", usual);
    accept_run("a");
    k = check("a");
    for (int i = 0; i < k->lines; i++) assert_int_equal(k->line[i].verdict, SPOT_SAME);
    assert_int_equal(k->lines, 2 + 4 * SHIFTS);
    assert_int_equal(find(k, "", "counts")->n, 1 + SHIFTS);
    l = find(k, "sd, in the snow", "slope");
    assert_true(l->paired && l->n == MODELS && l->now == l->before && l->margin == 0.05);
    spot_check_free(k);
    says("a", SPOT_SAME, SPOT_SAME, SPOT_SAME, SPOT_SAME);
}

TEST_IN_FOLDER(what_got_worse_and_better)
{
    spot_check *k;
    fake_run f = changed(2, 0.95, 0.15);
    double slope, impact;

    fake("a", usual);
    accept_run("a");
    k = check("a");
    slope = find(k, "sd, in the snow", "slope")->now, impact = find(k, "sd, in the snow", "impact")->now;
    spot_check_free(k);
    fake("flat", changed(2, 0.4, 0.15));               /* better models lose more now */
    says("flat", SPOT_INCONCLUSIVE, SPOT_WORSE, SPOT_SAME, SPOT_SAME);
    fake("steep", changed(2, 1.5, 0.15));              /* better models lose less than they did */
    k = check("steep");
    assert_int_equal(find(k, "sd, in the snow", "slope")->verdict, SPOT_BETTER);
    spot_check_free(k);
    k = check("flat");
    assert_int_equal(find(k, "sd, blue", "slope")->verdict == SPOT_WORSE, false);
    assert_true(find(k, "sd, in the snow", "slope")->now < find(k, "sd, in the snow", "slope")->before - 0.3);
    CHECK_NEAR(find(k, "sd, in the snow", "slope")->before, slope, 1e-12);           /* each side has its own base */
    CHECK_NEAR(find(k, "sd, in the snow", "impact")->before, impact, 1e-12);
    spot_check_free(k);
    fake("hard", changed(3, 0.95, 0.30));
    says("hard", SPOT_WORSE, SPOT_INCONCLUSIVE, SPOT_SAME, SPOT_SAME);
    fake("mild", changed(3, 0.95, 0.02));
    says("mild", SPOT_BETTER, SPOT_INCONCLUSIVE, SPOT_SAME, SPOT_SAME);
    f.pass = 0.5;
    fake("strict", f);
    k = check("strict");
    assert_true(find(k, "sd, in the snow", "passed")->verdict == SPOT_WORSE && k->failed);
    spot_check_free(k);
}

/* A shift with a higher slope gains more from a better model (paper 004). */
TEST(every_metric_that_is_judged_has_a_direction)
{
    static const int want[SPOT_CHECK_METRICS] = {
        [SPOT_CHECK_DR] = 1, [SPOT_CHECK_FDR] = -1, [SPOT_CHECK_LEARNED] = 1, [SPOT_CHECK_IMPACT] = -1, [SPOT_CHECK_SLOPE] = 1,
        [SPOT_CHECK_PASSED] = 1, [SPOT_CHECK_CLASSES] = 1
    };

    for (int m = 0; m < SPOT_CHECK_METRICS; m++) assert_int_equal(spot_check_direction(m), want[m]);
}

TEST_IN_FOLDER(lost_classes_are_named)
{
    fake_run f = usual;
    spot_check *k;
    const spot_check_line *l;

    fake("a", usual);
    accept_run("a");
    f.lost = 2;
    fake("two", f);
    k = check("two");
    l = find(k, "sd, in the snow", "classes");
    assert_true(l->verdict == SPOT_INCONCLUSIVE && strstr(l->why, "2 classes of the baseline count no more, first class_00"));
    assert_int_equal(find(k, "sd, in the snow", "impact")->left_out, 2);
    assert_true(find(k, "sd, in the snow", "impact")->verdict == SPOT_SAME);         /* on the classes of both sides */
    assert_true(find(k, "", "counts")->verdict == SPOT_NOT_COMPARABLE);              /* the logs name no platform */
    spot_check_free(k);
    f.lost = 18;
    fake("many", f);
    k = check("many");
    assert_true(k->failed && find(k, "sd, in the snow", "classes")->verdict == SPOT_WORSE);
    CHECK_NEAR(find(k, "sd, in the snow", "classes")->now, 6.0 / CLASSES, 1e-12);
    spot_check_free(k);
}

TEST_IN_FOLDER(other_models_and_classes)
{
    fake_run f = usual;
    spot_check *k;

    fake("a", usual);
    accept_run("a");
    f.models = MODELS - 2;
    fake("fewer", f);
    k = check("fewer");
    assert_true(k->failed && find(k, "", "present")->verdict == SPOT_BROKEN);
    assert_non_null(strstr(find(k, "", "present")->why, "lacks 2 of the baseline's 16 models, first m14"));
    assert_true(find(k, "sd, in the snow", "slope")->n == MODELS - 2);
    assert_int_equal(find(k, "sd, in the snow", "slope")->verdict, SPOT_SAME);       /* the models of both sides */
    spot_check_free(k);
    f = changed(7, 0.95, 0.15);
    f.class_word = "other";                            /* no common class: independent runs */
    fake("other", f);
    k = check("other");
    assert_false(find(k, "sd, in the snow", "impact")->paired);
    assert_false(find(k, "sd, in the snow", "passed")->paired);
    assert_true(find(k, "sd, in the snow", "impact")->verdict != SPOT_WORSE);
    spot_check_free(k);
    f.drop = 0.35;
    fake("worse", f);
    k = check("worse");
    assert_int_equal(find(k, "sd, in the snow", "impact")->verdict, SPOT_WORSE);
    spot_check_free(k);
    f = usual;
    f.few = 6;
    fake("six", f);
    k = check("six");
    assert_true(k->failed && find(k, "", "present")->left_out == CLASSES - 6 && find(k, "sd, blue", "impact")->n == 6);
    spot_check_free(k);
}

/* Equal code with new pictures every night: hardly ever worse. */
TEST_IN_FOLDER(equal_code_is_not_worse)
{
    enum { NIGHTS = 8 };
    int worse = 0;

    fake("a", usual);
    accept_run("a");
    for (uint32_t night = 0; night < NIGHTS; night++) {
        spot_check *k;
        fake("n", changed(100 + night, usual.slope, usual.drop));
        k = check("n");
        worse += k->failed;
        spot_check_free(k);
    }
    assert_int_equal(worse, 0);
}

TEST_IN_FOLDER(quarantine_margins_and_the_file)
{
    spot_ctx c = check_ctx(1);
    spot_accept_options o = { .reason = "second", .margin_slope = 0.2, .quarantine = { "sd, in the snow:slope=known" },
                              .quarantines = 1 };
    unsigned char *text;
    spot_baseline b;
    spot_check *k;
    char *again;
    size_t n, m;

    fake("a", usual);
    accept_run("a");
    CHECK_OK(&c, spot_accept(&c, in_root("a"), in_root("base.json"), &o));
    CHECK_OK(&c, spot_file_read(&c, in_root("base.json"), &text, &n, 1 << 26));
    CHECK_OK(&c, spot_baseline_parse(&c, &b, (char *)text, n, "base.json"));
    assert_true(b.acceptances == 2 && b.margin[SPOT_CHECK_SLOPE] == 0.2 && b.acceptance[1].means == 2 * SHIFTS);
    CHECK_OK(&c, spot_baseline_print(&c, &b, &again, &m));
    assert_true(n == m && !memcmp(text, again, n));
    spot_baseline_free(&b);
    free(again);
    for (size_t cut = 0; cut + 2 < n; cut += cut < 1500 ? 7 : 997) {       /* torn anywhere: a sentence, and no leak */
        if (spot_baseline_parse(&c, &b, (char *)text, cut, "torn") != SPOT_INPUT) fail_msg("torn at %zu it is whole", cut);
        spot_baseline_free(&b);
        spot_forget(&c);
    }
    free(text);
    fake("flat", changed(2, 0.4, 0.15));
    k = check("flat");
    assert_true(find(k, "sd, in the snow", "slope")->verdict == SPOT_WORSE && !k->failed);
    spot_check_free(k);
    o.quarantine[0] = "sd, in the fog:slope=known";
    CHECK_FAILS(&c, spot_accept(&c, in_root("a"), in_root("base.json"), &o), SPOT_USAGE, "quarantine.unknown");
    o.quarantine[0] = "sd, in the snow:dr=known";
    CHECK_FAILS(&c, spot_accept(&c, in_root("a"), in_root("base.json"), &o), SPOT_USAGE, "quarantine.form");
}
