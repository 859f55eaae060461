/* test_rule_claim.c - claims on the rows at hand: reading a rule, its numbers, the level where the best rule is claimed. */
#define _POSIX_C_SOURCE 200809L       /* strdup */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "discover/subject/attributes.h"
#include "spotter/claim.h"
#include "spotter/rng.h"
#include "stats/statistics.h"

enum { COLUMNS = 6, VALUES = 3, CLASSES = 2 };

typedef struct {
    spot_subject s;
    spot_attributes a;
    char *class_name[CLASSES];
} claim_world;

static const spot_row_claim_options usual = { .level = 0.05 }, fresh = { .level = 0.05, .fresh = true };

/* Rows of two classes with 6 columns of 3 words; each row is wrong with the rate of its class, and more where columns 0 and 1
 * have their first values. each: rows of a group, which share columns and, with the probability `agree`, one error. */
static void open_world(spot_ctx *c, claim_world *w, int n, double planted, int each, double agree, uint64_t seed)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_PLANT, 3, 4);
    char **word = malloc((size_t)n * sizeof *word), *text = malloc((size_t)n * 8);
    int *value = malloc((size_t)n * COLUMNS * sizeof *value);
    double shared = 0;

    *w = (claim_world){ .s = { .n = n, .d = 1, .classes = CLASSES },
                        .class_name = { (char *)(uintptr_t)"apps", (char *)(uintptr_t)"places" } };
    w->s.class_name = w->class_name;
    w->s.target = malloc((size_t)n * sizeof *w->s.target);
    w->s.predicted = malloc((size_t)n * sizeof *w->s.predicted);
    w->s.confidence = calloc((size_t)n, sizeof *w->s.confidence);
    w->s.group = malloc((size_t)n * sizeof *w->s.group);
    for (int i = 0; i < n; i++) {
        bool hit = true, begins = i % each == 0;
        double at = spot_rng_uniform(&r);
        w->s.group[i] = i / each;
        w->s.target[i] = i / each % CLASSES;
        for (int k = 0; k < COLUMNS; k++)
            value[i * COLUMNS + k] = begins ? (int)spot_rng_below(&r, VALUES) : value[(i - 1) * COLUMNS + k];
        hit = !value[i * COLUMNS] && !value[i * COLUMNS + 1];
        if (begins) shared = spot_rng_uniform(&r);
        if (spot_rng_uniform(&r) < agree) at = shared;
        w->s.predicted[i] = at < (w->s.target[i] ? 0.3 : 0.15) + (hit ? planted : 0) ? 1 - w->s.target[i] : w->s.target[i];
    }
    w->s.groups = (n + each - 1) / each;
    spot_attributes_begin(&w->a, n);
    for (int k = 0; k < COLUMNS; k++) {
        char name[8];
        snprintf(name, sizeof name, "c%d", k);
        for (int i = 0; i < n; i++) {
            word[i] = text + 8 * i;
            snprintf(word[i], 8, "v%d", value[i * COLUMNS + k]);
        }
        CHECK_OK(c, spot_attributes_words(c, &w->a, k, name, word));
    }
    free(word), free(text), free(value);
}

static void close_world(claim_world *w)
{
    free(w->s.target), free(w->s.predicted), free(w->s.confidence), free(w->s.group);
    spot_attributes_close(&w->a);
}

static spot_row_claim judge(spot_ctx *c, const claim_world *w, const char *rule, const spot_row_claim_options *o)
{
    spot_row_claim k;

    CHECK_OK(c, spot_row_claim_read(c, &k, &w->s, &w->a, NULL, rule));
    CHECK_OK(c, spot_row_claim_judge(c, &k, &w->s, &w->a, o));
    spot_row_claim_close(&k);
    return k;
}

