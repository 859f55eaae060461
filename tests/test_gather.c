/* test_gather.c - a claim on new pictures: which are picked, and how often chance is confirmed. */
#define _POSIX_C_SOURCE 200809L       /* mkdtemp, strdup */
#include "checks.h"

#include "check_folder.h"
#include "claims/slice_claim.h"
#include "discover/subject/subject_memory.h"
#include "spotter/rng.h"

TEST(the_nearest_and_others_at_random)
{
    spot_ctx c = check_ctx(1);
    double similarity[50];
    spot_gathered pick[60], again[60];
    int n, seen[50] = { 0 };

    for (int i = 0; i < 50; i++) similarity[i] = i * 7 % 50 / 2;           /* pairs of equal ones */
    CHECK_OK(&c, spot_gather_pick(&c, pick, &n, similarity, 50, 10, 3));
    assert_int_equal(n, 20);
    for (int i = 0; i < n; i++) {
        assert_int_equal(pick[i].group, i < 10 ? SPOT_GATHERED : SPOT_CONTROL);
        assert_int_equal(seen[pick[i].picture]++, 0);
        assert_true(pick[i].similarity == similarity[pick[i].picture]);
        assert_true(i < 10 ? pick[i].similarity >= 20 : pick[i].similarity < 20);
        if (i && i < 10 && pick[i].similarity == pick[i - 1].similarity) assert_true(pick[i].picture > pick[i - 1].picture);
    }
    CHECK_OK(&c, spot_gather_pick(&c, again, &n, similarity, 50, 10, 3));
    for (int i = 0; i < n; i++) assert_int_equal(pick[i].picture, again[i].picture);
    CHECK_OK(&c, spot_gather_pick(&c, pick, &n, similarity, 7, 30, 3));
    assert_int_equal(n, 6);
    CHECK_FAILS(&c, spot_gather_pick(&c, pick, &n, similarity, 1, 30, 3), SPOT_INPUT, "gather.few_pictures");
}

TEST(verdicts)
{
    spot_claim_test t = { .n = { 4, 4 }, .wrong = { 4, 0 } };

    spot_claim_judge(&t, 0.05);
    CHECK_NEAR(t.p, 1.0 / 70, 1e-12);                          /* 1 of the 70 choices of 4 from 8 */
    assert_int_equal(t.verdict, SPOT_CONFIRMED);
    t = (spot_claim_test){ .n = { 2, 2 }, .wrong = { 2, 0 } };     /* 1/6 at best */
    spot_claim_judge(&t, 0.05);
    assert_int_equal(t.verdict, SPOT_TOO_FEW);
    t = (spot_claim_test){ .n = { 40, 40 }, .wrong = { 4, 20 } };
    spot_claim_judge(&t, 0.05);
    assert_int_equal(t.verdict, SPOT_NOT_CONFIRMED);
    t = (spot_claim_test){ .n = { 40, 0 }, .wrong = { 40, 0 } };
    spot_claim_judge(&t, 0.05);
    assert_int_equal(t.verdict, SPOT_TOO_FEW);
}

/* The same rate in both groups is confirmed in at most 5 % of trials; 40 % against 8 % nearly always. */
TEST(level_and_power)
{
    int confirmed[2] = { 0 };

    for (int real = 0; real < 2; real++)
        for (uint32_t trial = 0; trial < 2000; trial++) {
            spot_rng r = spot_rng_at(5, SPOT_RNG_CONTROLS, (uint32_t)real, trial);
            spot_claim_test t = { .n = { 40, 40 } };
            for (int i = 0; i < 80; i++) t.wrong[i / 40] += spot_rng_uniform(&r) < (real ? i < 40 ? 0.4 : 0.08 : 0.2);
            spot_claim_judge(&t, 0.05);
            confirmed[real] += t.verdict == SPOT_CONFIRMED;
        }
    printf("confirmed: %d of 2000 without, %d of 2000 with a difference\n", confirmed[0], confirmed[1]);
    assert_in_range(confirmed[0], 1, 120);
    assert_true(confirmed[1] > 1800);
}

/* Errors of chance that a group shares, in groups of 10 pictures: gathered ones in many, controls in few. Of 200 runs more than
 * 18 confirmed ones have a probability below 0.01 at 5 %. */
TEST(controls_in_few_groups_are_no_sure_rate)
{
    enum { RUNS = 200, EACH = 10, MOST = 80 * EACH };
    static const int groups[][2] = { { 40, 6 }, { 40, 8 }, { 20, 20 } };
    static spot_new_picture row[MOST];
    static int group[MOST];
    spot_ctx c = check_ctx(1);

    for (int m = 0; m < LEN(groups); m++) {
        int confirmed = 0;
        for (uint32_t run = 0; run < (SANITIZED ? 20 : RUNS); run++) {
            spot_rng r = spot_rng_at(11, SPOT_RNG_CONTROLS, (uint32_t)m, run);
            spot_claim_test t;
            const int n = (groups[m][0] + groups[m][1]) * EACH;
            for (int i = 0; i < n; i++) {
                const double rate = i % EACH ? row[i - 1].similarity : spot_rng_uniform(&r) < 0.5 ? 0.6 : 0;
                row[i] = (spot_new_picture){ .group = i < groups[m][0] * EACH ? SPOT_GATHERED : SPOT_CONTROL,
                                             .similarity = rate, .wrong = spot_rng_uniform(&r) < rate };
                group[i] = i / EACH;
            }
            spot_claim_count(&t, row, n);
            spot_claim_judge(&t, 0.05);
            CHECK_OK(&c, spot_claim_by_groups(&c, &t, row, n, group, 0.05));
            confirmed += t.verdict == SPOT_CONFIRMED;
        }
        print_message("%d and %d groups: %d confirmed\n", groups[m][0], groups[m][1], confirmed);
        assert_true(confirmed <= 18);
    }
}

