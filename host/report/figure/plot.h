/* plot.h - a page of panels with two numeric axes, or with rows that have names: points with intervals, curves, bars.
 *
 *     spot_plot plot = { .title = ..., .across = 3 };
 *     spot_plot_panel *p = spot_plot_add_panel(&plot, ...);      then marks of that panel, until the next one
 *     status = spot_plot_write(c, path, &plot); spot_plot_close(&plot);
 *
 * Memory that is missing shows in plot.status, which writing reports. */
#ifndef SPOTTER_PLOT_H
#define SPOTTER_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/canvas.h"
#include "result/result.h"

/* GREY: in place of a style, a dark grey for what is compared with. */
enum { SPOT_PLOT_GREY = -1, SPOT_PLOT_NAME = 96 };

typedef enum { SPOT_MARK_POINT, SPOT_MARK_CURVE, SPOT_MARK_AREA, SPOT_MARK_BAR, SPOT_MARK_CELLS } spot_mark_kind;

/* low, high: ends of intervals; NaN: none. label: drawn beside a point. series: for the CSV. */
typedef struct {
    spot_mark_kind kind;
    int    style;                          /* colour and marker: canvas.h */
    bool   dashed, hollow, faint;
    double x, y, xlow, xhigh, ylow, yhigh; /* of a panel with rows y counts rows from the top, from 0 */
    int    from, n;                        /* of a curve or an area: plot.dot */
    /* of cells, borrowed: (grid, grid) over the axes, row y upwards; 0: no points there */
    const float *cell, *weight;
    int    grid;
    double most;                           /* the value of the last colour; the first has 0 */
    char   label[SPOT_PLOT_NAME], series[SPOT_PLOT_NAME];
} spot_plot_mark;

typedef struct {
    char   title[160], x[96], y[96], empty[96];    /* empty: text where the panel has no marks */
    double xlow, xhigh, ylow, yhigh;               /* the axes; rows: y from -0.5 to rows - 0.5 */
    spot_quantity_unit xunit, yunit;               /* SPOT_UNIT_SHARE: the ticks are per cent */
    int    axes;                                   /* spot_shift_axes of both axes */
    int    rows, first_row;                        /* rows > 0: names in plot.row */
    int    first, marks;
    bool   diagonal;                               /* y = x */
} spot_plot_panel;

typedef enum { SPOT_PLOT_PLAIN, SPOT_PLOT_DASHED, SPOT_PLOT_HOLLOW } spot_plot_look;
typedef struct { char name[SPOT_PLOT_NAME]; spot_mark_kind kind; int style; spot_plot_look look; } spot_plot_entry;

typedef struct {
    char   title[160], caption[8000];
    int    across;                                 /* panels in a row */
    double width, height;                          /* of a panel's plot; height of one row where it has rows */
    double names;                                  /* width of the rows' names; 0: measured */
    spot_plot_panel *panel;
    spot_plot_mark  *mark;
    spot_dot        *dot;
    spot_plot_entry *entry;                        /* the legend */
    char           (*row)[SPOT_PLOT_NAME];
    int    panels, marks, dots, entries, rows;
    spot_plot_panel no_panel;                      /* written after a failure, and never drawn */
    spot_plot_mark  no_mark;
    spot_status status;
} spot_plot;

/* Zeroes a plot and sets panels across, the size and the title. */
void spot_plot_open(spot_plot *p, int across, double width, double height, const char *title);

/* The number of an axis that no result describes. */
#define SPOT_AXIS(words) (&(const spot_quantity){ .title = words })

/* A pointer is valid until the next panel or mark. They return a scratch where memory is missing, never NULL. x, y: the numbers
 * of the axes, which give the words and the unit; y NULL: rows. */
spot_plot_panel *spot_plot_add_panel(spot_plot *p, const char *title, const spot_quantity *x, const spot_quantity *y);
spot_plot_mark  *spot_plot_add_mark (spot_plot *p, spot_mark_kind kind, int style, const char *series);
void spot_plot_add_dot  (spot_plot *p, double x, double y);                /* to the last mark, a curve or an area */
void spot_plot_add_row  (spot_plot *p, const char *name);                  /* to the last panel */
void spot_plot_add_entry(spot_plot *p, const char *name, spot_mark_kind kind, int style, spot_plot_look look);
void spot_plot_close    (spot_plot *p);

/* Puts the mark at the values of two numbers of a row, with their intervals. */
void spot_plot_at(spot_plot_mark *m, const spot_quantity *x, const spot_quantity *y, const void *row);

/* Writes a PNG or SVG, chosen by the end of the path; draws an SVG in memory (*bytes is malloc'd). */
spot_status spot_plot_write(spot_ctx *c, const char *path, const spot_plot *p);
spot_status spot_plot_svg  (spot_ctx *c, char **bytes, size_t *n, const spot_plot *p);

/* Rows of CSV after `begin`: panel, series, label, x, its interval, y, its interval. A cell has its value as label. */
void spot_plot_csv(FILE *f, const spot_plot *p, const char *begin);

#endif
