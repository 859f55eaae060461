/* triplet.h - triplet loss of a batch's embeddings (Schroff et al. 2015, FaceNet, equation 3), over all triplets of the batch.
 *
 *     u[i] = f[i] / |f[i]|, 0 where f[i] is 0           D(i,j) = |u[i] - u[j]|^2
 *     loss = weight / T * sum over (a,p,n) of max(0, D(a,p) - D(a,n) + margin)
 *
 * In a triplet (a,p,n), a and p are two rows of one class and n is a row of another. The class of a row is the place of the
 * greatest number of its target, the first of equals. T is the number of all triplets, also of those that add nothing; a batch
 * without triplets has the loss 0. Equation 3 sums; the mean makes weights mean the same for all batches.
 *
 * f (live, channels), target (live, outputs) and df are fp32, the loss and all sums double, in an order that the shape fixes:
 * df is within 1e-6 of its largest number; run_to_run. A row of zeros has the gradient 0. A NaN in f is in the loss, where the
 * batch has triplets. The cost grows as live^2 (live + channels). */
#ifndef SPOTTER_TRIPLET_H
#define SPOTTER_TRIPLET_H

#include "core/hd.h"
#include "core/ops.h"

typedef struct {
    int    live, channels, outputs;
    double margin, weight;
    const float *f, *target;
} spot_triplet_batch;

struct spot_triplet_ops {
    spot_status (*loss)(spot_ctx *c, double *loss, float *df, const spot_triplet_batch *t, void *scratch);
};

/* Bytes of scratch, in the memory of c's device, for `live` rows. */
size_t spot_triplet_scratch(int live);

/* Adds the loss to *loss; df (live, channels) receives its gradient. */
spot_status spot_triplet_loss(spot_ctx *c, double *loss, float *df, const spot_triplet_batch *t, void *scratch);

#endif
