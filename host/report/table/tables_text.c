/* tables_text.c - the tables as plain text in columns, or as Markdown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranges.h"
#include "result/columns.h"
#include "report/table/factors.h"

enum { METHODS_IN_A_ROW = 8, ECS_SHOWN = 200 };

/* Without columns of the FDR where it cannot be known. */
static void methods_table(spot_columns *p, const spot_results *t)
{
    enum { FDR = 3, DR_0 = 7 };
    static const char *const head[] = { "method", "DR (s.e.)", "ECs", "FDR (s.e.)", "ECs", "not learned", "failed", "DR = 0" };

    const bool fdr = spot_results_knows_fdr(t);

    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        if (fdr || (i != FDR && i != FDR + 1 && i != DR_0)) spot_cell(p, "%s", head[i]);
    spot_end_row(p);
    for (int b = 0; b < t->methods; b++) {
        const spot_results_method *m = &t->method[b];
        spot_cell_name(p, b + 1, m->name);
        spot_cell_average(p, &m->sum.dr);
        spot_cell(p, "%d", m->sum.dr.n);
        if (fdr) spot_cell_average(p, &m->sum.fdr);
        if (fdr) spot_cell(p, "%d", m->sum.fdr.n);
        spot_cell(p, "%d", t->include_all ? 0 : t->not_learned);
        spot_cell(p, "%d", m->failed);
        if (fdr) spot_cell(p, "%d", m->sum.fdr.left_out);
        spot_end_row(p);
    }
}

static void beside_table(spot_columns *p, const spot_results *t)
{
    bool trust = spot_results_has_beside(t, SPOT_COHERENCE);

    spot_cell(p, "method");
    for (int k = 0; k < SPOT_BESIDES; k++)
        if (spot_results_has_beside(t, k)) spot_cell(p, "%s", spot_beside_head(k));
    if (trust) spot_cell(p, "rank corr.");
    spot_end_row(p);
    for (int b = 0; b < t->methods; b++) {
        const spot_results_method *m = &t->method[b];
        spot_cell_name(p, b + 1, m->name);
        for (int k = 0; k < SPOT_BESIDES; k++)
            if (spot_results_has_beside(t, k)) spot_cell_average(p, &m->sum.beside[k]);
        if (trust) spot_cell_number(p, m->trust);
        spot_end_row(p);
    }
}

static void failures_table(spot_columns *p, const spot_results *t)
{
    spot_cell(p, "method");
    for (int f = 0; f < SPOT_FAILURES; f++) spot_cell(p, "%s", spot_failure_name(f));
    spot_cell(p, "ECs");
    spot_cell(p, "DR = 1");
    spot_end_row(p);
    for (int b = 0; b < t->methods; b++) {
        const spot_summary *s = &t->method[b].sum;
        spot_cell_name(p, b + 1, t->method[b].name);
        for (int f = 0; f < SPOT_FAILURES; f++) spot_cell_average(p, &s->failure[f]);
        spot_cell(p, "%d", s->failure[0].n);
        spot_cell(p, "%d", s->failure[0].left_out);
        spot_end_row(p);
    }
}

/* DR by number of blindspots, covered blindspots by specificity. The features do not fit in a line. */
static void factors_table(spot_columns *p, const spot_results *t)
{
    spot_factor_row row;

    spot_cell(p, "method");
    for (int b = -1; b < t->methods; b++) {
        if (b >= 0) spot_cell_name(p, b + 1, t->method[b].name);
        for (int i = 0; spot_factor_next(t, &i, &row);) {
            if (row.rate == SPOT_RATE_FDR || row.level.feature >= 0 || spot_factor_is_of_planting(&row)) continue;
            if (b < 0 && row.rate == SPOT_RATE_DR) spot_cell(p, "DR, %s", row.value);
            else if (b < 0) spot_cell(p, "covered, %s", row.value);
            else spot_cell_number(p, spot_factor(t, b, row.rate, row.level).mean);
        }
        spot_end_row(p);
    }
}

/* A factor of planting, and the tables of its levels. Each stands apart, since a line has room for one. */
static bool is_of(const spot_factor_row *row, int factor)
{
    const int of[] = { row->level.induce, row->level.complexity, row->level.severity };

    return row->rate != SPOT_RATE_FDR && of[factor];
}

