/* group_sums.h - sums of rows that come in groups: rows of one group depend on each other, groups do not. A sum of wrong rows
 * less those that a rate lets expect, or of rows that were lost less those that were gained, is tested by the signs of its
 * groups' parts: where nothing is behind it, each part might as well have the other sign. */
#ifndef SPOTTER_GROUP_SUMS_H
#define SPOTTER_GROUP_SUMS_H

#include <stdbool.h>

#include "spotter/ctx.h"
#include "spotter/interval.h"

/* Up to SPOT_SIGNS_EXACT groups whose part is not 0 all signs are looked at, beyond them SPOT_SIGNS_DRAWS draws. */
enum { SPOT_SIGNS_EXACT = 16, SPOT_SIGNS_DRAWS = 9999 };

typedef struct {
    int     n;                 /* groups that have rows */
    double *sum;               /* (n) */
    int    *rows;              /* (n) */
    int    *place;             /* (groups): of each group's sum; -1: none */
    int    *group;             /* (n): which */
} spot_group_sums;

/* Groups are numbered below `groups`. clear: no group has rows. */
spot_status spot_group_sums_open (spot_ctx *c, spot_group_sums *g, int groups);
void        spot_group_sums_close(spot_group_sums *g);
void        spot_group_sums_clear(spot_group_sums *g);
void        spot_group_sums_add  (spot_group_sums *g, int group, double value);

/* P(the sum with each part's sign drawn >= the sum as it is): exact, or (1 + draws) / (1 + SPOT_SIGNS_DRAWS) with the random
 * numbers of `address`. below: P(<=). With m groups neither is below 2^-m. 1 for no group. */
double spot_signs_tail (const spot_group_sums *g, uint32_t address);
double spot_signs_below(const spot_group_sums *g, uint32_t address);

/* The mean over all rows, with the interval by Student's t of the groups' parts (n - 1 degrees of freedom), beyond each end of
 * which lies `tail`. NaN from -1 to 1 for no rows; one group leaves everything open. */
spot_interval spot_group_mean(const spot_group_sums *g, double tail);

/* A row of some classes. `in`: its excess is asked for. beyond: its error, 0 or 1, less the rate of its class; share: the share
 * of its class's rows that are in. */
typedef struct { int group; bool in; double beyond, share; } spot_group_row;

/* The error rate of the rows that are in less that of their classes. The classes' rates come from the same groups, so the sums
 * of g become what each group adds to the difference through both. The interval is that of spot_group_mean, with the degrees of
 * freedom of the groups that are in, or of those of the classes' other rows where these are fewer. *groups: those that are
 * in. */
spot_interval spot_group_excess(spot_group_sums *g, const spot_group_row *row, int n, int *groups);

/* The standard error of that mean; 0 for fewer than two groups. */
double spot_group_error(const spot_group_sums *g);

/* The hull of both. */
spot_interval spot_wider(spot_interval a, spot_interval b);

#endif
