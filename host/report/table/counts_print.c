/* counts_print.c - see counts.h: tables of counts in four formats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/counts.h"
#include "result/result.h"

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

/* ---- rows ---- */

typedef struct { char rule[400], differs[SPOT_DIFFERS]; } run_words;

typedef struct {
    const spot_count_table *t;
    const char *title;
    spot_results *const *run;
    int runs;
    run_words *words;                                  /* (runs) */
    char name[32];
} counts;

/* A run that has nothing to count has no numbers. learned, theirs: "18 of 20", for tables. */
typedef struct {
    const char *table, *name, *run, *config, *rule, *differs;
    double count, of, paper_count, paper_of, paper;
    spot_interval share;
    char learned[32], theirs[32];
} count_row;

static const spot_quantity numbers[] = {
#define N(field) SPOT_WHOLE_NUMBER(#field, count_row, field)
#define S(name_, ...) SPOT_QUANTITY(name_, count_row, __VA_ARGS__)
    S("row", name), S("run", run), S("config", config), N(count), N(of), S("share", share.value), S("low", share.low),
    S("high", share.high), N(paper_count), N(paper_of), S("paper", paper), S("rule", rule), SPOT_QUANTITIES_END
#undef N
};

static const spot_quantity csv[] = {
    S("table", table), SPOT_HERE(NULL, numbers), S("run_differs", differs), SPOT_QUANTITIES_END
};

static const spot_quantity json[] = { SPOT_HERE(NULL, numbers), S("differs", differs), SPOT_QUANTITIES_END };

static long count_lines(const void *root) { return ((const counts *)root)->t->lines; }

static bool get_line(void *out, const void *root, long i)
{
    const counts *k = root;
    const spot_count_line *l = &k->t->line[i];
    const bool found = l->run && l->of;
    const spot_estimate e = spot_share(l->count, l->of);
    count_row *x = out;
    int r = 0;

    *x = (count_row){ k->name, l->name, "", "", "", "", NAN, NAN, NAN, NAN, l->paper, { NAN, NAN, NAN }, "not measured", "-" };
    while (found && k->run[r] != l->run) r++;
    if (found) {
        x->run = l->run->dir, x->config = l->run->config, x->rule = k->words[r].rule, x->differs = k->words[r].differs;
        x->count = l->count, x->of = l->of, x->share = (spot_interval){ e.mean, e.low, e.high };
        snprintf(x->learned, sizeof x->learned, "%d of %d", l->count, l->of);
    }
    if (!l->paper_of) return true;
    x->paper_count = l->paper_count, x->paper_of = l->paper_of;
    snprintf(x->theirs, sizeof x->theirs, "%d of %d", l->paper_count, l->paper_of);
    return true;
}

static const spot_quantity document[] = {
    SPOT_QUANTITY("table", counts, name), SPOT_QUANTITY("title", counts, title),
    SPOT_ROWS("rows", SPOT_AS_LIST, json, count_row, count_lines, get_line), SPOT_QUANTITIES_END
};

static const spot_quantity csv_rows = SPOT_ROWS(NULL, SPOT_AS_LIST, csv, count_row, count_lines, get_line);

/* ---- text ---- */

static void print_table(FILE *f, const counts *k, spot_table_format format)
{
    const spot_quantity columns[] = {
        S(NULL, name, .title = k->t->row, .whole = true), S(NULL, learned, .title = k->t->what, .right = true),
        S(NULL, share, .title = "share [95 %]", .digits = 2), S(NULL, theirs, .title = "paper", .right = true),
        S(NULL, paper, .title = "its share", .digits = 2, .beside = true), SPOT_QUANTITIES_END
#undef S
    };
    char title[160];
    const spot_quantity rows = SPOT_ROWS(NULL, SPOT_AS_LIST, columns, count_row, count_lines, get_line, .title = title,
                                         .keep = true);

    snprintf(title, sizeof title, "%s. %s", k->name, k->title);
    spot_result_print(f, format, &rows, k);
}

static void print_text(FILE *f, const counts *k, spot_table_format format)
{
    const bool markdown = format == SPOT_TABLE_MD;
    char text[SPOT_DIFFERS];
    int lists = 0;

    for (int r = 0; r < k->runs; r++) {
        spot_note(f, markdown, "%s: %s", k->run[r]->dir, spot_results_counted(text, sizeof text, k->run[r]));
        spot_note(f, markdown, "%s", spot_results_origin(text, sizeof text, k->run[r]));
    }
    for (int r = 0; r < k->runs; r++)                      /* a rule that the runs share comes once */
        if (!r || strcmp(k->words[r].rule, k->words[r - 1].rule)) spot_note(f, markdown, "%s", k->words[r].rule);
    print_table(f, k, format);
    fputs("\n", f);
    spot_note(f, markdown, "intervals are Wilson's");
    for (int r = 0; r < k->runs; r++) {
        if (*k->words[r].differs && !lists++) spot_note(f, markdown, "%s", "settings" SPOT_PAPER_DIFFERS ":");
        if (*k->words[r].differs) spot_note(f, markdown, "%s: %s", k->run[r]->dir, k->words[r].differs);
    }
}

spot_status spot_counts_print(spot_ctx *c, FILE *f, const spot_count_table *t, spot_results *const *run, int n,
                              spot_table_format format)
{
    counts k = { .t = t, .title = t->title, .run = run, .runs = n, .words = calloc((size_t)n, sizeof *k.words) };
    spot_status s = k.words ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the table");
    spot_json j;

    spot_counts_name(k.name, t->number);
    for (int r = 0; r < n && s == SPOT_OK; r++) {
        describe_rule(k.words[r].rule, sizeof k.words->rule, &run[r]->cfg.model);
        list_differences(k.words[r].differs, sizeof k.words->differs, t, run[r]);
    }
    if (s == SPOT_OK && format == SPOT_TABLE_CSV) s = spot_result_data(c, f, format, &csv_rows, &k);
    else if (s == SPOT_OK && format != SPOT_TABLE_JSON) print_text(f, &k, format);
    else if (s == SPOT_OK && (s = spot_json_open(c, &j)) == SPOT_OK) {
        spot_quantities_put(&j, document, &k);
        spot_json_print(&j, f);
    }
    free(k.words);
    return s;
}
