/* tables_paper.c - the paper's tables beside a run's numbers, in four formats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/comparison.h"
#include "report/table/counts.h"
#include "result/columns.h"
#include "spotter/sweep.h"
#include "study/keys.h"

/* ---- gathering ---- */

static bool has_method(const spot_comparison *t, int from, const spot_bdm_config *m)
{
    const spot_key k = spot_key_of_method(m);

    for (int i = from; i < t->lines; i++) {
        const spot_key other = spot_key_of_method(&t->line[i].run->cfg.bdm[t->line[i].method]);
        if (k.hi == other.hi && k.lo == other.lo) return true;
    }
    return false;
}

/* Adds the lines of a row of the paper: every method of every run with its settings; equal methods of two runs once. */
static void add_row(spot_comparison *t, const spot_paper_row *row)
{
    int from = t->lines;

    for (int r = 0; r < t->runs; r++)
        for (int b = 0; b < t->run[r]->methods && t->lines < SPOT_COMPARISON_LINES; b++) {
            const spot_bdm_config *m = &t->run[r]->cfg.bdm[b];
            if (!spot_method_has(&t->run[r]->cfg, b, row->needs) || has_method(t, from, m)) continue;
            t->line[t->lines++] = (spot_comparison_line){ row, t->run[r], b };
        }
    if (t->lines == from && !row->extra && t->lines < SPOT_COMPARISON_LINES)
        t->line[t->lines++] = (spot_comparison_line){ row, NULL, 0 };
}

/* Runs may share a table if they have the same ECs, models and metric. The training of a robust network, and the
 * encoder, count only if both runs have one. */
static spot_status check_joined(spot_ctx *c, const spot_comparison *t)
{
    const spot_results *a = t->run[0];
    char words[512];

    for (int r = 1; r < t->runs; r++) {
        const spot_results *b = t->run[r];
        spot_config same = b->cfg;
        same.bdms = a->cfg.bdms;
        same.bdm = a->cfg.bdm;
        if (!spot_wants_robust(&a->cfg) || !spot_wants_robust(&b->cfg)) same.model.robust = a->cfg.model.robust;
        if (!spot_wants_clip(&a->cfg) || !spot_wants_clip(&b->cfg)) same.encoder = a->cfg.encoder;
        words[0] = 0;
        if (a->cfg.ecs != b->cfg.ecs) snprintf(words, sizeof words, "ecs is %d there and %d here", a->cfg.ecs, b->cfg.ecs);
        else if (a->numbers != b->numbers)
            snprintf(words, sizeof words, "their numbers are of versions %d and %d", a->numbers, b->numbers);
        if (words[0] || spot_config_differs(words, sizeof words, &a->cfg, &same))
            return spot_fail(c, SPOT_USAGE, "{tables.other_config} %s and %s cannot be one table: %s; runs are joined when "
                             "seed, ecs, scene, model and metric are equal", a->dir, b->dir, words);
    }
    return SPOT_OK;
}

/* ---- notes below a table ---- */

/* The number of decimals in the paper: two or three. */
static int paper_decimals(double v) { return fabs(100 * v - round(100 * v)) < 1e-9 ? 2 : 3; }

/* The number of decimals at which a standard error is not 0.000. */
static int run_decimals(double se)
{
    int n = 3;

    while (n < 9 && se * pow(10, n) < 1) n++;
    return n;
}

static void note_distance(FILE *f, const spot_comparison *t, const spot_comparison_line *l, int q, bool markdown)
{
    double se, by = spot_comparison_apart(t, l, q, &se), theirs = l->paper->value[q], here = spot_comparison_ours(t, l, q).mean;
    int digits = run_decimals(se);

    if (!(fabs(by) > 2)) return;
    spot_note(f, markdown, "%s: %s is %.*f here and %.*f in the paper, more than two standard errors apart (one is %.*f%s)",
              spot_comparison_method(l), spot_comparison_quantity(t, q), digits, here, paper_decimals(theirs), theirs,
              digits, se, isnan(l->paper->se[q]) ? ", of ours alone: the paper prints none" : "");
}

static void note_list(FILE *f, bool markdown, const char *whose, const char *list, int *lists)
{
    if (!*list) return;
    if (!(*lists)++) spot_note(f, markdown, "%s", "settings" SPOT_PAPER_DIFFERS ":");
    spot_note(f, markdown, "%s: %s", whose, list);
}

