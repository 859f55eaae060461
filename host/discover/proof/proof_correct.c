/* proof_correct.c - the p of a proof's slices, corrected for their number.
 *
 * Slices overlap, above all those of several methods, and their tests are exact and so discrete: Holm's correction, which
 * knows neither, leaves most of the level unused. So the errors of each part's judging rows are drawn again, DRAWS times: in
 * every class as many wrong rows, at random. A draw gives every slice of the other part a p, and a slice's corrected p is the
 * share of draws in which the least p of it and of all slices with a greater p is not above its own (Westfall and Young 1993,
 * step-down, least p). The membership of judging rows is blind to their errors, so where the rows of slices fail as their
 * classes do, the errors as they are are one more such draw, and the share, (1 + count) / (1 + DRAWS), is exact. In a class
 * with a blindspot the other slices fail less than in the draws, which errs on the safe side. Classes are drawn independently,
 * also where rows have several.
 *
 * The slices of one part depend on the errors that judge those of the other part. So each part is a family of its own, and
 * where both have tests the corrected p is doubled. Holm's p of the same family is never below the share of infinitely many
 * draws; where it is below the share of these, it stands. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "discover/proof/judge.h"
#include "stats/statistics.h"

#define EQUAL (1 + 1e-9)               /* p as far apart as this are the same number, rounded otherwise */
enum { DRAWS = 9999 };

/* A slice's test: its p, and the p of every number of wrong rows that its judged ones may have. */
typedef struct { spot_judged *g; double *tail, p; } slice_test;

/* The tests on the judging rows of one part. */
typedef struct {
    const spot_proving *j;
    int         part, n;       /* of the judging rows; tests */
    slice_test *test;          /* (n): the least p first */
    int        *by_class, *first;      /* (n): tests, class by class; (classes + 1): where those of a class begin */
    int        *order, *start; /* rows of the part, class by class, in each stratum by stratum; (classes + 1): as first */
    double     *tails, *scratch;
    int        *above;         /* (n): draws */
    uint64_t   *wrong;         /* (threads, words) */
    size_t      words;
    double     *drawn;         /* (threads, n): p */
} family;

static const spot_proved *class_of(const family *f, const spot_judged *g) { return &f->j->cls[g->class_place]; }

/* ---- memory ---- */

static bool is_in(const family *f, const spot_judged *g) { return g->said.part != f->part; }

/* Numbers of wrong rows that the judged rows of a slice may have. */
static size_t tail_of(const family *f, const spot_judged *g)
{
    int wrong = 0;

    for (int h = 0; h < f->j->strata; h++) wrong += class_of(f, g)->tally[f->part][h].group;
    return (size_t)(wrong < g->said.judged ? wrong : g->said.judged) + 1;
}

static spot_status take_family(spot_ctx *c, spot_arena *a, family *f)
{
    const size_t classes = (size_t)f->j->classes, threads = (size_t)c->threads;
    size_t tails = 0, largest = 0, rows = 0;

    f->n = 0, f->words = 1;
    for (int i = 0; i < f->j->pieces; i++) {
        const spot_judged *g = &f->j->piece[i];
        if (!is_in(f, g)) continue;
        f->n++;
        tails += tail_of(f, g);
        largest = (size_t)g->said.judged + 1 > largest ? (size_t)g->said.judged + 1 : largest;
    }
    for (size_t k = 0; k < classes; k++) {
        rows += (size_t)f->j->cls[k].members[f->part];
        f->words = f->j->cls[k].words > f->words ? f->j->cls[k].words : f->words;
    }
    SPOT_TRY(SPOT_TAKE(c, a, f->test, f->n));
    SPOT_TRY(SPOT_TAKE(c, a, f->by_class, f->n));
    SPOT_TRY(SPOT_TAKE(c, a, f->first, classes + 1));
    SPOT_TRY(SPOT_TAKE(c, a, f->order, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->start, classes + 1));
    SPOT_TRY(SPOT_TAKE(c, a, f->tails, tails));
    SPOT_TRY(SPOT_TAKE(c, a, f->scratch, 3 * largest));
    SPOT_TRY(SPOT_TAKE(c, a, f->above, f->n));
    SPOT_TRY(SPOT_TAKE(c, a, f->wrong, threads * f->words));
    return SPOT_TAKE(c, a, f->drawn, threads * (size_t)f->n);
}

/* ---- the tests ---- */

static int least_first(const void *a, const void *b)
{
    const slice_test *x = a, *y = b;

    if (x->p != y->p) return x->p < y->p ? -1 : 1;
    return (x->g > y->g) - (x->g < y->g);
}

