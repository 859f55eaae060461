/* test_rows_alike.c - copies among rows become groups, independent rows and features of few values do not; rows that depend
 * on each other are told from slices. ctest: threads, both */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/rows_alike.h"
#include "discover/subject/rows_depend.h"
#include "heard.h"
#include "noise.h"

enum { N = 1000, D = 16 };

typedef struct {
    float feature[N * D], confidence[N];
    int target[N];
    spot_subject s;
} world;

/* Two classes in turn; a fifth of the rows is wrong. */
static void make_world(world *w, int number)
{
    spot_rng r = noise_at(35, number);

    for (int e = 0; e < N * D; e++) w->feature[e] = (float)spot_rng_normal(&r);
    for (int i = 0; i < N; i++) {
        w->target[i] = i % 2;
        w->confidence[i] = spot_rng_uniform(&r) < 0.2 ? 0.2f : 0.8f;
    }
    w->s = (spot_subject){ .n = N, .d = D, .classes = 2, .feature = w->feature, .target = w->target,
                           .confidence = w->confidence, .source = "a test" };
}

/* Row i becomes row j with noise, and with its answer. */
static void copy_row(world *w, int i, int j, double noise, spot_rng *r)
{
    for (int k = 0; k < D; k++) w->feature[i * D + k] = w->feature[j * D + k] + (float)(noise * spot_rng_normal(r));
    w->confidence[i] = w->confidence[j];
    w->target[i] = w->target[j];
}

static int group_rows(spot_ctx *c, world *w)
{
    heard[0] = murmured[0] = 0;
    c->on_log = hear;
    CHECK_OK(c, spot_rows_group_alike(c, &w->s));
    c->on_log = NULL;
    return w->s.groups;
}

TEST(equal_rows_are_groups_whatever_their_class)
{
    world *w = malloc(sizeof *w);
    spot_ctx c = check_ctx(2);
    spot_rng r = noise_at(1, 0);

    make_world(w, 0);
    copy_row(w, 7, 3, 0, &r);
    copy_row(w, 900, 3, 0, &r);
    copy_row(w, 901, 20, 0, &r);
    w->target[901] = !w->target[20];
    w->feature[901 * D] = w->feature[20 * D] = 0;
    w->feature[901 * D] *= -1;                         /* -0 is 0 */
    assert_int_equal(group_rows(&c, w), N - 3);
    for (int i = 0; i < 7; i++) assert_int_equal(w->s.group[i], i);
    assert_int_equal(w->s.group[7], 3);
    assert_int_equal(w->s.group[8], 7);
    assert_int_equal(w->s.group[900], 3);
    assert_int_equal(w->s.group[901], w->s.group[20]);
    assert_non_null(strstr(murmured, "5 rows are copies or near copies of others (3 of them equal an earlier row)"));
    assert_non_null(strstr(murmured, "in 2 groups"));
    spot_subject_close(&w->s);
    free(w);
}

TEST(near_copies_of_a_class_are_groups)
{
    world *w = malloc(sizeof *w);

    for (int threads = 1; threads <= 3; threads += 2) {
        spot_ctx c = check_ctx(threads);
        spot_rng r = noise_at(2, 0);
        make_world(w, 1);
        for (int i = 0; i < 100; i++) copy_row(w, 500 + i, i, 0.02, &r);
        copy_row(w, 998, 200, 0.02, &r);
        w->target[998] = 1 - w->target[200];           /* of another class: no near copy */
        assert_int_equal(group_rows(&c, w), N - 100);
        for (int i = 0; i < 100; i++) assert_int_equal(w->s.group[500 + i], w->s.group[i]);
        spot_subject_close(&w->s);
    }
    free(w);
}

TEST(independent_rows_are_alone)
{
    world *w = malloc(sizeof *w);
    spot_ctx c = check_ctx(2);

    for (int number = 2; number < 12; number++) {
        make_world(w, number);
        if (number % 2)
            for (int e = 0; e < N * D; e++) w->feature[e] *= e % D < 3;        /* three dimensions */
        assert_int_equal(group_rows(&c, w), 0);
        assert_null(w->s.group);
        assert_string_equal(murmured, "");
    }
    free(w);
}

