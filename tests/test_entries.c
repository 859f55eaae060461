/* test_entries.c - spot_findings_entries and the sentences on top (spotter/discover.h), on findings made by hand: what becomes
 * one entry, what the confusion matrix explains, order and numbers. ctest: both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/discover.h"

enum { CLASSES = 3, EACH = 100, N = CLASSES * EACH, SLICES = 8 };

/* Class k has the rows EACH k to EACH k + 99. */
typedef struct {
    int     target[N], predicted[N], row[SLICES][N];
    float   confidence[N];
    uint8_t origin[SLICES][N];
    spot_proof proof[SLICES];
    spot_piece piece[SLICES];
    spot_conjunction rule[SLICES];
    spot_finding finding[CLASSES + 1];         /* the last: all rows */
    int slices;
    spot_subject s;
    spot_findings f;
    spot_discover_options o;
    spot_proof_options p;
} world;

static char *names[CLASSES] = { "cats", "dogs", "newts" };

/* Every tenth row is taken for the next class. */
static void make_world(world *w, int classes)
{
    memset(w, 0, sizeof *w);
    for (int i = 0; i < N; i++) {
        w->target[i] = i / EACH < classes ? i / EACH : 0;
        w->predicted[i] = i % 10 ? w->target[i] : (w->target[i] + 1) % classes;
        w->confidence[i] = i % 10 ? 0.9f : 0.1f;
    }
    w->s = (spot_subject){ .n = N, .d = 1, .classes = classes, .target = w->target, .predicted = w->predicted,
                           .confidence = w->confidence, .class_name = names };
    for (int k = 0; k <= CLASSES; k++)
        w->finding[k] = (spot_finding){ .cls = k < CLASSES ? k : -1, .n = k < CLASSES ? EACH : N, .merged = true };
    w->f = (spot_findings){ .count = CLASSES + 1, .finding = w->finding };
    w->p = spot_proof_defaults();
    w->o = spot_discover_defaults();
    w->o.proof = &w->p;
}

/* Rows `first` to `first + size - 1`, of which the first `wrong` are taken for class `taken`, as a confirmed slice of finding
 * k. */
static spot_slice *add_slice(world *w, int k, int first, int size, int wrong, int taken)
{
    spot_finding *g = &w->finding[k];
    spot_slice *s = &g->slice[g->slices++];
    const int at = w->slices++;

    for (int i = 0; i < size; i++) {
        const int row = w->row[at][i] = first + i;
        w->origin[at][i] = SPOT_ORIGIN_JUDGED;
        w->predicted[row] = i < wrong ? taken : w->target[row];
    }
    w->piece[at] = (spot_piece){ .judged = size, .wrong = wrong };
    w->proof[at] = (spot_proof){ .claim = SPOT_CLAIM_CONFIRMED, .p = 0.001, .judged = size, .wrong = wrong, .class_rate = 0.2,
        .excess = { (double)wrong / size - 0.2, 0, 1 }, .shrunk = 0.3, .cell = NAN, .predicted = taken, .predicted_share = 1,
        .pieces = 1, .piece = &w->piece[at], .tests = 100, .origin = w->origin[at] };
    *s = (spot_slice){ .size = size, .wrong = wrong, .error_rate = (double)wrong / size, .row = w->row[at],
                       .proof = &w->proof[at] };
    return s;
}

static void say_rule(world *w, spot_slice *s, const char *item, double precision, double recall)
{
    spot_conjunction *k = &w->rule[s->proof - w->proof];

    *k = (spot_conjunction){ .items = 1, .name = { (char *)(uintptr_t)item } };
    k->held_out = (spot_match){ .precision = precision, .recall = recall, .p = 0.001 };
    k->all = (spot_match){ .covered = 30, .wrong = 20 };
    s->conjunction = k;
}

static spot_slice_list list_of(world *w)
{
    spot_ctx c = check_ctx(1);
    spot_slice_list e;
    int seen[SLICES + 1] = { 0 }, *number;

    for (int k = 0; k <= CLASSES; k++) w->finding[k].wrong = 0;
    for (int i = 0; i < N; i++)
        if (w->predicted[i] != w->target[i]) w->finding[w->target[i]].wrong++, w->finding[CLASSES].wrong++;
    CHECK_OK(&c, spot_findings_entries(&c, &e, &w->f, &w->s));
    CHECK_OK(&c, spot_slice_numbers(&c, &number, &w->f, &w->s));
    assert_memory_equal(number, e.number, (size_t)w->f.count * SPOT_MAX_HYPOTHESES * sizeof *number);
    assert_int_equal(e.slices, w->slices);
    for (int i = 0; i < e.slices; i++) {               /* each slice has one number */
        const int at = e.place[i].finding * SPOT_MAX_HYPOTHESES + e.place[i].slice;
        assert_true(number[at] == i + 1 && !seen[i + 1]++ && e.entry_of[at] >= 1 && e.entry_of[at] <= e.count);
    }
    for (int k = 0; k < e.count; k++) {                /* an entry has the number of its head */
        const spot_slice_place *head = e.entry[k].member;
        assert_true(e.entry[k].number == k + 1 && number[head->finding * SPOT_MAX_HYPOTHESES + head->slice] == k + 1);
    }
    free(number);
    return e;
}

