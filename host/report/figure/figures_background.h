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
