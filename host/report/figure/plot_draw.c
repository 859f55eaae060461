/* plot_draw.c - draws a plot: the page, its panels, the legend. A unit is 1/96 inch, two pixels of a PNG. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure/plot_frame.h"

enum { MARGIN = 26, LEFT = 52, GAP = 26, HEAD = 30, FOOT = 52, LINE = 17, ENTRY_H = 21, TITLE = 17 };

typedef struct {
    cairo_t *cr;
    const spot_plot *plot;
    double width, names;               /* of the page; of the rows' names */
} page;

static void set_grey(cairo_t *cr, double grey) { cairo_set_source_rgb(cr, grey, grey, grey); }

static double text_width(cairo_t *cr, double size, const char *text) { return spot_canvas_text_width(cr, size, 0, text); }

/* Breaks a text into lines of at most `width`; draws them if `draw`. Returns the height. */
static double draw_words(cairo_t *cr, double x, double y, double width, const char *text, double size, int bold, bool draw)
{
    const double step = size * LINE / SPOT_PLOT_SMALL;
    char line[512] = "", longer[640];
    double top = y;

    while (*text) {
        const size_t word = strcspn(text, " ");
        snprintf(longer, sizeof longer, "%.400s%s%.*s", line, *line ? " " : "", (int)(word < 200 ? word : 200), text);
        if (*line && spot_canvas_text_width(cr, size, bold, longer) > width) {
            if (draw) spot_canvas_text(cr, x, y, size, bold, line);
            y += step;
            snprintf(line, sizeof line, "%.*s", (int)(word < 200 ? word : 200), text);
        } else snprintf(line, sizeof line, "%.500s", longer);
        text += word;
        text += strspn(text, " ");
    }
    if (draw && *line) spot_canvas_text(cr, x, y, size, bold, line);
    return *line ? y + step - top : 0;
}

/* ---- a panel ---- */

static double plot_height(const spot_plot *plot, const spot_plot_panel *p)
{
    return p->rows ? plot->height * p->rows : plot->height;
}

static double head_of(const spot_plot_panel *p) { return p->title[0] ? HEAD : 12; }

static void draw_panel(page *g, const spot_plot_panel *p, double x, double y)
{
    const spot_plot_frame f = { g->cr, g->plot, p, { x + g->names, y + head_of(p), g->plot->width, plot_height(g->plot, p) } };
    char text[160];

    set_grey(g->cr, 0.1);
    spot_plot_fitted(g->cr, text, p->title, SPOT_PLOT_TEXT, 1, f.at.w);
    spot_canvas_text(g->cr, f.at.x, y + 18, SPOT_PLOT_TEXT, 1, text);
    spot_plot_axes(&f);
    if (p->marks) spot_plot_marks(&f);
    else {
        set_grey(g->cr, 0.35);
        spot_plot_fitted(g->cr, text, p->empty, SPOT_PLOT_TEXT, 0, f.at.w - 8);
        spot_canvas_text(g->cr, f.at.x + f.at.w / 2 - text_width(g->cr, SPOT_PLOT_TEXT, text) / 2, f.at.y + f.at.h / 2,
                         SPOT_PLOT_TEXT, 0, text);
    }
}

/* ---- the page ---- */

static void draw_entry(page *g, const spot_plot_entry *e, double x, double y)
{
    const double dash[] = { 6, 3.5 };

    cairo_set_line_width(g->cr, 1.8);
    spot_plot_style(g->cr, e->style, 0.9);
    if (e->kind == SPOT_MARK_CELLS) spot_plot_ramp(g->cr, x, y - 10, 27, 10);
    else if (e->kind == SPOT_MARK_BAR) {
        cairo_rectangle(g->cr, x + 4, y - 10, 20, 10);
        spot_plot_style(g->cr, e->style, e->look == SPOT_PLOT_HOLLOW ? 0.25 : 0.8);
        cairo_fill(g->cr);
    } else {
        cairo_set_dash(g->cr, dash, e->look == SPOT_PLOT_DASHED ? 2 : 0, 0);
        cairo_move_to(g->cr, x, y - 4.5), cairo_rel_line_to(g->cr, 27, 0);
        cairo_stroke(g->cr);
        cairo_set_dash(g->cr, NULL, 0, 0);
        if (e->kind == SPOT_MARK_POINT) spot_plot_point(g->cr, (spot_dot){ x + 13.5, y - 4.5 }, e->style,
                                                        e->look == SPOT_PLOT_HOLLOW);
    }
    set_grey(g->cr, 0.1);
    spot_canvas_text(g->cr, x + 34, y, SPOT_PLOT_TEXT, 0, e->name);
}

