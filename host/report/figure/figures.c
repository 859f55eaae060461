/* figures.c - Figures 2, 3, 4, 6 and 7 of the paper with a run's numbers. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/figure/figure.h"
#include "report/table/results_describe.h"
#include "result/columns.h"

/* ---- methods ---- */

static spot_status choose_named(spot_figure *f)
{
    for (int i = 0; i < f->o->methods; i++) {
        int b = 0;
        while (b < f->r->methods && strcmp(f->r->method[b].name, f->o->method[i])) b++;
        if (b == f->r->methods)
            return spot_fail(f->c, SPOT_USAGE, "{figures.no_method} %s has no method \"%s\"; `spotter tables` lists those that "
                             "it has", f->r->dir, f->o->method[i]);
        if (f->methods == SPOT_MAX_SERIES)
            return spot_fail(f->c, SPOT_USAGE, "a figure tells at most %d methods apart", SPOT_MAX_SERIES);
        f->method[f->methods++] = b;
    }
    return SPOT_OK;
}

static bool is_drawn(const spot_figure *f, int b)
{
    for (int i = 0; i < f->methods; i++)
        if (f->method[i] == b) return true;
    return false;
}

/* Chooses all methods of a run with few; of a run with many, the methods of the paper's Table 2. */
static spot_status choose_methods(spot_figure *f)
{
    const spot_paper_table *t = spot_paper_find(2);

    if (f->o->methods) return choose_named(f);
    for (int b = 0; b < f->r->methods && f->r->methods <= SPOT_MAX_SERIES; b++) f->method[f->methods++] = b;
    for (int i = 0; i < t->rows && !(f->r->methods <= SPOT_MAX_SERIES); i++)
        for (int b = 0; b < f->r->methods && f->methods < SPOT_MAX_SERIES; b++)
            if (!is_drawn(f, b) && spot_method_has(&f->r->cfg, b, t->row[i].needs)) f->method[f->methods++] = b;
    if (f->methods) return SPOT_OK;
    return spot_fail(f->c, SPOT_USAGE, "{figures.methods} %s has %d methods, more than the %d that a figure tells apart, and "
                     "none with the settings of the paper's Table 2; choose some with --method NAME", f->r->dir, f->r->methods,
                     SPOT_MAX_SERIES);
}

/* Chooses two settings of one method: the paper's two minimum weights of Spotlight, in its profile or in
 * Spotter's, else the first two entries of a method. */
static void choose_two(spot_figure *f)
{
    static const char *const papers[2][2] = {
        { "method=spotlight profile=paper min_weight=0.01", "method=spotlight profile=paper min_weight=0.02" },
        { "method=spotlight profile=spotter min_weight=0.01", "method=spotlight profile=spotter min_weight=0.02" },
    };

    for (int own = 0; own < 2 && f->methods < 2; own++) {
        f->methods = 0;
        for (int k = 0; k < 2; k++)
            for (int b = 0; b < f->r->methods; b++)
                if (f->methods == k && spot_method_has(&f->r->cfg, b, papers[own][k])) f->method[f->methods++] = b;
    }
    for (int i = 0; i < f->r->methods && f->methods < 2; i++)
        for (int j = i + 1; j < f->r->methods && f->methods < 2; j++)
            if (f->r->cfg.bdm[i].method == f->r->cfg.bdm[j].method) {
                f->method[0] = i;
                f->method[1] = j;
                f->methods = 2;
            }
}

/* ---- panels ---- */

static bool has_scores(const spot_figure *f, int s) { return f->r->method[f->method[s]].sum.dr.n > 0; }

/* Extends the y axis to the value: it ends at 0.2, 0.5 or 1. */
static void extend_axis(spot_chart_panel *p, const spot_estimate *e)
{
    double high = isnan(e->high) ? e->mean : e->high;

    while (e->n && p->top < 1 && high > p->top) p->top = p->top < 0.5 ? 0.5 : 1;
}

/* A level shows the number of ECs or blindspots of its values below it; if methods differ, the least and the most. Methods
 * that failed everywhere do not count. */
