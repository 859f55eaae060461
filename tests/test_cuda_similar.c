/* test_cuda_similar.c - similarities by products on CUDA against the CPU: the op, the words that are found with it, and a
 * library that proposes no algorithm of the kinds that are asked for. */
#define _GNU_SOURCE   /* setenv */
#include <math.h>

#include "check_cuda.h"

#include "discover/search/vote.h"
#include "net/linear.h"
#include "net/similar.h"
#include "noise.h"
#include "shifts/shift_encoding.h"
#include "shifts/shifts_config.h"
#include "spotter/describe.h"

enum { ROWS = 70, D = 33, TABLE = 45, GROUPS = 3, ROUNDS = 5, LONGEST = 20 };

typedef struct {
    float *a, *t;                      /* (ROWS, D), (TABLE, D) */
    int cls[ROWS], order[ROUNDS * LONGEST];
    float dots[ROWS * TABLE], best[ROWS], column[ROWS * 3], sums[ROUNDS * GROUPS * D];
} values;

static const spot_similar_column columns[] = { { 5, 10, true }, { 3, 1, false }, { 0, TABLE, false } };
static const spot_similar_group groups[] = { { 1, 0, 0 }, { 2, 7, 1.0 / 7 }, { 0, LONGEST, -1.0 / 50 } };

static void open_values(values *v)
{
    *v = (values){ .a = normals(ROWS * D, 1, 1), .t = normals(TABLE * D, 1, 2) };
    for (int i = 0; i < ROWS; i++) v->cls[i] = i * 7 % 10;
    for (int i = 0; i < ROUNDS * LONGEST; i++) v->order[i] = i * 13 % ROWS;
}

static void close_values(values *v) { free(v->a), free(v->t); }

static void compute(spot_ctx *c, values *v)
{
    float *a = to_device(c, v->a, ROWS * D * sizeof *a), *y = to_device(c, NULL, sizeof v->dots);
    int *cls = to_device(c, v->cls, sizeof v->cls), *order = to_device(c, v->order, sizeof v->order);
    spot_similar_group *group = to_device(c, groups, sizeof groups);
    spot_similar_sums_problem p = { ROWS, D, GROUPS, ROUNDS, LONGEST, a, order, group, y };
    spot_similar *table;

    CHECK_OK(c, spot_similar_open(c, &table, v->t, TABLE, D));
    CHECK_OK(c, spot_similar_dots(c, table, y, a, ROWS));
    CHECK_OK(c, spot_device_copy(c, v->dots, y, sizeof v->dots));
    CHECK_OK(c, spot_similar_best(c, table, y, a, ROWS));
    CHECK_OK(c, spot_device_copy(c, v->best, y, sizeof v->best));
    CHECK_OK(c, spot_similar_columns(c, table, y, &(spot_similar_rows){ a, ROWS, cls, columns, LEN(columns) }));
    CHECK_OK(c, spot_device_copy(c, v->column, y, sizeof v->column));
    CHECK_OK(c, spot_similar_sums(c, &p));
    CHECK_OK(c, spot_device_copy(c, v->sums, y, sizeof v->sums));
    spot_similar_close(c, table);
    spot_device_give(c, a), spot_device_give(c, y), spot_device_give(c, cls), spot_device_give(c, order);
    spot_device_give(c, group);
}

static void near_all(const float *got, const float *want, int n, double off, const char *what)
{
    for (int i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= off)) fail_msg("%s %d is %.9g, not %.9g", what, i, got[i], want[i]);
}

TEST(similarities_are_those_of_the_cpu)
{
    static values want, got, first;
    spot_ctx cpu = check_ctx(2), c;

    open_values(&want), open_values(&got);
    compute(&cpu, &want);
    for (int s = 0; s < LEN(schedules); s = schedule_after(s, 1)) {
        open_cuda(&c, s);
        compute(&c, &got);
        spot_device_close(&c);
        near_all(got.dots, want.dots, LEN(want.dots), 1e-4, "dot");            /* 2e-6 times lengths of about 6 each */
        near_all(got.best, want.best, LEN(want.best), 1e-4, "best");
        near_all(got.column, want.column, LEN(want.column), 2e-6, "cosine");
        assert_memory_equal(got.sums, want.sums, sizeof want.sums);
        if (!s) first = got;
        assert_memory_equal(got.dots, first.dots, sizeof got.dots);
        assert_memory_equal(got.column, first.column, sizeof got.column);
    }
    close_values(&want), close_values(&got);
}

/* A row without a direction is NaN in each of its columns, and a caption without one in the column of the greatest. */
TEST(rows_without_a_direction_are_nan)
{
    static values v;
    spot_ctx c;

    open_values(&v);
    memset(v.a + 4 * D, 0, D * sizeof *v.a);
    memset(v.t + 40 * D, 0, D * sizeof *v.t);
    open_cuda(&c, 0);
    compute(&c, &v);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < LEN(columns); k++) assert_true(isnan(v.column[i * LEN(columns) + k]) == (i == 4 || k == 2));
    spot_device_close(&c);
    close_values(&v);
}