TEST(a_rule_is_read)
{
    spot_ctx c = check_ctx(1);
    claim_world w;
    spot_row_claim k;
    int rows = 0;

    open_world(&c, &w, 600, 0, 1, 0, 1);
    CHECK_OK(&c, spot_row_claim_read(&c, &k, &w.s, &w.a, NULL, " apps &c1=v2& c0=v1 "));
    assert_true(k.listed && k.cls == 0 && k.conditions == 2);
    for (int i = 0; i < w.s.n; i++) rows += k.in[i];
    spot_row_claim_close(&k);
    k = judge(&c, &w, "class=apps & c0=v1 & c1=v2", &usual);
    assert_int_equal(k.rows, rows);
    k = judge(&c, &w, "c0=v1 & c1=v2 & c2=v0", &usual);
    assert_true(!k.listed && isnan(k.corrected) && k.verdict != SPOT_CLAIM_CONFIRMED && k.cls == SPOT_ALL_CLASSES);
    CHECK_FAILS(&c, spot_row_claim_read(&c, &k, &w.s, &w.a, NULL, "apps"), SPOT_USAGE, "claim.class_alone");
    spot_row_claim_close(&k);
    CHECK_FAILS(&c, spot_row_claim_read(&c, &k, &w.s, &w.a, NULL, "apps & places & c0=v1"), SPOT_USAGE, "claim.classes");
    spot_row_claim_close(&k);
    CHECK_FAILS(&c, spot_row_claim_read(&c, &k, &w.s, &w.a, NULL, "c0=v1 & c0=v2"), SPOT_INPUT, "claim.no_row");
    spot_row_claim_close(&k);
    CHECK_FAILS(&c, spot_row_claim_read(&c, &k, &w.s, &w.a, NULL, "c0=9"), SPOT_USAGE, "claim.no_table");
    spot_row_claim_close(&k);
    CHECK_FAILS(&c, spot_row_claim_read(&c, &k, &w.s, &w.a, NULL, "c0=v9"), SPOT_USAGE, "claim.condition");
    spot_row_claim_close(&k);
    CHECK_FAILS(&c, spot_row_claim_read(&c, &k, &w.s, &w.a, NULL, "c0=v1 &"), SPOT_USAGE, "claim.empty");
    spot_row_claim_close(&k);
    close_world(&w);
}

static void rename_item(claim_world *w, const char *from, const char *to)
{
    for (int i = 0; i < w->a.items; i++)
        if (!strcmp(w->a.name[i], from)) {
            free(w->a.name[i]);
            w->a.name[i] = strdup(to);
        }
}

/* Between quotes a name has whatever it has. */
TEST(names_with_an_ampersand_stand_between_quotes)
{
    static const char *const same[] = {
        "class=\"R&D\" & \"c0=Q & A\" & c1=a \"b\"", "\"R&D\"&\"c0=Q & A\"&\"c1=a \"\"b\"\"\"",
        "c1=a \"b\" & \"c0=Q & A\" & \"R&D\" "
    };
    static const struct { const char *rule, *id; } bad[] = {
        { "class=\"R&D\" & c0=Q & A", "claim.condition: c0=Q" }, { "\"R&D\" & \"c0=Q & A", "claim.quotes: c0=Q" },
        { "\"R&D\" x & c1=v1", "claim.condition" }, { "class=\"c0=Q & A\"", "claim.condition" },
        { "\"R&D\" < 3", "claim.no_table" }, { "\"R&D\" c < 3", "claim.condition" }, { "< 3", "claim.condition" },
        { "\"\" & c1=v1", "claim.condition" }, { "class=\"R&D\" < 3", "claim.condition" }, { "c1<0x10", "claim.condition" },
    };
    spot_ctx c = check_ctx(1);
    claim_world w;
    spot_row_claim k;
    int rows[LEN(same) + 1];

    open_world(&c, &w, 600, 0, 1, 0, 1);
    rows[LEN(same)] = judge(&c, &w, "places & c0=v1 & c1=v2", &usual).rows;
    w.class_name[1] = (char *)(uintptr_t)"R&D";
    rename_item(&w, "c0=v1", "c0=Q & A");
    rename_item(&w, "c1=v2", "c1=a \"b\"");
    for (int i = 0; i < LEN(same); i++) {
        k = judge(&c, &w, same[i], &usual);
        assert_true(k.rows == rows[LEN(same)] && k.cls == 1 && k.conditions == 2 && k.listed);
    }
    assert_int_equal(judge(&c, &w, "c0=Q & A", &usual).conditions, 1);                 /* the whole rule is the name */
    for (int i = 0; i < LEN(bad); i++) {
        CHECK_FAILS(&c, spot_row_claim_read(&c, &k, &w.s, &w.a, NULL, bad[i].rule), SPOT_USAGE, bad[i].id);
        spot_row_claim_close(&k);
    }
    close_world(&w);
}

TEST(the_numbers_are_those_of_the_rows)
{
    spot_ctx c = check_ctx(2);
    claim_world w;
    spot_row_claim k;
    int rows = 0, wrong = 0, all = 0, all_wrong = 0;

    open_world(&c, &w, 1000, 0.3, 1, 0, 2);
    k = judge(&c, &w, "apps & c0=v0 & c1=v0", &usual);
    for (int i = 0; i < w.s.n; i++) {
        const bool in = w.a.bit[i / 64] >> i % 64 & 1;     /* the first item is that of most rows */
        if (w.s.target[i]) continue;
        all++, all_wrong += w.s.predicted[i] != 0;
        rows += in, wrong += in && w.s.predicted[i];
    }
    assert_true(k.rows > 20 && k.rows < 120);
    CHECK_NEAR(k.class_rate, (double)all_wrong / all, 1e-12);
    CHECK_NEAR(k.p, spot_hypergeometric_tail(all, all_wrong, k.rows, k.wrong), 1e-12);
    k = judge(&c, &w, check_text("apps & %s", w.a.name[0]), &usual);
    assert_int_equal(k.rows, rows);
    assert_int_equal(k.wrong, wrong);
    /* 18 items and 15 pairs of columns with 9 pairs each, in two classes and on all rows */
    CHECK_NEAR(k.rules, 3 * (18 + 15 * 9), 0);
    close_world(&w);
}

