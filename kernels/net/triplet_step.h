/* triplet_step.h - scratch and arithmetic of the triplet loss, for CPU and CUDA.
 *
 * count[a][j] is the number of triplets of anchor a that are not satisfied and have j in them, negative where j is of another
 * class. By S[i][j] = count[i][j] + count[j][i] the gradient by u[i] is 2 weight / T * sum_j S[i][j] (u[i] - u[j]); that by
 * f[i] is the part of it that is at right angles to u[i], divided by |f[i]|. */
#ifndef SPOTTER_TRIPLET_STEP_H
#define SPOTTER_TRIPLET_STEP_H

#include <math.h>
#include <stdbool.h>

#include "net/triplet.h"

typedef struct {
    double *cosine;            /* (live, live): u[i] u[j] */
    double *length;            /* (live): |f[i]| */
    double *loss, *triplets;   /* (live): of each anchor */
    int    *count;             /* (live, live) */
    int    *cls;               /* (live) */
} spot_triplet_work;

static inline SPOT_HD spot_triplet_work spot_triplet_divide(void *scratch, int live)
{
    const size_t n = (size_t)live;
    spot_triplet_work w;

    w.cosine = (double *)scratch;
    w.length = w.cosine + n * n;
    w.loss = w.length + n;
    w.triplets = w.loss + n;
    w.count = (int *)(w.triplets + n);
    w.cls = w.count + n * n;
    return w;
}

/* Class and length of row i. */
static inline SPOT_HD void spot_triplet_row(const spot_triplet_batch *t, const spot_triplet_work *w, int i)
{
    const float *f = t->f + (size_t)i * t->channels, *target = t->target + (size_t)i * t->outputs;
    double sum = 0;
    int best = 0;

    for (int o = 1; o < t->outputs; o++)
        if (target[o] > target[best]) best = o;
    for (int k = 0; k < t->channels; k++) sum += (double)f[k] * f[k];
    w->cls[i] = best;
    w->length[i] = sqrt(sum);
}

static inline SPOT_HD double spot_triplet_cosine(const spot_triplet_batch *t, const spot_triplet_work *w, int i, int j)
{
    const float *f = t->f + (size_t)i * t->channels, *g = t->f + (size_t)j * t->channels;
    double sum = 0;

    for (int k = 0; k < t->channels; k++) sum += (double)f[k] * g[k];
    return w->length[i] == 0 || w->length[j] == 0 ? 0 : sum / (w->length[i] * w->length[j]);
}

/* max(0, D(a,p) - D(a,n) + margin), which keeps a NaN; |u|^2 is 1, or 0 for a row of zeros. */
static inline SPOT_HD double spot_triplet_excess(const spot_triplet_batch *t, const spot_triplet_work *w, int a, int p, int n)
{
    const double *cosine = w->cosine + (size_t)a * t->live;
    const double by = (w->length[p] != 0) - (w->length[n] != 0) + 2 * (cosine[n] - cosine[p]) + t->margin;

    return by <= 0 ? 0 : by;
}

/* Sets count[a][j] and returns the loss of the triplets of (a, j) where j is of a's class. *others: rows of other classes than
 * j, if that is a's. */
static inline SPOT_HD double spot_triplet_count(const spot_triplet_batch *t, const spot_triplet_work *w, int a, int j,
                                                int *others)
{
    const bool same = w->cls[j] == w->cls[a];
    double loss = 0;
    int count = 0;

    *others = 0;
    for (int i = 0; i < t->live && j != a; i++) {
        if (i == a || (w->cls[i] == w->cls[a]) == same) continue;
        const double by = spot_triplet_excess(t, w, a, same ? j : i, same ? i : j);
        count += by != 0;
        if (same) loss += by, ++*others;
    }
    w->count[(size_t)a * t->live + j] = same ? count : -count;
    return loss;
}

/* sum_j S[i][j] u[i] u[j]. */
static inline SPOT_HD double spot_triplet_along(const spot_triplet_batch *t, const spot_triplet_work *w, int i)
{
    double sum = 0;

    for (int j = 0; j < t->live; j++) {
        const size_t ij = (size_t)i * t->live + j, ji = (size_t)j * t->live + i;
        sum += (w->count[ij] + w->count[ji]) * w->cosine[ij];
    }
    return sum;
}

/* The gradient by f[i][k]; along: spot_triplet_along(i); all: T. */
static inline SPOT_HD float spot_triplet_slope(const spot_triplet_batch *t, const spot_triplet_work *w, int i, int k,
                                               double along, double all)
{
    const float *f = t->f + k;
    double sum = 0;

    if (w->length[i] == 0 || all == 0) return 0;
    for (int j = 0; j < t->live; j++) {
        const int by = w->count[(size_t)i * t->live + j] + w->count[(size_t)j * t->live + i];
        if (by && w->length[j] != 0) sum += by * ((double)f[(size_t)j * t->channels] / w->length[j]);
    }
    sum -= f[(size_t)i * t->channels] / w->length[i] * along;
    return (float)(-2 * t->weight / all * sum / w->length[i]);
}

#endif
