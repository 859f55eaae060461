/* tables_text.c - the tables for eyes: plain text in columns, or Markdown. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/factors.h"

/* A row is put together cell by cell; a table is printed twice, the first time to learn its columns' widths. */
enum { COLUMNS = 64, METHODS_IN_A_ROW = 8 };

typedef struct {
    FILE *f;
    bool  markdown, measuring, head;
    int   column, width[COLUMNS];
} printer;

__attribute__((format(printf, 2, 3)))
static void cell(printer *p, const char *fmt, ...)
{
    char text[256];
    int w, column = p->column++;
    va_list args;

    va_start(args, fmt);
    w = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (p->measuring) p->width[column] = w > p->width[column] ? w : p->width[column];
    else fprintf(p->f, "%s%*s", p->markdown ? "| " : column ? "  " : "",
                 column ? p->width[column] : -p->width[column], text);
    if (!p->measuring && p->markdown) fputc(' ', p->f);
}

static void end_row(printer *p)
{
    if (!p->measuring) fputs(p->markdown ? "|\n" : "\n", p->f);
    if (!p->measuring && p->markdown && p->head)
        for (int i = 0; i < p->column; i++) fputs(i + 1 < p->column ? (i ? "|---:" : "|:---") : "|---:|\n", p->f);
    p->head = false;
    p->column = 0;
}

static void average(printer *p, const spot_average *a)
{
    if (!a->n) cell(p, "-");
    else if (isnan(a->se)) cell(p, "%.3f (-)", a->mean);
    else cell(p, "%.3f (%.3f)", a->mean, a->se);
}

static void number(printer *p, double v)
{
    if (isnan(v)) cell(p, "-");
    else cell(p, "%.3f", v);
}

static void methods_table(printer *p, const spot_results *t)
{
    static const char *const head[] = { "method", "DR (s.e.)", "ECs", "FDR (s.e.)", "ECs", "not learned", "failed", "DR = 0" };

    for (size_t i = 0; i < sizeof head / sizeof *head; i++) cell(p, "%s", head[i]);
    end_row(p);
    for (int b = 0; b < t->methods; b++) {
        const spot_results_method *m = &t->method[b];
        cell(p, "%d %s", b + 1, m->name);
        average(p, &m->sum.dr);
        cell(p, "%d", m->sum.dr.n);
        average(p, &m->sum.fdr);
        cell(p, "%d", m->sum.fdr.n);
        cell(p, "%d", t->include_all ? 0 : t->not_learned);
        cell(p, "%d", m->failed);
        cell(p, "%d", m->sum.fdr.left_out);
        end_row(p);
    }
}

static void failures_table(printer *p, const spot_results *t)
{
    cell(p, "method");
    for (int f = 0; f < SPOT_FAILURES; f++) cell(p, "%s", spot_failure_name(f));
    cell(p, "ECs");
    cell(p, "DR = 1");
    end_row(p);
    for (int b = 0; b < t->methods; b++) {
        const spot_summary *s = &t->method[b].sum;
        cell(p, "%d %s", b + 1, t->method[b].name);
        for (int f = 0; f < SPOT_FAILURES; f++) average(p, &s->failure[f]);
        cell(p, "%d", s->failure[0].n);
        cell(p, "%d", s->failure[0].left_out);
        end_row(p);
    }
}

/* DR by number of blindspots, blindspots covered by specificity; by feature there is more than a line holds. */
static void factors_table(printer *p, const spot_results *t)
{
    spot_factor_row row;

    cell(p, "method");
    for (int b = -1; b < t->methods; b++) {
        if (b >= 0) cell(p, "%d %s", b + 1, t->method[b].name);
        for (int i = 0; spot_factor_next(t, &i, &row);) {
            if (row.rate == SPOT_RATE_FDR || row.level.feature >= 0) continue;
            if (b < 0 && row.rate == SPOT_RATE_DR) cell(p, "DR, %s", row.value);
            else if (b < 0) cell(p, "covered, %s", row.value);
            else number(p, spot_factor(t, b, row.rate, row.level).mean);
        }
        end_row(p);
    }
}

