/* spectral.h - UMAP's initial map: the leading eigenvectors of D^-1/2 W D^-1/2 except the first. They are the eigenvectors of
 * the graph's normalised Laplacian with the least eigenvalues (Belkin & Niyogi 2003). For `problems` graphs, on the host. */
#ifndef SPOTTER_SPECTRAL_H
#define SPOTTER_SPECTRAL_H

#include "spotter/embed.h"

typedef struct {
    int n, dim;
    const int *start, *to;     /* (n + 1), edges: a symmetric graph by rows */
    const float *weight;
    int pieces;                /* components() sets it: number of connected pieces */
    int *piece;                /* (n), components() sets it: piece of each point, numbered by their first points */
    const float *place;        /* (n, dim): several pieces lie at the means of their points here; unused for one piece */
    float *y;                  /* (dim, n), map() sets it: the greatest coordinate is 10 */
    spot_seed seed;
} spot_spectral;

spot_status spot_spectral_components(spot_ctx *c, spot_arena *scratch, int problems, spot_spectral *s);

/* Maps each piece by its own eigenvectors; several pieces each extend at most half of the way to the next one. Signs: an
 * eigenvector's entry of largest magnitude is positive. A piece with too few eigenvectors gets noise of a third of its size
 * in the other coordinates. All coordinates get noise of 1e-4. */
spot_status spot_spectral_map(spot_ctx *c, spot_arena *scratch, int problems, const spot_spectral *s);

#endif
