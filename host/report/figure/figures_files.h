/* figures_files.h - plots of any study as files and as CSV. */
#ifndef SPOTTER_FIGURES_FILES_H
#define SPOTTER_FIGURES_FILES_H

#include "report/figure/plot.h"
#include "spotter/report.h"

#define SPOT_FIGURE_CSV "figure,panel,series,label,x,x_low,x_high,y,y_low,y_high\n"       /* its first line */

/* Writes the plot in the wanted formats: OUT/figure_NAME.png ... */
spot_status spot_figure_output(spot_ctx *c, const spot_plot *p, const spot_figures_options *o, const char *name);

/* Whether the figure is wanted. SPOT_USAGE, with `why`, for a figure that was named and that the run cannot have. */
spot_status spot_figure_wanted(spot_ctx *c, bool *wanted, const spot_figures_options *o, int number, bool possible,
                               const char *why);

#endif
