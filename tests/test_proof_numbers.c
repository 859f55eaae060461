/* The numbers of a proof: corrected p against an enumeration of all errors, excesses to expect against known ones.
 * ctest: threads, both */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "discover/proof/proof_draws.h"
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

/* p of a slice over its weight, by which slices are compared. */
static double weighted(small_proof *x, int h, uint64_t wrong)
{
    return p_of_slice(x, h, wrong) / spot_weight_of(&x->piece[h]);
}

/* The share of all sets of as many wrong rows in each stratum in which a slice whose weighted p is not less than that of h has
 * at most that one. */
static double by_all_sets(small_proof *x, int h, uint64_t wrong)
{
    const uint64_t even = 0x5555;
    int sets = 0, above = 0;

    for (uint64_t set = 0; set < 1 << FEW; set++) {
        double least = INFINITY;
        if (__builtin_popcountll(set) != __builtin_popcountll(wrong)) continue;
        if (x->k.strata > 1 && __builtin_popcountll(set & even) != __builtin_popcountll(wrong & even)) continue;
        for (int i = 0; i < SLICES; i++)
            if (weighted(x, i, wrong) >= weighted(x, h, wrong) - 1e-12) least = fmin(least, weighted(x, i, set));
        sets++;
        above += least <= weighted(x, h, wrong) + 1e-12;
    }
    return (double)above / sets;
}

/* backed: bit h is slice h's. */
static void check_all_sets(int strata, uint64_t wrong, unsigned backed)
{
    small_proof x;

    open_small(&x, strata, wrong);
    for (int h = 0; h < SLICES; h++) x.piece[h].backed = backed >> h & 1;
    CHECK_OK(&x.c, spot_proof_correct(&x.j));
    for (int h = 0; h < SLICES; h++) {
        double most = 0, holm = 0;                     /* of the slices up to this one, in the order of their weighted p */
        for (int i = 0; i < SLICES; i++) {
            double left = 0;
            if (weighted(&x, i, wrong) > weighted(&x, h, wrong) + 1e-12) continue;
            for (int l = 0; l < SLICES; l++)
                if (weighted(&x, l, wrong) >= weighted(&x, i, wrong) - 1e-12) left += spot_weight_of(&x.piece[l]);
            most = fmax(most, by_all_sets(&x, i, wrong));
            holm = fmax(holm, left * weighted(&x, i, wrong));
        }
        assert_true(most <= holm + 1e-9);
        CHECK_NEAR(x.piece[h].said.corrected, fmin(most, 1), 4.5 * sqrt(most * (1 - most) / 9999) + 2e-4);
    }
}

/* The p of slices of equal weight are those without weights. */
TEST(corrected_p_is_that_of_all_sets_of_wrong_rows)
{
    static const uint64_t wrong[] = { 0x00f, 0x01b, 0x3803, 0x0421 };
    static const unsigned backed[] = { 0, 31, 1, 12, 26 };

    for (int strata = 1; strata <= 2; strata++)
        for (int w = 0; w < LEN(wrong); w++)
            for (int b = 0; b < LEN(backed); b++) check_all_sets(strata, wrong[w], backed[b]);
}

/* ---- what a draw counts ---- */

enum { ROWS = 700, DRAWN = 517, TESTS = 600, WORDS = (ROWS + 63) / 64 };

/* All rows are in one part and one class; test t judges a share of them, from none to nearly all. More tests and rows than fit
 * into a block of either, and rows that eight do not divide. */
TEST(a_draw_counts_the_judged_rows_among_the_drawn)
{
    static spot_judged piece[TESTS];
    static uint64_t judged[TESTS][WORDS];
    static int row[ROWS];
    spot_ctx c = check_ctx(1);
    spot_subject s = { .n = ROWS };
    spot_stratum tally[2] = { { 0 }, { .rows = ROWS, .group = DRAWN } };
    spot_proved k = { .n = ROWS, .row = row, .words = WORDS, .members = { 0, ROWS }, .member = { NULL, row },
                      .tally = { tally, tally + 1 }, .strata = 1 };
    spot_proving j = { .c = &c, .s = &s, .classes = 1, .cls = &k, .pieces = TESTS, .piece = piece };
    spot_draws f = { .j = &j, .part = 1 };
    spot_rng r = spot_rng_at(5, SPOT_RNG_TESTS, 0, 0);
    spot_arena counted = spot_arena_counting(), a;

    for (int i = 0; i < ROWS; i++) row[i] = i;
    for (int t = 0; t < TESTS; t++) {
        piece[t] = (spot_judged){ .judged = judged[t] };
        for (int i = 0; i < ROWS; i++) {
            if ((int)spot_rng_below(&r, TESTS) >= t) continue;
            judged[t][i / 64] |= (uint64_t)1 << i % 64;
            piece[t].said.judged++;
        }
    }
    CHECK_OK(&c, spot_draws_take(&c, &counted, &f));
    CHECK_OK(&c, spot_arena_open(&c, &a, counted.peak));
    CHECK_OK(&c, spot_draws_take(&c, &a, &f));
    spot_draws_open(&c, &f);
    for (int draw = 0; draw < 3; draw++) {
        const int *hits = spot_draw(&f, draw, 0);
        uint64_t wrong[WORDS] = { 0 };
        for (int i = 0; i < DRAWN; i++) wrong[f.row[i] / 64] |= (uint64_t)1 << f.row[i] % 64;
        for (int t = 0; t < TESTS; t++) {
            int n = 0;
            for (int w = 0; w < WORDS; w++) n += __builtin_popcountll(wrong[w] & f.test[t].g->judged[w]);
            assert_int_equal(hits[t], n);
        }
    }
    spot_arena_close(&a);
}

