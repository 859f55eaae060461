/* figures_shifts.h - the figures of paper 004 with a run's numbers, as plots in memory. */
#ifndef SPOTTER_FIGURES_SHIFTS_H
#define SPOTTER_FIGURES_SHIFTS_H

#include "report/figure/plot.h"
#include "report/grid/votes.h"
#include "spotter/shifts.h"

const spot_shift_result *spot_shift_unit_result(const spot_shifts_results *r, int source, int shift);  /* shift -1: base */
const char *spot_shift_source_name(const spot_shifts_results *r, int source);      /* "all pictures" where there are none */

/* Close *p also after a failure; title and caption are filled. shift (n): indices of the shifts, a panel each. fits: Figure 10.
 * similarities: Figure 17 a. */
void spot_plot_fits        (spot_plot *p, const spot_shifts_results *r, const int *shift, int n);
void spot_plot_similarities(spot_plot *p, const spot_shifts_results *r, const int *shift, int n);

/* Figure 11, a panel a source, or of one source (-1: all); 17 b; 6. */
void spot_plot_slopes   (spot_plot *p, const spot_shifts_results *r, int source);
void spot_plot_passes   (spot_plot *p, const spot_shifts_results *r);
void spot_plot_selection(spot_plot *p, const spot_shifts_results *r, const spot_votes *v);

#endif
