/* proof_facts.c - numbers that stand beside a claim.
 *
 * Shrunk excess: wrong rows of a piece are binomial with the rate base + e. The prior of e is learned from all pieces (an
 * empirical prior: Efron 2010, chapter 1), and the posterior mean of e needs no correction for having been selected.
 *
 *  - At first a share of the excesses is near 0, and the others are normal around 0. The share and the width are unknown, and
 *    every pair of them counts by how probable it makes all pieces.
 *  - Slices are no normal crowd: those that are cut by the confidence lie near 0 or near 1 less the rate, and a normal prior
 *    drew the great ones down by a tenth more than new rows did. So the prior that makes the pieces most probable, of any form
 *    (Kiefer and Wolfowitz 1956), is sought by EM (Laird 1978) from there, with the first prior as FIRST further pieces: where
 *    pieces are few it stays near it.
 *
 * Expected rate: rows of the same predicted class are cut by confidence into bins of equal size. A row's expected error is its
 * bin's rate among judging rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/proof/proof_groups.h"

enum { BINS = 10, BIN = 20 };          /* bins of a predicted class, at most; rows of a bin, at least */
enum { SHARES = 10, WIDTHS = 12 };     /* of the first prior's pairs */
enum { FIRST = 5, ROUNDS = 200 };      /* pieces that the first prior counts as; steps of EM */

static double excess_at(int e) { return 2.0 * e / (SPOT_EXCESSES - 1) - 1; }

/* like (SPOT_EXCESSES): proportional to the likelihood of each excess; 0 where it leaves no rate. */
static void likelihoods(double *like, double rows, double wrong, double rate)
{
    double most = -INFINITY;

    for (int e = 0; e < SPOT_EXCESSES; e++) {
        const double step = 2.0 / (SPOT_EXCESSES - 1), at = rate + excess_at(e), q = fmin(fmax(at, 0.002), 0.998);
        like[e] = at < -step / 2 || at > 1 + step / 2 ? -INFINITY : wrong * log(q) + (rows - wrong) * log(1 - q);
        most = fmax(most, like[e]);
    }
    for (int e = 0; e < SPOT_EXCESSES; e++) like[e] = exp(like[e] - most);
}

/* A prior: `share` of it within 0.02 of 0, the rest normal around 0. */
static void fill_prior(double *prior, int share, int width)
{
    const double near = (double)share / SHARES, sd[2] = { 0.02, 0.05 * (width + 1) };
    double sum[2] = { 0, 0 };

    for (int e = 0; e < SPOT_EXCESSES; e++)
        for (int k = 0; k < 2; k++) sum[k] += exp(-0.5 * pow(excess_at(e) / sd[k], 2));
    for (int e = 0; e < SPOT_EXCESSES; e++)
        prior[e] = near * exp(-0.5 * pow(excess_at(e) / sd[0], 2)) / sum[0]
                 + (1 - near) * exp(-0.5 * pow(excess_at(e) / sd[1], 2)) / sum[1];
}

/* first: the priors' mean, each by the probability that it gives all pieces. like (pieces, SPOT_EXCESSES). */
static void average_priors(double *first, const double *like, int pieces)
{
    static const double tiny = 1e-300;
    double prior[SHARES * WIDTHS][SPOT_EXCESSES], fit[SHARES * WIDTHS] = { 0 }, most = -INFINITY, all = 0;

    for (int h = 0; h < SHARES * WIDTHS; h++) {
        fill_prior(prior[h], h % SHARES, h / SHARES);
        for (int i = 0; i < pieces; i++) {
            double sum = 0;
            for (int e = 0; e < SPOT_EXCESSES; e++) sum += prior[h][e] * like[(size_t)i * SPOT_EXCESSES + (size_t)e];
            fit[h] += log(fmax(sum, tiny));
        }
        most = fmax(most, fit[h]);
    }
    memset(first, 0, SPOT_EXCESSES * sizeof *first);
    for (int h = 0; h < SHARES * WIDTHS; h++) all += exp(fit[h] - most);
    for (int h = 0; h < SHARES * WIDTHS; h++)
        for (int e = 0; e < SPOT_EXCESSES; e++) first[e] += exp(fit[h] - most) / all * prior[h][e];
}

