/* plot_draw.c - draws a plot. A unit is 1/96 inch, two pixels of a PNG. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/statistics.h"
#include "report/figure/plot.h"
#include "spotter/shifts.h"

enum { MARGIN = 26, LEFT = 52, GAP = 26, HEAD = 30, FOOT = 52, LINE = 17, ENTRY_H = 21, LABELS = 256 };

#define TEXT 13.0
#define SMALL 11.5
#define RADIUS 4.2

typedef struct { double x, y, w, h; } box;

typedef struct {
    cairo_t *cr;
    const spot_plot *plot;
    double width, names;               /* of the page; of the rows' names */
} page;

typedef struct { cairo_t *cr; const spot_plot *plot; const spot_plot_panel *p; box at; } frame;

static void set_grey(cairo_t *cr, double grey) { cairo_set_source_rgb(cr, grey, grey, grey); }

static void set_style(cairo_t *cr, int style, double alpha)
{
    if (style == SPOT_PLOT_GREY) cairo_set_source_rgba(cr, 0.3, 0.3, 0.3, alpha);
    else spot_canvas_colour(cr, style, alpha);
}

static double text_width(cairo_t *cr, double size, const char *text) { return spot_canvas_text_width(cr, size, 0, text); }

/* Cuts a text that is wider than the room and ends it with "…". */
static const char *fitted(cairo_t *cr, char out[160], const char *text, double size, int bold, double room)
{
    size_t n = strlen(text);

    snprintf(out, 160, "%s", text);
    while (n > 1 && spot_canvas_text_width(cr, size, bold, out) > room) {
        do n--; while (n && ((unsigned char)text[n] & 0xc0) == 0x80);
        snprintf(out, 160, "%.*s…", (int)(n < 150 ? n : 150), text);
    }
    return out;
}

/* Breaks a text into lines of at most `width`; draws them if `draw`. Returns the height. */
static double draw_words(cairo_t *cr, double x, double y, double width, const char *text, bool draw)
{
    char line[512] = "", longer[640];
    double top = y;

    while (*text) {
        const size_t word = strcspn(text, " ");
        snprintf(longer, sizeof longer, "%.400s%s%.*s", line, *line ? " " : "", (int)(word < 200 ? word : 200), text);
        if (*line && text_width(cr, SMALL, longer) > width) {
            if (draw) spot_canvas_text(cr, x, y, SMALL, 0, line);
            y += LINE;
            snprintf(line, sizeof line, "%.*s", (int)(word < 200 ? word : 200), text);
        } else snprintf(line, sizeof line, "%.500s", longer);
        text += word;
        text += strspn(text, " ");
    }
    if (draw && *line) spot_canvas_text(cr, x, y, SMALL, 0, line);
    return *line ? y + LINE - top : 0;
}

/* ---- axes ---- */

/* Accuracies on axes of probit or logit have no place for 0 and 1. */
static double on_axis(int axes, double v)
{
    const double p = v < 1e-4 ? 1e-4 : v > 1 - 1e-4 ? 1 - 1e-4 : v;

    return axes == SPOT_AXES_LINEAR ? v : axes == SPOT_AXES_PROBIT ? spot_normal_quantile(p) : log(p / (1 - p));
}

static double share(int axes, double v, double low, double high)
{
    const double a = on_axis(axes, low), b = on_axis(axes, high);

    return b > a ? (on_axis(axes, v) - a) / (b - a) : 0.5;
}

static double x_at(const frame *f, double v) { return f->at.x + f->at.w * share(f->p->axes, v, f->p->xlow, f->p->xhigh); }

static double y_at(const frame *f, double v)
{
    if (f->p->rows) return f->at.y + f->at.h * (v + 0.5) / f->p->rows;
    return f->at.y + f->at.h * (1 - share(f->p->axes, v, f->p->ylow, f->p->yhigh));
}

static double tick_step(double range, int most)
{
    double step = pow(10, floor(log10(range / most)));

    if (range / step > most) step *= 2;
    if (range / step > most) step *= 2.5;
    if (range / step > most) step *= 2;
    return step;
}

