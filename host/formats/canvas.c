/* canvas.c - see canvas.h. A failed call of cairo leaves its status in the context and makes the later ones do nothing, so it
 * is looked at once, before a file is written. */
#include "formats/canvas.h"

#include <cairo-svg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

double spot_canvas_text_width(cairo_t *cr, double size, int bold, const char *text)
{
    cairo_text_extents_t extents;

    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

double spot_canvas_text(cairo_t *cr, double x, double y, double size, int bold, const char *text)
{
    double width = spot_canvas_text_width(cr, size, bold, text);

    cairo_move_to(cr, x, y);
    cairo_show_text(cr, text);
    return width;
}

/* Okabe and Ito's vermilion and blue, with a light grey between: distinct for red-green blindness. */
void spot_canvas_confidence(cairo_t *cr, double confidence, double alpha)
{
    static const double low[3] = { 0.835, 0.369, 0.0 }, middle[3] = { 0.74, 0.74, 0.74 }, high[3] = { 0.0, 0.447, 0.698 };
    double t = confidence < 0 ? 0 : confidence > 1 ? 1 : confidence, rgb[3];

    for (int i = 0; i < 3; i++)
        rgb[i] = t < 0.5 ? low[i] + (middle[i] - low[i]) * 2 * t : middle[i] + (high[i] - middle[i]) * (2 * t - 1);
    cairo_set_source_rgba(cr, rgb[0], rgb[1], rgb[2], alpha);
}

void spot_canvas_colour(cairo_t *cr, int i, double alpha)
{
    static const double rgb[8][3] = {
        { 0.000, 0.447, 0.698 }, { 0.835, 0.369, 0.000 }, { 0.000, 0.620, 0.451 }, { 0.800, 0.475, 0.655 },
        { 0.200, 0.200, 0.200 }, { 0.337, 0.706, 0.914 }, { 0.902, 0.624, 0.000 }, { 0.550, 0.520, 0.100 },
    };
    cairo_set_source_rgba(cr, rgb[i % 8][0], rgb[i % 8][1], rgb[i % 8][2], alpha);
}

void spot_canvas_ramp(uint8_t rgb[3], double t)
{
    enum { STOPS = 6 };
    static const uint8_t stop[STOPS][3] = { { 62, 30, 100 }, { 60, 78, 138 }, { 38, 120, 142 }, { 50, 160, 122 },
                                            { 140, 205, 80 }, { 250, 230, 60 } };
    const double at = (t > 0 ? t < 1 ? t : 1 : 0) * (STOPS - 1);
    const int i = at < STOPS - 1 ? (int)at : STOPS - 2;

    for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)lrint(stop[i][k] + (at - i) * (stop[i + 1][k] - stop[i][k]));
}

void spot_canvas_shape(cairo_t *cr, spot_dot at, double radius, int m)
{
    static const struct { int corners; double turn; } shapes[] = {
        { 0, 0 }, { 3, -0.25 }, { 4, 0.125 }, { 4, 0 }, { 3, 0.25 }, { 6, 0 }, { 5, -0.25 }, { 8, 0 },
    };
    int corners = shapes[m % 8].corners;

    cairo_new_path(cr);
    if (!corners) cairo_arc(cr, at.x, at.y, radius, 0, SPOT_TURN);
    for (int i = 0; i < corners; i++) {        /* 1.25: a square of the ring's area */
        double angle = SPOT_TURN * ((double)i / corners + shapes[m % 8].turn);
        cairo_line_to(cr, at.x + 1.25 * radius * cos(angle), at.y + 1.25 * radius * sin(angle));
    }
    cairo_close_path(cr);
}

void spot_canvas_marker(cairo_t *cr, spot_dot at, double radius, int m)
{
    spot_canvas_shape(cr, at, radius, m);
    cairo_stroke(cr);
}