TEST(equal_rows_of_few_values_are_no_copies)
{
    world *w = malloc(sizeof *w);
    spot_ctx c = check_ctx(2);

    make_world(w, 12);
    for (int e = 0; e < N * D; e++) w->feature[e] = e % D < 8 && w->feature[e] > 0;
    assert_int_equal(group_rows(&c, w), 0);
    for (int e = 0; e < N * D; e++) w->feature[e] = 1;
    assert_int_equal(group_rows(&c, w), 0);
    free(w);
}

/* The features of all rows anew, d <= D columns; x (d): of a row. */
static void fill(world *w, int d, int number, void (*row)(float *x, int d, spot_rng *r))
{
    spot_rng r = noise_at(6, number);

    make_world(w, number);
    w->s.d = d;
    for (int i = 0; i < N; i++) row(w->feature + i * d, d, &r);
}

static void attributes_and_their_opposites(float *x, int d, spot_rng *r)
{
    for (int k = 0; k < d; k += 2) x[k + 1] = 1 - (x[k] = spot_rng_uniform(r) < 0.5);
}

static void rounded_probability(float *x, int d, spot_rng *r)
{
    (void)d;
    x[0] = (float)(int)spot_rng_below(r, 101) / 100;
    x[1] = 1 - x[0];
}

static void one_hot(float *x, int d, spot_rng *r)
{
    const int own = (int)spot_rng_below(r, (uint32_t)d);

    for (int k = 0; k < d; k++) x[k] = k == own;
}

static void rare_attributes(float *x, int d, spot_rng *r)
{
    for (int k = 0; k < d; k++) x[k] = spot_rng_uniform(r) < 0.1;
}

static void repeated_attributes(float *x, int d, spot_rng *r)
{
    for (int k = 0; k < d; k++) x[k] = k % 4 ? x[k - 1] : (float)spot_rng_below(r, 3);
}

static void number_and_attribute(float *x, int d, spot_rng *r)
{
    (void)d;
    x[0] = (float)spot_rng_below(r, 100);
    x[1] = spot_rng_uniform(r) < 0.5;
}

TEST(columns_that_say_the_same_make_no_copies)
{
    static const struct { int d; void (*row)(float *, int, spot_rng *); } kinds[] = {
        { 16, attributes_and_their_opposites }, { 2, rounded_probability }, { 3, one_hot }, { 4, one_hot }, { 9, one_hot },
        { 3, rare_attributes }, { 16, repeated_attributes }, { 2, number_and_attribute } };
    world *w = malloc(sizeof *w);
    spot_ctx c = check_ctx(2);

    for (int k = 0; k < LEN(kinds); k++) {
        fill(w, kinds[k].d, 40 + k, kinds[k].row);
        if (group_rows(&c, w)) fail_msg("kind %d: %d groups", k, w->s.groups);
    }
    free(w);
}

static void attributes_and_one_number(float *x, int d, spot_rng *r)
{
    for (int k = 0; k < d; k++) x[k] = k == 6 ? (float)spot_rng_normal(r) : (float)(spot_rng_uniform(r) < 0.5);
}

static void no_negatives(float *x, int d, spot_rng *r)
{
    for (int k = 0; k < d; k++) x[k] = fmaxf(0, (float)spot_rng_normal(r));
}

static void bytes(float *x, int d, spot_rng *r)
{
    for (int k = 0; k < d; k++) x[k] = (float)spot_rng_below(r, 256);
}

TEST(copies_are_known_by_their_finest_columns)
{
    static void (*const kinds[])(float *, int, spot_rng *) = { attributes_and_one_number, no_negatives, bytes };
    world *w = malloc(sizeof *w);
    spot_ctx c = check_ctx(2);

    for (int k = 0; k < LEN(kinds); k++) {
        spot_rng r = noise_at(1, k);
        fill(w, D, 50 + k, kinds[k]);
        for (int i = 0; i < 60; i++) copy_row(w, 900 + i, i, 0, &r);
        assert_int_equal(group_rows(&c, w), N - 60);
        spot_subject_close(&w->s);
    }
    free(w);
}

