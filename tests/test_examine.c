/* test_examine.c - host/examine on three objects and a function of the pixels that is the classifier: where p is lowest is
 * known. Interrupted searches, shards, functions that fail, hostile configs. ctest: threads */
#define _GNU_SOURCE                    /* mkdtemp */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks.h"
#include "check_folder.h"

#include "base/file.h"
#include "base/key.h"
#include "examine/examine_config.h"
#include "spotter/examine.h"
#include "spotter/failures.h"
#include "spotter/work.h"

/* ---- a world ---- */

/* Three classes of two objects each; the material's colour names the class. */
static void put_object(const char *cls, int k, const char *colour, double height)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/world", root);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/world/%s", root, cls);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/world/%s/%d.mtl", root, cls, k);
    assert_non_null(f = fopen(path, "w"));
    fprintf(f, "newmtl m\nKd %s\n", colour);
    assert_int_equal(fclose(f), 0);
    snprintf(path, sizeof path, "%s/world/%s/%d.obj", root, cls, k);
    assert_non_null(f = fopen(path, "w"));
    fprintf(f, "mtllib %d.mtl\nusemtl m\n", k);
    for (int i = 0; i < 8; i++) fprintf(f, "v %d %g %d\n", i & 1, (i & 2) ? height : 0, (i & 4) / 4);
    fputs("f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n", f);
    assert_int_equal(fclose(f), 0);
}

static int open_world(void **state)
{
    if (set_up(state)) return -1;
    for (int k = 0; k < 2; k++) {
        put_object("blue", k, ".1 .1 .9", 1 + .2 * k);
        put_object("green", k, ".1 .9 .1", 1 + .2 * k);
        put_object("red", k, ".9 .1 .1", 1 + .2 * k);
    }
    return 0;
}

#define TEST_IN_WORLD(name) TEST_WITH(name, open_world, tear_down)

enum { SIDE = 32 };

static void parse(spot_ctx *c, spot_examine_config *cfg, const char *search, const char *rest)
{
    char text[4096];

    snprintf(text, sizeof text, "study: examine\nobjects: {catalogue: %s/world, choice: first, held_out: 0.5}\n"
             "render: {size: %d, samples: 1}\nmaps: {renders: 60}\nsearch: {%s}\n%s", root, SIDE, search, rest);
    CHECK_OK(c, spot_examine_parse(c, CHECK_AGAIN(cfg), text, strlen(text), "test"));
}

/* ---- a classifier ---- */

typedef struct {
    int mode;                      /* COLOURS, ... */
    int calls, fails_at, stops_at; /* 0: never */
    int pictures;
    volatile sig_atomic_t stop;
} judge;

enum { COLOURS, EQUAL, TURNED };       /* TURNED: each output stands for the class before its own */

/* The logit of a class is the sum of its colour above the others: it grows with the area and the light of the object. */
static spot_status judge_pixels(spot_ctx *c, void *user, const spot_prediction *p)
{
    judge *j = user;

    j->calls++, j->pictures += p->n;
    if (j->fails_at && j->calls >= j->fails_at) return spot_fail(c, SPOT_INPUT, "{test.enough} the function has had enough");
    for (int i = 0; i < p->n; i++) {
        const uint8_t *rgb = p->rgb + (size_t)i * 3 * SIDE * SIDE;
        double sum[3] = { 0, 0, 0 };
        for (int k = 0; k < SIDE * SIDE; k++)
            for (int ch = 0; ch < 3; ch++) sum[ch] += rgb[3 * k + ch] - (rgb[3 * k] + rgb[3 * k + 1] + rgb[3 * k + 2]) / 3.0;
        for (int ch = 0; ch < 3; ch++)                                 /* blue, green, red */
            p->logit[3 * i + (ch + (j->mode == TURNED)) % 3] =
                j->mode == EQUAL ? 0 : (float)(sum[2 - ch] / (255.0 * SIDE * SIDE) * 20);
    }
    if (j->stops_at && j->calls >= j->stops_at) j->stop = 1;
    return SPOT_OK;
}

static spot_status run_in(spot_ctx *c, const spot_examine_config *cfg, const char *name, judge *j, int shard, int shards)
{
    char path[256];
    spot_run_report report;
    spot_examine_options o = { .place = { .out = path, .shard = shard, .shards = shards }, .function = judge_pixels, .user = j,
                               .outputs = 3, .identity = "colours" };

    snprintf(path, sizeof path, "%s/%s", root, name);
    c->stop = &j->stop;
    return spot_examine_run(c, cfg, &o, &report);
}

