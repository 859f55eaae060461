/* auditors.h - Multiaccuracy's auditors: ridge regressions, with intercept, of a target on two parts of the training rows and
 * on both together, again and again as targets, and under compat parts, change. What stays is not found again.
 *
 * As scikit-learn's Ridge: w = (Xc' Xc + ridge I)^-1 Xc' (y - mean y), Xc the rows less their mean, and
 * h(x) = mean y + (x - mean) w. */
#ifndef SPOTTER_AUDITORS_H
#define SPOTTER_AUDITORS_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"

enum { SPOT_AUDITORS = 3, SPOT_NO_PART = 255 };    /* of part 0, of part 1, of both */

/* What lies on the host and what c's kernels see; on the CPU the two are one. */
typedef struct { void *here, *there; size_t bytes; } spot_twin;

/* One problem. The caller sets n, d and the features before it opens them, and what stands under "in" before each fit. */
typedef struct {
    int n, d;
    const float *feature;      /* (n, d) */

    uint8_t *part;             /* (n), in: the part of a training row, 0 or 1; SPOT_NO_PART of others */
    double  *target;           /* (n), in */
    int      wanted[SPOT_AUDITORS];    /* in: which are to be fitted; each has a row */
    const double *h;           /* (SPOT_AUDITORS, n), out: of all rows, from each auditor that is wanted */

    int len[2];                /* rows of the parts */
    uint8_t *before;           /* (n): the parts of the last fit */
    int known, moved;          /* whether gram is that of `before`; how many rows have changed parts since */
    double *factor;            /* (SPOT_AUDITORS, d, d): Cholesky factors... */
    int fresh[SPOT_AUDITORS];  /* ...where they are those of the present parts */
    spot_twin x, centre;       /* (n, d) floats, (d) */
    spot_twin row, weight;     /* (n): rows of part 0, then of part 1; their targets */
    spot_twin changed, sign;   /* (n), (2, n): rows that have changed parts, and how often each part has them more */
    spot_twin gram;            /* (2, d, d): of the parts, about the centre */
    spot_twin sum, moment;     /* (2, d): sums of rows less the centre, and of these times their targets */
    spot_twin w, b, score;     /* (SPOT_AUDITORS, d), (SPOT_AUDITORS), (SPOT_AUDITORS, n) */
} spot_auditors;

/* Memory for one problem: `host` is an arena there, `work` one in the memory of c's device; on the CPU one and the same.
 * Also in counting arenas, by n and d alone. */
spot_status spot_auditors_take(spot_ctx *c, spot_arena *host, spot_arena *work, spot_auditors *a);

/* Features to the device; a centre near their mean. */
spot_status spot_auditors_open(spot_ctx *c, int problems, spot_auditors *const *a);

/* The wanted auditors of every problem; SPOT_NUMERIC where the ridge is too small for their features. host: for scratch, of
 * SPOT_AUDITORS_SCRATCH bytes a problem. */
#define SPOT_AUDITORS_SCRATCH 512
spot_status spot_auditors_fit(spot_ctx *c, spot_arena *host, int problems, spot_auditors *const *a, double ridge);

#endif
