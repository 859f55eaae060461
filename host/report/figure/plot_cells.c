/* plot_cells.c - a matrix as a picture: each cell has the colour of its value. */
#include <math.h>
#include <stdlib.h>

#include "report/figure/plot_frame.h"

static uint32_t pixel_of(const uint8_t rgb[3]) { return (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2]; }

/* Cells without points have light stripes; cells without a value are white. */
static uint32_t cell_pixel(const spot_plot_mark *m, int x, int y)
{
    const size_t at = (size_t)y * (size_t)m->grid + (size_t)x;
    uint8_t rgb[3];

    if (!isfinite(m->cell[at])) return 0xffffff;
    spot_canvas_ramp(rgb, m->most > 0 ? m->cell[at] / m->most : 0);
    for (int k = 0; k < 3 && !(m->weight[at] > 0) && (x + y) % 4 == 0; k++) rgb[k] = (uint8_t)(255 - (255 - rgb[k]) / 4);
    return pixel_of(rgb);
}

/* The picture's rows go down, the matrix's up. */
void spot_plot_cells(const spot_plot_frame *f, const spot_plot_mark *m)
{
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, m->grid, m->grid);
    unsigned char *data = cairo_image_surface_get_data(image);
    const size_t stride = (size_t)cairo_image_surface_get_stride(image);

    cairo_surface_flush(image);
    for (int y = 0; y < m->grid && data; y++) {
        uint32_t *line = (uint32_t *)(void *)(data + (size_t)(m->grid - 1 - y) * stride);
        for (int x = 0; x < m->grid; x++) line[x] = cell_pixel(m, x, y);
    }
    cairo_surface_mark_dirty(image);
    cairo_save(f->cr);
    cairo_translate(f->cr, f->at.x, f->at.y);
    cairo_scale(f->cr, f->at.w / m->grid, f->at.h / m->grid);
    cairo_set_source_surface(f->cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(f->cr), CAIRO_FILTER_NEAREST);
    cairo_paint(f->cr);
    cairo_restore(f->cr);
    cairo_surface_destroy(image);
}

void spot_plot_ramp(cairo_t *cr, double x, double y, double width, double height)
{
    enum { STEPS = 64 };

    for (int i = 0; i < STEPS; i++) {
        uint8_t rgb[3];
        spot_canvas_ramp(rgb, i / (STEPS - 1.0));
        cairo_set_source_rgb(cr, rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0);
        cairo_rectangle(cr, x + width * i / STEPS, y, width / STEPS + 0.5, height);
        cairo_fill(cr);
    }
}