/* The names of the rule of one or two items, in a class or on all rows, with the least p of its own. */
static const char *best_rule(spot_ctx *c, const claim_world *w)
{
    static char best[80];
    double least = 2;

    for (int cls = -1; cls < CLASSES; cls++)
        for (int i = 0; i < w->a.items; i++)
            for (int k = i; k < w->a.items; k++) {
                char rule[80];
                spot_row_claim x;
                if (k > i && w->a.column[i] == w->a.column[k]) continue;
                snprintf(rule, sizeof rule, "%s%s%s%s%s", cls < 0 ? "" : w->class_name[cls], cls < 0 ? "" : " & ", w->a.name[i],
                         k > i ? " & " : "", k > i ? w->a.name[k] : "");
                if (spot_row_claim_read(c, &x, &w->s, &w->a, NULL, rule)) {        /* no row has both */
                    spot_forget(c);
                    spot_row_claim_close(&x);
                    continue;
                }
                CHECK_OK(c, spot_row_claim_judge(c, &x, &w->s, &w->a, &fresh));
                spot_row_claim_close(&x);
                if (x.p >= least) continue;
                least = x.p;
                memcpy(best, rule, sizeof best);
            }
    return best;
}

TEST(the_best_of_all_rules_is_confirmed_at_the_level)
{
    const int runs = SANITIZED ? 3 : 120;
    spot_ctx c = check_ctx(2);
    int confirmed = 0, alone = 0;

    for (uint64_t run = 0; run < (uint64_t)runs; run++) {
        claim_world w;
        spot_row_claim k;
        open_world(&c, &w, 400, 0, 1, 0, 100 + run);
        k = judge(&c, &w, best_rule(&c, &w), &usual);
        confirmed += k.verdict == SPOT_CLAIM_CONFIRMED;
        alone += k.p <= 0.05;
        close_world(&w);
    }
    print_message("the best of 459 rules in errors of chance: %d of %d confirmed; %d without a correction\n", confirmed, runs,
                  alone);
    assert_true(confirmed <= 0.05 * runs + 3 && (SANITIZED || confirmed >= 1));
    assert_true(alone > 0.9 * runs);
}

TEST(a_planted_rule_is_confirmed)
{
    const int runs = SANITIZED ? 3 : 20;
    spot_ctx c = check_ctx(2);
    int confirmed = 0, more = 0;

    for (uint64_t run = 0; run < (uint64_t)runs; run++) {
        claim_world w;
        open_world(&c, &w, 800, 0.45, 1, 0, 500 + run);
        confirmed += judge(&c, &w, "c0=v0 & c1=v0", &usual).verdict == SPOT_CLAIM_CONFIRMED;
        more += judge(&c, &w, "c0=v0 & c1=v0 & c2=v0", &usual).verdict == SPOT_CLAIM_CONFIRMED;
        close_world(&w);
    }
    assert_true(confirmed >= runs - 2);
    assert_int_equal(more, 0);
}

/* Rows of a group share their columns and most errors. */
TEST(groups_are_exchanged_as_wholes)
{
    const int runs = SANITIZED ? 2 : 40;
    spot_ctx c = check_ctx(2);
    int confirmed = 0, taken_alone = 0;

    for (uint64_t run = 0; run < (uint64_t)runs; run++) {
        claim_world w;
        const char *best;
        int groups;
        open_world(&c, &w, 800, 0, 10, 0.7, 900 + run);
        groups = w.s.groups, w.s.groups = w.s.n;       /* as if rows were alone */
        best = best_rule(&c, &w);
        taken_alone += judge(&c, &w, best, &usual).verdict == SPOT_CLAIM_CONFIRMED;
        w.s.groups = groups;
        confirmed += judge(&c, &w, best, &usual).verdict == SPOT_CLAIM_CONFIRMED;
        close_world(&w);
    }
    print_message("errors of chance in 80 groups: %d of %d confirmed; %d where rows are taken as alone\n", confirmed, runs,
                  taken_alone);
    assert_true(confirmed <= 6);
    assert_true(SANITIZED || taken_alone > 20);
}

