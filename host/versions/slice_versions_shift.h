/* slice_versions_shift.h - how far each slice's log odds moved between two versions, beside how far slices move. */
#ifndef SPOTTER_SLICE_VERSIONS_SHIFT_H
#define SPOTTER_SLICE_VERSIONS_SHIFT_H

#include "versions/slice_versions_spread.h"

/* fall[i], rise[i] of each slice's question i = 0 ... slices - 1: one-sided p that its rows' log odds moved down (up) no
 * further than slices do that are not `changed`; 0 where that is not known. Fills *shift and the questions' counts->shift. */
spot_status spot_shift_measure(spot_ctx *c, spot_questions *q, const bool *changed, spot_version_shift *shift, double *fall,
                               double *rise);

#endif
