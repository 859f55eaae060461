/* test_plain.c - the plain lists (random, confidence, confusion) by hand, the plain clusterings (kmeans, ward, mistakes)
 * against scikit-learn, and data that say nothing. ctest: threads, both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "check_bdm.h"
#include "golden_file.h"
#include "spotter/bdm.h"

typedef struct { int n, d; float *x, *confidence; } known;

static known read_known(FILE *f)
{
    known k;
    get(f, &k.n, sizeof k.n);
    get(f, &k.d, sizeof k.d);
    k.x = read_new(f, (size_t)k.n * (size_t)k.d * sizeof(float));
    k.confidence = read_new(f, (size_t)k.n * sizeof(float));
    return k;
}

/* The next answer of the file is what was found, in its order. */
static void check_answer(FILE *f, const spot_hypotheses *found, int top)
{
    int slices, rows;
    double score;
    get(f, &slices, sizeof slices);
    assert_int_equal(found->components, slices);
    assert_int_equal(found->len, slices < top ? slices : top);
    for (int k = 0; k < slices; k++) {
        get(f, &score, sizeof score);
        get(f, &rows, sizeof rows);
        int *row = read_new(f, (size_t)rows * sizeof *row);
        if (k < found->len) {
            assert_int_equal(found->h[k].len, rows);
            assert_memory_equal(found->h[k].row, row, (size_t)rows * sizeof *row);
            CHECK_NEAR(found->h[k].score, score, 1e-12 * (1 + score));
            CHECK_NEAR(found->h[k].mean_error, sqrt(score / rows), 1e-12);
        }
        free(row);
    }
}

TEST(clusterings_are_those_of_scikit_learn)
{
    static const struct { int method, clusters; } runs[] = { { SPOT_KMEANS, 8 }, { SPOT_WARD, 8 }, { SPOT_WARD, 20 },
                                                             { SPOT_MISTAKES, 7 } };
    FILE *f = fopen("golden/plain.bin", "rb");
    assert_non_null(f);
    known g = read_known(f);
    for (int q = 0; q < LEN(runs); q++) {
        bdm_bed b = bed_of(runs[q].method, 2, g.n, g.d, g.x, g.confidence);
        b.cfg.plain.clusters = runs[q].clusters;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        check_answer(f, &b.found, b.cfg.top);
        spot_arena_close(&b.a);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    free(g.x), free(g.confidence);
}

/* The longest rows count as much as the shortest: the direction decides. */
TEST(a_row_counts_by_its_direction)
{
    FILE *f = fopen("golden/plain.bin", "rb");
    assert_non_null(f);
    known g = read_known(f);
    fclose(f);
    for (int method = SPOT_KMEANS; method <= SPOT_MISTAKES; method++) {
        bdm_bed b = bed_of(method, 1, g.n, g.d, g.x, g.confidence);
        float *longer = malloc((size_t)g.n * (size_t)g.d * sizeof *longer);
        bdm_bed s = bed_of(method, 1, g.n, g.d, longer, g.confidence);
        for (int e = 0; e < g.n * g.d; e++) longer[e] = g.x[e] * (float)(1 << e / g.d % 5);
        b.cfg.plain.clusters = s.cfg.plain.clusters = 7;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        CHECK_OK(&s.c, find_in(&s, &s.cfg));
        check_same_hypotheses(&s.found, &b.found, 0);
        spot_arena_close(&b.a), spot_arena_close(&s.a);
        free(longer);
    }
    free(g.x), free(g.confidence);
}

enum { N = 12 };
static float at[2 * N], confidence[N];

static void check_rows(const spot_hypothesis *h, int len, const int *row)
{
    assert_int_equal(h->len, len);
    assert_memory_equal(h->row, row, (size_t)len * sizeof *row);
}

/* Errors 1 - i / 10 of rows 0 to 9, which are all wrong up to row 4; row 10 as row 2, row 11 is right. */
static void fall(void)
{
    for (int i = 0; i < N; i++) {
        confidence[i] = i == 10 ? 0.2f : i == 11 ? 0.97f : 0.1f * (float)i;
        at[2 * i] = (float)(i % 3), at[2 * i + 1] = 1;
    }
    confidence[5] = 0.5f;              /* exactly 1/2 is not wrong */
}

TEST(chunks_of_errors_by_confidence)
{
    bdm_bed b = bed_of(SPOT_CONFIDENCE, 1, N, 2, at, confidence);
    fall();
    b.cfg.plain.rows = 4;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, 2);
    check_rows(&b.found.h[0], 4, (int[]){ 0, 1, 2, 10 });
    check_rows(&b.found.h[1], 2, (int[]){ 3, 4 });
    CHECK_NEAR(b.found.h[0].score, (1 + 0.9 + 0.8 + 0.8) / 4, 1e-7);
    b.cfg.plain.rows = 3;
    b.cfg.top = 1;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, 1);
    check_rows(&b.found.h[0], 3, (int[]){ 0, 1, 2 });
    spot_arena_close(&b.a);
}

