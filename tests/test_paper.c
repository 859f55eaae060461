/* test_paper.c - runs on pictures beside the paper's tables of pictures, and on nothing else; the successes of appendix B; what
 * a run has that the paper had otherwise; Spotlight's two profiles; an FDR that nobody can know. */
#define _POSIX_C_SOURCE 200809L
#include "check_results.h"

#include "report/figure/figure.h"
#include "report/table/counts.h"
#include "report/table/paper.h"
#include "spotter/sweep.h"

static spot_config cfg;

/* A segment of pictures in place of a scene's: task, specificities by `specific`, no FDR. */
typedef int chooser(int ec, int blindspot);

static void turn_into_pictures(spot_ctx *c, const char *dir, int ecs, chooser *specific, chooser *learns)
{
    static const char *const tasks[] = { "animal", "vehicle", "furniture" };
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state state;
    char why[1300];
    assert_non_null(s);
    for (int i = 0; i < ecs; i++) {
        CHECK_OK(c, spot_segment_read(c, dir, i, s, &state, why, sizeof why));
        s->rollable[0] = 0;
        s->status = SPOT_OK;
        s->blindspots = 1 + i / 3 % 3;
        s->lesson = (spot_learning){ .outside = 0.9, .learned = learns(i, 0) };
        snprintf(s->layers, sizeof s->layers, "%s", tasks[i % 3]);
        for (int m = 0; m < s->blindspots; m++) {
            s->specificity[m] = specific(i, m);
            snprintf(s->blindspot[m], sizeof s->blindspot[m], "thing %d%s", i, s->specificity[m] > 1 ? " with hat" : "");
        }
        for (int b = 0; b < s->methods; b++) {
            spot_score *k = &s->method[b].score;
            s->method[b].status = SPOT_OK;
            k->blindspots = s->blindspots;
            for (int m = 0; m < s->blindspots; m++) k->covered[m] = (i + m + b) % 2;
            k->dr = 0;
            for (int m = 0; m < s->blindspots; m++) k->dr += (double)k->covered[m] / s->blindspots;
            k->fdr = NAN;
        }
        CHECK_OK(c, spot_segment_write(c, dir, s));
    }
    spot_segment_free(s);
}

static int second(int ec, int m) { return 1 + (ec + m) % 2; }
static int single(int ec, int m) { return (void)ec, (void)m, 1; }
static int most(int ec, int m) { return (void)m, ec % 5 != 4; }
static int all(int ec, int m) { return (void)ec, (void)m, 1; }

#define COCO_DATA "data: {coco: coco.json, images: coco, %s}\n"
#define COCO_MODEL "model: {epochs: 10, batch: 16, lr: 1.0e-4, learned_gap: 0.2}\n"
#define METHODS "bdms:\n - {method: planespot, reduce: [scvis, pca]}\n - {method: spotlight, profile: [paper, spotter]}\n" \
                " - {method: barlow, representation: model}\n"

/* A run on pictures of a pool in root/name. */
static const char *pictures(spot_ctx *c, const char *name, const char *data, int ecs, chooser *specific, chooser *learns)
{
    static char dir[4][96];
    static int at;
    char yaml[1000], *to = dir[at++ % 4];
    snprintf(yaml, sizeof yaml, "ecs: %d\n" COCO_DATA COCO_MODEL METHODS "metric: {lambda_p: 0.5, lambda_r: 0.5}\n", ecs, data);
    CHECK_OK(c, spot_config_parse(c, CHECK_AGAIN(&cfg), yaml, strlen(yaml), "config"));
    snprintf(to, 96, "%s/%s", root, name);
    fake_run(c, to, &cfg);
    turn_into_pictures(c, to, ecs, specific, learns);
    return to;
}

static char *table(spot_ctx *c, const char *const *dirs, int n, int number, spot_table_format format)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    CHECK_OK(c, spot_tables_paper(c, f, dirs, n, number, format, false));
    fclose(f);
    return text;
}

static void holds(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in\n%s", words, text);
}

static void lacks(const char *text, const char *words)
{
    if (strstr(text, words)) fail_msg("\"%s\" is in\n%s", words, text);
}

