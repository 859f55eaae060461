/* triplet.cu - the passes of triplet.c. Batches are small: a thread to a row, a block to an anchor, a thread to a gradient. */
#include "core/sums.cuh"
#include "net/triplet_step.h"

enum { THREADS = 256 };

/* grid (ceil(live / 256)) */
static __global__ void __launch_bounds__(THREADS) rows_kernel(spot_triplet_batch t, spot_triplet_work w)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);

    if (i < t.live) spot_triplet_row(&t, &w, i);
}

/* grid (live) */
static __global__ void __launch_bounds__(THREADS) anchors_kernel(spot_triplet_batch t, spot_triplet_work w)
{
    const int a = (int)blockIdx.x;
    double loss = 0, triplets = 0;

    for (int j = (int)threadIdx.x; j < t.live; j += THREADS)
        w.cosine[(size_t)a * t.live + j] = spot_triplet_cosine(&t, &w, a, j);
    __syncthreads();
    for (int j = (int)threadIdx.x; j < t.live; j += THREADS) {
        int others;
        loss += spot_triplet_count(&t, &w, a, j, &others);
        triplets += others;
    }
    loss = spot_block_sum<THREADS>(loss);
    triplets = spot_block_sum<THREADS>(triplets);
    if (threadIdx.x) return;
    w.loss[a] = loss;
    w.triplets[a] = triplets;
}

/* grid (ceil(channels / 256), live). The first thread of the grid also adds up the loss. */
static __global__ void __launch_bounds__(THREADS) slopes_kernel(double *loss, float *df, spot_triplet_batch t,
                                                                spot_triplet_work w)
{
    const int k = (int)(blockIdx.x * THREADS + threadIdx.x), i = (int)blockIdx.y;
    double all = 0, sum = 0;

    for (int a = 0; a < t.live; a++) all += w.triplets[a];
    if (k < t.channels)
        df[(size_t)i * t.channels + k] = spot_triplet_slope(&t, &w, i, k, spot_triplet_along(&t, &w, i), all);
    if (k || i) return;
    for (int a = 0; a < t.live; a++) sum += w.loss[a];
    if (all > 0) *loss += t.weight * sum / all;
}

static spot_status loss_cuda(spot_ctx *c, double *loss, float *df, const spot_triplet_batch *t, void *scratch)
{
    const spot_triplet_work w = spot_triplet_divide(scratch, t->live);
    const unsigned rows = (unsigned)((t->live + THREADS - 1) / THREADS),
                   columns = (unsigned)((t->channels + THREADS - 1) / THREADS);

    SPOT_TRY(spot_cuda_needs(c, loss, "triplet.loss: loss"));
    if (t->live > 65535) return spot_fail(c, SPOT_UNSUPPORTED, "triplet.loss: %d rows; CUDA takes 65535", t->live);
    SPOT_LAUNCH(rows_kernel, rows, THREADS, 0, spot_cuda_stream(c), *t, w);
    SPOT_LAUNCH(anchors_kernel, (unsigned)t->live, THREADS, 0, spot_cuda_stream(c), *t, w);
    SPOT_LAUNCH(slopes_kernel, dim3(columns, (unsigned)t->live), THREADS, 0, spot_cuda_stream(c), loss, df, *t, w);
    return spot_cuda_launched(c, "triplet.loss of %d rows, %d channels", t->live, t->channels);
}

extern const spot_triplet_ops spot_triplet_cuda = { .loss = loss_cuda };
