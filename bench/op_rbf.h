/* op_rbf.h - variance matrices, for tests/test_cuda_rbf.c and bench_rbf.c. */
#ifndef SPOTTER_OP_RBF_H
#define SPOTTER_OP_RBF_H

#include "map/rbf.h"
#include "op.h"

/* How the distances of a problem's images lie. */
enum {
    OP_RBF_SPREAD,             /* over the whole axes */
    OP_RBF_ZERO, OP_RBF_EQUAL, /* all 0; all in the middle */
    OP_RBF_MIXED,              /* some are NaN, beyond the axes or below 0, some responses NaN or infinite */
    OP_RBF_NARROW,             /* in the first fifth */
    OP_RBF_STEPPED,            /* multiples of a ninth */
    OP_RBF_NONE                /* all NaN */
};

typedef struct {
    spot_rbf_config cfg;
    spot_rbf_problem p;
} spot_op_rbf;

/* size: targets, images, signals, grid, kernel, nearest, method + 2 x kind, sigma in thousandths */
extern const spot_op spot_op_rbf_matrices;

#endif