TEST_WITH(pictures_stand_beside_tables_of_pictures_only, set_up, tear_down)
{
    static const int scenes[] = { 2, 7, 9, 10, 11, 12, 13, 16, SPOT_APPENDIX_B };
    spot_ctx c = check_ctx(1);
    const char *run = pictures(&c, "coco", "pool: general", 45, second, all);
    char *text;
    for (int i = 0; i < LEN(scenes); i++)
        CHECK_FAILS(&c, spot_tables_paper(&c, stdout, &run, 1, scenes[i], SPOT_TABLE_TEXT, false), SPOT_USAGE,
                    "paper.setting: rendered");
    CHECK_FAILS(&c, spot_tables_paper(&c, stdout, &run, 1, 15, SPOT_TABLE_TEXT, false), SPOT_USAGE,
                "paper.setting: Tables 3, 4, 8 and 14");
    text = table(&c, &run, 1, 4, SPOT_TABLE_TEXT);
    holds(text, "Table 4. COCO: average DR");
    holds(text, "\nPlaneSpot             planespot-scvis");
    holds(text, "0.48 (0.05)");
    holds(text, "\nSpotlight             spotlight-paper");
    holds(text, "\nSpotlight, Spotter's  spotlight ");
    holds(text, "\nDomino                not measured");
    holds(text, "model.init=\"\" (\"ImageNet's weights\")");
    lacks(text, "FDR");
    lacks(text, "0.88");
    free(text);
    text = table(&c, &run, 1, 8, SPOT_TABLE_CSV);
    holds(text, "\n8,\"PCA, d = 2\",\"planespot-pca\",");
    holds(text, ",0.33,0.047,");
    lacks(text, ",fdr,");
    holds(text, "\n8,\"t-SNE, d = 2\",\"\",");
    free(text);
    text = table(&c, &run, 1, 4, SPOT_TABLE_JSON);
    lacks(text, "\"fdr\"");
    free(text);
    run = pictures(&c, "number", "pool: number", 45, single, all);
    CHECK_FAILS(&c, spot_tables_paper(&c, stdout, &run, 1, 4, SPOT_TABLE_TEXT, false), SPOT_USAGE,
                "paper.pool: Table 4 | general");
    run = pictures(&c, "birds", "tasks: bird, against: animal, pool: number, val: 0.1, test: 0.4, category_least: 1000", 45,
                   single, all);
    text = table(&c, &run, 1, 15, SPOT_TABLE_MD);
    holds(text, "0.61 (0.05)");
    holds(text, "metric.lambda_r=0.5 (0.3)");
    lacks(text, "data.");
    free(text);
}

/* 45 ECs of three tasks and numbers; every fifth did not learn. */
TEST_WITH(tables_3_and_14_count, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    const char *run = pictures(&c, "coco", "pool: general", 45, second, most), *two[2] = { run, run };
    spot_results *r;
    char *text, want[96];
    CHECK_OK(&c, spot_results_read(&c, &r, run, false));
    text = table(&c, &run, 1, 14, SPOT_TABLE_CSV);
    for (int t = 0; t < 3; t++)
        for (int k = 1; k <= 3; k++) {
            static const char *const tasks[] = { "animal", "vehicle", "furniture" };
            static const int papers[3][3] = { { 10, 8, 7 }, { 8, 6, 7 }, { 8, 6, 5 } };
            int of = 0, kept = 0;
            for (int i = 0; i < 45; i++)
                if (i % 3 == t && 1 + i / 3 % 3 == k) of++, kept += i % 5 != 4;
            assert_int_equal(of, 5);
            snprintf(want, sizeof want, "\nTable 14,\"%s, %d blindspot%s\",%s,%s,%d,%d,", tasks[t], k, k > 1 ? "s" : "", run,
                     r->config, kept, of);
            holds(text, want);
            snprintf(want, sizeof want, ",%d,10,0.%d,", papers[t][k - 1], papers[t][k - 1]);
            if (papers[t][k - 1] < 10) holds(text, want);
        }
    free(text);
    text = table(&c, &run, 1, 3, SPOT_TABLE_JSON);
    for (int k = 1; k <= 3; k++) {
        int of = 0, specific = 0;
        for (int i = 0; i < 45; i++)
            for (int m = 0; m < k && 1 + i / 3 % 3 == k && i % 5 != 4; m++) of++, specific += second(i, m) > 1;
        snprintf(want, sizeof want, "\"count\": %d", specific);
        holds(text, want);
        snprintf(want, sizeof want, "\"of\": %d", of);
        holds(text, want);
    }
    holds(text, "\"paper\": 0.47");
    free(text);
    text = table(&c, &run, 1, 3, SPOT_TABLE_MD);
    holds(text, "at least 0.2 below that outside it");
    free(text);
    CHECK_FAILS(&c, spot_tables_paper(&c, stdout, two, 2, 3, SPOT_TABLE_TEXT, false), SPOT_USAGE, "table.one_run: Table 3");
    spot_results_free(r);
}

