/* canvas.h - drawing helpers on cairo: text, colours of confidence, markers, hulls. Pixels, y down. */
#ifndef SPOTTER_CANVAS_H
#define SPOTTER_CANVAS_H

#include <cairo.h>
#include <stdint.h>

#include "spotter/ctx.h"

#define SPOT_TURN 6.283185307179586   /* a full circle */

typedef struct { double x, y; } spot_dot;

/* Draws left-aligned text with its baseline at (x, y); returns its width. */
double spot_canvas_text(cairo_t *cr, double x, double y, double size, int bold, const char *text);

double spot_canvas_text_width(cairo_t *cr, double size, int bold, const char *text);

/* Sets the colour of a confidence: vermilion at 0, grey at 0.5, blue at 1. Legible to the colour-blind. */
void spot_canvas_confidence(cairo_t *cr, double confidence, double alpha);

/* Colour number i of eight that the colour-blind can distinguish (Okabe and Ito's, the yellow darkened). */
void spot_canvas_colour(cairo_t *cr, int i, double alpha);

/* A value from 0 to 1 as a colour that gets lighter with it: dark blue, green, yellow. The colour-blind can order it. */
void spot_canvas_ramp(uint8_t rgb[3], double t);

/* shape: adds the path of marker number m (ring, triangle, square, diamond, ...). marker: strokes it in the current colour. */
void spot_canvas_shape(cairo_t *cr, spot_dot at, double radius, int m);
void spot_canvas_marker(cairo_t *cr, spot_dot at, double radius, int m);

/* Convex hull of n dots, counter-clockwise on the screen, in place; returns its length. Sorts the dots. scratch (2 n). */
int spot_canvas_hull(spot_dot *dot, int n, spot_dot *scratch);

/* Strokes the hull with its corners pushed away from its middle by `margin`; of one or two dots a circle in their middle. */
void spot_canvas_outline(cairo_t *cr, const spot_dot *hull, int n, double margin);

/* Saves cr's drawing as a PNG file, whole or not at all. Reports a failure of earlier drawing calls, too. */
spot_status spot_canvas_save(spot_ctx *c, cairo_t *cr, const char *path);

/* Draws on width x height units and writes SVG if the path ends in .svg, else PNG with `scale` pixels a unit. */
typedef void spot_canvas_draw(cairo_t *cr, const void *user);
spot_status spot_canvas_write(spot_ctx *c, const char *path, double width, double height, double scale, spot_canvas_draw *draw,
                              const void *user);

/* Draws as SVG in memory: *bytes is malloc'd. */
spot_status spot_canvas_svg(spot_ctx *c, char **bytes, size_t *n, double width, double height, spot_canvas_draw *draw,
                            const void *user);

#endif
