/* tables_paper.c - the paper's tables with a run's numbers beside the paper's, in four formats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/columns.h"
#include "report/paper.h"
#include "report/results.h"
#include "store/json.h"
#include "sweep/keys.h"
#include "sweep/pipeline.h"

enum { MAX_ROWS = 256 };

/* A row of the table: the method of a run that has the row's settings, or none. */
typedef struct { const spot_paper_row *paper; const spot_results *run; int method; } line;

typedef struct {
    const spot_paper_table *paper;
    spot_results **run;
    int  runs, lines;
    line line[MAX_ROWS];
} comparison;

static int quantities(const comparison *t) { return t->paper->failures ? SPOT_FAILURES : 2; }

static const char *quantity_name(const comparison *t, int q)
{
    return t->paper->failures ? spot_failure_name(q) : q ? "fdr" : "dr";
}

static const spot_summary *summary(const line *l) { return &l->run->method[l->method].sum; }

static spot_average ours(const comparison *t, const line *l, int q)
{
    const spot_average none = { NAN, NAN, 0, 0 };

    if (!l->run) return none;
    if (t->paper->failures) return summary(l)->failure[q];
    return q ? summary(l)->fdr : summary(l)->dr;
}

/* The difference from the paper's number in units of its standard error; NaN where there is nothing to compare, or where all
 * values are equal, so that no error is known. */
static double apart(const comparison *t, const line *l, int q, double *se)
{
    spot_average a = ours(t, l, q);
    double theirs = isnan(l->paper->se[q]) ? 0 : l->paper->se[q];

    *se = a.n ? sqrt(theirs * theirs + a.se * a.se) : NAN;
    if (!(*se > 0) || isnan(l->paper->value[q])) return NAN;
    return a.mean == l->paper->value[q] ? 0 : (a.mean - l->paper->value[q]) / *se;
}

/* ---- gathering ---- */

static bool there_already(const comparison *t, int from, const spot_bdm_config *m)
{
    const spot_key k = spot_key_of_method(m);

    for (int i = from; i < t->lines; i++) {
        const spot_key other = spot_key_of_method(&t->line[i].run->cfg.bdm[t->line[i].method]);
        if (k.hi == other.hi && k.lo == other.lo) return true;
    }
    return false;
}

/* The lines of one row of the paper's: every method of every run that has its settings, the same one of two runs once. */
static void add_row(comparison *t, const spot_paper_row *row)
{
    int from = t->lines;

    for (int r = 0; r < t->runs; r++)
        for (int b = 0; b < t->run[r]->methods && t->lines < MAX_ROWS; b++) {
            const spot_bdm_config *m = &t->run[r]->cfg.bdm[b];
            if (spot_bdm_has(m, row->needs) && !there_already(t, from, m)) t->line[t->lines++] = (line){ row, t->run[r], b };
        }
    if (t->lines == from && !row->extra && t->lines < MAX_ROWS) t->line[t->lines++] = (line){ row, NULL, 0 };
}

/* Numbers of two runs stand in one table when both are of the same ECs and models, judged alike. How a robust network is
 * trained is no difference where one of them has none. */
static spot_status check_joined(spot_ctx *c, const comparison *t)
{
    const spot_results *a = t->run[0];
    spot_config *same = malloc(sizeof *same);
    char words[512];

    if (!same) return spot_fail(c, SPOT_NOMEM, "no memory to compare the runs");
    for (int r = 1; r < t->runs; r++) {
        const spot_results *b = t->run[r];
        *same = b->cfg;
        same->bdms = a->cfg.bdms;
        memcpy(same->bdm, a->cfg.bdm, sizeof same->bdm);
        if (!spot_wants_robust(&a->cfg) || !spot_wants_robust(&b->cfg)) same->model.robust = a->cfg.model.robust;
        words[0] = 0;
        if (a->cfg.ecs != b->cfg.ecs) snprintf(words, sizeof words, "ecs is %d there and %d here", a->cfg.ecs, b->cfg.ecs);
        else if (a->numbers != b->numbers)
            snprintf(words, sizeof words, "their numbers are of versions %d and %d", a->numbers, b->numbers);
        if (words[0] || spot_config_differs(words, sizeof words, &a->cfg, same)) {
            free(same);
            return spot_fail(c, SPOT_USAGE, "%s and %s cannot be one table: %s; runs are joined when seed, ecs, scene, model "
                             "and metric are equal", a->dir, b->dir, words);
        }
    }
    free(same);
    return SPOT_OK;
}

