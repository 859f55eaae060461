/* scvis_net.h - the layers of scvis, and on the CPU one step of them: loss and gradient of a batch. Private to scvis*.
 *
 * A step is four phases, each a loop over tiles of 64 rows or of 64 weight rows, with a barrier between them:
 *   1 encode:  rows of P, encoder, z          2 pair:   row sums of s, P + P', column sums of P
 *   3 decode:  t-SNE forces, decoder forth and back, encoder back       4 weigh: weight gradients */
#ifndef SPOTTER_SCVIS_NET_H
#define SPOTTER_SCVIS_NET_H

#include <math.h>

#include "core/hd.h"
#include "map/affinity.h"
#include "map/scvis.h"

enum { ENC1, ENC2, ENC3, MU, SIGMA, DEC1, DEC2, DEC3, DEC4, DEC5, MEAN, VARIANCE, SPOT_SCVIS_LAYERS };
enum { SPOT_SCVIS_ABREAST = 8,    /* rows whose log-likelihoods are summed side by side */
       SPOT_SCVIS_TILE = 64,      /* rows of a tile; a constant, because sums go by tile */
       SPOT_SCVIS_CACHED = 8192 };   /* up to this many rows, all squared distances are kept: 268 MB */

/* Adam's rates; the part of the mu head's weights that dropout keeps; the largest norm of the gradient. */
#define SPOT_SCVIS_BETA1 0.9
#define SPOT_SCVIS_BETA2 0.999
#define SPOT_SCVIS_KEEP 0.9
#define SPOT_SCVIS_NORM 10.0

typedef struct {
    int in, out, from;          /* from: the layer whose output it reads; -1 x, -2 z */
    size_t weight, bias;        /* first index in the parameters */
    float *act, *delta;         /* (batch, out): output, before softplus in SIGMA and VARIANCE; slope of the loss there */
    float *ahead, *back;        /* the weights and their transpose in panels (gemm.h), for the two passes */
} spot_scvis_layer;

/* Sets sizes and first indices of the layers. Returns the number of their parameters; the degrees of freedom follow them. */
static inline size_t spot_scvis_plan(spot_scvis_layer layer[SPOT_SCVIS_LAYERS], int d, int dim)
{
    const int plan[SPOT_SCVIS_LAYERS][3] = {      /* in, out, from; in the order of the enum */
        { d, 128, -1 }, { 128, 64, ENC1 }, { 64, 32, ENC2 }, { 32, dim, ENC3 }, { 32, dim, ENC3 }, { dim, 32, -2 },
        { 32, 32, DEC1 }, { 32, 32, DEC2 }, { 32, 64, DEC3 }, { 64, 128, DEC4 }, { 128, d, DEC5 }, { 128, d, DEC5 },
    };
    size_t at = 0;

    for (int l = 0; l < SPOT_SCVIS_LAYERS; l++) {
        spot_scvis_layer *y = &layer[l];
        y->in = plan[l][0];
        y->out = plan[l][1];
        y->from = plan[l][2];
        y->weight = at;
        y->bias = at + (size_t)y->in * y->out;
        at = y->bias + y->out;
    }
    return at;
}

/* The parameters that one thread owns: rows of a weight matrix (a layer's first piece has the bias, too), or, at layer -1, the
 * degrees of freedom. */
typedef struct {
    int layer, row, rows;
    double squares, weights;    /* sums of gradient^2 and weight^2 */
} spot_scvis_piece;

typedef struct {
    int d, dim, batch, stride;  /* batch: most rows; stride: batch, rounded up to 16 */
    int rows, step, threads;    /* of this step; step counts from 1 */
    const spot_scvis_config *cfg;
    spot_affinity_rule rule;
    spot_scvis_layer layer[SPOT_SCVIS_LAYERS];
    size_t params, freedom;     /* freedom: where the degrees of freedom begin */
    float *theta, *grad;        /* (params) */
    float *keep, *dropped;      /* (32, dim): 0 or 1/0.9; the mu head's weights times keep */
    const float *far;           /* squared distances, far[i * far_stride + j] of rows row[i] and row[j] */
    size_t far_stride;
    uint32_t *row;              /* (batch): the batch's rows in `far` */
    float *x;                   /* (batch, d) */
    float *noise, *z, *dz;      /* (batch, dim) */
    float *places;              /* (dim, stride): z by coordinate; padding lies far away */
    float *near, *p, *both;     /* (batch, stride): distances, P, P' + transpose */
    float *shares;              /* (stride): 1 / row sum of s; padding 0 */
    float *weight;              /* (batch): w_i */
    float *freedom_part;        /* (tiles, d): each tile's slope of the degrees of freedom */
    float *nu, *log_norm, *nu_slope;   /* (d): clipped degrees of freedom, and functions of them */
    double *loss_part;          /* (tiles, 3): log-likelihood, KL, t-SNE */
    spot_scvis_piece *piece;
    int pieces;
} spot_scvis_net;

/* Lays out a net for batches of up to `batch` rows. In a counting arena nothing is written. */
spot_status spot_scvis_net_take(spot_ctx *c, spot_arena *a, spot_scvis_net *net, int d, int dim, int batch,
                                const spot_scvis_config *cfg);

/* Updates the values derived from piece q after its parameters changed. */
void spot_scvis_refresh(spot_scvis_net *net, const spot_scvis_piece *q);

/* Loss and gradient (into net->grad, unclipped) of the batch in net: rows, step, far, row, x, noise, keep are set. */
double spot_scvis_step(spot_scvis_net *net);

/* The encoder's mean of net->rows rows in net->x, without dropout, into out (rows, dim). */
void spot_scvis_encode(spot_scvis_net *net, float *out);

/* scvis_loss.c. Rows are r .. r+n-1 of the batch, at most a tile. */

/* Updates nu, log_norm and nu_slope after the degrees of freedom changed. */
void spot_scvis_refresh_freedom(spot_scvis_net *net);

/* Row sums of s, P' + transpose, the weights w_i. */
void spot_scvis_pair(spot_scvis_net *net, int r, int n);

/* dz = scale * slope of n tsne; returns these rows' part of n tsne. */
double spot_scvis_forces(spot_scvis_net *net, int r, int n, float scale);

/* Log-likelihoods of at most SPOT_SCVIS_ABREAST rows under the decoder's Student-t, times their weights, are added to *loss;
 * their slopes times -1 / rows go into delta of MEAN and VARIANCE and, added, into freedom (d). */
void spot_scvis_likelihood(spot_scvis_net *net, int r, int n, double *loss, float *freedom);

/* The slopes of mu and s2: dz through the sample, plus `scale` times the slope of the rows' KL. Returns that KL. */
double spot_scvis_through_sample(spot_scvis_net *net, int r, int n, float scale);

#endif
