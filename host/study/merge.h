/* merge.h - types and functions that the parts of spot_work_merge share. */
#ifndef SPOTTER_MERGE_H
#define SPOTTER_MERGE_H

#include <sys/types.h>

#include "store/batch.h"
#include "study/frame.h"

/* A run directory, and the position in the list of its segments. */
typedef struct {
    const char *dir;
    dev_t device;
    ino_t inode;
    int  *unit, n, at;         /* (n) ascending */
    bool  equal;               /* has the chosen segment of the current unit */
} spot_merge_source;

typedef struct {
    const spot_study *study;
    const char  *out;
    int          sources;
    spot_merge_source *source; /* (sources); out is the first, if it holds a run */
    bool         onto;         /* out holds a run */
    void        *config;       /* the config with the most units */
    int          units;
    char         key[33];      /* the config's key; "": no segment has these numbers */
} spot_merge_plan;

/* merge_plan.c: reads all directories and changes nothing. Free it also after a failure. */
spot_status spot_merge_plan_make(spot_ctx *c, spot_merge_plan *p, const char *const *dirs, int n);
void        spot_merge_plan_free(spot_merge_plan *p);

/* merge_cache.c: links into out the stage values of the sources that it lacks. */
spot_status spot_merge_cache(spot_ctx *c, const spot_merge_plan *p);

/* merge_convolutions.c: links into out the plans of cuDNN that it lacks, and warns of a source whose plans are others. */
spot_status spot_merge_plans(spot_ctx *c, const spot_merge_plan *p);

#endif
