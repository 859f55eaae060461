/* test_result.c - host/result on a toy: one description of a row makes JSON, CSV, the tables and the page's columns. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/platform.h"
#include "checks.h"
#include "result/result.h"

typedef struct { const char *name; spot_interval share; } part_row;
typedef struct { int index; char identity[8]; } owner;

typedef struct {
    const char *model;
    const owner *of;
    int mode, count;
    uint64_t seed;
    double p, seconds, planted;
    float range;
    spot_interval accuracy, gap;
} toy_row;

typedef struct { toy_row *row; int rows; spot_words words; } toy;

static const spot_quantity part[] = {
    SPOT_QUANTITY("part", part_row, name), SPOT_QUANTITY("share", part_row, share), SPOT_QUANTITIES_END
};

static long count_parts(const void *row) { return ((const toy_row *)row)->count; }

/* The second part is left out. */
static bool get_part(void *out, const void *row, long i)
{
    static const char *const name[] = { "left", "gone", "right" };

    (void)row;
    *(part_row *)out = (part_row){ name[i], { 0.25 * (double)i, NAN, NAN } };
    return i != 1;
}

static void put_parts(spot_json *j, const void *row)
{
    spot_json_object(j, "parts");
    spot_json_put_int(j, "left", ((const toy_row *)row)->count);
    spot_json_end(j);
}

static void twice(spot_quantity_value *v, const void *row) { v->value = 2 * ((const toy_row *)row)->count; }

static const spot_quantity of_owner[] = {
    SPOT_QUANTITY("index", owner, index), SPOT_QUANTITY("identity", owner, identity), SPOT_QUANTITIES_END
};

static const spot_quantity row[] = {
    SPOT_QUANTITY("model", toy_row, model, .title = "model"),
    SPOT_BEHIND(NULL, toy_row, of, of_owner),
    SPOT_NAMED("mode", toy_row, mode, "fast", "exact"),
    SPOT_QUANTITY("seed", toy_row, seed),
    SPOT_QUANTITY("count", toy_row, count, .title = "count", .unit = SPOT_UNIT_COUNT),
    SPOT_COMPUTED("twice", SPOT_AS_INT, twice),
    SPOT_QUANTITY("accuracy", toy_row, accuracy, .title = "accuracy", .unit = SPOT_UNIT_SHARE,
                  .direction = SPOT_HIGHER_IS_BETTER, .about = "right answers"),
    SPOT_QUANTITY("gap", toy_row, gap, .title = "gap", .unit = SPOT_UNIT_POINTS, .direction = SPOT_LOWER_IS_BETTER,
                  .place = SPOT_SHOWN_WIDE),
    SPOT_QUANTITY("p", toy_row, p, .title = "p", .unit = SPOT_UNIT_P, .decimals = 2),
    SPOT_QUANTITY("range", toy_row, range),
    SPOT_QUANTITY("planted", toy_row, planted, .title = "planted", .optional = true),
    SPOT_WRITTEN(put_parts),
    SPOT_ROWS("list", SPOT_AS_LIST, part, part_row, count_parts, get_part),
    SPOT_QUANTITY("parts.left", toy_row, p, .title = "left | side", .place = SPOT_SHOWN_MORE),
    SPOT_QUANTITIES_END
};

static long count_rows(const void *root) { return ((const toy *)root)->rows; }

static bool get_row(void *out, const void *root, long i)
{
    *(toy_row *)out = ((const toy *)root)->row[i];
    return true;
}

static const spot_quantity rows = SPOT_ROWS("rows", SPOT_AS_LIST, row, toy_row, count_rows, get_row, .title = "Toys");

static const spot_quantity document[] = {
    SPOT_ROWS("rows", SPOT_AS_LIST, row, toy_row, count_rows, get_row), SPOT_QUANTITY("summary", toy, words),
    SPOT_QUANTITIES_END
};