static const char *tick_text(char text[16], double v, double step)
{
    snprintf(text, 16, "%.*f", step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3, fabs(v) < step / 2 ? 0.0 : v);
    return text;
}

static void draw_tick(const frame *f, bool is_y, double v, double step)
{
    const box *b = &f->at;
    char text[16];

    tick_text(text, v, step);
    cairo_set_line_width(f->cr, 0.8);
    set_grey(f->cr, 0.88);
    if (is_y) cairo_move_to(f->cr, b->x, y_at(f, v)), cairo_line_to(f->cr, b->x + b->w, y_at(f, v));
    else cairo_move_to(f->cr, x_at(f, v), b->y), cairo_line_to(f->cr, x_at(f, v), b->y + b->h);
    cairo_stroke(f->cr);
    set_grey(f->cr, 0.25);
    if (is_y) spot_canvas_text(f->cr, b->x - 7 - text_width(f->cr, SMALL, text), y_at(f, v) + 4, SMALL, 0, text);
    else spot_canvas_text(f->cr, x_at(f, v) - text_width(f->cr, SMALL, text) / 2, b->y + b->h + 16, SMALL, 0, text);
}

static void draw_axis(const frame *f, bool is_y)
{
    const double low = is_y ? f->p->ylow : f->p->xlow, high = is_y ? f->p->yhigh : f->p->xhigh;
    const double step = tick_step(high - low, is_y ? 6 : (int)(f->at.w / 44));

    for (double v = ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) draw_tick(f, is_y, v, step);
}

/* The name of the y axis, upwards. */
static void draw_y_name(const frame *f, const char *text)
{
    cairo_save(f->cr);
    cairo_translate(f->cr, f->at.x - 38, f->at.y + f->at.h / 2 + text_width(f->cr, SMALL, text) / 2);
    cairo_rotate(f->cr, -SPOT_TURN / 4);
    spot_canvas_text(f->cr, 0, 0, SMALL, 0, text);
    cairo_restore(f->cr);
}

static void draw_rows(const frame *f)
{
    char text[160];

    for (int r = 0; r < f->p->rows; r++) {
        const double y = y_at(f, r);
        fitted(f->cr, text, f->plot->row[f->p->first_row + r], TEXT - 0.5, 0, f->at.x - 12);
        set_grey(f->cr, 0.1);
        spot_canvas_text(f->cr, f->at.x - 8 - text_width(f->cr, TEXT - 0.5, text), y + 4, TEXT - 0.5, 0, text);
        if (!r) continue;
        cairo_set_line_width(f->cr, 0.6);
        set_grey(f->cr, 0.9);
        cairo_move_to(f->cr, f->at.x, y_at(f, r - 0.5)), cairo_rel_line_to(f->cr, f->at.w, 0);
        cairo_stroke(f->cr);
    }
}

static void draw_axes(const frame *f)
{
    const box *b = &f->at;
    const double dash[] = { 2, 3 };
    char text[160];

    draw_axis(f, false);
    if (f->p->rows) draw_rows(f);
    else draw_axis(f, true);
    cairo_set_line_width(f->cr, 1);
    set_grey(f->cr, 0.45);
    cairo_rectangle(f->cr, b->x, b->y, b->w, b->h);
    cairo_stroke(f->cr);
    if (f->p->diagonal) {
        const double from = fmax(f->p->xlow, f->p->ylow), to = fmin(f->p->xhigh, f->p->yhigh);
        cairo_set_dash(f->cr, dash, 2, 0);
        cairo_move_to(f->cr, x_at(f, from), y_at(f, from));
        if (to > from) cairo_line_to(f->cr, x_at(f, to), y_at(f, to));
        cairo_stroke(f->cr);
        cairo_set_dash(f->cr, NULL, 0, 0);
    }
    set_grey(f->cr, 0.25);
    fitted(f->cr, text, f->p->x, SMALL, 0, b->w + 30);
    spot_canvas_text(f->cr, b->x + b->w / 2 - text_width(f->cr, SMALL, text) / 2, b->y + b->h + 34, SMALL, 0, text);
    if (f->p->y[0]) draw_y_name(f, f->p->y);
}

