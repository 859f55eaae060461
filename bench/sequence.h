/* sequence.h - numbers that a bench and its peer both make: number i of quadratic sequences, uniform, and then normal.
 * bench/peers/barlow_sklearn.py has the same formulas. */
#ifndef SPOTTER_SEQUENCE_H
#define SPOTTER_SEQUENCE_H

#include <math.h>

static inline double sequence_uniform(double i, double a, double b) { return fmod(i * a + fmod(i * i * b, 1), 1); }

static inline double sequence_normal(double i)
{
    double u = sequence_uniform(i + 1, 0.6180339887, 0.4142135624), v = sequence_uniform(i + 1, 0.7320508076, 0.2360679775);

    return sqrt(-2 * log(u + 1e-9)) * cos(6.283185307179586 * v);
}

#endif
