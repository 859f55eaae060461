/* versions_examine.h - the values of two models from results in memory. */
#ifndef SPOTTER_VERSIONS_EXAMINE_H
#define SPOTTER_VERSIONS_EXAMINE_H

#include "spotter/examine.h"
#include "versions/version_values.h"

/* v[i]: of model model[i] of r[i]. SPOT_INPUT where the runs differ in anything but the models. The caller closes v's memory,
 * also after a failure. */
spot_status spot_examine_version_values(spot_ctx *c, spot_version_values v[SPOT_VERSIONS],
                                        const spot_examine_results r[SPOT_VERSIONS], const int model[SPOT_VERSIONS]);

#endif
