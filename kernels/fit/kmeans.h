/* kmeans.h - k-means for `count` independent sets of points, in any number of dimensions.
 *
 * k-means++ (Arthur & Vassilvitskii 2007) with 2 + floor(ln k) trials a centre, then at most 300 of Lloyd's iterations, until
 * no label changes or the centres' summed squared moves are within 1e-4 of the mean column variance; an empty cluster
 * takes the point farthest from its centre: scikit-learn's KMeans with n_init 1. Random numbers: SPOT_RNG_KMEANS at (seed, ec),
 * index k. fp64, each sum one chain in the order of columns or of rows: the same bits on every device and for any number of
 * threads (gpu_to_gpu), and scikit-learn's to 1e-8 from the same centres.
 *
 * Jobs lie on the host; what they point to, and the scratch, in the memory of c's device. */
#ifndef SPOTTER_KMEANS_H
#define SPOTTER_KMEANS_H

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/rng.h"

enum { SPOT_KMEANS_MOST = 512 };      /* centres */

typedef struct {
    int n, d, k;
    const float *x;            /* (n, d) */
    spot_seed    seed;
    int          given;        /* centre holds the start; no k-means++ */
    double      *centre;       /* (k, d): out */
    int         *label;        /* (n): out, the nearest centre; of equals the first */
    int          iterations;   /* out */
    double       inertia;      /* out: sum of squared distances to the nearest centre */
} spot_kmeans_job;

struct spot_kmeans_ops {
    spot_status (*fit)(spot_ctx *c, spot_arena *scratch, int count, spot_kmeans_job *jobs);
};

/* Checked entry. SPOT_INVALID unless 1 <= k <= n, k <= SPOT_KMEANS_MOST, d >= 1. */
spot_status spot_kmeans_fit(spot_ctx *c, spot_arena *scratch, int count, spot_kmeans_job *jobs);

/* Bytes of scratch for jobs of at most these sizes. threads 0: CUDA's scratch. */
size_t spot_kmeans_scratch(int count, int n, int d, int k, int threads);

#endif
