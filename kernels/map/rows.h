/* rows.h - rows on their way from one op to the next, for `problems` independent matrices, so that they need not pass through
 * the host.
 *
 *   pick:     y[i,j] = (x[r,f] - minus) times / over,  r the i-th row and f the j-th column that are wanted
 *   prepare:  rows of length 1, without their part along a direction
 *   squares:  square[j] = sum_i x[i,j]^2
 *   fade:     loss[i] = loss[i] (1 - weight[i] / most), as Spotlight does after each spotlight
 *   best:     best[i] = the first s with the greatest value[choice s, i], of a mixture's responsibilities
 *
 * Input and result are fp32, all between them is fp64, a sum one chain in the order of i, or of a row's columns. Every
 * operation is correctly rounded, so every device gives the same bits (gpu_to_gpu). Arrays lie in the memory of c's device,
 * the structs on the host. */
#ifndef SPOTTER_ROWS_H
#define SPOTTER_ROWS_H

#include "core/ops.h"

/* A column of y is made of column `from` of x; over 0: the column is 0. */
typedef struct { int from; double minus, times, over; } spot_rows_column;

/* Entry (i, j) of x is x[i x_row + j x_column], and the same of y. y may be x itself where rows and columns stay. */
typedef struct {
    int n, d;                          /* rows and columns of y; either may be 0 */
    const float *x;
    size_t x_row, x_column;
    const int *row;                    /* (n): rows of x; NULL: 0, 1, ... */
    const spot_rows_column *column;    /* (d); NULL: the columns of x as they are */
    float *y;
    size_t y_row, y_column;
} spot_rows_pick_problem;

/* normalise: a row is divided by its length, at least 1e-6. Then its part along `head` is taken out. */
typedef struct {
    int n, d, normalise;
    const float *x;                    /* (n, d) */
    const float *head;                 /* (d), of length `length` > 0; NULL: nothing is taken out */
    double length;
    float *y;                          /* (n, d), not x */
    float *along;                      /* (n): the part along head; NULL: not wanted */
} spot_rows_prepare_problem;

typedef struct {
    int n, d;
    const float *x;                    /* (n, d) */
    double *square;                    /* (d), out */
} spot_rows_squares_problem;

typedef struct {
    int n;
    double most;                       /* above 0 */
    const double *weight;              /* (n) */
    double *loss;                      /* (n), changed in place */
} spot_rows_fade_problem;

typedef struct {
    int n, len;
    const double *value;               /* (.., n): n numbers of each choice, none NaN */
    const int *choice;                 /* (len): rows of value; NULL: 0, 1, ... */
    int *best;                         /* (n), out: below len */
} spot_rows_best_problem;

struct spot_rows_ops {
    spot_status (*pick)(spot_ctx *c, int problems, const spot_rows_pick_problem *p);
    spot_status (*prepare)(spot_ctx *c, int problems, const spot_rows_prepare_problem *p);
    spot_status (*squares)(spot_ctx *c, int problems, const spot_rows_squares_problem *p);
    spot_status (*fade)(spot_ctx *c, int problems, const spot_rows_fade_problem *p);
    spot_status (*best)(spot_ctx *c, int problems, const spot_rows_best_problem *p);
};

/* SPOT_INVALID where n or d is below 0; for the others where a size is below 1, and where a length or `most` is not above 0. */
spot_status spot_rows_pick(spot_ctx *c, int problems, const spot_rows_pick_problem *p);
spot_status spot_rows_prepare(spot_ctx *c, int problems, const spot_rows_prepare_problem *p);
spot_status spot_rows_squares(spot_ctx *c, int problems, const spot_rows_squares_problem *p);
spot_status spot_rows_fade(spot_ctx *c, int problems, const spot_rows_fade_problem *p);
spot_status spot_rows_best(spot_ctx *c, int problems, const spot_rows_best_problem *p);

#endif
