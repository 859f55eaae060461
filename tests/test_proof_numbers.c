/* The numbers of a proof: corrected p against an enumeration of all errors, excesses to expect against known ones.
 * ctest: threads, both */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "discover/proof/judge.h"
#include "stats/statistics.h"
#include "spotter/rng.h"

/* ---- the correction for many tests ---- */

enum { FEW = 14, SLICES = 5 };

/* Rows 0 .. FEW - 1, all in the judging part, `strata` classes in turn. */
typedef struct {
    spot_ctx c;
    spot_subject s;
    spot_proved k;
    spot_proving j;
    spot_judged piece[SLICES];
    spot_stratum tally[2];
    uint64_t judged[SLICES];
    int row[FEW], target[FEW];
} small_proof;

static void open_small(small_proof *x, int strata, uint64_t wrong)
{
    static const uint64_t judged[SLICES] = { 0x00f, 0x01f, 0x0f0, 0x3c0c, 0x2222 };

    memset(x, 0, sizeof *x);
    x->c = check_ctx(2);
    x->s.target = x->target;
    x->k = (spot_proved){ .n = FEW, .row = x->row, .words = 1, .members = { 0, FEW }, .member = { NULL, x->row },
                          .tally = { x->tally, x->tally }, .strata = strata };
    x->j = (spot_proving){ .c = &x->c, .s = &x->s, .classes = 1, .cls = &x->k, .pieces = SLICES,
                           .piece = x->piece };
    for (int i = 0; i < FEW; i++) {
        x->row[i] = i;
        x->target[i] = i % 2;
        x->tally[strata > 1 ? i % 2 : 0].rows++;
        x->tally[strata > 1 ? i % 2 : 0].group += (int)(wrong >> i & 1);
    }
    for (int h = 0; h < SLICES; h++) {
        x->judged[h] = judged[h];
        x->piece[h].judged = &x->judged[h];
        x->piece[h].said.judged = __builtin_popcountll(judged[h]);
        x->piece[h].said.wrong = __builtin_popcountll(judged[h] & wrong);
    }
}

static double p_of_slice(small_proof *x, int h, uint64_t wrong)
{
    double scratch[2 * FEW + 2];

    for (int s = 0; s < 2; s++) x->tally[s].covered = 0;
    for (int i = 0; i < FEW; i++) x->tally[x->k.strata > 1 ? i % 2 : 0].covered += (int)(x->judged[h] >> i & 1);
    return spot_stratified_tail(x->tally, x->k.strata, __builtin_popcountll(x->judged[h] & wrong), scratch);
}

/* The share of all sets of as many wrong rows in each stratum in which a slice whose p is not less than that of h has at most
 * that p. */
static double by_all_sets(small_proof *x, int h, uint64_t wrong)
{
    const uint64_t even = 0x5555;
    int sets = 0, above = 0;

    for (uint64_t set = 0; set < 1 << FEW; set++) {
        double least = 1;
        if (__builtin_popcountll(set) != __builtin_popcountll(wrong)) continue;
        if (x->k.strata > 1 && __builtin_popcountll(set & even) != __builtin_popcountll(wrong & even)) continue;
        for (int i = 0; i < SLICES; i++)
            if (p_of_slice(x, i, wrong) >= p_of_slice(x, h, wrong) - 1e-12) least = fmin(least, p_of_slice(x, i, set));
        sets++;
        above += least <= p_of_slice(x, h, wrong) + 1e-12;
    }
    return (double)above / sets;
}

