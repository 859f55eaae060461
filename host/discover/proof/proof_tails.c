/* proof_tails.c - the p of each number of wrong rows where rows have groups, from draws of the errors (proof_draws.h).
 *
 * Units of one row and larger ones are exchanged independently of each other. Given the wrong rows that the larger units of a
 * slice have in each draw and in the errors as they are, the slice's number is one of these, each as probable as the other,
 * plus those among its rows that are alone, whose distribution is known. So the tail of this mixture is exact, and in a slice
 * of few larger units it is as small as that of its rows alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/proof/proof_draws.h"
#include "stats/statistics.h"

enum { ENOUGH = 20 };                  /* draws at least as extreme from which a rank is a p */
#define DRAWS (1.0 + SPOT_PROOF_DRAWS) /* with the errors as they are */

static const spot_proved *class_of(const spot_draws *f, const spot_slice_test *t) { return &f->j->cls[t->g->class_place]; }

/* ---- exact tails ---- */

/* The tail of wrong rows among judged rows that are alone: f->scratch (covered + 1). Returns covered. */
static int tail_alone(const spot_draws *f, const spot_slice_test *t)
{
    const spot_proved *k = class_of(f, t);
    int covered = 0;

    f->scratch[0] = 1;
    if (t->sums) return 0;
    memset(f->alone, 0, (size_t)k->strata * sizeof *f->alone);
    for (int i = 0; i < k->members[f->part]; i++) {
        const int at = k->member[f->part][i];
        spot_stratum *h = &f->alone[spot_stratum_of(f->j, k, k->row[at])];
        if (!spot_has_bit(f->single[t->g->class_place], at)) continue;
        h->rows++;
        h->group += k->is_wrong[at];
        h->covered += spot_has_bit(t->g->judged, at);
        covered += spot_has_bit(t->g->judged, at);
    }
    spot_stratified_tails(f->scratch, f->alone, k->strata, f->scratch + covered + 1);
    return covered;
}

/* t->exact: the mixture over the draws' counts. */
static void mix_tails(const spot_draws *f, spot_slice_test *t, const unsigned *count)
{
    const int covered = tail_alone(f, t);
    double above = 0;

    memset(t->exact, 0, (size_t)t->entries * sizeof *t->exact);
    for (int i = t->entries - 1; i >= 0; i--) {
        above += count[i];
        t->exact[i] += above / DRAWS;
        for (int k = 1; count[i] && k <= covered && i + k < t->entries; k++)
            t->exact[i + k] += count[i] / DRAWS * f->scratch[k];
    }
    for (int i = 0; i < t->entries; i++) t->exact[i] = fmin(t->exact[i], 1);
}

/* ---- the scale on which tests are compared ---- */

typedef struct { double mean, variance; } moments;

static moments moments_of_counts(const unsigned *count, int entries)
{
    moments m = { 0, 0 };

    for (int i = 0; i < entries; i++) m.mean += count[i] / DRAWS * i;
    for (int i = 0; i < entries; i++) m.variance += count[i] / DRAWS * (i - m.mean) * (i - m.mean);
    return m;
}

static moments moments_of_tail(const double *tail, int entries)
{
    moments m = { 0, 0 };

    for (int i = 1; i < entries; i++) m.mean += tail[i];
    for (int i = 0; i < entries; i++)
        m.variance += (tail[i] - (i + 1 < entries ? tail[i + 1] : 0)) * (i - m.mean) * (i - m.mean);
    return m;
}

static double normal_tail(double x, double mean, double variance) { return spot_normal_tail((x - mean) / sqrt(variance)); }

/* The exact tail, where rows that are alone make half of its variance. Else it is a rank, which ends at the draws: beyond them
 * the scale falls on as a tail of the same moments. A sum may be negative, and is as often as it is not. */
static void scale_tail(spot_slice_test *t, const unsigned *count)
{
    double (*tail)(double, double, double) = t->sums ? normal_tail : spot_gamma_tail;
    const moments all = moments_of_tail(t->exact, t->entries);
    int last = t->entries - 1;
    double known;

    memcpy(t->tail, t->exact, (size_t)t->entries * sizeof *t->tail);
    t->is_rank = all.variance > 0 && 2 * moments_of_counts(count, t->entries).variance > all.variance;
    if (!t->is_rank) return;
    while (last > 0 && t->exact[last] * DRAWS < ENOUGH - 0.5) last--;
    known = fmax(tail(last - 0.5, all.mean, all.variance), 1e-290);
    for (int i = last + 1; i < t->entries; i++)
        t->tail[i] = t->exact[last] * fmin(1, fmax(tail(i - 0.5, all.mean, all.variance), 1e-300) / known);
}

/* ---- the least p ---- */

static bool has_bits(const spot_units *u, const spot_group_unit *unit, const uint64_t *judged, const int *row, uint64_t *key)
{
    bool any = false;

    *key = (uint64_t)unit->n;
    for (int k = 0; k < unit->n; k++) {
        const int at = u->order[unit->first + k];
        const bool in = spot_has_bit(judged, row ? row[at] : at);
        any |= in;
        *key = (*key ^ in) * 0x9e3779b97f4a7c15;
        *key ^= *key >> 29;
    }
    return any;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Adds the logarithms of the ways to place the units of each bin, those of one kind alike: of units of one row to ways[0], of
 * larger ones to ways[1]. A kind is units of one size that have the same rows in the slice, by their places, or none. row: as
 * spot_units_add. */
static void add_ways(double ways[2], const spot_units *u, const uint64_t *judged, const int *row)
{
    for (int b = 0; b < u->bins; b++) {
        const spot_group_unit *unit = u->unit + u->bin[b];
        const int all = u->bin[b + 1] - u->bin[b];
        double *sum = &ways[unit->n > 1];
        int in = 0;
        for (int i = 0; i < all; i++) in += has_bits(u, &unit[i], judged, row, &u->key[in]);
        *sum += lgamma(all + 1.0) - lgamma(all - in + 1.0);
        qsort(u->key, (size_t)in, sizeof *u->key, by_key);
        for (int i = 0, end; i < in; i = end) {
            for (end = i + 1; end < in && u->key[end] == u->key[i]; end++) { }
            *sum -= lgamma(end - i + 1.0);
        }
    }
}

/* No errors give a p below one in that many ways, nor a rank of larger units one below that of the draws. */
static double least_p(const spot_draws *f, const spot_slice_test *t)
{
    const bool across = class_of(f, t) == f->j->across;
    double ways[2] = { 0, 0 };

    if (t->sums) return fmax(pow(2, -t->sums), 1 / DRAWS);
    add_ways(ways, &f->units[t->g->class_place], t->g->judged, NULL);
    for (int k = 0; k < f->j->classes - 1 && across; k++) add_ways(ways, &f->units[k], t->g->judged, f->j->cls[k].row);
    return fmax(fmax(exp(-ways[1]), 1 / DRAWS) * exp(-ways[0]), 1e-300);
}

void spot_tails_of_draws(spot_draws *f, spot_slice_test *t, const unsigned *count)
{
    mix_tails(f, t, count);
    scale_tail(t, count);
    t->g->said.p = t->exact[t->number];
    t->g->least = least_p(f, t);
}