static const owner owners[] = { { 7, "abc" }, { 8, "d" } };

static toy_row own[] = {
    { .model = "a, \"b\"", .of = &owners[0], .mode = 1, .count = 3, .seed = 18446744073709551ULL, .p = 0.125, .range = 0.5f,
      .planted = NAN, .accuracy = { 0.8125, 0.75, 0.875 }, .gap = { -0.0001, -0.02, 0.02 } },
    { .model = "c", .of = &owners[1], .mode = 0, .count = 0, .seed = 2, .p = NAN, .range = 2, .planted = NAN,
      .accuracy = { 1, NAN, NAN }, .gap = { NAN, NAN, NAN } },
};

static toy some = { own, 2, { 0 } };

static char *printed(void (*print)(FILE *f, const void *user), const void *user)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    print(f, user);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void print_as(FILE *f, const void *user) { spot_result_print(f, *(const spot_table_format *)user, &rows, &some); }

static void check_print(spot_table_format format, const char *want)
{
    char *text = printed(print_as, &format);

    assert_string_equal(text, want);
    free(text);
}

/* The rest of a document behind the members that all have. */
static void check_document(const char *text, const char *want)
{
    char head[256];

    snprintf(head, sizeof head, "{\"schema\":1,\"spotter\":\"%s\",\"numbers\":4,\"config\":\"key\",", spot_made_by());
    assert_memory_equal(text, head, strlen(head));
    assert_string_equal(text + strlen(head), want);
}

TEST(json_has_every_member_once)
{
    spot_ctx c = check_ctx(1);
    spot_text text = { 0 };

    spot_words_say(&some.words, "%d models \x01", 2);
    CHECK_OK(&c, spot_result_document(&c, &text, &(spot_result_head){ "key", 4 }, document, &some, NULL));
    spot_text_add(&text, "", 1);
    check_document(text.bytes,
        "\"rows\":[{\"model\":\"a, \\\"b\\\"\",\"index\":7,\"identity\":\"abc\","
        "\"mode\":\"exact\",\"seed\":18446744073709551,\"count\":3,\"twice\":6,"
        "\"accuracy\":{\"value\":0.8125,\"low\":0.75,\"high\":0.875},\"gap\":{\"value\":-0.0001,\"low\":-0.02,\"high\":0.02},"
        "\"p\":0.12,\"range\":0.5,\"parts\":{\"left\":3},"
        "\"list\":[{\"part\":\"left\",\"share\":{\"value\":0,\"low\":null,\"high\":null}},"
        "{\"part\":\"right\",\"share\":{\"value\":0.5,\"low\":null,\"high\":null}}]},"
        "{\"model\":\"c\",\"index\":8,\"identity\":\"d\",\"mode\":\"fast\",\"seed\":2,\"count\":0,\"twice\":0,"
        "\"accuracy\":{\"value\":1,\"low\":null,\"high\":null},\"gap\":{\"value\":null,\"low\":null,\"high\":null},"
        "\"p\":null,\"range\":2,\"parts\":{\"left\":0},\"list\":[]}],\"summary\":[\"2 models \\\\x01.\"]}");
    spot_text_free(&text);
    spot_words_free(&some.words);
}

/* A mean with its error and counts; a column of a level; a text with a number before it; columns of tables alone. */
typedef struct { spot_average mean; double level[2]; } mean_row;

static const mean_row means[] = {
    { { 0.5, 0.25, 3, 1 }, { 1, 2 } }, { { NAN, NAN, 0, 4 }, { 3, 4 } }, { { 1, NAN, 1, 0 }, { 5, 6 } },
};

static void mean_name(spot_quantity_value *v, const void *of)
{
    v->value = 3;
    v->text = ((const mean_row *)of)->mean.n ? "a" : "b";
}

static void long_name(spot_quantity_value *v, const void *of)
{
    (void)of;
    v->text = "a text of more than forty characters is whole";
}

