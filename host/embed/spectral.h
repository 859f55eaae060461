/* spectral.h - the first map of UMAP: leading eigenvectors of D^-1/2 W D^-1/2 but the first, which are those of the graph's
 * normalised Laplacian with the least eigenvalues (Belkin & Niyogi 2003), for `problems` graphs. On the host. */
#ifndef SPOTTER_SPECTRAL_H
#define SPOTTER_SPECTRAL_H

#include "spotter/embed.h"

typedef struct {
    int n, dim;
    const int *start, *to;     /* (n + 1), edges: a symmetric graph by rows */
    const float *weight;
    int pieces;                /* out of components: that are connected */
    int *piece;                /* (n), out of components: which a point belongs to, numbered by their first points */
    const float *place;        /* (n, dim): where several pieces are to lie, at the means of their points; one needs none */
    float *y;                  /* (dim, n), out of map: the greatest coordinate is 10 */
    spot_seed seed;
} spot_spectral;

spot_status spot_spectral_components(spot_ctx *c, spot_arena *scratch, int problems, spot_spectral *s);

/* Each piece by its own eigenvectors, several of them each within half of the way to the next. Signs: an eigenvector's entry
 * of largest magnitude is positive. What the eigenvectors of a piece do not fill, for it has too few, is noise of a third
 * of its size; and all coordinates get noise of 1e-4. */
spot_status spot_spectral_map(spot_ctx *c, spot_arena *scratch, int problems, const spot_spectral *s);

#endif
