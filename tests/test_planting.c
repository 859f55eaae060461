/* test_planting.c - a small sweep over every way of planting, with and without blindspots, from EC to tables. ctest: threads */
#define _POSIX_C_SOURCE 200809L
#include "check_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "spotter/report.h"
#include "sweep/segment.h"

enum { ECS = 12, MODES = 6 };

static const char planted[] =
    "seed: 5\n"
    "ecs: 12\n"
    "scene: {size: 32, rollable: [4, 4], extra_layers: [1, 1], blindspots: [1, 1], specificity: [2, 3],\n"
    "        per_bucket: {train: 6, val: 6, test: 16}}\n"
    "variants:\n"
    "  - {scene: {blindspots: [0, 0]}}\n"
    "  - {scene: {flip: 0.5}}\n"
    "  - {scene: {induce: leave_out}}\n"
    "  - {scene: {induce: correlate, correlation: 0.8}}\n"
    "  - {scene: {induce: rare, rare: 0.25, rollable: [5, 5], per_bucket: {train: 3, test: 7}}}\n"
    "  - {scene: {induce: mixed, blindspots: [3, 3], specificity: [4, 4], rollable: [5, 5], per_bucket: {train: 3}}}\n"
    "model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3, learned_band: [0, 1]}\n"
    "bdms:\n"
    "  - {method: planespot, reduce: pca, mixture: {k_max: 4}}\n"
    "  - {method: barlow, representation: model}\n";

static void read_segment(spot_ctx *c, const char *name, int index, spot_segment *s)
{
    spot_segment_state state;
    char dir[128], why[1300];
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    CHECK_OK(c, spot_segment_read(c, dir, index, s, &state, why, sizeof why));
    if (state != SPOT_SEGMENT_WHOLE) fail_msg("%s", why);
}

/* The severity once more, from the view in the cache. */
static void check_severity(spot_ctx *c, const spot_config *cfg, const char *name, const spot_segment *s)
{
    int rows[8] = { 0 }, wrong[8] = { 0 };     /* by the mask of up to three blindspots, which share no image */
    spot_run_values *values;
    spot_truth truth;
    spot_view view;
    spot_arena a;
    char dir[128];
    bool found;
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    CHECK_OK(c, spot_run_values_open(c, &values, dir, cfg, NULL));
    CHECK_OK(c, spot_arena_open(c, &a, spot_run_values_needs(values, s->images[SPOT_TEST])));
    CHECK_OK(c, spot_run_values_view(c, &a, values, (uint32_t)s->index, &view, &truth, &found));
    assert_true(found);
    for (int i = 0; i < view.n; i++) {
        rows[truth.mask[i]]++;
        wrong[truth.mask[i]] += view.confidence[i] <= 0.5f;
    }
    assert_true(s->severity.outside.rows == rows[0] && s->severity.outside.wrong == wrong[0]);
    for (int m = 0; m < s->blindspots; m++) {
        const spot_errors *in = &s->severity.inside[m];
        assert_true(in->rows == rows[1 << m] && in->wrong == wrong[1 << m]);
        CHECK_NEAR(s->lesson.inside[m], 1 - (double)wrong[1 << m] / rows[1 << m], 1e-12);
    }
    spot_arena_close(&a);
    spot_run_values_close(values);
}

static char *tables_of(spot_ctx *c, const char *name, spot_table_format format)
{
    char dir[128], *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    assert_non_null(f);
    CHECK_OK(c, spot_tables(c, f, dir, format, true));
    fclose(f);
    return text;
}

static void check_holds(char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in\n%s", words, text);
}

