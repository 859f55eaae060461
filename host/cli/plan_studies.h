/* plan_studies.h - `spotter plan` of the studies that are no sweep. */
#ifndef SPOTTER_PLAN_STUDIES_H
#define SPOTTER_PLAN_STUDIES_H

#include "cli/cli.h"

/* quick: no calibration, so no estimate of time. */
typedef struct { const char *config; bool json, quick; } cli_plan;

/* Each prints the plan of a config of its study; text (len): the config's YAML, for its path o->config. */
spot_status cli_plan_background(spot_ctx *c, const cli_plan *o, const char *text, size_t len);
spot_status cli_plan_examine   (spot_ctx *c, const cli_plan *o, const char *text, size_t len);
spot_status cli_plan_shifts    (spot_ctx *c, const cli_plan *o, const char *text, size_t len);

#endif