/* ---- what stands below a table ---- */

/* The first way in which the ECs are not the paper's; "" when they are. The batch is not in the paper, and weights from
 * elsewhere are no difference: the paper's came from ImageNet, which no setting says. */
static const char *not_the_papers(char *text, size_t size, const spot_results *r)
{
    spot_config *paper = malloc(sizeof *paper);

    *text = 0;
    if (!paper) return text;
    *paper = spot_config_defaults();
    paper->seed = r->cfg.seed;
    paper->bdms = r->cfg.bdms;
    memcpy(paper->bdm, r->cfg.bdm, sizeof paper->bdm);
    memcpy(paper->model.init, r->cfg.model.init, sizeof paper->model.init);
    paper->model.batch = r->cfg.model.batch;
    if (!spot_wants_robust(&r->cfg)) paper->model.robust = r->cfg.model.robust;
    if (!spot_config_differs(text, size, paper, &r->cfg)) *text = 0;
    free(paper);
    return text;
}

static void print_notes(FILE *f, const comparison *t, const char *item)
{
    char text[600];

    for (int i = 0; i < t->lines; i++)
        if (!t->line[i].run)
            fprintf(f, "%sno method of the run is %s, which needs %s\n", item, t->line[i].paper->name, t->line[i].paper->needs);
    for (int i = 0; i < t->lines; i++) {
        const line *l = &t->line[i];
        if (l->run && *spot_paper_differs(text, sizeof text, &l->run->cfg.bdm[l->method], l->paper))
            fprintf(f, "%s%s: %s\n", item, l->run->method[l->method].name, text);
    }
    for (int i = 0; i < t->lines; i++)
        for (int q = 0; q < quantities(t); q++) {
            const line *l = &t->line[i];
            double se, by = apart(t, l, q, &se);
            if (fabs(by) > 2)
                fprintf(f, "%s%s: %s is %.3f here and %.3g in the paper, more than two standard errors apart (one is %.3f%s)\n",
                        item, l->run->method[l->method].name, quantity_name(t, q), ours(t, l, q).mean, l->paper->value[q], se,
                        isnan(l->paper->se[q]) ? ", of ours alone: the paper prints none" : "");
        }
}

/* ---- formats ---- */

/* As many decimals as the paper has. */
static void paper_cell(spot_columns *p, double value, double se)
{
    int digits = fabs(100 * value - round(100 * value)) < 1e-9 ? 2 : 3;
    int more = fabs(100 * se - round(100 * se)) < 1e-9 ? 2 : 3;

    if (isnan(value)) spot_cell(p, "-");
    else if (isnan(se)) spot_cell(p, "%.*f", digits, value);
    else spot_cell(p, "%.*f (%.*f)", digits, value, more, se);
}

static void run_cell(spot_columns *p, const comparison *t, const line *l)
{
    int r = 0;

    while (r < t->runs && t->run[r] != l->run) r++;
    if (l->run) spot_cell(p, "%d", r + 1);
    else spot_cell(p, "-");
}

static void rows(spot_columns *p, const void *user)
{
    const comparison *t = user;

    p->left |= 2;
    spot_cell(p, "paper's row");
    spot_cell(p, "method");
    if (t->runs > 1) spot_cell(p, "run");
    for (int q = 0; q < quantities(t); q++) {
        spot_cell(p, "%s (s.e.)", t->paper->failures ? spot_failure_name(q) : q ? "FDR" : "DR");
        spot_cell(p, "paper");
        if (q == 0 || !t->paper->failures) spot_cell(p, "ECs");
    }
    spot_cell(p, "not learned");
    spot_cell(p, "failed");
    spot_cell(p, t->paper->failures ? "DR = 1" : "DR = 0");
    spot_end_row(p);
    for (int i = 0; i < t->lines; i++) {
        const line *l = &t->line[i];
        spot_cell(p, "%s", l->paper->name);
        spot_cell(p, "%s", l->run ? l->run->method[l->method].name : "-");
        if (t->runs > 1) run_cell(p, t, l);
        for (int q = 0; q < quantities(t); q++) {
            spot_average a = ours(t, l, q);
            spot_cell_average(p, &a);
            paper_cell(p, l->paper->value[q], l->paper->se[q]);
            if (q && t->paper->failures) continue;
            if (l->run) spot_cell(p, "%d", a.n);
            else spot_cell(p, "-");
        }
        for (int k = 0; k < 3; k++)
            if (!l->run) spot_cell(p, "-");
            else spot_cell(p, "%d", k == 0 ? l->run->include_all ? 0 : l->run->not_learned : k == 1
                           ? l->run->method[l->method].failed : ours(t, l, quantities(t) - 1).left_out);
        spot_end_row(p);
    }
}