/* The interval of a rule's excess is that of groups: it is wider than that of rows that are alone, around the same value; one
 * group of rows leaves everything open. */
TEST(the_excess_has_an_interval_of_groups)
{
    spot_ctx c = check_ctx(1);
    claim_world w;
    spot_row_claim by_groups, alone, one;
    int groups;

    open_world(&c, &w, 800, 0.45, 10, 0.7, 31);
    by_groups = judge(&c, &w, "apps & c0=v0", &usual);
    groups = w.s.groups, w.s.groups = w.s.n;
    alone = judge(&c, &w, "apps & c0=v0", &usual);
    w.s.groups = groups;
    assert_true(by_groups.groups == by_groups.rows / 10 && !alone.groups && by_groups.excess.value == alone.excess.value);
    assert_true(by_groups.excess.low < alone.excess.low - 0.01 && by_groups.excess.high > alone.excess.high + 0.01);
    assert_true(by_groups.excess.low > -1 && by_groups.excess.high < 1);
    CHECK_OK(&c, spot_row_claim_read(&c, &one, &w.s, &w.a, NULL, "apps & c0=v0"));
    for (int i = 0, first = -1; i < w.s.n; i++) {
        if (one.in[i] && first < 0) first = w.s.group[i];
        one.in[i] = one.in[i] && w.s.group[i] == first;
    }
    CHECK_OK(&c, spot_row_claim_judge(&c, &one, &w.s, &w.a, &fresh));
    assert_true(one.groups == 1 && one.rows == 10 && one.excess.low == -1 && one.excess.high == 1);
    spot_row_claim_close(&one);
    close_world(&w);
}

/* Where one group has two classes, no draw keeps groups whole for all rows: such a claim has no corrected p, and says why. */
TEST(a_group_of_two_classes_leaves_rows_of_all_open)
{
    spot_ctx c = check_ctx(1);
    claim_world w;
    spot_row_claim k;

    open_world(&c, &w, 800, 0.45, 1, 0, 501);
    w.s.group[1] = 0, w.s.groups = w.s.n - 1;
    for (int i = 2; i < w.s.n; i++) w.s.group[i] = i - 1;
    k = judge(&c, &w, "c0=v0 & c1=v0", &usual);
    assert_true(k.mixed && isnan(k.corrected) && k.verdict == SPOT_CLAIM_SUGGESTED);
    k = judge(&c, &w, "apps & c0=v0 & c1=v0", &usual);
    assert_true(k.mixed && k.corrected <= 0.05 && k.verdict == SPOT_CLAIM_CONFIRMED);
    close_world(&w);
}

TEST(threads_change_no_bit)
{
    spot_ctx one = check_ctx(1), more = check_ctx(3);
    claim_world w;
    spot_row_claim x, y;

    open_world(&one, &w, 800, 0.2, 1, 0, 7);
    x = judge(&one, &w, "c0=v0 & c1=v0", &usual);
    y = judge(&more, &w, "c0=v0 & c1=v0", &usual);
    assert_true(x.corrected == y.corrected && x.draws == y.draws && x.draws == 9999);
    close_world(&w);
}

TEST(rows_near_a_text_are_suggested_and_new_ones_confirmed)
{
    spot_ctx c = check_ctx(1);
    claim_world w;
    spot_row_claim k;
    float *feature, text[2] = { 2, 0 };
    int near = 0;

    open_world(&c, &w, 600, 0, 1, 0, 8);
    feature = malloc((size_t)w.s.n * 2 * sizeof *feature);
    for (int i = 0; i < w.s.n; i++) {
        const bool in = w.s.target[i] == 1 && i % 12 == 1;
        feature[2 * i] = in ? 1 : 0.2f, feature[2 * i + 1] = 1;
        if (in) w.s.predicted[i] = 0;
    }
    CHECK_OK(&c, spot_row_claim_near(&c, &k, &w.s, feature, text, 2, 50, 1));
    for (int i = 0; i < w.s.n; i++) near += k.in[i] && i % 12 == 1;
    assert_int_equal(near, 50);
    CHECK_OK(&c, spot_row_claim_judge(&c, &k, &w.s, NULL, &usual));
    assert_true(k.rows == 50 && k.wrong == 50 && k.verdict == SPOT_CLAIM_SUGGESTED);
    CHECK_OK(&c, spot_row_claim_judge(&c, &k, &w.s, NULL, &fresh));
    assert_int_equal(k.verdict, SPOT_CLAIM_CONFIRMED);
    spot_row_claim_close(&k);
    free(feature);
    close_world(&w);
}

int main(void) { return run_all_tests(); }
