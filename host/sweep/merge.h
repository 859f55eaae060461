/* merge.h - what the parts of spot_merge share. */
#ifndef SPOTTER_MERGE_H
#define SPOTTER_MERGE_H

#include <sys/types.h>

#include "spotter/shards.h"
#include "store/batch.h"
#include "sweep/segment.h"

/* A run directory, and how far its segments have been gone through. */
typedef struct {
    const char *dir;
    dev_t device;
    ino_t inode;
    int  *index, n, at;        /* (n) ascending */
    bool  equal;               /* has the chosen segment of the EC at hand */
} spot_merge_source;

typedef struct {
    const char  *out;
    int          sources;
    spot_merge_source *source; /* out is the first, when it holds a run */
    bool         onto;         /* it does */
    spot_config *cfg;          /* with the longest `ecs` */
    char         config[33];   /* its key; "": no segment is of these numbers */
} spot_merge_plan;

/* merge_plan.c: looks at all directories, changes nothing. Free it also after a failure. */
spot_status spot_merge_plan_make(spot_ctx *c, spot_merge_plan *p, const char *const *dirs, int n, const char *out);
void        spot_merge_plan_free(spot_merge_plan *p);

/* merge_cache.c: the sources' stage values that out has not. */
spot_status spot_merge_cache(spot_ctx *c, const spot_merge_plan *p);

#endif
