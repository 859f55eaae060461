/* ec_picture.c - one EC and one method on one page: the map on the left, the first hypotheses as images on the right.
 *
 * The reader can check whether the vermilion dots (low confidence) form islands, whether the marked true blindspots lie on
 * them, and whether a numbered outline holds each island alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/canvas.h"
#include "spotter/config.h"
#include "spotter/report.h"

enum { WIDTH = 1500, HEIGHT = 930, MAP = 720, MAP_X = 30, MAP_Y = 84, LIST_X = 790, ROWS = 7, THUMBS = 8, THUMB = 78 };

typedef struct {
    spot_ctx *c;
    cairo_t *cr;
    const spot_ec_picture *of;
    spot_dot *dot;          /* (n): the rows on the page */
    spot_dot *scratch;      /* (4 n) */
} page;

/* Scales the points' bounding box into the map's square, equally on both axes. */
static void place_dots(page *p)
{
    const spot_points *s = p->of->points;
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY }, span, scale;

    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < 2; j++) {
            double v = j < s->d ? s->at[(size_t)i * s->d + j] : 0;
            if (v < low[j]) low[j] = v;
            if (v > high[j]) high[j] = v;
        }
    span = fmax(high[0] - low[0], high[1] - low[1]);
    scale = span > 0 ? (MAP - 48) / span : 0;
    for (int i = 0; i < s->n; i++) {
        double x = s->at[(size_t)i * s->d], y = s->d > 1 ? s->at[(size_t)i * s->d + 1] : 0;
        p->dot[i].x = MAP_X + MAP / 2.0 + (x - (low[0] + high[0]) / 2) * scale;
        p->dot[i].y = MAP_Y + MAP / 2.0 - (y - (low[1] + high[1]) / 2) * scale;
    }
}

static int by_x(const void *a, const void *b)
{
    double p = ((const spot_dot *)a)->x, q = ((const spot_dot *)b)->x;

    return (p > q) - (p < q);
}

/* The distance from the centre within which 95 % of the dots lie. */
static double radius_95(const spot_dot *dot, int n, spot_dot centre, spot_dot *scratch)
{
    for (int i = 0; i < n; i++) scratch[i] = (spot_dot){ hypot(dot[i].x - centre.x, dot[i].y - centre.y), 0 };
    qsort(scratch, (size_t)n, sizeof *scratch, by_x);
    return scratch[(int)(0.95 * (n - 1))].x;
}

/* The outline is the hull of the 95 % of a hypothesis's rows nearest to its centre, so that one outlier does not widen it. */
static void draw_outline(page *p, int k)
{
    const spot_hypothesis *h = &p->of->found->h[k];
    spot_dot *in = p->scratch, *rest = in + p->of->view->n, centre = { 0, 0 };
    double radius;
    char label[16];
    int n = 0;

    if (!h->len) return;
    for (int i = 0; i < h->len; i++) {
        in[i] = p->dot[h->row[i]];
        centre.x += in[i].x / h->len;
        centre.y += in[i].y / h->len;
    }
    radius = radius_95(in, h->len, centre, rest);
    for (int i = 0; i < h->len; i++)
        if (hypot(in[i].x - centre.x, in[i].y - centre.y) <= radius) in[n++] = in[i];
    n = spot_canvas_hull(in, n, rest);
    cairo_set_source_rgba(p->cr, 0.1, 0.1, 0.1, p->of->score->belongs[k] >= 0 ? 0.95 : 0.4);
    cairo_set_line_width(p->cr, p->of->score->belongs[k] >= 0 ? 2.0 : 1.0);
    spot_canvas_outline(p->cr, in, n, 7);
    snprintf(label, sizeof label, "%d", k + 1);
    for (int i = 1; i < n; i++)
        if (in[i].y < in[0].y) in[0] = in[i];
    spot_canvas_text(p->cr, in[0].x - 4, in[0].y - 10, 14, 1, label);
}

static void draw_map(page *p)
{
    int n = p->of->points->n;
    double size = n > 3000 ? 1.6 : n > 1000 ? 2.2 : 3.0;

    cairo_set_source_rgb(p->cr, 0.975, 0.975, 0.975);
    cairo_rectangle(p->cr, MAP_X, MAP_Y, MAP, MAP);
    cairo_fill(p->cr);
    for (int i = 0; i < n; i++) {
        spot_canvas_confidence(p->cr, p->of->view->confidence[i], 0.85);
        cairo_arc(p->cr, p->dot[i].x, p->dot[i].y, size, 0, SPOT_TURN);
        cairo_fill(p->cr);
    }
    cairo_set_line_width(p->cr, 0.8);
    cairo_set_source_rgba(p->cr, 0, 0, 0, 0.75);
    for (int i = 0; i < n; i++)
        for (int m = 0; m < p->of->truth->blindspots; m++)
            if (p->of->truth->mask[i] >> m & 1) spot_canvas_marker(p->cr, p->dot[i], size + 1.6, m);
    for (int k = p->of->found->len - 1; k >= 0; k--) draw_outline(p, k);
}