/* Joined runs: only differences that the first run does not have. */
static void note_settings(FILE *f, const spot_comparison *t, bool markdown)
{
    char text[SPOT_DIFFERS], first[SPOT_DIFFERS] = "";
    int lists = 0;

    for (int r = 0; r < t->runs; r++) {
        spot_paper_run_differs(text, sizeof text, &t->run[r]->cfg);
        if (strcmp(text, first)) note_list(f, markdown, t->run[r]->dir, text, &lists);
        if (!r) memcpy(first, text, sizeof first);
    }
    for (int i = 0; i < t->lines; i++)
        note_list(f, markdown, spot_comparison_method(&t->line[i]), spot_comparison_differs(text, &t->line[i]), &lists);
}

static void note_method(FILE *f, const spot_comparison_line *l, bool markdown)
{
    char text[1300];
    spot_short_name shorter;
    const char *name = spot_comparison_method(l);

    if (!l->run)
        spot_note(f, markdown, "not measured: no method of the run is %s, which needs %s", l->paper->name, l->paper->needs);
    if (!markdown && strcmp(spot_shorten(shorter, name), name)) spot_note(f, false, "%s is %s", shorter, name);
    if (l->run && *spot_results_failed(text, sizeof text, &l->run->method[l->method]))
        spot_note(f, markdown, "%s %s", name, text);
}

static void print_notes(FILE *f, const spot_comparison *t, bool markdown)
{
    for (int i = 0; i < t->lines; i++) note_method(f, &t->line[i], markdown);
    note_settings(f, t, markdown);
    for (int i = 0; i < t->lines; i++)
        for (int q = 0; q < spot_comparison_quantities(t); q++) note_distance(f, t, &t->line[i], q, markdown);
}

/* ---- formats ---- */

static void paper_cell(spot_columns *p, double value, double se)
{
    if (isnan(value)) spot_cell(p, "-");
    else if (isnan(se)) spot_cell(p, "%.*f", paper_decimals(value), value);
    else spot_cell(p, "%.*f (%.*f)", paper_decimals(value), value, paper_decimals(se), se);
}

static void run_cell(spot_columns *p, const spot_comparison *t, const spot_comparison_line *l)
{
    int r = 0;

    while (r < t->runs && t->run[r] != l->run) r++;
    if (l->run) spot_cell(p, "%d", r + 1);
    else spot_cell(p, "-");
}

static void print_head(spot_columns *p, const spot_comparison *t)
{
    p->left |= t->runs > 1 ? 6 : 2;
    spot_cell(p, "paper's row");
    spot_cell(p, "method");
    if (t->runs > 1) spot_cell(p, "run");
    for (int q = 0; q < spot_comparison_quantities(t); q++) {
        spot_cell(p, "%s (s.e.)", spot_comparison_is_failures(t) ? spot_failure_name(q) : q ? "FDR" : "DR");
        spot_cell_join(p);
        spot_cell(p, "paper");
        if (spot_comparison_is_failures(t) && q) continue;
        spot_cell_join(p);
        spot_cell(p, "ECs");
    }
    spot_cell(p, "failed");
    if (spot_comparison_quantities(t) > 1) {
        spot_cell_join(p);
        spot_cell(p, spot_comparison_is_failures(t) ? "DR = 1" : "DR = 0");
    }
    spot_end_row(p);
}

static void print_rows(spot_columns *p, const void *user)
{
    const spot_comparison *t = user;

    print_head(p, t);
    for (int i = 0; i < t->lines; i++) {
        const spot_comparison_line *l = &t->line[i];
        spot_cell(p, "%s", l->paper->name);
        spot_cell_name(p, 0, l->run ? spot_comparison_method(l) : "not measured");
        if (t->runs > 1) run_cell(p, t, l);
        spot_average a = { 0 };
        for (int q = 0; q < spot_comparison_quantities(t); q++) {
            a = spot_comparison_ours(t, l, q);
            spot_cell_average(p, &a);
            paper_cell(p, l->paper->value[q], l->paper->se[q]);
            if (q && spot_comparison_is_failures(t)) continue;
            if (l->run) spot_cell(p, "%d", a.n);
            else spot_cell(p, "-");
        }
        for (int k = 0; k < (spot_comparison_quantities(t) > 1 ? 2 : 1); k++)
            if (!l->run) spot_cell(p, "-");
            else spot_cell(p, "%d", k ? a.left_out : l->run->method[l->method].failed);
        spot_end_row(p);
    }
}

