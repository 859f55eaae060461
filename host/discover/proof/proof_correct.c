/* proof_correct.c - the p of a proof's slices, corrected for their number.
 *
 * Slices overlap, above all those of several methods, and their tests are exact and so discrete: Holm's correction, which
 * knows neither, leaves most of the level unused. So the errors of each part's judging rows are drawn again, SPOT_PROOF_DRAWS
 * times: in every class as many wrong rows, at random, or those of groups exchanged (proof_draws.h). A draw gives every slice
 * of the other part a p, and a slice's corrected p is the share of draws in which the least p of it and of all slices with a
 * greater p is not above its own (Westfall and Young 1993, step-down, least p). The membership of judging rows is blind to
 * their errors, so where the rows of slices fail as their classes do, the errors as they are are one more such draw, and the
 * share, (1 + count) / (1 + SPOT_PROOF_DRAWS), is exact. In a class with a blindspot the other slices fail less than in the
 * draws, which errs on the safe side. Classes are drawn independently, also where rows have several.
 *
 * Each p is divided by the weight of its slice first, in the draws, too, and in Holm's sum a slice counts with its weight:
 * weights share the level, by what the finding part says (proof_weights.c).
 *
 * The slices of one part depend on the errors that judge those of the other part. So each part is a family of its own, and
 * where both have tests the corrected p is doubled. Holm's p of the same family is never below the share of infinitely many
 * draws; where it is below the share of these, it stands. A rank (proof_draws.h) is compared by a scale that is no p: in place
 * of the p that Holm's sum has for each of the greater tests it counts with the exact p of the least number that is as far out
 * by its scale. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "discover/proof/proof_draws.h"
#include "discover/subject/subject_memory.h"

#define EQUAL (1 + 1e-9)               /* p as far apart as this are the same number, rounded otherwise */

static void count_above(spot_draws *f, const int *hits, int *above)
{
    double least = INFINITY;

    for (int t = f->n - 1; t >= 0; t--) {
        least = fmin(least, f->test[t].tail[hits[t]]);
        if (least > f->test[t].p * EQUAL) continue;
#pragma omp atomic
        above[t]++;
    }
}

/* The probability that a test's number is as far out by its scale as p; p ascends from call to call. at: entries at first. */
static double reach(const spot_slice_test *t, int *at, double p)
{
    while (*at && t->tail[*at - 1] <= p * EQUAL) --*at;
    return *at < t->entries ? t->exact[*at] : 0;
}

/* bound (tests): Holm's p, tests as they are sorted. at (tests): scratch. */
static void bound_family(const spot_draws *f, double *bound, int *at)
{
    double weights = 0;                /* of the tests from t on that are no ranks */
    int ranks = 0;

    for (int t = 0; t < f->n; t++)
        if (f->test[t].is_rank) at[t] = f->test[t].entries, ranks++;
        else weights += f->test[t].weight;
    for (int t = 0; t < f->n; t++) {
        bound[t] = weights * f->test[t].p;
        for (int s = t; s < f->n && ranks; s++)
            if (f->test[s].is_rank) bound[t] += reach(&f->test[s], &at[s], f->test[t].p);
        if (f->test[t].is_rank) ranks--;
        else weights -= f->test[t].weight;
    }
}

/* above and bound (tests): scratch. */
static void correct_family(spot_ctx *c, spot_draws *f, int *above, double *bound, int families)
{
    double share = 0, holm = 0;

    spot_draws_open(c, f);
    bound_family(f, bound, above);
    memset(above, 0, (size_t)f->n * sizeof *above);
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < SPOT_PROOF_DRAWS; i++) count_above(f, spot_draw(f, i, omp_get_thread_num()), above);
    for (int t = 0; t < f->n; t++) {
        spot_judged *g = f->test[t].g;
        share = fmax(share, (1.0 + above[t]) / (1 + SPOT_PROOF_DRAWS));
        holm = fmax(holm, bound[t]);
        g->least = fmin(families * g->least, 1);
        g->said.corrected = fmin(fmax(families * fmin(share, holm), g->least), 1);
    }
}

static spot_status run_family(spot_ctx *c, spot_draws *f, int tests, int families)
{
    spot_arena sizes = spot_arena_counting(), a;
    double *bound;
    int *above;

    SPOT_TRY(spot_draws_take(c, &sizes, f));
    SPOT_TRY(spot_arena_open(c, &a, sizes.peak + spot_arena_room((size_t)tests * sizeof *above)
                             + spot_arena_room((size_t)tests * sizeof *bound)));
    SPOT_TRY(spot_draws_take(c, &a, f));
    SPOT_TRY(SPOT_TAKE(c, &a, above, tests));
    SPOT_TRY(SPOT_TAKE(c, &a, bound, tests));
    correct_family(c, f, above, bound, families);
    spot_arena_close(&a);
    return SPOT_OK;
}

spot_status spot_proof_correct(spot_proving *j)
{
    int tests[2] = { 0, 0 };

    for (int i = 0; i < j->pieces; i++) tests[1 - j->piece[i].said.part]++;
    for (int part = 0; part < 2; part++) {
        spot_draws f = { .j = j, .part = part };
        if (tests[part]) SPOT_TRY(run_family(j->c, &f, tests[part], (tests[0] > 0) + (tests[1] > 0)));
    }
    return SPOT_OK;
}

/* One part's tests at a time, each as large as its class. */
size_t spot_proof_correct_bytes(const spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                                const spot_candidate *candidates, int count)
{
    const bool grouped = spot_subject_is_grouped(s);
    const size_t tests = spot_proof_slices(o) / 2, threads = (size_t)c->threads;
    const size_t number = sizeof(double) + (grouped ? sizeof(double) + sizeof(int) : 0);
    size_t bytes = 8192 + threads * (size_t)s->groups / 8, largest = 0;

    for (int i = 0; i < count; i++) {
        const size_t rows = (size_t)candidates[i].n, sums = grouped && candidates[i].cls < 0;
        const size_t numbers = (grouped ? rows : (size_t)candidates[i].wrong) + 1 + sums * SPOT_SUM_BINS;
        bytes += tests * (sizeof(spot_slice_test) + 16 + numbers * number + threads * sizeof(int)
                          + sums * (size_t)s->groups * sizeof(spot_group_sum)) + rows * (grouped ? 48 : 4) + 8 * SPOT_ALIGN
                 + rows * ((tests + 63) / 64) * sizeof(uint64_t);
        largest = rows > largest ? rows : largest;
    }
    return bytes + largest * (3 * sizeof(double) + threads * (3 * sizeof(int) + 1));
}