static void read_in(spot_ctx *c, spot_examine_results *r, const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", root, name);
    CHECK_OK(c, spot_examine_read(c, r, path));
}

/* The record of failures, as it is read back: 4 factors of which 1 varies, 3 objects, 60 random renders of each. */
static void read_failures_in(spot_ctx *c, const char *name, const spot_examine_results *r)
{
    char path[256];
    spot_failures f;

    snprintf(path, sizeof path, "%s/%s", root, name);
    CHECK_OK(c, spot_failures_read(c, &f, path));
    assert_true(f.maps == 7 && f.scans == 3 && f.strips == r->units && f.spent_maps == 180 && f.spent_scans == 99);
    for (int i = 0; i < f.maps; i++) assert_true(f.map[i].all.renders == (i ? 60 : 180) && !f.map[i].has[SPOT_SPHERE_CAMERA]);
    for (int i = 0; i < f.strips; i++) {
        const spot_examine_result *u = &r->unit[f.strip[i].unit];
        assert_true(f.strip[i].pictures > 1 && f.strip[i].picture[0].render == u->usual);
        CHECK_NEAR(f.strip[i].picture[0].p, u->usual_p, 0);
        if (u->point[u->points - 1].valid > 0) CHECK_NEAR(f.strip[i].picture[1].p, u->point[u->points - 1].lowest_valid, 0);
    }
    for (int i = 0; i < f.scans; i++) {
        assert_true(f.scan[i].axes == 1 && f.scan[i].axis[0].factor == SPOT_CAMERA_DISTANCE);
        CHECK_NEAR(f.scan[i].axis[0].at[0], 1.5, 0);
    }
    spot_failures_close(&f);
}

/* Equal segments, histories and tables. */
static void expect_same(const char *a, const char *b)
{
    char command[1024];

    snprintf(command, sizeof command, "cd %s && diff -r %s/segments %s/segments && diff -r %s/searches %s/searches && "
             "cmp %s/examine.json %s/examine.json && cmp %s/examine.csv %s/examine.csv", root, a, b, a, b, a, b, a, b);
    assert_int_equal(system(command), 0);
}

static spot_examine_config cfg;

/* ---- what is found ---- */

/* Only the distance of the camera varies: the farther, the smaller the object and p. */
TEST_IN_WORLD(the_lowest_p_is_where_it_must_be)
{
    static const char *const modes[] = { "weakness", "strength" };
    spot_ctx c = check_ctx(2);

    for (int m = 0; m < 2; m++) {
        char search[256];
        judge j = { .mode = COLOURS };
        spot_examine_results r;
        snprintf(search, sizeof search, "renders: 200, points: '100, 200', perturbed: 20, seeds: 2, mode: %s", modes[m]);
        parse(&c, &cfg, search, "factors: [{factor: camera_distance, least: 1.5}, {factor: sun_energy, least: 2, most: 2}, "
              "{factor: lamp_energy, least: 1, most: 1}, {factor: camera_elevation, least: 20, most: 20}]\n"
              "examiners: [{method: random}, {method: cem, generation: 10, elite: 3}]\n");
        CHECK_OK(&c, run_in(&c, &cfg, modes[m], &j, 0, 1));
        read_in(&c, &r, modes[m]);
        read_failures_in(&c, modes[m], &r);
        assert_int_equal(r.units, 12);
        assert_int_equal(r.objects, 3);
        for (int u = 0; u < r.units; u++) {
            const spot_examine_result *v = &r.unit[u];
            const double at = v->lowest_at[SPOT_CAMERA_DISTANCE];
            assert_int_equal(v->points, 2);
            assert_int_equal(v->point[0].asked, 80);
            assert_int_equal(v->point[1].asked, 180);
            assert_true(m ? at < 2.2 : at > 4.6);
            assert_true(v->lowest_at[SPOT_SUN_ENERGY] == 2);
            assert_true(m ? v->point[1].lowest >= v->point[0].lowest : v->point[1].lowest <= v->point[0].lowest);
            assert_true(fabs(v->point[1].robust - v->point[1].lowest) < 0.1);      /* p changes slowly with the distance */
            assert_true(m ? v->point[1].lowest > v->start : v->point[1].lowest < v->start);
            assert_int_equal(v->learned, -1);
        }
        assert_int_equal(r.summaries, 2);
        assert_true((r.summary[0].line[1].mean.value > r.summary[1].line[1].mean.value) == !m);
        assert_true(r.summary[1].line[1].mean.low <= r.summary[1].line[1].mean.value);
        spot_examine_close(&r);
    }
}

