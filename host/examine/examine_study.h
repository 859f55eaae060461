/* examine_study.h - functions for the study's files of results. */
#ifndef SPOTTER_EXAMINE_STUDY_H
#define SPOTTER_EXAMINE_STUDY_H

#include "examine/examine_config.h"
#include "spotter/work.h"

/* Reads all results of a run; `missing` where some are not there. */
spot_status spot_examine_collect(spot_ctx *c, const spot_study *y, spot_examine_results *r, const char *dir);

/* Fills r->summary. */
spot_status spot_examine_summarise(spot_ctx *c, spot_examine_results *r);

/* Writes examine.json and examine.csv if all results are there. */
spot_status spot_examine_write(spot_ctx *c, const spot_study *y, const char *dir, const char *key);

#endif
