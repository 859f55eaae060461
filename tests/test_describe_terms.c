/* test_describe_terms.c - the terms of a text column that a group has more often, against the formula of Monroe et al. */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "discover/describe/describe_terms.h"
#include "spotter/rng.h"

enum { ROWS = 400, ITEMS = 7, WORDS = (ROWS + 63) / 64, MOST = 3 };

/* Three terms of a text column, of which the first is in most rows of the group; words of a value; and one item alone. */
static char *const names[ITEMS] = { "note has night", "note has day", "note has fog", "kind=man has hat", "kind=cat has hat",
                                    "site=b", "who has milk" };
static int column[ITEMS] = { 0, 0, 0, 1, 1, 1, 2 };

typedef struct {
    uint64_t bit[ITEMS * WORDS];
    spot_attributes a;
    int row[ROWS], member[ROWS];
    spot_group group[3];
    spot_conjunctions_problem p;
} text;

static bool has(const text *t, int item, int i) { return t->bit[item * WORDS + i / 64] >> i % 64 & 1; }

/* Group 0 is every fifth row; group 1 is every row; group 2 is empty. */
static void open_text(text *t)
{
    static const double share[ITEMS] = { 0.1, 0.5, 0.3, 0.5, 0.5, 0.5, 0.5 };
    memset(t, 0, sizeof *t);
    for (int i = 0; i < ROWS; i++) {
        t->row[i] = i;
        if (i % 5 == 0) t->member[t->group[0].n++] = i;
        for (int k = 0; k < ITEMS; k++) {
            spot_rng r = spot_rng_at(1, SPOT_RNG_DESCRIBE, (uint32_t)k, (uint32_t)i);
            const bool on = spot_rng_uniform(&r) < (i % 5 == 0 && k % 3 == 0 ? 0.8 : share[k]);
            if (on) t->bit[k * WORDS + i / 64] |= (uint64_t)1 << i % 64;
        }
    }
    t->group[0].row = t->member;
    t->group[1] = (spot_group){ t->row, ROWS };
    t->group[2] = (spot_group){ t->row, 0 };
    t->a = (spot_attributes){ .rows = ROWS, .items = ITEMS, .words = WORDS, .name = (char **)(uintptr_t)names, .column = column,
                              .bit = t->bit };
    t->p = (spot_conjunctions_problem){ .attributes = &t->a, .n = ROWS, .row = t->row, .groups = 3, .group = t->group };
}

/* z of the first term in group 0. */
static double plain_score(const text *t)
{
    double in[3] = { 0 }, out[3] = { 0 }, a0 = 0, n = 0, m = 0, a;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 3; k++) *(i % 5 ? &out[k] : &in[k]) += has(t, k, i);
    for (int k = 0; k < 3; k++) n += in[k], m += out[k], a0 += (in[k] + out[k]) * 10 / ROWS;
    a = (in[0] + out[0]) * 10 / ROWS;
    return (log((in[0] + a) / (n + a0 - in[0] - a)) - log((out[0] + a) / (m + a0 - out[0] - a)))
         / sqrt(1 / (in[0] + a) + 1 / (out[0] + a));
}

TEST(the_term_of_a_group_is_found)
{
    spot_ctx c = check_ctx(1);
    text t;
    spot_word word[3 * MOST];
    int kept[3];
    open_text(&t);
    CHECK_OK(&c, spot_terms_find(&c, word, kept, MOST, &t.p));
    assert_int_equal(kept[0], 1);                          /* no item of the other columns, and no term of chance */
    assert_string_equal(word[0].phrase, "night");
    assert_true(fabs(word[0].score - plain_score(&t)) < 1e-9 && word[0].score > 3);
    assert_true(word[0].p < 1e-6 && word[0].auc > 0.7 && word[0].auc < 1);
    assert_int_equal(kept[1], 0);                          /* the whole class differs from nothing */
    assert_int_equal(kept[2], 0);
}

TEST(columns_without_text_have_no_terms)
{
    spot_ctx c = check_ctx(1);
    text t;
    spot_word word[3 * MOST];
    int kept[3];
    open_text(&t);
    t.a.items = 4, t.a.name = (char **)(uintptr_t)(names + 3), t.a.column = column + 3, t.a.bit = t.bit + 3 * WORDS;
    CHECK_OK(&c, spot_terms_find(&c, word, kept, MOST, &t.p));
    for (int g = 0; g < 3; g++) assert_int_equal(kept[g], 0);
}

/* Words are terms where the attributes have an item of each of them. */
TEST(terms_are_known_as_such)
{
    static text t;
    const spot_word terms[] = { { .phrase = (char *)(uintptr_t)"fog" }, { .phrase = (char *)(uintptr_t)"night" } };
    const spot_word phrases[] = { { .phrase = (char *)(uintptr_t)"fog" }, { .phrase = (char *)(uintptr_t)"a dog in fog" } };

    open_text(&t);
    assert_true(spot_words_are_terms(&t.a, terms, 2));
    assert_false(spot_words_are_terms(&t.a, phrases, 2) || spot_words_are_terms(&t.a, terms, 0)
                 || spot_words_are_terms(NULL, terms, 2));
}
