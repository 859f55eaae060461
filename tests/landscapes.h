/* landscapes.h - p of a true class over the conditions, in place of renders and a model: where it is low is known.
 *
 * Means over the paper's nine factors: smooth .43, caps .61, corner .77. Each object (number) has small waves of its own. */
#ifndef SPOTTER_TESTS_LANDSCAPES_H
#define SPOTTER_TESTS_LANDSCAPES_H

#include <math.h>

#include "spotter/conditions.h"

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

#endif
