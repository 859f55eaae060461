/* figures_examine.h - the figures of paper 002 with the numbers of runs. */
#ifndef SPOTTER_FIGURES_EXAMINE_H
#define SPOTTER_FIGURES_EXAMINE_H

#include "report/figure/plot.h"
#include "spotter/examine.h"
#include "spotter/report.h"

/* The models of a figure, indices of the config. */
typedef struct { int models, model[SPOT_MAX_EXAMINED_MODELS]; } spot_figure_models;

/* The unit of a search. */
const spot_examine_result *spot_figure_unit(const spot_examine_results *r, int model, int examiner, int seed, int object);

/* Close *p also after a failure; title and caption are filled. */

/* Figure 1: mean p of the last renders against renders asked for: of all objects, and of the one on which the first examiner
 * lowers it most. Reads the searches' files in dir. */
spot_status spot_plot_running(spot_ctx *c, spot_plot *p, const spot_examine_results *r, const char *dir,
                              const spot_figure_models *m);

/* Figure 2: p of each class on random renders, at a point in the middle and at the end. */
void spot_plot_class_bars(spot_plot *p, const spot_examine_results *r, const spot_figure_models *m);

/* Figure 6: energy distances between the last renders of two runs that differ in the order of their factors, against those of
 * two seeds of one order. SPOT_USAGE where the runs are not such a pair. */
enum { SPOT_ORDER_RENDERS = 50 };
spot_status spot_plot_order(spot_ctx *c, spot_plot *p, const spot_examine_results *const *r, const char *const *dir);

/* A point of the cube as numbers whose differences mean something: a whole turn as a circle of diameter 1. Returns how many
 * there are, at most 2 SPOT_FACTORS. By factor, so that spaces of another order agree. */
int spot_figure_features(double *out, const spot_factor_space *s, const double *at);

/* 2 E|X - Y| - E|X - X'| - E|Y - Y'| of n and m rows of d numbers. */
double spot_energy_distance(const double *x, int n, const double *y, int m, int d);

/* ---- maps by t-SNE (figures_examine_map.c) ---- */

/* A panel: renders of one search as points of a map. */
typedef struct {
    char title[160];
    const spot_examine_results *r;
    const char *dir;
    int  unit, first, last;        /* so many of the first and of the last renders */
    const char *first_name, *last_name;
    int  twin;                     /* a unit of `other`, whose last renders stand in place of the first ones; -1: none */
    const spot_examine_results *other;
    const char *other_dir;
} spot_scatter_panel;

typedef struct { char title[160], caption[1200]; int across; } spot_scatter_words;

/* Draws the maps into o's formats as figure_NAME, with renders where the 3-D models are there; right answers are
 * transparent. */
spot_status spot_scatter_output(spot_ctx *c, const spot_scatter_panel *panel, int n, const spot_scatter_words *words,
                                const spot_figures_options *o, const char *name);

#endif
