/* tsne_step.h - the arithmetic that t-SNE's CPU and CUDA versions share: one coordinate's slope and step. */
#ifndef SPOTTER_TSNE_STEP_H
#define SPOTTER_TSNE_STEP_H

#include "core/vmath.h"
#include "map/tsne.h"

enum { SPOT_TSNE_LANES = 16, SPOT_TSNE_FLUSH = 1024 };   /* fp32 partial sums, and points per flush to fp64 */

#define SPOT_TSNE_FAR_AWAY 1e9f   /* coordinate of padding: its weight, 1e-18, is lost in any sum of the map */

static SPOT_HD inline int spot_tsne_tiles(int n) { return (n + SPOT_TSNE_ROWS - 1) / SPOT_TSNE_ROWS; }

/* Degrees of freedom of the map's Student-t, as in scikit-learn: 1, the paper's, up to two dimensions. */
static SPOT_HD inline int spot_tsne_freedom(int dim) { return dim > 2 ? dim - 1 : 1; }

/* Z from its tiles. It may round to 0 when points are very far apart; the result must not be divided by 0. */
static SPOT_HD inline double spot_tsne_z(const double *partial, int tiles)
{
    double z = 0;

    for (int tile = 0; tile < tiles; tile++) z += partial[tile];
    return z <= 0 ? 1e-30 : z;
}

/* dC/dy, entry e of (n, dim): van der Maaten and Hinton 2008, eq. 5, whose factor is 4 for one degree of freedom. */
static SPOT_HD inline double spot_tsne_slope(const spot_tsne_walk *w, int e, double z)
{
    int f = spot_tsne_freedom(w->map.dim);

    return 2.0 * (f + 1) / f * (w->exaggeration * w->attract[e] - w->repel[e] / z);
}

/* Point i takes a step with Jacobs' gains (1988), as in scikit-learn. Returns the squared norm of its gradient times the
 * gains. `first`: this is the first step. */
static SPOT_HD inline double spot_tsne_move(const spot_tsne_walk *w, int i, double z, int first)
{
    double norm = 0;

    for (int k = 0; k < w->map.dim; k++) {
        int e = i * w->map.dim + k;
        float step = first ? 0.0f : w->step[e], gain = first ? 1.0f : w->gain[e];
        double g = spot_tsne_slope(w, e, z);

        gain = step * g < 0 ? gain + 0.2f : fmaxf(gain * 0.8f, 0.01f);
        g *= gain;
        norm += g * g;
        step = (float)(w->momentum * step - w->lr * g);
        w->gain[e] = gain;
        w->step[e] = step;
        w->map.y[(size_t)k * w->map.stride + i] += step;
    }
    return norm;
}

#endif
