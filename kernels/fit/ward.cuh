/* ward.cuh - what ward.cu, the rounds of Ward's clustering, and ward_near.cu, a search for nearest clusters, share. */
#ifndef SPOTTER_WARD_CUH
#define SPOTTER_WARD_CUH

#include "core/cuda.cuh"
#include "fit/ward_scratch.h"

/* A cost, and whose it is; of equal costs the earlier cluster's is less. */
typedef struct { double cost; int near; } spot_ward_nearest;

static __device__ inline bool spot_ward_is_less(spot_ward_nearest a, spot_ward_nearest b)
{
    return a.cost < b.cost || (a.cost == b.cost && a.near < b.near);
}

/* The cost of merging clusters of these sizes whose means have this squared distance. */
static __device__ inline double spot_ward_cost(double size, double other, double square)
{
    return size * other / (size + other) * square;
}

static __device__ inline size_t spot_ward_at(const spot_ward_space &m, int job) { return (size_t)job * m.n; }
static __device__ inline double *spot_ward_mean(const spot_ward_space &m, int job, int slot)
{
    return m.mean + spot_ward_at(m, job) * m.d + (size_t)slot * m.job[job].d;
}

/* The best of a slice for query number `row` of a job: where it goes. */
static __device__ inline void spot_ward_put_part(const spot_ward_space &m, int job, int row, int slice, int slices,
                                                 spot_ward_nearest best)
{
    const size_t part = job * m.parts + (size_t)row * slices + slice;

    m.part_cost[part] = best.cost;
    m.part_near[part] = best.near;
}

/* How a fit searches. */
typedef struct {
    int many;                  /* clusters a part from which products on tensor cores pay */
    int since;                 /* the last round that they searched; -1: none */
    uint64_t tiles[2];         /* of 16 x 16 costs: those that they left to fp64, and all, in all rounds */
} spot_ward_search;

/* The search of a round by products; parts as by nearest_kernel of ward.cu. Waits for the device. */
spot_status spot_ward_sift(spot_ctx *c, const spot_ward_space *m, int count, int round, const spot_ward_round *now, int slices,
                           spot_ward_search *how);

#endif