static void level_of(spot_quantity_value *v, const void *of, int index) { v->value = ((const mean_row *)of)->level[index]; }
static void nothing(spot_quantity_value *v, const void *of) { (void)v, (void)of; }

static const spot_quantity mean[] = {
    SPOT_COMPUTED("name", SPOT_AS_TEXT, mean_name, .title = "method"), SPOT_QUANTITY("mean", mean_row, mean, .title = "mean"),
    { .name = "level", .type = SPOT_AS_REAL, .get_at = level_of, .index = 1, .title = "level", .beside = true },
    { .type = SPOT_AS_TEXT, .get = mean_name, .title = "in tables", .right = true },
    SPOT_COMPUTED("none", SPOT_AS_REAL, nothing, .title = "none"),
    SPOT_QUANTITIES_END
};

static long count_means(const void *root) { return (void)root, LEN(means); }

static bool get_mean(void *out, const void *root, long i)
{
    (void)root;
    *(mean_row *)out = means[i];
    return true;
}

static const spot_quantity mean_list = SPOT_ROWS("rows", SPOT_AS_LIST, mean, mean_row, count_means, get_mean, .title = "Means",
                                                 .keep = true);

static void print_means(FILE *f, const void *user)
{
    spot_result_print(f, *(const spot_table_format *)user, &mean_list, NULL);
}

TEST(averages_have_their_error_and_counts)
{
    static const char *const want[] = {
        [SPOT_TABLE_TEXT] = "\nMeans\n\nmethod           mean  level  in tables  none\n"
                            "3 a     0.500 (0.250)  2.000        3 a     -\n"
                            "3 b                 -  4.000        3 b     -\n3 a         1.000 (-)  6.000        3 a     -\n",
        [SPOT_TABLE_CSV] = "name,mean,level,none\na,0.5,2,\nb,,4,\na,1,6,\n",
    };
    spot_ctx c = check_ctx(1);
    spot_text text = { 0 };
    char *got;

    for (spot_table_format format = 0; format < LEN(want); format++) {
        if (!want[format]) continue;
        got = printed(print_means, &format);
        assert_string_equal(got, want[format]);
        free(got);
    }
    CHECK_OK(&c, spot_result_document(&c, &text, &(spot_result_head){ "key", 4 }, mean, &means[0], NULL));
    spot_text_add(&text, "", 1);
    check_document(text.bytes, "\"name\":\"a\",\"mean\":{\"mean\":0.5,\"se\":0.25,\"n\":3,\"left_out\":1},"
                   "\"level\":2,\"none\":null}");
    spot_text_free(&text);
}

static void print_wide(FILE *f, const void *user)
{
    const spot_wide_list *w = user;

    spot_result_print(f, SPOT_TABLE_TEXT, &w->list, NULL);
}

/* Columns that come with the data; words for a value that is not there; a whole number in a double; a long text that stays. */
TEST(a_wide_list_has_further_columns)
{
    static const char text[] = "a text of more than forty characters is whole";
    const spot_quantity one[] = {
        SPOT_QUANTITY("mean", mean_row, mean.mean, .title = "mean", .missing = "not run"), SPOT_QUANTITIES_END
    };
    const spot_quantity list = SPOT_ROWS(NULL, SPOT_AS_LIST, one, mean_row, count_means, get_mean);
    spot_quantity_value v = SPOT_NO_VALUE;
    spot_wide_list w;
    char *got;

    spot_wide_begin(&w, &list, "Wide");
    for (int k = 0; k < 2; k++) spot_wide_add(&w, level_of, k, "level %d", k);
    spot_wide_add(&w, level_of, 1, "%s", "whole")->unit = SPOT_UNIT_COUNT;
    got = printed(print_wide, &w);
    assert_string_equal(got, "\nWide\n\nmean     level 0  level 1  whole\n0.500      1.000    2.000      2\n"
                        "not run    3.000    4.000      4\n1.000      5.000    6.000      6\n");
    free(got);
    for (int k = 0; k < 2 * SPOT_COLUMNS; k++) spot_wide_add(&w, level_of, 0, "%d", k);        /* beyond its room */
    assert_true(w.columns == SPOT_COLUMNS && w.column[SPOT_COLUMNS].type == SPOT_AS_NOTHING);
    spot_quantity_whole(&v, &means[1], offsetof(mean_row, level));
    assert_true(v.value == 3);
    assert_true(spot_quantity_find(mean, "in tables") == &mean[3] && !spot_quantity_find(mean, "nobody"));
    w.column[0] = (spot_quantity){ .type = SPOT_AS_TEXT, .get = long_name, .title = "text", .whole = true };
    w.column[2] = (spot_quantity)SPOT_QUANTITIES_END;
    got = printed(print_wide, &w);
    if (!strstr(got, text)) fail_msg("not whole: %s", got);
    free(got);
}

