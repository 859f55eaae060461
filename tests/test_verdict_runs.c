/* test_verdict_runs.c - verdicts of whole runs: two suites of the same models, the tables of the paper. The runs are made by
 * hand. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "check_folder.h"
#include "check_verdict.h"

#include "background/background_result.h"
#include "report/table/background_lines.h"
#include "spotter/zoo.h"
#include "store/store.h"

/* ---- models and suites ---- */

enum { GRID = 4, CELLS = GRID * GRID, FEW = 5 };

TEST(matrices_differ_where_both_have_a_value)
{
    const float a[] = { 1, 2, NAN, 4 }, b[] = { 2, 2, 3, NAN };
    const spot_matrix_difference d = spot_matrices_differ(a, b, 4);

    assert_int_equal(d.cells, 2);
    CHECK_NEAR(d.apart, 0.5, 1e-12);
    CHECK_NEAR(d.relative, 1 / 3.5, 1e-12);
    assert_true(isnan(spot_matrices_differ(a, b, 0).apart));
}

/* A run of FEW models in a folder, made by hand: the features follow `order`, the matrices are `level` everywhere. */
typedef struct { spot_background_results r; char dir[128]; } made_run;

static made_run make_run(spot_ctx *c, const char *name, uint64_t seed, const int *order, float level)
{
    made_run m = { .r = { .units = FEW, .cfg = malloc(sizeof *m.r.cfg), .unit = calloc(FEW, sizeof *m.r.unit) } };

    spot_background_defaults(m.r.cfg);
    m.r.cfg->suite.seed = seed, m.r.cfg->suite.n = 4, m.r.cfg->models = FEW;
    m.r.cfg->model = spot_memory_take(&m.r.cfg->memory, FEW * sizeof *m.r.cfg->model);
    snprintf(m.dir, sizeof m.dir, "%s/%s", root, name);
    CHECK_OK(c, spot_folder_make(c, m.dir));
    for (int i = 0; i < FEW; i++) {
        spot_background_result *u = &m.r.unit[i];
        spot_background_responses s;
        snprintf(u->name, sizeof u->name, "net-%d", i);
        m.r.cfg->model[i].name = check_text("net-%d", i);
        u->index = i, u->classes = 2, u->targets = 3, u->n = 4;
        assert_true(spot_background_result_take(u));
        u->count[SPOT_SET_ORIGINAL][0] = 8, u->count[SPOT_SET_ORIGINAL][1] = 2;
        u->right[SPOT_SET_ORIGINAL][0] = 8, u->steady[0] = i;
        for (int k = 0; k < SPOT_VERDICT_FEATURES; k++) {
            u->has[k / SPOT_BACKGROUND_FEATURES] = true;
            u->feature[k / SPOT_BACKGROUND_FEATURES][k % SPOT_BACKGROUND_FEATURES] =
                k % SPOT_BACKGROUND_FEATURES ? order[i] : 1;
        }
        for (int k = 0; k < SPOT_COVERAGES; k++) u->coverage[k] = i == 4 ? NAN : 0.1 * i;
        m.r.cfg->model[i].reliance = -1;
        CHECK_OK(c, spot_background_responses_take(c, &s, 3, 4, 0, GRID));
        memset(s.answer, 0, 3 * 5 * sizeof *s.answer);
        memset(s.derived, 0, 3 * SPOT_BACKGROUND_SETS * sizeof *s.derived);
        memset(s.signal, 0, (size_t)SPOT_BACKGROUND_MATRICES * 3 * 5 * sizeof *s.signal);
        for (int k = 0; k < SPOT_BACKGROUND_MATRICES * CELLS; k++) s.matrix[k] = level * (float)(1 + k / CELLS);
        for (int k = 0; k < CELLS; k++) s.weight[k] = 1;
        CHECK_OK(c, spot_background_responses_write(c, &s, m.dir, i));
        spot_background_responses_free(&s);
    }
    return m;
}

static void close_run(made_run *m)
{
    for (int i = 0; i < FEW; i++) spot_background_result_close(&m->r.unit[i]);
    spot_memory_close(&m->r.cfg->memory);
    free(m->r.unit), free(m->r.cfg);
}

static const int up[FEW] = { 1, 2, 3, 4, 5 }, nearly[FEW] = { 1, 2, 3, 5, 4 };