/* sum += the posterior of a piece. */
static void add_posterior(double *sum, const double *weight, const double *like)
{
    double all = 0;

    for (int e = 0; e < SPOT_EXCESSES; e++) all += like[e] * weight[e];
    for (int e = 0; e < SPOT_EXCESSES && all > 0; e++) sum[e] += like[e] * weight[e] / all;
}

static double effect_of(const spot_proving *j, const spot_judged *g)
{
    const spot_proved *k;

    if (!j->seen) return 1;
    k = &j->cls[g->class_place];
    return spot_effect_of_groups(k, spot_count_groups(j, k, g->judged), g->said.judged);
}

spot_status spot_learn_excesses(spot_proving *j)
{
    double first[SPOT_EXCESSES], *like = malloc(((size_t)j->pieces + 1) * SPOT_EXCESSES * sizeof *like);

    if (!like) return spot_fail(j->c, SPOT_NOMEM, "no memory for the excesses of %d slices", j->pieces);
    for (int i = 0; i < j->pieces; i++) {
        const spot_piece *p = &j->piece[i].said;
        const double effect = effect_of(j, &j->piece[i]);
        likelihoods(like + (size_t)i * SPOT_EXCESSES, p->judged / effect, p->wrong / effect, p->base / p->judged);
    }
    average_priors(first, like, j->pieces);
    memcpy(j->weight, first, sizeof first);
    for (int round = 0; round < ROUNDS; round++) {
        double sum[SPOT_EXCESSES] = { 0 };
        for (int i = 0; i < j->pieces; i++) add_posterior(sum, j->weight, like + (size_t)i * SPOT_EXCESSES);
        for (int e = 0; e < SPOT_EXCESSES; e++) j->weight[e] = (sum[e] + FIRST * first[e]) / (j->pieces + FIRST);
    }
    free(like);
    return SPOT_OK;
}

double spot_shrunk_excess(const spot_proving *j, double rows, double wrong, double rate)
{
    double like[SPOT_EXCESSES], posterior[SPOT_EXCESSES] = { 0 }, mean = 0;

    likelihoods(like, rows, wrong, rate);
    add_posterior(posterior, j->weight, like);
    for (int e = 0; e < SPOT_EXCESSES; e++) mean += posterior[e] * excess_at(e);
    return mean;
}

/* ---- by predicted class and confidence ---- */

typedef struct { int predicted, row; float confidence; } answer;

static int by_confidence(const void *a, const void *b)
{
    const answer *x = a, *y = b;

    if (x->predicted != y->predicted) return x->predicted < y->predicted ? -1 : 1;
    if (x->confidence != y->confidence) return x->confidence < y->confidence ? -1 : 1;
    return x->row - y->row;
}

/* Cuts the n answers of one predicted class into bins, and gives each row the rate of its bin's judging rows. */
static void rate_bins(spot_proving *j, const answer *v, int n)
{
    const int bins = n / BIN < 1 ? 1 : n / BIN < BINS ? n / BIN : BINS;

    for (int b = 0; b < bins; b++) {
        const int first = (int)((long long)n * b / bins), end = (int)((long long)n * (b + 1) / bins);
        int rows = 0, wrong = 0;
        for (int i = first; i < end; i++) {
            if (j->p.parts == 1 && !j->part[v[i].row]) continue;
            rows++;
            wrong += spot_subject_wrong(j->s, v[i].row, j->s->target[v[i].row]);
        }
        for (int i = first; i < end; i++) j->expected[v[i].row] = rows ? (float)wrong / (float)rows : 0;
    }
}

