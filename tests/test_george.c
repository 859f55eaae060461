/* test_george.c - GEORGE: the rule of over-clustering by hand, the whole method on planted groups, and data that say
 * nothing. ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "check_bdm.h"
#include "bdm/pieces.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* Two clusters of 100 rows in two pieces of 50 each; what a case changes of this is all that decides. */
enum { ROWS = 200 };
typedef struct { double before[ROWS], after[ROWS], loss[ROWS]; uint16_t cluster[ROWS], piece[ROWS], label[ROWS]; } cut;

static spot_pieces plain(cut *u)
{
    for (int i = 0; i < ROWS; i++) {
        u->cluster[i] = (uint16_t)(i / 100);
        u->piece[i] = (uint16_t)(i / 50);
        u->before[i] = 0.3;
        u->after[i] = 0.5;
        u->loss[i] = 0.1;
    }
    return (spot_pieces){ .n = ROWS, .clusters = 2, .pieces = 2, .cluster = u->cluster, .piece = u->piece,
                          .before = u->before, .after = u->after, .loss = u->loss, .least = 25 };
}

static void fill(double *value, int first, int rows, double x) { for (int i = first; i < first + rows; i++) value[i] = x; }

/* The names of the rows 0, 50, 100, 150, as four digits; and the number of names. */
static int names(const spot_pieces *p, cut *u)
{
    int len = spot_pieces_keep(p, u->label);
    return 10000 * len + 1000 * u->label[0] + 100 * u->label[50] + 10 * u->label[100] + u->label[150];
}

TEST(the_rule_of_over_clustering)
{
    spot_pieces p;
    cut u;
    p = plain(&u);                          /* equal losses are no less: all stay, and no rest is left */
    assert_int_equal(names(&p, &u), 40123);
    fill(u.loss, 0, 50, 0.2);               /* the other piece of cluster 0 now lies below its mean: it is the rest */
    assert_int_equal(names(&p, &u), 41023);
    p = plain(&u);
    fill(u.after, 100, 100, 0.3);           /* no better than before: cluster 1 stays whole */
    assert_int_equal(names(&p, &u), 30122);
    p = plain(&u);
    fill(u.before, 0, 50, -0.5);            /* better than before, but not above 0 */
    fill(u.after, 0, 50, 0);
    assert_int_equal(names(&p, &u), 40123);
    assert_int_equal(u.label[49], 0);       /* the rest has these 50 rows alone */
    p = plain(&u);
    p.least = 51;
    assert_int_equal(names(&p, &u), 20011);
    p.least = 50;
    assert_int_equal(names(&p, &u), 40123);
    for (int i = 50; i < 100; i++) u.piece[i] = 0;     /* an empty piece does not stay, and its rest has no rows */
    assert_int_equal(names(&p, &u), 41123);
    p = plain(&u);
    fill(u.loss, 100, 100, 0.7);            /* means of equal losses are equal, whatever the number of rows */
    for (int i = 0; i < ROWS; i++) u.piece[i] = (uint16_t)(i / 100 * 2 + (i % 100 >= 33));
    p.least = 1;
    assert_int_equal(spot_pieces_keep(&p, u.label), 4);
}

/* 0.005 of the rows, where that is more than `least`. */
TEST(large_problems_ask_for_more_rows)
{
    enum { MANY = 12000 };
    static double before[MANY], after[MANY], loss[MANY];
    static uint16_t cluster[MANY], piece[MANY], label[MANY];
    spot_pieces p = { MANY, 1, 3, cluster, piece, before, after, loss, 25 };
    for (int i = 0; i < MANY; i++) {
        after[i] = 1;
        piece[i] = (uint16_t)(i < 59 ? 1 : i < 119 ? 2 : 0);
        loss[i] = i < 119;
    }
    assert_int_equal(spot_pieces_keep(&p, label), 2);
    assert_true(label[0] == 0 && label[59] == 1 && label[200] == 0);
}

/* Three clouds far apart; the second is two, of which one has low confidence. */
enum { N = 240 };
static int group_of(int i) { return i % 4; }
static void clouds(float at[2 * N], float confidence[N])
{
    static const double centre[][2] = { { 0, 0 }, { 40, 0 }, { 56, 0 }, { 0, 40 } }, sure[] = { 0.95, 0.9, 0.1, 0.99 };
    spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 0, 0);
    for (int i = 0; i < N; i++) {
        at[2 * i] = (float)(centre[group_of(i)][0] + spot_rng_normal(&r));
        at[2 * i + 1] = (float)(centre[group_of(i)][1] + spot_rng_normal(&r));
        confidence[i] = (float)(sure[group_of(i)] + 0.005 * spot_rng_uniform(&r));
    }
}

static void check_is_group(const spot_hypothesis *h, int group)
{
    assert_int_equal(h->len, N / 4);
    for (int i = 0; i < h->len; i++) assert_int_equal(h->row[i], 4 * i + group);
}

