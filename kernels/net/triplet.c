/* triplet.c - three passes: rows, anchors, gradients. A batch of the size that trainings have takes a hundredth of a step. */
#include "net/triplet.h"

#include <math.h>

#include "net/triplet_step.h"

size_t spot_triplet_scratch(int live)
{
    const size_t n = (size_t)live;

    return (n * n + 3 * n) * sizeof(double) + (n * n + n) * sizeof(int);
}

static void judge_anchor(const spot_triplet_batch *t, const spot_triplet_work *w, int a)
{
    double loss = 0, triplets = 0;

    for (int j = 0; j < t->live; j++) w->cosine[(size_t)a * t->live + j] = spot_triplet_cosine(t, w, a, j);
    for (int j = 0; j < t->live; j++) {
        int others;
        loss += spot_triplet_count(t, w, a, j, &others);
        triplets += others;
    }
    w->loss[a] = loss;
    w->triplets[a] = triplets;
}

static spot_status loss_cpu(spot_ctx *c, double *loss, float *df, const spot_triplet_batch *t, void *scratch)
{
    const spot_triplet_work w = spot_triplet_divide(scratch, t->live);
    double sum = 0, all = 0;

    for (int i = 0; i < t->live; i++) spot_triplet_row(t, &w, i);
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int a = 0; a < t->live; a++) judge_anchor(t, &w, a);
    for (int a = 0; a < t->live; a++) {
        sum += w.loss[a];
        all += w.triplets[a];
    }
    if (all > 0) *loss += t->weight * sum / all;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < t->live; i++) {
        const double along = spot_triplet_along(t, &w, i);
        for (int k = 0; k < t->channels; k++) df[(size_t)i * t->channels + k] = spot_triplet_slope(t, &w, i, k, along, all);
    }
    return SPOT_OK;
}

const spot_triplet_ops spot_triplet_cpu = { loss_cpu };

spot_status spot_triplet_loss(spot_ctx *c, double *loss, float *df, const spot_triplet_batch *t, void *scratch)
{
    if (t->live < 1 || t->channels < 1 || t->outputs < 1)
        return spot_fail(c, SPOT_INVALID, "{triplet.sizes} triplet.loss: %d rows of %d channels, %d outputs", t->live,
                         t->channels, t->outputs);
    if (!(t->margin >= 0 && t->weight >= 0) || !isfinite(t->margin) || !isfinite(t->weight))
        return spot_fail(c, SPOT_INVALID, "{triplet.margin} triplet.loss: margin %g, weight %g", t->margin, t->weight);
    SPOT_DISPATCH(c, triplet, loss, loss, df, t, scratch);
}
