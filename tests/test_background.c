/* test_background.c - the background study: what a model that sees the object, and one that sees what lies behind it, get on a
 * world of 32 pixels; the suite's choices; inputs that are wrong. ctest: threads */
#define _GNU_SOURCE
#include "check_background.h"

#include "background/background_config.h"
#include "background/suite/pixels_encoder.h"
#include "background/background_summary.h"
#include "background/suite/squares.h"
#include "spotter/shifts.h"
#include "spotter/versions.h"
#include "spotter/work.h"

static void run(spot_ctx *c, const char *out, world_model *m, int n, spot_run_report *report)
{
    spot_background_config *cfg = world_config(n);

    CHECK_OK(c, run_world(c, cfg, out, m, 0, 1, report));
    CHECK_CONFIG_FREE(cfg);
}

static int sum(const int *v, int n)
{
    int all = 0;

    for (int i = 0; i < n; i++) all += v[i];
    return all;
}

/* ---- what models get ---- */

static bool holds(const char *name, const char *part)
{
    spot_ctx c = check_ctx(1);
    unsigned char *bytes;
    size_t n;

    CHECK_OK(&c, spot_file_read(&c, in_world(name), &bytes, &n, 1 << 26));
    const bool found = memmem(bytes, n, part, strlen(part)) != NULL;
    free(bytes);
    return found;
}

TEST_IN_FOLDER(a_model_of_the_object_is_never_turned)
{
    spot_ctx c = check_ctx(1);
    world_model m = { .of_background = false };
    spot_run_report report;
    spot_background_results r;

    make_world(4, 6);
    run(&c, "run", &m, 4, &report);
    assert_true(report.planned == 1 && report.done == 1 && !report.already);
    CHECK_OK(&c, spot_background_read(&c, &r, in_world("run")));
    const spot_background_result *u = &r.unit[0];
    assert_true(r.units == 1 && u->targets == 8 && u->n == 4 && u->classes == 2 && u->dim == 3 && u->channels == 2);
    for (int k = 0; k < SPOT_BACKGROUND_SETS; k++) {
        const int count = sum(u->count[k], 2), right = sum(u->right[k], 2);
        assert_int_equal(count, k == SPOT_SET_SUITE ? 32 : 8);
        if (k != SPOT_SET_NO_FG && k != SPOT_SET_ONLY_BG_B && k != SPOT_SET_ONLY_BG_T) assert_int_equal(right, count);
    }
    assert_true(!sum(u->turned, 2) && sum(u->steady, 2) == 8);
    CHECK_NEAR(r.summary[0].gap.value, 0, 0);
    CHECK_NEAR(r.summary[0].blending.value, 0, 0);
    assert_int_equal(r.summary[0].dependence, SPOT_DEPENDENCE_NOT_SHOWN);
    assert_true(r.summary[0].gap.low < -0.2 && r.summary[0].gap.high > 0.2);       /* 8 pairs without a change tell little */
    assert_true(holds("run/background.json", "No dependence on the background is shown beyond 3"));
    assert_true(r.summary[0].lost.value == 0 && r.summary[0].lost.low == 0 && isnan(r.summary[0].reordered));
    CHECK_NEAR(r.summary[0].turned.value, 0, 0);
    const spot_background_control *own = &r.summary[0].control;    /* 3 others of each class, 4 backgrounds */
    assert_true(own->objects == 8 && own->least == 3 && own->most == 3 && own->own.value == 0 && own->foreign.value == 0);
    assert_true(own->beyond.value == 0 && own->beyond.low < -0.2 && own->beyond.high > 0.2);
    assert_true(isnan(r.summary[0].rfs.value));        /* it is always right */
    CHECK_NEAR(r.summary[0].steady.value, 1, 0);
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) assert_true(u->has[k] && isfinite(u->feature[k][0]));
    CHECK_NEAR(u->feature[0][0], 0, 1e-6);             /* the confidence is the same on every background */
    spot_background_close(&r);
}

/* A background of the own class never turns; 3 of the 4 foreign ones do, unless all 3 are drawn from those that do not. */
static void check_control(const spot_background_results *r, const spot_background_responses *p)
{
    const spot_background_control *k = &r->summary[0].control;
    double foreign = 0;

    assert_true(p->own == 4 && k->objects == 8 && k->least == 3 && k->most == 3);
    for (int t = 0; t < 8; t++) {
        int wrong = 0;
        for (int j = 0; j < 4; j++) {
            wrong += p->answer[5 * t + 1 + j] != r->suite->cls[t];
            assert_int_equal(p->of_own[4 * t + j], j < 3 ? r->suite->cls[t] : -2);
        }
        foreign += wrong > 1 ? 1 : wrong ? 0.75 : 0;
    }
    CHECK_NEAR(k->own.value, 0, 0);
    CHECK_NEAR(k->foreign.value, foreign / 8, 1e-12);
    CHECK_NEAR(k->beyond.value, foreign / 8, 1e-12);
    assert_true(k->beyond.low > 0 && k->beyond.high <= 1);
    assert_true(holds("run/background.json", "Of its own class an object has 3 backgrounds; of the 8 objects with one"));
    assert_true(holds("run/background.json", "So foreign backgrounds turn more than blending alone does"));
}

