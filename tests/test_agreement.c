/* test_agreement.c - Fleiss' kappa against the textbook and statsmodels, F1 against a published table, votes, splits. */
#include "checks.h"

#include <math.h>

#include "golden_file.h"
#include "spotter/verdict.h"

/* The example of textbooks: 10 subjects, 14 raters, 5 categories. */
TEST(kappa_of_the_textbook)
{
    static const int count[10][5] = {
        { 0, 0, 0, 0, 14 }, { 0, 2, 6, 4, 2 }, { 0, 0, 3, 5, 6 }, { 0, 3, 9, 2, 0 }, { 2, 2, 8, 1, 1 },
        { 7, 7, 0, 0, 0 }, { 3, 2, 6, 3, 0 }, { 2, 5, 3, 2, 2 }, { 6, 5, 2, 1, 0 }, { 0, 2, 2, 3, 7 },
    };
    spot_ctx c = check_ctx(1);
    double kappa;

    CHECK_OK(&c, spot_fleiss_kappa(&c, &kappa, &count[0][0], 10, 5));
    CHECK_NEAR(kappa, 0.20993070442195522, 1e-14);
}

/* tools/golden/forest.py: the textbook's, and labels drawn at random. */
TEST(kappa_of_statsmodels)
{
    spot_ctx c = check_ctx(1);
    FILE *f = fopen("golden/agreement.bin", "rb");
    int cases;

    assert_non_null(f);
    get(f, &cases, sizeof cases);
    assert_true(cases >= 3);
    for (int i = 0; i < cases; i++) {
        int size[2], *count;
        double want, kappa;
        get(f, size, sizeof size);
        count = read_new(f, (size_t)size[0] * size[1] * sizeof *count);
        get(f, &want, sizeof want);
        CHECK_OK(&c, spot_fleiss_kappa(&c, &kappa, count, size[0], size[1]));
        CHECK_NEAR(kappa, want, 1e-14);
        free(count);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

TEST(kappa_at_its_ends)
{
    spot_ctx c = check_ctx(1);
    int agree[] = { 3, 0, 0, 3, 3, 0 }, one[] = { 3, 0, 3, 0 }, apart[] = { 1, 1, 1, 1 }, uneven[] = { 3, 0, 2, 0 };
    int alone[] = { 1, 0, 0, 1 }, below[] = { 4, -1 };
    double kappa;

    CHECK_OK(&c, spot_fleiss_kappa(&c, &kappa, agree, 3, 2));
    CHECK_NEAR(kappa, 1, 1e-15);
    CHECK_OK(&c, spot_fleiss_kappa(&c, &kappa, one, 2, 2));
    assert_true(isnan(kappa));
    CHECK_OK(&c, spot_fleiss_kappa(&c, &kappa, apart, 2, 2));
    CHECK_NEAR(kappa, -1, 1e-15);
    CHECK_FAILS(&c, spot_fleiss_kappa(&c, &kappa, uneven, 2, 2), SPOT_INPUT, "agreement.unequal: subject 1 | 2 | 3");
    CHECK_FAILS(&c, spot_fleiss_kappa(&c, &kappa, alone, 2, 2), SPOT_INPUT, "agreement.unequal");
    CHECK_FAILS(&c, spot_fleiss_kappa(&c, &kappa, below, 1, 2), SPOT_INPUT, "agreement.labels: -1");
    CHECK_FAILS(&c, spot_fleiss_kappa(&c, &kappa, agree, 0, 2), SPOT_INVALID, "agreement.sizes: 0");
}

/* Background invariance testing, Table 1: neuron coverage (recall), kappa (precision) and F1 of five ways to choose
 * backgrounds, each given to three digits. */
TEST(f1_of_the_paper)
{
    static const double table[5][3] = {
        { .681, .384, .491 }, { .133, .906, .232 }, { .667, .531, .591 }, { .591, .640, .615 }, { .652, .649, .650 },
    };

    for (int i = 0; i < 5; i++) CHECK_NEAR(spot_f1(table[i][1], table[i][0]), table[i][2], 0.001);
    assert_true(spot_f1(0, 0) == 0 && spot_f1(1, 1) == 1 && spot_f1(0, 1) == 0);
}

TEST(majority_says_whether_it_is_one)
{
    bool tied;

    assert_int_equal(spot_majority((int[]){ 1, 2, 0 }, 3, &tied), 1);
    assert_false(tied);
    assert_int_equal(spot_majority((int[]){ 1, 1, 1 }, 3, &tied), 0);
    assert_true(tied);
    assert_int_equal(spot_majority((int[]){ 0, 1, 1 }, 3, &tied), 1);
    assert_true(tied);
    assert_int_equal(spot_majority((int[]){ 2, 0, 1 }, 3, &tied), 0);
    assert_false(tied);
}

/* 250 rows: 166 and 84, as scikit-learn's test_size=1/3 has it; every row once, splits by address. */
TEST(splits_have_addresses)
{
    uint32_t a[250], b[250];
    int seen[250] = { 0 }, same = 0;

    assert_int_equal(spot_split_rows(a, 250, (spot_seed){ 1, 0 }, 0), 166);
    for (int i = 0; i < 250; i++) seen[a[i]]++;
    for (int i = 0; i < 250; i++) assert_int_equal(seen[i], 1);
    spot_split_rows(b, 250, (spot_seed){ 1, 0 }, 0);
    assert_memory_equal(a, b, sizeof a);
    spot_split_rows(b, 250, (spot_seed){ 1, 0 }, 1);
    for (int i = 0; i < 250; i++) same += a[i] == b[i];
    assert_true(same < 10);
    assert_int_equal(spot_split_rows(a, 3, (spot_seed){ 1, 0 }, 0), 2);
    assert_int_equal(spot_split_rows(a, 1, (spot_seed){ 1, 0 }, 0), 0);
}

TEST(spread_is_that_of_a_sample)
{
    spot_spread s = spot_spread_of((double[]){ 0.7, 0.8, 0.9 }, 3);

    CHECK_NEAR(s.mean, 0.8, 1e-15);
    CHECK_NEAR(s.deviation, 0.1, 1e-15);
    assert_true(spot_spread_of((double[]){ 0.7 }, 1).deviation == 0);
}
