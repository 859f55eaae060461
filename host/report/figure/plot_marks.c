/* plot_marks.c - marks of a panel, and labels beside points. */
#include "report/figure/plot_frame.h"

#include <math.h>

enum { LABELS = 256 };

#define RADIUS 4.2

static void set_grey(cairo_t *cr, double grey) { cairo_set_source_rgb(cr, grey, grey, grey); }

void spot_plot_style(cairo_t *cr, int style, double alpha)
{
    if (style == SPOT_PLOT_GREY) cairo_set_source_rgba(cr, 0.3, 0.3, 0.3, alpha);
    else spot_canvas_colour(cr, style, alpha);
}

static double text_width(cairo_t *cr, double size, const char *text) { return spot_canvas_text_width(cr, size, 0, text); }

static void draw_path(const spot_plot_frame *f, const spot_plot_mark *m)
{
    const double dash[] = { 6, 3.5 };

    for (int i = 0; i < m->n; i++) {
        const spot_dot *d = &f->plot->dot[m->from + i];
        if (i) cairo_line_to(f->cr, spot_plot_x(f, d->x), spot_plot_y(f, d->y));
        else cairo_move_to(f->cr, spot_plot_x(f, d->x), spot_plot_y(f, d->y));
    }
    spot_plot_style(f->cr, m->style, m->kind == SPOT_MARK_AREA ? 0.13 : 0.95);
    if (m->kind == SPOT_MARK_AREA) {
        cairo_fill(f->cr);
        return;
    }
    cairo_set_line_width(f->cr, m->faint ? 1 : 1.7);
    cairo_set_dash(f->cr, dash, m->dashed ? 2 : 0, 0);
    cairo_stroke(f->cr);
    cairo_set_dash(f->cr, NULL, 0, 0);
}

static void draw_interval(const spot_plot_frame *f, const spot_plot_mark *m, double alpha)
{
    cairo_set_line_width(f->cr, 1.4);
    spot_plot_style(f->cr, m->style, alpha);
    if (isfinite(m->xlow)) {
        cairo_move_to(f->cr, spot_plot_x(f, m->xlow), spot_plot_y(f, m->y));
        cairo_line_to(f->cr, spot_plot_x(f, m->xhigh), spot_plot_y(f, m->y));
    }
    if (isfinite(m->ylow)) {
        cairo_move_to(f->cr, spot_plot_x(f, m->x), spot_plot_y(f, m->ylow));
        cairo_line_to(f->cr, spot_plot_x(f, m->x), spot_plot_y(f, m->yhigh));
    }
    cairo_stroke(f->cr);
}

/* A bar from the axis to x, `share` of its row high; its interval is dark enough to be seen on it. */
static void draw_bar(const spot_plot_frame *f, const spot_plot_mark *m)
{
    const double row = f->at.h / f->p->rows, h = fmin(11, row * 0.8);

    cairo_rectangle(f->cr, f->at.x, spot_plot_y(f, m->y) - h / 2, spot_plot_x(f, m->x) - f->at.x, h);
    spot_plot_style(f->cr, m->style, m->hollow ? 0.25 : 0.8);
    cairo_fill(f->cr);
    if (!isfinite(m->xlow)) return;
    set_grey(f->cr, 0.1);
    cairo_set_line_width(f->cr, 1.3);
    cairo_move_to(f->cr, spot_plot_x(f, m->xlow), spot_plot_y(f, m->y)), cairo_line_to(f->cr, spot_plot_x(f, m->xhigh),
        spot_plot_y(f, m->y));
    cairo_stroke(f->cr);
}

/* Draws a marker with a white edge, which shows it on an interval of another series. */
void spot_plot_point(cairo_t *cr, spot_dot at, int style, bool hollow)
{
    spot_canvas_shape(cr, at, RADIUS, style == SPOT_PLOT_GREY ? 0 : style);
    cairo_set_line_width(cr, 2.2);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_stroke_preserve(cr);
    if (hollow) cairo_fill_preserve(cr);
    spot_plot_style(cr, style, 1);
    cairo_set_line_width(cr, 1.6);
    if (hollow) cairo_stroke(cr);
    else cairo_fill(cr);
}

/* ---- labels of points ---- */

static double overlap(const spot_plot_box *a, const spot_plot_box *b)
{
    const double w = fmin(a->x + a->w, b->x + b->w) - fmax(a->x, b->x), h = fmin(a->y + a->h, b->y + b->h) - fmax(a->y, b->y);

    return w > 0 && h > 0 ? w * h : 0;
}

static double outside(const spot_plot_box *a, const spot_plot_box *b)
{
    return a->w * a->h - overlap(a, b);
}

