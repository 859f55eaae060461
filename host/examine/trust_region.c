/* trust_region.c - the side and the box of a trust region. */
#include "examine/trust_region.h"

#include <math.h>

bool spot_trust_region_move(spot_trust_region *t, double greatest)
{
    bool better = greatest > t->best + 1e-3 * fabs(t->best);

    t->success = better ? t->success + 1 : 0;
    t->failure = better ? 0 : t->failure + 1;
    if (t->success == t->successes) {
        t->length = fmin(2 * t->length, t->most);
        t->success = 0;
    } else if (t->failure == t->failures) {
        t->length /= 2;
        t->failure = 0;
    }
    t->best = fmax(t->best, greatest);
    return t->length >= t->least;
}

void spot_trust_region_box(const spot_trust_region *t, int dims, const double *center, const double *scale, const bool *turns,
                           double *low, double *high)
{
    double mean = 0;

    for (int d = 0; d < dims; d++) mean += log(scale[d]) / dims;
    for (int d = 0; d < dims; d++) {
        double half = 0.5 * t->length * exp(log(scale[d]) - mean);
        if (turns[d]) half = fmin(half, 0.5);
        low[d] = turns[d] ? center[d] - half : fmax(center[d] - half, 0);
        high[d] = turns[d] ? center[d] + half : fmin(center[d] + half, 1);
    }
}