static void print_text(FILE *f, const spot_comparison *t, bool markdown)
{
    char title[128], text[600];

    for (int r = 0; r < t->runs; r++) {
        char run[32] = "";
        if (t->runs > 1) snprintf(run, sizeof run, "run %d, ", r + 1);
        spot_note(f, markdown, "%s%s: %s", run, t->run[r]->dir, spot_results_counted(text, sizeof text, t->run[r]));
        spot_note(f, markdown, "%s", spot_results_origin(text, sizeof text, t->run[r]));
    }
    spot_note(f, markdown, "the paper's numbers are over %s", t->paper->over);
    if (t->run[0]->metric.profile == SPOT_PROFILE_WORKSHOP && t->paper != spot_paper_overall(&t->run[0]->cfg))
        spot_note(f, markdown, "metric.profile is workshop, and this table is not the workshop's: its numbers are of profile "
                               "tmlr");
    snprintf(title, sizeof title, "Table %d. %s", t->paper->number, t->paper->title);
    spot_columns_print(f, markdown, title, print_rows, t);
    fputs("\n", f);
    print_notes(f, t, markdown);
}

static spot_status print_comparison(spot_ctx *c, FILE *f, const spot_comparison *t, spot_table_format format)
{
    spot_status s = SPOT_OK;

    if (format == SPOT_TABLE_JSON) s = spot_comparison_print_json(c, f, t);
    else if (format == SPOT_TABLE_CSV) spot_comparison_print_csv(f, t);
    else print_text(f, t, format == SPOT_TABLE_MD);
    if (s == SPOT_OK && (fflush(f) || ferror(f))) s = spot_fail(c, SPOT_IO, "the table could not be written");
    return s;
}

static spot_status make_comparison(spot_ctx *c, FILE *f, spot_comparison *t, spot_table_format format)
{
    char name[32];

    snprintf(name, sizeof name, "Table %d", t->paper->number);
    for (int r = 0; r < t->runs; r++)
        SPOT_TRY(spot_paper_fits(c, t->run[r]->dir, &t->run[r]->cfg, t->paper->experiment, name));
    SPOT_TRY(check_joined(c, t));
    if (t->paper->number == 2) t->paper = spot_paper_overall(&t->run[0]->cfg);     /* Table 2, or what the workshop had */
    for (int i = 0; i < t->paper->rows; i++) add_row(t, &t->paper->row[i]);
    return print_comparison(c, f, t, format);
}

static spot_status make_counts(spot_ctx *c, FILE *f, spot_results *const *run, int runs, int number, spot_table_format format)
{
    spot_count_table *t = calloc(1, sizeof *t);
    spot_status s = t ? spot_counts_make(c, t, number, run, runs) : spot_fail(c, SPOT_NOMEM, "no memory for the table");

    if (s == SPOT_OK) s = spot_counts_print(c, f, t, run, runs, format);
    if (s == SPOT_OK && (fflush(f) || ferror(f))) s = spot_fail(c, SPOT_IO, "the table could not be written");
    free(t);
    return s;
}

spot_status spot_tables_paper(spot_ctx *c, FILE *f, const char *const *dirs, int n, int number, spot_table_format format,
                              bool include_all)
{
    spot_comparison *t = calloc(1, sizeof *t);
    spot_status s = SPOT_OK;

    if (t) t->run = calloc((size_t)n, sizeof *t->run);
    if (!t || !t->run) return free(t), spot_fail(c, SPOT_NOMEM, "no memory for the table");
    t->paper = spot_paper_find(number);
    if (!t->paper && !spot_counts_has(number))
        s = spot_fail(c, SPOT_USAGE, "{tables.unknown} Table %d is not here; the tables are " SPOT_PAPER_TABLES, number);
    while (s == SPOT_OK && t->runs < n) {
        s = spot_results_read(c, &t->run[t->runs], dirs[t->runs], include_all);
        t->runs++;
    }
    if (s == SPOT_OK) s = t->paper ? make_comparison(c, f, t, format) : make_counts(c, f, t->run, n, number, format);
    for (int r = 0; s == SPOT_OK && r < t->runs; r++) s = spot_results_verdict(c, t->run[r]);
    for (int r = 0; r < t->runs; r++) spot_results_free(t->run[r]);
    free(t->run);
    free(t);
    return s;
}