static int by_x_then_y(const void *a, const void *b)
{
    const spot_dot *p = a, *q = b;

    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

static double turn(spot_dot o, spot_dot a, spot_dot b)
{
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

/* Andrew's monotone chain (1979): the lower hull from left to right, then the upper one back, in one array. A dot that makes no
 * left turn lies inside or on an edge. */
int spot_canvas_hull(spot_dot *dot, int n, spot_dot *hull)
{
    int k = 0;

    if (n < 3) return n;
    qsort(dot, (size_t)n, sizeof *dot, by_x_then_y);
    for (int i = 0; i < n; i++) {
        while (k >= 2 && turn(hull[k - 2], hull[k - 1], dot[i]) <= 0) k--;
        hull[k++] = dot[i];
    }
    for (int i = n - 2, lower = k + 1; i >= 0; i--) {
        while (k >= lower && turn(hull[k - 2], hull[k - 1], dot[i]) <= 0) k--;
        hull[k++] = dot[i];
    }
    if (k > 1) k--;                                     /* the first dot closes the ring */
    memcpy(dot, hull, (size_t)k * sizeof *dot);
    return k;
}

void spot_canvas_outline(cairo_t *cr, const spot_dot *hull, int n, double margin)
{
    spot_dot centre = { 0, 0 };

    for (int i = 0; i < n; i++) centre.x += hull[i].x / n, centre.y += hull[i].y / n;
    cairo_new_path(cr);
    for (int i = 0; i < n; i++) {
        double dx = hull[i].x - centre.x, dy = hull[i].y - centre.y, r = hypot(dx, dy);
        double grow = r > 0 ? (r + margin) / r : 1;
        cairo_line_to(cr, centre.x + dx * grow, centre.y + dy * grow);
    }
    cairo_close_path(cr);
    if (n < 3) {
        cairo_new_path(cr);
        cairo_arc(cr, centre.x, centre.y, 2 * margin, 0, SPOT_TURN);
    }
    cairo_stroke(cr);
}

static cairo_status_t append(void *closure, const unsigned char *data, unsigned int length)
{
    spot_text *t = closure;

    spot_text_add(t, data, length);
    return t->status ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static spot_status write_out(spot_ctx *c, cairo_status_t made, const spot_text *b, const char *path)
{
    if (made == CAIRO_STATUS_SUCCESS) return spot_file_write(c, path, b->bytes, b->used);
    return spot_fail(c, made == CAIRO_STATUS_NO_MEMORY ? SPOT_NOMEM : SPOT_IO, "%s: cairo could not make the picture: %s",
                     path, cairo_status_to_string(made));
}

spot_status spot_canvas_save(spot_ctx *c, cairo_t *cr, const char *path)
{
    spot_text b = { 0 };
    cairo_status_t made = cairo_status(cr);            /* the surface does not have cr's status */
    spot_status s;

    if (made == CAIRO_STATUS_SUCCESS) made = cairo_surface_write_to_png_stream(cairo_get_target(cr), append, &b);
    s = write_out(c, made, &b, path);
    spot_text_free(&b);
    return s;
}

static cairo_status_t draw_svg(spot_text *b, double width, double height, spot_canvas_draw *draw, const void *user)
{
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(append, b, width, height);
    cairo_t *cr = cairo_create(surface);
    cairo_status_t made;

    draw(cr, user);
    made = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);                     /* writes the rest */
    if (made == CAIRO_STATUS_SUCCESS) made = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return made;
}

spot_status spot_canvas_svg(spot_ctx *c, char **bytes, size_t *n, double width, double height, spot_canvas_draw *draw,
                            const void *user)
{
    spot_text b = { 0 };
    cairo_status_t made = draw_svg(&b, width, height, draw, user);

    *bytes = made == CAIRO_STATUS_SUCCESS ? b.bytes : NULL;
    *n = *bytes ? b.used : 0;
    if (*bytes) return SPOT_OK;
    spot_text_free(&b);
    return spot_fail(c, SPOT_NOMEM, "cairo could not make a picture: %s", cairo_status_to_string(made));
}

spot_status spot_canvas_write(spot_ctx *c, const char *path, double width, double height, double scale, spot_canvas_draw *draw,
                              const void *user)
{
    const char *end = strrchr(path, '.');
    spot_text b = { 0 };
    cairo_surface_t *surface;
    cairo_t *cr;
    spot_status s;

    if (end && !strcmp(end, ".svg")) {
        s = write_out(c, draw_svg(&b, width, height, draw, user), &b, path);
        spot_text_free(&b);
        return s;
    }
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * scale), (int)(height * scale));
    cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    draw(cr, user);
    s = spot_canvas_save(c, cr, path);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return s;
}
