/* figures_shifts.c - Figures 6, 10, 11 and 17 of paper 004. */
#include "report/figure/figures_shifts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 32 };           /* pieces of a fit that is curved on its axes */

const spot_shift_result *spot_shift_unit_result(const spot_shifts_results *r, int source, int shift)
{
    return &r->unit[r->units - (r->sources - source) * (1 + r->cfg->shifts) + 1 + shift];
}

const char *spot_shift_source_name(const spot_shifts_results *r, int source)
{
    return r->cfg->sources ? r->cfg->source[source].name : "all pictures";
}

/* ---- Figure 10 ---- */

/* The place of a model's accuracy on the axes of the fit. */
static double base_place(const spot_shift_estimate *e, int axes, int m)
{
    return spot_shift_on_axis(axes, e->base[m], e->limit_base);
}

static double shift_place(const spot_shift_estimate *e, int axes, int m)
{
    return spot_shift_on_axis(axes, e->shift[m], e->limit_shift);
}

/* The line through (x, y) with this slope, both on the axes of the fit, from low to high. */
static void add_line(spot_plot *p, int axes, double low, double high, double x, double y, double slope, bool back)
{
    for (int i = 0; i <= STEPS; i++) {
        const double at = low + (high - low) * (back ? STEPS - i : i) / STEPS;
        spot_plot_add_dot(p, spot_shift_from_axis(axes, at), spot_shift_from_axis(axes, y + slope * (at - x)));
    }
}

/* The line of least squares and, through the middle of the models, the lines of both ends of the slope's interval. */
static void add_fit(spot_plot *p, const spot_shift_estimate *e, int axes, int models, int style, const char *name, double low,
                    double high)
{
    double x = 0;

    if (!isfinite(e->slope.value)) return;
    for (int m = 0; m < models; m++) x += base_place(e, axes, m) / models;
    const double y = e->intercept + e->slope.value * x, from = spot_shift_on_axis(axes, low, 0);
    const double to = spot_shift_on_axis(axes, high, 0);
    if (isfinite(e->slope.low)) {
        spot_plot_add_mark(p, SPOT_MARK_AREA, style, name);
        add_line(p, axes, from, x, x, y, e->slope.low, false);
        add_line(p, axes, x, to, x, y, e->slope.low, false);
        add_line(p, axes, x, to, x, y, e->slope.high, true);
        add_line(p, axes, from, x, x, y, e->slope.high, true);
    }
    spot_plot_add_mark(p, SPOT_MARK_CURVE, style, name);
    add_line(p, axes, from, to, x, y, e->slope.value, false);
}

/* An accuracy of 0 or 1 has no place on probit and logit axes: it stands where the fit takes it to be. */
static void add_models(spot_plot *p, const spot_shifts_results *r, const spot_shift_estimate *e, int source)
{
    const int axes = r->cfg->evaluation.rule.axes;

    for (int m = 0; m < r->cfg->models && e->used; m++) {
        spot_plot_mark *k = spot_plot_add_mark(p, SPOT_MARK_POINT, source, spot_shift_source_name(r, source));
        k->x = spot_shift_from_axis(axes, base_place(e, axes, m));
        k->y = spot_shift_from_axis(axes, shift_place(e, axes, m));
    }
}

typedef struct { double low, high; } range;

static void extend(range *g, double v)
{
    if (!isfinite(v)) return;
    if (v < g->low) g->low = v;
    if (v > g->high) g->high = v;
}

static range padded(range g, double part, double least)
{
    const double pad = fmax((g.high - g.low) * part, (least - (g.high - g.low)) / 2);

    return g.high >= g.low ? (range){ g.low - fmax(pad, 0), g.high + fmax(pad, 0) } : (range){ 0, 1 };
}

static range accuracies(const spot_shifts_results *r, const int *shift, int n, bool of_shift)
{
    const int axes = r->cfg->evaluation.rule.axes;
    range g = { INFINITY, -INFINITY };

    for (int v = 0; v < r->sources; v++)
        for (int i = 0; i < n; i++) {
            const spot_shift_estimate *e = &r->source[v].set[spot_shift_compared(r, v)].shift[shift[i]];
            for (int m = 0; m < r->cfg->models && e->used; m++)
                extend(&g, of_shift ? shift_place(e, axes, m) : base_place(e, axes, m));
        }
    if (g.high < g.low) return (range){ 0.05, 0.95 };
    g = padded(g, 0.08, axes == SPOT_AXES_LINEAR ? 0.1 : 0.5);
    if (axes == SPOT_AXES_LINEAR) return (range){ fmax(g.low, -0.02), fmin(g.high, 1.02) };
    return (range){ spot_shift_from_axis(axes, g.low), spot_shift_from_axis(axes, g.high) };
}