TEST(arrays_on_the_host_are_refused)
{
    static values v;
    spot_similar *table;
    spot_ctx c;

    open_values(&v);
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_similar_open(&c, &table, v.t, TABLE, D));
    assert_int_equal(spot_similar_best(&c, table, v.best, v.a, ROWS), SPOT_UNSUPPORTED);
    assert_non_null(strstr(spot_take_message(&c, SPOT_UNSUPPORTED), "similar.best: y: in host memory"));
    spot_similar_close(&c, table);
    spot_device_close(&c);
    close_values(&v);
}

/* -- votes -------------------------------------------------------------------------------------------------------------- */

/* Rows that are equal, and rows by number: neighbours and their order are the CPU's. */
TEST(neighbours_are_those_of_the_cpu)
{
    enum { K = 7, SOME = 40 };
    int row[SOME], want[ROWS * K], got[ROWS * K];
    spot_ctx cpu = check_ctx(2), c;
    static values v;
    spot_arena a;

    open_values(&v);
    for (int i = 0; i < SOME; i++) row[i] = ROWS - 1 - i;
    memcpy(v.a + 11 * D, v.a + 50 * D, D * sizeof *v.a);
    memcpy(v.a + 12 * D, v.a + 50 * D, D * sizeof *v.a);
    CHECK_OK(&cpu, spot_arena_open(&cpu, &a, 16 << 20));
    open_cuda(&c, 1);
    for (int by = 0; by < 2; by++) {
        const spot_some_rows x = { v.a, by ? row : NULL, by ? SOME : ROWS }, y = { v.a, by ? NULL : row, by ? ROWS : SOME };
        CHECK_OK(&cpu, spot_nearest_rows(&cpu, &a, want, x, y, D, K));
        CHECK_OK(&c, spot_nearest_rows(&c, &a, got, x, y, D, K));
        assert_memory_equal(got, want, (size_t)x.n * K * sizeof *got);
    }
    spot_device_close(&c);
    spot_arena_close(&a);
    close_values(&v);
}

/* A tile of distances has at most 1 GB and 256 rows, and else whole blocks of 64, since a part of a block takes as long. The
 * arrays on the host have a tile's rows. */
TEST(tiles_of_distances_are_whole_blocks)
{
    static const int others[] = { 1000, 500000, 1 << 20, 1100000, 3000000, 5000000 }, rows[] = { 256, 256, 256, 192, 64, 53 };
    spot_ctx c;

    open_cuda(&c, 0);
    for (int i = 0; i < LEN(others); i++) {
        spot_arena size = spot_arena_counting();
        const spot_some_rows x = { NULL, NULL, 1000 }, y = { NULL, NULL, others[i] };
        CHECK_OK(&c, spot_nearest_rows(&c, &size, NULL, x, y, 64, 64));
        assert_int_equal(size.peak / (3 * 64 * sizeof(float)), rows[i]);
    }
    spot_device_close(&c);
}

/* -- captions and pictures of a study ------------------------------------------------------------------------------------ */

enum { CLASSES = 4 };

/* Similarities of ROWS pictures to the captions of a study with two shifts, whose embeddings come from files. */
static float *similarities(spot_ctx *c, const values *v, int *width)
{
    static const char text[] = "data: {root: x}\nshifts: [{name: fog}, {name: night}]\n"
                               "encoder: {embeddings: e, label: theirs}\n";
    char *name[CLASSES] = { "cat", "dog", "red fox", "owl" }, caption[5 * CLASSES][SPOT_CAPTION], *id[5 * CLASSES];
    spot_shifts_config *cfg = malloc(sizeof *cfg);
    spot_shift_classes classes = { .n = CLASSES, .name = name };
    spot_shift_column column[SPOT_SHIFT_COLUMNS];
    spot_shift_pictures p = { .list.n = ROWS, .hash = "h" };
    int captions = 0, cls[ROWS];
    float *out;

    CHECK_OK(c, spot_shifts_parse(c, cfg, text, strlen(text), "a.yaml"));
    for (int s = SPOT_BASE_PICTURES; s < cfg->shifts; s++) {
        for (int k = 0; k < CLASSES; k++) spot_class_caption(caption[captions++], cfg, s, name[k]);
        if (s >= 0) spot_shift_caption(caption[captions++], cfg, s);
    }
    for (int i = 0; i < captions; i++) id[i] = caption[i];
    for (int i = 0; i < ROWS; i++) cls[i] = i % CLASSES;
    p.cls = cls;
    *width = spot_shift_columns(column, cfg, (spot_shift_unit){ .shift = SPOT_REAL_PICTURES });
    spot_shift_encoding e = { .cfg = cfg, .classes = &classes, .name = "theirs", .dim = D, .caption = v->t,
                              .caption_id = { .type = SPOT_WORDS, .data = id, .count = (size_t)captions, .name = "captions" } };
    assert_true(captions <= TABLE);
    CHECK_OK(c, spot_shift_similarities(c, &e, &out, &p, v->a, column, *width));
    spot_memory_close(&cfg->memory);
    free(cfg);
    return out;
}

