/* silhouette.cu - a thread owns a point: all others pass by, and the distances to those of 64 clusters at a time are summed in
 * its shared memory. More clusters are more passes, but a pass takes only the distances that it needs. */
#include "core/sums.cuh"
#include "fit/silhouette.h"

#include <math.h>

enum { OWN = 64, CLUSTERS = OWN, BATCH = 80 };

typedef spot_batch<spot_silhouette_job, BATCH> batch;

/* grid (ceil(n / 64), jobs) */
static __global__ void __launch_bounds__(OWN) samples_kernel(const __grid_constant__ batch all)
{
    SPOT_SHARED(double, sums, CLUSTERS * OWN);
    SPOT_SHARED(int, count, CLUSTERS);
    const spot_silhouette_job *p = &all.of[blockIdx.y];
    const int thread = threadIdx.x, i = min((int)(blockIdx.x * OWN + thread), p->n - 1);    /* past the end: the last again */
    double *sum = sums + thread, own = 0, least = INFINITY, more;
    int alone = 1;

    if ((int)(blockIdx.x * OWN) >= p->n) return;     /* the whole block */
    for (int first = 0; first < p->k; first += CLUSTERS) {
        const int clusters = min((int)CLUSTERS, p->k - first);
        int rows = 0;                                /* of cluster first + thread */
        for (int k = 0; k < clusters; k++) sum[k * OWN] = 0;
        for (int j = 0; j < p->n; j++) {
            const int k = p->label[j] - first;       /* the same in all threads */
            if (k < 0 || k >= clusters) continue;
            rows += k == thread;
            sum[k * OWN] += sqrt(spot_squared_distance(p->x + (size_t)i * p->d, p->x + (size_t)j * p->d, p->d));
        }
        count[thread] = rows;
        __syncthreads();
        for (int k = 0; k < clusters; k++) {
            if (!count[k]) continue;
            if (first + k != p->label[i]) { least = min(least, sum[k * OWN] / count[k]); continue; }
            alone = count[k] == 1;
            own = alone ? 0 : sum[k * OWN] / (count[k] - 1);
        }
        __syncthreads();
    }
    if ((int)(blockIdx.x * OWN) + thread >= p->n) return;
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
        SPOT_LAUNCH(samples_kernel, dim3(spot_blocks(n, OWN), some), OWN, 0, spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "silhouette.samples of %d jobs, at most %d points", some, n);
    });
}

extern const spot_silhouette_ops spot_silhouette_cuda = { .samples = samples_cuda };
