/* chart.c - see chart.h. A unit is 1/96 inch, two pixels of a PNG. */
#include "report/figure/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 26, LEFT = 42, GAP = 30, PLOT_H = 200, HEAD = 34, FOOT = 66, LINE = 17, ENTRY_H = 21 };

#define TEXT 13.0
#define SMALL 11.5
#define RADIUS 4.6

typedef struct { cairo_t *cr; const spot_chart *chart; double width; } page;

static void set_grey(cairo_t *cr, double grey) { cairo_set_source_rgb(cr, grey, grey, grey); }

static void draw_centred(cairo_t *cr, double x, double y, double size, const char *text)
{
    spot_canvas_text(cr, x - spot_canvas_text_width(cr, size, 0, text) / 2, y, size, 0, text);
}

/* Breaks a text into lines of at most `width`; draws them if `draw`. Returns the height. */
static double draw_wrapped(cairo_t *cr, double x, double y, double width, double size, const char *text, bool draw)
{
    char line[512] = "", longer[512];
    double top = y;
    bool begun = false;

    while (*text) {
        size_t word = strcspn(text, " \n");
        int shown = (int)(word < 100 ? word : 100);
        snprintf(longer, sizeof longer, "%.400s%s%.*s", line, *line ? " " : "", shown, text);
        if (*line && (begun || spot_canvas_text_width(cr, size, 0, longer) > width)) {
            if (draw) spot_canvas_text(cr, x, y, size, 0, line);
            y += LINE;
            snprintf(line, sizeof line, "%.*s", shown, text);
        } else {
            snprintf(line, sizeof line, "%s", longer);
        }
        begun = text[word] == '\n';
        text += word;
        text += strspn(text, " \n");
    }
    if (draw) spot_canvas_text(cr, x, y, size, 0, line);
    return y + LINE - top;
}

/* ---- a panel ---- */

typedef struct { double x, y, w, h; const spot_chart_panel *p; int series; const int *style; } plot;

static double y_of(const plot *t, double v) { return t->y + t->h * (1 - v / t->p->top); }

/* x of series s at level l. Series are side by side: intervals do not hide each other. */
static double x_of(const plot *t, int l, double s)
{
    double step = t->w / t->p->levels;
    double aside = fmin(0.82 * step / t->series, 15);

    return t->x + step * (l + 0.5) + aside * (s - (t->series - 1) / 2.0);
}

static void draw_axes(cairo_t *cr, const plot *t)
{
    double step = t->p->top > 0.5 ? 0.2 : t->p->top > 0.2 ? 0.1 : 0.05;
    char text[16];

    for (int i = 0; i * step < t->p->top + 1e-9; i++) {
        double y = y_of(t, i * step);
        cairo_set_line_width(cr, i ? 0.8 : 1.2);
        set_grey(cr, i ? 0.88 : 0.35);
        cairo_move_to(cr, t->x, y);
        cairo_line_to(cr, t->x + t->w, y);
        cairo_stroke(cr);
        snprintf(text, sizeof text, step < 0.1 ? "%.2f" : "%.1f", i * step);
        set_grey(cr, 0.25);
        spot_canvas_text(cr, t->x - 8 - spot_canvas_text_width(cr, SMALL, 0, text), y + 4, SMALL, 0, text);
    }
    for (int l = 1; l < t->p->levels; l++) {
        if (!t->p->level[l].apart) continue;
        cairo_set_line_width(cr, 1);
        set_grey(cr, 0.8);
        cairo_move_to(cr, t->x + t->w * l / t->p->levels, t->y);
        cairo_rel_line_to(cr, 0, t->h);
        cairo_stroke(cr);
    }
}

static void draw_line(cairo_t *cr, const plot *t, int s)
{
    bool begun = false;

    cairo_set_line_width(cr, 1.4);
    spot_canvas_colour(cr, t->style[s], 0.55);
    for (int l = 0; l < t->p->levels; l++) {
        const spot_estimate *e = &t->p->at[s][l];
        if (!e->n || t->p->level[l].apart) continue;
        if (begun) cairo_line_to(cr, x_of(t, l, s), y_of(t, e->mean));
        else cairo_move_to(cr, x_of(t, l, s), y_of(t, e->mean));
        begun = true;
    }
    cairo_stroke(cr);
}

/* Draws a marker with a white edge, which shows it on an interval of another series. */
static void draw_dot(cairo_t *cr, spot_dot at, int style, bool hollow)
{
    spot_canvas_shape(cr, at, RADIUS, style);
    cairo_set_line_width(cr, hollow ? 4 : 2.4);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_stroke_preserve(cr);
    if (hollow) cairo_fill_preserve(cr);
    spot_canvas_colour(cr, style, 1);
    cairo_set_line_width(cr, 1.6);
    if (hollow) cairo_stroke(cr);
    else cairo_fill(cr);
}

static void draw_bars(cairo_t *cr, const plot *t, int s)
{
    const double dash[] = { 3, 2.5 };

    cairo_set_line_width(cr, 2);
    spot_canvas_colour(cr, t->style[s], 0.85);
    for (int l = 0; l < t->p->levels; l++) {
        const spot_estimate *e = &t->p->at[s][l];
        if (!e->n || isnan(e->low)) continue;
        cairo_set_dash(cr, dash, t->p->level[l].hollow ? 2 : 0, 0);
        cairo_move_to(cr, x_of(t, l, s), y_of(t, fmin(e->low, t->p->top)));
        cairo_line_to(cr, x_of(t, l, s), y_of(t, fmin(e->high, t->p->top)));
        cairo_stroke(cr);
    }
    cairo_set_dash(cr, NULL, 0, 0);
}

