/* conditions.h - the conditions under which an object is seen: paper 002 (Adversarial Examiner, Shu et al. 2020), Table 1.
 *
 * Twelve numbers: the rotation of the sun (three), the energies of sun and lamp, the place of the lamp (three), the place of
 * the camera (three) and its roll. Angles are degrees; lengths are in units of the object's diagonal (mesh.h). */
#ifndef SPOTTER_CONDITIONS_H
#define SPOTTER_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

/*    factor             name in a config     symbol   unit        least  most  turns */
#define SPOT_FACTOR_TABLE(X)                                                           \
    X(SUN_X,             sun_x,               alpha_o, degrees,        0,  360, true)  \
    X(SUN_Y,             sun_y,               beta_o,  degrees,        0,  360, true)  \
    X(SUN_Z,             sun_z,               zeta_o,  degrees,        0,  360, true)  \
    X(LAMP_ENERGY,       lamp_energy,         Gamma_l, 1,            0.3,    1, false) \
    X(SUN_ENERGY,        sun_energy,          Gamma_o, 1,              0,    5, false) \
    X(LAMP_DISTANCE,     lamp_distance,       r_l,     diagonals,      8,   20, false) \
    X(LAMP_AZIMUTH,      lamp_azimuth,        A_l,     degrees,        0,  360, true)  \
    X(LAMP_ELEVATION,    lamp_elevation,      U_l,     degrees,      -90,   90, false) \
    X(CAMERA_DISTANCE,   camera_distance,     r_v,     diagonals,      1,    5, false) \
    X(CAMERA_AZIMUTH,    camera_azimuth,      A_v,     degrees,        0,  180, false) \
    X(CAMERA_ELEVATION,  camera_elevation,    U_v,     degrees,      -90,   90, false) \
    X(CAMERA_ROLL,       camera_roll,         theta_v, degrees,        0,  360, true)

typedef enum {
#define X(NAME, name, symbol, unit, least, most, turns) SPOT_##NAME,
    SPOT_FACTOR_TABLE(X)
#undef X
    SPOT_FACTORS
} spot_condition;

/* One set of conditions. */
typedef struct { float value[SPOT_FACTORS]; } spot_conditions;

/* The label of SPOT_SUN_X is "sun_x", and find gives SPOT_SUN_X for "sun_x"; -1: no factor.
 * Units: "degrees", "diagonals", "". */
const char *spot_factor_label(int factor);
const char *spot_factor_unit (int factor);
int         spot_factor_find (const char *name);

/* ---- the factors that a search changes ---- */

typedef struct { int factor; double least, most; } spot_factor_range;      /* least = most: fixed */

/* The unit cube of a search: dimension d is one factor. What is not in it is fixed or drawn once for an object. */
typedef struct {
    int    dims;                       /* 1 to SPOT_FACTORS */
    int    factor[SPOT_FACTORS];       /* (dims) */
    double least[SPOT_FACTORS], most[SPOT_FACTORS];    /* (dims), least < most */
    bool   turns[SPOT_FACTORS];        /* (dims): 360 degrees, so 0 and 1 are the same condition */
} spot_factor_space;

/* The paper's nine, in its order (Gamma_l, Gamma_o, r_l, A_l, U_l, r_v, A_v, U_v, theta_v), with the ranges above. */
spot_factor_space spot_factor_space_paper(void);

/* The space of n ranges in their order. Ranges of no width (as floats) give no dimension; *fixed gets the value of every factor
 * that the ranges fix, and NaN for the others. SPOT_USAGE: a factor twice, least above most, a number that is not finite or
 * that render.h refuses, a camera distance that is not above 0, no dimension left. */
spot_status spot_factor_space_of(spot_ctx *c, spot_factor_space *s, spot_conditions *fixed, const spot_factor_range *r, int n);

/* Sets the factors of the space from a point x (dims) of the cube; and back. */
void spot_factor_space_place(spot_conditions *f, const spot_factor_space *s, const double *x);
void spot_factor_space_point(double *x, const spot_factor_space *s, const spot_conditions *f);

/* Draws every factor of *f that is NaN uniformly in its paper's range: the sun's rotation, which the paper draws once for an
 * object. Address: (seed, SPOT_RNG_CONDITIONS, number, factor). */
void spot_conditions_draw(spot_conditions *f, uint64_t seed, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
