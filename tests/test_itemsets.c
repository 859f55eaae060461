/* test_itemsets.c - host/stats/itemsets: against all subsets and against Apriori, written here; impossible sizes.
 * ctest: both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "spotter/ontology.h"
#include "spotter/rng.h"

enum { MOST_ITEMS = 12, MOST_ROWS = 200 };

typedef struct { int first[MOST_ROWS + 1], item[MOST_ROWS * MOST_ITEMS], rows, items; unsigned bits[MOST_ROWS]; } table;

static spot_baskets baskets_of(const table *t) { return (spot_baskets){ t->rows, t->items, t->first, t->item }; }

/* Item k is there with a chance of its own, so that sets of every length are frequent. */
static void draw_table(table *t, int rows, int items, uint32_t number)
{
    *t = (table){ .rows = rows, .items = items };
    for (int i = 0; i < rows; i++) {
        spot_rng r = spot_rng_at(7, SPOT_RNG_BOOTSTRAP, number, (uint32_t)i);
        int n = t->first[i];
        for (int k = 0; k < items; k++)
            if (spot_rng_uniform(&r) < 0.9 - 0.07 * k) t->item[n++] = k, t->bits[i] |= 1u << k;
        t->first[i + 1] = n;
    }
}

static int count_of(const table *t, unsigned set)
{
    int count = 0;

    for (int i = 0; i < t->rows; i++) count += (t->bits[i] & set) == set;
    return count;
}

static unsigned bits_of(const spot_itemsets *s, int k)
{
    unsigned set = 0;

    for (int i = s->first[k]; i < s->first[k + 1]; i++) set |= 1u << s->item[i];
    return set;
}

TEST(equal_to_all_subsets)
{
    spot_ctx c = check_ctx(2);
    table t;

    for (int least = 1; least < 120; least += 17) {
        spot_itemsets s;
        int expected = 0;
        draw_table(&t, 150, 10, (uint32_t)least);
        const spot_baskets b = baskets_of(&t);
        CHECK_OK(&c, spot_itemsets_find(&c, &s, &b, &(spot_itemsets_rule){ .least_count = least }));
        for (unsigned set = 1; set < 1u << 10; set++) expected += count_of(&t, set) >= least;
        assert_int_equal(s.sets, expected);
        for (int k = 0; k < s.sets; k++) {
            assert_int_equal(s.count[k], count_of(&t, bits_of(&s, k)));
            assert_true(s.count[k] >= least);
            if (!k) continue;                              /* sorted, so no set stands twice */
            const int was = s.first[k] - s.first[k - 1], is = s.first[k + 1] - s.first[k];
            assert_true(was <= is);
            if (was == is) assert_true(memcmp(s.item + s.first[k - 1], s.item + s.first[k], (size_t)is * sizeof(int)) != 0);
        }
        spot_itemsets_close(&s);
    }
}

/* Apriori: candidates of length n + 1 are unions of two frequent sets of length n. */
static int apriori(const table *t, int least, int longest, unsigned *out)
{
    int n = 0, from = 0;

    for (int k = 0; k < t->items; k++)
        if (count_of(t, 1u << k) >= least) out[n++] = 1u << k;
    for (int length = 1; length < longest && from < n; length++) {
        const int end = n;
        for (int a = from; a < end; a++)
            for (int b = a + 1; b < end; b++) {
                const unsigned both = out[a] | out[b];
                int known = __builtin_popcount(both) != length + 1 || count_of(t, both) < least;
                for (int k = end; k < n && !known; k++) known = out[k] == both;
                if (!known) out[n++] = both;
            }
        from = end;
    }
    return n;
}

TEST(equal_to_apriori_with_a_longest_length)
{
    static unsigned expected[1 << MOST_ITEMS];
    spot_ctx c = check_ctx(1);
    table t;

    draw_table(&t, 200, 12, 99);
    for (int longest = 1; longest <= 4; longest++) {
        const spot_baskets b = baskets_of(&t);
        const int n = apriori(&t, 20, longest, expected);
        spot_itemsets s;
        CHECK_OK(&c, spot_itemsets_find(&c, &s, &b, &(spot_itemsets_rule){ 20, longest, 0 }));
        assert_int_equal(s.sets, n);
        for (int k = 0; k < n; k++) {
            bool found = false;
            for (int i = 0; i < n && !found; i++) found = bits_of(&s, i) == expected[k];
            assert_true(found);
        }
        spot_itemsets_close(&s);
    }
}

