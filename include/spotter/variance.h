/* variance.h - a variance matrix as 16 numbers, from which a forest tells whether a model depends on the background
 * (the background paper's section 4.3.3; kernels/map/rbf.h makes the matrices). */
#ifndef SPOTTER_VARIANCE_H
#define SPOTTER_VARIANCE_H

#include "spotter/ctx.h"
#include "spotter/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Distances grow with the row a and the column b; g cells a side; std divides by the number of values.
 *
 *   error          share of the cells whose value is above SPOT_VARIANCE_ERROR
 *   discontinuity  the sum of (w / g) std over the lines of cells parallel to the main diagonal, that and the ones below it, w
 *                  the cells of a line, without the corner of one cell; divided by m = (sum of all cells) / (g^2 - g)
 *   asymmetry      the mean of |M[a][b] - M[g-1-b][g-1-a]| over a + b < g - 1, divided by m. It compares near distances with
 *                  far ones; a variance matrix equals its transpose
 *   gradients      first differences among the cells from the diagonal on, b <= a, each away from the diagonal: vertical
 *                  M[a+1][b] - M[a][b], horizontal M[a][b-1] - M[a][b], diagonal M[a+1][b-1] - M[a][b]. wstd is the mean std
 *                  of the differences of a row (vertical) or of a column (horizontal), of those with two at least
 *   gradient       the mean of three scores: mean / wstd, vertical and horizontal, and mean / std, diagonal
 *   sensitivity    the sum of |M - M'|, M' from a random 90 % of the targets
 *
 * Cells without a value (NaN) are left out of each mean, std, share and sum, and so is a difference or pair that has one; a
 * line's w counts the others, and m is the mean value times g / (g - 1). A quotient is 0 where what it is divided by is 0.
 *
 * The paper's code takes its diagonal statistics from the vertical differences; here they are from the diagonal ones. */
typedef enum {
    SPOT_VARIANCE_MEAN, SPOT_VARIANCE_SQUARE, SPOT_VARIANCE_STD, SPOT_VARIANCE_ERRORS, SPOT_VARIANCE_DISCONTINUITY,
    SPOT_VARIANCE_ASYMMETRY,
    SPOT_VARIANCE_VERTICAL_MEAN, SPOT_VARIANCE_VERTICAL_STD, SPOT_VARIANCE_VERTICAL_WSTD,
    SPOT_VARIANCE_HORIZONTAL_MEAN, SPOT_VARIANCE_HORIZONTAL_STD, SPOT_VARIANCE_HORIZONTAL_WSTD,
    SPOT_VARIANCE_DIAGONAL_MEAN, SPOT_VARIANCE_DIAGONAL_STD,
    SPOT_VARIANCE_GRADIENT, SPOT_VARIANCE_SENSITIVITY,
    SPOT_VARIANCE_FEATURES
} spot_variance_feature;

#define SPOT_VARIANCE_ERROR 0.15

extern const char *const spot_variance_names[SPOT_VARIANCE_FEATURES];      /* "mean", "vertical std", ... */

/* feature (SPOT_VARIANCE_FEATURES), out; value, part (grid, grid): M and M'. SPOT_INVALID where grid is below 2, where M has
 * no value at all, and where a value is infinite. */
spot_status spot_variance_features(spot_ctx *c, double *feature, const float *value, const float *part, int grid);

/* The targets of M': kept (targets) gets 1 for a random 90 %, rounded to the nearest, and 0 for the others; returns how many
 * are kept. SPOT_RNG_VARIANCE at `seed`. A left-out target's distances are set to NaN. */
int spot_variance_part(unsigned char *kept, int targets, spot_seed seed);

#ifdef __cplusplus
}
#endif
#endif
