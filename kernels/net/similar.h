/* similar.h - rows compared with the rows of a table by their products: pictures with captions, groups with phrases.
 *
 *     dots       y[i,j] = a_i . t_j
 *     best       y[i]   = the greatest a_i . t_j over all j
 *     columns    y[i,k] = the cosine of a_i and a row of the table that column k names, or the greatest of several
 *     sums       y[r,g] = sums of rows of x in a drawn order, of every wanted length at once: means of random groups
 *
 * A table keeps its rows on c's device. On the CPU dots and columns are chains in fp64 and best is one in fp32 (gemm.h), each
 * in the order of the numbers: the same bits for any number of threads. On CUDA cuBLASLt multiplies in fp32, without TF32
 * (linear.h): run_to_run, within 2e-6 |a| |t| of the CPU. sums are fp64, one chain in the order of the rows, on every device:
 * gpu_to_gpu.
 *
 * Arrays lie in the memory of c's device and begin at multiples of 16 bytes; what a table is opened with lies on the host. */
#ifndef SPOTTER_SIMILAR_H
#define SPOTTER_SIMILAR_H

#include <stdbool.h>

#include "core/ops.h"
#include "spotter/arena.h"

typedef struct spot_similar spot_similar;

/* A column of similarities. of_class: row first + cls[i] of the table; else the greatest of rows first to first + count - 1,
 * NaN if one of them is NaN. A row of length 0 gives NaN. */
typedef struct {
    int first, count;
    bool of_class;
} spot_similar_column;

typedef struct {
    const float *a;                    /* (n, d) */
    int n;
    const int *cls;                    /* (n): classes of these rows; only read for a column of_class */
    const spot_similar_column *column; /* (columns), on the host */
    int columns;
} spot_similar_rows;

/* A group of a round: the sum of the first `length` rows of the round's order, times `factor`. */
typedef struct {
    int which, length;                 /* which: its place among the groups of y */
    double factor;
} spot_similar_group;

typedef struct {
    int n, d, groups, rounds, longest;
    const float *x;                    /* (n, d) */
    const int *order;                  /* (rounds, longest): rows of x */
    const spot_similar_group *group;   /* (groups), of rising length, `longest` at most */
    float *y;                          /* (rounds, groups, d) */
} spot_similar_sums_problem;

struct spot_similar_ops {
    spot_status (*open)(spot_ctx *c, spot_similar **table, const float *row, int rows, int d);
    void        (*close)(spot_ctx *c, spot_similar *table);
    spot_status (*dots)(spot_ctx *c, spot_similar *table, float *y, const float *a, int n);
    spot_status (*best)(spot_ctx *c, spot_similar *table, float *y, const float *a, int n);
    spot_status (*columns)(spot_ctx *c, spot_similar *table, float *y, const spot_similar_rows *p);
    spot_status (*sums)(spot_ctx *c, const spot_similar_sums_problem *p);
};

/* Opens a table of rows (rows, d) on the host, which are copied. *table is NULL after a failure; close accepts NULL. A table
 * serves one caller at a time. */
spot_status spot_similar_open(spot_ctx *c, spot_similar **table, const float *row, int rows, int d);
void        spot_similar_close(spot_ctx *c, spot_similar *table);

/* Bytes of host memory that a table takes on the CPU. */
static inline size_t spot_similar_bytes(size_t rows, size_t d) { return 2 * rows * d * sizeof(float); }

/* a (n, d); y (n, rows), or (n) of best. */
spot_status spot_similar_dots(spot_ctx *c, spot_similar *table, float *y, const float *a, int n);
spot_status spot_similar_best(spot_ctx *c, spot_similar *table, float *y, const float *a, int n);

/* y (n, columns) */
spot_status spot_similar_columns(spot_ctx *c, spot_similar *table, float *y, const spot_similar_rows *p);

spot_status spot_similar_sums(spot_ctx *c, const spot_similar_sums_problem *p);

#endif