/* A small part of a run is timed, and the whole told from it. Models without a file, as a function or a program is, take no
 * time of their own. */
TEST_IN_FOLDER(the_time_of_a_run_is_told_before)
{
    spot_ctx c = check_ctx(2);
    spot_background_config *cfg = world_config(4);
    spot_background_cost cost;
    spot_background_time with, without;

    make_world(4, 6);
    cfg->models = 0;
    CHECK_OK(&c, spot_background_cost_of(&c, cfg, &cost));
    CHECK_OK(&c, spot_background_time_of(&c, cfg, &cost, &without));
    assert_true(isnan(without.seconds));               /* nobody looks */
    add_weights(cfg);
    CHECK_OK(&c, spot_background_cost_of(&c, cfg, &cost));
    CHECK_OK(&c, spot_background_time_of(&c, cfg, &cost, &with));
    assert_true(with.seconds > 0 && with.processor > 0 && with.calibration > 0 && isfinite(with.seconds));
    cost.looks *= 100;                                 /* a hundred times the pictures */
    CHECK_OK(&c, spot_background_time_of(&c, cfg, &cost, &without));
    assert_true(without.processor > with.processor);
    CHECK_CONFIG_FREE(cfg);
}

static struct { double last; int parts; } told;

/* Progress of the units never goes back. */
static void watch(void *user, const spot_progress *p)
{
    (void)user;
    if (strcmp(p->stage, "background")) return;
    assert_true(p->done >= told.last && p->total == 1);
    told.parts += p->done > told.last && p->done < p->total;
    told.last = p->done;
}

/* A look of a model is a part of its unit, so that the time left is known from the beginning on. */
TEST_IN_FOLDER(progress_follows_the_look)
{
    spot_ctx c = check_ctx(1);
    world_model m = { .of_background = false };
    spot_run_report report;

    make_world(12, 6);
    c.on_progress = watch;
    memset(&told, 0, sizeof told);
    run(&c, "run", &m, 4, &report);
    assert_true(told.last == 1 && told.parts == 3);    /* batches of 11 targets */
}

/* Backgrounds of the own class are a part of the derived sets, and may be left out alone. */
TEST_IN_FOLDER(a_run_may_do_without_a_control)
{
    spot_ctx c = check_ctx(1);
    world_model m = { .of_background = true };
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    spot_background_results r;
    spot_background_responses p;

    make_world(4, 6);
    for (int own = 0; own < 3; own++) {
        cfg->measure.own = own;
        CHECK_OK(&c, run_world(&c, cfg, own ? own > 1 ? "two" : "one" : "none", &m, 0, 1, &report));
        CHECK_OK(&c, spot_background_read(&c, &r, in_world(own ? own > 1 ? "two" : "one" : "none")));
        CHECK_OK(&c, spot_background_responses_read(&c, &p, in_world(own ? own > 1 ? "two" : "one" : "none"), &r.unit[0]));
        assert_true(p.own == own && r.summary[0].control.most == own && r.summary[0].control.objects == (own ? 8 : 0));
        assert_true(isnan(r.summary[0].control.beyond.value) == !own);
        spot_background_responses_free(&p);
        spot_background_close(&r);
    }
    CHECK_CONFIG_FREE(cfg);
}

