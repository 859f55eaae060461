/* groups.h - a method's problems in groups of at most SPOT_BDM_GROUP, each in the memory of the one before. */
#ifndef SPOTTER_GROUPS_H
#define SPOTTER_GROUPS_H

#include "spotter/bdm.h"

enum { SPOT_BDM_GROUP = 16 };

/* The problems of a group; the members are those of spot_method.find. */
typedef struct {
    int problems;
    spot_hypotheses *out;
    spot_fit *fits;            /* NULL: not wanted */
    const spot_view *views;
    const spot_points *points;
    const spot_seed *seeds;
    const spot_bdm_config *cfg;
} spot_bdm_group;

/* Solves a group. Takes from `host` first what outlives it, and rewinds the rest; `work` lies in the memory of c's device, and
 * on the CPU is `host`. While work->counting it only takes, and knows no more than n and d of each view and point. */
typedef spot_status spot_bdm_group_run(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g);

/* find: solves all problems of `all`. On a device it opens and closes the arena there. needs: the memory of find. */
spot_status spot_bdm_groups_find(spot_ctx *c, spot_arena *a, const spot_bdm_group *all, spot_bdm_group_run *run);
spot_bytes  spot_bdm_groups_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg,
                                  spot_bdm_group_run *run);

#endif
