/* ward_near.h - the workspace of Ward's clustering on the CPU, and the search for each cluster's nearest (ward_near.c). */
#ifndef SPOTTER_WARD_NEAR_H
#define SPOTTER_WARD_NEAR_H

#include <stdbool.h>

#include "core/gemm.h"
#include "fit/ward_scratch.h"

enum { BLOCK = SPOT_GEMM_COLS, TOGETHER = SPOT_GEMM_ROWS };        /* slots and queries of a block of fp32 distances */
enum { KNOWN = 8 };            /* near clusters that a cluster knows */
enum { STALE = 1, MERGED = 2 };

typedef struct { const float *x; size_t bytes; int row; } row_bytes;

/* One job's workspace. Slots hold the clusters, in the order of their first rows. A slot of size 0 has merged into another. */
typedef struct {
    int        slots, threads;
    double    *mean;           /* (slots, d) */
    float    (*low)[BLOCK];    /* (blocks, d, BLOCK): the means, rounded */
    double    *norm;           /* (slots): squared lengths of the means */
    double     keep, sure;     /* see ward_near.c */
    double    *size;           /* (slots): rows; 0 from `slots` to the end of the block */
    int       *first;          /* (slots): first row */
    int       *near;           /* (slots): nearest other slot */
    double    *cost;           /* (slots): of merging with it */
    uint8_t   *stale;          /* (slots): 0; STALE or MERGED where near is not known */
    int       *known;          /* (slots, KNOWN): first rows of near clusters at the last search; -1: no more */
    double    *bound;          /* (slots): what all others cost at least, then and later */
    int       *list;           /* (slots): stale slots, or where slots move to */
    int       *slot_of;        /* (n): of a row */
    row_bytes *order;          /* (n) */
    float     *rounded;        /* (threads, TOGETHER, d) */
} ward_work;

/* Sets what the search needs to know of a slot whose mean has changed. */
void spot_ward_round_mean(ward_work *w, int slot, int d);

/* Before the first search: how far fp32 can be trusted. longest: the largest squared length of a mean. */
void spot_ward_trust(ward_work *w, double longest, int d);

/* near and cost of all slots that are STALE or MERGED. */
void spot_ward_find_near(ward_work *w, int d);

#endif