TEST_IN_FOLDER(two_suites_of_the_same_models_are_compared)
{
    spot_ctx c = check_ctx(1);
    made_run a = make_run(&c, "a", 1, up, 0.5f), b = make_run(&c, "b", 2, nearly, 0.7f);
    spot_suite_consistency s;

    CHECK_OK(&c, spot_suites_compare(&c, &s, &a.r, a.dir, &b.r, b.dir));
    assert_int_equal(s.models, FEW);
    assert_int_equal(s.matrices, SPOT_BACKGROUND_MATRICES);
    for (int m = 0; m < SPOT_BACKGROUND_MATRICES; m++) {
        CHECK_NEAR(s.apart[m], 0.2 * (m + 1), 1e-6);
        CHECK_NEAR(s.relative[m], 0.2 / 0.6, 1e-6);
        CHECK_NEAR(s.rank[m], 0.9, 1e-12);         /* one exchange of five; a feature that does not vary is left out */
    }
    CHECK_NEAR(s.consistency, 0.9, 1e-12);
    b.r.cfg->suite.seed = 1;
    CHECK_FAILS(&c, spot_suites_compare(&c, &s, &a.r, a.dir, &b.r, b.dir), SPOT_INPUT, "verdict.runs_same");
    b.r.cfg->suite.seed = 2, b.r.cfg->suite.n = 5;
    CHECK_FAILS(&c, spot_suites_compare(&c, &s, &a.r, a.dir, &b.r, b.dir), SPOT_INPUT, "verdict.runs_differ");
    close_run(&a), close_run(&b);
}

TEST_IN_FOLDER(a_run_becomes_a_table)
{
    spot_ctx c = check_ctx(1);
    made_run a = make_run(&c, "a", 1, up, 0.5f), b = make_run(&c, "b", 1, up, 0.5f);
    spot_verdict_table t = { 0 };
    double coverage[SPOT_COVERAGES];

    CHECK_OK(&c, spot_verdict_table_add(&c, &t, &a.r, a.dir));
    assert_int_equal(t.models, FEW);
    assert_int_equal(t.features, SPOT_VERDICT_FEATURES);
    CHECK_NEAR(t.model[3].accuracy, 0.8, 1e-12);
    CHECK_NEAR(t.model[3].worst, 0.3, 1e-12);
    assert_true(isnan(t.model[3].reliance[SPOT_TRUTH_PLANTED]));
    assert_non_null(strstr(t.measured, "grid 128, kernel 32, sigma 10"));
    spot_coverage_mean(coverage, &t);
    CHECK_NEAR(coverage[0], 0.15, 1e-12);
    CHECK_OK(&c, spot_verdict_table_add(&c, &t, &b.r, b.dir));         /* the same names, other models */
    assert_string_equal(t.model[FEW + 2].name, "b/net-2");
    t.models = FEW;
    for (int i = 0; i < FEW; i++) snprintf(b.r.unit[i].name, sizeof b.r.unit[i].name, "other-%d", i);
    b.r.cfg->measure.sigma = 2;
    CHECK_FAILS(&c, spot_verdict_table_add(&c, &t, &b.r, b.dir), SPOT_INPUT, "verdict.runs_matrices");
    b.r.cfg->measure.sigma = 10, b.r.unit[2].has[1] = b.r.unit[2].has[2] = b.r.unit[2].has[3] = false;
    CHECK_FAILS(&c, spot_verdict_table_add(&c, &t, &b.r, b.dir), SPOT_INPUT, "verdict.model_matrices: other-2 | 1 | 4");
    assert_int_equal(t.models, FEW);
    spot_verdict_table_free(&t);
    close_run(&a), close_run(&b);
}

/* Writes what the planted models of a run learned: a tenth more each. */
static void write_learned(spot_ctx *c, made_run *m)
{
    char path[160], text[1000];
    int at = sprintf(text, "model,tested,same,random,alone,follows,reliance\n");

    m->r.cfg->zoo.models = FEW;
    for (int i = 0; i < FEW; i++) {
        const spot_zoo_recipe r = spot_zoo_recipe_of(&m->r.cfg->zoo, i);
        snprintf(m->r.unit[i].name, sizeof m->r.unit[i].name, "%s", r.name);
        at += sprintf(text + at, "%s,540,0.9,0.8,0.5,0.1,%g\n", r.name, 0.1 * i);
    }
    snprintf(path, sizeof path, "%s/zoo", m->dir);
    CHECK_OK(c, spot_folder_make(c, path));
    strcat(path, "/truth.csv");
    CHECK_OK(c, spot_file_write(c, path, text, (size_t)at));
}