static void planting_table(spot_columns *p, const spot_results *t, int factor)
{
    spot_factor_row row;

    spot_cell(p, "method");
    for (int b = -1; b < t->methods; b++) {
        if (b >= 0) spot_cell_name(p, b + 1, t->method[b].name);
        for (int i = 0; spot_factor_next(t, &i, &row);) {
            if (!is_of(&row, factor)) continue;
            if (b >= 0) spot_cell_number(p, spot_factor(t, b, row.rate, row.level).mean);
            else spot_cell(p, "%s", row.value);
        }
        spot_end_row(p);
    }
}

static void induce_table    (spot_columns *p, const spot_results *t) { planting_table(p, t, 0); }
static void complexity_table(spot_columns *p, const spot_results *t) { planting_table(p, t, 1); }
static void severity_table  (spot_columns *p, const spot_results *t) { planting_table(p, t, 2); }

static void ec_row(spot_columns *p, const spot_results *t, int i)
{
    const spot_results_ec *e = &t->ec[i];
    char specificity[64] = "-", inside[96] = "-";
    size_t s = 0, k = 0;

    for (int m = 0; m < e->blindspots; m++) {
        s += (size_t)snprintf(specificity + s, sizeof specificity - s, "%s%d", m ? " " : "", e->specificity[m]);
        if (e->status) continue;
        k += (size_t)snprintf(inside + k, sizeof inside - k, "%s", m ? " " : "");
        k += isnan(e->inside[m]) ? (size_t)snprintf(inside + k, sizeof inside - k, "-")
                                 : (size_t)snprintf(inside + k, sizeof inside - k, "%.3f", e->inside[m]);
    }
    spot_cell(p, "%d", e->index);
    spot_cell(p, "%d", e->blindspots);
    spot_cell(p, "%s", specificity);
    spot_cell_number(p, e->status ? NAN : e->outside);
    spot_cell(p, "%s", inside);
    spot_cell(p, "%s", e->status ? "failed" : e->learned ? "yes" : "no");
    for (int b = 0; b < t->methods && t->methods <= METHODS_IN_A_ROW; b++) {
        const spot_results_method *m = &t->method[b];
        spot_cell_number(p, m->scored[i] ? m->rates[i].dr : NAN);
        if (spot_results_knows_fdr(t)) spot_cell_number(p, m->scored[i] ? m->rates[i].fdr : NAN);
    }
    spot_end_row(p);
}

static void ecs_table(spot_columns *p, const spot_results *t)
{
    static const char *const head[] = { "EC", "blindspots", "specificity", "outside", "inside", "learned" };

    for (size_t i = 0; i < sizeof head / sizeof *head; i++) spot_cell(p, "%s", head[i]);
    for (int b = 0; b < t->methods && t->methods <= METHODS_IN_A_ROW; b++) {
        spot_cell(p, "DR %d", b + 1);
        if (!spot_results_knows_fdr(t)) continue;
        spot_cell_join(p);
        spot_cell(p, "FDR %d", b + 1);
    }
    spot_end_row(p);
    for (int i = 0; i < t->ecs; i++) ec_row(p, t, i);
}

typedef struct { const spot_results *t; void (*table)(spot_columns *, const spot_results *); } body;

static void print_rows(spot_columns *p, const void *user)
{
    const body *b = user;
    b->table(p, b->t);
}

static void print_table(FILE *f, bool markdown, const char *title, void (*table)(spot_columns *, const spot_results *),
                        const spot_results *t)
{
    const body b = { t, table };

    spot_columns_print(f, markdown, title, print_rows, &b);
}

/* A factor of one level says no more than the means. */
static void print_planting(FILE *f, bool markdown, const spot_results *t)
{
    static const struct { const char *title; void (*table)(spot_columns *, const spot_results *); } all[] = {
        { "DR by the way of planting (induce)", induce_table },
        { "DR by complexity: the number of attributes that vary", complexity_table },
        { "Blindspots covered by severity: the classifier's error inside, on test positives", severity_table },
    };
    spot_factor_row row;

    for (int k = 0; k < 3; k++) {
        int levels = 0;
        for (int i = 0; spot_factor_next(t, &i, &row);) levels += is_of(&row, k);
        if (levels > 1) print_table(f, markdown, all[k].title, all[k].table, t);
    }
}

