/* mixture_cpu.h - one thread's workspace, for mixture.c and mixture_start.c.
 *
 * Points lie column by column in vectors, padded to whole tiles with copies of the first point of weight 0. */
#ifndef SPOTTER_MIXTURE_CPU_H
#define SPOTTER_MIXTURE_CPU_H

#include "core/vmath64.h"
#include "spotter/cluster.h"
#include "spotter/rng.h"

/* 64 points in vectors: the responsibilities of 32 components fit a first-level cache. */
enum { TILE = 64 / LANES };

/* f(w, d). The usual dimensions 2, 3 and 4 are compiled separately, so that the sums of f stay in registers. */
#define BY_DIMENSION(f, w) \
    ((w)->d == 2 ? f((w), 2) : (w)->d == 3 ? f((w), 3) : (w)->d == 4 ? f((w), 4) : f((w), (w)->d))

typedef struct {
    int n, d, k, blocks;      /* blocks: vectors in a column, a multiple of TILE */
    int stride;               /* numbers of a component: 1 + d + d (d + 1) / 2 */
    const double *given;      /* (n, k): responsibilities to start from; NULL: start from the labels */
    vd     *x;                /* (d, blocks) */
    vd     *live;             /* (blocks): 1 for a point, 0 for padding */
    vi    *label;            /* (blocks) */
    vd     *resp;             /* (k, TILE): responsibilities of one tile */
    vd     *moment;           /* (k, stride), by lane: sum of r; of r (x - mean); of r (x - mean)(x - mean)^T, lower */
    double *component;        /* (k, stride): log constant; mean; inverse Cholesky factor, lower, row by row */
    vd     *near;             /* (blocks): squared distance to the nearest centre */
    double *prefix;           /* (LANES * blocks): running sums of near */
    double *centre, *sum;     /* (k, d): k-means centres, and sums of their points */
} spot_mixture_work;

/* Fills w->label with the k-means clusters and w->centre with their centres. */
void spot_mixture_start(spot_mixture_work *w, spot_rng *r);

#endif