/* The last `cloudy` rows, which are of one class, lie in clouds of `rows`. */
static void make_clouds(world *w, int cloudy, int rows, double wide, int number)
{
    spot_rng r = noise_at(7, number);

    make_world(w, number);
    for (int i = N - cloudy; i < N; i++) {
        const int first = i - (i - N + cloudy) % rows;
        w->target[i] = 0;
        if (i > first) copy_row(w, i, first, wide, &r);
    }
}

TEST(small_clouds_of_rows_are_no_copies)
{
    world *w = malloc(sizeof *w);
    spot_ctx c = check_ctx(2);

    for (int rows = 6; rows <= 14; rows++) {
        make_clouds(w, 6 * rows, rows, 0.1, 60 + rows);
        if (group_rows(&c, w)) fail_msg("clouds of %d rows: %d groups", rows, w->s.groups);
    }
    make_clouds(w, N, 5, 0.02, 60);                    /* five copies of each picture */
    assert_int_equal(group_rows(&c, w), N / 5);
    spot_subject_close(&w->s);
    free(w);
}

/* A row every 0.02 along a line through each class: each has near ones, and no two groups of them may join. */
TEST(chains_do_not_join)
{
    world *w = malloc(sizeof *w);
    spot_ctx c = check_ctx(2);

    make_world(w, 13);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < D; k++) w->feature[i * D + k] += k ? 0 : 1000 * w->target[i];
    for (int i = 0; i < 200; i++)
        for (int k = 0; k < D; k++) w->feature[(2 * i) * D + k] = k ? 0.001f * w->feature[(2 * i) * D + k] : 0.02f * (float)i;
    (void)group_rows(&c, w);
    for (int i = 0, j; i < 400 && w->s.group; i += 2)
        for (j = 0; j < i; j += 2) assert_true(w->s.group[i] != w->s.group[j] || i - j <= 32);
    spot_subject_close(&w->s);
    free(w);
}

/* ---- dependence ---- */

static void shuffle_rows(world *w, spot_rng *r)
{
    static uint32_t order[N];
    world *old = malloc(sizeof *old);

    memcpy(old, w, sizeof *old);
    spot_rng_shuffle(r, order, N);
    for (int i = 0; i < N; i++) {
        memcpy(w->feature + i * D, old->feature + order[i] * D, D * sizeof(float));
        w->confidence[i] = old->confidence[order[i]];
        w->target[i] = old->target[order[i]];
    }
    free(old);
}

/* Videos of `frames` rows that lie together, one error for each; shuffled: in no order. */
static void film(world *w, int frames, bool shuffled, int number)
{
    spot_rng r = noise_at(3, number);

    make_world(w, number);
    for (int i = 0; i < N; i++) {
        const int first = i - i % frames;
        w->target[i] = first / frames % 2;
        if (i > first) copy_row(w, i, first, 0.4, &r);
    }
    if (shuffled) shuffle_rows(w, &r);
}

static spot_rows_agreement agreement_of(world *w, int threads)
{
    spot_ctx c = check_ctx(threads);
    spot_rows_agreement a;

    CHECK_OK(&c, spot_rows_agree(&c, &a, &w->s));
    return a;
}

TEST(frames_depend_on_each_other)
{
    world *w = malloc(sizeof *w);
    spot_rows_agreement one, two;
    spot_ctx c = check_ctx(2);

    film(w, 25, false, 20);
    one = agreement_of(w, 1), two = agreement_of(w, 3);
    assert_true(one.order == two.order && one.step == two.step);
    CHECK_NEAR(one.order, 0.001, 1e-9);
    heard[0] = 0;
    c.on_log = hear;
    CHECK_OK(&c, spot_rows_warn_of_dependence(&c, &w->s));
    assert_non_null(strstr(heard, "--groups FILE"));
    film(w, 5, true, 21);
    two = agreement_of(w, 2);
    assert_true(two.order > SPOT_DEPEND_LEVEL && two.step > SPOT_DEPEND_STEP);
    w->s.group = w->target, w->s.groups = 2, w->s.group_name = (char *[]){ "a", "b" };       /* the user told them */
    two = agreement_of(w, 2);
    assert_true(two.order == 1 && two.step == 0);
    free(w);
}

