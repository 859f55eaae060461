/* methods.h - the interface of a discovery method (table: SPOT_BDM_METHODS in spotter/bdm.h). */
#ifndef SPOTTER_METHODS_H
#define SPOTTER_METHODS_H

#include "base/setting.h"
#include "bdm/groups.h"
#include "spotter/bdm.h"
#include "stats/mixture_settings.h"

/* New rows, the hypotheses of a fit, and who belongs where. points: the rows after the reducer. */
typedef struct {
    uint8_t *member;                   /* (rows, hypotheses) */
    int hypotheses;
    const spot_view *rows;
    const spot_points *points;
    const spot_fit *fit;
    const spot_bdm_config *cfg;
} spot_assignment;

typedef struct spot_method {
    bool weighs;           /* its hypotheses have weights */
    bool overlap;          /* they may share rows */
    bool own_rows;         /* it looks at no points on a device: it makes rows of its own, or needs none */

    /* The method's own settings, members of spot_bdm_config. NULL: none. */
    const spot_setting *settings;

    /* Sets defaults that differ from spot_embed_defaults and the like: reducer, representation. NULL: no differences. */
    void (*defaults)(spot_bdm_config *cfg);

    /* Sets the defaults of cfg's profile (spot_bdm_preset). NULL: the method has no profiles. */
    void (*preset)(spot_bdm_config *cfg);

    /* Does the work of spot_bdm_fit, which has checked confidences and points, for a group of problems. */
    spot_bdm_solve *solve;

    /* Does the work of spot_bdm_assign, for at least one row and one hypothesis. member is 0 everywhere. c is the CPU's. A
     * counting arena only counts. fit comes from a file: check everything. NULL: the method cannot assign new rows, and ignores
     * fits. */
    spot_status (*assign)(spot_ctx *c, spot_arena *a, const spot_assignment *to);
} spot_method;

#define X(NAME, name) extern const spot_method spot_method_##name;
SPOT_BDM_METHODS(X)
#undef X

extern const spot_setting spot_bdm_settings[];       /* rows for spot_bdm_config; the first row names the method */

/* Rows that several methods share. */
#define SPOT_BDM_ROW(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_bdm_config, field, help, __VA_ARGS__)
#define SPOT_BDM_MIXTURE \
    SPOT_BDM_ROW("mixture", GROUP, mixture, "Gaussian mixture; PlaneSpot chooses its size by BIC", \
                 .rows = spot_mixture_settings)
#define SPOT_BDM_PROFILE "profile"         /* the setting that names defaults */
#define SPOT_BDM_COMPAT \
    SPOT_BDM_ROW("compat", SWITCH, compat, "behaviour of the method's upstream code, to the letter", SPOT_SWITCH)

#endif