TEST(rules_are_the_definition)
{
    spot_ctx c = check_ctx(2);
    spot_association *rule;
    spot_itemsets s;
    table t;
    int n, expected = 0;

    draw_table(&t, 120, 7, 3);
    const spot_baskets b = baskets_of(&t);
    CHECK_OK(&c, spot_itemsets_find(&c, &s, &b, &(spot_itemsets_rule){ .least_count = 12 }));
    CHECK_OK(&c, spot_itemsets_rules(&c, &rule, &n, &s, t.rows, 0.6));
    for (unsigned from = 1; from < 1u << 7; from++)
        for (unsigned to = 1; to < 1u << 7; to++)
            expected += !(from & to) && count_of(&t, from | to) >= 12
                     && (double)count_of(&t, from | to) / count_of(&t, from) >= 0.6;
    assert_int_equal(n, expected);
    for (int k = 0; k < n; k++) {
        const unsigned from = bits_of(&s, rule[k].from), to = bits_of(&s, rule[k].to);
        const double both = count_of(&t, from | to), sure = both / count_of(&t, from);
        assert_int_equal(from & to, 0);
        assert_true(fabs(rule[k].support - both / t.rows) < 1e-15 && fabs(rule[k].confidence - sure) < 1e-15);
        assert_true(fabs(rule[k].lift - sure * t.rows / count_of(&t, to)) < 1e-12);
        assert_true(!k || rule[k].confidence <= rule[k - 1].confidence);
    }
    free(rule);
    spot_itemsets_close(&s);
}

TEST(threads_change_nothing)
{
    spot_ctx one = check_ctx(1), four = check_ctx(4);
    spot_itemsets a, b;
    table t;

    draw_table(&t, 200, 12, 5);
    const spot_baskets rows = baskets_of(&t);
    CHECK_OK(&one, spot_itemsets_find(&one, &a, &rows, &(spot_itemsets_rule){ .least_count = 5 }));
    CHECK_OK(&four, spot_itemsets_find(&four, &b, &rows, &(spot_itemsets_rule){ .least_count = 5 }));
    assert_int_equal(a.sets, b.sets);
    assert_memory_equal(a.count, b.count, (size_t)a.sets * sizeof(int));
    assert_memory_equal(a.item, b.item, (size_t)a.first[a.sets] * sizeof(int));
    spot_itemsets_close(&a), spot_itemsets_close(&b);
}

/* 20 equal transactions of 30 items have 2^30 - 1 frequent sets. */
TEST(impossible_sizes_are_sentences)
{
    int first[21], item[600];
    spot_ctx c = check_ctx(2);
    spot_itemsets s;

    for (int t = 0; t <= 20; t++) first[t] = 30 * t;
    for (int i = 0; i < 600; i++) item[i] = i % 30;
    const spot_baskets b = { 20, 30, first, item }, none = { 0, 0, first, item }, no_items = { 1, 0, (int[]){ 0, 0 }, item };
    CHECK_FAILS(&c, spot_itemsets_find(&c, &s, &b, &(spot_itemsets_rule){ .least_count = 2, .most = 100000 }), SPOT_NOMEM,
                "itemsets.too_many");
    spot_itemsets_close(&s);
    CHECK_OK(&c, spot_itemsets_find(&c, &s, &b, &(spot_itemsets_rule){ .least_count = 21 }));
    assert_int_equal(s.sets, 0);
    spot_itemsets_close(&s);
    CHECK_OK(&c, spot_itemsets_find(&c, &s, &none, &(spot_itemsets_rule){ .least_count = 1 }));
    assert_int_equal(s.sets, 0);
    spot_itemsets_close(&s);
    CHECK_OK(&c, spot_itemsets_find(&c, &s, &no_items, &(spot_itemsets_rule){ .least_count = 1 }));
    spot_itemsets_close(&s);
    CHECK_FAILS(&c, spot_itemsets_find(&c, &s, &b, &(spot_itemsets_rule){ .longest = 1 }), SPOT_INVALID, "itemsets.sizes: 0");
}