static bool far_away(const spot_plot_box *b, double x, double y)
{
    return x < b->x - 9 || x > b->x + b->w + 9 || y < b->y - 9 || y > b->y + b->h + 9;
}

/* A thin line from the point to the nearest place of its label. */
static void draw_leader(cairo_t *cr, const spot_plot_box *b, double x, double y)
{
    cairo_set_line_width(cr, 0.8);
    set_grey(cr, 0.4);
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, fmin(fmax(x, b->x), b->x + b->w), fmin(fmax(y, b->y), b->y + b->h));
    cairo_stroke(cr);
}

/* Puts a label where it covers least of the points and of the labels before it. */
static void draw_label(const spot_plot_frame *f, const spot_plot_mark *m, spot_plot_box *taken, int *n, int points)
{
    static const double way[8][2] = { { 1, 0 }, { -1, 0 }, { 0, -1 }, { 0, 1 }, { 1, -1 }, { 1, 1 }, { -1, -1 }, { -1, 1 } };
    const double w = text_width(f->cr, SPOT_PLOT_SMALL - 0.5, m->label), h = 12, x = spot_plot_x(f, m->x), y = spot_plot_y(f,
        m->y);
    double least = INFINITY;
    spot_plot_box best = { 0 };

    for (int k = 0; k < 16; k++) {
        const double far = k < 8 ? 1 : 2.4, *d = way[k % 8];
        const spot_plot_box b = { x + d[0] * (7 * far) - (d[0] < 0 ? w : d[0] ? 0 : w / 2), y - h / 2 + d[1] * 12 * far, w, h };
        double cost = 3 * outside(&b, &f->at) + k;
        for (int i = 0; i < *n; i++) cost += (i < points ? 2 : 1) * 4 * overlap(&b, &taken[i]);
        if (cost < least) least = cost, best = b;
    }
    if (*n < LABELS) taken[(*n)++] = best;
    if (far_away(&best, x, y)) draw_leader(f->cr, &best, x, y);
    cairo_move_to(f->cr, best.x, best.y + h - 2.5);
    cairo_set_font_size(f->cr, SPOT_PLOT_SMALL - 0.5);
    cairo_text_path(f->cr, m->label);
    cairo_set_line_width(f->cr, 2.6);
    cairo_set_source_rgba(f->cr, 1, 1, 1, 0.85);
    cairo_stroke(f->cr);
    set_grey(f->cr, 0.15);
    spot_canvas_text(f->cr, best.x, best.y + h - 2.5, SPOT_PLOT_SMALL - 0.5, 0, m->label);
}

static void draw_labels(const spot_plot_frame *f)
{
    const spot_plot_mark *m = f->plot->mark + f->p->first;
    spot_plot_box taken[LABELS];
    int n = 0, points;

    for (int i = 0; i < f->p->marks && n < LABELS / 2; i++)
        if (m[i].kind == SPOT_MARK_POINT && isfinite(m[i].x) && isfinite(m[i].y))
            taken[n++] = (spot_plot_box){ spot_plot_x(f, m[i].x) - 5, spot_plot_y(f, m[i].y) - 5, 10, 10 };
    points = n;
    for (int i = 0; i < f->p->marks; i++)
        if (m[i].label[0] && m[i].kind == SPOT_MARK_POINT && isfinite(m[i].x) && isfinite(m[i].y))
            draw_label(f, &m[i], taken, &n, points);
}

void spot_plot_marks(const spot_plot_frame *f)
{
    const spot_plot_mark *m = f->plot->mark + f->p->first;
    const int n = f->p->marks;

    cairo_save(f->cr);
    cairo_rectangle(f->cr, f->at.x, f->at.y, f->at.w, f->at.h);
    cairo_clip(f->cr);
    for (int i = 0; i < n; i++)
        if (m[i].kind == SPOT_MARK_AREA) draw_path(f, &m[i]);
        else if (m[i].kind == SPOT_MARK_CELLS) spot_plot_cells(f, &m[i]);
    for (int i = 0; i < n; i++) {
        if (m[i].kind == SPOT_MARK_CURVE) draw_path(f, &m[i]);
        else if (m[i].kind == SPOT_MARK_BAR) draw_bar(f, &m[i]);
    }
    for (int i = 0; i < n; i++)
        if (m[i].kind == SPOT_MARK_POINT) draw_interval(f, &m[i], f->p->rows ? 0.9 : 0.4);
    cairo_restore(f->cr);
    for (int i = 0; i < n; i++)
        if (m[i].kind == SPOT_MARK_POINT && isfinite(m[i].x) && isfinite(m[i].y))
            spot_plot_point(f->cr, (spot_dot){ spot_plot_x(f, m[i].x), spot_plot_y(f, m[i].y) }, m[i].style, m[i].hollow);
    draw_labels(f);
}
