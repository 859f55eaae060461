/* realness.c - see background_pictures.h. */
#include "spotter/background_pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/bootstrap.h"

enum { BINS = SPOT_REALNESS_BINS, ADDRESS = 3 };

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

typedef struct { const tally *sum; int targets; } sample;

/* Numbers of a draw of targets: accuracies (BINS), then flips. */
static void draw_targets(double *out, const void *of, spot_rng *r)
{
    const sample *s = of;
    tally all[BINS] = { 0 };

    for (int i = 0; i < s->targets; i++) {
        const tally *own = s->sum + (size_t)spot_rng_below(r, (uint32_t)s->targets) * BINS;
        for (int b = 0; b < BINS; b++) add_tally(&all[b], &own[b]);
    }
    for (int b = 0; b < BINS; b++) {
        out[(size_t)b * SPOT_REDRAWS] = share(all[b].right, all[b].looks);
        out[(size_t)(BINS + b) * SPOT_REDRAWS] = share(all[b].flipped, all[b].known);
    }
}

static spot_status fill_bins(spot_ctx *c, spot_realness_bin *bin, const tally *sum, int targets, int models)
{
    double *draw = malloc((size_t)2 * BINS * SPOT_REDRAWS * sizeof *draw);
    const sample all = { sum, targets };
    spot_interval v[2 * BINS];
    int seen[BINS] = { 0 };

    if (!draw) return spot_fail(c, SPOT_NOMEM, "no memory for a bootstrap");
    for (int b = 0; b < BINS; b++) {
        tally of = { 0 };
        for (int t = 0; t < targets; t++) {
            const tally *own = &sum[(size_t)t * BINS + (size_t)b];
            add_tally(&of, own), seen[b] += own->looks > 0;
        }
        bin[b].looks = of.looks, bin[b].blends = models ? (int)(of.looks / models) : 0;
        v[b].value = share(of.right, of.looks), v[BINS + b].value = share(of.flipped, of.known);
    }
    /* Draws that hold no such blend have no number. */
    spot_bootstrap_run(v, &(spot_bootstrap){ 1, ADDRESS, 2 * BINS, 1, draw_targets, &all }, c->threads, draw);
    for (int b = 0; b < BINS; b++) {
        if (seen[b] < 2) v[b].low = v[b].high = v[BINS + b].low = v[BINS + b].high = NAN;
        bin[b].accuracy = v[b], bin[b].flipped = v[BINS + b];
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
