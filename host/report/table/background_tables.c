/* background_tables.c - spotter tables of a background study: the tables of paper 003 beside the numbers of runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "report/table/background_lines.h"
#include "report/table/columns.h"
#include "spotter/report.h"

typedef struct {
    spot_background_table_run *run;
    int runs;
    spot_background_lines lines;
} tables;

/* ---- text ---- */

typedef struct { const tables *t; int table; } one_table;

static void number_cell(spot_columns *p, double v, double sd)
{
    if (isnan(v)) spot_cell(p, "-");
    else if (isnan(sd)) spot_cell(p, "%.3f", v);
    else spot_cell(p, "%.3f (%.3f)", v, sd);
}

static void print_rows(spot_columns *p, const void *user)
{
    const one_table *of = user;

    p->left |= 2;
    spot_cell(p, "row"), spot_cell(p, "quantity"), spot_cell(p, "here (s.d.)");
    spot_cell_join(p);
    spot_cell(p, "paper (s.d.)"), spot_cell(p, "n"), spot_cell(p, "run");
    spot_end_row(p);
    for (int i = 0; i < of->t->lines.lines; i++) {
        const spot_background_line *l = &of->t->lines.line[i];
        if (l->table != of->table) continue;
        spot_cell(p, "%s", l->row), spot_cell(p, "%s", l->quantity);
        if (isnan(l->value)) spot_cell(p, "not run");
        else number_cell(p, l->value, l->sd);
        number_cell(p, l->paper, l->paper_sd);
        if (l->n) spot_cell(p, "%d", l->n);
        else spot_cell(p, "-");
        if (l->run) spot_cell(p, "%d", (int)(l->run - of->t->run) + 1);
        else spot_cell(p, "-");
        spot_end_row(p);
    }
}

static void print_labels(FILE *f, bool markdown, const spot_background_table_run *run)
{
    const spot_verdict_report *v = &run->v;

    if (v->why_labels[0]) spot_note(f, markdown, "%s: no labels: %s", run->dir, v->why_labels);
    if (v->labels.models)
        spot_note(f, markdown, "%s: labels by %s; the paper's are those of three people about 250 models; %d of %d models have "
                  "a label, %d votes were tied and count as borderline", run->dir, v->labels.source, v->labels.labelled,
                  v->labels.models, v->labels.ties);
    if (v->why_scores[0] && !v->why_labels[0]) spot_note(f, markdown, "%s: no assessor: %s", run->dir, v->why_scores);
    if (v->scores.splits)
        spot_note(f, markdown, "%s: %d splits into %d models to train and %d to test; %.0f %% of those tested lie within the "
                  "training range of every feature; the forest is %+.3f (s.d. %.3f) more accurate than worst-case accuracy",
                  run->dir, v->scores.splits, v->scores.train, v->scores.test, 100 * v->scores.covered, v->scores.gain.mean,
                  v->scores.gain.deviation);
}

static void print_text(FILE *f, const tables *t, bool markdown)
{
    for (int r = 0; r < t->runs; r++)
        spot_note(f, markdown, "run %d, %s: %d models, suite %s, matrices of %s", r + 1, t->run[r].dir,
                  t->run[r].v.table.models, t->run[r].v.table.suite, t->run[r].v.table.measured);
    for (int k = 1; k <= SPOT_BACKGROUND_TABLES; k++) {
        const one_table of = { t, k };
        bool any = false;
        char title[128];
        for (int i = 0; i < t->lines.lines; i++) any |= t->lines.line[i].table == k;
        if (!any) continue;
        snprintf(title, sizeof title, "Table %d. %s", k, spot_background_table_title(k));
        spot_columns_print(f, markdown, title, print_rows, &of);
    }
    fputs("\n", f);
    for (int r = 0; r < t->runs; r++) print_labels(f, markdown, &t->run[r]);
    spot_note(f, markdown, "the paper does not say the threshold of its neuron coverage; its numbers stand beside ours above "
              "0.25, from which F1 is made; higher coverage is not proof of a better suite");
    spot_note(f, markdown, "two suites (stand-in for kappa): the rank correlation of the matrices' features over models "
              "between two runs that differ in suite.seed; it is no agreement of people");
}

