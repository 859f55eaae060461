/* silhouette.cu - a block owns 32 points: all others pass by, 64 at a time, and their distances, from a tile in shared memory,
 * are added to the sums of 64 clusters there. A warp adds to every eighth cluster, a lane for its point, so each sum has the
 * order of the points. More clusters are more passes, but a pass takes only the distances that it needs. */
#include "core/ordered.cuh"
#include "core/tile.cuh"
#include "fit/silhouette.h"

#include <math.h>

enum { THREADS = 256, SIDE = SPOT_TILE_SIDE, OTHERS = SPOT_TILE, SLAB = SPOT_TILE_SLAB, ROWS = 2, OWN = ROWS * SIDE,
       PITCH = OTHERS + 1, LINE = OWN + 1, WARPS = THREADS / OWN, CLUSTERS = 64, BATCH = 80 };
static_assert(OWN == 32, "a lane owns a point");
static_assert(2 * SLAB * PITCH <= OTHERS * LINE, "distances take the place of the slabs");

typedef spot_batch<spot_silhouette_job, BATCH> batch;

/* room[e][i]: the distance of point i0 + i to point list[e], e < others; those behind repeat the last. */
static __device__ void find_distances(double *room, const spot_silhouette_job *p, int i0, const int *list, int others)
{
    const int thread = threadIdx.y * SIDE + threadIdx.x, n = p->n, d = p->d;
    double *left = room, *right = room + SLAB * PITCH, sum[ROWS][SPOT_TILE_OWN] = { { 0 } };

    for (int j0 = 0; j0 < d; j0 += SLAB) {
        for (int e = thread; e < (OWN + OTHERS) * SLAB; e += THREADS) {
            const int r = e / SLAB - OWN, t = e % SLAB, j = min(j0 + t, d - 1);
            if (r < 0) left[t * PITCH + OWN + r] = p->x[(size_t)min(i0 + OWN + r, n - 1) * d + j];
            else       right[t * PITCH + r] = p->x[(size_t)list[min(r, others - 1)] * d + j];
        }
        __syncthreads();
        spot_tile_add<spot_tile_distance, PITCH, ROWS>(sum, left, right, min((int)SLAB, d - j0), others);
        __syncthreads();
    }
    for (int a = 0; a < ROWS; a++)
        for (int b = 0; b < SPOT_TILE_OWN; b++)
            room[(b * SIDE + threadIdx.x) * LINE + a * SIDE + threadIdx.y] = sqrt(sum[a][b]);
    __syncthreads();
}

typedef struct { double *sums, *room; int *count, *list, *total; } shared_memory;

/* sums[c][i] and count[c] grow by the points of clusters first .. first + 63. */
static __device__ void add_clusters(const shared_memory &s, const spot_silhouette_job *p, int i0, int first)
{
    const int thread = threadIdx.y * SIDE + threadIdx.x, warp = thread / OWN, lane = thread % OWN;
    const uint16_t *label = p->label;

    for (int j0 = 0; j0 < p->n; j0 += SPOT_ORDERED) {
        const int some = spot_list_places<THREADS>(s.list, s.total, j0, p->n, [=](int j) {
            return label[j] >= first && label[j] < first + CLUSTERS;
        });
        for (int e0 = 0; e0 < some; e0 += OTHERS) {
            const int others = min((int)OTHERS, some - e0);
            find_distances(s.room, p, i0, s.list + e0, others);
            for (int e = 0; e < others; e++) {
                const int k = label[s.list[e0 + e]] - first;      /* the same in all threads */
                if (k % WARPS != warp) continue;
                s.sums[k * OWN + lane] += s.room[e * LINE + lane];
                if (!lane) s.count[k]++;
            }
            __syncthreads();
        }
    }
}

/* grid (ceil(n / 32), jobs); the 3 keeps ptxas from spilling */
static __global__ void __launch_bounds__(THREADS, 3) samples_kernel(const __grid_constant__ batch all)
{
    SPOT_SHARED(double, sums, CLUSTERS * OWN);
    SPOT_SHARED(double, room, OTHERS * LINE);
    SPOT_SHARED(int, list, SPOT_ORDERED);
    SPOT_SHARED(int, total, THREADS / 32);
    SPOT_SHARED(int, count, CLUSTERS);
    const spot_silhouette_job *p = &all.of[blockIdx.y];
    const int thread = threadIdx.y * SIDE + threadIdx.x, i0 = blockIdx.x * OWN, i = min(i0 + thread, p->n - 1);
    double own = 0, least = INFINITY, more;
    int alone = 1;

    if (i0 >= p->n) return;     /* the whole block */
    for (int first = 0; first < p->k; first += CLUSTERS) {
        for (int e = thread; e < CLUSTERS * OWN; e += THREADS) sums[e] = 0;
        if (thread < CLUSTERS) count[thread] = 0;
        __syncthreads();
        add_clusters({ sums, room, count, list, total }, p, i0, first);
        for (int k = 0; k < CLUSTERS && thread < OWN; k++) {
            if (!count[k]) continue;
            if (first + k != p->label[i]) { least = min(least, sums[k * OWN + thread] / count[k]); continue; }
            alone = count[k] == 1;
            own = alone ? 0 : sums[k * OWN + thread] / (count[k] - 1);
        }
        __syncthreads();
    }
    if (thread >= OWN || i0 + thread >= p->n) return;
    more = max(own, least);
    p->silhouette[i] = !alone && least < INFINITY && more > 0 ? (least - own) / more : 0;
}

static spot_status samples_cuda(spot_ctx *c, const spot_silhouette_job *jobs, int count)
{
    const int n = SPOT_MOST(count, jobs, n);

    for (int q = 0; q < count; q++)
        SPOT_TRY(spot_cuda_needs_all(c, "silhouette.samples", { { jobs[q].x, "x" }, { jobs[q].label, "label" },
                                     { jobs[q].silhouette, "silhouette" } }));
    return spot_cuda_batches<batch>(count, jobs, [=](auto &all, int some) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_LAUNCH(samples_kernel, dim3(spot_blocks(n, OWN), some), dim3(SIDE, SIDE), 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "silhouette.samples of %d jobs, at most %d points", some, n);
    });
}

extern const spot_silhouette_ops spot_silhouette_cuda = { .samples = samples_cuda };
