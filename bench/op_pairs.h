/* op_pairs.h - ops on all pairs of points, for tests/test_cuda_map.c and bench_pairs.c. */
#ifndef SPOTTER_OP_PAIRS_H
#define SPOTTER_OP_PAIRS_H

#include "map/affinity.h"
#include "map/distance.h"
#include "map/pca.h"
#include "op.h"

/* size: n, m, features */
typedef struct { spot_mat d, a, b; } spot_op_distances;
extern const spot_op spot_op_distance;

/* size: rows, features, axes (0: covariance alone) */
typedef struct { spot_pca_problem pca; int id; } spot_op_components;
extern const spot_op spot_op_pca;

/* size: points, features, neighbours. From features to the joint P of the nearest, as t-SNE begins. */
typedef struct {
    spot_mat x, d, near, p;
    spot_affinity_search search;
    spot_affinity_rule rule;
    spot_affinity_graph graph;
} spot_op_pair;
extern const spot_op spot_op_pairs;

#endif
