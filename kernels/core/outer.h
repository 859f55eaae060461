/* outer.h - sums of outer products of centred rows in fp64, a tile of 64 x 96 columns at a time, for CPU kernels. Every sum is
 * one fma chain in the order of the rows, so its bits are those of a plain loop.
 *
 * A side of a tile is a slab of 128 rows, in panels of a few columns that a register tile reads one after the other. Rows of
 * 64 columns lie 512 bytes apart and would share an eighth of the L1 cache; so would panels without the gap behind each. */
#ifndef SPOTTER_OUTER_H
#define SPOTTER_OUTER_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/lanes.h"
#include "core/vmath64.h"

enum { SPOT_OUTER_HIGH = 64, SPOT_OUTER_WIDE = 96, SPOT_OUTER_DEPTH = 128 };

/* Columns of a panel on the left and on the right, as many sums as registers hold; numbers between panels, at most 16. */
enum { SPOT_OUTER_VECTORS = 3, SPOT_OUTER_A = LANES == 8 ? 8 : 4, SPOT_OUTER_B = SPOT_OUTER_VECTORS * LANES,
       SPOT_OUTER_GAP = 16, SPOT_OUTER_GAPS = SPOT_OUTER_GAP * 16 };

/* The panels of a tile's 64 columns on the left, and of its 96 on the right. */
typedef struct {
    _Alignas(64) double a[SPOT_OUTER_HIGH * SPOT_OUTER_DEPTH + SPOT_OUTER_GAPS];
    _Alignas(64) double b[SPOT_OUTER_WIDE * SPOT_OUTER_DEPTH + SPOT_OUTER_GAPS];
} spot_outer_slabs;

/* Column j of row i of a slab, whose panels have `panel` columns. */
static inline double *spot_outer_at(double *slab, int i, int j, int panel)
{
    return slab + j / panel * (panel * SPOT_OUTER_DEPTH + SPOT_OUTER_GAP) + i * panel + j % panel;
}

/* A register tile: sum[j][k] += a[i,j] b[i,k] for all i in order. */
VD_INLINE void spot_outer_block(double (*sum)[SPOT_OUTER_WIDE], int k0, const double *a, const double *b, int rows)
{
    vd s[SPOT_OUTER_A][SPOT_OUTER_VECTORS];

    for (int j = 0; j < SPOT_OUTER_A; j++)
        for (int v = 0; v < SPOT_OUTER_VECTORS; v++) s[j][v] = *(const vd_any *)(sum[j] + k0 + v * LANES);
    for (int i = 0; i < rows; i++, a += SPOT_OUTER_A, b += SPOT_OUTER_B) {
        vd x[SPOT_OUTER_VECTORS];
        for (int v = 0; v < SPOT_OUTER_VECTORS; v++) x[v] = vd_kept(*(const vd *)(b + v * LANES));
        for (int j = 0; j < SPOT_OUTER_A; j++)
            for (int v = 0; v < SPOT_OUTER_VECTORS; v++) s[j][v] = vd_fma(vd_all(a[j]), x[v], s[j][v]);
    }
    for (int j = 0; j < SPOT_OUTER_A; j++)
        for (int v = 0; v < SPOT_OUTER_VECTORS; v++) *(vd_any *)(sum[j] + k0 + v * LANES) = s[j][v];
}

/* sum[j][k] += a[i,j] b[i,k] for all i in order: columns j0 .. j1-1 of the left, and the right's panel from column k on. */
static inline void spot_outer_strip(double (*sum)[SPOT_OUTER_WIDE], spot_outer_slabs *s, int j0, int j1, int k, int rows)
{
    for (int j = j0 / SPOT_OUTER_A * SPOT_OUTER_A; j < j1; j += SPOT_OUTER_A)
        spot_outer_block(sum + j, k, spot_outer_at(s->a, 0, j, SPOT_OUTER_A), spot_outer_at(s->b, 0, k, SPOT_OUTER_B), rows);
}

/* Rows of a matrix x of d columns, less their centre. */
typedef struct {
    int d, rows;
    const float  *x;
    const double *centre;      /* (d) */
    const int    *row;         /* (rows): their numbers in x; NULL: the first rows of x */
    const double *weight;      /* (rows); NULL: 1 each */
    bool          lower;       /* the sums on and below the diagonal are wanted, else those on and above it */
} spot_outer_rows;

/* Columns j0 .. of rows i0 .. into panels of `panel` columns, times their weights; the last panel's columns past d are 0.
 * Returns the number of columns. */
VD_INLINE int spot_outer_load(double *slab, const spot_outer_rows *s, int i0, int rows, int j0, int most, int panel)
{
    int cols = s->d - j0 < most ? s->d - j0 : most, whole = cols / panel * panel;
    const double *centre = s->centre + j0;

    for (int i = 0; i < rows; i++) {
        const float *x = s->x + (size_t)(s->row ? s->row[i0 + i] : i0 + i) * s->d + j0;
        double weight = s->weight ? s->weight[i0 + i] : 1;
        for (int p = 0; p < whole; p += panel)
            for (int j = p; j < p + panel; j += LANES) {
                vd off = vd_wide(x + j) - *(const vd_any *)(centre + j);
                *(vd *)(spot_outer_at(slab, i, p, panel) + j - p) = vd_all(weight) * off;
            }
        for (int j = whole; j < whole + panel && whole < cols; j++)
            *spot_outer_at(slab, i, j, panel) = j < cols ? weight * (x[j] - centre[j]) : 0;
    }
    return cols;
}

/* sum[j][k] += weight (x[j0+j] - centre[j0+j]) (x[k0+k] - centre[k0+k]) for all rows in order. Sums that are not wanted have
 * any value. */
static inline void spot_outer_add(double sum[SPOT_OUTER_HIGH][SPOT_OUTER_WIDE], const spot_outer_rows *s, int j0, int k0)
{
    spot_outer_rows right = *s;
    spot_outer_slabs slabs;

    right.weight = NULL;
    for (int i0 = 0; i0 < s->rows; i0 += SPOT_OUTER_DEPTH) {
        int rows = s->rows - i0 < SPOT_OUTER_DEPTH ? s->rows - i0 : SPOT_OUTER_DEPTH;
        int high = spot_outer_load(slabs.a, s, i0, rows, j0, SPOT_OUTER_HIGH, SPOT_OUTER_A);
        int wide = spot_outer_load(slabs.b, &right, i0, rows, k0, SPOT_OUTER_WIDE, SPOT_OUTER_B);
        for (int k = 0; k < wide; k += SPOT_OUTER_B) {
            int from = k0 + k - j0, to = from + SPOT_OUTER_B;      /* the diagonal passes the panel between these rows */
            if (s->lower) spot_outer_strip(sum, &slabs, from > 0 ? from : 0, high, k, rows);
            else          spot_outer_strip(sum, &slabs, 0, to < high ? to : high, k, rows);
        }
    }
}

#endif