/* Wilson's interval of 9 in 10 is 0.5958 to 0.9821. */
TEST_WITH(appendix_b_has_a_line_for_each_way, set_up, tear_down)
{
    static const char *const scene[] = { "flip: 0.5", "flip: 0.3, size: 64", "induce: leave_out", "flip: 0.7" };
    char folder[4][96], yaml[300], *text;
    const char *dirs[4];
    spot_ctx c = check_ctx(1);
    for (int i = 0; i < 4; i++) {
        snprintf(yaml, sizeof yaml, "ecs: 11\nscene: {%s, jpeg_quality: 75}\nmodel: {batch: 16, learned_gap: 0.2}\n"
                 "bdms: [{method: spotlight}]\n", scene[i]);
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), yaml, strlen(yaml), "config"));
        snprintf(folder[i], sizeof folder[i], "%s/%d", root, i);
        fake_run(&c, dirs[i] = folder[i], &cfg);                /* EC 7 did not learn, EC 9 was not trained */
    }
    text = table(&c, dirs, 4, SPOT_APPENDIX_B, SPOT_TABLE_MD);
    holds(text, "Appendix B. ");
    holds(text, "\n| a label flipped in 50 of 100    |      9 of 11 |");
    holds(text, "| 36 of 50 |");
    holds(text, "\n| blindspots left out of training |      9 of 11 |");
    holds(text, "|  0 of 50 |");
    holds(text, "\n| every label flipped             | not measured |");
    holds(text, "\n| a label flipped with chance 0.7 |      9 of 11 |");
    holds(text, "appendix B says \"significantly worse recall\" and no number");
    holds(text, "model.init=\"\" (\"ImageNet's weights\")");
    holds(text, "scene.size=64 (224)");
    lacks(text, "scene.flip=");
    lacks(text, "learned_gap=");
    free(text);
    text = table(&c, dirs, 1, SPOT_APPENDIX_B, SPOT_TABLE_CSV);
    holds(text, "\nAppendix B,a label flipped in 30 of 100,,,,,,,,5,50,0.1,,\n");
    free(text);
    static const char mixed[] = "ecs: 12\nscene: {jpeg_quality: 75}\nvariants:\n - {name: half, scene: {flip: 0.5}}\n"
                                " - {name: out, scene: {induce: leave_out}}\nmodel: {learned_gap: 0.2}\n"
                                "bdms: [{method: spotlight}]\n";
    CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), mixed, strlen(mixed), "config"));
    snprintf(folder[0], sizeof folder[0], "%s/mixed", root);
    fake_run(&c, folder[0], &cfg);                              /* ECs 7 and 9 are of the second variant */
    text = table(&c, dirs, 1, SPOT_APPENDIX_B, SPOT_TABLE_MD);
    holds(text, "\n| a label flipped in 50 of 100    |       6 of 6 |");
    holds(text, "\n| blindspots left out of training |       4 of 6 |");
    lacks(text, "variants");
    free(text);
    CHECK_NEAR(spot_share(9, 10).low, 0.59585, 1e-5);
    CHECK_NEAR(spot_share(9, 10).high, 0.98212, 1e-5);
    assert_int_equal(spot_share(0, 0).n, 0);
}

/* On pictures nothing counts an FDR: no mean, no n, no ECs left out, no factor, no panel. In a mixture the unknown ones count
 * nowhere. */