TEST(cells_of_the_confusion_matrix)
{
    uint8_t label[N];
    bdm_bed b = bed_of(SPOT_CONFUSION, 1, N, 2, at, confidence);
    fall();
    CHECK_OK(&b.c, find_in(&b, &b.cfg));               /* all are positive: the errors first */
    assert_int_equal(b.found.len, 2);
    check_rows(&b.found.h[0], 7, (int[]){ 0, 1, 2, 3, 4, 5, 10 });
    check_rows(&b.found.h[1], 5, (int[]){ 6, 7, 8, 9, 11 });
    b.view.label = label;
    for (int i = 0; i < N; i++) label[i] = i % 2;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_int_equal(b.found.len, 4);
    check_rows(&b.found.h[0], 4, (int[]){ 0, 2, 4, 10 });
    check_rows(&b.found.h[1], 2, (int[]){ 6, 8 });
    check_rows(&b.found.h[2], 3, (int[]){ 1, 3, 5 });
    check_rows(&b.found.h[3], 3, (int[]){ 7, 9, 11 });
    for (int i = 0; i < N; i++) label[i] = 0;
    b.cfg.top = 1;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 1 && b.found.components == 2 && b.found.h[0].len == 7);
    spot_arena_close(&b.a);
}

/* Every row in one hypothesis at most; best first. */
static void check_sane(const spot_hypotheses *found, int n)
{
    int *seen = calloc((size_t)n, sizeof *seen);
    for (int k = 0; k < found->len; k++) {
        const spot_hypothesis *h = &found->h[k];
        assert_true(h->len > 0 && isfinite(h->score) && isfinite(h->mean_error));
        assert_true(!k || h->score <= found->h[k - 1].score);
        for (int i = 0; i < h->len; i++) {
            assert_int_equal(seen[h->row[i]]++, 0);
            assert_true(!i || h->row[i] > h->row[i - 1]);
        }
    }
    free(seen);
}

/* Each row is drawn as often as any other: of 400 draws of 20 among 40 wrong rows, 200 +- 10. */
TEST(sets_at_random)
{
    enum { MANY = 80, DRAWS = 400 };
    float x[MANY] = { 0 }, sure[MANY];
    int drawn[MANY] = { 0 };
    bdm_bed b = bed_of(SPOT_RANDOM, 1, MANY, 1, x, sure);
    for (int i = 0; i < MANY; i++) sure[i] = i % 2 ? 0.9f : 0.1f;
    b.cfg.plain.rows = 4;
    b.cfg.top = 5;
    for (int draw = 0; draw < DRAWS; draw++) {
        first_ec = (uint32_t)draw;
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        assert_int_equal(b.found.len, 5);
        check_sane(&b.found, MANY);
        for (int k = 0; k < 5; k++) {
            assert_int_equal(b.found.h[k].len, 4);
            for (int i = 0; i < 4; i++) drawn[b.found.h[k].row[i]]++;
        }
    }
    for (int i = 0; i < MANY; i++) {
        if (i % 2) assert_int_equal(drawn[i], 0);
        else assert_in_range(drawn[i], 155, 245);
    }
    b.cfg.plain.among = SPOT_AMONG_ALL;
    b.cfg.plain.rows = 60;
    CHECK_OK(&b.c, find_in(&b, &b.cfg));
    assert_true(b.found.len == 2 && b.found.h[0].len + b.found.h[1].len == MANY);
    check_sane(&b.found, MANY);
    first_ec = 0;
    spot_arena_close(&b.a);
}

TEST(data_that_say_nothing)
{
    enum { MANY = 60 };
    float x[2 * MANY], sure[MANY];
    for (int method = SPOT_RANDOM; method <= SPOT_MISTAKES; method++)
        for (int kind = 0; kind < 8; kind++) {
            bdm_bed b = bed_of(method, 2, MANY, 2, x, sure);
            bool errors_alone = method == SPOT_RANDOM || method == SPOT_CONFIDENCE || method == SPOT_MISTAKES;
            for (int i = 0; i < MANY; i++) {
                sure[i] = kind == 0 ? 1 : kind == 1 ? 0 : (float)(i % 10) / 10;            /* no errors; only errors */
                x[2 * i] = kind == 2 ? 3 : kind == 3 ? 0 : (float)(i % 7) - 3;             /* one point; the origin */
                x[2 * i + 1] = kind == 2 ? 1 : kind == 3 ? 0 : 1 + (float)(i % 11);
            }
            b.view.n = b.points.n = kind == 4 ? 1 : kind == 5 ? 2 : kind == 6 ? 5 : MANY;
            if (kind == 7) b.cfg.top = SPOT_MAX_HYPOTHESES;
            CHECK_OK(&b.c, find_in(&b, &b.cfg));
            check_sane(&b.found, MANY);
            if (errors_alone && kind == 0) assert_true(!b.found.len && strstr(heard, "none of the 60 images fails"));
            else assert_true(b.found.len > 0);
            if (method == SPOT_WARD && kind == 7) assert_int_equal(b.found.len, 20);
            spot_arena_close(&b.a);
        }
}

TEST(bad_settings_get_a_sentence)
{
    bdm_bed b = bed_of(SPOT_WARD, 1, N, 2, at, confidence);
    spot_bdm_config bad;
    fall();
    bad = b.cfg, bad.plain.clusters = 0;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INVALID, "setting.value: ward.clusters | 0 | 1 | 512");
    bad = spot_bdm_defaults(SPOT_MISTAKES), bad.plain.clusters = 1;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INVALID, "setting.value: mistakes.clusters | 1 | 2 | 64");
    bad = spot_bdm_defaults(SPOT_RANDOM), bad.plain.among = 2;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INVALID, "setting.value: random.among | 2 | errors | all");
    bad = spot_bdm_defaults(SPOT_CONFIDENCE), bad.plain.rows = 0;
    CHECK_FAILS(&b.c, find_in(&b, &bad), SPOT_INVALID, "setting.value: confidence.rows | 0");
    spot_arena_close(&b.a);
}
