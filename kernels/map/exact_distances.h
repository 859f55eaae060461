/* exact_distances.h - distance.h's chain from a row to 16 rows that lie anywhere, side by side, for CPU kernels. */
#ifndef SPOTTER_EXACT_DISTANCES_H
#define SPOTTER_EXACT_DISTANCES_H

enum { SPOT_EXACT_LANES = 16 };

void spot_exact_distances(float to[SPOT_EXACT_LANES], const float *a, const float *const b[SPOT_EXACT_LANES], int d);

#endif
