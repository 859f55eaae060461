/* products64.h - sums of outer products by 64 x 64 tiles, in fp64: sum[j][k] += a[i][j] b[i][k] for all i in order, one fma
 * chain each, so that bits depend neither on the cut nor on the vector's width. For the CPU's kernels only. Include
 * lanes.h first. */
#ifndef SPOTTER_KERNELS_PRODUCTS64_H
#define SPOTTER_KERNELS_PRODUCTS64_H

#include <math.h>
#include <string.h>

enum { SIDE64 = 64, SLAB64 = 128 };      /* a slab is 64 kB; a register tile 8 x 16 */

/* The 8 x 16 sums live in registers, for which gcc must be told to make vectors of the k and not of the j. */
static inline void spot_add_products(double sum[SIDE64][SIDE64], double a[SLAB64][SIDE64], double b[SLAB64][SIDE64], int rows)
{
    enum { ROWS = 8, COLS = 16 };

    for (int j0 = 0; j0 < SIDE64; j0 += ROWS)
        for (int k0 = 0; k0 < SIDE64; k0 += COLS) {
            double s[ROWS][COLS];
            for (int j = 0; j < ROWS; j++) memcpy(s[j], &sum[j0 + j][k0], sizeof s[j]);
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < ROWS; j++) {
                    double left = a[i][j0 + j];
#pragma omp simd
                    for (int k = 0; k < COLS; k++) s[j][k] = fma(left, b[i][k0 + k], s[j][k]);
                }
            for (int j = 0; j < ROWS; j++) memcpy(&sum[j0 + j][k0], s[j], sizeof s[j]);
        }
}

#endif