/* Full names of shortened methods, and reasons of failures. */
static void note_methods(FILE *f, bool markdown, const spot_results *t)
{
    spot_short_name shorter;
    char text[1300];
    int notes = 0;

    for (int b = 0; b < t->methods; b++) {
        const spot_results_method *m = &t->method[b];
        bool cut = !markdown && strcmp(spot_shorten(shorter, m->name), m->name);
        if ((cut || m->gave_up) && !notes++) fputc('\n', f);
        if (cut) spot_note(f, false, "%d %s is %s", b + 1, shorter, m->name);
        if (*spot_results_failed(text, sizeof text, m))
            spot_note(f, markdown, "%d %s %s", b + 1, markdown ? m->name : shorter, text);
    }
}

/* Lists the ECs that failed to train or to learn; runs of many ECs get this instead of a line each. */
static void note_ecs(FILE *f, bool markdown, const spot_results *t)
{
    int *which = malloc((size_t)t->ecs * sizeof *which);
    char text[400];

    fputc('\n', f);
    spot_note(f, markdown, "%d ECs have a line each in --format csv and --format json", t->ecs);
    for (int failed = 0; failed < 2 && which; failed++) {
        int n = 0;
        for (int i = 0; i < t->ecs; i++)
            if (failed ? t->ec[i].status : !t->ec[i].status && !t->ec[i].learned) which[n++] = t->ec[i].index;
        if (n)
            spot_note(f, markdown, "%s: %s", failed ? "failed to train" : "did not learn their blindspots",
                      spot_ranges(text, sizeof text, which, n));
    }
    free(which);
}

void spot_table_print_text(FILE *f, const spot_results *t, bool markdown)
{
    const spot_metric_config *m = &t->metric;
    const char *sign = m->profile == SPOT_PROFILE_WORKSHOP ? ">" : ">=";
    char text[600];

    fprintf(f, markdown ? "# %s\n\n" : "%s\n\n", t->dir);
    spot_note(f, markdown, "%d of %d ECs are done; of these %d failed to train and %d did not learn their blindspots (%s)",
              t->ecs, t->planned, t->untrained, t->not_learned,
              t->include_all ? "averaged all the same" : "left out of averages");
    if (t->bad)
        spot_note(f, markdown, "%d result segment%s damaged or of another config and not counted", t->bad,
                  t->bad == 1 ? " is" : "s are");
    spot_note(f, markdown, "%s", spot_results_origin(text, sizeof text, t));
    if (!t->ecs) return;
    spot_note(f, markdown, "profile %s: a hypothesis belongs to a blindspot at BP %s %g, a blindspot is found at BR %s %g; "
              "top %d hypotheses", spot_profile_name(m->profile), sign, m->lambda_p, sign, m->lambda_r, m->top);
    spot_note(f, markdown, "%s", spot_results_knows_fdr(t) ? SPOT_RESULTS_U
              : "no FDR: real pictures may have blindspots that nobody planted");
    print_table(f, markdown, "Means over ECs, and the ECs that each leaves out", methods_table, t);
    note_methods(f, markdown, t);
    if (spot_results_has_any_beside(t)) print_table(f, markdown, SPOT_RESULTS_BESIDE, beside_table, t);
    if (spot_results_has_beside(t, SPOT_COHERENCE))
        spot_note(f, markdown, "%s", SPOT_RESULTS_RANK);
    print_table(f, markdown, "Why blindspots were missed: shares of their images, means over ECs with DR < 1", failures_table,
                t);
    print_table(f, markdown, "By factor: DR by number of blindspots, blindspots covered by specificity (more in csv, json)",
                factors_table, t);
    print_planting(f, markdown, t);
    if (t->ecs > ECS_SHOWN) {
        note_ecs(f, markdown, t);
        return;
    }
    print_table(f, markdown, t->methods <= METHODS_IN_A_ROW
                ? "ECs: accuracy outside and inside the blindspots, then DR and FDR of each method"
                : "ECs: accuracy outside and inside the blindspots (DR and FDR of so many methods: see csv, json)",
                ecs_table, t);
}