static void add_level(spot_figure *f, spot_chart_panel *p, spot_rate rate, spot_level level, const char *name)
{
    spot_chart_level *l = &p->level[p->levels];
    int least = INT_MAX, most = 0;
    char n[32];

    snprintf(l->name, sizeof l->name, "%s", name);
    for (int s = 0; s < f->methods; s++) {
        spot_estimate *e = &p->at[s][p->levels];
        *e = spot_factor(f->r, f->method[s], rate, level);
        extend_axis(p, e);
        if (!has_scores(f, s)) continue;
        least = e->n < least ? e->n : least;
        most = e->n > most ? e->n : most;
    }
    if (least < most) snprintf(n, sizeof n, "%d–%d", least, most);
    else snprintf(n, sizeof n, "%d", most);
    if (rate == SPOT_RATE_COVERED) snprintf(l->count, sizeof l->count, "n = %s", n);
    else snprintf(l->count, sizeof l->count, "%s EC%s", n, most == 1 ? "" : "s");
    p->levels++;
}

static spot_chart_panel *add_panel(spot_figure *f, double top, const char *title, const char *x)
{
    spot_chart_panel *p = &f->chart.panel[f->chart.panels++];
    bool some = false;

    snprintf(p->title, sizeof p->title, "%s", title);
    snprintf(p->x, sizeof p->x, "%s", x);
    p->top = top;
    for (int s = 0; s < f->methods; s++) some |= has_scores(f, s);
    snprintf(p->empty, sizeof p->empty, "%s", some ? "no method found a blindspot" : "every method failed");
    return p;
}

/* Adds the paper's means over the ECs of the run's experiment. The paper has the levels' values only as pictures. */
static void add_paper(spot_figure *f, spot_chart_panel *p, int q)
{
    const spot_paper_table *t = spot_paper_overall(&f->r->cfg);
    spot_chart_level *level = &p->level[p->levels];
    bool any = false;

    for (int s = 0; s < f->methods; s++)
        for (int i = 0; t && i < t->rows; i++) {
            const spot_paper_row *row = &t->row[i];
            double v = row->value[q], se = row->se[q];
            if (isnan(v) || !spot_method_has(&f->r->cfg, f->method[s], row->needs)) continue;
            p->at[s][p->levels] = (spot_estimate){ v, se, fmax(v - 1.96 * se, 0), fmin(v + 1.96 * se, 1), t->ecs, 0 };
            extend_axis(p, &p->at[s][p->levels]);
            any = true;
        }
    if (!any) return;
    *level = (spot_chart_level){ "paper", "", true, true };
    snprintf(level->count, sizeof level->count, "%d ECs", t->ecs);
    p->levels++;
}

static void add_number_panel(spot_figure *f, spot_rate rate)
{
    bool dr = rate == SPOT_RATE_DR;
    spot_chart_panel *p = add_panel(f, dr ? 1 : 0.2, spot_results_rate(rate)->label, "blindspots of the EC");
    spot_factor_row row;

    for (int i = 0; spot_factor_next(f->r, &i, &row);)
        if (row.rate == rate && row.level.blindspots > 0) add_level(f, p, rate, row.level, row.value);
    add_level(f, p, rate, SPOT_EVERY, "all");
    p->level[p->levels - 1].apart = true;
    add_paper(f, p, !dr);
}

/* Where each EC has one blindspot, the share of covered blindspots is the DR. */
static void add_specificity_panel(spot_figure *f)
{
    const spot_rate rate = f->number == 7 ? SPOT_RATE_DR : SPOT_RATE_COVERED;
    spot_chart_panel *p = add_panel(f, 1, spot_results_rate(rate)->label, "features that define the blindspot");
    spot_factor_row row;

    for (int i = 0; spot_factor_next(f->r, &i, &row);)
        if (row.level.specificity > 0) add_level(f, p, row.rate, row.level, row.value);
}

static void add_feature_panels(spot_figure *f)
{
    spot_chart_panel *p = NULL;
    spot_factor_row row;
    int last = -1;

    for (int i = 0; spot_factor_next(f->r, &i, &row);) {
        if (row.level.feature < 0) continue;
        if (row.level.feature != last) {
            char title[64];
            snprintf(title, sizeof title, "%s", spot_feature_name((spot_feature)row.level.feature));
            title[0] -= 'a' - 'A';
            p = add_panel(f, 1, title, "");
        }
        last = row.level.feature;
        add_level(f, p, row.rate, row.level, row.value);
    }
}

