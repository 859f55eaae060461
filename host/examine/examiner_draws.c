/* examiner_draws.c - uniform points with addresses, and points that left the cube. */
#include <math.h>

#include "examine/examiners.h"
#include "spotter/rng.h"

void spot_examiner_uniform(double *x, const spot_examiner_search *s, int i, int index)
{
    spot_rng r = spot_rng_at(s->seed, SPOT_RNG_EXAMINER, s->number[i], 0x80000000u | (uint32_t)index);

    for (int d = 0; d < s->space->dims; d++) x[d] = spot_rng_uniform(&r);
}

double spot_examiner_fold(double x, bool turns)
{
    double period = turns ? 1 : 2, rest = fmod(x, period);

    if (rest < 0) rest += period;
    return rest > 1 ? 2 - rest : rest;
}