TEST_IN_FOLDER(a_model_of_the_background_is_always_turned)
{
    spot_ctx c = check_ctx(2);
    world_model m = { .of_background = true };
    spot_run_report report;
    spot_background_results r;
    spot_background_responses p;
    spot_worst_pair worst[20], last[8];

    make_world(4, 6);
    run(&c, "run", &m, 4, &report);
    CHECK_OK(&c, spot_background_read(&c, &r, in_world("run")));
    const spot_background_result *u = &r.unit[0];
    assert_int_equal(sum(u->right[SPOT_SET_ORIGINAL], 2), 8);
    assert_int_equal(sum(u->right[SPOT_SET_NO_FG], 2), 8);
    assert_int_equal(sum(u->right[SPOT_SET_ONLY_BG_B], 2), 8);
    assert_int_equal(sum(u->right[SPOT_SET_ONLY_BG_T], 2), 8);
    assert_int_equal(sum(u->right[SPOT_SET_ONLY_FG], 2), 4);       /* black is class "b" */
    assert_int_equal(sum(u->right[SPOT_SET_MIXED_SAME], 2), 8);
    assert_int_equal(sum(u->right[SPOT_SET_MIXED_NEXT], 2), 0);
    assert_true(sum(u->turned, 2) == 8 && !sum(u->steady, 2));      /* of 3 bright and 3 dark ones 4 are chosen */
    CHECK_NEAR(r.summary[0].blending.value, 0, 0);
    assert_true(r.summary[0].dependence == (r.summary[0].gap.low > 0 ? SPOT_DEPENDENCE_SHOWN : SPOT_DEPENDENCE_NOT_SHOWN));
    assert_true(holds("run/background.json", r.summary[0].gap.low > 0 ? "Yes, the model depends" : "No dependence on"));
    assert_true(r.summary[0].gap.value > 0 && r.summary[0].turned.value == 1 && r.summary[0].turned.high == 1);
    CHECK_OK(&c, spot_background_responses_read(&c, &p, in_world("run"), u));
    int right = 0;
    for (int t = 0; t < 8; t++)                        /* the answer follows the brightness that the name tells */
        for (int j = 0; j < 4; j++) {
            const bool bright = strstr(r.suite->background[r.suite->chosen[4 * t + j]], "bright") != NULL;
            assert_int_equal(p.answer[5 * t + 1 + j], !bright);
            right += r.suite->cls[t] == !bright;
        }
    assert_int_equal(sum(u->right[SPOT_SET_SUITE], 2), right);
    CHECK_NEAR(r.summary[0].lost.value, 1 - right / 32.0, 1e-12);
    check_control(&r, &p);
    assert_true(r.summary[0].lost.low > 0 && r.summary[0].lost.high < 1);
    const int n = spot_worst_pairs(worst, 20, &p, r.suite, false);
    assert_int_equal(n, 8);                            /* one of each target */
    assert_int_equal(spot_worst_pairs(last, 8, &p, r.suite, true), 8);
    for (int i = 0; i < n; i++) {
        assert_true(!i || last[i].confidence >= last[i - 1].confidence);
        assert_int_equal(worst[i].answer, 1 - r.suite->cls[worst[i].target]);
        assert_true(!i || worst[i].confidence <= worst[i - 1].confidence);
        assert_int_equal(r.suite->chosen[4 * worst[i].target + worst[i].place], worst[i].background);
    }
    CHECK_NEAR(u->coverage[0], 1, 0);                  /* the stub's two channels are 0.3 and 0.6 */
    CHECK_NEAR(u->coverage[1], 1, 0);
    CHECK_NEAR(u->coverage[2], 0.5, 0);
    CHECK_NEAR(u->coverage[4], 0, 0);
    spot_background_responses_free(&p);
    spot_background_close(&r);
}

/* A class with one picture gives no picture of mixed-same, and is counted so. */
TEST_IN_FOLDER(a_class_with_one_picture)
{
    spot_ctx c = check_ctx(1);
    world_model m = { 0 };
    spot_run_report report;
    spot_background_results r;

    make_world(3, 6);
    remove_file("images/b/1.png"), remove_file("images/b/2.png");
    run(&c, "run", &m, 4, &report);
    CHECK_OK(&c, spot_background_read(&c, &r, in_world("run")));
    assert_int_equal(r.unit[0].count[SPOT_SET_MIXED_SAME][0], 3);
    assert_int_equal(r.unit[0].count[SPOT_SET_MIXED_SAME][1], 0);
    assert_int_equal(r.unit[0].count[SPOT_SET_MIXED_NEXT][1], 1);
    spot_background_close(&r);
}

/* Networks of weights in bf16: other numbers than in fp32, by its rounding, and the result says so. */
TEST_IN_FOLDER(networks_look_in_bf16)
{
    spot_ctx c = check_ctx(2);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    spot_background_results r[2];
    spot_background_responses p[2];
    double apart = 0, changed = 0;

    make_world(4, 6);
    add_weights(cfg);
    CHECK_OK(&c, run_world(&c, cfg, "fp32", NULL, 0, 1, &report));
    cfg->measure.precision = SPOT_BF16;
    if (!spot_conv_has(&c, SPOT_BF16)) {
        CHECK_FAILS(&c, run_world(&c, cfg, "bf16", NULL, 0, 1, &report), SPOT_UNSUPPORTED, "conv.precision: AVX512-BF16");
        CHECK_CONFIG_FREE(cfg);
        return;
    }
    CHECK_OK(&c, run_world(&c, cfg, "bf16", NULL, 0, 1, &report));
    CHECK_FAILS(&c, run_world(&c, cfg, "fp32", NULL, 0, 1, &report), SPOT_USAGE, "run.other_config: measure.precision");
    for (int i = 0; i < 2; i++) {
        CHECK_OK(&c, spot_background_read(&c, &r[i], in_world(i ? "bf16" : "fp32")));
        CHECK_OK(&c, spot_background_responses_read(&c, &p[i], in_world(i ? "bf16" : "fp32"), &r[i].unit[0]));
    }
    for (int i = 0; i < 5 * 8; i++) {                  /* the confidences; one rounding of bf16 is 2^-9 of a number */
        apart = fmax(apart, fabs(p[1].signal[i] - p[0].signal[i]));
        changed += p[1].signal[i] != p[0].signal[i];
    }
    assert_true(changed > 20 && apart < 0.05);
    assert_true(holds("bf16/background.json", "\"precision\": \"bf16\"") && holds("fp32/background.json", "\"fp32\""));
    for (int i = 0; i < 2; i++) spot_background_responses_free(&p[i]), spot_background_close(&r[i]);
    CHECK_CONFIG_FREE(cfg);
}

/* ---- the same bytes ---- */

