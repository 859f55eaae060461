/* scvis_tiles.cuh - scvis on CUDA: a problem's arrays on the device, and the phases of a step. Private to scvis*.cu.
 *
 * A phase is one launch over the (tile, problem) items of all problems: blockIdx.y is the problem, blockIdx.x the tile of
 * rows, of weights or of parameters. Blocks of problems that are shorter, finished or failed return at once. Every number
 * is computed by the CPU's chain of operations, except the fp64 sums of the loss and of the gradient's norm. */
#ifndef SPOTTER_SCVIS_TILES_CUH
#define SPOTTER_SCVIS_TILES_CUH

#include "core/sums.cuh"
#include "map/scvis_step.h"
#include "map/scvis_net.h"

enum { SPOT_SCVIS_THREADS = 256, SPOT_SCVIS_ROWS = SPOT_SCVIS_THREADS / 16 };   /* rows of a block, half a warp on each */

typedef struct {
    int n, d, dim, batch, total;      /* total: steps of this training */
    uint64_t seed;
    uint32_t ec;
    const float *features;            /* (n, d), not standardised */
    float *map;                       /* (n, dim) */
    spot_scvis_layer layer[SPOT_SCVIS_LAYERS];
    size_t params, freedom;
    int items;                        /* 64 x 64 tiles of all weight matrices, and one for the degrees of freedom */
    float *input;                     /* (n, d): the network's input */
    int gathered;                     /* `far` holds the batch, not all rows */
    float *far;                       /* (n, n), or (batch, batch) */
    size_t far_stride;
    uint32_t *order, *row;            /* (n), (batch) */
    float *theta, *grad, *m, *v;      /* (params) */
    float *keep, *dropped;            /* (32, dim) */
    float *x, *noise, *z, *dz;        /* (batch, d), (batch, dim) */
    float *p, *both;                  /* (batch, batch): P; distances, then P' + its transpose */
    float *shares, *weight;           /* (batch) */
    float *freedom_part;              /* (tiles, d) */
    float *nu, *log_norm, *nu_slope;  /* (d) */
    double *tile_part;                /* (tiles, 2): log-likelihood, KL */
    double *force_part;               /* (batch / ROWS): t-SNE */
    double *item_part;                /* (items, 2): sums of gradient^2 and weight^2 */

    int at, rows;                     /* position in the epoch; rows of this batch */
    uint32_t epoch;
    int largest;                      /* bits of the largest magnitude of the features */
    int failed;                       /* the step that left the finite numbers; 0 none */
    double loss, norm;
} spot_scvis_device;

/* This step, the same for all problems. */
typedef struct {
    spot_scvis_config cfg;
    double entropy;                   /* of a row of P */
    int step;                         /* from 1 */
    float lr, eps;                    /* Adam's, with the bias correction */
} spot_scvis_now;

/* All problems, on the device, and the largest extents among them. */
typedef struct {
    spot_scvis_device *net;
    int problems, n, d, batch, items, total;
    size_t params;
} spot_scvis_fleet;

static inline SPOT_HD int spot_scvis_cut(int n, int tile) { return (n + tile - 1) / tile; }

/* 64 x 64 tiles of a layer's weights. */
static inline SPOT_HD int spot_scvis_tiles(const spot_scvis_layer *y)
{
    return spot_scvis_cut(y->in, SPOT_SCVIS_TILE) * spot_scvis_cut(y->out, SPOT_SCVIS_TILE);
}

/* start: input and first weights, once. draw: batch, noise and mask of a step; given: those that a test gives. */
spot_status spot_scvis_start(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_config *cfg);
spot_status spot_scvis_draw(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t);
spot_status spot_scvis_given(spot_ctx *c, const spot_scvis_fleet *f, const float *keep, const spot_scvis_now *t);

/* The phases in their order; the last sets loss and norm. */
spot_status spot_scvis_affinities(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t);
spot_status spot_scvis_encoder(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t);
spot_status spot_scvis_pairs(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t);
spot_status spot_scvis_decoder(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t);
spot_status spot_scvis_weights(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t);
spot_status spot_scvis_judge(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t);

spot_status spot_scvis_adam(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t);

/* The encoder's mean of rows first * batch .. (first + 1) * batch of each problem, without dropout, into its map. */
spot_status spot_scvis_means(spot_ctx *c, const spot_scvis_fleet *f, int first);

static inline __device__ bool spot_scvis_idle(const spot_scvis_device *net, const spot_scvis_now *t)
{
    return t->step > net->total || net->failed;
}

#endif
