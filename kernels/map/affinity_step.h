/* affinity_step.h - the step of the perplexity search that the CPU and CUDA share. */
#ifndef SPOTTER_AFFINITY_STEP_H
#define SPOTTER_AFFINITY_STEP_H

#include "core/vmath.h"
#include "map/affinity.h"

/* The search begins with { 1, 0, INFINITY }. */
typedef struct { double beta, low, high; } spot_affinity_beta;

/* The next beta. over: entropy at this beta, minus the wanted one. */
static SPOT_HD inline void spot_affinity_bisect(spot_affinity_beta *b, double over)
{
    if (over > 0) {
        b->low = b->beta;
        b->beta = isinf(b->high) ? b->beta * 2 : (b->beta + b->high) / 2;
    } else {
        b->high = b->beta;
        b->beta = (b->beta + b->low) / 2;
    }
}

#endif