/* Runs on one thread, on two, and in two shards that are merged; then once more, which computes nothing. */
TEST_IN_FOLDER(threads_and_shards_make_the_same_bytes)
{
    spot_ctx one = check_ctx(1), two = check_ctx(2);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    const char *dirs[2];
    spot_merge_report merged;
    char path[2][200];

    make_world(3, 6);
    add_weights(cfg);
    CHECK_OK(&one, run_world(&one, cfg, "one", NULL, 0, 1, &report));
    assert_int_equal(report.done, 2);
    CHECK_OK(&two, run_world(&two, cfg, "two", NULL, 0, 1, &report));
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s", in_world(i ? "shard1" : "shard0"));
        CHECK_OK(&one, run_world(&one, cfg, i ? "shard1" : "shard0", NULL, i, 2, &report));
        assert_int_equal(report.done, 1);
        dirs[i] = path[i];
    }
    CHECK_OK(&one, spot_work_merge(&one, &spot_background_study, dirs, 2, in_world("merged"),
                                   &(spot_merge_options){ .pictures = true }, &merged));
    free(merged.ec);
    for (int i = 0; i < 2; i++) {
        assert_same_file("one", i ? "two" : "merged", "background.json");
        assert_same_file("one", i ? "two" : "merged", "background.csv");
        assert_same_file("one", i ? "two" : "merged", "responses/000/model-000001.safetensors");
    }
    CHECK_OK(&one, run_world(&one, cfg, "one", NULL, 0, 1, &report));
    assert_true(!report.done && report.already == 2);
    /* another model keeps the results of these; other weights of one do not */
    add_weights(cfg);
    CHECK_OK(&one, run_world(&one, cfg, "one", NULL, 0, 1, &report));
    assert_true(report.done == 2 && report.already == 2);
    cfg->model[1].weights = check_text("%s", cfg->model[0].weights);
    CHECK_OK(&one, run_world(&one, cfg, "one", NULL, 0, 1, &report));
    assert_true(report.done == 1 && report.already == 3);
    cfg->model[0].name = "other";
    CHECK_FAILS(&one, run_world(&one, cfg, "one", NULL, 0, 1, &report), SPOT_USAGE,
                "run.other_config: models[0].name | \"weights0\" | \"other\"");
    CHECK_CONFIG_FREE(cfg);
}

/* ---- run directories that are wrong ---- */

TEST_IN_FOLDER(a_file_of_somebody_else_stays)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    world_model m = { 0 };

    make_world(2, 6);
    write_file("theirs/background.csv", "precious");
    CHECK_FAILS(&c, run_world(&c, cfg, "theirs", &m, 0, 1, &report), SPOT_USAGE, "run.foreign: theirs");
    remove_file("theirs/background.csv");
    assert_int_equal(rmdir(in_world("theirs")), 0);       /* it was left empty */
    CHECK_CONFIG_FREE(cfg);
}

/* Through a link, and where folders are missing; a name that only begins alike is another folder. */
TEST_IN_FOLDER(a_run_does_not_lie_among_its_inputs)
{
    static const char *const inside[][2] = {
        { "images", "run.amid_inputs: images | pictures" }, { "images/run/", "run.amid_inputs: images | pictures" },
        { "masks/new/./run", "run.amid_inputs: masks | masks" }, { "backgrounds/../masks", "run.amid_inputs: masks | masks" },
        { "backgrounds/run", "run.amid_inputs: backgrounds | backgrounds" }, { "link/new/run", "run.amid_inputs: backgrounds" },
    };
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    world_model m = { 0 };

    make_world(2, 6);
    assert_int_equal(symlink("backgrounds", in_world("link")), 0);
    for (int i = 0; i < LEN(inside); i++)
        CHECK_FAILS(&c, run_world(&c, cfg, inside[i][0], &m, 0, 1, &report), SPOT_USAGE, inside[i][1]);
    assert_true(access(in_world("images/run"), F_OK) && access(in_world("masks/new"), F_OK));
    assert_true(access(in_world("backgrounds/run"), F_OK) && access(in_world("backgrounds/new"), F_OK));
    CHECK_OK(&c, run_world(&c, cfg, "images/../images2/run", &m, 0, 1, &report));
    CHECK_CONFIG_FREE(cfg);
}

/* ---- inputs that are wrong ---- */

static void fails(const char *words)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    world_model m = { 0 };

    CHECK_FAILS(&c, run_world(&c, cfg, "run", &m, 0, 1, &report), SPOT_INPUT, words);
    CHECK_CONFIG_FREE(cfg);
}

TEST_IN_FOLDER(masks_of_other_sizes)
{
    spot_ctx c = check_ctx(1);
    world_model m = { 0 };
    spot_run_report report;

    make_world(2, 6);
    make_mask("masks/a/0.png", 64, 64, 16, 48, 255);          /* twice as fine */
    run(&c, "run", &m, 4, &report);
    make_mask("masks/a/0.png", 64, 32, 16, 24, 255);
    fails("masks.size: masks/a/0.png | 64 | 32");
    make_mask("images/a/0.png", 32, 64, 8, 24, 255);
    fails("masks.size: EXIF");
}