/* ---- marks ---- */

static void draw_path(const frame *f, const spot_plot_mark *m)
{
    const double dash[] = { 6, 3.5 };

    for (int i = 0; i < m->n; i++) {
        const spot_dot *d = &f->plot->dot[m->from + i];
        if (i) cairo_line_to(f->cr, x_at(f, d->x), y_at(f, d->y));
        else cairo_move_to(f->cr, x_at(f, d->x), y_at(f, d->y));
    }
    set_style(f->cr, m->style, m->kind == SPOT_MARK_AREA ? 0.13 : 0.95);
    if (m->kind == SPOT_MARK_AREA) {
        cairo_fill(f->cr);
        return;
    }
    cairo_set_line_width(f->cr, m->faint ? 1 : 1.7);
    cairo_set_dash(f->cr, dash, m->dashed ? 2 : 0, 0);
    cairo_stroke(f->cr);
    cairo_set_dash(f->cr, NULL, 0, 0);
}

static void draw_interval(const frame *f, const spot_plot_mark *m, double alpha)
{
    cairo_set_line_width(f->cr, 1.4);
    set_style(f->cr, m->style, alpha);
    if (isfinite(m->xlow)) {
        cairo_move_to(f->cr, x_at(f, m->xlow), y_at(f, m->y));
        cairo_line_to(f->cr, x_at(f, m->xhigh), y_at(f, m->y));
    }
    if (isfinite(m->ylow)) {
        cairo_move_to(f->cr, x_at(f, m->x), y_at(f, m->ylow));
        cairo_line_to(f->cr, x_at(f, m->x), y_at(f, m->yhigh));
    }
    cairo_stroke(f->cr);
}

/* A bar from the axis to x, `share` of its row high; its interval is dark enough to be seen on it. */
static void draw_bar(const frame *f, const spot_plot_mark *m)
{
    const double row = f->at.h / f->p->rows, h = fmin(11, row * 0.8);

    cairo_rectangle(f->cr, f->at.x, y_at(f, m->y) - h / 2, x_at(f, m->x) - f->at.x, h);
    set_style(f->cr, m->style, m->hollow ? 0.25 : 0.8);
    cairo_fill(f->cr);
    if (!isfinite(m->xlow)) return;
    set_grey(f->cr, 0.1);
    cairo_set_line_width(f->cr, 1.3);
    cairo_move_to(f->cr, x_at(f, m->xlow), y_at(f, m->y)), cairo_line_to(f->cr, x_at(f, m->xhigh), y_at(f, m->y));
    cairo_stroke(f->cr);
}

/* Draws a marker with a white edge, which shows it on an interval of another series. */
static void draw_point(cairo_t *cr, spot_dot at, int style, bool hollow)
{
    spot_canvas_shape(cr, at, RADIUS, style == SPOT_PLOT_GREY ? 0 : style);
    cairo_set_line_width(cr, 2.2);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_stroke_preserve(cr);
    if (hollow) cairo_fill_preserve(cr);
    set_style(cr, style, 1);
    cairo_set_line_width(cr, 1.6);
    if (hollow) cairo_stroke(cr);
    else cairo_fill(cr);
}

/* ---- labels of points ---- */

static double overlap(const box *a, const box *b)
{
    const double w = fmin(a->x + a->w, b->x + b->w) - fmax(a->x, b->x), h = fmin(a->y + a->h, b->y + b->h) - fmax(a->y, b->y);

    return w > 0 && h > 0 ? w * h : 0;
}

static double outside(const box *a, const box *b)
{
    return a->w * a->h - overlap(a, b);
}

static bool far_away(const box *b, double x, double y)
{
    return x < b->x - 9 || x > b->x + b->w + 9 || y < b->y - 9 || y > b->y + b->h + 9;
}

/* A thin line from the point to the nearest place of its label. */
static void draw_leader(cairo_t *cr, const box *b, double x, double y)
{
    cairo_set_line_width(cr, 0.8);
    set_grey(cr, 0.4);
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, fmin(fmax(x, b->x), b->x + b->w), fmin(fmax(y, b->y), b->y + b->h));
    cairo_stroke(cr);
}