/* ---- for programs ---- */

static const char *dir_of(const spot_background_line *l) { return l->run ? l->run->dir : ""; }

static void print_csv(FILE *f, const tables *t)
{
    fputs("table,row,quantity,run,value,sd,n,paper,paper_sd\n", f);
    for (int i = 0; i < t->lines.lines; i++) {
        const spot_background_line *l = &t->lines.line[i];
        fprintf(f, "%d,", l->table);
        spot_csv_text(f, l->row, ","), spot_csv_text(f, l->quantity, ","), spot_csv_text(f, dir_of(l), ",");
        spot_csv_number(f, l->value, ","), spot_csv_number(f, l->sd, ",");
        fprintf(f, "%d,", l->n);
        spot_csv_number(f, l->paper, ","), spot_csv_number(f, l->paper_sd, "\n");
    }
}

static spot_status print_json(spot_ctx *c, FILE *f, const tables *t)
{
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_json_array(&j, "lines", t->lines.lines, t->lines.lines);
    for (int i = 0; i < t->lines.lines; i++) {
        const spot_background_line *l = &t->lines.line[i];
        spot_json_object(&j, NULL);
        spot_json_put_int(&j, "table", l->table);
        spot_json_put_text(&j, "row", l->row);
        spot_json_put_text(&j, "quantity", l->quantity);
        spot_json_put_text(&j, "run", dir_of(l));
        spot_json_put_real(&j, "value", l->value);
        spot_json_put_real(&j, "sd", l->sd);
        spot_json_put_int(&j, "n", l->n);
        spot_json_put_real(&j, "paper", l->paper);
        spot_json_put_real(&j, "paper_sd", l->paper_sd);
        spot_json_end(&j);
    }
    spot_json_end(&j);
    spot_json_print(&j, f);
    return SPOT_OK;
}

/* ---- the command ---- */

static spot_status read_run(spot_ctx *c, spot_background_table_run *run, const char *dir)
{
    run->dir = dir;
    SPOT_TRY(spot_background_read(c, &run->r, dir));
    return spot_verdict_report_make(c, &run->v, &run->r, dir);
}

static spot_status print_tables(spot_ctx *c, FILE *f, const tables *t, spot_table_format format)
{
    spot_status s = SPOT_OK;

    if (format == SPOT_TABLE_JSON) s = print_json(c, f, t);
    else if (format == SPOT_TABLE_CSV) print_csv(f, t);
    else print_text(f, t, format == SPOT_TABLE_MD);
    if (s == SPOT_OK && (fflush(f) || ferror(f))) s = spot_fail(c, SPOT_IO, "the tables could not be written");
    return s;
}

spot_status spot_background_tables(spot_ctx *c, FILE *f, const char *const *dirs, int n, int number, spot_table_format format)
{
    tables *t = calloc(1, sizeof *t);
    spot_status s = SPOT_OK;

    if (t) t->run = calloc((size_t)n, sizeof *t->run);
    if (!t || !t->run) return free(t), spot_fail(c, SPOT_NOMEM, "no memory for the tables");
    while (s == SPOT_OK && t->runs < n) {
        s = read_run(c, &t->run[t->runs], dirs[t->runs]);
        t->runs++;
    }
    for (int k = 1; s == SPOT_OK && k <= SPOT_BACKGROUND_TABLES; k++)
        if (!number || k == number) s = spot_background_lines_add(c, &t->lines, k, t->run, n);
    if (s == SPOT_OK && number > SPOT_BACKGROUND_TABLES) s = spot_background_lines_add(c, &t->lines, number, t->run, n);
    if (s == SPOT_OK) s = print_tables(c, f, t, format);
    for (int r = 0; r < t->runs; r++) {
        spot_verdict_report_free(&t->run[r].v);
        spot_background_close(&t->run[r].r);
    }
    free(t->run);
    free(t);
    return s;
}
