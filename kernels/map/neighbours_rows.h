/* neighbours_rows.h - the rows of a search for neighbours, packed on the CPU for products of all pairs, as floats or as bytes.
 *
 * CPUs with VNNI, or with AVX2 and no AVX-512, take four products of bytes at a time. A row a, less the mean, is s q + u with
 * whole numbers q from -127 to 127, with AVX2 from -63 to 63. The products of q are exact, so that ab differs from theirs by
 * at most |u_a| |b| + (|a| + |u_a|) |u_b|, which is the same for ba. */
#ifndef SPOTTER_NEIGHBOURS_ROWS_H
#define SPOTTER_NEIGHBOURS_ROWS_H

#include <stdint.h>

#include "core/gemm.h"
#include "map/neighbours.h"

enum { SPOT_PACKED_PANEL = SPOT_GEMM_COLS };

typedef struct {
    const spot_neighbours *s;
    int      n, d, panels;
    int      wide;             /* bytes of a row, of which d are not 0; 0: floats */
    float   *mean;             /* (d) */
    float   *packed;           /* (panels, d, 32): rows less their mean, 32 side by side; 0 past the last */
    int8_t  *quads;            /* (panels, wide / 4, 32, 4): q */
    uint8_t *bytes;            /* (panels, 32, wide): q as a row of a tile, + 128, or + 64 with AVX2 */
    float   *norm;             /* (panels, 32): `shrink` x squared length; infinite past the last */
    float   *length, *off;     /* (panels, 32): |a|, |u|, rounded up; 0 for floats */
    float   *scale;            /* (panels, 32): s */
    int32_t *middle;           /* (panels, 32): -128, or -64 with AVX2, times the sum of q */
} spot_packed_rows;

/* Sets n, d, panels and wide, and takes the arrays. A counting arena only counts. */
spot_status spot_packed_rows_take(spot_ctx *c, spot_arena *a, spot_packed_rows *f, const spot_neighbours *s);

/* Packs all rows. */
void spot_packed_rows_fill(const spot_packed_rows *f, double shrink, int threads);

/* dot (rows rounded up to 8, 32) = products of rows i0 .. i0+rows-1 with the panel's; i0: a multiple of 32. */
void spot_packed_rows_multiply(float (*dot)[SPOT_PACKED_PANEL], const spot_packed_rows *f, int i0, int rows, int panel);

#endif
