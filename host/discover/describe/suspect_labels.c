/* suspect_labels.c - see suspect_labels.h. */
#include "discover/describe/suspect_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/search/vote.h"
#include "spotter/rng.h"

enum { NEAR = 30, AT_ONCE = 16384, MOST_NUMBERS = 1 << 24, FEWEST = 2048 };   /* neighbours asked for; rows asked at once */

#define ROUNDING 1e-6                  /* of a mean of probabilities */

/* ---- confident learning ---- */

static bool is_known(const spot_subject *s)
{
    return s->target && !s->instance && s->classes > 1 && (s->prob || (s->classes == 2 && s->confidence));
}

static double prob_of(const spot_subject *s, int i, int k)
{
    if (s->prob) return s->prob[(size_t)i * (size_t)s->classes + (size_t)k];
    return s->target[i] == k ? s->confidence[i] : 1 - s->confidence[i];
}

/* threshold (2 classes): the mean probability of each class among its rows; infinite where it has none. */
static void mean_probs(double *threshold, const spot_subject *s)
{
    double *rows = threshold + s->classes;

    memset(threshold, 0, 2 * (size_t)s->classes * sizeof *threshold);
    for (int i = 0; i < s->n; i++) {
        threshold[s->target[i]] += prob_of(s, i, s->target[i]);
        rows[s->target[i]]++;
    }
    for (int k = 0; k < s->classes; k++) threshold[k] = rows[k] ? threshold[k] / rows[k] - ROUNDING : INFINITY;
}

bool spot_confident_labels(const spot_ctx *c, int *label, double *threshold, const spot_subject *s)
{
    if (!is_known(s)) return false;
    mean_probs(threshold, s);
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < s->n; i++) {
        double best = -1;
        label[i] = -1;
        if (!spot_subject_wrong(s, i, s->target[i])) continue;
        for (int k = 0; k < s->classes; k++) {
            const double p = prob_of(s, i, k);
            if (p < threshold[k] || p <= best) continue;
            best = p;
            label[i] = k;
        }
        if (label[i] == s->target[i]) label[i] = -1;
    }
    return true;
}

/* ---- neighbours ---- */

typedef struct { int group, row; } waiting_row;

typedef struct {
    spot_ctx *c;
    const spot_subject *s;
    const int *label;                  /* (n) */
    int  voters;
    const int *voter;                  /* (voters): rows, ascending; NULL: all */
    int  count, *row;                  /* (n): rows that are suspect so far */
    int  waiting;
    waiting_row *wait;                 /* (n): rows whose nearest are mostly of their own group; NULL: there are no groups */
    int *other;                        /* (voters): those of other groups than one */
} label_search;

