/* kmeans_scratch.h - the scratch of kmeans.cu, which spot_kmeans_scratch counts. */
#ifndef SPOTTER_KMEANS_SCRATCH_H
#define SPOTTER_KMEANS_SCRATCH_H

#include "fit/kmeans.h"
#include "spotter/arena.h"

enum { SPOT_KMEANS_TRIALS = 8 };      /* 2 + floor(ln 512) */

/* All jobs' arrays, one job after the other. */
typedef struct {
    spot_kmeans_job *job;      /* (count) */
    double *near, *trial;      /* (count, n), (count, TRIALS, n) */
    double *sum, *held;        /* (count, k, d), (count, k): sum and number of a centre's points */
    double *tolerance;         /* (count): a smaller sum of moves ends a job; -1: it has ended */
    int    *going;             /* number of jobs that have not ended */
    int     n, d, k;           /* the most of any job */
} spot_kmeans_space;

static inline spot_status spot_kmeans_space_take(spot_ctx *c, spot_arena *a, spot_kmeans_space *s, int count, int n, int d,
                                                 int k)
{
    size_t jobs = (size_t)count;

    s->n = n, s->d = d, s->k = k;
    SPOT_TRY(SPOT_TAKE(c, a, s->job, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->near, jobs * n));
    SPOT_TRY(SPOT_TAKE(c, a, s->trial, jobs * SPOT_KMEANS_TRIALS * n));
    SPOT_TRY(SPOT_TAKE(c, a, s->sum, jobs * k * d));
    SPOT_TRY(SPOT_TAKE(c, a, s->held, jobs * k));
    SPOT_TRY(SPOT_TAKE(c, a, s->tolerance, jobs));
    return SPOT_TAKE(c, a, s->going, 1);
}

#endif
