/* methods.h - the table of discovery methods. To add one: its value in bdm.h, its file here, its row in bdm.c. */
#ifndef SPOTTER_HOST_BDM_METHODS_H
#define SPOTTER_HOST_BDM_METHODS_H

#include "spotter/bdm.h"

typedef spot_status spot_bdm_find_fn(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                                     const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg);

typedef spot_bytes spot_bdm_needs_fn(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg);

spot_bdm_find_fn  spot_planespot_find;
spot_bdm_needs_fn spot_planespot_needs;

#endif