static void print_share(FILE *f, const void *of) { fprintf(f, "  %g values\n", (double)((const mean_row *)of)->mean.n); }

/* A table without a title: the first column at the right, a format with its unit, lines below rows, a narrow page. */
TEST(a_table_has_formats_and_lines_below_rows)
{
    static const spot_quantity columns[] = {
        { .type = SPOT_AS_INT, .get_at = level_of, .index = 0, .title = "#", .unit = SPOT_UNIT_COUNT, .right = true },
        { .type = SPOT_AS_REAL, .get_at = level_of, .index = 1, .title = "excess", .unit = SPOT_UNIT_SHARE,
          .format = "%+.0f %%" },
        { .type = SPOT_AS_TEXT, .get = mean_name, .title = "a text at the end", .right = true },
        SPOT_QUANTITIES_END
    };
    spot_quantity list = mean_list;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    list.rows = columns, list.title = NULL, list.page = 14, list.below = print_share;
    spot_result_print(f, SPOT_TABLE_TEXT, &list, NULL);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(text, "#  excess\n1  +200 %\n  3 values\n3  +400 %\n  0 values\n5  +600 %\n  1 values\n"
                        "\n#  a text at the end\n1                3 a\n3                3 b\n5                3 a\n");
    free(text);
}

TEST(a_direction_is_found_by_name_or_title)
{
    assert_int_equal(spot_quantity_sign(row, "gap"), -1);
    assert_int_equal(spot_quantity_sign(row, "accuracy"), 1);
    assert_int_equal(spot_quantity_sign(row, "range"), 0);
    assert_int_equal(spot_quantity_sign(row, "no such column"), 0);
}

TEST(csv_has_a_column_a_number)
{
    check_print(SPOT_TABLE_CSV, "model,index,identity,mode,seed,count,twice,accuracy,accuracy_low,accuracy_high,gap,gap_low,"
                "gap_high,p,range,planted,parts.left\n"
                "\"a, \"\"b\"\"\",7,abc,exact,18446744073709551,3,6,0.8125,0.75,0.875,-0.0001,-0.02,0.02,0.12,0.5,,0.125\n"
                "c,8,d,fast,2,0,0,1,,,,,,,2,,\n");
}

/* The terminal leaves out what is wide; both leave out what no row has. */
TEST(tables_have_the_columns_with_a_title)
{
    check_print(SPOT_TABLE_TEXT, "\nToys\n\n"
                "model   count             accuracy      p\n"
                "a, \"b\"      3  81.2 % [75.0, 87.5]  0.125\n"
                "c           0              100.0 %      -\n");
    check_print(SPOT_TABLE_MD, "\n## Toys\n\n"
                "| model  | count |            accuracy |               gap |     p | left \\| side |\n"
                "|:---|---:|---:|---:|---:|---:|\n"
                "| a, \"b\" |     3 | 81.2 % [75.0, 87.5] | 0.0 % [-2.0, 2.0] | 0.125 |        0.125 |\n"
                "| c      |     0 |             100.0 % |                 - |     - |            - |\n");
}