TEST_WITH(every_way_of_planting_runs_through, set_up, tear_down)
{
    static const char *const induce[MODES] = { "flip", "flip", "leave_out", "correlate", "rare", "mixed" };
    static const double strength[MODES] = { 1, 0.5, 0, 0.8, 0.25, 0 };
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_segment *s = calloc(1, sizeof *s);
    spot_sweep_report r;
    spot_sweep_cost cost;
    char *text, *line, dir[128], out[128];
    int scored = 0;
    assert_non_null(s);
    CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(cfg), planted, sizeof planted - 1, "planted"));
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &(spot_sweep_options){ .place.shards = 1 }, &cost, false));
    assert_int_equal(cost.ecs, ECS);
    CHECK_OK(&c, sweep_with(&c, cfg, "a", (spot_sweep_options){ .place.shards = 1, .pictures = true }, &r));
    assert_true(r.done == ECS && !r.failed);
    for (int i = 0; i < ECS; i++) {
        read_segment(&c, "a", i, s);
        assert_int_equal(s->status, SPOT_OK);
        assert_int_equal(s->blindspots, i % MODES == 5 ? 3 : i % MODES > 0);
        assert_string_equal(s->induce, induce[i % MODES]);
        assert_true(s->strength == strength[i % MODES]);
        assert_int_equal(s->images[SPOT_TRAIN], i % MODES > 3 ? 3 << 5 : 6 << 4);
        check_severity(&c, cfg, "a", s);
        for (int b = 0; b < s->methods; b++) {
            const spot_outcome *o = &s->method[b];
            if (o->status) fail_msg("EC %d, %s: %s", i, o->name, o->message);
            assert_int_equal(isnan(o->score.dr), i % MODES == 0);
            if (i % MODES == 0) assert_true(isnan(o->score.fdr) && o->score.u == 0);
        }
        scored += s->blindspots > 0 && s->severity.inside[0].rows > 0;
    }
    assert_int_equal(scored, ECS - ECS / MODES);
    text = tables_of(&c, "a", SPOT_TABLE_CSV);
    check_holds(text, "dr[induce=correlate],");
    check_holds(text, "dr[complexity=5],");
    check_holds(text, "\"\",4,induce_rare,0.25,,,\n");
    check_holds(text, "\"planespot-pca\",0,dr,,,,\n");                     /* undefined, and in no average: 10 of 12 */
    line = strstr(text, "\"planespot-pca\",,dr,");
    assert_non_null(line);
    line[strcspn(line, "\n")] = 0;
    check_holds(line, ",10,2");
    free(text);
    text = tables_of(&c, "a", SPOT_TABLE_TEXT);
    check_holds(text, "DR by the way of planting");
    free(text);
    text = tables_of(&c, "a", SPOT_TABLE_JSON);
    check_holds(text, "\"induce\": \"correlate\"");
    free(text);
    shell("cd %s && [ $(sqlite3 results.sqlite \"select count(*) from ecs where induce = 'rare' and strength = 0.25\") = 2 ]",
          "a");
    snprintf(dir, sizeof dir, "%s/a", root);
    snprintf(out, sizeof out, "%s/a.html", root);
    {
        const spot_report_options o = spot_report_defaults();
        CHECK_OK(&c, spot_report_run(&c, out, dir, &o));
    }
    for (int k = 0; k < 2; k++) {                              /* shards: the same bytes */
        char name[8] = { 's', (char)('0' + k), 0 };
        CHECK_OK(&c, sweep(&c, cfg, name, k, 2, &r));
    }
    for (int i = 0; i < ECS; i++) {
        size_t n, m;
        unsigned char *x = segment_bytes(&c, "a", i, &n), *y = segment_bytes(&c, i < ECS / 2 ? "s0" : "s1", i, &m);
        assert_true(n == m && !memcmp(x, y, n));
        free(x), free(y);
    }
    spot_segment_free(s);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* An EC of a variant is that of a config with the variant's scene: what was computed for one serves the other. */
TEST(a_variant_is_a_scene)
{
    spot_ctx c = context(1);
    spot_config *cfg = config(&c), *alone = config(&c);
    spot_identity a, b;
    CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(cfg), planted, sizeof planted - 1, "planted"));
    spot_memory_close(&alone->memory);
    memcpy(alone, cfg, sizeof *alone);
    alone->variants = 0;
    alone->scene = cfg->variant[3].scene;
    CHECK_OK(&c, spot_identify(&c, &a, cfg, NULL));
    CHECK_OK(&c, spot_identify(&c, &b, alone, NULL));
    for (uint32_t ec = 0; ec < ECS; ec++) {
        spot_key x = spot_key_of_model(&c, &a, cfg, ec), y = spot_key_of_model(&c, &b, alone, ec);
        assert_int_equal(!memcmp(&x, &y, sizeof x), ec % MODES == 3);
    }
    assert_memory_not_equal(&a.config, &b.config, sizeof a.config);
    {
        const spot_key x = spot_key_of_model(&c, &a, cfg, 3);
        cfg->model.learned_band[1] = 0.5;                      /* which judges a finished view */
        const spot_key y = spot_key_of_model(&c, &a, cfg, 3);
        assert_memory_equal(&x, &y, sizeof x);
    }
    CHECK_CONFIG_FREE(cfg);
    free(alone);
    spot_ctx_close(&c);
}