/* ---- a figure ---- */

static spot_status output_figure(spot_figure *f)
{
    char path[1200];

    if (f->take) return f->take(f->c, f->taker, f->number, &f->chart);
    if (f->o->csv) SPOT_TRY(spot_figure_print(f));
    for (int svg = 0; svg < 2; svg++) {
        if (!(svg ? f->o->svg : f->o->png)) continue;
        snprintf(path, sizeof path, "%s/figure_%d.%s", f->o->out, f->number, svg ? "svg" : "png");
        SPOT_TRY(spot_chart_write(f->c, path, &f->chart));
        spot_log(f->c, SPOT_LOG_INFO, "%s", path);
    }
    return SPOT_OK;
}

static const char *const titles[] = {
    [2] = "Figure 2. Two settings, by specificity",
    [3] = "Figure 3. Discovery by number of blindspots and by specificity",
    [4] = "Figure 4. Blindspots covered, by the features that define them",
    [6] = "Figure 6. Pictures: DR by number",
    [7] = "Figure 7. Pictures: DR by specificity",
};

/* A method that only Figure 2 has gets another style than its companion. */
static void choose_styles(spot_figure *f)
{
    for (int s = 0; s < f->methods; s++) {
        int *style = &f->chart.style[s];
        *style = 0;
        while (*style < f->styles && f->styled[*style] != f->method[s]) ++*style;
        if (*style >= f->styles) *style = f->styles % SPOT_MAX_SERIES;
        if (s && *style == f->chart.style[0]) *style = (*style + 1) % SPOT_MAX_SERIES;
    }
}

static void name_series(spot_figure *f, int s)
{
    const spot_results_method *m = &f->r->method[f->method[s]];
    spot_short_name name;
    char failed[32] = "";

    if (m->gave_up && !has_scores(f, s)) strcpy(failed, " (failed)");
    else if (m->gave_up) snprintf(failed, sizeof failed, " (failed in %d EC%s)", m->gave_up, m->gave_up == 1 ? "" : "s");
    snprintf(f->chart.name[s], sizeof f->chart.name[s], "%s%s", spot_shorten(name, m->name), failed);
}

/* Fills f->chart from the run and the options; no method in a Figure 2 without two to compare. */
spot_status spot_figure_compose(spot_figure *f, int number)
{
    spot_chart *chart = &f->chart;

    memset(chart, 0, sizeof *chart);
    f->number = number;
    f->methods = 0;
    if (number == 2 && !f->o->methods) choose_two(f);
    else SPOT_TRY(choose_methods(f));
    if (number == 2) f->methods = f->methods < 2 ? 0 : 2;
    choose_styles(f);
    chart->series = f->methods;
    for (int s = 0; s < f->methods; s++) name_series(f, s);
    snprintf(chart->title, sizeof chart->title, "%s", titles[number]);
    if (number == 3 || number == 6) add_number_panel(f, SPOT_RATE_DR);
    if (number == 3 && spot_results_knows_fdr(f->r)) add_number_panel(f, SPOT_RATE_FDR);
    if (number == 4) add_feature_panels(f);
    else if (number != 6) add_specificity_panel(f);
    chart->across = chart->panels < 3 ? chart->panels : 3;
    chart->plot = chart->panels < 2 ? 470 : number == 3 ? 290 : 240;
    return spot_figure_caption(f);
}

/* Chooses the styled methods before the first figure: one message, and equal styles in all figures. */
static spot_status choose_styled(spot_figure *f)
{
    if (f->o->which == 1u << 2 && !f->o->methods) return SPOT_OK;
    SPOT_TRY(choose_methods(f));
    memcpy(f->styled, f->method, sizeof f->styled);
    f->styles = f->methods;
    if (f->methods < f->r->methods && !f->o->methods)
        spot_log(f->c, SPOT_LOG_INFO, "%d of %d methods are drawn, those that the paper's Table 2 compares; each caption "
                 "lists how their settings differ; --method NAME draws others", f->methods, f->r->methods);
    return SPOT_OK;
}

