/* figures.h - the paper's figures in memory. */
#ifndef SPOTTER_FIGURES_H
#define SPOTTER_FIGURES_H

#include "report/figure/chart.h"

typedef spot_status spot_figure_taker(spot_ctx *c, void *user, int number, const spot_chart *chart);

/* Composes Figures 2 to 4 and calls `take` for each. SPOT_USAGE if the run has too many methods to draw. */
spot_status spot_figures_take(spot_ctx *c, const spot_results *r, spot_figure_taker *take, void *user);

#endif
