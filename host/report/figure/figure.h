/* figure.h - a figure of the paper being made: what is drawn, and the words and numbers that go with it. */
#ifndef SPOTTER_FIGURE_H
#define SPOTTER_FIGURE_H

#include "report/figure/chart.h"
#include "report/figure/figures.h"
#include "report/table/paper.h"

typedef struct {
    spot_ctx *c;
    const spot_figures_options *o;
    const spot_results *r;
    int method[SPOT_MAX_SERIES], methods;      /* that are drawn */
    int styled[SPOT_MAX_SERIES], styles;       /* those of Figures 3 and 4: the same method looks the same everywhere */
    spot_chart chart;
    int number;                                /* of the figure */
    spot_figure_taker *take;                   /* who gets the charts; NULL: files */
    void *taker;
} spot_figure;

/* figures.c: f->chart of figure 2, 3 or 4 from the run and the options; no method in a Figure 2 without two to compare. */
spot_status spot_figure_compose(spot_figure *f, int number);

/* figure_words.c: the chart's caption; the panels' values as rows of CSV. */
spot_status spot_figure_caption(spot_figure *f);
spot_status spot_figure_print(const spot_figure *f);

#endif
