/* realness.c - see realness.h. */
#include "spotter/realness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/rng.h"

enum { DRAWS = 2000, BINS = SPOT_REALNESS_BINS, ADDRESS = 3 };

/* Answers of all models to the blends of one target in one bin. known: of models that are right on the original. */
typedef struct { double looks, right, known, flipped; } tally;

static void find_edges(spot_realness_bin *bin, const spot_background_suite *s)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < (size_t)s->targets * (size_t)s->n; i++) {
        least = fmin(least, 1 - (double)s->distance[i]);
        most = fmax(most, 1 - (double)s->distance[i]);
    }
    for (int b = 0; b < BINS; b++) {
        bin[b].from = least + (most - least) * b / BINS, bin[b].to = least + (most - least) * (b + 1) / BINS;
        bin[b].accuracy = bin[b].flipped = (spot_interval){ NAN, NAN, NAN };
    }
}

static int bin_of(const spot_realness_bin *bin, double realness)
{
    int b = BINS - 1;

    while (b > 0 && realness < bin[b].from) b--;
    return b;
}

/* sum (targets, BINS) */
static void add_model(tally *sum, const spot_realness_bin *bin, const spot_background_suite *s,
                      const spot_background_responses *r)
{
    for (int t = 0; t < s->targets; t++) {
        const int *answer = r->answer + (size_t)t * (size_t)(s->n + 1), cls = s->cls[t];
        const bool known = answer[0] == cls;
        for (int j = 0; j < s->n; j++) {
            const double realness = 1 - (double)s->distance[(size_t)t * (size_t)s->n + (size_t)j];
            tally *at = &sum[(size_t)t * BINS + (size_t)bin_of(bin, realness)];
            at->looks++, at->right += answer[j + 1] == cls;
            at->known += known, at->flipped += known && answer[j + 1] != cls;
        }
    }
}

static void add_tally(tally *sum, const tally *more)
{
    sum->looks += more->looks, sum->right += more->right;
    sum->known += more->known, sum->flipped += more->flipped;
}

static double share(double part, double of) { return of > 0 ? part / of : NAN; }

/* ---- intervals ---- */

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* draw (n); those without a number come from draws that hold no such blend, and are left out. */
static spot_interval interval_of(double value, double *draw, int n)
{
    int kept = 0;

    for (int d = 0; d < n; d++)
        if (isfinite(draw[d])) draw[kept++] = draw[d];
    qsort(draw, (size_t)kept, sizeof *draw, ascending);
    return (spot_interval){ value, spot_quantile(draw, kept, 0.025), spot_quantile(draw, kept, 0.975) };
}

/* draw (2, BINS, DRAWS): accuracies, flips */
static void draw_targets(spot_ctx *c, double *draw, const tally *sum, int targets)
{
    const size_t half = (size_t)BINS * DRAWS;

#pragma omp parallel for num_threads(c->threads < 1 ? 1 : c->threads)
    for (int d = 0; d < DRAWS; d++) {
        spot_rng g = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, ADDRESS, (uint32_t)d);
        tally all[BINS] = { 0 };
        for (int i = 0; i < targets; i++) {
            const tally *of = sum + (size_t)spot_rng_below(&g, (uint32_t)targets) * BINS;
            for (int b = 0; b < BINS; b++) add_tally(&all[b], &of[b]);
        }
        for (int b = 0; b < BINS; b++) {
            draw[(size_t)b * DRAWS + (size_t)d] = share(all[b].right, all[b].looks);
            draw[half + (size_t)b * DRAWS + (size_t)d] = share(all[b].flipped, all[b].known);
        }
    }
}

static spot_status fill_bins(spot_ctx *c, spot_realness_bin *bin, const tally *sum, int targets, int models)
{
    double *draw = malloc((size_t)2 * BINS * DRAWS * sizeof *draw);

    if (!draw) return spot_fail(c, SPOT_NOMEM, "no memory for a bootstrap");
    draw_targets(c, draw, sum, targets);
    for (int b = 0; b < BINS; b++) {
        tally all = { 0 };
        int seen = 0;
        for (int t = 0; t < targets; t++) {
            const tally *of = &sum[(size_t)t * BINS + (size_t)b];
            add_tally(&all, of), seen += of->looks > 0;
        }
        bin[b].looks = all.looks, bin[b].blends = models ? (int)(all.looks / models) : 0;
        bin[b].accuracy = interval_of(share(all.right, all.looks), draw + (size_t)b * DRAWS, seen > 1 ? DRAWS : 0);
        bin[b].flipped = interval_of(share(all.flipped, all.known), draw + (size_t)(BINS + b) * DRAWS, seen > 1 ? DRAWS : 0);
    }
    free(draw);
    return SPOT_OK;
}

spot_status spot_realness_bins(spot_ctx *c, spot_realness_bin bin[SPOT_REALNESS_BINS], const spot_background_results *r,
                               const char *dir)
{
    tally *sum = calloc((size_t)r->suite->targets * BINS + 1, sizeof *sum);
    spot_status s = sum ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the realness of %d targets", r->suite->targets);

    find_edges(bin, r->suite);
    for (int u = 0; u < r->units && s == SPOT_OK; u++) {
        spot_background_responses a;
        s = spot_background_responses_read(c, &a, dir, &r->unit[u]);
        if (s == SPOT_OK) add_model(sum, bin, r->suite, &a);
        spot_background_responses_free(&a);
    }
    if (s == SPOT_OK) s = fill_bins(c, bin, sum, r->suite->targets, r->units);
    free(sum);
    return s;
}