static void ec_row(printer *p, const spot_results *t, int i)
{
    const spot_results_ec *e = &t->ec[i];
    char specificity[64] = "", inside[96] = "-";
    size_t s = 0, k = 0;

    for (int m = 0; m < e->blindspots; m++) {
        s += (size_t)snprintf(specificity + s, sizeof specificity - s, "%s%d", m ? " " : "", e->specificity[m]);
        if (!e->status) k += (size_t)snprintf(inside + k, sizeof inside - k, "%s%.3f", m ? " " : "", e->inside[m]);
    }
    cell(p, "%d", e->index);
    cell(p, "%d", e->blindspots);
    cell(p, "%s", specificity);
    number(p, e->status ? NAN : e->outside);
    cell(p, "%s", inside);
    cell(p, "%s", e->status ? "failed" : e->learned ? "yes" : "no");
    for (int b = 0; b < t->methods && t->methods <= METHODS_IN_A_ROW; b++) {
        const spot_results_method *m = &t->method[b];
        number(p, m->scored[i] ? m->score[i].dr : NAN);
        number(p, m->scored[i] ? m->score[i].fdr : NAN);
    }
    end_row(p);
}

static void ecs_table(printer *p, const spot_results *t)
{
    static const char *const head[] = { "EC", "blindspots", "specificity", "outside", "inside", "learned" };

    for (size_t i = 0; i < sizeof head / sizeof *head; i++) cell(p, "%s", head[i]);
    for (int b = 0; b < t->methods && t->methods <= METHODS_IN_A_ROW; b++) {
        cell(p, "DR %d", b + 1);
        cell(p, "FDR %d", b + 1);
    }
    end_row(p);
    for (int i = 0; i < t->ecs; i++) ec_row(p, t, i);
}

static void print(FILE *f, bool markdown, const char *title, void (*table)(printer *, const spot_results *),
                  const spot_results *t)
{
    printer p = { .f = f, .markdown = markdown };

    fprintf(f, markdown ? "\n## %s\n\n" : "\n%s\n\n", title);
    for (int pass = 0; pass < 2; pass++) {
        p.measuring = !pass;
        p.head = true;
        table(&p, t);
    }
}

void spot_table_print_text(FILE *f, const spot_results *t, bool markdown)
{
    const spot_metric_config *m = &t->metric;
    const char *sign = m->profile == SPOT_PROFILE_WORKSHOP ? ">" : ">=", *item = markdown ? "- " : "";
    int failed = 0;

    for (int i = 0; i < t->ecs; i++) failed += t->ec[i].status != SPOT_OK;
    fprintf(f, markdown ? "# %s\n\n" : "%s\n\n", t->dir);
    fprintf(f, "%s%d of %d ECs are done; of these %d failed to train and %d did not learn their blindspots (%s)\n", item,
            t->ecs, t->planned, failed, t->not_learned, t->include_all ? "averaged all the same" : "left out of averages");
    if (t->bad) fprintf(f, "%s%d result segments are damaged or of another config and are not counted\n", item, t->bad);
    fprintf(f, "%sprofile %s: a hypothesis belongs to a blindspot at BP %s %g, a blindspot is found at BR %s %g; "
            "top %d hypotheses\n", item, spot_profile_name(m->profile), sign, m->lambda_p, sign, m->lambda_r, m->top);
    fprintf(f, "%s%s\n", item, SPOT_RESULTS_U);
    fprintf(f, "%sconfig %s, numbers %d, spotter %s on %s\n", item, t->config[0] ? t->config : "-", t->numbers,
            t->build[0] ? t->build : "-", t->device[0] ? t->device : "-");
    print(f, markdown, "Means over ECs, and the ECs that each leaves out", methods_table, t);
    print(f, markdown, "Why blindspots were missed: shares of their images, means over ECs with DR < 1", failures_table, t);
    print(f, markdown, "By factor: DR by number of blindspots, share of blindspots covered by specificity (more in csv and json)",
          factors_table, t);
    print(f, markdown, t->methods <= METHODS_IN_A_ROW
          ? "ECs: accuracy outside and inside the blindspots, then DR and FDR of each method"
          : "ECs: accuracy outside and inside the blindspots (DR and FDR of so many methods: see csv and json)", ecs_table, t);
}