static void print_text(FILE *f, const comparison *t, bool markdown)
{
    const char *item = markdown ? "- " : "";
    char title[128], text[600];

    for (int r = 0; r < t->runs; r++) {
        fprintf(f, "%s", item);
        if (t->runs > 1) fprintf(f, "run %d, ", r + 1);
        fprintf(f, "%s: %s\n", t->run[r]->dir, spot_results_counted(text, sizeof text, t->run[r]));
        fprintf(f, "%s%s\n", item, spot_results_origin(text, sizeof text, t->run[r]));
    }
    fprintf(f, "%sthe paper's numbers are over %s\n", item, t->paper->over);
    if (*not_the_papers(text, sizeof text, t->run[0])) fprintf(f, "%snot the paper's experiment: %s\n", item, text);
    snprintf(title, sizeof title, "Table %d. %s", t->paper->number, t->paper->title);
    spot_columns_print(f, markdown, title, rows, t);
    fputs("\n", f);
    print_notes(f, t, item);
}

static void csv_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
    fputs("\",", f);
}

static void csv_number(FILE *f, double v, const char *end)
{
    if (!isnan(v)) fprintf(f, "%.9g", v);
    fputs(end, f);
}

static void print_csv(FILE *f, const comparison *t)
{
    double se;

    fputs("table,row,method,run,config,profile,quantity,value,se,n,left_out,paper,paper_se,apart_in_se\n", f);
    for (int i = 0; i < t->lines; i++)
        for (int q = 0; q < quantities(t); q++) {
            const line *l = &t->line[i];
            spot_average a = ours(t, l, q);
            fprintf(f, "%d,", t->paper->number);
            csv_text(f, l->paper->name);
            csv_text(f, l->run ? l->run->method[l->method].name : "");
            csv_text(f, l->run ? l->run->dir : "");
            fprintf(f, "%s,%s,%s,", l->run ? l->run->config : "", l->run ? spot_profile_name(l->run->metric.profile) : "",
                    quantity_name(t, q));
            csv_number(f, a.n ? a.mean : NAN, ",");
            csv_number(f, a.n ? a.se : NAN, ",");
            if (l->run) fprintf(f, "%d,%d,", a.n, a.left_out + l->run->method[l->method].failed + summary(l)->not_learned);
            else fputs(",,", f);
            csv_number(f, l->paper->value[q], ",");
            csv_number(f, l->paper->se[q], ",");
            csv_number(f, apart(t, l, q, &se), "\n");
        }
}

static void text(spot_json *j, const char *key, const char *v) { spot_json_text(j, key, (char *)v, 0); }
static void integer(spot_json *j, const char *key, int v)      { spot_json_int(j, key, &v); }
static void real(spot_json *j, const char *key, double v)      { spot_json_real(j, key, &v); }

static void json_line(spot_json *j, const comparison *t, const line *l)
{
    char words[600] = "";
    double se;

    spot_json_object(j, NULL);
    text(j, "row", l->paper->name);
    text(j, "needs", l->paper->needs);
    text(j, "method", l->run ? l->run->method[l->method].name : "");
    text(j, "run", l->run ? l->run->dir : "");
    text(j, "differs", l->run ? spot_paper_differs(words, sizeof words, &l->run->cfg.bdm[l->method], l->paper) : words);
    for (int q = 0; q < quantities(t); q++) {
        spot_average a = ours(t, l, q);
        spot_json_object(j, quantity_name(t, q));
        real(j, "mean", a.n ? a.mean : NAN);
        real(j, "se", a.n ? a.se : NAN);
        integer(j, "n", a.n);
        integer(j, "left_out", l->run ? a.left_out + l->run->method[l->method].failed + summary(l)->not_learned : 0);
        real(j, "paper", l->paper->value[q]);
        real(j, "paper_se", l->paper->se[q]);
        real(j, "apart_in_se", apart(t, l, q, &se));
        spot_json_end(j);
    }
    spot_json_end(j);
}