TEST_WITH(an_unknown_fdr_counts_nowhere, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    const char *run = pictures(&c, "coco", "pool: general", 45, second, most);
    spot_figures_options o = { .which = 1u << 3 };
    spot_figure *f = calloc(1, sizeof *f);
    spot_factor_row row;
    spot_results *r;
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(f);
    CHECK_OK(&c, spot_tables(&c, to, run, SPOT_TABLE_CSV, false));
    fclose(to);
    holds(text, "\"spotlight-paper\",,fdr,,,0,0\n");
    lacks(text, "fdr[");
    free(text);
    to = open_memstream(&text, &size);
    CHECK_OK(&c, spot_tables(&c, to, run, SPOT_TABLE_TEXT, false));
    fclose(to);
    lacks(text, "FDR (s.e.)");
    lacks(text, "FDR 1");
    holds(text, "no FDR: real pictures");
    free(text);
    CHECK_OK(&c, spot_results_read(&c, &r, run, false));
    for (int i = 0; spot_factor_next(r, &i, &row);) assert_int_not_equal(row.rate, SPOT_RATE_FDR);
    *f = (spot_figure){ .c = &c, .o = &o, .r = r };
    CHECK_OK(&c, spot_figure_compose(f, 3));
    assert_int_equal(f->chart.panels, 2);
    assert_string_equal(f->chart.panel[1].title, "Blindspots covered");
    holds(f->chart.caption, "Hollow: the paper's means over its ECs (Table 4).");
    lacks(f->chart.caption, "FDR");
    for (int s = 0; s < f->methods; s++) {
        const spot_chart_panel *p = &f->chart.panel[0];
        const char *name = f->chart.name[s];
        double paper = !strcmp(name, "planespot-scvis") ? 0.48 : !strcmp(name, "spotlight-paper") ? 0.14
                     : strstr(name, "barlow") ? 0.09 : 0;
        assert_string_equal(p->level[p->levels - 1].count, "65 ECs");
        if (paper > 0) CHECK_NEAR(p->at[s][p->levels - 1].mean, paper, 0);
        else assert_int_equal(p->at[s][p->levels - 1].n, 0);
    }
    free(f);
    r->cfg.data.coco = "";                                    /* as if it were a run of scenes */
    for (int i = 0; i < r->ecs; i++) r->method[0].rates[i].fdr = i % 2 && r->method[0].rates[i].dr > 0 ? 0.25 : NAN;
    spot_estimate e = spot_factor(r, 0, SPOT_RATE_FDR, SPOT_EVERY);
    int known = 0, unknown = 0;
    for (int i = 0; i < r->ecs; i++) {
        known += r->ec[i].counted && !isnan(r->method[0].rates[i].fdr);
        unknown += r->ec[i].counted && r->method[0].rates[i].dr > 0 && isnan(r->method[0].rates[i].fdr);
    }
    assert_true(known > 0 && unknown > 0);
    assert_int_equal(e.n, known);
    assert_int_equal(e.left_out, r->ecs - known - unknown);
    CHECK_NEAR(e.mean, 0.25, 1e-12);
    spot_results_free(r);
}

static int chart_panels(spot_ctx *c, const char *run, int number, char title[64])
{
    const spot_figures_options o = { .which = 1u << number };
    spot_figure *f = calloc(1, sizeof *f);
    spot_results *r;
    int n;
    assert_non_null(f);
    CHECK_OK(c, spot_results_read(c, &r, run, false));
    *f = (spot_figure){ .c = c, .o = &o, .r = r };
    CHECK_OK(c, spot_figure_compose(f, number));
    snprintf(title, 64, "%s", f->chart.panel[0].title);
    n = f->chart.panels;
    lacks(f->chart.caption, "data.pool");
    lacks(f->chart.caption, "Hollow");
    spot_results_free(r);
    free(f);
    return n;
}

static char *figures_csv(spot_ctx *c, const char *run, unsigned which)
{
    char *text;
    size_t n;
    spot_figures_options o = { .which = which, .csv = open_memstream(&text, &n) };
    CHECK_OK(c, spot_figures(c, run, &o));
    fclose(o.csv);
    return text;
}

/* The conditioned pools have Figures 6 and 7, the general pool neither; no figure of pictures has features of scenes. */
TEST_WITH(conditioned_pools_have_figures_6_and_7, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    const char *number = pictures(&c, "number", "pool: number", 45, single, all);
    const char *specificity = pictures(&c, "kinds", "pool: specificity", 45, second, all);
    const char *general = pictures(&c, "general", "pool: general", 45, second, all);
    char title[64], *text;
    assert_int_equal(chart_panels(&c, number, 6, title), 1);
    assert_string_equal(title, "Discovery rate (DR)");
    assert_int_equal(chart_panels(&c, specificity, 7, title), 1);
    assert_string_equal(title, "Discovery rate (DR)");
    text = figures_csv(&c, number, 0);
    holds(text, "\n6,");
    lacks(text, "\n7,");
    lacks(text, "\n3,");
    lacks(text, "\n4,");
    lacks(text, ",paper,");
    free(text);
    text = figures_csv(&c, specificity, 0);
    holds(text, "\n7,");
    lacks(text, "\n6,");
    free(text);
    text = figures_csv(&c, general, 0);
    holds(text, "\n3,");
    lacks(text, "\n4,");
    lacks(text, "False discovery");
    free(text);
    text = figures_csv(&c, general, 1u << 6 | 1u << 4);         /* named, and not measured: a line in the log */
    lacks(text, "\n6,");
    free(text);
}

