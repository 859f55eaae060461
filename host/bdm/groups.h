/* groups.h - the one form of all methods: problems in groups, each in the memory of the one before. */
#ifndef SPOTTER_GROUPS_H
#define SPOTTER_GROUPS_H

#include "spotter/bdm.h"

enum { SPOT_BDM_GROUP = 32 };          /* the most problems of a group */

/* The problems of a group, and what they get and give (spot_bdm_fit). The members of out are 0. */
typedef struct {
    int problems;
    spot_hypotheses *out;
    spot_fit *fits;            /* NULL: not wanted */
    const spot_view *views;
    const spot_points *points;
    const spot_seed *seeds;
    const spot_bdm_config *cfg;

    int **row;                 /* (problems): memory for the rows of a problem's hypotheses: n, or top * n where they overlap */
    float **weight;            /* (problems): memory for their weights, (top, n), if the method weighs rows */
    size_t *beside;            /* while counting: the most device memory that a call of the method opens for itself */
} spot_bdm_group;

/* Solves a group with scratch of host and of work, which lies in the memory of c's device; on the CPU it is host. While
 * work->counting it only takes, and knows no more than n and d of each view and point; out, fits and seeds may be NULL. */
typedef spot_status spot_bdm_solve(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g);

/* Scratch of a call that takes it from a by itself. A counting arena counts it; else it is there, or SPOT_NOMEM. */
spot_status spot_bdm_scratch(spot_ctx *c, spot_arena *a, size_t bytes);

/* While counting: the memory of a call that takes from host and, on a GPU, opens device memory of its own. */
spot_status spot_bdm_call(spot_ctx *c, spot_arena *host, const spot_bdm_group *g, spot_bytes needs);

struct spot_method;

/* Solves all problems of `all`, whose row, weight and beside are not set. On a GPU it opens and closes the memory there. */
spot_status spot_bdm_groups_find(spot_ctx *c, spot_arena *a, const spot_bdm_group *all, const struct spot_method *m);

/* The memory of spot_bdm_groups_find for these problems or any of them: the largest may meet in a group. */
spot_bytes  spot_bdm_groups_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg,
                                  const struct spot_method *m);

#endif