TEST_IN_FOLDER(masks_that_are_empty_full_or_inverted)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    spot_background_results r;
    world_model m = { 0 };

    make_world(4, 6);
    make_mask("masks/a/0.png", 32, 32, 0, 0, 255);            /* nothing */
    make_mask("masks/a/1.png", 32, 32, 0, 32, 255);           /* everything */
    make_mask("masks/a/2.png", 32, 32, 16, 17, 255);          /* one pixel */
    make_inverted("masks/b/0.png");
    c.on_log = hear;
    CHECK_OK(&c, run_world(&c, cfg, "run", &m, 0, 1, &report));
    CHECK_OK(&c, spot_background_read(&c, &r, in_world("run")));
    assert_true(r.suite->empty == 1 && r.suite->large == 1 && r.suite->small == 1 && r.suite->inverted == 2
                && r.suite->targets == 5);
    assert_non_null(strstr(heard, "2 of 8 masks cover most of the border of their picture; are they inverted?"));
    assert_non_null(strstr(heard, "3 of 8 pictures are no targets"));
    spot_background_close(&r);
    CHECK_CONFIG_FREE(cfg);
}

/* Indices, not the palette's dark colours; void is no object. */
TEST_IN_FOLDER(masks_of_labels_are_read_by_index)
{
    spot_ctx c = check_ctx(2);
    spot_square_cache q;
    const char *path[1], *mask[] = { "golden/mask_voc.png" };
    char picture[300];
    const int item = 0;
    unsigned char *bytes;
    size_t n;
    world_model m = { 0 };
    spot_run_report report;

    make_world(1, 6);
    CHECK_OK(&c, spot_file_read(&c, mask[0], &bytes, &n, 1 << 20));
    write_bytes("masks/a/0.png", bytes, n);
    free(bytes);
    snprintf(picture, sizeof picture, "%s", in_world("images/a/0.png"));
    path[0] = picture;
    CHECK_OK(&c, spot_squares_open(&c, &q, &(spot_square_source){ .n = 1, .size = 32, .path = path, .masked = true,
                                                                  .mask = mask }, 1 << 20, 1));
    CHECK_OK(&c, spot_squares_need(&c, &q, &item, 1));
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++)
            assert_int_equal(spot_square_mask(&q, 0)[32 * y + x], x >= 8 && x < 24 && y >= 8 && y < 24 ? 255 : 0);
    assert_true(q.labelled[0] && q.brightest[0] == 255);
    spot_squares_close(&q);
    run(&c, "run", &m, 2, &report);
}

/* Masks of 0 and 200, as of 0 and 1, have no object. */
TEST_IN_FOLDER(no_mask_has_white)
{
    make_world(1, 6);
    make_mask("masks/a/0.png", 32, 32, 8, 24, 200);
    make_mask("masks/b/0.png", 32, 32, 8, 24, 128);
    fails("masks.dark: 2 | 200");
}

TEST_IN_FOLDER(no_target_at_all)
{
    make_world(1, 6);
    make_mask("masks/a/0.png", 32, 32, 0, 0, 255);
    make_mask("masks/b/0.png", 32, 32, 0, 32, 255);
    fails("suite.no_target: 2 | 1 | 0 | 1");
    make_mask("masks/a/0.png", 32, 32, 8, 24, 1);
    make_mask("masks/b/0.png", 32, 32, 0, 0, 255);
    fails("masks.dark: 1");
}

TEST_IN_FOLDER(fewer_backgrounds_than_n)
{
    make_world(2, 3);
    fails("suite.few_backgrounds: 4 | 3 | 3");
}

TEST_IN_FOLDER(two_pictures_of_one_name)
{
    make_world(2, 6);
    copy_file("images/a/0.png", "images/a/0.jpg");
    fails("masks.shared: a/0.jpg | a/0.png");
}

TEST_IN_FOLDER(masks_that_are_missing_or_no_masks)
{
    make_world(2, 6);
    remove_file("masks/a/1.png");
    fails("masks.missing: 1 | 4");
    write_file("masks/a/1.png", "this is no picture");
    fails("masks.format: masks/a/1.png");
}

TEST_IN_FOLDER(unreadable_pictures_are_named)
{
    make_world(2, 6);
    write_file("images/b/1.png", "broken");
    fails("picture.format: images/b/1.png");
}

/* A picture that also lies among the backgrounds is no background of itself. */
TEST_IN_FOLDER(a_target_is_not_its_own_background)
{
    spot_ctx c = check_ctx(1);
    world_model m = { 0 };
    spot_run_report report;
    spot_background_results r;

    make_world(3, 4);
    copy_file("images/a/1.png", "backgrounds/bright0.png");
    copy_file("images/a/2.png", "backgrounds/extra.png");
    run(&c, "run", &m, 4, &report);
    CHECK_OK(&c, spot_background_read(&c, &r, in_world("run")));
    assert_int_equal(r.suite->own, 2);
    for (int t = 0; t < r.suite->targets; t++)
        for (int j = 0; j < 4; j++) {
            const char *back = r.suite->background[r.suite->chosen[4 * t + j]];
            assert_false(!strcmp(r.suite->target[t], "a/1.png") && !strcmp(back, "bright0.png"));
            assert_false(!strcmp(r.suite->target[t], "a/2.png") && !strcmp(back, "extra.png"));
        }
    spot_background_close(&r);
    remove_file("backgrounds/dark1.png");              /* 4 are left, and the target is one of them */
    fails("suite.few_backgrounds: images/a/1.png | 3 | 4 | since 1");
}

