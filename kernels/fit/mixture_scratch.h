/* mixture_scratch.h - the scratch of mixture.cu, which spot_mixture_scratch counts. */
#ifndef SPOTTER_MIXTURE_SCRATCH_H
#define SPOTTER_MIXTURE_SCRATCH_H

#include "fit/mixture.h"

/* 8 blocks of 256 threads for each of 132 multiprocessors. No result depends on it. */
enum { SPOT_MIXTURE_BLOCKS = 1056, SPOT_MIXTURE_WARP = 32 };

/* One job. A component is 1 + d + d (d + 1) / 2 numbers, `stride`: log constant; mean, which in k-means is the centre;
 * inverse Cholesky factor, lower, row by row. */
typedef struct {
    const float  *x;
    const double *resp;
    uint8_t      *label;
    double       *weight, *mean, *covariance;
    double       *component;              /* (k, stride) */
    spot_seed     seed;
    int           job;                    /* index in the caller's jobs */
    unsigned      start;
    int           n, d, k, stride, trials;
    int           iterations, converged, ill, done;
    double        before, log_likelihood; /* before: the mean log-likelihood one iteration ago */
} spot_mixture_state;

typedef struct {
    spot_mixture_state *fit;      /* (jobs), the longest first */
    unsigned *counter;            /* the first fit that no block has taken; the number of fits that need another round */
    double *component;            /* (jobs, k, stride) */
    double *moment;               /* (blocks, k, stride): sum of r; of r (x - mean); of r (x - mean)(x - mean)^T, lower */
    double *point;                /* (blocks, n): squared distance to the nearest centre, or log-normaliser */
    double *tile;                 /* (blocks, n / 32): sums of those distances over 32 points, or running sums of these */
    int     blocks;
    size_t  moments, points, tiles;   /* entries of one block */
} spot_mixture_space;

/* Takes the space for jobs of at most these sizes. */
static inline spot_status spot_mixture_space_take(spot_ctx *c, spot_arena *a, spot_mixture_space *m, int jobs, int n, int d,
                                                 int k)
{
    m->blocks = jobs < SPOT_MIXTURE_BLOCKS ? jobs : SPOT_MIXTURE_BLOCKS;
    m->moments = (size_t)k * (size_t)(1 + d + d * (d + 1) / 2);
    m->points = (size_t)n;
    m->tiles = (size_t)(n + SPOT_MIXTURE_WARP - 1) / SPOT_MIXTURE_WARP;
    SPOT_TRY(SPOT_TAKE(c, a, m->fit, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, m->counter, 2));
    SPOT_TRY(SPOT_TAKE(c, a, m->component, (size_t)jobs * m->moments));
    SPOT_TRY(SPOT_TAKE(c, a, m->moment, (size_t)m->blocks * m->moments));
    SPOT_TRY(SPOT_TAKE(c, a, m->point, (size_t)m->blocks * m->points));
    return SPOT_TAKE(c, a, m->tile, (size_t)m->blocks * m->tiles);
}

#endif