static void add_sources(spot_plot *p, const spot_shifts_results *r, spot_mark_kind kind)
{
    for (int v = 0; v < r->sources && r->cfg->sources; v++)
        spot_plot_add_entry(p, spot_shift_source_name(r, v), kind, v, SPOT_PLOT_PLAIN);
}

static const spot_quantity *number(const spot_quantity *list, const char *name) { return spot_quantity_find(list->rows, name); }

void spot_plot_fits(spot_plot *p, const spot_shifts_results *r, const int *shift, int n)
{
    static const char *const axes[] = { "linear", "probit", "logit" };
    const int how = r->cfg->evaluation.rule.axes;
    const range x = accuracies(r, shift, n, false), y = accuracies(r, shift, n, true);

    spot_plot_open(p, n < 4 ? n : 4, 230, 200, "Figure 10. Accuracy on shifts against accuracy on base pictures");
    snprintf(p->caption, sizeof p->caption, "A point is a model (%d of them); accuracies are means over the classes that "
             "count. The line is the fit of least squares on %s axes; the shaded part is the 95 %% interval of its slope from "
             "a bootstrap over classes and models. Dotted: y = x, where a shift costs nothing.%s", r->cfg->models, axes[how],
             how == SPOT_AXES_LINEAR ? "" : " Accuracies of 0 and 1 stand at 1/2n and 1 - 1/2n for n pictures, as in the fit.");
    add_sources(p, r, SPOT_MARK_POINT);
    for (int i = 0; i < n; i++) {
        spot_plot_panel *a = spot_plot_add_panel(p, r->cfg->shift[shift[i]].name, number(&spot_shifts_lines, "base"),
                                                 number(&spot_shifts_lines, "shift_accuracy"));
        a->xlow = x.low, a->xhigh = x.high, a->ylow = y.low, a->yhigh = y.high;
        a->axes = how;
        a->diagonal = true;
        snprintf(a->empty, sizeof a->empty, "%s", r->cfg->models ? "no class has enough pictures" : "no models");
        for (int v = 0; v < r->sources; v++) {
            const spot_shift_estimate *e = &r->source[v].set[spot_shift_compared(r, v)].shift[shift[i]];
            add_fit(p, e, how, r->cfg->models, v, spot_shift_source_name(r, v), x.low, x.high);
            add_models(p, r, e, v);
        }
    }
}

/* ---- Figure 11 ---- */

/* The axis has room for all points, and for their intervals as far as these do not make the points' part small. */
static range slopes_range(const spot_shifts_results *r, const spot_quantity *q)
{
    range at = { INFINITY, -INFINITY }, ends = at;

    for (int v = 0; v < r->sources; v++)
        for (int s = 0; s < r->cfg->shifts; s++) {
            const spot_shift_estimate *e = &r->source[v].set[spot_shift_compared(r, v)].shift[s];
            const spot_quantity_value i = spot_quantity_of(q, e);
            if (!isfinite(e->slope.value) || !isfinite(e->impact.value)) continue;
            extend(&at, i.value), extend(&ends, i.low), extend(&ends, i.high);
        }
    if (at.high < at.low) return (range){ 0, 1 };
    const range most = padded(at, 0.6, 0.2), least = padded(at, 0.08, 0.05);
    return (range){ fmin(fmax(ends.low, most.low), least.low), fmax(fmin(ends.high, most.high), least.high) };
}

void spot_plot_slopes(spot_plot *p, const spot_shifts_results *r, int source)
{
    const spot_quantity *impact = number(&spot_shifts_table, "impact"), *slope = number(&spot_shifts_table, "slope");
    const range x = slopes_range(r, impact), y = slopes_range(r, slope);

    spot_plot_open(p, r->sources < 2 || source >= 0 ? 1 : 2, r->sources < 2 ? 620 : 460, 380,
              "Figure 11. Slope against absolute impact");
    snprintf(p->caption, sizeof p->caption, "A point is a shift. Absolute impact is the mean drop of accuracy over models; the "
             "slope says how much of a gain of accuracy on base pictures arrives on the shift (1: all of it). Bars are 95 %% "
             "intervals from a bootstrap over classes and models; a bar that reaches the frame goes on.");
    for (int g = 0; g < r->categories; g++)
        spot_plot_add_entry(p, r->category[g], SPOT_MARK_POINT, g % 8, g >= 8 ? SPOT_PLOT_HOLLOW : SPOT_PLOT_PLAIN);
    for (int v = 0; v < r->sources; v++) {
        const spot_shift_estimates *e = &r->source[v].set[spot_shift_compared(r, v)];
        if (source >= 0 && v != source) continue;
        spot_plot_panel *a = spot_plot_add_panel(p, r->cfg->sources ? spot_shift_source_name(r, v) : "", impact, slope);
        a->xlow = x.low, a->xhigh = x.high, a->ylow = y.low, a->yhigh = y.high;
        snprintf(a->empty, sizeof a->empty, "%s", r->cfg->models < 2 ? "a slope needs two models" : "no shift has a slope");
        for (int s = 0; s < e->shifts; s++) {
            const int g = r->category_of[s];
            if (!isfinite(e->shift[s].slope.value) || !isfinite(e->shift[s].impact.value)) continue;
            spot_plot_mark *k = spot_plot_add_mark(p, SPOT_MARK_POINT, g % 8, r->category[g]);
            k->hollow = g >= 8;
            spot_plot_at(k, impact, slope, &e->shift[s]);
            snprintf(k->label, sizeof k->label, "%s", r->cfg->shift[s].name);
        }
    }
}

