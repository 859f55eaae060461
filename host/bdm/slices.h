/* slices.h - hypotheses from labels, for methods whose slices have no row in common. */
#ifndef SPOTTER_SLICES_H
#define SPOTTER_SLICES_H

#include "bdm/rank.h"
#include "spotter/bdm.h"

/* Row row[i] of a view (NULL: row i) is in slice label[i], below `slices`, or in none: -1. */
typedef struct { int n, slices; const int *row, *label; } spot_labels;

/* Writes a rank for each slice that has rows, in the order of the slices, and returns their number. which: the slice; error:
 * its mean error; score: size * (mean error)^2, as PlaneSpot has it. */
int spot_slices_rank(spot_rank *ranks, const spot_labels *l, const spot_view *v);

/* Sorts the ranks by score; the first `top` become hypotheses. space (n) holds their rows. Hypothesis k is slice
 * ranks[k].which. */
void spot_slices_collect(spot_hypotheses *out, int *space, spot_rank *ranks, int len, const spot_labels *l, int top);

/* Whether the classifier is wrong about a row: the probability of its label is below 1/2. */
bool spot_is_wrong(const spot_view *v, int i);

#endif
