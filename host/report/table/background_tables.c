/* background_tables.c - spotter tables of a background study: the tables of paper 003 beside the numbers of runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/background_lines.h"
#include "result/result.h"
#include "spotter/report.h"

typedef struct {
    spot_background_table_run *run;
    int runs, number;
    spot_background_lines lines;
} tables;

/* ---- lines ---- */

/* The lines of a table; 0: of all, with every run. */
typedef struct { const tables *t; int table; } one_table;

/* behind, number: of the line's n and of its run, NaN for none; dir: "" for none. */
typedef struct { spot_background_line l; const char *dir; double behind, number; } line_row;

static void here(spot_quantity_value *v, const void *row)
{
    const spot_background_line *l = &((const line_row *)row)->l;

    v->value = l->value, v->low = l->low, v->high = l->high, v->spread = l->sd;
}

static void in_paper(spot_quantity_value *v, const void *row)
{
    const spot_background_line *l = &((const line_row *)row)->l;

    v->value = l->paper, v->spread = l->paper_sd;
}

#define S(name, ...) SPOT_QUANTITY(name, line_row, __VA_ARGS__)
#define LINE(heading)                                                                                                       \
    S("table", l.table), S("row", l.row, .title = "row", .whole = true),                                                    \
    S("quantity", l.quantity, .title = "quantity", .whole = true), S("run", dir), S("value", l.value), S("sd", l.sd),       \
    S("n", l.n), S("paper", l.paper), S("paper_sd", l.paper_sd), S("low", l.low), S("high", l.high),                        \
    SPOT_COMPUTED(NULL, SPOT_AS_REAL, here, .title = heading, .missing = "not run"),                                        \
    SPOT_COMPUTED(NULL, SPOT_AS_REAL, in_paper, .title = "paper (s.d.)", .beside = true),                                   \
    S(NULL, behind, .title = "n", .unit = SPOT_UNIT_COUNT), S(NULL, number, .title = "run", .unit = SPOT_UNIT_COUNT),       \
    SPOT_QUANTITIES_END
static const spot_quantity line[] = { LINE("here (s.d.)") }, bin[] = { LINE("here [95 %]") };
#undef LINE
#undef S

static long count_lines(const void *root) { return ((const one_table *)root)->t->lines.lines; }

static bool get_line(void *out, const void *root, long i)
{
    const one_table *of = root;
    const spot_background_line *l = &of->t->lines.line[i];

    *(line_row *)out = (line_row){ *l, l->run ? l->run->dir : "", l->n ? l->n : NAN,
                                   l->run ? (double)(l->run - of->t->run) + 1 : NAN };
    return !of->table || (l->table == of->table && (l->table <= SPOT_BACKGROUND_TABLES || l->run == of->t->run));
}

static const spot_quantity lines = SPOT_ROWS("lines", SPOT_AS_LIST, line, line_row, count_lines, get_line, .keep = true);

/* ---- text ---- */

static void print_table(FILE *f, spot_table_format format, const tables *t, int table)
{
    spot_quantity of_table = lines;
    char title[128];

    snprintf(title, sizeof title, "%s%d. %s", table > SPOT_BACKGROUND_TABLES ? "Beside the paper, " : "Table ", table,
             spot_background_table_title(table));
    of_table.title = title;
    if (table == SPOT_BACKGROUND_REALNESS) of_table.rows = bin;
    spot_result_print(f, format, &of_table, &(one_table){ t, table });
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
        spot_note(f, markdown, "%s: %d splits into %d models to train and %d to test; %.0f %% of those tested are within the "
                  "forest's reach; the forest is %+.3f (s.d. %.3f) more accurate than worst-case accuracy",
                  run->dir, v->scores.splits, v->scores.train, v->scores.test,
                  100.0 * v->scores.judged / (v->scores.splits * v->scores.test), v->scores.gain.mean,
                  v->scores.gain.deviation);
}