/* ---- what is said of it ---- */

/* Whether one of the sentences of examine.json begins or goes on so. */
static bool says(spot_ctx *c, const spot_examine_results *r, const char *words)
{
    char *json;
    size_t n;

    CHECK_OK(c, spot_examine_json(c, &json, &n, r, NULL));
    const bool there = strstr(json, words) != NULL;
    free(json);
    return there;
}

/* Outputs in another order than the classes are suspected, with the words of `spotter background`; others are not. */
TEST_IN_WORLD(outputs_in_another_order_are_suspected)
{
    spot_ctx c = check_ctx(2);
    spot_examine_results r;

    for (int turned = 0; turned < 2; turned++) {
        judge j = { .mode = turned ? TURNED : COLOURS };
        parse(&c, &cfg, "renders: 40, points: '40', perturbed: 8, seeds: 1", "examiners: [{method: random}]\n");
        CHECK_OK(&c, run_in(&c, &cfg, turned ? "turned" : "straight", &j, 0, 1));
        read_in(&c, &r, turned ? "turned" : "straight");
        assert_true(r.about[0].valid > 0.5 && (turned ? r.about[0].accuracy < 0.1 : r.about[0].accuracy > 0.9));
        assert_true(isfinite(r.about[0].reordered) == turned && (!turned || r.about[0].reordered > 0.9));
        assert_true(says(&c, &r, "\"summary\":[\"The outputs of model may stand in another order than ") == turned);
        assert_false(says(&c, &r, "of the random renders are valid"));
        spot_examine_close(&r);
    }
}

/* When the ranges were doubted: the pictures that the judge had seen by then. */
static judge unseen;
static int doubts, doubted_after;

static void hear_doubts(void *user, spot_log_level level, const char *text)
{
    (void)user;
    if (level != SPOT_LOG_WARN || !strstr(text, "0 % of the random renders are valid, so")) return;
    doubts++, doubted_after = unseen.pictures;
}

/* An object that no pixel shows: no render is valid, and that is no failure, but said before the searches. */
TEST_IN_WORLD(an_object_that_is_never_seen_has_no_valid_render)
{
    spot_ctx c = check_ctx(2);
    spot_examine_results r;

    unseen = (judge){ .mode = COLOURS };
    c.on_log = hear_doubts;
    parse(&c, &cfg, "renders: 60, points: '60', perturbed: 8, seeds: 1",
          "factors: [{factor: camera_distance, least: 900000, most: 900000}, {factor: sun_energy}]\n");
    CHECK_OK(&c, run_in(&c, &cfg, "unseen", &unseen, 0, 1));
    assert_int_equal(doubts, 1);
    assert_int_equal(doubted_after, 3 * SPOT_EXAMINE_START);          /* one object of each class */
    read_in(&c, &r, "unseen");
    for (int u = 0; u < r.units; u++) {
        assert_true(isnan(r.unit[u].point[0].lowest_valid));
        assert_true(r.unit[u].point[0].valid == 0);
        assert_true(fabs(r.unit[u].point[0].lowest - 1 / 3.0) < 1e-6);
        assert_true(fabs(r.unit[u].point[0].robust - 1 / 3.0) < 1e-6);
    }
    assert_true(isnan(r.summary[0].line[0].lowest_valid.value));
    assert_true(r.about[0].failing == 0 && r.about[0].valid == 0 && r.verdict[0].unit == -1);
    assert_true(says(&c, &r, "Only 0 % of the random renders are valid"));
    spot_examine_close(&r);
}

/* Every loss is equal: each examiner spends its budget and ends. */
TEST_IN_WORLD(equal_losses_end_every_search)
{
    spot_ctx c = check_ctx(2);
    judge j = { .mode = EQUAL };
    spot_examine_results r;

    parse(&c, &cfg, "renders: 90, points: '90', perturbed: 10, seeds: 1",
          "examiners: [{method: random}, {method: local}, {method: rl}, {method: cem}, {method: cma}, {method: bo}]\n");
    CHECK_OK(&c, run_in(&c, &cfg, "equal", &j, 0, 1));
    read_in(&c, &r, "equal");
    for (int u = 0; u < r.units; u++) {
        assert_true(fabs(r.unit[u].point[0].mean - 1 / 3.0) < 1e-6);
        assert_int_equal(r.unit[u].point[0].asked, 80);
    }
    spot_examine_close(&r);
}

