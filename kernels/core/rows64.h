/* rows64.h - points 64 at a time, column by column, and their scaled squared distances to many centres. For the CPU's
 * kernels only.
 *
 *     out[k][r] = sum_j u^2,  u = fma(x[r,j], w[k,j], m[k,j])
 *
 * With w = 1 / sigma and m = -mean / sigma it is the Mahalanobis distance, with w = 1 and m = -centre the Euclidean one. Only
 * the difference is rounded; |x|^2 - 2 x mean + |mean|^2 would lose digits far from the origin. It is one fp64 chain in the
 * order of j: threads and vector width change no bit, and a GPU can give the same bits. */
#ifndef SPOTTER_ROWS64_H
#define SPOTTER_ROWS64_H

#include "core/vmath64.h"

enum { ROWS64 = 64, SPOT_ROW_VECTORS = 4, SPOT_CENTRES = LANES == 8 ? 4 : 2 };   /* a register tile: 4 vectors x 4 centres */

static inline int spot_tiles(int n) { return (n + ROWS64 - 1) / ROWS64; }
static inline int spot_tile_rows(int n, int t) { return n - t * ROWS64 < ROWS64 ? n - t * ROWS64 : ROWS64; }

/* Copies rows 64 t .. of x (n,d) to tile (d,64), and the last row where there are fewer. */
static inline void spot_pack_rows(float *tile, const float *x, int n, int d, int t)
{
    for (int r = 0; r < ROWS64; r++) {
        const float *row = x + (size_t)(t * ROWS64 + r < n ? t * ROWS64 + r : n - 1) * d;
        for (int j = 0; j < d; j++) tile[(size_t)j * ROWS64 + r] = row[j];
    }
}

/* spot_squares for rows r0 .. of the tile and `centres` centres. */
VD_INLINE void spot_squares_block(double *out, const float *tile, int d, const double *w, const double *m, int r0, int centres)
{
    vd sum[SPOT_CENTRES][SPOT_ROW_VECTORS] = { { { 0 } } };

    for (int j = 0; j < d; j++) {
        vd x[SPOT_ROW_VECTORS];
        for (int v = 0; v < SPOT_ROW_VECTORS; v++)
            x[v] = vd_wide(tile + (size_t)j * ROWS64 + r0 + v * LANES);
        for (int k = 0; k < centres; k++) {
            vd scale = vd_all(w ? w[(size_t)k * d + j] : 1), shift = vd_all(m[(size_t)k * d + j]);
            for (int v = 0; v < SPOT_ROW_VECTORS; v++) {
                vd u = x[v] + shift;
                if (w) u = vd_fma(x[v], scale, shift);
                sum[k][v] = vd_fma(u, u, sum[k][v]);
            }
        }
    }
    for (int k = 0; k < centres; k++)
        for (int v = 0; v < SPOT_ROW_VECTORS; v++) *(vd *)(out + k * ROWS64 + r0 + v * LANES) = sum[k][v];
}

VD_INLINE void spot_squares_of(double *out, const float *tile, int d, const double *w, const double *m, int k)
{
    int k0 = 0;

    for (; k0 + SPOT_CENTRES <= k; k0 += SPOT_CENTRES)
        for (int r0 = 0; r0 < ROWS64; r0 += SPOT_ROW_VECTORS * LANES)
            spot_squares_block(out + k0 * ROWS64, tile, d, w ? w + (size_t)k0 * d : NULL, m + (size_t)k0 * d, r0, SPOT_CENTRES);
    for (; k0 < k; k0++)
        for (int r0 = 0; r0 < ROWS64; r0 += SPOT_ROW_VECTORS * LANES)
            spot_squares_block(out + k0 * ROWS64, tile, d, w ? w + (size_t)k0 * d : NULL, m + (size_t)k0 * d, r0, 1);
}

/* Distances of a tile to k centres: out (k,64), aligned to vectors. w NULL: ones, with an addition in place of the first fma:
 * the same bits, and some CPUs add beside their fma. */
static inline void spot_squares(double *out, const float *tile, int d, const double *w, const double *m, int k)
{
    if (w) spot_squares_of(out, tile, d, w, m, k);
    else   spot_squares_of(out, tile, d, NULL, m, k);
}

#endif