static spot_status print_json(spot_ctx *c, FILE *f, const comparison *t)
{
    spot_json j = { .gen = yajl_gen_alloc(NULL) };
    const unsigned char *bytes;
    char words[600];
    size_t n;

    if (!j.gen) return spot_fail(c, SPOT_NOMEM, "no memory for the table");
    yajl_gen_config(j.gen, yajl_gen_beautify, 1);
    yajl_gen_config(j.gen, yajl_gen_indent_string, "  ");
    spot_json_object(&j, NULL);
    integer(&j, "table", t->paper->number);
    text(&j, "title", t->paper->title);
    text(&j, "paper_over", t->paper->over);
    text(&j, "not_the_papers", not_the_papers(words, sizeof words, t->run[0]));
    spot_json_array(&j, "runs", t->runs, t->runs);
    for (int r = 0; r < t->runs; r++) {
        spot_json_object(&j, NULL);
        text(&j, "run", t->run[r]->dir);
        text(&j, "config", t->run[r]->config);
        text(&j, "profile", spot_profile_name(t->run[r]->metric.profile));
        integer(&j, "numbers", t->run[r]->numbers);
        integer(&j, "planned", t->run[r]->planned);
        integer(&j, "done", t->run[r]->ecs);
        integer(&j, "not_learned", t->run[r]->not_learned);
        integer(&j, "untrained", t->run[r]->untrained);
        spot_json_end(&j);
    }
    spot_json_end(&j);
    spot_json_array(&j, "rows", t->lines, t->lines);
    for (int i = 0; i < t->lines; i++) json_line(&j, t, &t->line[i]);
    spot_json_end(&j);
    spot_json_end(&j);
    yajl_gen_get_buf(j.gen, &bytes, &n);
    fwrite(bytes, 1, n, f);
    yajl_gen_free(j.gen);
    return SPOT_OK;
}

static spot_status print(spot_ctx *c, FILE *f, const comparison *t, spot_table_format format)
{
    spot_status s = SPOT_OK;

    if (format == SPOT_TABLE_JSON) s = print_json(c, f, t);
    else if (format == SPOT_TABLE_CSV) print_csv(f, t);
    else print_text(f, t, format == SPOT_TABLE_MD);
    if (s == SPOT_OK && (fflush(f) || ferror(f))) s = spot_fail(c, SPOT_IO, "the table could not be written");
    return s;
}

spot_status spot_tables_paper(spot_ctx *c, FILE *f, const char *const *dirs, int n, int number, spot_table_format format,
                              bool include_all)
{
    comparison *t = calloc(1, sizeof *t);
    spot_status s = SPOT_OK;

    if (t) t->run = calloc((size_t)n, sizeof *t->run);
    if (!t || !t->run) return free(t), spot_fail(c, SPOT_NOMEM, "no memory for the table");
    t->paper = spot_paper_find(number);
    if (!t->paper) s = spot_fail(c, SPOT_USAGE, "Table %d is not here; the tables are " SPOT_PAPER_TABLES, number);
    while (s == SPOT_OK && t->runs < n) {
        s = spot_results_read(c, &t->run[t->runs], dirs[t->runs], include_all);
        t->runs++;
    }
    if (s == SPOT_OK) s = check_joined(c, t);
    for (int i = 0; s == SPOT_OK && i < t->paper->rows; i++) add_row(t, &t->paper->row[i]);
    if (s == SPOT_OK) s = print(c, f, t, format);
    for (int r = 0; s == SPOT_OK && r < t->runs; r++) s = spot_results_verdict(c, t->run[r]);
    for (int r = 0; r < t->runs; r++) spot_results_free(t->run[r]);
    free(t->run);
    free(t);
    return s;
}
