/* ward.h - Ward's hierarchical clustering (Ward 1963) for `count` independent sets of points, exact.
 *
 * The cost of merging clusters a and b is the growth of the sum of squared distances to the clusters' means,
 *
 *     cost(a, b) = |a| |b| / (|a| + |b|) * |mean a - mean b|^2,     height = sqrt(2 cost)
 *
 * The height is that of scipy's linkage(method="ward") and scikit-learn's AgglomerativeClustering. A round merges all pairs of
 * clusters that are each other's nearest (de Rham 1980; in parallel: Sumengen et al. 2021, arXiv 2105.11653). A merge makes no
 * cluster nearer to a third one than the nearer of its two parts was. So the merges are those of the rule "always the cheapest
 * pair", and clusters whose nearest did not merge keep it.
 *
 * Means and distances are fp64. A distance is one chain in the order of the columns, so equal points cost 0 exactly. Of equal
 * costs the pair with the earlier rows is merged first. The same bits on every device (gpu_to_gpu), for any number of threads,
 * alone and in a batch. Heights agree with scipy's to 1e-12; the trees agree where no two costs are equal.
 *
 * Measured on 2026-11-29, one thread of an AMD EPYC with AVX-512 beside other work, processor time in s, made-up sets of 40
 * clusters. "All in fp64" is the same rounds without fp32 and without lists, as of 41bce95c; the trees are equal to the bit.
 * The peers are in bench/results/methods.jsonl.
 *
 *     points                            3,200 x 512    8,000 x 512    20,000 x 64    50,000 x 64
 *     spot_ward_fit                            0.14           0.94            1.0            5.7
 *     all in fp64                              0.43           4.2             3.4           29
 *
 * On a GPU: not measured. Memory is 12 bytes for each number of x, and about 120 for each point; no matrix of distances. On a
 * GPU it is 8 bytes for each number and about 60 for each point, of the largest job for every job, and up to 400 kB more for
 * each; from 8,192 points on 10 bytes for each number and about 110 for each point (ward_near.cu).
 *
 * Jobs lie on the host; what they point to, and the scratch, in the memory of c's device. */
#ifndef SPOTTER_WARD_H
#define SPOTTER_WARD_H

#include "core/ops.h"
#include "spotter/arena.h"

/* Clusters are named by their first row, a < b. */
typedef struct { int a, b; double height; } spot_ward_merge;

typedef struct {
    int n, d;
    const float *x;            /* (n, d), finite */
    spot_ward_merge *merge;    /* (n - 1): out, ascending in height, then in a and b */
    int rounds;                /* out */
} spot_ward_job;

struct spot_ward_ops {
    spot_status (*fit)(spot_ctx *c, spot_arena *scratch, int count, spot_ward_job *jobs);
};

/* Checked entry. SPOT_INVALID unless n, d >= 1. */
spot_status spot_ward_fit(spot_ctx *c, spot_arena *scratch, int count, spot_ward_job *jobs);

/* Bytes of scratch for jobs of at most these sizes. threads 0: CUDA's scratch. */
size_t spot_ward_scratch(int count, int n, int d, int threads);

/* label (n): the clusters that are left when k of them are, numbered in the order of their first rows. Returns their number:
 * k, or n where that is less. k >= 1. On the host. */
int spot_ward_cut(int *label, const spot_ward_merge *merge, int n, int k);

#endif
