/* test_feature_blocks.c - features of several files, joined: their scale, new rows by the same scale, what does not fit. */
#define _GNU_SOURCE
#include "checks.h"
#include "check_folder.h"

#include <malloc.h>
#include <math.h>

#include "discover/subject/fits.h"
#include "spotter/array.h"

enum { ROWS = 40, FIRST = 2, SECOND = 3, WIDE = FIRST + SECOND };

typedef struct { spot_ctx c; float a[ROWS][FIRST], b[ROWS][SECOND]; char lines[400], y[200], p[200]; } arrays;

/* The allocator counts these bytes; under sanitizers they are 0. */
static size_t bytes_in_use(void)
{
    const struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

/* The second array has a thousand times the spread of the first. */
static void make(arrays *x)
{
    float y[ROWS], p[ROWS];
    char a[200], b[200];

    x->c = check_ctx(2);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FIRST; k++) x->a[i][k] = (float)((i * (7 + k)) % 11) / 10;
        for (int k = 0; k < SECOND; k++) x->b[i][k] = (float)(1000 * ((i * (5 + k)) % 13));
        y[i] = (float)(i % 2), p[i] = i % 3 ? 0.9f : 0.2f;
    }
    snprintf(a, sizeof a, "%s", in_root("a.npy"));
    snprintf(b, sizeof b, "%s", in_root("b.npy"));
    snprintf(x->y, sizeof x->y, "%s", in_root("y.npy"));
    snprintf(x->p, sizeof x->p, "%s", in_root("p.npy"));
    CHECK_OK(&x->c, spot_npy_write(&x->c, a, x->a[0], ROWS, FIRST));
    CHECK_OK(&x->c, spot_npy_write(&x->c, b, x->b[0], ROWS, SECOND));
    CHECK_OK(&x->c, spot_npy_write(&x->c, x->y, y, ROWS, 1));
    CHECK_OK(&x->c, spot_npy_write(&x->c, x->p, p, ROWS, 1));
    snprintf(x->lines, sizeof x->lines, "%s\n%s", a, b);
}

static double variance(const spot_subject *s, int first, int d)
{
    double sum = 0;

    for (int k = first; k < first + d; k++) {
        double mean = 0, squares = 0;
        for (int i = 0; i < s->n; i++) mean += (double)s->feature[i * s->d + k] / s->n;
        for (int i = 0; i < s->n; i++) squares += pow((double)s->feature[i * s->d + k] - mean, 2);
        sum += squares / s->n;
    }
    return sum;
}

TEST_IN_FOLDER(each_source_has_total_variance_1)
{
    arrays x;
    spot_subject s;

    make(&x);
    CHECK_OK(&x.c, spot_subject_read(&x.c, &s, &(spot_subject_files){ .embeddings = x.lines, .labels = x.y, .probs = x.p }));
    assert_true(s.d == WIDE && s.n == ROWS && s.blocks == 2 && s.block[0].d == FIRST && s.block[1].d == SECOND);
    assert_true(fabs(variance(&s, 0, FIRST) - 1) < 1e-5 && fabs(variance(&s, FIRST, SECOND) - 1) < 1e-5);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FIRST; k++) assert_true(s.feature[i * WIDE + k] == x.a[i][k] * s.block[0].scale);
        for (int k = 0; k < SECOND; k++) assert_true(s.feature[i * WIDE + FIRST + k] == x.b[i][k] * s.block[1].scale);
    }
    assert_int_equal(strncmp(s.encoder, "joined-", 7), 0);
    spot_subject_close(&s);
    *strchr(x.lines, '\n') = 0;
    CHECK_OK(&x.c, spot_subject_read(&x.c, &s, &(spot_subject_files){ .embeddings = x.lines, .labels = x.y, .probs = x.p }));
    assert_true(s.d == FIRST && s.blocks == 0 && !memcmp(s.feature, x.a, sizeof x.a) && !*s.encoder);
    spot_subject_close(&s);
}

