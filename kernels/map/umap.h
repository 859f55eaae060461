/* umap.h - UMAP (McInnes, Healy & Melville 2018) for `problems` independent sets of points: what its graph is weighted by,
 * and the descent that lays it out. Distances and neighbours are neighbours.h's, the graph affinity.h's fuzzy union; its
 * first map, from the eigenvectors of its Laplacian, is made on the host (host/embed/spectral.h).
 *
 *   strengths:  p_j = exp(-max(0, d_j - rho) / sigma) of a row's k neighbours, rho the least distance above 0, sigma such that
 *               sum_j p_j = log2(k + 1), by 64 bisections at most; at least 1e-3 of the mean of the k distances and of 0.
 *   advance:    steps of stochastic descent on the fuzzy cross entropy; q = (1 + a d^2b)^-1 is a pair's strength on the map.
 *
 * A step reads the map as the last one left it and moves every point once, so that the order of points leaves no trace. Point
 * i goes along the edges of its row that are due: edge e is when floor(s r) passes a whole number, r = w_e / (greatest w), s
 * the steps so far. For each it is drawn twice to the other end, as head and as tail of the edge, and pushed off
 * `negatives` points drawn anywhere; each of these moves starts where the one before it ended. Coordinates of a move are
 * clipped to 4 and weighted by the rate, which falls from lr to 0.
 *
 * fp32, one chain of correctly rounded operations a point: devices are to agree in every bit (run_to_run is promised), for any
 * number of threads and any other problems. Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_UMAP_H
#define SPOTTER_UMAP_H

#include <stdint.h>

#include "core/ops.h"
#include "spotter/tensor.h"

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
    const int   *start;       /* (n + 1): where a row of the graph begins; rows are whole multiples of 16 long */
    const int   *to;          /* the column of an edge */
    const float *weight;      /* of an edge; of padding 0 */
    const int   *order;       /* (n): the points, those of many edges first; who works beside whom, no more */
    float *y[2];              /* (dim, n): the map after an even number of steps, and after an odd one */
} spot_umap_layout;

struct spot_umap_ops {
    spot_status (*strengths)(spot_ctx *c, int problems, const spot_umap_row *r);
    spot_status (*advance)(spot_ctx *c, int problems, const spot_umap_layout *u, int first, int count);
};

/* k >= 1. */
spot_status spot_umap_strengths(spot_ctx *c, int problems, const spot_umap_row *r);

/* Steps first .. first + count - 1, counted from 0; a layout that has no more of them is left alone. dim is at most
 * SPOT_UMAP_MOST_DIM. */
spot_status spot_umap_advance(spot_ctx *c, int problems, const spot_umap_layout *u, int first, int count);

#endif