static void draw_dots(cairo_t *cr, const plot *t, int s)
{
    for (int l = 0; l < t->p->levels; l++)
        if (t->p->at[s][l].n)
            draw_dot(cr, (spot_dot){ x_of(t, l, s), y_of(t, t->p->at[s][l].mean) }, t->style[s], t->p->level[l].hollow);
}

static bool has_values(const spot_chart_panel *p, int series)
{
    for (int s = 0; s < series; s++)
        for (int l = 0; l < p->levels; l++)
            if (p->at[s][l].n && !p->level[l].hollow) return true;
    return false;
}

static void draw_empty(cairo_t *cr, const plot *t)
{
    double width = spot_canvas_text_width(cr, TEXT, 0, t->p->empty), x = t->x + t->w / 2, y = t->y + t->h / 2;

    set_grey(cr, 1);
    cairo_rectangle(cr, x - width / 2 - 6, y - 14, width + 12, 20);
    cairo_fill(cr);
    set_grey(cr, 0.35);
    draw_centred(cr, x, y, TEXT, t->p->empty);
}

static void draw_panel(page *g, const spot_chart_panel *p, double x, double y)
{
    plot t = { x + LEFT, y + HEAD, g->chart->plot, PLOT_H, p, g->chart->series, g->chart->style };
    cairo_t *cr = g->cr;

    set_grey(cr, 0.1);
    spot_canvas_text(cr, t.x, y + 16, TEXT, 1, p->title);
    draw_axes(cr, &t);
    for (int l = 0; l < p->levels; l++) {
        double at = x_of(&t, l, (t.series - 1) / 2.0);
        set_grey(cr, 0.1);
        draw_centred(cr, at, t.y + t.h + 19, TEXT, p->level[l].name);
        set_grey(cr, 0.45);
        draw_centred(cr, at, t.y + t.h + 34, SMALL - 1, p->level[l].count);
    }
    set_grey(cr, 0.25);
    draw_centred(cr, t.x + t.w / 2, t.y + t.h + 53, SMALL, p->x);
    if (!has_values(p, t.series)) draw_empty(cr, &t);
    for (int s = 0; s < t.series; s++) draw_line(cr, &t, s);
    for (int s = 0; s < t.series; s++) draw_bars(cr, &t, s);
    for (int s = 0; s < t.series; s++) draw_dots(cr, &t, s);
}

/* ---- the page ---- */

/* Draws the legend, or only measures it; entries from left to right, wrapped. Returns the height. */
static double draw_legend(page *g, double y, bool draw)
{
    double x = MARGIN, top = y;

    for (int s = 0; s < g->chart->series; s++) {
        double w = 34 + spot_canvas_text_width(g->cr, TEXT, 0, g->chart->name[s]) + 20;
        if (x > MARGIN && x + w - 20 > g->width - MARGIN) x = MARGIN, y += ENTRY_H;
        if (draw) {
            cairo_set_line_width(g->cr, 2);
            spot_canvas_colour(g->cr, g->chart->style[s], 0.9);
            cairo_move_to(g->cr, x, y - 4.5);
            cairo_rel_line_to(g->cr, 27, 0);
            cairo_stroke(g->cr);
            draw_dot(g->cr, (spot_dot){ x + 13.5, y - 4.5 }, g->chart->style[s], false);
            set_grey(g->cr, 0.1);
            spot_canvas_text(g->cr, x + 34, y, TEXT, 0, g->chart->name[s]);
        }
        x += w;
    }
    return y + ENTRY_H - top;
}

static double page_width(const spot_chart *c) { return 2 * MARGIN + c->across * (LEFT + c->plot) + (c->across - 1) * GAP; }

/* Draws the page, or only measures it; returns its height. */
static double draw_parts(page *g, bool draw)
{
    const spot_chart *c = g->chart;
    double y = MARGIN + 12, width = g->width - 2 * MARGIN;

    if (draw) {
        cairo_set_source_rgb(g->cr, 1, 1, 1);
        cairo_paint(g->cr);
        set_grey(g->cr, 0.05);
        spot_canvas_text(g->cr, MARGIN, y, 17, 1, c->title);
    }
    y += 32;
    y += draw_legend(g, y, draw) - 4;
    for (int p = 0; p < c->panels; p++) {
        if (draw) draw_panel(g, &c->panel[p], MARGIN + p % c->across * (LEFT + c->plot + GAP), y);
        if (p % c->across == c->across - 1 || p == c->panels - 1) y += HEAD + PLOT_H + FOOT;
    }
    y += LINE;
    set_grey(g->cr, 0.3);
    return y + draw_wrapped(g->cr, MARGIN, y, width, SMALL, c->caption, draw) + MARGIN - LINE + 6;
}

static void draw_page(cairo_t *cr, const void *user)
{
    page g = { cr, user, page_width(user) };

    draw_parts(&g, true);
}

static double page_height(const spot_chart *chart)
{
    cairo_surface_t *nothing = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    page g = { cairo_create(nothing), chart, page_width(chart) };
    double height = ceil(draw_parts(&g, false));

    cairo_destroy(g.cr);
    cairo_surface_destroy(nothing);
    return height;
}

spot_status spot_chart_write(spot_ctx *c, const char *path, const spot_chart *chart)
{
    return spot_canvas_write(c, path, page_width(chart), page_height(chart), 2, draw_page, chart);
}

spot_status spot_chart_svg(spot_ctx *c, char **bytes, size_t *n, const spot_chart *chart)
{
    return spot_canvas_svg(c, bytes, n, page_width(chart), page_height(chart), draw_page, chart);
}
