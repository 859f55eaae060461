/* figures_files.h - plots of any study as files and as CSV. */
#ifndef SPOTTER_FIGURES_FILES_H
#define SPOTTER_FIGURES_FILES_H

#include "report/figure/plot.h"
#include "spotter/report.h"

/* begin: makes the folder OUT and prints CSV's first line, where they are wanted. end: of a study's figures, which came to
 * `how`; SPOT_IO where CSV could not be written. */
spot_status spot_figures_begin(spot_ctx *c, const spot_figures_options *o);
spot_status spot_figures_end  (spot_ctx *c, spot_status how, const spot_figures_options *o);

/* Writes the plot in the wanted formats, OUT/figure_NAME.png ..., where making it came to `how` SPOT_OK; then closes it. */
spot_status spot_figure_output(spot_ctx *c, spot_status how, spot_plot *p, const spot_figures_options *o, const char *name);

/* Whether the figure is wanted. SPOT_USAGE, with `why`, for a figure that was named and that the run cannot have. */
spot_status spot_figure_wanted(spot_ctx *c, bool *wanted, const spot_figures_options *o, int number, bool possible,
                               const char *why);

#endif
