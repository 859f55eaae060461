/* unit_rows.h - the points as the plain clusterings see them: every row of length 1, minus the mean of these rows, times the
 * number that makes their mean squared length 1; and `weight` times the confidence as one more column. So points of any size
 * and a confidence count alike. Rows that are all equal become 0. Host memory, fp32 from fp64. */
#ifndef SPOTTER_UNIT_ROWS_H
#define SPOTTER_UNIT_ROWS_H

#include "bdm/methods.h"
#include "bdm/rank.h"
#include "spotter/bdm.h"

typedef struct {
    int n, d;                  /* d: the points' columns and the confidence's */
    float *x;                  /* (n, d) */
    double *length;            /* (n): what a row is divided by */
    double *mean;              /* (d - 1), and ... */
    double scale;              /* ... the number: what new rows need */
} spot_unit_rows;

/* Takes the arrays for n rows of a problem whose points have `columns` coordinates. */
spot_status spot_unit_rows_take(spot_ctx *c, spot_arena *a, spot_unit_rows *u, int n, int columns);

/* Fills them. row (u->n): the rows of the problem; NULL: all. The same bits for any number of threads. */
void spot_unit_rows_build(spot_unit_rows *u, const spot_view *v, const spot_points *p, const int *row, double weight,
                          int threads);

/* centre (clusters, u->d): means of the rows of each label. */
void spot_unit_rows_centres(double *centre, const spot_unit_rows *u, const int *label, int clusters);

/* The first of the nearest of the centres (clusters, d); -1: there is none at a finite distance. */
int spot_nearest_centre(const float *x, const double *centre, int clusters, int d);

/* Keeps what new rows need: mean, number, and the centre of each cluster. Hypothesis k < len is cluster ranks[k].which. */
spot_status spot_unit_rows_keep(spot_ctx *c, spot_fit *f, const spot_unit_rows *u, const double *centre, int clusters,
                                const spot_rank *ranks, int len);

/* Assigns a new row to the hypothesis of its nearest centre, of equals the first, if that cluster is a hypothesis. wrong_only:
 * rows about which the classifier is right belong to none. The confidence must be known unless weight is 0 and all rows count.
 * method: for the error where it is not. */
spot_status spot_unit_rows_assign(spot_ctx *c, spot_arena *a, const spot_assignment *to, double weight, bool wrong_only,
                                  const char *method);

#endif