static void print_few(FILE *f, const void *user) { spot_result_print_rows(f, &rows, user); }

TEST(few_rows_have_a_line_a_number)
{
    char *text = printed(print_few, &some);

    assert_string_equal(text, "a, \"b\"\n  count        3\n  accuracy     81.2 % [75.0, 87.5]  right answers\n"
                        "  gap          0.0 % [-2.0, 2.0]\n  p            0.125\n  left | side  0.125\n"
                        "c\n  count        0\n  accuracy     100.0 %              right answers\n");
    free(text);
}

TEST(the_page_knows_title_unit_and_direction)
{
    spot_ctx c = check_ctx(1);
    spot_json j;

    CHECK_OK(&c, spot_json_begin(&c, &j, NULL));
    spot_json_object(&j, NULL);
    spot_quantities_describe(&j, "columns", &rows);
    spot_json_end(&j);
    CHECK_OK(&c, spot_json_whole(&c, &j, "columns"));
    spot_text_add(&j.out, "", 1);
    assert_non_null(strstr(j.out.bytes, "{\"name\":\"accuracy\",\"title\":\"accuracy\",\"about\":\"right answers\","
                           "\"unit\":\"share\",\"direction\":\"higher is better\"}"));
    assert_non_null(strstr(j.out.bytes, "{\"name\":\"model\",\"title\":\"model\",\"about\":null,\"unit\":\"text\""));
    assert_null(strstr(j.out.bytes, "\"seed\""));
    spot_json_free(&j);
}

TEST(a_change_is_judged_by_the_direction)
{
    const spot_quantity up = { .direction = SPOT_HIGHER_IS_BETTER }, down = { .direction = SPOT_LOWER_IS_BETTER },
                        shown = { .direction = SPOT_ONLY_SHOWN };

    assert_int_equal(spot_quantity_change(&up, 1, 2), 1);
    assert_int_equal(spot_quantity_change(&up, 2, 1), -1);
    assert_int_equal(spot_quantity_change(&down, 1, 2), -1);
    assert_int_equal(spot_quantity_change(&down, 2, 1), 1);
    assert_int_equal(spot_quantity_change(&up, 1, 1), 0);
    assert_int_equal(spot_quantity_change(&up, NAN, 1), 0);
    assert_int_equal(spot_quantity_change(&shown, 1, 2), 0);
}

TEST(words_enumerate_and_end)
{
    static const char *const name[] = { "a", "b", "c", "d", "e" };
    spot_words w = { 0 };

    for (int n = 1; n <= 5; n++) {
        for (int i = 0; spot_words_next(&w, i, n, 3); i++) spot_words_add(&w, "%s", name[i]);
        spot_words_end(&w, ".");
    }
    assert_int_equal(w.status, SPOT_OK);
    assert_int_equal(w.n, 5);
    assert_string_equal(w.sentence[0], "a.");
    assert_string_equal(w.sentence[1], "a and b.");
    assert_string_equal(w.sentence[2], "a, b and c.");
    assert_string_equal(w.sentence[3], "a, b, c and 1 more.");
    assert_string_equal(w.sentence[4], "a, b, c and 2 more.");
    spot_words_free(&w);
}

TEST(a_file_with_the_same_bytes_is_not_written)
{
    char path[] = "/tmp/result_XXXXXX";
    spot_ctx c = check_ctx(1);
    spot_text text = { 0 };
    const int file = mkstemp(path);

    assert_true(file >= 0);
    close(file);
    spot_text_adds(&text, "numbers\n");
    CHECK_OK(&c, spot_result_write(&c, path, &text));
    assert_int_equal(chmod(path, 0444), 0);
    CHECK_OK(&c, spot_result_write(&c, path, &text));
    unlink(path);
    spot_text_free(&text);
}
