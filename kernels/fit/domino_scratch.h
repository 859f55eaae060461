/* domino_scratch.h - the scratch of domino_mixture.cu, which spot_domino_scratch counts. */
#ifndef SPOTTER_DOMINO_SCRATCH_H
#define SPOTTER_DOMINO_SCRATCH_H

#include "fit/domino_mixture.h"
#include "spotter/arena.h"

enum { SPOT_DOMINO_ROWS = 64 };       /* points of a block */

/* The state of a job on the device. */
typedef struct {
    spot_domino_job job;
    double *scale, *shift;     /* (k, d): 1 / sigma, -mean / sigma; full: scale is the first moments */
    double *factor;            /* full (k, d, d): second moments, then Cholesky factors, then their inverses */
    double *logs;              /* (k, d): logs of the scales; full: the moves of the means */
    double *base;              /* (k): the terms of l that depend only on the slice */
    double *log_y;             /* (k, classes): gamma log(P + eps) */
    double *part;              /* (tiles): log-likelihoods of 64 points */
    double  before;            /* the last iteration's bound */
    int     done;
} spot_domino_state;

typedef struct {
    spot_domino_state *state;  /* (count) */
    double *scale, *shift, *factor, *logs, *base, *log_y, *part;      /* all jobs' arrays */
    unsigned *going;           /* number of jobs that are not done */
} spot_domino_space;

static inline spot_status spot_domino_space_take(spot_ctx *c, spot_arena *a, spot_domino_space *s, int count, int n, int d,
                                                 int k, int classes, int full)
{
    size_t jobs = (size_t)count, values = jobs * k * d;

    SPOT_TRY(SPOT_TAKE(c, a, s->state, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->scale, values));
    SPOT_TRY(SPOT_TAKE(c, a, s->shift, values));
    SPOT_TRY(SPOT_TAKE(c, a, s->factor, full ? values * d : 0));
    SPOT_TRY(SPOT_TAKE(c, a, s->logs, values));
    SPOT_TRY(SPOT_TAKE(c, a, s->base, jobs * k));
    SPOT_TRY(SPOT_TAKE(c, a, s->log_y, jobs * k * classes));
    SPOT_TRY(SPOT_TAKE(c, a, s->part, jobs * ((n + SPOT_DOMINO_ROWS - 1) / SPOT_DOMINO_ROWS)));
    return SPOT_TAKE(c, a, s->going, 1);
}

#endif
