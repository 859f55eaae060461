/* test_ontology.c - host/background/ontology: the pictures of IN9 that the authors of paper 003 published, and small graphs.
 * ctest: both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "spotter/ontology.h"

enum { PICTURES = 1712, KEYWORDS = 515, MOST = 16 * PICTURES };

static int first[PICTURES + 1], item[MOST];
static double counts[10 + 5 + 5 * 6];

static int read_golden(void **state)
{
    FILE *f = fopen("golden/ontology_keywords.txt", "r"), *g = fopen("golden/ontology_counts.txt", "r");
    char line[256];
    int n = 0, row = 0;

    (void)state;
    if (!f || !g) return -1;
    while (row < PICTURES && fgets(line, sizeof line, f)) {
        for (char *at = line, *end; n < MOST; at = end) {
            const long k = strtol(at, &end, 10);
            if (end == at) break;
            item[n++] = (int)k;
        }
        first[++row] = n;
    }
    for (int i = 0; i < LEN(counts); i++)
        if (fscanf(g, "%lf", &counts[i]) != 1) return -1;
    fclose(f), fclose(g);
    return row == PICTURES ? 0 : -1;
}

static const spot_baskets pictures = { PICTURES, KEYWORDS, first, item };

static void near(double got, double want) { assert_true(fabs(got - want) <= 1e-8 * fabs(want)); }

TEST_WITH(published_keywords_have_the_counts_of_the_golden, read_golden, NULL)
{
    spot_ctx c = check_ctx(1);
    spot_itemsets s;
    int least = KEYWORDS, most = 0, kinds = 0;

    for (int t = 0; t < PICTURES; t++) {
        const int n = first[t + 1] - first[t];
        least = n < least ? n : least, most = n > most ? n : most;
    }
    near((double)first[PICTURES] / PICTURES, counts[0]);
    assert_int_equal(least, (int)counts[1]);
    assert_int_equal(most, (int)counts[2]);
    CHECK_OK(&c, spot_itemsets_find(&c, &s, &pictures, &(spot_itemsets_rule){ 1, 2, 0 }));
    for (int k = 0; k < s.sets; k++) kinds += s.first[k + 1] - s.first[k] == 1;
    assert_int_equal(kinds, (int)counts[3]);
    assert_int_equal(s.sets - kinds, (int)counts[4]);
    spot_itemsets_close(&s);
}

/* The frequent keywords of a picture, expanded `levels` times; their mean number over the pictures. */
static double mean_expanded(const spot_ontology *o, int levels)
{
    const spot_expansion rule = { .least = KEYWORDS + 1, .levels = levels };
    spot_expanded out[KEYWORDS];
    spot_ctx c = check_ctx(1);
    long sum = 0;

    for (int t = 0; t < PICTURES; t++) {
        int detected[64], have = 0, n;
        for (int i = first[t]; i < first[t + 1]; i++)
            if (o->share[item[i]] >= o->support) detected[have++] = item[i];
        CHECK_OK(&c, spot_ontology_expand(&c, out, &n, o, detected, have, &rule));
        sum += n;
    }
    return (double)sum / PICTURES;
}

TEST_WITH(expansion_saturates_as_in_the_golden, read_golden, NULL)
{
    static const double graph[5][2] = { { 0, 0 }, { .005, .05 }, { .005, .10 }, { .01, .10 }, { .01, .20 } };
    spot_ctx c = check_ctx(1);
    spot_ontology o;

    for (int g = 0; g < 5; g++) {
        CHECK_OK(&c, spot_ontology_build(&c, &o, &pictures, NULL, 0, graph[g][0], graph[g][1]));
        for (int level = 0; level < (SANITIZED ? 3 : 6); level++) near(mean_expanded(&o, level), counts[15 + 6 * g + level]);
        spot_ontology_close(&o);
    }
}