/* Puts a label where it covers least of the points and of the labels before it. */
static void draw_label(const frame *f, const spot_plot_mark *m, box *taken, int *n, int points)
{
    static const double way[8][2] = { { 1, 0 }, { -1, 0 }, { 0, -1 }, { 0, 1 }, { 1, -1 }, { 1, 1 }, { -1, -1 }, { -1, 1 } };
    const double w = text_width(f->cr, SMALL - 0.5, m->label), h = 12, x = x_at(f, m->x), y = y_at(f, m->y);
    double least = INFINITY;
    box best = { 0 };

    for (int k = 0; k < 16; k++) {
        const double far = k < 8 ? 1 : 2.4, *d = way[k % 8];
        const box b = { x + d[0] * (7 * far) - (d[0] < 0 ? w : d[0] ? 0 : w / 2), y - h / 2 + d[1] * 12 * far, w, h };
        double cost = 3 * outside(&b, &f->at) + k;
        for (int i = 0; i < *n; i++) cost += (i < points ? 2 : 1) * 4 * overlap(&b, &taken[i]);
        if (cost < least) least = cost, best = b;
    }
    if (*n < LABELS) taken[(*n)++] = best;
    if (far_away(&best, x, y)) draw_leader(f->cr, &best, x, y);
    cairo_move_to(f->cr, best.x, best.y + h - 2.5);
    cairo_set_font_size(f->cr, SMALL - 0.5);
    cairo_text_path(f->cr, m->label);
    cairo_set_line_width(f->cr, 2.6);
    cairo_set_source_rgba(f->cr, 1, 1, 1, 0.85);
    cairo_stroke(f->cr);
    set_grey(f->cr, 0.15);
    spot_canvas_text(f->cr, best.x, best.y + h - 2.5, SMALL - 0.5, 0, m->label);
}

static void draw_labels(const frame *f)
{
    const spot_plot_mark *m = f->plot->mark + f->p->first;
    box taken[LABELS];
    int n = 0, points;

    for (int i = 0; i < f->p->marks && n < LABELS / 2; i++)
        if (m[i].kind == SPOT_MARK_POINT && isfinite(m[i].x) && isfinite(m[i].y))
            taken[n++] = (box){ x_at(f, m[i].x) - 5, y_at(f, m[i].y) - 5, 10, 10 };
    points = n;
    for (int i = 0; i < f->p->marks; i++)
        if (m[i].label[0] && m[i].kind == SPOT_MARK_POINT && isfinite(m[i].x) && isfinite(m[i].y))
            draw_label(f, &m[i], taken, &n, points);
}

/* ---- a panel ---- */

static void draw_marks(const frame *f)
{
    const spot_plot_mark *m = f->plot->mark + f->p->first;
    const int n = f->p->marks;

    cairo_save(f->cr);
    cairo_rectangle(f->cr, f->at.x, f->at.y, f->at.w, f->at.h);
    cairo_clip(f->cr);
    for (int i = 0; i < n; i++)
        if (m[i].kind == SPOT_MARK_AREA) draw_path(f, &m[i]);
    for (int i = 0; i < n; i++) {
        if (m[i].kind == SPOT_MARK_CURVE) draw_path(f, &m[i]);
        else if (m[i].kind == SPOT_MARK_BAR) draw_bar(f, &m[i]);
    }
    for (int i = 0; i < n; i++)
        if (m[i].kind == SPOT_MARK_POINT) draw_interval(f, &m[i], f->p->rows ? 0.9 : 0.4);
    cairo_restore(f->cr);
    for (int i = 0; i < n; i++)
        if (m[i].kind == SPOT_MARK_POINT && isfinite(m[i].x) && isfinite(m[i].y))
            draw_point(f->cr, (spot_dot){ x_at(f, m[i].x), y_at(f, m[i].y) }, m[i].style, m[i].hollow);
}

static double plot_height(const spot_plot *plot, const spot_plot_panel *p)
{
    return p->rows ? plot->height * p->rows : plot->height;
}

