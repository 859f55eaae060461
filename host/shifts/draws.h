/* draws.h - the bootstrap draws of all shifts, and the intervals and differences that they give. */
#ifndef SPOTTER_DRAWS_H
#define SPOTTER_DRAWS_H

#include "spotter/shifts.h"

/* impact, slope: (shifts, n); NaN where a draw has no value. */
typedef struct { int n; double *impact, *slope; } spot_shift_draws;

/* Fills the intervals of e->shift, and e->category, e->between and e->across. */
spot_status spot_shift_compare(spot_ctx *c, spot_shift_estimates *e, const spot_shift_table *t, const spot_shift_draws *d);

#endif