/* The mask is the picture's own alpha; a picture without any is refused by name. */
TEST_IN_FOLDER(pictures_with_alpha)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    spot_background_results r;
    world_model m = { 0 };

    make_world(2, 6);
    cfg->data.masks = "";
    CHECK_FAILS(&c, run_world(&c, cfg, "run", &m, 0, 1, &report), SPOT_INPUT, "masks.no_alpha: images/a/0.png");
    for (int i = 0; i < 4; i++) add_alpha(i / 2 ? "b" : "a", i % 2);
    CHECK_OK(&c, run_world(&c, cfg, "run", &m, 0, 1, &report));
    CHECK_OK(&c, spot_background_read(&c, &r, in_world("run")));
    assert_true(r.suite->targets == 4 && sum(r.unit[0].right[SPOT_SET_SUITE], 2) == 16);
    spot_background_close(&r);
    CHECK_CONFIG_FREE(cfg);
}

/* ---- models ---- */

TEST_IN_FOLDER(a_model_that_fails_does_not_stop_the_others)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;

    make_world(2, 6);
    add_weights(cfg);
    cfg->model[0].weights = check_text("%s", in_world("images/a/0.png"));
    CHECK_FAILS(&c, run_world(&c, cfg, "run", NULL, 0, 1, &report), SPOT_INPUT, "unit.failed: model 0 | images/a/0.png");
    assert_int_equal(report.done, 1);
    CHECK_CONFIG_FREE(cfg);
}

TEST_IN_FOLDER(outputs_and_classes)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    spot_background_results r;
    world_model m = { .outputs = 4 };

    make_world(2, 6);
    CHECK_FAILS(&c, run_world(&c, cfg, "run", &m, 0, 1, &report), SPOT_INPUT, "unit.failed: model 0 | 4 | 2");
    write_file("outputs.txt", "b\nx\na\ny\n");
    cfg->model[0].classes = check_text("%s", in_world("outputs.txt"));
    cfg->models = 1;
    cfg->model[0].name = "model";
    CHECK_OK(&c, run_world(&c, cfg, "run", &m, 0, 1, &report));       /* outputs 0 and 1 answer: b, and what is no class */
    CHECK_OK(&c, spot_background_read(&c, &r, in_world("run")));
    assert_int_equal(sum(r.unit[0].right[SPOT_SET_ORIGINAL], 2), 0);
    write_file("outputs.txt", "a\nx\nx\ny\n");
    CHECK_FAILS(&c, run_world(&c, cfg, "run", &m, 0, 1, &report), SPOT_INPUT, "unit.failed: model 0 | 1 | 2 | b");
    spot_background_close(&r);
    CHECK_CONFIG_FREE(cfg);
}

/* A model whose outputs stand in another order than the folders, with five targets of each class and with four. */
TEST_IN_FOLDER(outputs_in_another_order)
{
    spot_ctx c = check_ctx(1);
    world_model m = { 0 };
    spot_run_report report;
    spot_background_results r;

    for (int objects = 4; objects <= 5; objects++) {
        spot_background_config *cfg = world_config(4);
        make_world(objects, 6);
        write_file("outputs.txt", "b\na\n");
        cfg->model[0].classes = check_text("%s", in_world("outputs.txt"));
        cfg->models = 1;
        cfg->model[0].name = "model";
        CHECK_OK(&c, run_world(&c, cfg, objects == 4 ? "four" : "five", &m, 0, 1, &report));
        CHECK_OK(&c, spot_background_read(&c, &r, in_world(objects == 4 ? "four" : "five")));
        assert_int_equal(sum(r.unit[0].right[SPOT_SET_ORIGINAL], 2), 0);
        if (objects == 4) assert_true(isnan(r.summary[0].reordered));
        else CHECK_NEAR(r.summary[0].reordered, 1, 0);
        spot_background_close(&r);
        CHECK_CONFIG_FREE(cfg);
    }
}

TEST_IN_FOLDER(an_encoder_that_is_a_model_is_refused)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;

    make_world(2, 6);
    add_weights(cfg);
    cfg->encoders = 1;
    cfg->encoder[0].weight = 1;
    copy_file("weights0.safetensors", "encoder.safetensors");
    cfg->encoder[0].weights = check_text("%s", in_world("encoder.safetensors"));
    CHECK_FAILS(&c, run_world(&c, cfg, "run", NULL, 0, 1, &report), SPOT_INPUT, "suite.own_features");
    CHECK_CONFIG_FREE(cfg);
}

/* ---- the config ---- */