TEST(finds_the_failing_piece)
{
    float at[2 * N], confidence[N];
    bdm_bed b = bed_of(SPOT_GEORGE, 2, N, 2, at, confidence);
    clouds(at, confidence);
    for (int kmeans = 0; kmeans < 2; kmeans++)
        for (int pieces = 0; pieces < 2; pieces++) {
            double loss = 0, error = 0;
            b.cfg.george.cluster = kmeans;
            b.cfg.george.overcluster = pieces ? 2 : 0;
            b.cfg.george.clusters = 3;
            CHECK_OK(&b.c, find_in(&b, &b.cfg));
            assert_string_equal(heard, "");
            if (pieces) {
                check_is_group(&b.found.h[0], 2);
                for (int i = 2; i < N; i += 4) {
                    loss -= log(confidence[i]) / (N / 4);
                    error += (1 - (double)confidence[i]) / (N / 4);
                }
                CHECK_NEAR(b.found.h[0].score, loss, 1e-12);
                CHECK_NEAR(b.found.h[0].mean_error, error, 1e-12);
                check_is_group(&b.found.h[1], 1);
            } else {
                assert_int_equal(b.found.len, 3);
                assert_int_equal(b.found.h[0].len, N / 2);
                check_is_group(&b.found.h[1], 0);
                check_is_group(&b.found.h[2], 3);
            }
            for (int k = 1; k < b.found.len; k++) assert_true(b.found.h[k].score <= b.found.h[k - 1].score);
        }
    spot_arena_close(&b.a);
}

/* Each class is clustered by itself, and errors are against the row's own label. */
TEST(classes_are_clustered_apart)
{
    float at[2 * N], confidence[N];
    uint8_t label[N];
    bdm_bed b = bed_of(SPOT_GEORGE, 1, N, 2, at, confidence);
    b.view.label = label;
    clouds(at, confidence);
    b.cfg.george.overcluster = 0;
    b.cfg.george.clusters = 2;
    for (int i = 0; i < N; i++) label[i] = group_of(i) < 2;     /* groups 2 and 3 are negatives: 3 is all wrong */
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.components, 4);
    check_is_group(&b.found.h[0], 3);
    assert_true(b.found.h[0].mean_error > 0.98);
    check_is_group(&b.found.h[3], 0);
    b.cfg.top = 1;
    for (int i = 0; i < N; i++) label[i] = i != 17;             /* a class of one row */
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 1 && b.found.components == 3 && b.found.h[0].len == 1 && b.found.h[0].row[0] == 17);
    spot_arena_close(&b.a);
}

/* Every row in one hypothesis at most, every number finite. */
static void check_sane(const spot_hypotheses *found, int n, int everywhere)
{
    int seen[N] = { 0 }, rows = 0;
    for (int k = 0; k < found->len; k++) {
        assert_true(found->h[k].len > 0 && isfinite(found->h[k].score) && isfinite(found->h[k].mean_error));
        for (int i = 0; i < found->h[k].len; i++, rows++) assert_int_equal(seen[found->h[k].row[i]]++, 0);
    }
    if (everywhere) assert_int_equal(rows, n);
}

TEST(data_that_say_nothing)
{
    float at[2 * N], confidence[N];
    bdm_bed b = bed_of(SPOT_GEORGE, 1, N, 2, at, confidence);
    b.cfg.top = SPOT_MAX_HYPOTHESES;
    for (int kind = 0; kind < 7; kind++) {
        clouds(at, confidence);
        b.view.n = b.points.n = kind == 4 ? 3 : kind == 5 ? 7 : N;
        for (int i = 0; i < N; i++) {
            if (kind == 0) confidence[i] = 1;                           /* no errors */
            if (kind == 1) confidence[i] = 0;                           /* only errors */
            if (kind == 2) at[2 * i] = at[2 * i + 1] = 3;               /* one point */
            if (kind == 3) at[2 * i + 1] = -1;                          /* a constant coordinate */
            if (kind == 6) at[2 * i] = (float)(i % 3), at[2 * i + 1] = 0;    /* three points, 80 times each */
        }
        for (int kmeans = 0; kmeans < 2; kmeans++) {
            b.cfg.george.cluster = kmeans;
            CHECK_OK(&b.c, find_in(&b, &b.cfg));
            check_sane(&b.found, b.view.n, 1);
            if (kind == 0) assert_true(b.found.h[0].score == 0 && b.found.h[0].mean_error == 0);
            if (kind == 1) CHECK_NEAR(b.found.h[0].score, -log(1e-7), 1e-9);
            if (kind == 2) assert_int_equal(b.found.len, 1);
            if (kind == 6) assert_int_equal(b.found.len, 3);
        }
    }
    spot_arena_close(&b.a);
}

TEST(bad_input_gets_a_sentence)
{
    float at[40 * N] = { 0 }, confidence[N];
    bdm_bed b = bed_of(SPOT_GEORGE, 1, N, 2, at, confidence);
    spot_bdm_config bad;
    clouds(at, confidence);
    b.points.d = 40;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "points.dimensions: 40 | 32");
    b.points.d = 2;
    bad = b.cfg, bad.george.overcluster = 200;
    CHECK_FAILS(&b.c, find_in(&b, &bad),
                SPOT_INVALID, "setting.value: george.overcluster | 200 | 0 | 16");
    bad = b.cfg, bad.george.cluster = 7;
    CHECK_FAILS(&b.c, find_in(&b, &bad),
                SPOT_INVALID, "setting.value: george.cluster | 7 | mixture | kmeans");
    confidence[3] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "confidence.value: row 3");
    confidence[3] = 0;
    at[5] = NAN;
    CHECK_FAILS(&b.c, find_in(&b, &b.cfg), SPOT_INPUT, "points.value: coordinate 1 | point 2");
    spot_arena_close(&b.a);
}
