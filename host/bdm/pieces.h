/* pieces.h - selects the pieces of clusters that GEORGE keeps (Sohoni et al. 2020, over-clustering of their released code). */
#ifndef SPOTTER_PIECES_H
#define SPOTTER_PIECES_H

#include <stdint.h>

typedef struct {
    int n, clusters, pieces;       /* pieces of each cluster */
    const uint16_t *cluster;       /* (n) */
    const uint16_t *piece;         /* (n): cluster * pieces + index in the cluster */
    const double *before, *after;  /* (n): silhouettes among the clusters, and among all pieces */
    const double *loss;            /* (n) */
    int least;                     /* fewest rows of a piece */
} spot_pieces;

/* Keeps a piece if its mean silhouette among the pieces is above 0 and above that of the same rows among the clusters, its mean
 * loss is no less than its cluster's, and it has at least max(0.005 n, least) rows. The other pieces of a cluster become one
 * again, its rest. label (n): the rest of cluster 0 (unless all of its pieces are kept), its kept pieces, then cluster 1, ...
 * Returns the number of labels; a rest may have no rows. */
int spot_pieces_keep(const spot_pieces *p, uint16_t *label);

#endif