TEST(configs_that_are_refused)
{
    static const char *const wrong[][2] = {
        { "data: {backgrounds: b}\n", "data.no_images" },
        { "data: {images: a}\n", "data.no_backgrounds" },
        { "data: {images: a, backgrounds: b, masks: m, coco: c}\n", "data.coco_and_masks" },
        { "data: {images: a, backgrounds: b, categories: dog}\n", "data.categories_without_coco" },
        { "data: {images: a, backgrounds: b, least: 0.5, most: 0.5}\n", "data.object_share" },
        { "data: {images: a, backgrounds: b}\nsuite: {n: 256}\n", "setting.value: suite.n | 256" },
        { "data: {images: a, backgrounds: b}\nsuite: {choice: ontology}\n", "suite.no_keywords" },
        { "data: {images: a, backgrounds: b}\nsuite: {choice: clip}\n", "suite.no_keywords" },
        { "data: {images: a, backgrounds: b}\nontology: {words: w}\n", "ontology.no_encoder" },
        { "data: {images: a, backgrounds: b}\nmodels: [{name: m, weights: w, command: c}]\n", "models.weights_and_command" },
        { "data: {images: a, backgrounds: b}\nmodels: [{name: m, weights: w}, {name: m, weights: v}]\n", "models.name_twice" },
        { "data: {images: a, backgrounds: b}\nmodels: [{name: m, reliance: -0.5}]\n", "models.reliance" },
        { "data: {images: a, backgrounds: b, sise: 3}\n", "setting.unknown: \"size\"" },
        { "study: shifts\n", "setting.value: study | shifts | background" },
    };
    spot_background_config *cfg = calloc(1, sizeof *cfg);
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(wrong); i++)
        CHECK_FAILS(&c, spot_background_parse(&c, CHECK_AGAIN(cfg), wrong[i][0], strlen(wrong[i][0]), "a.yaml"), SPOT_USAGE,
                    wrong[i][1]);
    CHECK_CONFIG_FREE(cfg);
}

/* The size decides, so that the coarsest level has 14 pixels or more. */
TEST(levels_by_size)
{
    static const int size[][2] = { { 16, 1 }, { 26, 1 }, { 27, 2 }, { 32, 2 }, { 64, 3 }, { 128, 4 }, { 224, 5 }, { 1024, 7 } };
    spot_background_config *cfg = calloc(1, sizeof *cfg);

    spot_background_defaults(cfg);
    for (int i = 0; i < LEN(size); i++) {
        cfg->data.size = size[i][0];
        assert_int_equal(spot_background_levels(cfg), size[i][1]);
    }
    cfg->measure.levels = 9;
    assert_int_equal(spot_background_levels(cfg), 9);
    CHECK_CONFIG_FREE(cfg);
}

/* A run directory has the number, so a config that says it continues the run. */
TEST_IN_FOLDER(a_run_has_the_number_of_levels)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    spot_run_report report;
    spot_background_results r;

    make_world(2, 6);
    add_weights(cfg);
    cfg->measure.levels = 0;
    CHECK_OK(&c, run_world(&c, cfg, "run", NULL, 0, 1, &report));
    CHECK_OK(&c, spot_background_read(&c, &r, in_world("run")));
    assert_int_equal(r.cfg->measure.levels, 2);
    spot_background_close(&r);
    cfg->measure.levels = 2;
    CHECK_OK(&c, run_world(&c, cfg, "run", NULL, 0, 1, &report));
    assert_true(report.already == 2 && !report.done);
    cfg->measure.levels = 3;
    CHECK_FAILS(&c, run_world(&c, cfg, "run", NULL, 0, 1, &report), SPOT_USAGE, "run.other_config: measure.levels | 2 | 3");
    CHECK_CONFIG_FREE(cfg);
}

/* Data may move and models be added; the suite and the measure make another run. */
TEST(keys_and_differences)
{
    static const char text[] = "data: {images: a, backgrounds: b}\nmodels: [{name: m, weights: w}]\n";
    spot_background_config *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    spot_ctx c = check_ctx(1);
    char words[256], *printed;

    CHECK_OK(&c, spot_background_parse(&c, a, text, strlen(text), "a.yaml"));
    CHECK_OK(&c, spot_study_print(&c, &spot_background_study, a, &printed));
    CHECK_OK(&c, spot_background_parse(&c, b, printed, strlen(printed), "printed"));
    assert_true(!spot_config_changes(&spot_background_kind, a, b) && spot_background_key(a).hi == spot_background_key(b).hi);
    b->data.images = "elsewhere";
    b->model = spot_memory_longer(&b->memory, b->model, sizeof *b->model, b->models++, 1);
    b->model[1] = (spot_background_model){ "second", "w", "", "", "", -1, { 0 } };
    assert_true(spot_background_key(a).hi == spot_background_key(b).hi && spot_config_changes(&spot_background_kind, a, b));
    assert_false(spot_study_differs(&spot_background_study, words, sizeof words, a, b));
    b->suite.n = 16;
    assert_true(spot_background_key(a).hi != spot_background_key(b).hi);
    assert_true(spot_study_differs(&spot_background_study, words, sizeof words, a, b));
    assert_string_equal(words, "suite.n is 32 there and 16 here");
    free(printed);
    CHECK_CONFIG_FREE(a), CHECK_CONFIG_FREE(b);
}

