/* landscapes.h - p of a true class over the conditions, in place of renders and a model: where it is low is known.
 *
 * Means over the paper's nine factors: smooth .43, caps .61, corner .75, rough .60. Each object (number) has its own waves. */
#ifndef SPOTTER_TESTS_LANDSCAPES_H
#define SPOTTER_TESTS_LANDSCAPES_H

#include <math.h>

#include "spotter/mesh.h"
#include "spotter/rng.h"

typedef double (*landscape)(const spot_conditions *f, uint32_t number);

/* Waves of size 1 with whole periods in a turn. */
static inline double landscape_waves(const spot_conditions *f, uint32_t number)
{
    const double turn = 3.14159265358979323846 / 180;

    return (sin(turn * f->value[SPOT_LAMP_AZIMUTH] + number) + sin(2 * turn * f->value[SPOT_CAMERA_ROLL] + 2.0 * number) +
            sin(3 * turn * f->value[SPOT_CAMERA_AZIMUTH] + 3.0 * number)) / 3;
}

/* p falls with |elevation| and with the sun's energy, to .12. */
static inline double landscape_smooth(const spot_conditions *f, uint32_t number)
{
    (void)number;
    return .95 * (1 - .65 * fabs(f->value[SPOT_CAMERA_ELEVATION]) / 90) * (1 - .65 * f->value[SPOT_SUN_ENERGY] / 5);
}

/* Two polar caps, a third of the volume: p is .03 there. */
static inline int landscape_in_caps(const spot_conditions *f) { return fabs(f->value[SPOT_CAMERA_ELEVATION]) > 60; }

static inline double landscape_caps(const spot_conditions *f, uint32_t number)
{
    return landscape_in_caps(f) ? .03 : .9 + .05 * landscape_waves(f, number);
}

/* Near the poles and close by, an eighth of the volume: the region of the study's config. Its edge is soft, and outside of it p
 * has hollows that lead elsewhere. */
static inline int landscape_in_corner(const spot_conditions *f)
{
    return fabs(f->value[SPOT_CAMERA_ELEVATION]) > 60 && f->value[SPOT_CAMERA_DISTANCE] < 2.5;
}

static inline double landscape_corner(const spot_conditions *f, uint32_t number)
{
    const double up = (fabs(f->value[SPOT_CAMERA_ELEVATION]) - 60) / 3, near = (2.5 - f->value[SPOT_CAMERA_DISTANCE]) / .08;
    const double inside = 1 / (1 + exp(-up)) / (1 + exp(-near));

    return inside * .03 + (1 - inside) * (.85 + .12 * landscape_waves(f, number));
}

/* A wave over so many factors, of mean square 1, with about `periods` of them in each range; whole ones in a turn. */
static inline double landscape_wave(spot_rng *r, const spot_factor_space *s, const double *x, int factors, double periods)
{
    const double turn = 2 * 3.14159265358979323846;
    double phase = turn * spot_rng_uniform(r);

    for (int j = 0; j < factors; j++) {
        int d = (int)spot_rng_below(r, (uint32_t)s->dims);
        double f = periods * (.5 + spot_rng_uniform(r)) * (spot_rng_uniform(r) < .5 ? -1 : 1);
        if (s->turns[d]) f = round(f + (f < 0 ? -.5 : .5));
        phase += turn * f * x[d];
    }
    return sqrt(2) * sin(phase);
}

/* Random waves: long ones of one and of two factors, short ones of three. The lowest p of 1,000 uniform points is about .10,
 * the mean around that point .17: pin-pricks, as trained networks have them. 34 waves a call: slower than the others. */
static inline double landscape_rough(const spot_conditions *f, uint32_t number)
{
    const spot_factor_space s = spot_factor_space_paper();
    spot_rng r = spot_rng_at(99, SPOT_RNG_PLANT, number, 0);
    double x[SPOT_FACTORS], one = 0, two = 0, many = 0;

    spot_factor_space_point(x, &s, f);
    for (int w = 0; w < 9; w++) one += landscape_wave(&r, &s, x, 1, .5) / 3;
    for (int w = 0; w < 9; w++) two += landscape_wave(&r, &s, x, 2, .6) / 3;
    for (int w = 0; w < 16; w++) many += landscape_wave(&r, &s, x, 3, 6) / 4;
    return 1 / (1 + exp(-(.7 + .6 * one + .6 * two + .55 * many)));
}

#endif