TEST_IN_FOLDER(a_planted_run_knows_what_its_models_learned)
{
    spot_ctx c = check_ctx(1);
    made_run a = make_run(&c, "a", 1, up, 0.5f), b = make_run(&c, "b", 1, up, 0.5f);
    spot_verdict_table t = { 0 };

    write_learned(&c, &a), write_learned(&c, &b);
    CHECK_OK(&c, spot_verdict_table_add(&c, &t, &a.r, a.dir));
    CHECK_OK(&c, spot_verdict_table_add(&c, &t, &b.r, b.dir));
    for (int i = 0; i < 2 * FEW; i++) {
        CHECK_NEAR(t.model[i].reliance[SPOT_TRUTH_LEARNED], 0.1 * (i % FEW), 1e-12);
        assert_int_equal(t.model[i].run, i / FEW);
    }
    spot_verdict_table_free(&t);
    CHECK_OK(&c, spot_verdict_table_add(&c, &t, &a.r, "elsewhere"));    /* without the file nothing is known */
    assert_true(isnan(t.model[1].reliance[SPOT_TRUTH_LEARNED]));
    spot_verdict_table_free(&t);
    close_run(&a), close_run(&b);
}

/* ---- the paper's tables ---- */

static const spot_background_line *find_line(const spot_background_lines *l, int table, const char *row, const char *quantity)
{
    for (int i = 0; i < l->lines; i++)
        if (l->line[i].table == table && !strcmp(l->line[i].row, row) && !strcmp(l->line[i].quantity, quantity))
            return &l->line[i];
    fail_msg("no line %d, %s, %s", table, row, quantity);
    return NULL;
}

TEST_IN_FOLDER(runs_stand_beside_the_papers_tables)
{
    spot_ctx c = check_ctx(1);
    made_run a = make_run(&c, "a", 1, up, 0.5f), b = make_run(&c, "b", 2, nearly, 0.7f), d = make_run(&c, "d", 1, up, 0.5f);
    spot_background_table_run run[3] = { { .dir = a.dir, .r = a.r }, { .dir = b.dir, .r = b.r }, { .dir = d.dir, .r = d.r } };
    spot_background_lines *l = calloc(1, sizeof *l);
    const spot_background_line *at;

    a.r.cfg->suite.choice = b.r.cfg->suite.choice = SPOT_SUITE_NEAREST, d.r.cfg->suite.choice = SPOT_SUITE_ONTOLOGY;
    for (int i = 0; i < 3; i++) CHECK_OK(&c, spot_verdict_report_make(&c, &run[i].v, &run[i].r, run[i].dir));
    assert_non_null(strstr(run[0].v.why_labels, "nobody has labelled"));
    for (int k = 1; k <= SPOT_BACKGROUND_TABLES; k++) CHECK_OK(&c, spot_background_lines_add(&c, l, k, run, 3));
    assert_true(l->lines < SPOT_BACKGROUND_LINES);
    at = find_line(l, 1, "nearest", "two suites (stand-in for kappa)");
    CHECK_NEAR(at->value, 0.9, 1e-12);
    CHECK_NEAR(at->paper, 0.906, 1e-12);
    at = find_line(l, 1, "nearest", "F1 of both");
    CHECK_NEAR(at->value, 2 * 0.9 * 0.15 / 1.05, 1e-9);
    at = find_line(l, 1, "ontology", "neuron coverage above 0.25");
    assert_ptr_equal(at->run, &run[2]);
    assert_true(isnan(find_line(l, 1, "ontology", "F1 of both")->value));
    assert_null(find_line(l, 1, "random", "Fleiss' kappa")->run);
    assert_true(isnan(find_line(l, 2, "10 splits", "random forest: accuracy")->value));
    assert_null(find_line(l, 4, "N = 50", "F1 of both")->run);
    CHECK_NEAR(find_line(l, 6, "worst-case", "mean")->value, 0.2, 1e-12);
    CHECK_NEAR(find_line(l, 6, "worst-case", "std")->value, sqrt(0.025), 1e-9);
    CHECK_NEAR(find_line(l, 6, "worst-case", "max")->value, 0.4, 1e-12);
    CHECK_FAILS(&c, spot_background_lines_add(&c, l, 8, run, 3), SPOT_USAGE, "tables.unknown: 6");
    for (int i = 0; i < 3; i++) spot_verdict_report_free(&run[i].v);
    close_run(&a), close_run(&b), close_run(&d);
    free(l);
}