static void print_text(FILE *f, const tables *t, spot_table_format format)
{
    const bool markdown = format == SPOT_TABLE_MD;

    for (int r = 0; r < t->runs; r++)
        spot_note(f, markdown, "run %d, %s: %d models, suite %s, matrices of %s", r + 1, t->run[r].dir,
                  t->run[r].v.table.models, t->run[r].v.table.suite, t->run[r].v.table.measured);
    for (int r = 0; r < t->runs && !t->number; r++)
        spot_result_print(f, format, &spot_background_models, &t->run[r].r);
    for (int k = 1; k <= SPOT_BACKGROUND_REALNESS; k++) {
        bool any = false;
        for (int i = 0; i < t->lines.lines; i++) any |= t->lines.line[i].table == k;
        if (any) print_table(f, format, t, k);
    }
    fputs("\n", f);
    for (int r = 0; r < t->runs; r++) print_labels(f, markdown, &t->run[r]);
    spot_note(f, markdown, "the paper does not say the threshold of its neuron coverage; its numbers stand beside ours above "
              "0.25, from which F1 is made; higher coverage is not proof of a better suite");
    if (t->runs > 1)
        spot_note(f, markdown, "answers by realness are those of the first run; csv and json have them of every suite");
    spot_note(f, markdown, "two suites (stand-in for kappa): the rank correlation of the matrices' features over models "
              "between two runs that differ in suite.seed; it is no agreement of people");
}

/* ---- the command ---- */

/* A variant that is not computed yet is left out; a run that the user names must be whole. */
static spot_status read_run(spot_ctx *c, tables *t, const char *dir, bool named)
{
    spot_background_table_run *run = &t->run[t->runs];
    spot_status s;

    run->dir = dir;
    s = spot_background_read(c, &run->r, dir);
    if (s != SPOT_OK && !named && (s == SPOT_IO || run->r.missing)) {
        spot_log(c, SPOT_LOG_WARN, "left out: %s", spot_message(c, s));
        spot_forget(c);
        spot_background_close(&run->r);
        return SPOT_OK;
    }
    if (s == SPOT_OK) s = spot_verdict_report_make(c, &run->v, &run->r, dir);
    t->runs++;
    return s;
}

static bool is_named(const char *dir, const char *const *dirs, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(dir, dirs[i])) return true;
    return false;
}

static spot_status print_tables(spot_ctx *c, FILE *f, const tables *t, spot_table_format format)
{
    spot_status s = SPOT_OK;

    if (format == SPOT_TABLE_JSON || format == SPOT_TABLE_CSV) s = spot_result_data(c, f, format, &lines, &(one_table){ t, 0 });
    else print_text(f, t, format);
    if (s == SPOT_OK && (fflush(f) || ferror(f))) s = spot_fail(c, SPOT_IO, "the tables could not be written");
    return s;
}

static spot_status fill_lines(spot_ctx *c, tables *t, int number)
{
    t->number = number;
    if (number) return spot_background_lines_add(c, &t->lines, number, t->run, t->runs);
    for (int k = 1; k <= SPOT_BACKGROUND_REALNESS; k++)
        SPOT_TRY(spot_background_lines_add(c, &t->lines, k, t->run, t->runs));
    return SPOT_OK;
}

spot_status spot_background_tables(spot_ctx *c, FILE *f, const char *const *dirs, int n, int number, spot_table_format format)
{
    tables *t = calloc(1, sizeof *t);
    char **list = NULL;
    int runs = 0;
    spot_status s = t ? spot_background_runs(c, &list, &runs, dirs, n) : spot_fail(c, SPOT_NOMEM, "no memory for the tables");

    if (s == SPOT_OK) t->run = calloc((size_t)runs, sizeof *t->run);
    if (s == SPOT_OK && !t->run) s = spot_fail(c, SPOT_NOMEM, "no memory for the tables");
    for (int i = 0; s == SPOT_OK && i < runs; i++) s = read_run(c, t, list[i], is_named(list[i], dirs, n));
    if (s == SPOT_OK) s = fill_lines(c, t, number);
    if (s == SPOT_OK) s = print_tables(c, f, t, format);
    for (int r = 0; t && r < t->runs; r++) {
        spot_verdict_report_free(&t->run[r].v);
        spot_background_close(&t->run[r].r);
    }
    spot_background_runs_free(list, runs);
    if (t) free(t->run);
    free(t);
    return s;
}
