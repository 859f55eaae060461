/* background_study.h - one function of the study, for its file of results. */
#ifndef SPOTTER_BACKGROUND_STUDY_H
#define SPOTTER_BACKGROUND_STUDY_H

#include "background/background_config.h"
#include "spotter/work.h"

/* Reads all results of a run; `missing` where some are not there. */
spot_status spot_background_collect(spot_ctx *c, const spot_study *y, spot_background_results *r, const char *dir);

/* Writes background.json and background.csv if all results are there. */
spot_status spot_background_write(spot_ctx *c, const spot_study *y, const char *dir, const char *key);

#endif
