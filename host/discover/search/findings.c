/* findings.c - turns a method's hypotheses into slices: rows, error rate, nearest correct rows. */
#include <math.h>

#include "discover/search/search.h"

enum { LANES = 8, TILE = 64 };         /* partial sums of a distance; rows of a task */

static double squared_distance(const float *x, const double *mean, int d)
{
    double part[LANES] = { 0 }, sum = 0;
    int k = 0;

    for (; k + LANES <= d; k += LANES)
        for (int l = 0; l < LANES; l++) {
            double off = x[k + l] - mean[k + l];
            part[l] = fma(off, off, part[l]);
        }
    for (; k < d; k++) part[k % LANES] = fma(x[k] - mean[k], x[k] - mean[k], part[k % LANES]);
    for (int l = 0; l < LANES; l++) sum += part[l];
    return sum;
}

static void mean_of(double *mean, const spot_view *view, const spot_hypothesis *h)
{
    for (int k = 0; k < view->d; k++) mean[k] = 0;
    for (int i = 0; i < h->len; i++)
        for (int k = 0; k < view->d; k++) mean[k] += view->feature[(size_t)h->row[i] * view->d + k];
    for (int k = 0; k < view->d; k++) mean[k] /= h->len;
}

/* far (slices, n): squared distance from each correctly classified row to each slice's mean; infinity for wrong rows. */
static void measure_distances(const spot_ctx *c, double *far, const double *mean, const spot_subject *s,
                              const spot_view *view, int cls, int slices)
{
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, TILE)
    for (int i = 0; i < view->n; i++) {
        bool wrong = spot_subject_wrong(s, view->image[i], cls);
        for (int k = 0; k < slices; k++)
            far[(size_t)k * view->n + i] = wrong ? INFINITY : squared_distance(view->feature + (size_t)i * view->d,
                                                                               mean + (size_t)k * view->d, view->d);
    }
}

/* The nearest rows first; at equal distance the lower row first. */
static void choose_neighbours(spot_slice *out, const double *far, const spot_view *view, int most)
{
    double best[SPOT_MAX_NEIGHBOURS];

    out->neighbours = 0;
    for (int i = 0; i < view->n; i++) {
        int at = out->neighbours;
        if (!(far[i] < INFINITY) || (at == most && !(at && far[i] < best[at - 1]))) continue;
        if (at < most) out->neighbours++;
        else at--;
        for (; at && far[i] < best[at - 1]; at--) {
            best[at] = best[at - 1];
            out->neighbour[at] = out->neighbour[at - 1];
        }
        best[at] = far[i];
        out->neighbour[at] = view->image[i];
    }
}

/* row: memory for the slice's rows. */
static void describe_slice(spot_slice *out, int *row, const spot_finding *f, const spot_subject *s, const spot_view *view,
                           const spot_hypothesis *h)
{
    double confidence = 0;

    *out = (spot_slice){ .size = h->len, .score = h->score, .row = row };
    for (int i = 0; i < h->len; i++) {
        out->row[i] = view->image[h->row[i]];
        out->wrong += spot_subject_wrong(s, out->row[i], f->cls);
        confidence += 1 - spot_view_error(view, h->row[i]);
    }
    out->error_rate = h->len ? (double)out->wrong / h->len : 0;
    out->mean_confidence = h->len ? confidence / h->len : NAN;
    out->share = f->wrong ? (double)out->wrong / f->wrong : 0;
}

spot_status spot_slices_of(spot_ctx *c, spot_arena *a, spot_arena *work, spot_finding *f, const spot_subject *s,
                           const spot_view *view, const spot_hypotheses *found, int neighbours)
{
    size_t mark = work->used, slices = (size_t)found->len, rows = 0;
    double *far, *mean;
    int *row;

    for (int k = 0; k < found->len; k++) rows += (size_t)found->h[k].len;
    SPOT_TRY(SPOT_TAKE(c, a, row, rows));
    for (int k = 0; k < found->len; row += found->h[k++].len) describe_slice(&f->slice[k], row, f, s, view, &found->h[k]);
    f->slices = found->len;
    if (!neighbours || !slices) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, work, far, slices * (size_t)view->n));
    SPOT_TRY(SPOT_TAKE(c, work, mean, slices * (size_t)view->d));
    for (int k = 0; k < found->len; k++) mean_of(mean + (size_t)k * view->d, view, &found->h[k]);
    measure_distances(c, far, mean, s, view, f->cls, found->len);
    for (int k = 0; k < found->len; k++) choose_neighbours(&f->slice[k], far + (size_t)k * view->n, view, neighbours);
    work->used = mark;
    return SPOT_OK;
}