TEST_IN_WORLD(one_render_is_a_budget)
{
    spot_ctx c = check_ctx(1);
    judge j = { .mode = COLOURS };
    spot_examine_results r;
    spot_examine_history h;

    parse(&c, &cfg, "renders: 1, perturbed: 0, seeds: 1", "examiners: [{method: random}, {method: cem}, {method: cma}]\n");
    CHECK_OK(&c, run_in(&c, &cfg, "one", &j, 0, 1));
    read_in(&c, &r, "one");
    for (int u = 0; u < r.units; u++) assert_true(isnan(r.unit[u].point[0].robust) && r.unit[u].point[0].asked == 1);
    const char *path = in_root("one");
    CHECK_OK(&c, spot_examine_history_read(&c, &h, path, 0));
    assert_int_equal(h.renders, 1);
    assert_int_equal(h.dims, 9);
    assert_true((double)h.p[0] == r.unit[0].point[0].lowest);
    assert_true(isnan(h.fixed.value[SPOT_SUN_ENERGY]) && !isnan(h.fixed.value[SPOT_SUN_X]));
    spot_examine_history_free(&h);
    CHECK_FAILS(&c, spot_examine_history_read(&c, &h, path, 1000), SPOT_IO, "file.unopened: unit-001000");
    spot_examine_close(&r);
}

/* An examiner with a budget of its own ends there, and the points of its curve are its own. */
TEST_IN_WORLD(examiners_may_have_their_own_budgets)
{
    static const struct { int points, renders[3]; } own[] = { { 2, { 60, 120 } }, { 3, { 20, 30, 50 } }, { 2, { 40, 120 } },
                                                              { 3, { 20, 50, 100 } } };
    spot_ctx c = check_ctx(2);
    judge j = { .mode = COLOURS };
    spot_examine_results r;
    spot_examine_history h;
    spot_examine_cost cost;

    parse(&c, &cfg, "renders: 120, points: '60, 120', perturbed: 10, seeds: 2",
          "examiners: [{method: cem}, {method: random, renders: 50, points: '20, 30, 50'}, {method: local, points: '40, 120'}, "
          "{method: cma, renders: 100}]\nmodels: [{name: a, command: none}]\n");
    CHECK_OK(&c, spot_examine_cost_of(&c, &cfg, &cost));
    CHECK_NEAR(cost.renders, 6 * (110 + 40 + 110 + 90 + 10 * (2 + 3 + 2 + 3)) + 3 * (64 + 256), 1e-9);
    CHECK_OK(&c, run_in(&c, &cfg, "own", &j, 0, 1));
    read_in(&c, &r, "own");
    const char *path = in_root("own");
    for (int u = 0; u < r.units; u++) {
        const spot_examine_result *v = &r.unit[u];
        assert_int_equal(v->points, own[v->examiner].points);
        for (int k = 0; k < v->points; k++) {
            assert_int_equal(v->point[k].renders, own[v->examiner].renders[k]);
            assert_int_equal(v->point[k].asked, v->point[k].renders - 10);
        }
        CHECK_OK(&c, spot_examine_history_read(&c, &h, path, u));
        assert_int_equal(h.renders, v->point[v->points - 1].asked);
        spot_examine_history_free(&h);
    }
    for (int e = 0; e < 4; e++) {
        assert_int_equal(r.summary[e].points, own[e].points);
        for (int k = 0; k < own[e].points; k++) assert_int_equal(r.summary[e].line[k].renders, own[e].renders[k]);
    }
    spot_examine_close(&r);
}

/* Uniform points depend on no budget: a short search is the beginning of a long one. */
TEST_IN_WORLD(a_point_depends_on_no_budget)
{
    spot_ctx c = check_ctx(2);
    judge j = { .mode = COLOURS };
    spot_examine_results r;

    parse(&c, &cfg, "renders: 120, points: '60, 120', perturbed: 10, seeds: 1",
          "examiners: [{method: random}, {method: random, name: short, renders: 60, points: '60'}]\n");
    CHECK_OK(&c, run_in(&c, &cfg, "short", &j, 0, 1));
    read_in(&c, &r, "short");
    for (int i = 0; i < r.objects; i++) {
        const spot_examine_point *a = &r.unit[i].point[0], *b = &r.unit[r.objects + i].point[0];
        assert_true(a->mean == b->mean && a->lowest == b->lowest && a->robust == b->robust && a->valid == b->valid);
    }
    spot_examine_close(&r);
}

/* ---- the same bytes ---- */

