/* logistic.h - weighted logistic regression with an L2 penalty, as scikit-learn's LogisticRegression defines it. */
#ifndef SPOTTER_LOGISTIC_H
#define SPOTTER_LOGISTIC_H

#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"

typedef struct {
    int n, d;
    const double  *x;          /* (n, d) */
    const uint8_t *y;          /* (n): 0 or 1, both present */
    const double  *weight;     /* (n): at least 0 */
    double c;                  /* of |v|^2 / 2 + c sum_i weight_i log(1 + exp(-s_i (v x_i + b))), s_i = -1 or 1; b is free */
    double *v, b;              /* (d), out: the least of it */
    int     iterations;        /* out */
} spot_logistic;

/* Newton's method with halved steps, in fp64 on the host: the penalty makes the least unique. a is for scratch; a counting
 * arena only counts. SPOT_NUMERIC where 100 steps do not suffice. run_to_run. */
spot_status spot_logistic_fit(spot_ctx *c, spot_arena *a, spot_logistic *p);

#endif