static spot_status check_counted(spot_ctx *c, const spot_results *r)
{
    char text[600];

    for (int i = 0; i < r->ecs; i++)
        if (r->ec[i].counted) return SPOT_OK;
    if (!r->ecs) return spot_fail(c, SPOT_INPUT, "{figures.nothing} there is nothing to draw: %s",
                                  spot_results_origin(text, sizeof text, r));
    return spot_fail(c, SPOT_INPUT, "there is nothing to draw: %s; --all counts ECs that did not learn",
                     spot_results_counted(text, sizeof text, r));
}

/* The reason why the run cannot have a figure, or NULL. */
static const char *why_not(const spot_figure *f, int number)
{
    const spot_photos_config *d = &f->r->cfg.data;

    if (number == 4 && d->coco[0]) return "its blindspots are objects in pictures, not features of rendered images";
    if (number == 6 && (!d->coco[0] || d->pool != SPOT_POOL_NUMBER))
        return "it has no ECs of data.pool: number (configs/coco_number.yaml)";
    if (number == 7 && (!d->coco[0] || d->pool != SPOT_POOL_SPECIFICITY))
        return "it has no ECs of data.pool: specificity (configs/coco_specificity.yaml)";
    if (number == 3 && d->coco[0] && d->pool == SPOT_POOL_NUMBER) return "its ECs, of pool: number, are in Figure 6";
    if (number == 3 && d->coco[0] && d->pool == SPOT_POOL_SPECIFICITY) return "its ECs, of pool: specificity, are in Figure 7";
    return NULL;
}

/* A figure that was not asked for by its number is left out without a word. */
static spot_status draw_all(spot_figure *f)
{
    SPOT_TRY(choose_styled(f));
    for (int number = 2; number <= 7; number++) {
        const bool named = f->o->which >> number & 1;
        const char *why = why_not(f, number);
        if (!titles[number] || (f->o->which && !named) || (why && !named)) continue;
        if (why) {
            spot_log(f->c, SPOT_LOG_INFO, "Figure %d is not measured by %s: %s", number, f->r->dir, why);
            continue;
        }
        SPOT_TRY(spot_figure_compose(f, number));
        if (f->methods) SPOT_TRY(output_figure(f));
        else spot_log(f->c, SPOT_LOG_INFO, "there is no figure 2: %s has no two settings of one method", f->r->dir);
    }
    return SPOT_OK;
}

spot_status spot_figures_take(spot_ctx *c, const spot_results *r, spot_figure_taker *take, void *taker)
{
    const spot_figures_options all = { .which = 0 };
    spot_figure *f = calloc(1, sizeof *f);
    spot_status s;

    if (!f) return spot_fail(c, SPOT_NOMEM, "no memory for figures");
    *f = (spot_figure){ .c = c, .o = &all, .r = r, .take = take, .taker = taker };
    s = draw_all(f);
    free(f);
    return s;
}

spot_status spot_figures(spot_ctx *c, const char *dir, const spot_figures_options *o)
{
    spot_figure *f = calloc(1, sizeof *f);
    spot_results *r = NULL;
    spot_status s;

    if (!f) return spot_fail(c, SPOT_NOMEM, "no memory for figures");
    s = spot_results_read(c, &r, dir, o->all);
    *f = (spot_figure){ .c = c, .o = o, .r = r };
    if (s == SPOT_OK) s = check_counted(c, r);
    if (s == SPOT_OK && (o->png || o->svg) && mkdir(o->out, 0777) && errno != EEXIST)
        s = spot_fail(c, SPOT_IO, "cannot make the directory %s: %s", o->out, strerror(errno));
    if (s == SPOT_OK && o->csv) fputs("figure,run,config,profile,panel,method,level,source,value,low,high,se,n,left_out,"
                                        "method_differs,run_differs\n", o->csv);
    if (s == SPOT_OK) s = draw_all(f);
    if (s == SPOT_OK && o->csv && (fflush(o->csv) || ferror(o->csv)))
        s = spot_fail(c, SPOT_IO, "the numbers could not be written");
    if (s == SPOT_OK) s = spot_results_verdict(c, r);
    spot_results_free(r);
    free(f);
    return s;
}
