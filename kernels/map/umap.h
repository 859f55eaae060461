/* umap.h - UMAP (McInnes, Healy & Melville 2018) for `problems` independent sets of points: the weights of its graph and the
 * descent that lays it out. neighbours.h finds the neighbours, affinity.h builds the graph (the fuzzy union), and the
 * host computes the first map from the eigenvectors of the graph's Laplacian (host/models/spectral.h).
 *
 *   strengths:  p_j = exp(-max(0, d_j - rho) / sigma) of a row's k neighbours, rho the least distance above 0, sigma such that
 *               sum_j p_j = log2(k + 1), by 64 bisections at most; at least 1e-3 of the mean of the k distances and of 0.
 *   advance:    steps of stochastic descent on the fuzzy cross entropy; q = (1 + a d^2b)^-1 is a pair's strength on the map.
 *
 * A step reads the map of the step before and moves every point once, so the order of points changes nothing. Point i follows
 * the edges of its row that are due: edge e is due when s r passes a whole number, r = w_e / (greatest w), s the number of
 * steps. For each due edge the point moves twice towards the other end, as head and as tail of the edge, and away from
 * `negatives` random points; each move starts where the last one ended. Coordinates of a move are clipped to 4 and weighted by
 * the rate, which falls from lr to 0.
 *
 * fp32, one chain of correctly rounded operations a point: devices should agree in every bit (the contract is run_to_run), for
 * any number of threads and any other problems. Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_UMAP_H
#define SPOTTER_UMAP_H

#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"

enum { SPOT_UMAP_MOST_DIM = 32 };

typedef struct {
    spot_mat near;            /* (n, k): squared distances */
    float *p;                 /* (n, k), out */
    float *rho, *sigma;       /* (n), out */
} spot_umap_row;

typedef struct {
    int n, dim, steps, negatives;
    uint64_t seed;
    uint32_t ec;
    float a, b, lr;
    float scale;              /* 1 / greatest weight */
    const int   *start;       /* (n + 1): first entry of each row of the graph; a row has a multiple of 16 entries */
    const int   *to;          /* the column of an edge */
    const float *weight;      /* of each edge; 0 for padding */
    const int   *order;       /* (n): the points, those with many edges first; no result depends on it */
    float *y[2];              /* (dim, n): the map after an even number of steps, and after an odd one */
} spot_umap_layout;

struct spot_umap_ops {
    spot_status (*strengths)(spot_ctx *c, int problems, const spot_umap_row *r);
    spot_status (*advance)(spot_ctx *c, int problems, const spot_umap_layout *u, int first, int count);
};

/* k >= 1. */
spot_status spot_umap_strengths(spot_ctx *c, int problems, const spot_umap_row *r);

/* Steps first .. first + count - 1, counted from 0. Skips a layout that has done all its steps. dim is at most
 * SPOT_UMAP_MOST_DIM. */
spot_status spot_umap_advance(spot_ctx *c, int problems, const spot_umap_layout *u, int first, int count);

#endif