TEST(most_errors_in_excess_come_first)
{
    static world w;
    spot_slice_list e;

    make_world(&w, CLASSES);
    add_slice(&w, 0, 0, 10, 9, 1);                     /* 7 beyond the class */
    add_slice(&w, 1, 100, 40, 24, 2);                  /* 16 */
    add_slice(&w, 2, 200, 60, 18, 0)->proof->claim = SPOT_CLAIM_CHANCE;
    add_slice(&w, 2, 270, 10, 5, 0)->proof->claim = SPOT_CLAIM_SUGGESTED;
    e = list_of(&w);
    assert_int_equal(e.count, 4);
    assert_true(e.entry[0].cls == 1 && e.entry[1].cls == 0);
    assert_true(e.entry[2].claim == SPOT_SLICE_SUGGESTED && e.entry[3].claim == SPOT_SLICE_CHANCE);
    CHECK_NEAR(e.entry[0].excess_rows, 16, 1e-9);
    CHECK_NEAR(e.entry[0].class_rate, 0.2, 0);
    assert_string_equal(e.entry[0].title, "dogs taken for newts");
    spot_slice_list_close(&e);
}

TEST(the_same_rule_is_one_entry)
{
    static world w;
    spot_slice_list e;
    spot_slice *s[4];

    make_world(&w, CLASSES);
    s[0] = add_slice(&w, 0, 0, 20, 18, 1);
    s[1] = add_slice(&w, 1, 100, 30, 28, 0);
    s[2] = add_slice(&w, 2, 200, 20, 15, 0);
    s[3] = add_slice(&w, 2, 240, 20, 12, 1);
    say_rule(&w, s[0], "dark", 0.9, 0.3);              /* a part of the dark ones */
    say_rule(&w, s[1], "dark", 0.8, 0.9);
    say_rule(&w, s[2], "dark", 0.3, 0.9);              /* most dark ones are elsewhere */
    say_rule(&w, s[3], "wet", 0.9, 0.9);
    e = list_of(&w);
    assert_int_equal(e.count, 3);
    assert_true(e.entry[0].members == 2 && e.entry[0].classes == 2 && e.entry[0].cls < 0 && e.entry[0].kind == SPOT_ENTRY_RULE);
    assert_true(e.entry[0].size == 50 && e.entry[0].judged_wrong == 46 && e.entry[0].rule_rows == 60);
    assert_true(e.entry[0].member[0].finding == 1);    /* the head: the rule says it */
    assert_string_equal(e.entry[0].title, "2 classes, mostly dark");
    assert_true(e.entry[1].kind == SPOT_ENTRY_CLUSTER && e.entry[2].kind == SPOT_ENTRY_RULE);
    spot_slice_list_close(&e);
}

/* A slice that is a rule has the figures of its own rows, whatever is folded into it. */
TEST(a_rule_counts_its_own_rows)
{
    static char *dark[] = { "dark" };
    static world w;
    spot_slice_list e;

    make_world(&w, CLASSES);
    add_slice(&w, 0, 0, 60, 24, 1);
    add_slice(&w, 0, 30, 20, 10, 1);
    add_slice(&w, 1, 100, 20, 12, 0);                  /* the head */
    for (int i = 1; i <= 2; i++) w.proof[i].rule_items = 1, w.proof[i].rule = dark;
    e = list_of(&w);
    assert_int_equal(e.count, 1);
    assert_true(e.entry[0].exact && e.entry[0].members == 3 && e.entry[0].size == 40 && e.entry[0].judged == 40);
    assert_true(e.entry[0].rule_rows == 40 && e.entry[0].rule_wrong == 22 && e.entry[0].judged_wrong == e.entry[0].wrong);
    assert_string_equal(e.entry[0].title, "2 classes where dark");
    spot_slice_list_close(&e);
}

