/* counts_print.c - see counts.h: tables of counts in four formats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "result/columns.h"
#include "report/table/counts.h"

/* The rule by which an EC of a run counts as learned. Returns text. */
static const char *describe_rule(char *text, size_t size, const spot_model_config *m)
{
    if (m->learned_gap > 0)
        snprintf(text, size, "an EC is learned where the recall of test positives inside each blindspot is at least %g below "
                 "that outside %s (appendix G.3 has 0.2; appendix B says \"significantly worse recall\" and no number)",
                 m->learned_gap, m->learned_rest ? "all of them" : "it");
    else if (m->learned_band[1] > 0)
        snprintf(text, size, "an EC is learned where the error on the test positives of each blindspot lies in [%g, %g] and is "
                 "significantly above the error outside (exact test, Holm, 0.01)", m->learned_band[0], m->learned_band[1]);
    else
        snprintf(text, size, "an EC is learned where the accuracy on validation images is at least %g outside the blindspots "
                 "and at most %g inside each", m->learned_outside, m->learned_inside);
    return text;
}

/* The settings that are not the paper's. In appendix B the way of planting is the row, and the rule is printed. */
static void list_differences(char *text, size_t size, const spot_count_table *t, const spot_results *r)
{
    spot_config changed = r->cfg, *cfg = &changed;

    if (t->number == SPOT_APPENDIX_B) {
        const spot_model_config own = spot_model_defaults();
        cfg->variants = 0;
        cfg->scene.induce = SPOT_FLIP_LABELS;
        cfg->scene.flip = 1;
        cfg->model.learned_gap = own.learned_gap;
        cfg->model.learned_rest = own.learned_rest;
        cfg->model.learned_outside = own.learned_outside;
        cfg->model.learned_inside = own.learned_inside;
    }
    spot_paper_run_differs(text, size, cfg);
}

/* ---- text ---- */

static void print_rows(spot_columns *p, const void *user)
{
    const spot_count_table *t = user;

    p->left |= 1u;
    spot_cell(p, "%s", t->row);
    spot_cell(p, "%s", t->what);
    spot_cell(p, "share");
    spot_cell_join(p);
    spot_cell(p, "95 %% interval");
    spot_cell(p, "paper");
    spot_cell_join(p);
    spot_cell(p, "its share");
    spot_end_row(p);
    for (int i = 0; i < t->lines; i++) {
        const spot_count_line *l = &t->line[i];
        const spot_estimate e = spot_share(l->count, l->of);
        spot_cell(p, "%s", l->name);
        if (!l->run || !l->of) {
            spot_cell(p, "not measured");
            spot_cell(p, "-");
            spot_cell(p, "-");
        } else {
            spot_cell(p, "%d of %d", l->count, l->of);
            spot_cell(p, "%.2f", e.mean);
            spot_cell(p, "%.2f to %.2f", e.low, e.high);
        }
        if (l->paper_of) spot_cell(p, "%d of %d", l->paper_count, l->paper_of);
        else spot_cell(p, "-");
        if (isnan(l->paper)) spot_cell(p, "-");
        else spot_cell(p, "%.2f", l->paper);
        spot_end_row(p);
    }
}

static void print_text(FILE *f, const spot_count_table *t, spot_results *const *run, int n, bool markdown)
{
    char title[160], name[32], text[SPOT_DIFFERS], rule[400], last[400] = "";
    int lists = 0;

    for (int r = 0; r < n; r++) {
        spot_note(f, markdown, "%s: %s", run[r]->dir, spot_results_counted(text, sizeof text, run[r]));
        spot_note(f, markdown, "%s", spot_results_origin(text, sizeof text, run[r]));
    }
    for (int r = 0; r < n; r++) {                          /* a rule that the runs share comes once */
        if (strcmp(describe_rule(rule, sizeof rule, &run[r]->cfg.model), last)) spot_note(f, markdown, "%s", rule);
        memcpy(last, rule, sizeof last);
    }
    snprintf(title, sizeof title, "%s. %s", spot_counts_name(name, t->number), t->title);
    spot_columns_print(f, markdown, title, print_rows, t);
    fputs("\n", f);
    spot_note(f, markdown, "intervals are Wilson's");
    for (int r = 0; r < n; r++) {
        list_differences(text, sizeof text, t, run[r]);
        if (*text && !lists++) spot_note(f, markdown, "%s", "settings" SPOT_PAPER_DIFFERS ":");
        if (*text) spot_note(f, markdown, "%s: %s", run[r]->dir, text);
    }
}

