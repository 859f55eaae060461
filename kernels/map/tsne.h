/* tsne.h - t-SNE's descent (van der Maaten & Hinton 2008) for `problems` independent maps: sparse attraction, repulsion
 * exact or, in maps of many points to 1 or 2 dimensions, interpolated (tsne_grid.h); scikit-learn's schedule.
 *
 *     gradient_i = 2 (f+1)/f sum_j (P_ij - Q_ij) (1 + |y_i - y_j|^2 / f)^-1 (y_i - y_j),     f = max(dim - 1, 1)
 *     Q_ij = (1 + |y_i - y_j|^2 / f)^(-(f+1)/2) / Z
 *
 * Per row: repulsion in fp32 over tiles of 1,024 points, 16 partial sums each, flushed to fp64. Sums over rows (Z, KL, the
 * gradient's norm) are fp64, over tiles of 256 rows and then over tiles, in fixed order. Every operation is correctly
 * rounded, so devices should agree in every bit. The contract is 1e-5 of the largest gradient entry for one gradient, and
 * 1 % of the final KL. The same bits for any number of threads, and for a map alone or in a batch. Interpolated forces keep
 * this contract between devices. They differ from the exact ones by 1e-5 of the largest while the map is a few units wide,
 * by 1 % in the sparse maps at the end; the final KL differs by 1 %.
 * Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_TSNE_H
#define SPOTTER_TSNE_H

#include <stdint.h>

#include "core/ops.h"
#include "core/team.h"
#include "spotter/arena.h"
#include "spotter/embed.h"

enum { SPOT_TSNE_ROWS = 256, SPOT_TSNE_SUMS = 3 };   /* rows of a tile; a tile's sums: Z, KL, squared norm */
enum { SPOT_TSNE_EXACT = 20000 };

typedef struct {
    int n, dim, stride;      /* stride: spot_tsne_stride(n) */
    uint32_t ec;             /* reported with the progress */
    const int   *start;      /* (n + 1): where a row of P begins; rows are whole multiples of 16 long */
    const int   *to;         /* the column of an entry; padding names the row itself */
    const float *p;          /* P, symmetric, sum 1; padding is 0 */
    float *y;                /* (dim, stride): start in, map out; the op writes beyond n */
    double kl;               /* out: KL(P || Q) of the final map */
    int    steps;            /* out: iterations done */
} spot_tsne_problem;

/* Position and size of the interpolation's grid. */
typedef struct {
    int side, rows;          /* of the FFT; rows is 1 in one dimension */
    int fresh;               /* its kernels' transform must still be computed */
    float apart;             /* distance between nodes */
    float low[2];            /* least coordinates of the map */
} spot_tsne_plan;

typedef struct {
    int most;                /* longest line that fits the memory; 0: repulsion is exact */
    spot_tsne_plan *plan;
    float   *turn;           /* (most / 2, 2): cosine and sine */
    uint64_t *charge;        /* (node rows, nodes) */
    float   *wave;           /* (2, node rows, side): real and imaginary parts */
    float   *spectrum;       /* (3, rows, side): K^, A and B of tsne_grid.h */
    double  *line;           /* (side): a column's part of Z */
} spot_tsne_grid;

/* A map during the descent. */
typedef struct {
    spot_tsne_problem map;
    double *attract, *repel;           /* (n, dim), without exaggeration and without 1/Z */
    double *row;                       /* (2, n): the CPU's row sums of Z and KL */
    float  *step, *gain;               /* (n, dim) */
    double *partial;                   /* (3, tiles) */
    spot_tsne_grid grid;
    double exaggeration, momentum, lr;
    int    live;                       /* 0: advance skips it */
    int    fresh;                      /* no step taken yet in this phase */
    int    phase, best_at;             /* the schedule's */
    double best;
} spot_tsne_walk;

typedef struct {
    int problems;
    spot_tsne_walk *walk;              /* (problems), on the host */
    spot_tsne_walk *copy;              /* (problems), in the device's memory: CUDA's copy for its kernels */
    spot_team *team;                   /* the CPU's threads */
} spot_tsne_batch;

struct spot_tsne_ops {
    /* `count` iterations of every live walk; with `look` the last of them leaves KL and norm in `partial` beside Z. A count
     * of 0 takes no step and leaves the forces, Z and KL at y. */
    spot_status (*advance)(spot_ctx *c, const spot_tsne_batch *b, int count, int look);
};

int spot_tsne_stride(int n);

/* SPOT_NUMERIC when a map has a number that is not finite, SPOT_STOPPED on request; both are checked every 50 iterations. A
 * counting scratch only counts. cfg->repulsion chooses for each map: auto is exact up to SPOT_TSNE_EXACT points and fft beyond.
 * fft is for 1 and 2 dimensions; auto refuses larger maps of more dimensions. CUDA: the same dimensions for all maps; an
 * iteration of n points to d dimensions is n^2 d operations up to 8 dimensions and n^2 d^2/8 beyond. */
spot_status spot_tsne_fit(spot_ctx *c, spot_arena *scratch, int problems, spot_tsne_problem *t, const spot_tsne_config *cfg);

/* Tests call this: the gradient (n, dim) at t->y with cfg's exaggeration and repulsion, and the KL divergence there, both on
 * the host. */
spot_status spot_tsne_gradient(spot_ctx *c, spot_arena *scratch, const spot_tsne_problem *t, const spot_tsne_config *cfg,
                               double *gradient, double *kl);

#endif