static const char *const usual = "renders: 120, points: '60, 120', perturbed: 10, seeds: 2";
static const char *const usual_examiners = "examiners: [{method: cem, generation: 10}, {method: cma, renders: 80}]\n";

TEST_IN_WORLD(threads_shards_and_stops_change_no_byte)
{
    spot_ctx one = check_ctx(1), four = check_ctx(4);
    judge j = { .mode = COLOURS };
    const char *const parts[] = { "part0", "part1", "part2" };
    char path[3][256], out[256];
    const char *dirs[3];
    spot_merge_report report;
    int stops = 0;

    parse(&one, &cfg, usual, usual_examiners);
    CHECK_OK(&one, run_in(&one, &cfg, "whole", &j, 0, 1));
    CHECK_OK(&four, run_in(&four, &cfg, "threads", &j, 0, 1));
    expect_same("whole", "threads");
    for (int i = 0; i < 3; i++) {
        CHECK_OK(&one, run_in(&one, &cfg, parts[i], &j, i, 3));
        snprintf(path[i], sizeof path[i], "%s/%s", root, parts[i]);
        dirs[i] = path[i];
    }
    snprintf(out, sizeof out, "%s/merged", root);
    CHECK_OK(&one, spot_work_merge(&one, &spot_examine_study, dirs, 3, out, &(spot_merge_options){ .pictures = true },
                                   &report));
    free(report.ec);
    expect_same("whole", "merged");
    for (spot_status s = SPOT_STOPPED; s == SPOT_STOPPED; stops++) {   /* stopped after every three looks */
        judge once = { .mode = COLOURS, .stops_at = 3 + stops };
        spot_ctx c = check_ctx(2);
        s = run_in(&c, &cfg, "stopped", &once, 0, 1);
        assert_true(stops < 200);
        if (s != SPOT_STOPPED) CHECK_OK(&c, s);
    }
    assert_true(stops > 4);
    expect_same("whole", "stopped");
}

/* A search that is stopped in its middle: the next start asks the model for what the file lacks. It looks at the objects again,
 * as every start does; that is less than half of what the first start has asked for. */
TEST_IN_WORLD(a_continued_search_renders_what_the_file_lacks)
{
    spot_ctx c = check_ctx(2);
    judge all = { .mode = COLOURS }, first = { .mode = COLOURS }, rest = { .mode = COLOURS };

    parse(&c, &cfg, "renders: 400, points: '200, 400', perturbed: 10, seeds: 1",
          "examiners: [{method: cem, generation: 10}]\n");
    CHECK_OK(&c, run_in(&c, &cfg, "whole", &all, 0, 1));
    first.stops_at = 3 * all.calls / 4;
    assert_int_equal(run_in(&c, &cfg, "stopped", &first, 0, 1), SPOT_STOPPED);
    spot_forget(&c);
    CHECK_OK(&c, run_in(&c, &cfg, "stopped", &rest, 0, 1));
    print_message("%d pictures at once, %d until the stop, %d then\n", all.pictures, first.pictures, rest.pictures);
    assert_in_range(first.pictures, all.pictures / 2, all.pictures);
    assert_in_range(rest.pictures, all.pictures - first.pictures, all.pictures - first.pictures / 2);
    expect_same("whole", "stopped");
}

typedef struct { judge j; int all, reports; double before, worst; } listener;

/* The share that is told beside the share of the pictures that the model has seen. */
static void compare_shares(void *user, const spot_progress *p)
{
    listener *l = user;
    const double told = p->done / p->total;

    if (strcmp(p->stage, "examine")) return;
    assert_true(told >= l->before && told <= 1);
    l->worst = fmax(l->worst, fabs(told - (double)l->j.pictures / l->all));
    l->before = told, l->reports++;
}

/* A bar that stands still while maps and fresh renders are drawn, and runs in the rounds between them, tells no time left. */
TEST_IN_WORLD(the_progress_is_that_of_the_renders)
{
    spot_ctx c = check_ctx(2);
    listener l = { .before = 0 };

    parse(&c, &cfg, "renders: 100, points: '50, 100', perturbed: 20, seeds: 2",
          "examiners: [{method: random}, {method: cem, generation: 10}]\n");
    CHECK_OK(&c, run_in(&c, &cfg, "all", &l.j, 0, 1));
    l.all = l.j.pictures, l.j.pictures = 0;
    c.on_progress = compare_shares, c.user = &l;
    CHECK_OK(&c, run_in(&c, &cfg, "heard", &l.j, 0, 1));
    print_message("%d reports, at most %.3f away from the share of %d pictures\n", l.reports, l.worst, l.all);
    assert_true(l.reports > 50 && l.worst < 0.03);
}

