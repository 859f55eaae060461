/* neutral.h - features of a picture that nothing was trained for: statistics of its colours, and its edges.
 *
 * A classifier's own last layer decides its answer, so that groups in it are cells of the confusion matrix. These numbers know
 * neither classes nor answers. A picture is a square of 64 pixels a side, RGB in [0, 1], Y = (R + G + B) / 3.
 *
 *     20    statistics: mean and standard deviation of R, G, B, Y, S = max(R, G, B) - min(R, G, B), and of |gradient of Y|; the
 *           10, 25, 50, 75 and 90 % points of Y in steps of 1/255; mean R, G, B of the border of 4 pixels
 *     128   edges: 4 x 4 cells of 16 pixels, 8 octants of the gradient of Y (differences of the two pixels beside); square
 *           roots of the mean |gradient| of the octant in the cell
 *
 * Statistics are multiplied by 1.3 and edges by 1.5, which makes their total variances alike. Shares of pixels in boxes of
 * colours and answers of random filters were tried beside them and say less (bench/studies/neutral.md). On the host on every
 * device: the same numbers for any number of threads. */
#ifndef SPOTTER_NEUTRAL_H
#define SPOTTER_NEUTRAL_H

#include <stdint.h>

#include "spotter/ctx.h"

enum { SPOT_NEUTRAL_SIDE = 64, SPOT_NEUTRAL_DIM = 20 + 128, SPOT_NEUTRAL_VERSION = 1, SPOT_NEUTRAL_BLOCK = 256 };

/* rgb (n, 64, 64, 3) bytes -> feature (n, SPOT_NEUTRAL_DIM). */
void spot_neutral_rows(const spot_ctx *c, float *feature, const uint8_t *rgb, int n);

#endif