spot_status spot_learn_expected(spot_proving *j)
{
    const spot_subject *s = j->s;
    answer *v;

    j->expected = NULL;
    if (!s->target || !s->prob || spot_subject_predicted(s, 0) < 0) return SPOT_OK;
    v = malloc((size_t)s->n * sizeof *v);
    if (!v) return spot_fail(j->c, SPOT_NOMEM, "no memory for the confidences of %d rows", s->n);
    for (int i = 0; i < s->n; i++) {
        const int k = spot_subject_predicted(s, i);
        v[i] = (answer){ k, i, s->prob[(size_t)i * (size_t)s->classes + (size_t)k] };
    }
    qsort(v, (size_t)s->n, sizeof *v, by_confidence);
    if (SPOT_TAKE(j->c, &j->a, j->expected, s->n) == SPOT_OK)
        for (int i = 0, end; i < s->n; i = end) {
            for (end = i; end < s->n && v[end].predicted == v[i].predicted; end++) { }
            rate_bins(j, v + i, end - i);
        }
    free(v);
    j->fixed = j->a.used;
    return j->expected ? SPOT_OK : SPOT_NOMEM;
}

/* ---- a slice ---- */

static spot_interval excess_of(const spot_proving *j, const spot_proved *k, const uint64_t *judged, const spot_counted *n)
{
    int rows = 0, wrong = 0;
    uint64_t *scratch;
    spot_interval x;

    for (int q = j->p.parts == 1; q < 2; q++)
        for (int h = 0; h < k->strata; h++) {
            rows += k->tally[q][h].rows;
            wrong += k->tally[q][h].group;
        }
    if (!j->seen) return spot_share_excess(n->wrong, n->rows, wrong, rows, n->base);
    scratch = malloc(k->words * sizeof *scratch);
    x = (spot_interval){ (n->wrong - n->base) / n->rows, NAN, NAN };
    if (scratch) x = spot_excess_by_groups(j, k, judged, scratch, *n, (spot_counted){ rows, wrong, 0 });
    free(scratch);
    return x;
}

/* The class that most wrong rows of the slice are taken for. */
static void name_predicted(const spot_proving *j, const spot_proved *k, const spot_slice *slice, spot_proof *p)
{
    int *count = calloc((size_t)j->s->classes, sizeof *count), best = 0, wrong = 0;

    p->predicted = -1;
    p->predicted_share = NAN;
    for (int i = 0; count && i < slice->size; i++) {
        const int row = slice->row[i], to = spot_subject_predicted(j->s, row);
        if (to < 0 || !spot_subject_wrong(j->s, row, k->cls)) continue;
        wrong++;
        count[to]++;
    }
    for (int c = 0; count && c < j->s->classes; c++)
        if (count[c] > best) {
            best = count[c];
            p->predicted = c;
        }
    if (wrong) p->predicted_share = (double)best / wrong;
    free(count);
}

void spot_proof_facts(const spot_proving *j, const spot_proved *k, const uint64_t *judged, spot_slice *slice)
{
    const spot_counted n = spot_count_rows(j, k, judged, -1);
    const spot_group_count own = spot_count_groups(j, k, judged);
    const double effect = spot_effect_of_groups(k, own, n.rows);
    spot_proof *p = slice->proof;
    double cell = 0;

    p->judged = n.rows;
    p->wrong = n.wrong;
    p->class_rate = n.base / n.rows;
    p->groups = own.groups;
    p->excess = excess_of(j, k, judged, &n);
    p->shrunk = spot_shrunk_excess(j, n.rows / effect, n.wrong / effect, p->class_rate);
    for (int i = 0; i < k->n && j->expected; i++)
        if (spot_has_bit(judged, i)) cell += j->expected[k->row[i]];
    p->cell = j->expected ? cell / n.rows : NAN;
    name_predicted(j, k, slice, p);
}