typedef struct { double told[200]; int reports; } teller;

static void keep_share(void *user, const spot_progress *p)
{
    teller *t = user;

    if (!strcmp(p->stage, "examine") && t->reports < 200) t->told[t->reports++] = p->done / p->total;
}

/* A point of bo-2019 takes longer by the square of the points before it: reports 70 to 90 tell some seven times what reports 20
 * to 40 do. */
TEST_IN_WORLD(the_progress_is_that_of_the_work)
{
    spot_ctx c = check_ctx(2);
    judge j = { .mode = COLOURS };
    teller t = { .reports = 0 };

    parse(&c, &cfg, "renders: 101, points: '101', perturbed: 1, seeds: 1", "examiners: [{method: bo-2019}]\n");
    c.on_progress = keep_share, c.user = &t;
    CHECK_OK(&c, run_in(&c, &cfg, "work", &j, 0, 1));
    const double early = t.told[40] - t.told[20], late = t.told[90] - t.told[70];
    print_message("%d reports, %.4f early and %.4f late\n", t.reports, early, late);
    assert_true(t.reports > 90 && early > 0 && late / early > 5 && late / early < 9);
}

/* A function that fails in mid-search: a sentence, what is there stays, and the next run ends with the same bytes. */
TEST_IN_WORLD(a_model_that_fails_loses_nothing)
{
    spot_ctx c = check_ctx(2);
    judge j = { .mode = COLOURS }, bad = { .mode = COLOURS, .fails_at = 12 };
    spot_examine_results r;
    char path[256];

    parse(&c, &cfg, usual, usual_examiners);
    CHECK_OK(&c, run_in(&c, &cfg, "good", &j, 0, 1));
    CHECK_FAILS(&c, run_in(&c, &cfg, "bad", &bad, 0, 1), SPOT_INPUT, "unit.failed: enough");
    spot_forget(&c);
    snprintf(path, sizeof path, "%s/bad/searches/000/unit-000000.safetensors", root);
    assert_int_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/bad", root);
    CHECK_FAILS(&c, spot_examine_read(&c, &r, path), SPOT_INPUT, "run.unfinished: search 0");
    assert_true(r.missing);
    spot_examine_close(&r);
    spot_forget(&c);
    CHECK_OK(&c, run_in(&c, &cfg, "bad", &j, 0, 1));
    expect_same("good", "bad");
}

/* A damaged history of a search that is not done is no failure; that of one which is done, and lost, is made again. */
TEST_IN_WORLD(lost_and_damaged_files_are_made_again)
{
    spot_ctx c = check_ctx(2);
    judge j = { .mode = COLOURS };
    char command[512];

    parse(&c, &cfg, usual, usual_examiners);
    CHECK_OK(&c, run_in(&c, &cfg, "good", &j, 0, 1));
    snprintf(command, sizeof command, "cp -r %s/good %s/hurt && cd %s/hurt && rm segments/000/unit-000001.json "
             "searches/000/unit-000003.safetensors && head -c 100 searches/000/unit-000001.safetensors >x && mv x "
             "searches/000/unit-000001.safetensors", root, root, root);
    assert_int_equal(system(command), 0);
    CHECK_OK(&c, run_in(&c, &cfg, "hurt", &j, 0, 1));
    expect_same("good", "hurt");
}

/* ---- configs ---- */

TEST_IN_WORLD(another_config_is_another_run)
{
    spot_ctx c = check_ctx(1);
    judge j = { .mode = COLOURS };

    parse(&c, &cfg, "renders: 40, perturbed: 5, seeds: 1", "examiners: [{method: random}]\n");
    CHECK_OK(&c, run_in(&c, &cfg, "run", &j, 0, 1));
    cfg.search.seed = 7;
    CHECK_FAILS(&c, run_in(&c, &cfg, "run", &j, 0, 1), SPOT_USAGE, "run.other_config: search.seed | 1 | 7");
}