/* ---- Figure 17 ---- */

static int column_of(const spot_shift_result *u, const char *caption)
{
    for (int k = 0; k < u->columns; k++)
        if (!strcmp(u->column[k], caption)) return k;
    return -1;
}

/* The share of pictures whose similarity is at most x. */
static void add_curve(spot_plot *p, const spot_shift_result *u, int column, int style, const char *name)
{
    spot_plot_mark *k;

    if (column < 0 || !u->pictures) return;
    k = spot_plot_add_mark(p, SPOT_MARK_CURVE, style, name);
    k->dashed = style == SPOT_PLOT_GREY;
    for (int q = 0; q < SPOT_SHIFT_QUANTILES; q++)
        spot_plot_add_dot(p, u->quantile[column * SPOT_SHIFT_QUANTILES + q], q / 100.0);
}

static void extend_column(range *g, const spot_shift_result *u, int column)
{
    if (column < 0 || !u->pictures) return;
    extend(g, u->quantile[column * SPOT_SHIFT_QUANTILES]);
    extend(g, u->quantile[column * SPOT_SHIFT_QUANTILES + SPOT_SHIFT_QUANTILES - 1]);
}

static void add_similarity(spot_plot *p, const spot_shifts_results *r, int shift, int part)
{
    const spot_shift_result *first = spot_shift_unit_result(r, 0, shift), *real = r->cfg->data.real[0] ? &r->unit[0] : NULL;
    const char *caption = first->columns > part ? first->column[part] : "";
    const double threshold = part ? first->threshold : NAN;
    range g = { INFINITY, -INFINITY };
    char title[700], about[420];
    spot_plot_panel *a;

    for (int v = 0; v < r->sources; v++) {
        const spot_shift_result *u = spot_shift_unit_result(r, v, shift);
        extend_column(&g, u, column_of(u, caption));
    }
    if (real) extend_column(&g, real, column_of(real, caption));
    if (threshold > -1) extend(&g, threshold);
    g = padded(g, 0.03, 0.01);
    snprintf(title, sizeof title, "%s: %s", r->cfg->shift[shift].name, part ? "shift" : "class");
    snprintf(about, sizeof about, "“%s”", caption);
    a = spot_plot_add_panel(p, title, SPOT_AXIS(about), SPOT_AXIS("share of pictures below"));
    a->xlow = g.low, a->xhigh = g.high;
    if (isfinite(threshold) && threshold > -1) {
        spot_plot_add_mark(p, SPOT_MARK_CURVE, SPOT_PLOT_GREY, "threshold")->faint = true;
        spot_plot_add_dot(p, threshold, 0), spot_plot_add_dot(p, threshold, 1);
    }
    for (int v = 0; v < r->sources; v++) {
        const spot_shift_result *u = spot_shift_unit_result(r, v, shift);
        add_curve(p, u, column_of(u, caption), v, spot_shift_source_name(r, v));
    }
    if (real) add_curve(p, real, column_of(real, caption), SPOT_PLOT_GREY, "real pictures");
}

void spot_plot_similarities(spot_plot *p, const spot_shifts_results *r, const int *shift, int n)
{
    spot_plot_open(p, n > 1 ? 4 : 2, 230, 170, "Figure 17 a. Similarities of pictures to captions of class and shift");
    snprintf(p->caption, sizeof p->caption, "Left of each pair: similarity to the caption of the picture's class; right: to "
             "the caption of the shift. A curve further to the right is better. Dashed: real pictures without the shift, as "
             "control. Thin line: the shift's threshold; pictures to the left of it are dropped.");
    add_sources(p, r, SPOT_MARK_CURVE);
    if (!r->cfg->sources) spot_plot_add_entry(p, "pictures of the shift", SPOT_MARK_CURVE, 0, SPOT_PLOT_PLAIN);
    if (r->cfg->data.real[0]) spot_plot_add_entry(p, "real pictures", SPOT_MARK_CURVE, SPOT_PLOT_GREY, SPOT_PLOT_DASHED);
    for (int i = 0; i < n; i++)
        for (int part = 0; part < 2; part++) add_similarity(p, r, shift[i], part);
}