TEST(pictures_are_compared_with_captions_on_the_device)
{
    spot_ctx cpu = check_ctx(2), c;
    static values v;
    float *want, *got;
    int width;

    open_values(&v);
    want = similarities(&cpu, &v, &width);
    open_cuda(&c, 1);
    got = similarities(&c, &v, &width);
    spot_device_close(&c);
    near_all(got, want, ROWS * width, 2e-6, "similarity");
    free(want), free(got);
    close_values(&v);
}

/* -- words -------------------------------------------------------------------------------------------------------------- */

enum { KEPT = 3 };

static void find(spot_ctx *c, spot_word *word, int *kept, const values *v)
{
    static const int few[] = { 0, 9, 18, 27, 36, 45 }, most[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                                                                   19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
                                                                   34, 35, 36, 37, 38, 39, 40 };
    static const spot_group group[GROUPS] = { { few, LEN(few) }, { NULL, 0 }, { most, LEN(most) } };
    char *phrase[TABLE], text[TABLE][8];
    spot_words_problem p = { .n = ROWS, .d = D, .feature = v->a, .phrases = TABLE, .text = v->t, .phrase = phrase,
                             .groups = GROUPS, .group = group, .most = KEPT, .rounds = 99, .seed = { 5, 2 } };

    for (int i = 0; i < TABLE; i++) snprintf(phrase[i] = text[i], sizeof text[i], "p%d", i);
    CHECK_OK(c, spot_words_find(c, word, kept, &p));
}

TEST(words_are_those_of_the_cpu)
{
    spot_word want[GROUPS * KEPT], got[GROUPS * KEPT];
    int kept[GROUPS], again[GROUPS];
    spot_ctx cpu = check_ctx(2), c;
    static values v;

    open_values(&v);
    find(&cpu, want, kept, &v);
    open_cuda(&c, 1);
    find(&c, got, again, &v);
    spot_device_close(&c);
    assert_memory_equal(kept, again, sizeof kept);
    for (int e = 0; e < LEN(want); e++) {
        if (e % KEPT >= kept[e / KEPT]) continue;
        assert_true(got[e].score == want[e].score);
        assert_true(fabs(got[e].auc - want[e].auc) < 1e-3 && fabs(got[e].p - want[e].p) < 0.025);
    }
    close_values(&v);
}

/* -- a library that proposes no algorithm of the kinds that are asked for ------------------------------------------------- */

static spot_status multiply_by(spot_ctx *c, const char *library, spot_precision precision, bool narrow)
{
    const spot_linear_shape s = { .in = 40, .out = 24, .bias = true, .narrow = narrow, .precision = precision };
    spot_linear *plan;
    spot_status e;

    setenv("SPOT_EMULATOR_CUBLAS", library, 1);
    e = spot_linear_open(c, &plan, &s);
    spot_linear_close(c, plan);
    unsetenv("SPOT_EMULATOR_CUBLAS");
    return e;
}

TEST(an_algorithm_of_an_unknown_kind_is_tried_first)
{
    static const spot_precision each[] = { SPOT_FP32, SPOT_TF32, SPOT_BF16 };
    spot_ctx c;

    if (!getenv("SPOT_EMULATOR")) return;
    open_cuda(&c, 0);
    for (int i = 0; i < LEN(each); i++) CHECK_OK(&c, multiply_by(&c, "unknown", each[i], false));
    CHECK_OK(&c, multiply_by(&c, "unknown", SPOT_BF16, true));
    CHECK_FAILS(&c, multiply_by(&c, "coarse", SPOT_FP32, false), SPOT_UNSUPPORTED,
                "linear.no_algorithm: 40 -> 24 | as precise");
    CHECK_OK(&c, multiply_by(&c, "coarse", SPOT_BF16, false));
    CHECK_FAILS(&c, multiply_by(&c, "wavers", SPOT_FP32, false), SPOT_UNSUPPORTED, "linear.no_algorithm: same bits");
    CHECK_FAILS(&c, multiply_by(&c, "wavers", SPOT_BF16, true), SPOT_UNSUPPORTED, "linear.no_algorithm: as precise");
    CHECK_FAILS(&c, multiply_by(&c, "nothing", SPOT_BF16, false), SPOT_UNSUPPORTED, "linear.no_algorithm: 40 -> 24 | bf16");
    spot_device_close(&c);
}

int main(void) { return run_cuda_tests(); }
