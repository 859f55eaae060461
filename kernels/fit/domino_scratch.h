/* domino_scratch.h - the scratch of domino_mixture.cu. It is a header in C, since spot_domino_scratch counts it for plans in
 * programs without CUDA, too. */
#ifndef SPOTTER_DOMINO_SCRATCH_H
#define SPOTTER_DOMINO_SCRATCH_H

#include "fit/domino_mixture.h"
#include "spotter/arena.h"

enum { SPOT_DOMINO_ROWS = 64 };       /* points of a block */

/* The state of a job on the device. An M step leaves in it what the next E step needs of each slice (domino_mixture.h has l, P
 * and the bound); on the way the arrays hold the moments that it is made of. */
typedef struct {
    spot_domino_job job;
    double *scale, *shift;     /* (k, d): a column's first and second moment, then 1 / sigma and -mean / sigma unless full */
    double *factor;            /* full (k, d, d): second moments, then Cholesky factors, then their inverses */
    double *logs;              /* (k, d): how far the mean moved, then the log of 1 / sigma; full: of the inverse's diagonal */
    double *base;              /* (k): the terms of l that depend only on the slice */
    double *log_y;             /* (k, classes): gamma log(P + eps) */
    double *part;              /* (tiles): log-likelihoods of 64 points, whose sum in order is the bound */
    double  before;            /* the last iteration's bound */
    int     done;
} spot_domino_state;

typedef struct {
    spot_domino_state *state;  /* (count) */
    double *scale, *shift, *factor, *logs, *base, *log_y, *part;      /* all jobs' arrays */
    unsigned *going;           /* number of jobs that are not done */
} spot_domino_space;

/* Room for `count` jobs of at most these sizes. */
typedef struct { int count, n, d, k, classes, full; } spot_domino_sizes;

static inline spot_status spot_domino_space_take(spot_ctx *c, spot_arena *a, spot_domino_space *s, const spot_domino_sizes *of)
{
    size_t jobs = (size_t)of->count, slices = jobs * of->k, values = slices * of->d;

    SPOT_TRY(SPOT_TAKE(c, a, s->state, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->scale, values));
    SPOT_TRY(SPOT_TAKE(c, a, s->shift, values));
    SPOT_TRY(SPOT_TAKE(c, a, s->factor, of->full ? values * of->d : 0));
    SPOT_TRY(SPOT_TAKE(c, a, s->logs, values));
    SPOT_TRY(SPOT_TAKE(c, a, s->base, slices));
    SPOT_TRY(SPOT_TAKE(c, a, s->log_y, slices * of->classes));
    SPOT_TRY(SPOT_TAKE(c, a, s->part, jobs * ((of->n + SPOT_DOMINO_ROWS - 1) / SPOT_DOMINO_ROWS)));
    return SPOT_TAKE(c, a, s->going, 1);
}

#endif