static void open_tests(family *f)
{
    double *tail = f->tails;
    int n = 0;

    for (int i = 0; i < f->j->pieces; i++) {
        spot_judged *g = &f->j->piece[i];
        if (!is_in(f, g)) continue;
        spot_stratified_tails(f->scratch, spot_cover_strata(f->j, class_of(f, g), g->judged, f->part), f->j->strata,
                              f->scratch + g->said.judged + 1);
        memcpy(tail, f->scratch, tail_of(f, g) * sizeof *tail);
        f->test[n++] = (slice_test){ g, tail, tail[g->said.wrong] };
        tail += tail_of(f, g);
    }
    qsort(f->test, (size_t)n, sizeof *f->test, least_first);
}

/* Tests and rows class by class. */
static void sort_classes(family *f)
{
    int tests = 0, rows = 0;

    for (int k = 0; k < f->j->classes; k++) {
        const spot_proved *own = &f->j->cls[k];
        f->first[k] = tests;
        for (int t = 0; t < f->n; t++)
            if (f->test[t].g->class_place == k) f->by_class[tests++] = t;
        f->start[k] = rows;
        for (int h = 0; h < f->j->strata; h++)
            for (int i = 0; i < own->members[f->part]; i++) {
                const int at = own->member[f->part][i];
                if (spot_stratum_of(f->j, own->row[at]) == h) f->order[rows++] = at;
            }
    }
    f->first[f->j->classes] = tests;
    f->start[f->j->classes] = rows;
}

/* ---- draws ---- */

/* Draws as many wrong rows as each stratum has (Floyd's sample). */
static void draw_errors(const family *f, int class_place, spot_rng *r, uint64_t *wrong)
{
    const spot_proved *k = &f->j->cls[class_place];
    const int *row = f->order + f->start[class_place];

    memset(wrong, 0, k->words * sizeof *wrong);
    for (int h = 0; h < f->j->strata; h++) {
        const spot_stratum *t = &k->tally[f->part][h];
        for (int i = t->rows - t->group; i < t->rows; i++) {
            int at = row[spot_rng_below(r, (uint32_t)i + 1)];
            if (spot_has_bit(wrong, at)) at = row[i];
            wrong[at / 64] |= (uint64_t)1 << at % 64;
        }
        row += t->rows;
    }
}

static void draw(family *f, int number, uint64_t *wrong, double *p)
{
    spot_rng r = spot_rng_at(f->j->p.seed, SPOT_RNG_TESTS, (uint32_t)f->part, (uint32_t)number);
    double least = 1;

    for (int k = 0; k < f->j->classes; k++) {
        if (f->first[k] == f->first[k + 1]) continue;
        draw_errors(f, k, &r, wrong);
        for (int i = f->first[k]; i < f->first[k + 1]; i++) {
            const slice_test *t = &f->test[f->by_class[i]];
            int hits = 0;
            for (size_t w = 0; w < f->j->cls[k].words; w++) hits += __builtin_popcountll(t->g->judged[w] & wrong[w]);
            p[f->by_class[i]] = t->tail[hits];
        }
    }
    for (int t = f->n - 1; t >= 0; t--) {
        least = fmin(least, p[t]);
        if (least > f->test[t].p * EQUAL) continue;
#pragma omp atomic
        f->above[t]++;
    }
}

static void correct_family(spot_ctx *c, family *f, int families)
{
    double share = 0, holm = 0;

    open_tests(f);
    sort_classes(f);
    memset(f->above, 0, (size_t)f->n * sizeof *f->above);
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < DRAWS; i++) {
        const size_t t = (size_t)omp_get_thread_num();
        draw(f, i, f->wrong + t * f->words, f->drawn + t * (size_t)f->n);
    }
    for (int t = 0; t < f->n; t++) {
        share = fmax(share, (1.0 + f->above[t]) / (1 + DRAWS));
        holm = fmax(holm, (f->n - t) * f->test[t].p);
        f->test[t].g->said.corrected = fmin(families * fmin(share, holm), 1);
    }
}

static spot_status run_family(spot_ctx *c, family *f, int families)
{
    spot_arena sizes = spot_arena_counting(), a;

    SPOT_TRY(take_family(c, &sizes, f));
    SPOT_TRY(spot_arena_open(c, &a, sizes.peak));
    SPOT_TRY(take_family(c, &a, f));
    correct_family(c, f, families);
    spot_arena_close(&a);
    return SPOT_OK;
}

spot_status spot_proof_correct(spot_proving *j)
{
    int tests[2] = { 0, 0 };

    for (int i = 0; i < j->pieces; i++) tests[1 - j->piece[i].said.part]++;
    for (int part = 0; part < 2; part++) {
        family f = { .j = j, .part = part };
        if (tests[part]) SPOT_TRY(run_family(j->c, &f, (tests[0] > 0) + (tests[1] > 0)));
    }
    return SPOT_OK;
}
