/* outer.h - sums of outer products of rows in fp64, a tile of 64 x 64 columns at a time, for CPU kernels that lay out the rows
 * themselves. Every sum is one fmaf chain in the order of the rows, so its bits are those of a plain loop. */
#ifndef SPOTTER_OUTER_H
#define SPOTTER_OUTER_H

#include <math.h>
#include <string.h>

#include "core/lanes.h"

enum { SPOT_OUTER_TILE = 64, SPOT_OUTER_DEPTH = 128 };      /* a slab of 128 rows is 64 kB */

/* sum[j][k] += a[i down + j across] b[i][k] for all i in order. 8 x 16 sums at a time are in registers; the pragma makes gcc
 * use vectors over k, not over j. */
static inline void spot_outer_strided(double sum[SPOT_OUTER_TILE][SPOT_OUTER_TILE], const double *a, int down, int across,
                                      double b[SPOT_OUTER_DEPTH][SPOT_OUTER_TILE], int rows)
{
    enum { ROWS = 8, COLS = 16 };

    for (int j0 = 0; j0 < SPOT_OUTER_TILE; j0 += ROWS)
        for (int k0 = 0; k0 < SPOT_OUTER_TILE; k0 += COLS) {
            double s[ROWS][COLS];
            for (int j = 0; j < ROWS; j++) memcpy(s[j], &sum[j0 + j][k0], sizeof s[j]);
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < ROWS; j++) {
                    double left = a[i * down + (j0 + j) * across];
#pragma omp simd
                    for (int k = 0; k < COLS; k++) s[j][k] = fma(left, b[i][k0 + k], s[j][k]);
                }
            for (int j = 0; j < ROWS; j++) memcpy(&sum[j0 + j][k0], s[j], sizeof s[j]);
        }
}

/* sum[j][k] += a[i][j] b[i][k] for all i in order. */
static inline void spot_outer_add(double sum[SPOT_OUTER_TILE][SPOT_OUTER_TILE], double a[SPOT_OUTER_DEPTH][SPOT_OUTER_TILE],
                                  double b[SPOT_OUTER_DEPTH][SPOT_OUTER_TILE], int rows)
{
    spot_outer_strided(sum, a[0], SPOT_OUTER_TILE, 1, b, rows);
}

#endif
