/* rbf_cpu.h - the steps of a problem's variance matrices on the CPU, in their order. Only columns from the diagonal on are
 * computed. A thread owns rows, and every sum is in the order of the targets, so no bits depend on threads. */
#ifndef SPOTTER_RBF_CPU_H
#define SPOTTER_RBF_CPU_H

#include "map/rbf_scratch.h"

/* rbf_bins.c: points in cells; the binned method's sums, its values, and the squares that bound the exact method's search. */
void spot_rbf_fill_bins(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p);
void spot_rbf_bin_sums(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p);

/* rbf_gather.c: the exact method's sums and counts. */
void spot_rbf_gather(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p);

/* rbf_nearest.c: u, and the values of all cells. */
void spot_rbf_fill_values(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p);

#endif