/* In half of 40 groups of 10 pictures 6 are wrong, in the others none: the interval is that of groups. */
TEST(intervals_are_of_groups)
{
    enum { RUNS = 400, EACH = 10, GROUPS = 40, N = GROUPS * EACH };
    static spot_new_picture row[N];
    static int group[N];
    const int runs = SANITIZED ? 20 : RUNS;
    spot_ctx c = check_ctx(1);
    int covered[2] = { 0, 0 };

    for (uint32_t run = 0; run < (uint32_t)runs; run++) {
        spot_rng r = spot_rng_at(12, SPOT_RNG_CONTROLS, 0, run);
        spot_claim_test t;
        for (int i = 0; i < N; i++) {
            const double rate = i % EACH ? row[i - 1].similarity : spot_rng_uniform(&r) < 0.5 ? 0.6 : 0;
            row[i] = (spot_new_picture){ .group = i < N / 2 ? SPOT_GATHERED : SPOT_CONTROL, .similarity = rate,
                                         .wrong = spot_rng_uniform(&r) < rate };
            group[i] = i / EACH;
        }
        spot_claim_count(&t, row, N);
        spot_claim_judge(&t, 0.05);
        CHECK_OK(&c, spot_claim_by_groups(&c, &t, row, N, group, 0.05));
        for (int k = 0; k < 2; k++) covered[k] += t.rate[k].low <= 0.3 && t.rate[k].high >= 0.3 && t.rate[k].low >= 0;
    }
    print_message("0.3 lies in %d and %d of %d intervals\n", covered[0], covered[1], runs);
    assert_true(covered[0] >= 0.92 * runs && covered[1] >= 0.92 * runs);
}

/* A claim in two groups of controls cannot be confirmed at 5 %. */
TEST(two_groups_of_controls_are_too_few)
{
    static const int group[12] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9 };
    spot_new_picture row[12];
    spot_ctx c = check_ctx(1);
    spot_claim_test t;

    for (int i = 0; i < 12; i++) row[i] = (spot_new_picture){ .group = i < 8 ? SPOT_GATHERED : SPOT_CONTROL, .wrong = i < 8 };
    spot_claim_count(&t, row, 12);
    spot_claim_judge(&t, 0.05);
    CHECK_OK(&c, spot_claim_by_groups(&c, &t, row, 12, group, 0.05));
    assert_true(t.verdict == SPOT_TOO_FEW && t.groups == 8);
}

/* The table keeps the pictures' groups, and is read with them and without. */
TEST_IN_FOLDER(a_table_keeps_its_groups)
{
    static const char *const group[] = { "ride 7", "ride, 8", "", "ride 7", "=1", "" };
    enum { N = LEN(group) };
    static spot_new_picture row[N];
    const spot_new_pictures p = { N, row };
    const spot_slice_claim claim = { .text = "a dog", .rate = 0.5, .class_rate = 0.1 };
    spot_ctx c = check_ctx(1);
    spot_subject of = { .n = N }, again;
    char **cell, path[128];

    CHECK_OK(&c, SPOT_SUBJECT_TAKE(&c, &of, cell, N));
    for (int i = 0; i < N; i++) {
        row[i] = (spot_new_picture){ .picture = (char *)(uintptr_t)"a.png", .group = i > 2, .similarity = 0.5, .wrong = i % 2 };
        cell[i] = (char *)(uintptr_t)group[i];
    }
    CHECK_OK(&c, spot_groups_of_cells(&c, &of, cell));
    CHECK_OK(&c, spot_groups_settle(&c, &of, "a test"));
    assert_int_equal(of.groups, 5);
    for (int with = 0; with < 2; with++) {
        spot_new_pictures back;
        spot_slice_claim said;
        spot_gathered_has has;
        CHECK_OK(&c, spot_gathered_write(&c, root, &claim, &p, with ? &of : NULL));
        snprintf(path, sizeof path, "%s/gathered.csv", root);
        CHECK_OK(&c, spot_gathered_read(&c, path, &said, &back, &has));
        assert_true(has.claim && has.groups == with && back.n == N && !strcmp(said.text, "a dog"));
        for (int i = 0; i < N; i++) assert_true(back.row[i].wrong == i % 2 && back.row[i].group == (i > 2));
        spot_new_pictures_close(&back);
    }
    CHECK_OK(&c, spot_gathered_groups(&c, &again, path, SPOT_GATHERED_GROUPS, N));
    assert_int_equal(again.groups, 5);
    assert_memory_equal(again.group, of.group, sizeof(int) * N);
    spot_subject_close(&again);
    spot_subject_close(&of);
}
