/* fine_cut.h - Ward's tree of the rows (fit/ward.h), or of many small pieces of them where there are many rows.
 *
 * Rows are columns of features and, last, a column that helps to cut and that new rows need not have (the confidence). Up to
 * SPOT_FINE_SAMPLE rows are the leaves of the tree themselves. Of more rows a sample is cut into SPOT_FINE_MOST pieces: a
 * systematic one, in which a row's chance grows by 1/n + error / (sum of errors), so that rare failures are in it. Then every
 * row joins the nearest mean of the sample's pieces, and the leaves are the pieces. So the work grows with n, not with its
 * square.
 *
 * Arrays lie on the host. On a GPU the trees (fit/ward_trees.h) and the search for the nearest means (map/centres.h) work on
 * copies; the means are sums on the host. The same bits on every device and for any number of threads. */
#ifndef SPOTTER_FINE_CUT_H
#define SPOTTER_FINE_CUT_H

#include "bdm/groups.h"
#include "fit/ward.h"
#include "spotter/rng.h"

enum { SPOT_FINE_SAMPLE = 4096, SPOT_FINE_MOST = 400 };        /* rows; pieces */

typedef struct {
    int n, d;                  /* d: columns, the last one included */
    const float *x;            /* (n, d) */
    const double *error;       /* (n): in [0, 1] */
    spot_seed seed;

    int *label;                /* (n): out, the leaf of each row */
    int leaves, most;          /* out; most: the leaves that were taken memory for */
    double *centre;            /* (most, d): out, means of the leaves' rows */
    spot_ward_merge *tree;     /* (most): out, the merges of the leaves, each cluster named by its first leaf */

    int sample;                /* rows of the tree */
    int *row;                  /* (sample): rows that are in the sample, ascending */
    float *tree_x;             /* (sample, d) */
    int *cut;                  /* (sample) */
    int *size;                 /* (most) */
    spot_ward_merge *merge;    /* (sample) */
    float *turned;             /* (d, leaves): centres, a column to a centre; memory for SPOT_FINE_MOST */
} spot_fine_cut;

/* Takes the arrays for n rows of d columns. A counting arena only counts. */
spot_status spot_fine_take(spot_ctx *c, spot_arena *a, spot_fine_cut *f, int n, int d);

/* Cuts count <= SPOT_BDM_GROUP problems; x, error and seed are set. Scratch of host and of work, which lies in the memory of
 * c's device; on the CPU it may be host. A counting work only counts. */
spot_status spot_fine_cuts(spot_ctx *c, spot_arena *host, spot_arena *work, int count, spot_fine_cut *f);

#endif