static double head_of(const spot_plot_panel *p) { return p->title[0] ? HEAD : 12; }

static void draw_panel(page *g, const spot_plot_panel *p, double x, double y)
{
    const frame f = { g->cr, g->plot, p, { x + g->names, y + head_of(p), g->plot->width, plot_height(g->plot, p) } };
    char text[160];

    set_grey(g->cr, 0.1);
    fitted(g->cr, text, p->title, TEXT, 1, f.at.w);
    spot_canvas_text(g->cr, f.at.x, y + 18, TEXT, 1, text);
    draw_axes(&f);
    if (p->marks) {
        draw_marks(&f);
        draw_labels(&f);
    } else {
        set_grey(g->cr, 0.35);
        fitted(g->cr, text, p->empty, TEXT, 0, f.at.w - 8);
        spot_canvas_text(g->cr, f.at.x + f.at.w / 2 - text_width(g->cr, TEXT, text) / 2, f.at.y + f.at.h / 2, TEXT, 0, text);
    }
}

/* ---- the page ---- */

static void draw_entry(page *g, const spot_plot_entry *e, double x, double y)
{
    const double dash[] = { 6, 3.5 };

    cairo_set_line_width(g->cr, 1.8);
    set_style(g->cr, e->style, 0.9);
    if (e->kind == SPOT_MARK_BAR) {
        cairo_rectangle(g->cr, x + 4, y - 10, 20, 10);
        set_style(g->cr, e->style, e->hollow ? 0.25 : 0.8);
        cairo_fill(g->cr);
    } else {
        cairo_set_dash(g->cr, dash, e->dashed ? 2 : 0, 0);
        cairo_move_to(g->cr, x, y - 4.5), cairo_rel_line_to(g->cr, 27, 0);
        cairo_stroke(g->cr);
        cairo_set_dash(g->cr, NULL, 0, 0);
        if (e->kind == SPOT_MARK_POINT) draw_point(g->cr, (spot_dot){ x + 13.5, y - 4.5 }, e->style, e->hollow);
    }
    set_grey(g->cr, 0.1);
    spot_canvas_text(g->cr, x + 34, y, TEXT, 0, e->name);
}

/* Draws the legend, or only measures it; entries from left to right, wrapped. Returns the height. */
static double draw_legend(page *g, double y, bool draw)
{
    double x = MARGIN, top = y;

    for (int i = 0; i < g->plot->entries; i++) {
        const double w = 34 + text_width(g->cr, TEXT, g->plot->entry[i].name) + 20;
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

    for (int r = 0; r < p->rows; r++) widest = fmax(widest, 14 + text_width(g->cr, TEXT - 0.5, p->row[r]));
    g->names = fmin(widest, 230);
    g->width = 2 * MARGIN + across * (g->names + p->width) + (across - 1) * GAP;
}

/* Draws the page, or only measures it; returns its height. */
static double draw_parts(page *g, bool draw)
{
    const spot_plot *plot = g->plot;
    double y = MARGIN + 12, tallest = 0;

    if (draw) {
        cairo_set_source_rgb(g->cr, 1, 1, 1);
        cairo_paint(g->cr);
        set_grey(g->cr, 0.05);
        if (plot->title[0]) spot_canvas_text(g->cr, MARGIN, y, 17, 1, plot->title);
    }
    y += plot->title[0] ? 30 : -4;
    y += draw_legend(g, y, draw);
    for (int i = 0; i < plot->panels; i++) {
        const int column = i % plot->across;
        tallest = fmax(column ? tallest : 0, head_of(&plot->panel[i]) + plot_height(plot, &plot->panel[i]));
        if (draw) draw_panel(g, &plot->panel[i], MARGIN + column * (g->names + plot->width + GAP), y - 12);
        if (column == plot->across - 1 || i == plot->panels - 1) y += tallest + FOOT - 4;
    }
    set_grey(g->cr, 0.3);
    return y + draw_words(g->cr, MARGIN, y, g->width - 2 * MARGIN, plot->caption, draw) + MARGIN - LINE;
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