/* Draws the legend, or only measures it; entries from left to right, wrapped. Returns the height. */
static double draw_legend(page *g, double y, bool draw)
{
    double x = MARGIN, top = y;

    for (int i = 0; i < g->plot->entries; i++) {
        const double w = 34 + text_width(g->cr, SPOT_PLOT_TEXT, g->plot->entry[i].name) + 20;
        if (x > MARGIN && x + w - 20 > g->width - MARGIN) x = MARGIN, y += ENTRY_H;
        if (draw) draw_entry(g, &g->plot->entry[i], x, y);
        x += w;
    }
    return g->plot->entries ? y + ENTRY_H - top : 0;
}

static void measure_page(page *g)
{
    const spot_plot *p = g->plot;
    const int across = p->across < p->panels ? p->across : p->panels;
    double widest = LEFT;

    for (int r = 0; r < p->rows; r++) widest = fmax(widest, 14 + text_width(g->cr, SPOT_PLOT_TEXT - 0.5, p->row[r]));
    g->names = fmin(widest, 230);
    g->width = 2 * MARGIN + across * (g->names + p->width) + (across - 1) * GAP;
}

/* Draws the page, or only measures it; returns its height. */
static double draw_parts(page *g, bool draw)
{
    const spot_plot *plot = g->plot;
    const double room = g->width - 2 * MARGIN;
    double y = MARGIN + 12, tallest = 0;

    if (draw) {
        cairo_set_source_rgb(g->cr, 1, 1, 1);
        cairo_paint(g->cr);
        set_grey(g->cr, 0.05);
    }
    y += plot->title[0] ? draw_words(g->cr, MARGIN, y, room, plot->title, TITLE, 1, draw) + 5 : -4;
    y += draw_legend(g, y, draw);
    for (int i = 0; i < plot->panels; i++) {
        const int column = i % plot->across;
        tallest = fmax(column ? tallest : 0, head_of(&plot->panel[i]) + plot_height(plot, &plot->panel[i]));
        if (draw) draw_panel(g, &plot->panel[i], MARGIN + column * (g->names + plot->width + GAP), y - 12);
        if (column == plot->across - 1 || i == plot->panels - 1) y += tallest + FOOT - 4;
    }
    set_grey(g->cr, 0.3);
    return y + draw_words(g->cr, MARGIN, y, room, plot->caption, SPOT_PLOT_SMALL, 0, draw) + MARGIN - LINE;
}

static void draw_page(cairo_t *cr, const void *user)
{
    page g = { .cr = cr, .plot = user };

    measure_page(&g);
    draw_parts(&g, true);
}

static void page_size(const spot_plot *p, double *width, double *height)
{
    cairo_surface_t *nothing = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    page g = { .cr = cairo_create(nothing), .plot = p };

    measure_page(&g);
    *width = ceil(g.width);
    *height = ceil(draw_parts(&g, false));
    cairo_destroy(g.cr);
    cairo_surface_destroy(nothing);
}

spot_status spot_plot_write(spot_ctx *c, const char *path, const spot_plot *p)
{
    double width, height;

    if (p->status) return spot_fail(c, p->status, "no memory for the figure %s", path);
    page_size(p, &width, &height);
    return spot_canvas_write(c, path, width, height, 2, draw_page, p);
}

spot_status spot_plot_svg(spot_ctx *c, char **bytes, size_t *n, const spot_plot *p)
{
    double width, height;

    if (p->status) return spot_fail(c, p->status, "no memory for a figure");
    page_size(p, &width, &height);
    return spot_canvas_svg(c, bytes, n, width, height, draw_page, p);
}