/* A rule with some wrong rows does not hide a slice that fails far more often; what its rate tells stays folded. */
TEST(what_a_rule_does_not_explain_is_an_entry_of_its_own)
{
    static char *dark[] = { "dark" };
    static world w;
    spot_slice_list e;

    make_world(&w, CLASSES);
    add_slice(&w, CLASSES, 0, 150, 60, 2);             /* the rule: cats 0 to 99 and half of the dogs */
    add_slice(&w, 0, 0, 90, 50, 2);                    /* cats with it: 50 % */
    add_slice(&w, 1, 100, 40, 38, 2);
    for (int i = 100; i < 150; i++) w.predicted[i] = i < 138 ? 2 : 1;      /* dogs: 76 % */
    w.proof[0].rule_items = 1, w.proof[0].rule = dark, w.proof[0].wrong = 88;
    e = list_of(&w);
    assert_int_equal(e.count, 2);
    assert_true(e.entry[0].exact && e.entry[0].members == 2 && e.entry[0].judged_wrong == 88);
    assert_true(e.entry[1].cls == 1 && e.entry[1].members == 1 && e.entry[1].judged_wrong == 38);
    spot_slice_list_close(&e);
    w.proof[2].wrong = 33;                             /* its interval holds 76 % */
    e = list_of(&w);
    assert_true(e.count == 1 && e.entry[0].members == 3);
    spot_slice_list_close(&e);
}

/* Clusters that are near each other are one entry where their rates are alike. */
TEST(a_cluster_that_fails_far_more_often_is_an_entry_of_its_own)
{
    static world w;
    spot_slice_list e;

    make_world(&w, CLASSES);
    add_slice(&w, 0, 0, 80, 56, 1);
    add_slice(&w, 0, 20, 30, 29, 1)->proof->predicted = 1;
    for (int i = 0; i < 80; i++) w.predicted[i] = i < 49 || i > 72 ? 1 : 0;
    e = list_of(&w);
    assert_int_equal(e.count, 2);
    spot_slice_list_close(&e);
    w.proof[1].wrong = 25;
    e = list_of(&w);
    assert_true(e.count == 1 && e.entry[0].members == 2 && e.entry[0].size == 80);
    spot_slice_list_close(&e);
}

TEST(a_slice_of_all_rows_takes_those_of_classes)
{
    static world w;
    spot_slice_list e;

    make_world(&w, CLASSES);
    add_slice(&w, 0, 70, 30, 25, 2);
    add_slice(&w, 1, 100, 30, 20, 2);
    add_slice(&w, 1, 150, 20, 10, 0);                  /* elsewhere */
    add_slice(&w, CLASSES, 65, 70, 60, 2);             /* 65 to 134 */
    e = list_of(&w);
    assert_int_equal(e.count, 2);
    assert_true(e.entry[0].members == 3 && e.entry[0].member[0].finding == CLASSES && e.entry[0].size == 70);
    assert_true(e.entry[0].judged == 70 && e.entry[0].judged_wrong == 60 && e.entry[0].classes == 2);
    spot_slice_list_close(&e);
}

TEST(slices_of_a_class_that_share_rows_are_one_entry)
{
    static world w;
    spot_slice_list e;

    make_world(&w, CLASSES);
    add_slice(&w, 0, 0, 40, 30, 1);
    add_slice(&w, 0, 30, 20, 15, 1);                   /* half of it is in the first */
    add_slice(&w, 0, 45, 20, 15, 2);                   /* taken for another class */
    add_slice(&w, 1, 100, 20, 15, 2)->proof->cause = 1;
    add_slice(&w, 1, 150, 20, 14, 2)->proof->cause = 1;
    e = list_of(&w);
    assert_int_equal(e.count, 3);
    assert_true(e.entry[0].size == 50 && e.entry[0].members == 2 && e.entry[1].size == 40 && e.entry[1].members == 2);
    spot_slice_list_close(&e);
}

TEST(cells_of_the_confusion_matrix_are_folded)
{
    static world w;
    spot_slice_list e;
    spot_slice *all_wrong, *sure;

    make_world(&w, CLASSES);
    all_wrong = add_slice(&w, 0, 0, 40, 40, 1);
    e = list_of(&w);
    assert_true(e.entry[0].kind == SPOT_ENTRY_CONFUSION && !e.entry[0].folded && !e.folded);       /* there is nothing else */
    spot_slice_list_close(&e);
    sure = add_slice(&w, 1, 100, 20, 15, 2);
    sure->proof->cell = 0.3;
    e = list_of(&w);
    assert_true(e.folded == 1 && e.entry[0].cls == 1 && e.entry[1].folded && e.entry[1].claim == SPOT_SLICE_CONFIRMED);
    assert_string_equal(e.entry[1].title, "cats taken for dogs");
    spot_slice_list_close(&e);
    say_rule(&w, all_wrong, "dark", 0.9, 0.9);         /* a rule says more */
    sure->proof->cell = 0.7;                           /* the confidence lets expect as much */
    e = list_of(&w);
    assert_true(e.folded == 1 && e.entry[0].cls == 0 && e.entry[1].cls == 1 && e.entry[1].folded);
    spot_slice_list_close(&e);
    make_world(&w, 2);                                 /* of two classes the predicted one says nothing */
    add_slice(&w, 0, 0, 40, 40, 1);
    add_slice(&w, 1, 100, 40, 30, 0);
    e = list_of(&w);
    assert_int_equal(e.folded, 0);
    spot_slice_list_close(&e);
}

