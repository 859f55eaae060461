/* hinge_step.h - the arithmetic of hinge.h for one row, for CPU and CUDA. */
#ifndef SPOTTER_HINGE_STEP_H
#define SPOTTER_HINGE_STEP_H

#include <math.h>

#include "core/philox.h"
#include "fit/hinge.h"

#define SPOT_HINGE_FIRST 0.1       /* worst violation in a pass at which the gap is computed; then a quarter of it, ... */

/* The rows of a pass: first, first + stride, ... modulo their number. */
typedef struct { uint32_t at, stride; } spot_hinge_order;

SPOT_HD static inline uint32_t spot_hinge_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

SPOT_HD static inline spot_hinge_order spot_hinge_order_of(const spot_hinge_problem *p, int pass)
{
    const uint32_t rows = (uint32_t)p->rows;
    spot_rng r = spot_philox_at(p->seed.seed, SPOT_RNG_HINGE, p->seed.ec, (uint32_t)pass);
    spot_hinge_order o = { spot_philox_below(&r, rows), 1 };

    if (rows > 2)
        do o.stride = 1 + spot_philox_below(&r, rows - 1);
        while (spot_hinge_divisor(rows, o.stride) != 1);
    return o;
}

SPOT_HD static inline uint32_t spot_hinge_next(uint32_t at, uint32_t stride, uint32_t rows)
{
    return at >= rows - stride ? at - (rows - stride) : at + stride;
}

SPOT_HD static inline double spot_hinge_bound(const spot_hinge_problem *p, int r) { return p->cost * p->bound[r]; }

/* The multiplier that is best for a row while all others stay: f is the row's value, `square` its squared length with the
 * constant. *worst grows to the violation of optimality that the old multiplier has. */
SPOT_HD static inline double spot_hinge_move(double *worst, double a, double f, double bound, double square)
{
    const double most = fabs(bound), slope = (bound > 0 ? f : -f) - 1;
    const double off = (a == 0 && slope > 0) || (a == most && slope < 0) ? 0 : fabs(slope);

    if (off > *worst) *worst = off;
    return off == 0 ? a : fmin(fmax(a - slope / square, 0.0), most);
}

SPOT_HD static inline double spot_hinge_loss(double f, double bound)
{
    return fabs(bound) * fmax(0.0, 1 - (bound > 0 ? f : -f));
}

/* A GPU's scratch: the problems, and how far each has come. */
typedef struct { spot_hinge_problem p; double limit, constant; spot_hinge_end end; } spot_hinge_machine;
typedef struct { spot_hinge_machine *machine; int *going; } spot_hinge_space;

static inline spot_status spot_hinge_space_take(spot_ctx *c, spot_arena *a, spot_hinge_space *s, int problems)
{
    SPOT_TRY(SPOT_TAKE(c, a, s->machine, problems));
    return SPOT_TAKE(c, a, s->going, 1);
}

#endif