/* ---- for programs ---- */

static void print_csv(FILE *f, const spot_count_table *t)
{
    char name[32], text[SPOT_DIFFERS];

    fputs("table,row,run,config,count,of,share,low,high,paper_count,paper_of,paper,rule,run_differs\n", f);
    for (int i = 0; i < t->lines; i++) {
        const spot_count_line *l = &t->line[i];
        const bool found = l->run && l->of;
        const spot_estimate e = spot_share(l->count, l->of);
        spot_csv_text(f, spot_counts_name(name, t->number), ",");
        spot_csv_text(f, l->name, ",");
        spot_csv_text(f, found ? l->run->dir : "", ",");
        fprintf(f, "%s,", found ? l->run->config : "");
        if (found) fprintf(f, "%d,%d,", l->count, l->of);
        else fputs(",,", f);
        spot_csv_number(f, e.mean, ",");
        spot_csv_number(f, e.low, ",");
        spot_csv_number(f, e.high, ",");
        if (l->paper_of) fprintf(f, "%d,%d,", l->paper_count, l->paper_of);
        else fputs(",,", f);
        spot_csv_number(f, l->paper, ",");
        spot_csv_text(f, found ? describe_rule(text, sizeof text, &l->run->cfg.model) : "", ",");
        *text = 0;
        if (found) list_differences(text, sizeof text, t, l->run);
        spot_csv_text(f, text, "\n");
    }
}

static void json_line(spot_json *j, const spot_count_table *t, const spot_count_line *l)
{
    const bool found = l->run && l->of;
    const spot_estimate e = spot_share(l->count, l->of);
    char text[SPOT_DIFFERS] = "";

    spot_json_object(j, NULL);
    spot_json_put_text(j, "row", l->name);
    spot_json_put_text(j, "run", found ? l->run->dir : "");
    spot_json_put_text(j, "config", found ? l->run->config : "");
    spot_json_put_int(j, "count", l->count);
    spot_json_put_int(j, "of", l->of);
    spot_json_put_real(j, "share", e.mean);
    spot_json_put_real(j, "low", e.low);
    spot_json_put_real(j, "high", e.high);
    spot_json_put_int(j, "paper_count", l->paper_count);
    spot_json_put_int(j, "paper_of", l->paper_of);
    spot_json_put_real(j, "paper", l->paper);
    spot_json_put_text(j, "rule", found ? describe_rule(text, sizeof text, &l->run->cfg.model) : "");
    *text = 0;
    if (found) list_differences(text, sizeof text, t, l->run);
    spot_json_put_text(j, "differs", text);
    spot_json_end(j);
}

static spot_status print_json(spot_ctx *c, FILE *f, const spot_count_table *t)
{
    char name[32];
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_json_put_text(&j, "table", spot_counts_name(name, t->number));
    spot_json_put_text(&j, "title", t->title);
    spot_json_array(&j, "rows", t->lines, t->lines);
    for (int i = 0; i < t->lines; i++) json_line(&j, t, &t->line[i]);
    spot_json_end(&j);
    spot_json_print(&j, f);
    return SPOT_OK;
}

spot_status spot_counts_print(spot_ctx *c, FILE *f, const spot_count_table *t, spot_results *const *run, int n,
                              spot_table_format format)
{
    if (format == SPOT_TABLE_JSON) return print_json(c, f, t);
    if (format == SPOT_TABLE_CSV) print_csv(f, t);
    else print_text(f, t, run, n, format == SPOT_TABLE_MD);
    return SPOT_OK;
}