/* Rows that fail alike in several classes are a cause, though all of them are taken for one class. */
TEST(rows_of_several_classes_are_no_cell)
{
    static world w;
    spot_slice_list e;

    make_world(&w, CLASSES);
    add_slice(&w, CLASSES, 70, 60, 60, 2);             /* cats and dogs */
    add_slice(&w, 0, 0, 20, 20, 1);
    e = list_of(&w);
    assert_true(e.folded == 1 && e.count == 2 && !e.entry[0].folded && e.entry[0].kind == SPOT_ENTRY_CLUSTER);
    assert_string_equal(e.entry[0].title, "2 classes taken for newts");
    spot_slice_list_close(&e);
}

TEST(classes_are_counted)
{
    static world w;
    spot_slice_list e;

    make_world(&w, CLASSES);
    for (int i = 200; i < 250; i++) w.predicted[i] = i % 5 ? 0 : 1;
    e = list_of(&w);
    assert_true(e.count == 0 && e.classes == 3 && e.answers.all == N && e.answers.wrong == 75);
    assert_true(e.cls[0].cls == 2 && e.cls[0].rows == 100 && e.cls[0].wrong == 55 && e.cls[0].taken == 0);
    assert_int_equal(e.cls[0].taken_rows, 45);
    assert_true(e.cls[1].cls == 0 && e.cls[1].wrong == 10 && e.cls[1].taken == 1);
    spot_slice_list_close(&e);
}

static void check_line(const spot_top_lines *top, int i, const char *words)
{
    assert_true(i < top->lines);
    if (!strstr(top->line[i], words)) fail_msg("line %d is \"%s\", without \"%s\"", i + 1, top->line[i], words);
}

TEST(sentences_say_what_was_found)
{
    static world w;
    spot_slice_list e;
    spot_top_lines top;

    make_world(&w, CLASSES);
    add_slice(&w, 0, 0, 40, 30, 1);
    say_rule(&w, &w.finding[0].slice[0], "dark", 0.9, 0.9);
    add_slice(&w, 1, 100, 20, 15, 2);
    e = list_of(&w);
    spot_findings_summary(&top, &e, &w.f, &w.s, &w.o, "found");
    assert_int_equal(top.lines, 4);
    check_line(&top, 0, "most often wrong: cats (36 % of 100, mostly taken for dogs)");
    check_line(&top, 1, "1. cats, mostly dark: 75 % wrong (its class: 20 %), 40 rows,");
    check_line(&top, 1, "; the rule alone: 67 % of 30 rows.");
    check_line(&top, 2, "2. dogs taken for newts: 75 % wrong");
    check_line(&top, 3, "look at the rows of 1 and 2; ");
    check_line(&top, 3, "spotter assign found -e");
    spot_slice_list_close(&e);
}

/* The number of wrong rows from which a group would have been confirmed is right: one fewer does not do. */
TEST(sentences_say_what_could_have_been_found)
{
    static world w;
    spot_slice_list e;
    spot_top_lines top;

    make_world(&w, CLASSES);
    add_slice(&w, 0, 0, 20, 6, 1)->proof->claim = SPOT_CLAIM_CHANCE;
    e = list_of(&w);
    spot_findings_summary(&top, &e, &w.f, &w.s, &w.o, NULL);
    assert_int_equal(top.lines, 4);
    check_line(&top, 1, "No group of rows is proved to fail more often than its class (100 tests at level 0.05).");
    check_line(&top, 2, "In cats, a group of which 5 rows are judged would have been confirmed with 5 wrong ones");
    check_line(&top, 3, "Next: collect more rows");
    spot_slice_list_close(&e);
    w.proof[0].claim = SPOT_CLAIM_SUGGESTED;
    e = list_of(&w);
    spot_findings_summary(&top, &e, &w.f, &w.s, &w.o, NULL);
    assert_int_equal(top.lines, 5);
    check_line(&top, 3, "Suggested, 1. cats taken for dogs: 30 % of 20 judged rows are wrong");
    check_line(&top, 4, "spotter assign FOUND");
    spot_slice_list_close(&e);
}
