/* grid_draw.c - a grid of 48 numbered pictures as a PNG. */
#include <cairo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/canvas.h"
#include "formats/picture.h"
#include "report/grid/votes.h"

enum { CELL = 132, SIDE = 120, NUMBER = 20, TOP = 74, EDGE = 20 };

/* Draws the picture into its square, whole and in its shape. */
static void draw_picture(cairo_t *cr, const spot_picture *p, double x, double y)
{
    const int stride = cairo_format_stride_for_width(CAIRO_FORMAT_RGB24, p->width);
    const double scale = (double)SIDE / (p->width > p->height ? p->width : p->height);
    uint32_t *pixels = malloc((size_t)stride * (size_t)p->height);
    cairo_surface_t *surface;

    if (!pixels) return;
    for (int j = 0; j < p->height; j++)
        for (int i = 0; i < p->width; i++) {
            const uint8_t *rgb = p->rgb + ((size_t)j * (size_t)p->width + (size_t)i) * 3;
            pixels[(size_t)j * (size_t)stride / 4 + (size_t)i] = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
        }
    surface = cairo_image_surface_create_for_data((unsigned char *)pixels, CAIRO_FORMAT_RGB24, p->width, p->height, stride);
    cairo_save(cr);
    cairo_translate(cr, x + (SIDE - scale * p->width) / 2, y + (SIDE - scale * p->height) / 2);
    cairo_scale(cr, scale, scale);
    cairo_set_source_surface(cr, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_BEST);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_rectangle(cr, x + (SIDE - scale * p->width) / 2, y + (SIDE - scale * p->height) / 2, scale * p->width,
                    scale * p->height);
    cairo_set_source_rgb(cr, 0.6, 0.6, 0.6);           /* white pictures have an end, too */
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
    cairo_surface_destroy(surface);
    free(pixels);
}

static void draw_head(cairo_t *cr, const spot_grid_picture *p, double width)
{
    char text[320];

    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_set_source_rgb(cr, 0, 0, 0);
    if (p->task == SPOT_TASK_SHIFT) snprintf(text, sizeof text, "Which pictures show: “%s”?", p->label);
    else snprintf(text, sizeof text, "Which pictures show: %s?", p->label);
    spot_canvas_text(cr, EDGE, 36, 22, 1, text);
    cairo_set_source_rgb(cr, 0.35, 0.35, 0.35);
    spot_canvas_text(cr, EDGE, 60, 13, 0, "Mark the numbers of all such pictures; there may be many, few or none.");
    spot_canvas_text(cr, width - EDGE - spot_canvas_text_width(cr, 13, 0, p->name), 36, 13, 0, p->name);
}

static spot_status draw_one(spot_ctx *c, cairo_t *cr, spot_picture *in, const char *path, int place)
{
    const double x = EDGE + (place - 1) % SPOT_GRID_ACROSS * CELL;
    const double y = TOP + (place - 1) / SPOT_GRID_ACROSS * (CELL + NUMBER);
    char number[16];

    SPOT_TRY(spot_picture_read(c, in, path));
    draw_picture(cr, in, x, y);
    snprintf(number, sizeof number, "%d", place);
    cairo_set_source_rgb(cr, 0, 0, 0);
    spot_canvas_text(cr, x + (SIDE - spot_canvas_text_width(cr, 15, 1, number)) / 2, y + SIDE + 18, 15, 1, number);
    return SPOT_OK;
}

spot_status spot_grid_draw(spot_ctx *c, const char *path, const spot_shifts_config *cfg, const spot_grid_picture *picture,
                           const int *unit, int n)
{
    const int lines = (SPOT_GRID + SPOT_GRID_ACROSS - 1) / SPOT_GRID_ACROSS;
    const int width = 2 * EDGE + SPOT_GRID_ACROSS * CELL - (CELL - SIDE), height = TOP + lines * (CELL + NUMBER) + EDGE;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(surface);
    spot_picture in = { .reading = cfg->data.reading };
    spot_status s = SPOT_OK;
    char file[1300];

    draw_head(cr, &picture[0], width);
    for (int i = 0; i < n && s == SPOT_OK; i++)
        s = draw_one(c, cr, &in, spot_shift_picture_file(file, sizeof file, cfg, unit[i], picture[i].path), picture[i].place);
    if (s == SPOT_OK) s = spot_canvas_save(c, cr, path);
    spot_picture_close(&in);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return s;
}
