/* tsne.h - t-SNE's descent (van der Maaten & Hinton 2008) for `problems` independent maps: sparse attraction, exact
 * repulsion, scikit-learn's schedule.
 *
 *     gradient_i = 2 (f+1)/f sum_j (P_ij - Q_ij) (1 + |y_i - y_j|^2 / f)^-1 (y_i - y_j),     f = max(dim - 1, 1)
 *     Q_ij = (1 + |y_i - y_j|^2 / f)^(-(f+1)/2) / Z
 *
 * Per row: repulsion in fp32 over tiles of 1,024 points, flushed to fp64; Z is summed over rows in order. run_to_run; the
 * same bits for any number of threads. Two devices part ways after some tens of steps, as any two t-SNE do: compare
 * gradients (1e-5 of the largest) and final KL (1 %). */
#ifndef SPOTTER_KERNELS_TSNE_H
#define SPOTTER_KERNELS_TSNE_H

#include <stdint.h>

#include "ops.h"
#include "spotter/arena.h"
#include "spotter/embed.h"

typedef struct {
    int n, dim, stride;      /* stride: spot_tsne_stride(n) */
    uint32_t ec;             /* told with the progress */
    const int   *start;      /* (n + 1): where a row of P begins; rows are whole multiples of 16 long */
    const int   *to;         /* the column of an entry; padding names the row itself */
    const float *p;          /* P, symmetric, sum 1; padding is 0 */
    float *y;                /* (dim, stride): start in, map out; what lies beyond n is the op's */
    double kl;               /* out: KL(P || Q) at the end */
    int    steps;            /* out: iterations done */
} spot_tsne_problem;

struct spot_tsne_ops {
    spot_status (*fit)(spot_ctx *c, spot_arena *scratch, int problems, spot_tsne_problem *t, const spot_tsne_config *cfg);
};

int spot_tsne_stride(int n);

/* SPOT_NUMERIC when a map leaves the finite numbers, SPOT_STOPPED on request. A counting scratch only counts. */
spot_status spot_tsne_fit(spot_ctx *c, spot_arena *scratch, int problems, spot_tsne_problem *t, const spot_tsne_config *cfg);

/* CPU only, for tests: the gradient (n, dim) at t->y, and the KL divergence there. */
spot_status spot_tsne_gradient(spot_ctx *c, spot_arena *scratch, const spot_tsne_problem *t, double exaggeration,
                               double *gradient, double *kl);

#endif