TEST(corrected_p_is_that_of_all_sets_of_wrong_rows)
{
    static const uint64_t wrong[] = { 0x00f, 0x01b, 0x3803, 0x0421 };

    for (int strata = 1; strata <= 2; strata++)
        for (int w = 0; w < LEN(wrong); w++) {
            small_proof x;
            open_small(&x, strata, wrong[w]);
            CHECK_OK(&x.c, spot_proof_correct(&x.j));
            for (int h = 0; h < SLICES; h++) {
                double most = 0, holm = 0;                     /* of the slices up to this one, in the order of their p */
                for (int i = 0; i < SLICES; i++) {
                    int left = 0;
                    if (p_of_slice(&x, i, wrong[w]) > p_of_slice(&x, h, wrong[w]) + 1e-12) continue;
                    for (int l = 0; l < SLICES; l++) left += p_of_slice(&x, l, wrong[w]) >= p_of_slice(&x, i, wrong[w]) - 1e-12;
                    most = fmax(most, by_all_sets(&x, i, wrong[w]));
                    holm = fmax(holm, left * p_of_slice(&x, i, wrong[w]));
                }
                assert_true(most <= holm + 1e-9);
                CHECK_NEAR(x.piece[h].said.corrected, fmin(most, 1), 4.5 * sqrt(most * (1 - most) / 9999) + 2e-4);
            }
        }
}

/* Each p counts double where both parts have tests. */
TEST(both_parts_share_the_level)
{
    const uint64_t wrong = 0x01b;
    small_proof x;
    double p;

    open_small(&x, 1, wrong);
    for (int h = 1; h < SLICES; h++) x.piece[h].said.part = 1;         /* slice 0 alone is judged on part 1 */
    x.k.members[0] = FEW;
    x.k.member[0] = x.row;
    CHECK_OK(&x.c, spot_proof_correct(&x.j));
    p = p_of_slice(&x, 0, wrong);
    assert_true(p > 0.01 && p < 0.1);
    CHECK_NEAR(x.piece[0].said.corrected, 2 * p, 9 * sqrt(p / 9999));
}

/* ---- excesses to expect on new rows ---- */

enum { FAMILY = 400 };

/* Slices of which a share of `none` has the class's rate of 0.15 and the rest more by 0.25 to 0.8. Of those with at least 3
 * standard deviations, in `families` of `size`: their true excess over the one that is to be expected; *judged: over what was
 * counted. */
static double truth_over_shrunk(int families, int size, double none, double *judged)
{
    double truth = 0, shrunk = 0, counted = 0, rate = 0.15;
    static spot_judged piece[FAMILY];
    static double excess[FAMILY];

    for (int f = 0; f < families; f++) {
        spot_rng r = spot_rng_at(11, SPOT_RNG_BOOTSTRAP, (uint32_t)f, (uint32_t)size);
        spot_ctx c = check_ctx(1);
        spot_proving j = { .c = &c, .pieces = size, .piece = piece };
        for (int i = 0; i < size; i++) {
            spot_piece *p = &piece[i].said;
            bool same = spot_rng_uniform(&r) < none;
            excess[i] = same ? 0 : 0.25 + 0.55 * spot_rng_uniform(&r);
            p->judged = 8 + (int)(30 * spot_rng_uniform(&r));
            p->base = rate * p->judged;
            p->wrong = 0;
            for (int k = 0; k < p->judged; k++) p->wrong += spot_rng_uniform(&r) < rate + excess[i];
        }
        CHECK_OK(&c, spot_learn_excesses(&j));
        for (int i = 0; i < size; i++) {
            const spot_piece *p = &piece[i].said;
            if (p->wrong - p->base < 3 * sqrt(p->base * (1 - rate))) continue;
            truth += excess[i];
            shrunk += spot_shrunk_excess(&j, p->judged, p->wrong, rate);
            counted += (double)p->wrong / p->judged - rate;
        }
    }
    *judged = truth / counted;
    return truth / shrunk;
}

/* The first prior alone gives 1.04, 1.04 and 1.05 here. */
TEST(excesses_to_expect_are_true_on_average)
{
    double judged[3];
    const double large = truth_over_shrunk(10, FAMILY, 0.7, &judged[0]), middle = truth_over_shrunk(40, 100, 0.7, &judged[1]),
                 few = truth_over_shrunk(400, 12, 0.5, &judged[2]);

    printf("true over shrunk excess, and over the counted one: %.3f (%.3f), %.3f (%.3f), %.3f (%.3f)\n", large, judged[0],
           middle, judged[1], few, judged[2]);
    CHECK_NEAR(large, 1, 0.02);
    CHECK_NEAR(middle, 1, 0.03);
    CHECK_NEAR(few, 1, 0.06);
}