/* a -> b (1.0), b -> a (.5), b -> c (.5), c -> b (1.0): four pictures {a, b}, {a, b}, {b, c}, {b, c}; d is alone. */
static const int small_first[] = { 0, 2, 4, 6, 8, 9 }, small_item[] = { 0, 1, 0, 1, 1, 2, 1, 2, 3 };
static const spot_baskets small = { 5, 4, small_first, small_item };

TEST(weights_are_confidences)
{
    spot_ctx c = check_ctx(1);
    spot_ontology o;

    CHECK_OK(&c, spot_ontology_build(&c, &o, &small, NULL, 0, 0, 0));
    assert_int_equal(o.first[4], 4);
    near(o.share[0], 0.4), near(o.share[1], 0.8), near(o.share[3], 0.2);
    assert_int_equal(o.to[0], 1), near(o.weight[0], 1);
    assert_int_equal(o.to[1], 0), near(o.weight[1], 0.5);
    assert_int_equal(o.to[2], 2), near(o.weight[2], 0.5);
    spot_ontology_close(&o);
    CHECK_OK(&c, spot_ontology_build(&c, &o, &small, NULL, 0, 0, 0.6));
    assert_int_equal(o.first[4], 2);                       /* a -> b and c -> b */
    spot_ontology_close(&o);
    CHECK_OK(&c, spot_ontology_build(&c, &o, &small, NULL, 0, 0.5, 0));
    assert_int_equal(o.first[4], 0);                       /* b alone is frequent */
    spot_ontology_close(&o);
    CHECK_OK(&c, spot_ontology_build(&c, &o, &small, (int[]){ 2, 3 }, 2, 0, 0));
    near(o.share[1], 1), near(o.share[0], 0);              /* the graph of two pictures */
    assert_int_equal(o.first[4], 2);
    spot_ontology_close(&o);
}

static void expect_path(const spot_ontology *o, int measure, double two_steps)
{
    const spot_expansion rule = { .least = 10, .levels = 5, .measure = measure, .alpha = 2 };
    spot_ctx c = check_ctx(1);
    spot_expanded out[4];
    int n;

    CHECK_OK(&c, spot_ontology_expand(&c, out, &n, o, (int[]){ 0 }, 1, &rule));
    assert_int_equal(n, 3);
    assert_int_equal(out[2].keyword, 2);
    assert_int_equal(out[2].level, 2);
    near(out[2].path, two_steps);
}

TEST(paths_and_limits)
{
    spot_ctx c = check_ctx(1);
    spot_expanded out[4];
    spot_ontology o;
    int n;

    CHECK_OK(&c, spot_ontology_build(&c, &o, &small, NULL, 0, 0, 0));
    expect_path(&o, SPOT_PATH_PRODUCT, 0.5);
    expect_path(&o, SPOT_PATH_DECAY, 1 - 0.25);            /* w1 - (1 - w2)^2 */
    expect_path(&o, SPOT_PATH_HOPS, 1.0 / 3);
    CHECK_OK(&c, spot_ontology_expand(&c, out, &n, &o, (int[]){ 0, 0 }, 2, &(spot_expansion){ .least = 2, .levels = 5 }));
    assert_int_equal(n, 2);                                /* enough after one level */
    CHECK_OK(&c, spot_ontology_expand(&c, out, &n, &o, (int[]){ 1 }, 1, &(spot_expansion){ 9, 5, 2, 0, 1 }));
    assert_int_equal(n, 2);
    assert_true(out[0].keyword == 1 && out[1].keyword == 0);   /* equal paths: the lower number */
    CHECK_OK(&c, spot_ontology_expand(&c, out, &n, &o, (int[]){ 3 }, 1, &(spot_expansion){ .least = 9, .levels = 5 }));
    assert_int_equal(n, 1);                                /* no neighbours, no endless loop */
    CHECK_FAILS(&c, spot_ontology_expand(&c, out, &n, &o, (int[]){ 4 }, 1, &(spot_expansion){ .least = 9 }), SPOT_INVALID,
                "keyword.number: keyword 4 | 4");
    spot_ontology_close(&o);
}
