/* fine_cut.h - rows cut into many small pieces, for methods that join pieces afterwards.
 *
 * Rows are columns of features and, last, a column that helps to cut and that new rows need not have (the confidence). Up to
 * SPOT_FINE_SAMPLE rows are cut by Ward's tree (fit/ward.h). Of more rows a sample is: a systematic one, in which a row's
 * chance grows by 1/n + error / (sum of errors), so that rare failures are in it. Then every row joins the nearest mean of the
 * sample's pieces. So the work grows with n, not with its square.
 *
 * The number of pieces is chosen by held-out evidence. The sample is halved at random; for each number of rows a piece may
 * have (8, 12, 18, 27), a half is cut, the error rate r of each piece is shrunken to (errors + mean error) / (rows + 1), and
 * each row of the other half takes the rate of the piece whose features are nearest. The number with the greatest sum of
 * error * log r + (1 - error) * log(1 - r) over both halves is taken; of equals the one of larger pieces.
 *
 * Host memory; the CPU on every device. The same bits for any number of threads. */
#ifndef SPOTTER_FINE_CUT_H
#define SPOTTER_FINE_CUT_H

#include "fit/ward.h"
#include "spotter/rng.h"

enum { SPOT_FINE_SAMPLE = 4096, SPOT_FINE_MOST = 400, SPOT_FINE_LEAST = 10 };      /* rows; pieces */

typedef struct {
    int n, d;                  /* d: columns, the last one included */
    const float *x;            /* (n, d) */
    const double *error;       /* (n): in [0, 1] */
    spot_seed seed;

    int *label;                /* (n): out, the piece of each row */
    int pieces, each;          /* out; each: rows of a piece that were chosen */
    double *centre;            /* (SPOT_FINE_MOST, d): out, means of the pieces' rows */
    int *size;                 /* (SPOT_FINE_MOST): out, rows of each piece, at least 1 but where no row joined it */

    int sample, half[2];       /* rows of the tree and of its halves */
    int *row;                  /* (sample): rows that are in the sample, ascending */
    int *order;                /* (sample): places in the sample, the first half, then the second */
    float *tree_x;             /* (sample, d); x where all rows are in it */
    float *half_x;             /* (sample, d): in order's order */
    int *cut;                  /* (sample) */
    spot_ward_merge *merge;    /* (3, sample): of the sample, of the first and the second half */
    float *turned;             /* (d, SPOT_FINE_MOST): centres, a column to a centre */
} spot_fine_cut;

/* Takes the arrays of a cut of n rows of d columns. A counting arena only counts. */
spot_status spot_fine_take(spot_ctx *c, spot_arena *a, spot_fine_cut *f, int n, int d);

/* Cuts; x, error and seed are set. scratch: for the trees. A counting scratch only counts. */
spot_status spot_fine_cuts(spot_ctx *c, spot_arena *scratch, int count, spot_fine_cut *f);

/* label (n): the nearest of the centres by the first `columns` columns of each row; of equals the first. centre has f->d
 * columns. turned: scratch as in spot_fine_cut. Squared distances in fp32, one chain in the order of the columns. */
void spot_fine_nearest(int *label, const float *x, int n, int d, int columns, const double *centre, int pieces, float *turned,
                       int threads);

#endif
