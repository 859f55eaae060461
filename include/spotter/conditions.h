/* conditions.h - the conditions under which an object is seen: paper 002 (Adversarial Examiner, Shu et al. 2020), Table 1.
 *
 * Twelve numbers: the rotation of the sun (three), the energies of sun and lamp, the place of the lamp (three), the place of
 * the camera (three) and its roll. Angles are degrees; lengths are in units of the object's diagonal (mesh.h). */
#ifndef SPOTTER_CONDITIONS_H
#define SPOTTER_CONDITIONS_H

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

#ifdef __cplusplus
}
#endif
#endif
