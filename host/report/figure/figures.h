/* figures.h - the paper's figures, for those who do not want files. */
#ifndef SPOTTER_FIGURES_H
#define SPOTTER_FIGURES_H

#include "report/figure/chart.h"

typedef spot_status spot_figure_taker(spot_ctx *c, void *user, int number, const spot_chart *chart);

/* Figures 2 to 4, each to `take`; SPOT_USAGE where the run has too many methods to draw. */
spot_status spot_figures_take(spot_ctx *c, const spot_results *r, spot_figure_taker *take, void *user);

#endif
