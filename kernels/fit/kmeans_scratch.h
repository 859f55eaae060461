/* kmeans_scratch.h - the scratch of kmeans.cu, which spot_kmeans_scratch counts. */
#ifndef SPOTTER_KMEANS_SCRATCH_H
#define SPOTTER_KMEANS_SCRATCH_H

#include "fit/kmeans.h"
#include "spotter/arena.h"

enum { SPOT_KMEANS_TRIALS = 8 };      /* 2 + floor(ln 512) */

enum { SPOT_KMEANS_PIECE = 1024 };    /* numbers of a chain between two of its sums that are kept */

/* STANDING: the last centres are known, labels and distances are to follow. */
typedef enum { SPOT_KMEANS_MOVING, SPOT_KMEANS_STANDING, SPOT_KMEANS_OVER } spot_kmeans_step;

/* The kernels of a job tell each other these. */
typedef struct {
    spot_rng rng;
    double   tolerance;                    /* a smaller sum of moves ends the iterations */
    double   total[SPOT_KMEANS_TRIALS];    /* sum of squared distances with each trial */
    int      chosen[SPOT_KMEANS_TRIALS], best;     /* points that the trials are; the least total's */
    int      changed;                      /* a label did */
    spot_kmeans_step step;
} spot_kmeans_state;

/* All jobs' arrays, one job after the other. */
typedef struct {
    spot_kmeans_job   *job;    /* (count) */
    spot_kmeans_state *state;  /* (count) */
    double *trial;             /* (count, TRIALS, n): squared distance to the nearest centre with each trial; the first, later:
                                  to the nearest centre */
    double *before;            /* (count, TRIALS, pieces): sums of trial before each piece */
    double *sum;               /* (count, k, d): sum of a centre's points */
    int    *held;              /* (count, k): their number */
    int    *going;             /* number of jobs that have not ended */
    int     n, d, k, pieces;   /* the most of any job */
} spot_kmeans_space;

static inline spot_status spot_kmeans_space_take(spot_ctx *c, spot_arena *a, spot_kmeans_space *s, int count, int n, int d,
                                                 int k)
{
    const size_t jobs = (size_t)count, trials = jobs * SPOT_KMEANS_TRIALS;

    s->n = n, s->d = d, s->k = k, s->pieces = (n + SPOT_KMEANS_PIECE - 1) / SPOT_KMEANS_PIECE;
    SPOT_TRY(SPOT_TAKE(c, a, s->job, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->state, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->trial, trials * (size_t)n));
    SPOT_TRY(SPOT_TAKE(c, a, s->before, trials * (size_t)s->pieces));
    SPOT_TRY(SPOT_TAKE(c, a, s->sum, jobs * (size_t)k * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, s->held, jobs * (size_t)k));
    return SPOT_TAKE(c, a, s->going, 1);
}

#endif