/* Its authors' defaults are one method, Spotter's another; settings beside the profile's name win. */
TEST(spotlight_has_two_profiles)
{
    static const char yaml[] = "bdms:\n - {method: spotlight}\n - {method: spotlight, profile: paper}\n"
                               " - {method: spotlight, name: later, profile: paper, lr: 0.01, steps: 5000, patience: 10,\n"
                               "    min_weight: 0.02}\n"
                               " - {method: spotlight, name: both, profile: [spotter, paper]}\n";
    spot_ctx c = check_ctx(1);
    spot_config *again = malloc(sizeof *again);
    char name[80], words[256], differs[SPOT_DIFFERS], *printed;
    const spot_paper_table *t = spot_paper_find(2);
    assert_non_null(again);
    CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), yaml, strlen(yaml), "config"));
    assert_int_equal(cfg.bdms, 5);
    assert_string_equal(spot_bdm_name(&cfg.bdm[0], name, sizeof name), "spotlight");
    assert_string_equal(spot_bdm_name(&cfg.bdm[1], name, sizeof name), "spotlight-paper");
    assert_string_equal(spot_bdm_name(&cfg.bdm[4], name, sizeof name), "both profile=paper");
    CHECK_NEAR(cfg.bdm[0].spotlight.lr, 5e-3, 0);
    CHECK_NEAR(cfg.bdm[1].spotlight.lr, 1e-3, 0);
    CHECK_NEAR(cfg.bdm[2].spotlight.lr, 1e-2, 0);
    assert_int_equal(cfg.bdm[0].compat, 0);
    for (int b = 1; b < 3; b++) {
        assert_int_equal(cfg.bdm[b].compat, 1);
        assert_int_equal(cfg.bdm[b].spotlight.membership, SPOT_MEMBER_TOP);
    }
    assert_int_equal(cfg.bdm[2].spotlight.steps, 5000);
    CHECK_NEAR(cfg.bdm[1].spotlight.min_weight, 0.01, 0);
    CHECK_OK(&c, spot_config_print(&c, &cfg, &printed));
    CHECK_OK(&c, spot_config_parse(&c, again, printed, strlen(printed), "printed"));
    if (spot_config_differs(words, sizeof words, &cfg, again)) fail_msg("%s", words);
    free(printed);
    for (int i = 0; i < t->rows; i++) {
        if (!strcmp(t->row[i].name, "Spotlight")) {
            assert_true(!spot_method_has(&cfg, 0, t->row[i].needs) && spot_method_has(&cfg, 1, t->row[i].needs));
            assert_string_equal(spot_paper_method_differs(differs, sizeof differs, &cfg.bdm[1], &t->row[i]), "");
            holds(spot_paper_method_differs(differs, sizeof differs, &cfg.bdm[2], &t->row[i]), "lr=0.01 (0.001)");
        }
        if (!strcmp(t->row[i].name, "Spotlight, Spotter's")) {
            assert_true(spot_method_has(&cfg, 0, t->row[i].needs) && !spot_method_has(&cfg, 1, t->row[i].needs));
            assert_true(isnan(t->row[i].value[0]));
        }
    }
    CHECK_FAILS(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), "bdms: [{method: domino, profile: paper}]\n", 41, "c"), SPOT_USAGE,
                "setting.foreign: profile | spotlight | domino");
    CHECK_CONFIG_FREE(again);
}

