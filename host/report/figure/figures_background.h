/* figures_background.h - the figures of paper 003 with the numbers of runs, as plots in memory. */
#ifndef SPOTTER_FIGURES_BACKGROUND_H
#define SPOTTER_FIGURES_BACKGROUND_H

#include "report/figure/plot.h"
#include "spotter/background.h"

enum { SPOT_TWINS = 4 };       /* models of Figure 8 */

/* Close *p also after a failure; title and caption are filled. */

/* Figure 9: keywords of a target by level of the ontology. has_levels: whether the suite has any. */
bool spot_background_has_levels(const spot_background_suite *s);
void spot_plot_levels(spot_plot *p, const spot_background_results *r);

/* Figure 11: distances between originals and blends, a curve for each run. */
void spot_plot_distances(spot_plot *p, const spot_background_results *const *r, const char *const *dir, int runs);

/* The runs of Figures 10 (window of the interpolation), 12 (seeds), 13 (part of the targets) and 15 (levels and window),
 * `across` in a row; runs 0 or 1: there is no such figure. The first `named` runs were named by the user; alone they make
 * one figure. With variants behind them each figure has those that differ from the first run in its settings alone. */
enum { SPOT_RUN_FIGURES = 4, SPOT_FIGURE_RUNS = 32 };
extern const int spot_run_figure[SPOT_RUN_FIGURES];
typedef struct { int runs, across, run[SPOT_FIGURE_RUNS]; } spot_figure_runs;
void spot_figure_runs_of(spot_figure_runs *g, const spot_background_results *const *r, int runs, int named, int number);

/* Whether run b has another choice of backgrounds than run a and is like it in everything else. */
bool spot_differs_in_choice(const spot_background_config *a, const spot_background_config *b);

/* The matrix of a model in a run, whose arrays the plot borrows. about: below the matrix. */
typedef struct {
    const spot_background_results *r;
    const spot_background_responses *a;
    int  unit;
    char about[96];
} spot_matrix_panel;

/* The matrices of confidence of n panels on one scale, `across` in a row; number: of the figure. */
void spot_plot_matrices(spot_plot *p, const spot_matrix_panel *panel, int n, int across, int number);

/* Figure 8: models of about equal accuracy on the original, accuracy on the suite and worst-case accuracy (each within two
 * percentage points) whose matrices differ most. unit (SPOT_TWINS); returns how many, 0 where no two models are so alike.
 * a (units): responses. */
int spot_find_twins(int *unit, const spot_background_results *r, const spot_background_responses *a);

#endif