TEST_IN_FOLDER(new_rows_have_the_scale_of_the_findings)
{
    static char *names[] = { "0", "1" };
    spot_known known = { .features = WIDE, .classes = 2, .class_name = names, .blocks = 2,
                         .block = { { FIRST, 2, "" }, { SECOND, 0.5f, "" } } };
    spot_subject_files files = { 0 };
    arrays x;
    spot_subject s;

    make(&x);
    files.embeddings = x.lines;
    CHECK_OK(&x.c, spot_rows_read(&x.c, &s, &files, &known));
    assert_true(s.feature[WIDE] == 2 * x.a[1][0] && s.feature[2 * WIDE - 1] == x.b[1][SECOND - 1] / 2);
    spot_subject_close(&s);
    known.block[0].d = SECOND, known.block[1].d = FIRST;
    CHECK_FAILS(&x.c, spot_rows_read(&x.c, &s, &files, &known), SPOT_INPUT, "blocks.width: 1 | 2 | 3");
    known.blocks = 1;
    CHECK_FAILS(&x.c, spot_rows_read(&x.c, &s, &files, &known), SPOT_INPUT, "blocks.number: 2 | 1");
    known.blocks = 0;                          /* one source, which has as many numbers as both of these */
    CHECK_FAILS(&x.c, spot_rows_read(&x.c, &s, &files, &known), SPOT_INPUT, "blocks.number: 2 | 1");
    *strchr(x.lines, '\n') = 0;
    known.features = FIRST;
    CHECK_OK(&x.c, spot_rows_read(&x.c, &s, &files, &known));
    assert_true(s.feature[1] == x.a[0][1]);
    spot_subject_close(&s);
    known.blocks = 2, known.features = WIDE;
    CHECK_FAILS(&x.c, spot_rows_read(&x.c, &s, &files, &known), SPOT_INPUT, "blocks.number: 1 | 2");
}

/* While two arrays are joined they and what is made of them are there; afterwards the joined features alone. */
TEST_IN_FOLDER(joined_features_are_within_the_memory)
{
    const size_t numbers = (size_t)ROWS * (2 * WIDE + 2) * sizeof(float);
    spot_subject_files files = { 0 };
    arrays x;
    spot_subject s;

    make(&x);
    files = (spot_subject_files){ .embeddings = x.lines, .labels = x.y, .probs = x.p, .memory = numbers };
    CHECK_OK(&x.c, spot_subject_read(&x.c, &s, &files));
    spot_subject_close(&s);
    files.memory = numbers - 1;
    CHECK_FAILS(&x.c, spot_subject_read(&x.c, &s, &files), SPOT_NOMEM, "arrays.memory");
}

TEST_IN_FOLDER(only_the_joined_features_are_kept)
{
    enum { MANY = 20000, WIDTH = 20, SOURCES = 4 };
    static float a[MANY][WIDTH], y[MANY], p[MANY];
    spot_ctx c = check_ctx(2);
    char lines[1000] = "", labels[200], probs[200];
    spot_subject s;

    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < WIDTH; k++) a[i][k] = (float)(i * (7 + k) % 101);
        y[i] = (float)(i % 2), p[i] = i % 3 ? 0.9f : 0.2f;
    }
    CHECK_OK(&c, spot_npy_write(&c, in_root("a.npy"), a[0], MANY, WIDTH));
    for (int k = 0; k < SOURCES; k++) strcat(lines, check_text("%s%s", k ? "\n" : "", in_root("a.npy")));
    snprintf(labels, sizeof labels, "%s", in_root("y.npy"));
    snprintf(probs, sizeof probs, "%s", in_root("p.npy"));
    CHECK_OK(&c, spot_npy_write(&c, labels, y, MANY, 1));
    CHECK_OK(&c, spot_npy_write(&c, probs, p, MANY, 1));
    const size_t before = bytes_in_use();
    CHECK_OK(&c, spot_subject_read(&c, &s, &(spot_subject_files){ .embeddings = lines, .labels = labels, .probs = probs }));
    assert_int_equal(s.d, SOURCES * WIDTH);
    assert_true(bytes_in_use() - before < 1.2 * sizeof a * SOURCES);
    spot_subject_close(&s);
}
