/* figure.h - the state of a figure: its methods, chart, caption and numbers. */
#ifndef SPOTTER_FIGURE_H
#define SPOTTER_FIGURE_H

#include "report/figure/chart.h"
#include "report/figure/figures.h"
#include "report/table/paper.h"

typedef struct {
    spot_ctx *c;
    const spot_figures_options *o;
    const spot_results *r;
    int method[SPOT_MAX_SERIES], methods;      /* drawn methods */
    int styled[SPOT_MAX_SERIES], styles;       /* methods of Figures 3 and 4: a method has the same style in all figures */
    spot_chart chart;
    int number;                                /* 2, 3, 4, 6 or 7 */
    spot_figure_taker *take;                   /* gets the charts; NULL: files */
    void *taker;
} spot_figure;

/* Chooses methods and styles of a figure and fills its chart. */
spot_status spot_figure_compose(spot_figure *f, int number);

/* figure_words.c: writes the chart's caption; prints the panels' values as rows of CSV. */
spot_status spot_figure_caption(spot_figure *f);
spot_status spot_figure_print(const spot_figure *f);

#endif
