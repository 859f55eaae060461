/* auditors.h - Multiaccuracy's auditors: ridge regressions, with intercept, of a target on two parts of the training rows and
 * on both together. They are fitted again whenever the targets (with compat, also the parts) change; quantities that depend
 * on unchanged parts are kept.
 *
 * Same as scikit-learn's Ridge: w = (Xc' Xc + ridge I)^-1 Xc' (y - mean y), Xc the rows less their mean, and
 * h(x) = mean y + (x - mean) w. */
#ifndef SPOTTER_AUDITORS_H
#define SPOTTER_AUDITORS_H

#include <stdint.h>

#include "base/twin.h"
#include "spotter/ctx.h"

enum { SPOT_AUDITORS = 3, SPOT_NO_PART = 255 };    /* auditors of part 0, part 1, both */

/* One problem. Set n, d and the features before spot_auditors_take, and the members marked "in" before each fit. */
typedef struct {
    int n, d;
    const float *feature;      /* (n, d) */
    const float *device_feature;       /* (n, d): the same on c's device; NULL: not there */

    uint8_t *part;             /* (n), in: 0 or 1 for a training row, SPOT_NO_PART for others */
    double  *target;           /* (n), in */
    int      wanted[SPOT_AUDITORS];    /* in: the auditors to fit; each has a row */
    const double *h;           /* (SPOT_AUDITORS, n), out: h(x) of all rows for each wanted auditor */

    int len[2];                /* rows of the parts */
    uint8_t *before;           /* (n): the parts at the last fit */
    int known, moved;          /* whether gram belongs to `before`; rows that have changed parts since */
    double *factor;            /* (SPOT_AUDITORS, d, d): Cholesky factors ... */
    int fresh[SPOT_AUDITORS];  /* ... and whether they belong to the present parts */
    spot_twin x, centre;       /* (n, d) floats, (d) */
    spot_twin row, weight;     /* (n): rows of part 0, then of part 1; their targets */
    spot_twin changed, sign;   /* (n), (2, n): rows that have changed parts; +1, 0 or -1: each part has gained or lost it */
    spot_twin gram;            /* (2, d, d): Gram matrices of the parts, about the centre */
    spot_twin sum, moment;     /* (2, d): sums of rows minus the centre; the same times the targets */
    spot_twin w, b, score;     /* (SPOT_AUDITORS, d), (SPOT_AUDITORS), (SPOT_AUDITORS, n) */
} spot_auditors;

/* Allocates one problem's arrays: `host` on the host, `work` on c's device; on the CPU the same arena. Copies features that are
 * not on the device. A counting arena needs only n and d. */
spot_status spot_auditors_take(spot_ctx *c, spot_arena *host, spot_arena *work, spot_auditors *a);

/* Computes a centre near the mean of the features. */
spot_status spot_auditors_open(spot_ctx *c, int problems, spot_auditors *const *a);

/* Fits the wanted auditors of every problem; SPOT_NUMERIC if the ridge is too small for the features. host: scratch memory,
 * spot_auditors_scratch bytes. */
spot_status spot_auditors_fit(spot_ctx *c, spot_arena *host, int problems, spot_auditors *const *a, double ridge);
size_t      spot_auditors_scratch(int problems);

#endif