/* Groups of `size` rows that lie together, a share `bad` of which has a rate of its own. */
static void make_groups(world *w, int size, double bad, double bad_rate, double rate, bool shuffled, int number)
{
    spot_rng r = noise_at(5, number);

    film(w, size, false, number);
    for (int i = 0, is_bad = 0; i < N; i++) {
        if (i % size == 0) is_bad = spot_rng_uniform(&r) < bad;
        w->confidence[i] = spot_rng_uniform(&r) < (is_bad ? bad_rate : rate) ? 0.2f : 0.8f;
    }
    if (shuffled) shuffle_rows(w, &r);
}

/* 20 worlds each: 40 groups of 25 in their order, rates of 0.33 and 0.07 (correlation 0.1); 200 of 5 in no order, 0.6 and 0.07
 * (correlation 0.3). */
TEST(groups_that_agree_a_little_are_told)
{
    world *w = malloc(sizeof *w);
    int order = 0, place = 0;

    for (int number = 0; number < 20; number++) {
        make_groups(w, 25, 0.5, 0.326, 0.074, false, 200 + number);
        order += agreement_of(w, 2).order <= SPOT_DEPEND_LEVEL;
        make_groups(w, 5, 0.25, 0.6, 0.067, true, 300 + number);
        place += agreement_of(w, 2).step >= SPOT_DEPEND_STEP;
    }
    if (order < 18 || place < 18) fail_msg("told in %d and %d of 20 worlds", order, place);
    free(w);
}

/* 20 worlds each of errors of chance, of a slice of 60 rows that lie together, in no order and in order, and of errors that
 * are a function of the features. */
TEST(slices_and_chance_are_no_dependence)
{
    world *w = malloc(sizeof *w);
    int warned[4] = { 0 };

    for (int kind = 0; kind < 4; kind++)
        for (int number = 0; number < 20; number++) {
            spot_rng r = noise_at(4, number);
            spot_rows_agreement a;
            make_world(w, 100 + number);
            for (int t = 0; t < 60 && kind && kind < 3; t++) {
                const int i = kind == 1 ? 2 * (int)spot_rng_below(&r, N / 2) : 2 * t;
                for (int k = 0; k < D; k++) w->feature[i * D + k] = 0.5f * w->feature[i * D + k] + (k == 1 ? 4 : 0);
                w->confidence[i] = spot_rng_uniform(&r) < 0.8 ? 0.2f : 0.8f;
            }
            for (int i = 0; i < N && kind == 3; i++)
                w->confidence[i] = w->feature[i * D] + w->feature[i * D + 1] > 1.2 ? 0.2f : 0.8f;
            a = agreement_of(w, 2);
            warned[kind] += a.order <= SPOT_DEPEND_LEVEL || a.step >= SPOT_DEPEND_STEP;
        }
    for (int kind = 0; kind < 4; kind++) assert_in_range(warned[kind], 0, 1);
    free(w);
}

/* Many classes whose errors are as far apart as can be: no other order has a lesser sum. */
enum { CLASSES = 500, ROWS = 40 };

static void make_classes(spot_subject *s, float *feature, float *confidence, int *target)
{
    for (int i = 0; i < CLASSES * ROWS; i++) {
        feature[i] = (float)i;
        confidence[i] = i % ROWS % 10 ? 0.8f : 0.2f;
        target[i] = i / ROWS;
    }
    *s = (spot_subject){ .n = CLASSES * ROWS, .d = 1, .classes = CLASSES, .feature = feature, .target = target,
                         .confidence = confidence, .source = "a test" };
}

TEST(orders_are_drawn_once_and_stop)
{
    static float feature[CLASSES * ROWS], confidence[CLASSES * ROWS];
    static int target[CLASSES * ROWS];
    volatile sig_atomic_t stop = 1;
    spot_ctx c = check_ctx(2);
    spot_rows_agreement a;
    spot_subject s;
    double start, whole;

    make_classes(&s, feature, confidence, target);
    start = spot_clock();
    CHECK_OK(&c, spot_rows_agree(&c, &a, &s));
    whole = spot_clock() - start;
    CHECK_NEAR(a.order, 1, 1e-12);
    assert_true(whole < (SANITIZED ? 120 : 20));
    c.stop = &stop;
    start = spot_clock();
    assert_int_equal(spot_rows_agree(&c, &a, &s), SPOT_STOPPED);
    assert_true(spot_clock() - start < whole / 3);
}