TEST_IN_WORLD(a_printed_config_reads_back)
{
    static spot_examine_config again;
    spot_ctx c = check_ctx(1);
    char *text, *other, key[33], key_again[33], words[512];

    parse(&c, &cfg, "renders: 500", "classes: [{name: red, words: red crimson}, {name: blue, leave: true}, {name: green}]\n"
          "factors: [{factor: camera_roll, least: 10, most: 20}, {factor: sun_energy}]\n"
          "models: [{name: a, region: [{factor: camera_elevation, absolute: true, least: 60}, {factor: camera_distance, "
          "most: 2.5}]}, {name: b, command: cat}]\n"
          "examiners: [{method: cem, generation: 30}, {method: rl, reward: rank, lr: 0.01}, {method: bo}]\n");
    assert_int_equal(cfg.search.points, 4);
    assert_int_equal(cfg.search.point[0], 50);
    assert_true(cfg.factor[1].least == 0 && cfg.factor[1].most == 5);
    assert_true(cfg.model[0].limit[0].most == 90 && cfg.model[0].limit[1].least == 1);
    assert_true(cfg.examiner[1].rl.lr == 0.01 && cfg.examiner[1].rl.batch == 32);
    CHECK_OK(&c, spot_study_print(&c, &spot_examine_study, &cfg, &text));
    CHECK_OK(&c, spot_examine_parse(&c, CHECK_AGAIN(&again), text, strlen(text), "printed"));
    CHECK_OK(&c, spot_study_print(&c, &spot_examine_study, &again, &other));
    assert_string_equal(text, other);
    spot_key_text(key, spot_examine_key(&cfg));
    spot_key_text(key_again, spot_examine_key(&again));
    assert_string_equal(key, key_again);
    assert_false(spot_study_differs(&spot_examine_study, words, sizeof words, &cfg, &again));
    again.model[0].lr = 1;
    assert_true(spot_study_differs(&spot_examine_study, words, sizeof words, &cfg, &again));
    assert_string_equal(words, "models[0].lr is 0.002 there and 1 here");
    free(text), free(other);
}

static void key_of(char key[33], const char *examiners)
{
    spot_ctx c = check_ctx(1);

    parse(&c, &cfg, "renders: 500", examiners);
    spot_key_text(key, spot_examine_key(&cfg));
}

/* Runs from before examiners had budgets keep their key. */
TEST(only_a_budget_of_its_own_changes_the_key)
{
    char plain[33], same[33], renders[33], points[33];

    key_of(plain, "examiners: [{method: cem}]");
    key_of(same, "examiners: [{method: cem, renders: 0, points: ''}]");
    key_of(renders, "examiners: [{method: cem, renders: 500}]");
    key_of(points, "examiners: [{method: cem, points: '100, 500'}]");
    assert_string_equal(plain, same);
    assert_string_not_equal(plain, renders);
    assert_string_not_equal(plain, points);
    assert_string_not_equal(renders, points);
}

static void refuse(const char *text, const char *words)
{
    spot_ctx c = check_ctx(1);
    char whole[1024];

    snprintf(whole, sizeof whole, "study: examine\nobjects: {catalogue: x}\n%s\n", text);
    CHECK_FAILS(&c, spot_examine_parse(&c, CHECK_AGAIN(&cfg), whole, strlen(whole), "test"), SPOT_USAGE, words);
}

