/* op_mixtures.h - mixtures whose number of components BIC chooses, from points to labels on the host, for
 * tests/test_cuda_mixture.c and bench_mixture.c. */
#ifndef SPOTTER_OP_MIXTURES_H
#define SPOTTER_OP_MIXTURES_H

#include "op.h"
#include "spotter/cluster.h"

/* size: points, largest K */
typedef struct {
    spot_mixture_config cfg;   /* the same for all problems of a run */
    int ks;
    spot_mat x;                /* (n, 3), on the host as the results are */
    spot_seed seed;
    spot_mixture best, *all;   /* all: (ks) */
    int *label;
    int *chosen;               /* (n): the labels, and the BIC of each K, for the tests */
    double *bic;
} spot_op_mixtures;
extern const spot_op spot_op_bic;

#endif