static int by_row(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int voters_among(const spot_subject *s)
{
    const int most = MOST_NUMBERS / s->d > FEWEST ? MOST_NUMBERS / s->d : FEWEST;

    return s->n < most ? s->n : most;
}

/* voter (n): the first q->voters become theirs. */
static void draw_voters(label_search *q, int *voter)
{
    spot_rng r = spot_rng_at(0, SPOT_RNG_HOLDOUT, 0, UINT32_MAX);

    for (int i = 0; i < q->s->n; i++) voter[i] = i;
    for (int i = 0; i < q->voters; i++) {
        const int at = i + (int)spot_rng_below(&r, (uint32_t)(q->s->n - i)), row = voter[at];
        voter[at] = voter[i];
        voter[i] = row;
    }
    qsort(voter, (size_t)q->voters, sizeof *voter, by_row);
}

typedef struct { int votes, agree; } ballot;

/* Counts the nearest rows that may vote. voter: rows of the entries of nearest; NULL: they are rows. */
static ballot ask_nearest(const label_search *q, int row, const int *voter, const int *nearest, int k)
{
    const spot_subject *s = q->s;
    ballot b = { 0, 0 };

    for (int t = 0; t < k && b.votes < SPOT_LABEL_VOTES; t++) {
        const int other = voter ? voter[nearest[t]] : nearest[t];
        if (other == row || (s->group && s->group[other] == s->group[row])) continue;
        b.votes++;
        b.agree += s->target[other] == q->label[row];
    }
    return b;
}

static spot_status ask_neighbours(label_search *q, spot_arena *a, const int *row, int n, int *nearest)
{
    const int k = q->voters < NEAR ? q->voters : NEAR;

    SPOT_TRY(spot_check_stop(q->c));
    SPOT_TRY(spot_nearest_rows(q->c, a, nearest, (spot_some_rows){ q->s->feature, row, n },
                               (spot_some_rows){ q->s->feature, q->voter, q->voters }, q->s->d, k));
    for (int i = 0; i < n && !a->counting; i++) {
        const ballot b = ask_nearest(q, row[i], q->voter, nearest + (size_t)i * (size_t)k, k);
        if (q->wait && b.votes < SPOT_LABEL_VOTES && k < q->voters)
            q->wait[q->waiting++] = (waiting_row){ q->s->group[row[i]], row[i] };
        else if (2 * b.agree > b.votes) q->row[q->count++] = row[i];
    }
    return SPOT_OK;
}

static int by_group(const void *a, const void *b)
{
    const waiting_row *x = a, *y = b;

    return x->group != y->group ? x->group - y->group : x->row - y->row;
}

/* The waiting rows from `first` on that are of one group, in row (n) for scratch: only voters of other groups are asked. */
static spot_status ask_other_groups(label_search *q, spot_arena *a, int first, int *row, int n, int *nearest)
{
    int others = 0, k;

    SPOT_TRY(spot_check_stop(q->c));
    for (int i = 0; i < q->voters && !a->counting; i++) {
        const int voter = q->voter ? q->voter[i] : i;
        if (q->s->group[voter] != q->wait[first].group) q->other[others++] = voter;
    }
    if (a->counting) others = q->voters;
    if (!others) return SPOT_OK;
    k = others < SPOT_LABEL_VOTES ? others : SPOT_LABEL_VOTES;
    for (int i = 0; i < n && !a->counting; i++) row[i] = q->wait[first + i].row;
    SPOT_TRY(spot_nearest_rows(q->c, a, nearest, (spot_some_rows){ q->s->feature, row, n },
                               (spot_some_rows){ q->s->feature, q->other, others }, q->s->d, k));
    for (int i = 0; i < n && !a->counting; i++) {
        const ballot b = ask_nearest(q, row[i], q->other, nearest + (size_t)i * (size_t)k, k);
        if (2 * b.agree > b.votes) q->row[q->count++] = row[i];
    }
    return SPOT_OK;
}

static spot_status search_other_groups(label_search *q, spot_arena *a, int *row, int most, int *nearest)
{
    qsort(q->wait, (size_t)q->waiting, sizeof *q->wait, by_group);
    for (int i = 0, end; i < q->waiting; i = end) {
        for (end = i; end < q->waiting && end < i + most && q->wait[end].group == q->wait[i].group; end++) { }
        SPOT_TRY(ask_other_groups(q, a, i, row, end - i, nearest));
    }
    qsort(q->row, (size_t)q->count, sizeof *q->row, by_row);
    return SPOT_OK;
}

/* asked (n): scratch. A counting arena only counts. */
static spot_status search_labels(label_search *q, spot_arena *a, int *asked)
{
    const int n = q->s->n, most = n < AT_ONCE ? n : AT_ONCE;
    int *nearest, *voter = NULL, rows = 0;

    q->voters = voters_among(q->s);
    if (q->voters < n) SPOT_TRY(SPOT_TAKE(q->c, a, voter, n));
    SPOT_TRY(SPOT_TAKE(q->c, a, nearest, (size_t)most * NEAR));
    if (q->s->group) SPOT_TRY(SPOT_TAKE(q->c, a, q->wait, n));
    if (q->s->group) SPOT_TRY(SPOT_TAKE(q->c, a, q->other, q->voters));
    if (voter) draw_voters(q, voter);
    q->voter = a->counting && q->voters < n ? asked : voter;
    if (a->counting) {
        q->other = asked;
        if (q->s->group) SPOT_TRY(ask_other_groups(q, a, 0, asked, most, nearest));
        return ask_neighbours(q, a, asked, most, nearest);
    }
    for (int i = 0; i < n; i++)
        if (q->label[i] >= 0) asked[rows++] = i;
    for (int i = 0; i < rows; i += most)
        SPOT_TRY(ask_neighbours(q, a, asked + i, rows - i < most ? rows - i : most, nearest));
    return q->waiting ? search_other_groups(q, a, asked, most, nearest) : SPOT_OK;
}

static spot_status keep_suspects(spot_ctx *c, spot_findings *f, const label_search *q)
{
    spot_suspects *x = &f->suspects;

    spot_arena_close(&f->suspected);
    SPOT_TRY(spot_arena_open(c, &f->suspected, 2 * spot_arena_room((size_t)q->count * sizeof *x->row)));
    SPOT_TRY(SPOT_TAKE(c, &f->suspected, x->row, q->count));
    SPOT_TRY(SPOT_TAKE(c, &f->suspected, x->cls, q->count));
    for (int i = 0; i < q->count; i++) {
        x->row[i] = q->row[i];
        x->cls[i] = q->label[q->row[i]];
    }
    x->known = true;
    x->count = q->count;
    return SPOT_OK;
}

/* own (3 n); threshold (2 classes). */
static spot_status run_search(spot_ctx *c, spot_findings *f, const spot_subject *s, int *own, double *threshold)
{
    label_search q = { .c = c, .s = s, .label = own, .row = own + s->n };
    spot_arena sizes = spot_arena_counting(), a;
    spot_status how;

    if (!spot_confident_labels(c, own, threshold, s)) return SPOT_OK;
    SPOT_TRY(search_labels(&q, &sizes, own));
    SPOT_TRY(spot_arena_open(c, &a, sizes.peak));
    how = search_labels(&q, &a, own + 2 * (size_t)s->n);
    spot_arena_close(&a);
    return how == SPOT_OK ? keep_suspects(c, f, &q) : how;
}

size_t spot_suspects_bytes(const spot_ctx *c, const spot_subject *s)
{
    spot_ctx quiet = { .ops = c->ops, .device = c->device, .threads = c->threads };
    label_search q = { .c = &quiet, .s = s };
    spot_arena sizes = spot_arena_counting();
    int none = 0;

    if (!is_known(s) || search_labels(&q, &sizes, &none)) return 0;
    return sizes.peak + (size_t)s->n * 3 * sizeof(int) + 2 * spot_arena_room((size_t)s->n * sizeof(int))
         + 2 * (size_t)s->classes * sizeof(double);
}

double spot_suspects_pairs(const spot_ctx *c, const spot_subject *s)
{
    int *label = malloc(((size_t)s->n + 1) * sizeof *label), asked = 0;
    double *threshold = malloc(2 * (size_t)s->classes * sizeof *threshold);

    if (label && threshold && spot_confident_labels(c, label, threshold, s))
        for (int i = 0; i < s->n; i++) asked += label[i] >= 0;
    free(label);
    free(threshold);
    return (double)asked * voters_among(s);
}

spot_status spot_suspects_find(spot_ctx *c, spot_findings *f, const spot_subject *s)
{
    int *own = malloc(3 * ((size_t)s->n + 1) * sizeof *own);
    double *threshold = malloc(2 * (size_t)s->classes * sizeof *threshold);
    spot_status how = own && threshold ? run_search(c, f, s, own, threshold)
                                       : spot_fail(c, SPOT_NOMEM, "no memory for the labels of %d rows", s->n);

    free(own);
    free(threshold);
    if (how == SPOT_OK) spot_suspects_count(f);
    return how;
}

/* ---- slices ---- */

int spot_suspects_place(const spot_suspects *x, int row)
{
    int low = 0, high = x->count;

    while (low < high) {
        const int mid = (low + high) / 2;
        if (x->row[mid] < row) low = mid + 1;
        else high = mid;
    }
    return low < x->count && x->row[low] == row ? low : -1;
}

void spot_suspects_count(spot_findings *f)
{
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            spot_slice *p = &f->finding[i].slice[k];
            p->labels_known = f->suspects.known;
            p->suspects = 0;
            for (int t = 0; t < p->size; t++) p->suspects += spot_suspects_place(&f->suspects, p->row[t]) >= 0;
            p->rate_without = p->size > p->suspects ? (double)(p->wrong - p->suspects) / (p->size - p->suspects) : NAN;
        }
}
