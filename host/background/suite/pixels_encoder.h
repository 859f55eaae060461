/* pixels_encoder.h - the encoder "pixels", which needs no weights: colours on a coarse grid and directions of edges.
 *
 *   colours  means of 8 x 8 cells, three channels, as numbers from -1/2 to 1/2 around middle grey:          192 numbers
 *   edges    for each of 4 x 4 cells the gradient's strength (central differences of the luma) in 8 directions of 180 degrees,
 * its
 *            share of all strength in the cell less 1/8:                                                   128 numbers
 *
 * Both parts count as much: each has length 1 (or is 0: a middle grey, a picture without edges), and a constant of 1/10 is
 * beside them, so that no row is 0. Both are centred on fixed values, so the cosine of two rows lies around 0 for unlike
 * pictures and does not depend on the other pictures of a study. It compares looks, not meanings: an encoder with weights knows
 * more. */
#ifndef SPOTTER_PIXELS_ENCODER_H
#define SPOTTER_PIXELS_ENCODER_H

#include <stdint.h>

enum { SPOT_PIXELS_DIM = 8 * 8 * 3 + 4 * 4 * 8 + 1 };

/* row (SPOT_PIXELS_DIM), of length 1, from rgb (size, size, 3); size is 16 or more. */
void spot_pixels_encode(float *row, const uint8_t *rgb, int size);

#endif