/* The differences of a run from the paper's experiment of its kind. */
TEST(every_difference_is_named)
{
    static const struct { const char *yaml, *named, *absent; } of[] = {
        { "ecs: 2\n", "model.init=\"\" (\"ImageNet's weights\")", "width" },
        { "ecs: 2\n", "model.batch=64 (16)", "lr" },
        { "ecs: 2\n", "scene.jpeg_quality=0 (75)", "epochs" },
        { "model: {init: w.safetensors, batch: 16, epochs: 3, width: 32, lr: 0.1, arch: resnet34}\n",
          "model.arch=resnet34 (resnet18), model.width=32 (64), model.epochs=3 (10), model.lr=0.1 (0.0001)", "init" },
        { "model: {base: {images: 51200}}\nscene: {size: 64}\n", "model.base.images=51200 (0)", "data." },
        { "model: {precision: bf16, schedule: one_cycle}\n", "model.schedule=one_cycle (constant), model.precision=bf16 (fp32)",
          "data." },
        { "data: {coco: a, images: b, size: 64, tasks: animal, fit: crop}\n",
          "data.tasks=\"animal\" (\"animal, vehicle, furniture\"), data.size=64 (224), data.fit=crop (pad)", "scene." },
        { "data: {coco: a, images: b, pool: number, induced: cat, each: 10}\n", "model.learned_gap=0 (0.2)", "data." },
    };
    spot_ctx c = check_ctx(1);
    char text[SPOT_DIFFERS];
    for (int i = 0; i < LEN(of); i++) {
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), of[i].yaml, strlen(of[i].yaml), "config"));
        spot_paper_run_differs(text, sizeof text, &cfg);
        holds(text, of[i].named);
        lacks(text, of[i].absent);
    }
    static const char *const exact[] = { "scene: {jpeg_quality: 75}\nmodel: {init: w.safetensors, batch: 16}\n",
                                         "scene: {jpeg_quality: 75}\nmodel: {init: w.safetensors, batch: 16}\n"
                                         "metric: {profile: workshop}\n" };
    for (int i = 0; i < LEN(exact); i++) {
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), exact[i], strlen(exact[i]), "config"));
        spot_paper_run_differs(text, sizeof text, &cfg);
        assert_string_equal(text, "");
    }
}

/* The workshop's paper has other numbers for PlaneSpot, and no tables of tuning. */
TEST_WITH(the_profile_chooses_the_paper, set_up, tear_down)
{
    static const struct { const char *profile, *title, *planespot; } of[] = {
        { "tmlr", "Table 2. Average DR and FDR", "0.88 (0.03)" },
        { "workshop", "Table 1. Average DR and FDR (the workshop's paper)", "0.85 (0.03)" },
    };
    spot_ctx c = check_ctx(1);
    char yaml[300], to[96], *text;
    const char *run = to;
    for (int i = 0; i < LEN(of); i++) {
        snprintf(yaml, sizeof yaml, "ecs: 3\n" METHODS "metric: {profile: %s}\n", of[i].profile);
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), yaml, strlen(yaml), "config"));
        snprintf(to, sizeof to, "%s/%s", root, of[i].profile);
        fake_run(&c, to, &cfg);
        text = table(&c, &run, 1, 2, SPOT_TABLE_TEXT);
        holds(text, of[i].title);
        holds(text, of[i].planespot);
        lacks(text, of[1 - i].planespot);
        lacks(text, "metric.profile");
        free(text);
        text = table(&c, &run, 1, 12, SPOT_TABLE_TEXT);
        (i ? holds : lacks)(text, "its numbers are of profile tmlr");
        free(text);
    }
}

/* Spotter's robust network is not the paper's external one, nor are the features of a file or of the classifier. */
TEST(barlows_network_is_never_the_papers)
{
    static const char *const yaml[] = { "bdms: [{method: barlow, representation: robust}]\n",
                                        "bdms: [{method: barlow, representation: model}]\n",
                                        "bdms: [{method: barlow, representation: file, embeddings: x}]\n" };
    static const int tables[] = { 2, 4, 9, 13, 15 };
    spot_ctx c = check_ctx(1);
    char text[SPOT_DIFFERS];
    for (int i = 0; i < LEN(yaml); i++) {
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), yaml[i], strlen(yaml[i]), "config"));
        for (int t = 0; t < LEN(tables); t++) {
            const spot_paper_table *p = spot_paper_find(tables[t]);
            for (int k = 0; k < p->rows; k++)
                if (strstr(p->row[k].needs, "method=barlow"))
                    holds(spot_paper_method_differs(text, sizeof text, &cfg.bdm[0], &p->row[k]),
                          "(an external ResNet-50, robust on ImageNet)");
        }
    }
}

