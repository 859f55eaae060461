/* outer.h - sums of outer products of centred rows in fp64, a tile of 64 x 64 columns at a time, for CPU kernels. Every sum is
 * one fmaf chain in the order of the rows, so its bits are those of a plain loop. */
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

/* Rows of a matrix x of d columns, less their centre. */
typedef struct {
    int d, rows;
    const float  *x;
    const double *centre;      /* (d) */
    const int    *row;         /* (rows): their numbers in x; NULL: the first rows of x */
    const double *weight;      /* (rows); NULL: 1 each */
} spot_outer_rows;

/* Columns j0 .. of rows i0 .., times their weights if `weighted`; columns past the last are 0. */
static inline void spot_outer_load(double slab[SPOT_OUTER_DEPTH][SPOT_OUTER_TILE], const spot_outer_rows *s, int i0, int rows,
                                   int j0, int weighted)
{
    int cols = s->d - j0 < SPOT_OUTER_TILE ? s->d - j0 : SPOT_OUTER_TILE;

    for (int i = 0; i < rows; i++) {
        const float *x = s->x + (size_t)(s->row ? s->row[i0 + i] : i0 + i) * s->d + j0;
        double weight = weighted && s->weight ? s->weight[i0 + i] : 1;
        for (int j = 0; j < cols; j++) slab[i][j] = weight * (x[j] - s->centre[j0 + j]);
        for (int j = cols; j < SPOT_OUTER_TILE; j++) slab[i][j] = 0;
    }
}

/* sum[j][k] += weight (x[j0+j] - centre[j0+j]) (x[k0+k] - centre[k0+k]) for all rows in order. */
static inline void spot_outer_add(double sum[SPOT_OUTER_TILE][SPOT_OUTER_TILE], const spot_outer_rows *s, int j0, int k0)
{
    double a[SPOT_OUTER_DEPTH][SPOT_OUTER_TILE], b[SPOT_OUTER_DEPTH][SPOT_OUTER_TILE];

    for (int i0 = 0; i0 < s->rows; i0 += SPOT_OUTER_DEPTH) {
        int rows = s->rows - i0 < SPOT_OUTER_DEPTH ? s->rows - i0 : SPOT_OUTER_DEPTH;
        spot_outer_load(a, s, i0, rows, j0, 1);
        spot_outer_load(b, s, i0, rows, k0, 0);
        spot_outer_strided(sum, a[0], SPOT_OUTER_TILE, 1, b, rows);
    }
}

#endif