/* ---- weights ---- */

enum { PLANE = 60 };

/* Rows lie on a line, all in part 0: ten in a row at its end, of which six are wrong, and a wrong row at each tenth place
 * before. One class; groups of `size` rows that follow one another, 0: none. */
typedef struct {
    float at[PLANE];
    int target[PLANE], row[PLANE], group[PLANE], seen[PLANE];
    uint8_t wrong[PLANE];
    uint64_t end, single;              /* rows of the slices */
    spot_ctx c;
    spot_subject s;
    spot_discover_options o;
    spot_proof_options p;
    spot_stratum tally;
    spot_proved k;
    spot_proving j;
} line_proof;

static void open_line(line_proof *x, int size)
{
    memset(x, 0, sizeof *x);
    x->c = check_ctx(1);
    x->p = spot_proof_defaults();
    x->o.proof = &x->p;
    for (int i = 0; i < PLANE; i++) {
        const bool end = i >= PLANE - 10;
        x->at[i] = (float)(i + (end ? 100 : 0));
        x->row[i] = i;
        x->group[i] = size ? i / size : 0;
        x->wrong[i] = end ? i % 5 < 3 : i % 10 == 0;
        if (end) x->end |= (uint64_t)1 << i;
        else if (x->wrong[i]) x->single |= (uint64_t)1 << i;
        x->tally.group += x->wrong[i];
    }
    x->tally.rows = PLANE;
    x->s = (spot_subject){ .n = PLANE, .d = 1, .classes = 1, .feature = x->at, .target = x->target,
                           .group = size ? x->group : NULL, .groups = size ? PLANE / size : 0 };
    x->k = (spot_proved){ .n = PLANE, .row = x->row, .words = 1, .members = { PLANE, 0 }, .member = { x->row, NULL },
                          .finders = { PLANE, 0 }, .finder = { x->row, NULL }, .is_wrong = x->wrong, .strata = 1,
                          .tally = { &x->tally, NULL } };
    x->j = (spot_proving){ .c = &x->c, .s = &x->s, .o = &x->o, .p = x->p, .classes = 1, .cls = &x->k,
                           .seen = size ? x->seen : NULL };
    CHECK_OK(&x->c, spot_arena_open(&x->c, &x->j.a, spot_peers_bytes(&x->o, PLANE) + (1 << 20)));
    CHECK_OK(&x->c, spot_find_peers(&x->j, &x->k, 0));
}

static bool backs(line_proof *x, uint64_t found)
{
    const spot_judged g = { .found = &found };

    return spot_is_backed(&x->j, &x->k, &g, spot_count_rows(&x->j, &x->k, &found, 0));
}

/* All rows of the second slice are wrong, and none of them has most of its neighbours there. */
TEST(a_slice_of_single_errors_is_not_backed)
{
    line_proof x;

    open_line(&x, 0);
    assert_true(backs(&x, x.end));
    assert_false(backs(&x, x.single));
    assert_false(backs(&x, 0));
    spot_arena_close(&x.j.a);
}

/* A group of ten rows has only itself to say that it fails; groups of two have others beside. */
TEST(a_group_does_not_back_its_own_slice)
{
    line_proof x;

    open_line(&x, 10);
    assert_false(backs(&x, x.end));
    spot_arena_close(&x.j.a);
    open_line(&x, 2);
    assert_true(backs(&x, x.end));
    spot_arena_close(&x.j.a);
}

/* A rule needs no votes. */
TEST(a_rule_is_backed_by_its_own_rows)
{
    line_proof x;
    spot_judged g = { .said.rule.items = 1 };

    open_line(&x, 10);
    g.found = &x.end;
    assert_true(spot_is_backed(&x.j, &x.k, &g, spot_count_rows(&x.j, &x.k, g.found, 0)));
    spot_arena_close(&x.j.a);
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