/* ---- pixels ---- */

static float cosine(const uint8_t *a, const uint8_t *b)
{
    float x[SPOT_PIXELS_DIM], y[SPOT_PIXELS_DIM], dot = 0;

    spot_pixels_encode(x, a, 32), spot_pixels_encode(y, b, 32);
    for (int i = 0; i < SPOT_PIXELS_DIM; i++) dot += x[i] * y[i];
    return dot;
}

/* Rows have length 1; stripes differ by their direction, colours by their opposite; a grey picture has a row, too. */
TEST(the_encoder_without_weights)
{
    static uint8_t up[32 * 32 * 3], across[32 * 32 * 3], grey[32 * 32 * 3], red[32 * 32 * 3], cyan[32 * 32 * 3];

    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++)
            for (int k = 0; k < 3; k++) {
                const int i = 3 * (32 * y + x) + k;
                up[i] = x / 2 % 2 ? 255 : 0, across[i] = y / 2 % 2 ? 255 : 0, grey[i] = 128;
                red[i] = k ? 0 : 255, cyan[i] = k ? 255 : 0;
            }
    CHECK_NEAR(cosine(up, up), 1, 1e-5);
    CHECK_NEAR(cosine(grey, grey), 1, 1e-5);
    assert_true(cosine(up, across) < 0.2f && cosine(red, cyan) < -0.9f);
}

/* ---- two versions ---- */

/* The version that sees the background is worse; the other way round it is better; a version equals itself. No p is
 * below the exact one: of 12 targets all change, 2^-12, times the numbers that Holm counts, by their share of the error. */
TEST_IN_FOLDER(two_versions_of_a_model)
{
    spot_ctx c = check_ctx(1);
    world_model object = { .of_background = false }, background = { .of_background = true };
    spot_run_report report;
    spot_model_comparison k;

    make_world(6, 6);
    run(&c, "old", &object, 4, &report);
    run(&c, "new", &background, 4, &report);
    CHECK_OK(&c, spot_models_compare(&c, &k, in_world("old"), in_world("new:model"), 0.05));
    assert_true(k.failed && k.changes == SPOT_BACKGROUND_SETS + 1);
    const spot_model_change *turned = &k.change[SPOT_BACKGROUND_SETS], *next = &k.change[SPOT_SET_MIXED_NEXT];
    assert_string_equal(turned->of.name, "turned");
    assert_true(turned->objects == 12 && turned->worse == 12 && !turned->better && turned->now == 1);
    assert_int_equal(turned->verdict, SPOT_CHANGE_WORSE);
    assert_true(next->worse == 12 && next->before == 1 && next->now == 0);
    assert_true(next->p_worse >= 9 * 1.5 / 4096 && next->p_worse < 0.01);      /* 9 numbers have two thirds */
    spot_memory_close(&k.memory);
    CHECK_OK(&c, spot_models_compare(&c, &k, in_world("new"), in_world("old"), 0.05));
    assert_true(!k.failed && k.change[SPOT_BACKGROUND_SETS].verdict == SPOT_CHANGE_BETTER);
    spot_memory_close(&k.memory);
    CHECK_OK(&c, spot_models_compare(&c, &k, in_world("new"), in_world("new"), 0.05));
    for (int i = 0; i < k.changes; i++) assert_true(!k.change[i].worse && !k.change[i].better && !(k.change[i].p_worse < 1));
    spot_memory_close(&k.memory);
    run(&c, "other", &object, 3, &report);
    CHECK_FAILS(&c, spot_models_compare(&c, &k, in_world("old"), in_world("other"), 0.05), SPOT_INPUT, "versions.suites");
    CHECK_FAILS(&c, spot_models_compare(&c, &k, in_world("old"), in_world("new:x"), 0.05), SPOT_USAGE, "run.no_model: \"x\"");
}

/* Two models that know every object, and differ only where there is none: one guesses the class from the background. */
TEST_IN_FOLDER(a_version_need_not_know_the_background_alone)
{
    spot_ctx c = check_ctx(1);
    world_model leans = { .of_black = 1 }, does_not = { .of_black = -1 };
    spot_run_report report;
    spot_model_comparison k;

    make_world(6, 6);
    run(&c, "leans", &leans, 4, &report);
    run(&c, "does_not", &does_not, 4, &report);
    CHECK_OK(&c, spot_models_compare(&c, &k, in_world("leans"), in_world("does_not"), 0.05));
    const spot_model_change *alone = &k.change[SPOT_SET_NO_FG];
    assert_string_equal(alone->of.name, "no-fg");
    assert_true(alone->objects == 12 && alone->worse == 12 && alone->before == 1 && alone->now == 0);
    assert_string_equal(spot_model_change_word(alone), "only shown");
    assert_false(k.failed);
    spot_memory_close(&k.memory);
}
