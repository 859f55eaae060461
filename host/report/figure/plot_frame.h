/* plot_frame.h - a panel while it is drawn: where it is, its axes, its marks. */
#ifndef SPOTTER_PLOT_FRAME_H
#define SPOTTER_PLOT_FRAME_H

#include "report/figure/plot.h"

#define SPOT_PLOT_TEXT 13.0
#define SPOT_PLOT_SMALL 11.5

typedef struct { double x, y, w, h; } spot_plot_box;

typedef struct { cairo_t *cr; const spot_plot *plot; const spot_plot_panel *p; spot_plot_box at; } spot_plot_frame;

/* plot_axes.c: the place of a value; grid, names and rows. */
double spot_plot_x(const spot_plot_frame *f, double v);
double spot_plot_y(const spot_plot_frame *f, double v);
void   spot_plot_axes(const spot_plot_frame *f);

/* The text, or as much of it as the room has, and "…". */
const char *spot_plot_fitted(cairo_t *cr, char out[160], const char *text, double size, int bold, double room);

/* plot_marks.c: marks and labels of the panel; a point alone, for the legend; the colour of a style. */
void spot_plot_marks(const spot_plot_frame *f);
void spot_plot_point(cairo_t *cr, spot_dot at, int style, bool hollow);
void spot_plot_style(cairo_t *cr, int style, double alpha);

/* plot_cells.c: values as colours; the colours from 0 to the greatest value, for the legend. */
void spot_plot_cells(const spot_plot_frame *f, const spot_plot_mark *m);
void spot_plot_ramp (cairo_t *cr, double x, double y, double width, double height);

#endif