void spot_plot_passes(spot_plot *p, const spot_shifts_results *r)
{
    const double step = 0.82 / r->sources;

    spot_plot_open(p, 1, 420, fmax(20, 9 + 11 * r->sources), "Figure 17 b. Share of pictures that pass the filter");
    snprintf(p->caption, sizeof p->caption, "Both similarities are at least their thresholds; of base pictures that to the "
             "class alone. Lines are Wilson's 95 %% intervals.");
    add_sources(p, r, SPOT_MARK_BAR);
    snprintf(spot_plot_add_panel(p, "", number(&spot_shifts_table, "pass_rate"), NULL)->empty, 90, "the run has no filter");
    for (int s = -1; s < r->cfg->shifts; s++) spot_plot_add_row(p, s < 0 ? "base" : r->cfg->shift[s].name);
    for (int s = -1; s < r->cfg->shifts; s++)
        for (int v = 0; v < r->sources; v++) {
            const spot_shift_result *u = spot_shift_unit_result(r, v, s);
            if (!u->filtered || !u->pictures) continue;
            const spot_interval i = spot_share_of(spot_shift_kept_pictures(u), u->pictures);
            spot_plot_mark *k = spot_plot_add_mark(p, SPOT_MARK_BAR, v, spot_shift_source_name(r, v));
            k->y = s + 1 + (v - (r->sources - 1) / 2.0) * step;
            k->x = i.value, k->xlow = i.low, k->xhigh = i.high;
        }
}

/* ---- Figure 6 ---- */

static void add_selection(spot_plot *p, const spot_selection *e, double y, int style, bool hollow, const char *series)
{
    spot_plot_mark *k;

    if (!e->images || !isfinite(e->value)) return;
    k = spot_plot_add_mark(p, SPOT_MARK_POINT, style, series);
    k->hollow = hollow;
    k->y = y;
    k->x = e->value, k->xlow = e->low, k->xhigh = e->high;
}

void spot_plot_selection(spot_plot *p, const spot_shifts_results *r, const spot_votes *v)
{
    static const char *const titles[] = { [SPOT_TASK_SHIFT] = "Is the shift there?",
                                         [SPOT_TASK_LABEL] = "Is the object there?" };
    const double step = 0.7 / (2 * r->sources);
    char name[SPOT_PLOT_NAME];

    spot_plot_open(p, 2, 330, fmax(26, 10 + 18 * r->sources), "Figure 6. Selection frequency");
    snprintf(p->caption, sizeof p->caption, "Share of raters that select a picture, mean over pictures; hollow: all pictures, "
             "filled: pictures that pass the filter. Pictures are weighted so that drawn ones stand for all of their folder. "
             "Bars are 95 %% intervals over pictures; no bar: all pictures have the same share, or there is one alone.");
    for (int s = 0; s < r->sources; s++)
        for (int kept = 0; kept < 2; kept++) {
            snprintf(name, sizeof name, "%s, %s", spot_shift_source_name(r, s), kept ? "filtered" : "unfiltered");
            spot_plot_add_entry(p, name, SPOT_MARK_POINT, s, !kept ? SPOT_PLOT_HOLLOW : SPOT_PLOT_PLAIN);
        }
    spot_plot_add_entry(p, "real pictures", SPOT_MARK_POINT, SPOT_PLOT_GREY, SPOT_PLOT_PLAIN);
    for (int t = 0; t < SPOT_TASKS; t++) {
        spot_plot_panel *a = spot_plot_add_panel(p, titles[t], SPOT_AXIS("selection frequency"), NULL);
        a->xlow = -0.02, a->xhigh = 1.02;
        snprintf(a->empty, sizeof a->empty, "no votes");
        for (int k = 0; k < r->cfg->shifts; k++) spot_plot_add_row(p, r->cfg->shift[k].name);
        spot_plot_add_row(p, "real pictures");
        for (int k = 0; k < r->cfg->shifts; k++)
            for (int s = 0; s < r->sources; s++)
                for (int kept = 0; kept < 2; kept++)
                    add_selection(p, &v->selected[t][s][k][kept], k + (2 * s + kept - (2 * r->sources - 1) / 2.0) * step, s,
                                  !kept,
                                  spot_shift_source_name(r, s));
        add_selection(p, &v->real[t], r->cfg->shifts, SPOT_PLOT_GREY, false, "real pictures");
    }
}
