/* plot_axes.c - axes of a panel: linear, probit, logit, or rows with names. */
#include "report/figure/plot_frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "spotter/shifts.h"

static void set_grey(cairo_t *cr, double grey) { cairo_set_source_rgb(cr, grey, grey, grey); }

static double text_width(cairo_t *cr, double size, const char *text) { return spot_canvas_text_width(cr, size, 0, text); }

/* Cuts a text that is wider than the room and ends it with "…". */
const char *spot_plot_fitted(cairo_t *cr, char out[160], const char *text, double size, int bold, double room)
{
    size_t n = strlen(text);

    snprintf(out, 160, "%s", text);
    while (n > 1 && spot_canvas_text_width(cr, size, bold, out) > room) {
        do n--; while (n && ((unsigned char)text[n] & 0xc0) == 0x80);
        snprintf(out, 160, "%.*s…", (int)(n < 150 ? n : 150), text);
    }
    return out;
}

/* The ends of steep lines come as 0 and 1: they lie far outside the frame, at a finite place. */
static double on_axis(int axes, double v) { return spot_shift_on_axis(axes, v, 1e-13); }

static double share(int axes, double v, double low, double high)
{
    const double a = on_axis(axes, low), b = on_axis(axes, high);

    return b > a ? (on_axis(axes, v) - a) / (b - a) : 0.5;
}

double spot_plot_x(const spot_plot_frame *f, double v) { return f->at.x + f->at.w * share(f->p->axes, v, f->p->xlow,
    f->p->xhigh); }

double spot_plot_y(const spot_plot_frame *f, double v)
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

/* step 0: the digits that v has. */
static const char *tick_text(char text[16], spot_quantity_unit unit, double v, double step)
{
    const double by = unit == SPOT_UNIT_SHARE ? 100 : 1;
    const char *after = unit == SPOT_UNIT_SHARE ? " %" : "";

    step *= by;
    v = fabs(v * by) < step / 2 ? 0 : v * by;
    if (!step) snprintf(text, 16, "%g%s", v, after);
    else snprintf(text, 16, "%.*f%s", step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3, v, after);
    return text;
}

static void draw_tick(const spot_plot_frame *f, bool is_y, double v, double step)
{
    const spot_plot_box *b = &f->at;
    char text[16];

    tick_text(text, is_y ? f->p->yunit : f->p->xunit, v, step);
    cairo_set_line_width(f->cr, 0.8);
    set_grey(f->cr, 0.88);
    if (is_y) cairo_move_to(f->cr, b->x, spot_plot_y(f, v)), cairo_line_to(f->cr, b->x + b->w, spot_plot_y(f, v));
    else cairo_move_to(f->cr, spot_plot_x(f, v), b->y), cairo_line_to(f->cr, spot_plot_x(f, v), b->y + b->h);
    cairo_stroke(f->cr);
    set_grey(f->cr, 0.25);
    if (is_y) spot_canvas_text(f->cr, b->x - 7 - text_width(f->cr, SPOT_PLOT_SMALL, text), spot_plot_y(f, v) + 4,
                               SPOT_PLOT_SMALL, 0, text);
    else spot_canvas_text(f->cr, spot_plot_x(f, v) - text_width(f->cr, SPOT_PLOT_SMALL, text) / 2, b->y + b->h + 16,
                          SPOT_PLOT_SMALL, 0, text);
}

/* Draws the tick if none of the n drawn ones, at `at`, is too near for its text. Returns their number. */
static int add_tick(const spot_plot_frame *f, bool is_y, double v, double *at, int n)
{
    const double place = is_y ? spot_plot_y(f, v) : spot_plot_x(f, v);

    for (int k = 0; k < n; k++)
        if (fabs(place - at[k]) < (is_y ? 18 : 38)) return n;
    draw_tick(f, is_y, v, 0);
    at[n] = place;
    return n + 1;
}

/* A probit or logit axis: round accuracies first, the most wanted before others, then even steps for an axis that is short. */
static void draw_curved_axis(const spot_plot_frame *f, bool is_y, double low, double high, double step)
{
    static const double round[] = { 0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.0001, 0.9999, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.05,
                                    0.95, 0.02, 0.98, 0.005, 0.995 };
    enum { ROUND = sizeof round / sizeof *round, STEPS = 32 };
    double at[ROUND + STEPS];
    int n = 0;

    for (int i = 0; i < ROUND; i++)
        if (round[i] >= low && round[i] <= high) n = add_tick(f, is_y, round[i], at, n);
    for (int i = 0; i < STEPS && (ceil(low / step) + i) * step <= high; i++)
        n = add_tick(f, is_y, (ceil(low / step) + i) * step, at, n);
}

static void draw_axis(const spot_plot_frame *f, bool is_y)
{
    const double low = is_y ? f->p->ylow : f->p->xlow, high = is_y ? f->p->yhigh : f->p->xhigh;
    const double step = tick_step(high - low, is_y ? 6 : (int)(f->at.w / 44));

    if (f->p->axes != SPOT_AXES_LINEAR) {
        draw_curved_axis(f, is_y, low, high, step);
        return;
    }
    for (double v = ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) draw_tick(f, is_y, v, step);
}

/* The name of the y axis, upwards. */
static void draw_y_name(const spot_plot_frame *f, const char *text)
{
    cairo_save(f->cr);
    cairo_translate(f->cr, f->at.x - 38, f->at.y + f->at.h / 2 + text_width(f->cr, SPOT_PLOT_SMALL, text) / 2);
    cairo_rotate(f->cr, -SPOT_TURN / 4);
    spot_canvas_text(f->cr, 0, 0, SPOT_PLOT_SMALL, 0, text);
    cairo_restore(f->cr);
}

static void draw_rows(const spot_plot_frame *f)
{
    char text[160];

    for (int r = 0; r < f->p->rows; r++) {
        const double y = spot_plot_y(f, r);
        spot_plot_fitted(f->cr, text, f->plot->row[f->p->first_row + r], SPOT_PLOT_TEXT - 0.5, 0, f->at.x - 12);
        set_grey(f->cr, 0.1);
        spot_canvas_text(f->cr, f->at.x - 8 - text_width(f->cr, SPOT_PLOT_TEXT - 0.5, text), y + 4, SPOT_PLOT_TEXT - 0.5, 0,
                         text);
        if (!r) continue;
        cairo_set_line_width(f->cr, 0.6);
        set_grey(f->cr, 0.9);
        cairo_move_to(f->cr, f->at.x, spot_plot_y(f, r - 0.5)), cairo_rel_line_to(f->cr, f->at.w, 0);
        cairo_stroke(f->cr);
    }
}

void spot_plot_axes(const spot_plot_frame *f)
{
    const spot_plot_box *b = &f->at;
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
        cairo_move_to(f->cr, spot_plot_x(f, from), spot_plot_y(f, from));
        if (to > from) cairo_line_to(f->cr, spot_plot_x(f, to), spot_plot_y(f, to));
        cairo_stroke(f->cr);
        cairo_set_dash(f->cr, NULL, 0, 0);
    }
    set_grey(f->cr, 0.25);
    spot_plot_fitted(f->cr, text, f->p->x, SPOT_PLOT_SMALL, 0, b->w + 30);
    spot_canvas_text(f->cr, b->x + b->w / 2 - text_width(f->cr, SPOT_PLOT_SMALL, text) / 2, b->y + b->h + 34, SPOT_PLOT_SMALL,
                     0, text);
    if (f->p->y[0]) draw_y_name(f, f->p->y);
}