/* Below the map: the colour scale, and one line for each true blindspot with its marker. */
static void draw_legend(page *p)
{
    double y = MAP_Y + MAP + 24;
    char line[400], what[320];

    for (int i = 0; i < 120; i++) {
        spot_canvas_confidence(p->cr, i / 119.0, 1);
        cairo_rectangle(p->cr, MAP_X + 98 + i, y - 10, 1.5, 10);
        cairo_fill(p->cr);
    }
    cairo_set_source_rgb(p->cr, 0.2, 0.2, 0.2);
    spot_canvas_text(p->cr, MAP_X, y, 12, 0, "confidence 0");
    spot_canvas_text(p->cr, MAP_X + 224, y, 12, 0, "1    outline: 95 % of a hypothesis; thick where it belongs to a blindspot");
    for (int m = 0; m < p->of->truth->blindspots; m++) {
        spot_ec_describe(what, sizeof what, p->of->ec, m);
        snprintf(line, sizeof line, "B%d  %d image%s, recall %.2f, %s:  %s", m + 1, p->of->score->size[m],
                 p->of->score->size[m] == 1 ? "" : "s", p->of->score->br[m],
                 p->of->score->covered[m] ? "covered" : "missed", what);
        y += 19;
        cairo_set_source_rgb(p->cr, 0, 0, 0);
        cairo_set_line_width(p->cr, 1.2);
        spot_canvas_marker(p->cr, (spot_dot){ MAP_X + 6, y - 4 }, 5, m);
        spot_canvas_text(p->cr, MAP_X + 20, y, 12, 0, line);
    }
}

/* One image of the test split as a square of THUMB pixels at (x, y). */
static spot_status draw_thumb(page *p, unsigned char *rgb, cairo_surface_t *tile, int row, double x, double y)
{
    int size = p->of->ec->scene.size, stride = cairo_image_surface_get_stride(tile);
    unsigned char *to = cairo_image_surface_get_data(tile);
    spot_image image;

    SPOT_TRY(spot_image_picture(p->c, &image, rgb, p->of->ec, SPOT_TEST, (uint32_t)p->of->view->image[row]));
    cairo_surface_flush(tile);
    for (int j = 0; j < size; j++) {
        uint32_t *pixel = (uint32_t *)(void *)(to + (size_t)j * stride);
        for (int i = 0; i < size; i++) {
            const unsigned char *s = rgb + ((size_t)j * size + i) * 3;
            pixel[i] = (uint32_t)s[0] << 16 | (uint32_t)s[1] << 8 | s[2];
        }
    }
    cairo_surface_mark_dirty(tile);
    cairo_save(p->cr);
    cairo_translate(p->cr, x, y);
    cairo_scale(p->cr, (double)THUMB / size, (double)THUMB / size);
    cairo_set_source_surface(p->cr, tile, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(p->cr), CAIRO_FILTER_GOOD);
    cairo_paint(p->cr);
    cairo_restore(p->cr);
    cairo_set_source_rgb(p->cr, 0.7, 0.7, 0.7);
    cairo_set_line_width(p->cr, 1);
    cairo_rectangle(p->cr, x, y, THUMB, THUMB);
    cairo_stroke(p->cr);
    return SPOT_OK;
}

static void draw_caption(page *p, int k, double y)
{
    const spot_hypothesis *h = &p->of->found->h[k];
    char text[160];
    int m = p->of->score->belongs[k];
    const char *many = h->len == 1 ? "" : "s";
    double width;

    snprintf(text, sizeof text, "%d", k + 1);
    cairo_set_source_rgb(p->cr, 0, 0, 0);
    width = spot_canvas_text(p->cr, LIST_X, y, 15, 1, text);
    if (m >= 0)
        snprintf(text, sizeof text, "%d image%s, mean error %.2f, belongs to B%d (precision %.2f)", h->len, many,
                 h->mean_error, m + 1, p->of->score->bp[k][m]);
    else
        snprintf(text, sizeof text, "%d image%s, mean error %.2f, belongs to no blindspot", h->len, many, h->mean_error);
    spot_canvas_text(p->cr, LIST_X + width + 10, y, 13, 0, text);
}