/* ---- the induced categories of a run of singles ---- */

static int three(int ec, int m) { return (void)m, ec < 3; }

static void name_blindspots(spot_ctx *c, const char *dir, const char *const *names, int n)
{
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state state;
    char why[1300];
    assert_non_null(s);
    for (int i = 0; i < n; i++) {
        CHECK_OK(c, spot_segment_read(c, dir, i, s, &state, why, sizeof why));
        s->blindspots = 1;
        snprintf(s->blindspot[0], sizeof s->blindspot[0], "%s", names[i]);
        CHECK_OK(c, spot_segment_write(c, dir, s));
    }
    spot_segment_free(s);
}

/* 40 pictures of each of four animals and none: enough for a plan. */
static void annotate_animals(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"categories\":[", f);
    for (int k = 0; k < 5; k++)
        fprintf(f, "%s{\"id\":%d,\"name\":\"%s\",\"supercategory\":\"%s\"}", k ? "," : "", k + 1,
                ((const char *[]){ "cat", "dog", "cow", "emu", "tree" })[k], k < 4 ? "animal" : "plant");
    fputs("],\"images\":[", f);
    for (int i = 0; i < 320; i++) fprintf(f, "%s{\"id\":%d,\"file_name\":\"%d.png\"}", i ? "," : "", i + 1, i);
    fputs("],\"annotations\":[", f);
    for (int i = 0; i < 320; i++)
        fprintf(f, "%s{\"image_id\":%d,\"category_id\":%d}", i ? "," : "", i + 1, i % 8 < 4 ? i % 8 + 1 : 5);
    fputs("]}", f);
    fclose(f);
}

TEST_WITH(induced_categories_come_from_a_run, set_up, tear_down)
{
    static const char *const names[] = { "cat", "dog", "emu", "cow" };
    spot_ctx c = check_ctx(1);
    char data[400], yaml[900], command[200], missing[200];
    const char *singles;
    snprintf(data, sizeof data, "%s/a.json", root);
    annotate_animals(data);
    snprintf(command, sizeof command, "cd %s && for i in $(seq 0 319); do : > $i.png; done", root);
    assert_int_equal(system(command), 0);
    snprintf(data, sizeof data, "tasks: animal, pool: singles");
    singles = pictures(&c, "singles", data, 4, single, three);
    name_blindspots(&c, singles, names, 4);
#define CONDITIONED(pool, more) \
    do { \
        snprintf(yaml, sizeof yaml, "ecs: 50\ndata: {coco: coco.json, images: %s, tasks: animal, pool: %s, " \
                 "induced_from: %s%s}\n" COCO_MODEL METHODS, root, pool, singles, more); \
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), yaml, strlen(yaml), "config")); \
    } while (0)
    CONDITIONED("number", "");
    cfg.data.coco = check_text("%s/a.json", root);
    CHECK_FAILS(&c, spot_sweep_induced(&c, &cfg), SPOT_USAGE, "induced.other_data");
    snprintf(command, sizeof command, "sed -i 's|coco.json|%s/a.json|' %s/config.yaml", root, singles);
    assert_int_equal(system(command), 0);
    CHECK_OK(&c, spot_sweep_induced(&c, &cfg));
    assert_string_equal(cfg.data.induced, "cat,dog,emu");       /* the cow was not learned */
    assert_string_equal(cfg.data.induced_from, "");
    assert_int_equal(cfg.ecs, 3 + 3 + 1);
    CONDITIONED("number", ", induced: cat");
    CHECK_FAILS(&c, spot_sweep_induced(&c, &cfg), SPOT_USAGE, "induced.twice");
    CONDITIONED("general", "");
    CHECK_FAILS(&c, spot_sweep_induced(&c, &cfg), SPOT_USAGE, "induced.pool");
    CONDITIONED("number", "");
    cfg.data.coco = check_text("%s/a.json", root);
    snprintf(missing, sizeof missing, "rm $(find %s/segments -name '*2.json' | head -1)", singles);
    assert_int_equal(system(missing), 0);
    CHECK_FAILS(&c, spot_sweep_induced(&c, &cfg), SPOT_USAGE, "induced.unfinished: EC 2 | 4");
    spot_photos *p;
    CHECK_FAILS(&c, spot_photos_open(&c, &p, &cfg.data, 1), SPOT_USAGE, "induced.not_read");
    spot_photos_close(p);
}
