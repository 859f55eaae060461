/* figure_words.c - a figure's caption, and its numbers as CSV. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "report/figure/figure.h"
#include "result/columns.h"

/* The settings of a method that differ from its row in the paper's table of averages (Figure 2: Table 10). */
static const char *list_differences(const spot_figure *f, int s, char *text, size_t size)
{
    const spot_paper_table *overall = spot_paper_overall(&f->r->cfg);
    const spot_paper_table *t = f->number == 2 ? spot_paper_find(10) : overall ? overall : spot_paper_find(4);
    const spot_bdm_config *cfg = &f->r->cfg.bdm[f->method[s]];

    *text = 0;
    for (int i = 0; i < t->rows; i++)
        if (spot_method_has(&f->r->cfg, f->method[s], t->row[i].needs))
            return spot_paper_method_differs(text, size, cfg, &t->row[i]);
    return text;
}

static void add_list(FILE *to, const char *whose, const char *list, int *lists)
{
    if (!*list) return;
    fprintf(to, "%s\n%s: %s", (*lists)++ ? "" : "\nSettings" SPOT_PAPER_DIFFERS ":", whose, list);
}

/* Adds what the picture does not show: reasons of failures, full names, settings that are not the paper's. */
static spot_status add_notes(spot_figure *f, FILE *to)
{
    char text[SPOT_DIFFERS];
    spot_short_name shorter;
    int lists = 0;

    for (int s = 0; s < f->methods; s++) {
        const spot_results_method *m = &f->r->method[f->method[s]];
        if (strcmp(spot_shorten(shorter, m->name), m->name)) fprintf(to, "\n%s is %s.", shorter, m->name);
        if (*spot_results_failed(text, sizeof text, m)) fprintf(to, "\n%s %s", shorter, text);
    }
    spot_paper_run_differs(text, sizeof text, &f->r->cfg);
    add_list(to, "the run", text, &lists);
    for (int s = 0; s < f->methods; s++)
        add_list(to, spot_shorten(shorter, f->r->method[f->method[s]].name), list_differences(f, s, text, sizeof text), &lists);
    return SPOT_OK;
}

spot_status spot_figure_caption(spot_figure *f)
{
    static const char rates[] = "Bars are 95 % intervals: mean ± 1.96 standard errors over ECs for DR and FDR, Wilson's for "
                                "the shares of n blindspots; no bar: all equal, or one EC alone. FDR leaves out the ECs "
                                "of which a method found nothing.";
    static const char shares[] = "Shares of n blindspots that a method covered; bars are Wilson's 95 % intervals.";
    static const char features[] = " With, without: a blindspot's definition has such a feature, or has not.";
    static const char both[] = "Bars are 95 % intervals: mean ± 1.96 standard errors over ECs for DR, Wilson's for the "
                               "shares of n blindspots; no bar: all equal, or one EC alone.";
    static const char discovery[] = "Bars are 95 % intervals: mean ± 1.96 standard errors over ECs; no bar: all equal, or "
                                    "one EC alone.";
    const spot_chart_panel *p = &f->chart.panel[0];
    bool hollow = f->chart.panels && p->levels && p->level[p->levels - 1].hollow;
    const spot_paper_table *overall = spot_paper_overall(&f->r->cfg);
    const char *words = f->number == 6 ? discovery : f->number != 3 ? shares : spot_results_knows_fdr(f->r) ? rates : both;
    char counted[300], origin[600], paper[96] = "";
    FILE *to = fmemopen(f->chart.caption, sizeof f->chart.caption, "w");
    spot_status s;

    if (!to) return spot_fail(f->c, SPOT_NOMEM, "no memory for a figure's caption");
    if (hollow)
        snprintf(paper, sizeof paper, " Hollow: the paper's means over its ECs (Table%s %d%s).",
                 overall->number == 2 ? "s" : "", overall->number, overall->number == 2 ? " and 16" : "");
    fprintf(to, "%s%s%s %s%s; %s.", words, f->number == 4 ? features : "", paper,
            spot_results_counted(counted, sizeof counted, f->r), f->r->bad ? ", and damaged segments" : "",
            spot_results_origin(origin, sizeof origin, f->r));
    s = add_notes(f, to);
    fclose(to);
    f->chart.caption[sizeof f->chart.caption - 1] = 0;
    return s;
}

static void csv_estimate(FILE *f, const spot_estimate *e)
{
    const double v[4] = { e->mean, e->low, e->high, e->se };

    for (int i = 0; i < 4; i++) spot_csv_number(f, v[i], ",");
    fprintf(f, "%d,", e->n);
}

/* Prints nothing where the paper has no value. */
static spot_status csv_row(const spot_figure *f, const spot_chart_panel *p, int s, int l)
{
    bool paper = p->level[l].hollow;
    FILE *to = f->o->csv;
    char text[SPOT_DIFFERS];

    if (paper && !p->at[s][l].n) return SPOT_OK;
    fprintf(to, "%d,", f->number);
    spot_csv_text(to, f->r->dir, ",");
    fprintf(to, "%s,%s,%s,", f->r->config, spot_profile_name(f->r->metric.profile), p->title);
    spot_csv_text(to, f->r->method[f->method[s]].name, ",");
    fprintf(to, "%s,%s,", paper ? "all" : p->level[l].name, paper ? "paper" : "run");
    csv_estimate(to, &p->at[s][l]);
    if (!paper) fprintf(to, "%d", p->at[s][l].left_out);
    fputc(',', to);
    spot_csv_text(to, list_differences(f, s, text, sizeof text), ",");
    spot_paper_run_differs(text, sizeof text, &f->r->cfg);
    spot_csv_text(to, text, "\n");
    return SPOT_OK;
}

spot_status spot_figure_print(const spot_figure *f)
{
    for (int i = 0; i < f->chart.panels; i++)
        for (int s = 0; s < f->methods; s++)
            for (int l = 0; l < f->chart.panel[i].levels; l++) SPOT_TRY(csv_row(f, &f->chart.panel[i], s, l));
    return SPOT_OK;
}