/* Each hypothesis with some of its images, spread evenly over its rows. */
static spot_status draw_list(page *p)
{
    int size = p->of->ec->scene.size, rows = p->of->found->len < ROWS ? p->of->found->len : ROWS;
    unsigned char *rgb = malloc((size_t)size * size * 3);
    cairo_surface_t *tile = cairo_image_surface_create(CAIRO_FORMAT_RGB24, size, size);
    spot_status s = rgb ? SPOT_OK : spot_fail(p->c, SPOT_NOMEM, "no memory for a thumbnail of %d px", size);

    for (int k = 0; k < rows && !s; k++) {
        const spot_hypothesis *h = &p->of->found->h[k];
        int shown = h->len < THUMBS ? h->len : THUMBS;
        double y = MAP_Y + 14 + k * (THUMB + 34.0);
        draw_caption(p, k, y);
        for (int i = 0; i < shown && !s; i++)
            s = draw_thumb(p, rgb, tile, h->row[(long)i * h->len / shown], LIST_X + i * (THUMB + 7.0), y + 8);
    }
    cairo_set_source_rgb(p->cr, 0, 0, 0);
    if (p->of->found->len > rows) {
        char more[64];
        snprintf(more, sizeof more, "and %d more, which the map outlines", p->of->found->len - rows);
        spot_canvas_text(p->cr, LIST_X, MAP_Y + 14 + rows * (THUMB + 34.0), 13, 0, more);
    }
    if (p->of->found->len == 0) spot_canvas_text(p->cr, LIST_X, MAP_Y + 14, 14, 0, "no hypotheses");
    cairo_surface_destroy(tile);
    free(rgb);
    return s;
}

/* The font size, at most `size`, at which the line is not wider than the page. */
static double fitting_size(cairo_t *cr, double size, int bold, const char *text)
{
    double width = spot_canvas_text_width(cr, size, bold, text), most = WIDTH - 2 * MAP_X;

    return width > most ? size * most / width : size;
}

static void draw_title(page *p, const char *method)
{
    const spot_learning *lesson = p->of->lesson;
    char text[400];
    int used;

    cairo_set_source_rgb(p->cr, 0, 0, 0);
    snprintf(text, sizeof text, "EC %u   %s", p->of->ec->index, method);
    spot_canvas_text(p->cr, MAP_X, 40, fitting_size(p->cr, 22, 1, text), 1, text);
    used = snprintf(text, sizeof text, "discovery rate %.2f    false discovery rate ", p->of->score->dr);
    if (isnan(p->of->score->fdr)) used += snprintf(text + used, sizeof text - used, "none (nothing discovered)");
    else used += snprintf(text + used, sizeof text - used, "%.2f of the first %d", p->of->score->fdr, p->of->score->u);
    used += snprintf(text + used, sizeof text - used, "    model: %.1f %% right outside its blindspots, inside",
                     100 * lesson->outside);
    for (int m = 0; m < lesson->blindspots && used < 340; m++)
        used += snprintf(text + used, sizeof text - used, "%s %.1f %%", m ? "," : "", 100 * lesson->inside[m]);
    if (!lesson->learned) snprintf(text + used, sizeof text - used, "  -  NOT LEARNED, left out of averages");
    spot_canvas_text(p->cr, MAP_X, 66, fitting_size(p->cr, 14, 0, text), 0, text);
}

spot_status spot_report_ec(spot_ctx *c, const char *path, const char *method, const spot_ec_picture *of)
{
    const int n = of->view->n;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    page p = { .c = c, .cr = cairo_create(surface), .of = of };
    spot_status s = SPOT_OK;

    p.dot = malloc((size_t)(n > 0 ? n : 1) * 5 * sizeof *p.dot);
    p.scratch = p.dot ? p.dot + n : NULL;
    if (!p.dot) s = spot_fail(c, SPOT_NOMEM, "no memory for a map of %d points", n);
    if (!s) {
        cairo_set_source_rgb(p.cr, 1, 1, 1);
        cairo_paint(p.cr);
        place_dots(&p);
        draw_title(&p, method);
        draw_map(&p);
        draw_legend(&p);
        s = draw_list(&p);
    }
    if (!s) s = spot_canvas_save(c, p.cr, path);
    free(p.dot);
    cairo_destroy(p.cr);
    cairo_surface_destroy(surface);
    return s;
}
