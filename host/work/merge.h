/* merge.h - what the parts of spot_work_merge share. */
#ifndef SPOTTER_MERGE_H
#define SPOTTER_MERGE_H

#include <sys/types.h>

#include "store/batch.h"
#include "work/frame.h"

/* A run directory, and how far its segments have been gone through. */
typedef struct {
    const char *dir;
    dev_t device;
    ino_t inode;
    int  *unit, n, at;         /* (n) ascending */
    bool  equal;               /* has the chosen segment of the unit at hand */
} spot_merge_source;

typedef struct {
    const spot_study *study;
    const char  *out;
    int          sources;
    spot_merge_source *source; /* out is the first, when it holds a run */
    bool         onto;         /* it does */
    void        *config;       /* with the most units */
    int          units;
    char         key[33];      /* the config's; "": no segment is of these numbers */
} spot_merge_plan;

/* merge_plan.c: looks at all directories, changes nothing. Free it also after a failure. */
spot_status spot_merge_plan_make(spot_ctx *c, spot_merge_plan *p, const char *const *dirs, int n);
void        spot_merge_plan_free(spot_merge_plan *p);

/* merge_cache.c: the sources' stage values that out has not. */
spot_status spot_merge_cache(spot_ctx *c, const spot_merge_plan *p);

#endif
