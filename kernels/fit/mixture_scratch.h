/* mixture_scratch.h - the scratch of mixture.cu, which spot_mixture_scratch counts. */
#ifndef SPOTTER_MIXTURE_SCRATCH_H
#define SPOTTER_MIXTURE_SCRATCH_H

#include "core/hd.h"
#include "fit/mixture.h"

/* 8 blocks of 256 threads for each of 132 multiprocessors. No result depends on it. */
enum { SPOT_MIXTURE_BLOCKS = 1056, SPOT_MIXTURE_WARP = 32, SPOT_MIXTURE_TRIALS = 6 };       /* 2 + floor(ln 64) trials */

/* A fit of more points than a piece is wide: a block works on each of its pieces, of which there are at most PIECES. The
 * pieces depend on nothing but the number of points. So does the order of sums. */
enum { SPOT_MIXTURE_PIECE = 4096, SPOT_MIXTURE_PIECES = 256 };

static SPOT_HD inline int spot_mixture_piece(int n)
{
    return SPOT_MIXTURE_PIECE * ((n - 1) / (SPOT_MIXTURE_PIECE * SPOT_MIXTURE_PIECES) + 1);
}

static SPOT_HD inline int spot_mixture_pieces(int n) { return (n - 1) / spot_mixture_piece(n) + 1; }

static SPOT_HD inline int spot_mixture_is_wide(int n) { return n > SPOT_MIXTURE_PIECE; }

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

/* The start of a wide fit, of which its kernels tell each other. MOVING: labels and new centres follow; LAST: labels. */
typedef enum { SPOT_MIXTURE_MOVING, SPOT_MIXTURE_LAST, SPOT_MIXTURE_OVER } spot_mixture_stage;

typedef struct {
    spot_rng rng;
    double   tolerance;                                      /* a smaller sum of moves ends the iterations */
    int      chosen[SPOT_MIXTURE_TRIALS], turns, changed;    /* points that are tried; iterations; a label changed */
    spot_mixture_stage stage;
} spot_mixture_opening;

/* Sums over the points of a piece. near: of the squared distances to the nearest centre; trial: the same if the chosen point
 * were a centre, too; likelihood: of the log-normalisers. */
typedef struct { double near, trial[SPOT_MIXTURE_TRIALS], likelihood; } spot_mixture_share;

typedef struct {
    spot_mixture_state *fit;      /* (jobs), wide ones first, of each kind the longest */
    unsigned *counter;            /* the first fit that no block has taken; the number of fits that need another round */
    double *component;            /* (jobs, k, stride) */
    double *moment;               /* (blocks, k, stride): sum of r; of r (x - mean); of r (x - mean)(x - mean)^T, lower */
    double *point;                /* (blocks, n): squared distance to the nearest centre, or log-normaliser */
    double *tile;                 /* (blocks, n / 32): sums of those distances over 32 points, or running sums of these */
    spot_mixture_opening *opening;  /* (blocks), here and below: of the wide fits that run together; none if no fit is wide */
    spot_mixture_share *share;    /* (blocks, pieces) */
    double *partial;              /* (blocks, pieces, k, stride): the moments of a piece */
    int     blocks, pieces;       /* pieces: the most that a fit can have */
    size_t  moments, points, tiles;   /* entries of one block */
} spot_mixture_space;

/* Takes the space for jobs of at most these sizes. */
static inline spot_status spot_mixture_space_take(spot_ctx *c, spot_arena *a, spot_mixture_space *m, int jobs, int n, int d,
                                                 int k)
{
    const int pieces = (n - 1) / SPOT_MIXTURE_PIECE + 1;
    size_t wide;

    m->pieces = pieces < SPOT_MIXTURE_PIECES ? pieces : SPOT_MIXTURE_PIECES;
    m->blocks = jobs < SPOT_MIXTURE_BLOCKS ? jobs : SPOT_MIXTURE_BLOCKS;
    m->moments = (size_t)k * (size_t)(1 + d + d * (d + 1) / 2);
    m->points = (size_t)n;
    m->tiles = (size_t)(n + SPOT_MIXTURE_WARP - 1) / SPOT_MIXTURE_WARP;
    SPOT_TRY(SPOT_TAKE(c, a, m->fit, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, m->counter, 2));
    SPOT_TRY(SPOT_TAKE(c, a, m->component, (size_t)jobs * m->moments));
    SPOT_TRY(SPOT_TAKE(c, a, m->moment, (size_t)m->blocks * m->moments));
    SPOT_TRY(SPOT_TAKE(c, a, m->point, (size_t)m->blocks * m->points));
    SPOT_TRY(SPOT_TAKE(c, a, m->tile, (size_t)m->blocks * m->tiles));
    wide = pieces > 1 ? (size_t)m->blocks : 0;
    SPOT_TRY(SPOT_TAKE(c, a, m->opening, wide));
    SPOT_TRY(SPOT_TAKE(c, a, m->share, wide * (size_t)m->pieces));
    return SPOT_TAKE(c, a, m->partial, wide * (size_t)m->pieces * m->moments);
}

#endif
