/* pieces.h - which pieces of its clusters GEORGE keeps (Sohoni et al. 2020, their released code's over-clustering). */
#ifndef SPOTTER_PIECES_H
#define SPOTTER_PIECES_H

#include <stdint.h>

typedef struct {
    int n, clusters, pieces;       /* pieces of each cluster */
    const uint16_t *cluster;       /* (n) */
    const uint16_t *piece;         /* (n): cluster * pieces + which */
    const double *before, *after;  /* (n): silhouettes among the clusters, and among all pieces */
    const double *loss;            /* (n) */
    int least;                     /* rows of a piece, at least */
} spot_pieces;

/* A piece stays if its mean silhouette among the pieces is above 0 and above that of the same rows among the clusters, its
 * mean loss is no less than its cluster's, and it has max(0.005 n, least) rows; the other pieces of a cluster become one
 * again. label (n): the rest of cluster 0 where not all of its pieces stay, those that do, then cluster 1, ... Returns how
 * many, of which a rest may have no rows. */
int spot_pieces_keep(const spot_pieces *p, uint16_t *label);

#endif