TEST(wrong_settings_have_a_sentence)
{
    static const char *const wrong[][2] = {
        { "search: {renders: 0}", "setting.value: search.renders | 0" },
        { "search: {renders: 1}", "examiners.renders: 32" },
        { "search: {renders: 32}", "examiners.renders: 32" },
        { "search: {renders: 100, points: '50, 40, 100'}", "examiners.points" },
        { "search: {renders: 100, points: '50'}", "examiners.points: search | 100" },
        { "search: {renders: 100, points: '50, 100 x'}", "examiners.points" },
        { "search: {renders: 100, points: '20, 100'}", "examiners.points: 20" },
        { "search: {renders: 100, points: '99999999999999999999, 100'}", "examiners.points" },
        { "factors: [{factor: camera_roll, least: 20, most: 10}]", "conditions.order: camera_roll | 20 | 10" },
        { "factors: [{factor: camera_roll, least: 10, most: 10}]", "conditions.none_left" },
        { "factors: [{factor: camera_roll}, {factor: camera_roll}]", "conditions.factor_twice" },
        { "factors: [{factor: camera_distance, least: -1, most: 2}]", "conditions.distance" },
        { "factors: [{factor: camera_elevation, least: -200, most: 90}]", "conditions.elevation: camera_elevation | -200 | 90" },
        { "factors: [{factor: lamp_elevation, least: 0, most: 91}]", "conditions.elevation: lamp_elevation | 0 | 91" },
        { "factors: [{factor: sun_z, least: -200, most: 161}]", "conditions.turn: sun_z | -200 | 161 | 360" },
        { "factors: [{factor: camera_rol}]", "setting.value: \"camera_roll\"" },
        { "models: [{weights: x}]", "models.no_name" },
        { "models: [{name: a, weights: x, command: y}]", "models.weights_and_command" },
        { "models: [{name: a}, {name: a}]", "models.name_twice" },
        { "models: [{name: ../a}]", "models.name" },
        { "models: [{name: a, weights: x, region: [{factor: sun_energy, most: 1}]}]", "models.region_untrained" },
        { "models: [{name: a, region: [{factor: sun_energy, least: 2, most: 1}]}]", "models.region" },
        { "models: [{name: a, least_elevation: 30, most_elevation: 20}]", "models.elevation" },
        { "render: {size: 40}\nmodels: [{name: a}]", "render.network_size" },
        { "render: {samples: 3}", "setting.value" },
        { "examiners: [{method: cem}, {method: cem, elite: 2}]", "examiners.name_twice: \"cem\"" },
        { "search: {renders: 100}\nexaminers: [{method: cem, renders: 32}]", "examiners.renders: examiners[0] | 32 | 32" },
        { "examiners: [{method: cem, points: '50, 100'}]", "examiners.points: examiners[0] | 1000" },
        { "examiners: [{method: cma}, {method: cem, renders: 100, points: '20, 100'}]", "examiners.points: examiners[1] | 20" },
        { "examiners: [{method: cem, renders: -1}]", "setting.value: renders | -1" },
        { "examiners: [{method: cems}]", "setting.value: \"cem\"" },
        { "examiners: [{method: cem, kappa: 2}]", "setting.foreign" },
        { "classes: [{name: a}]", "classes.few" },
        { "classes: [{name: a}, {name: a}]", "classes.name_twice" },
        { "models: 3", "setting.shape: models" },
    };

    for (int i = 0; i < LEN(wrong); i++) refuse(wrong[i][0], wrong[i][1]);
}

TEST_IN_WORLD(a_world_that_does_not_suffice_has_a_sentence)
{
    spot_ctx c = check_ctx(1);
    judge j = { .mode = COLOURS };

    parse(&c, &cfg, "renders: 40", "");
    cfg.objects.per_class = 2;
    CHECK_FAILS(&c, run_in(&c, &cfg, "few", &j, 0, 1), SPOT_USAGE, "objects.held_out: 1 | 2 | \"blue\"");
    c = check_ctx(1);
    cfg.objects.catalogue = check_text("%s/nowhere", root);
    assert_true(run_in(&c, &cfg, "none", &j, 0, 1) != SPOT_OK);
}

static double seconds_of_parser;           /* 0: as usual */

spot_mesh_options __real_spot_mesh_defaults(void);
spot_mesh_options __wrap_spot_mesh_defaults(void);
spot_mesh_options __wrap_spot_mesh_defaults(void)
{
    spot_mesh_options o = __real_spot_mesh_defaults();

    if (seconds_of_parser > 0) o.seconds = seconds_of_parser;
    return o;
}

static spot_status train_in(spot_ctx *c, const char *name)
{
    char path[256];
    spot_run_report report;
    const spot_examine_options o = { .place = { .out = path, .shards = 1 } };

    snprintf(path, sizeof path, "%s/%s", root, name);
    return spot_examine_run(c, &cfg, &o, &report);
}

/* A network does not learn without an object because a machine was busy; and what cannot be read is not held out. */
TEST_IN_WORLD(an_object_that_is_read_too_slowly_is_named)
{
    spot_ctx c = check_ctx(1);

    parse(&c, &cfg, "renders: 40", "models: [{name: net, width: 16, renders: 40, steps: 1}]\n");
    put_text("spotter-mesh", "#!/bin/sh\nexec sleep 60\n");
    assert_int_equal(chmod(check_text("%s/spotter-mesh", root), 0700), 0);
    setenv("SPOT_PARSER_DIR", root, 1);
    seconds_of_parser = 0.2;
    CHECK_FAILS(&c, train_in(&c, "slow"), SPOT_INPUT, "mesh.too_slow: obj | world/blue | 0.2");
    seconds_of_parser = 0;
    unsetenv("SPOT_PARSER_DIR");
    for (int i = 0; i < 2; i++) put_text(i ? "world/green/1.obj" : "world/green/0.obj", "nothing at all\n");
    CHECK_FAILS(&c, train_in(&c, "unread"), SPOT_INPUT, "objects.unread: \"net\" | \"green\" | 1 | world/green");
}
