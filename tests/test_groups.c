/* test_groups.c - groups of rows as they are read: equal cells, missing ones, rows that are left out, what is refused. The
 * numbers that are expected are written out by hand. */
#define _GNU_SOURCE
#include <math.h>

#include "checks.h"
#include "check_folder.h"
#include "heard.h"

#include "discover/search/discover_config.h"
#include "spotter/array.h"
#include "spotter/subject.h"

enum { ROWS = 6 };

static const char table[] =
    "y,p,word,padded,number,some,one,own,g0,g1,e0,e1,hole\n"
    "a,.9,x,01,3,7,v,0,1,2,0,1,\n"
    "a,.2,y,1,-1,,v,1,1,2,2,3,1\n"
    "b,.8,x,1,3,7,v,2,1,2,4,5,1\n"
    "b,.3,z,01,9007199254740993,NA,v,3,1,2,6,7,1\n"
    "a,.7,y,001,9007199254740992,8,v,4,1,2,8,9,1\n"
    "b,.6,x,1,-1,8,v,5,1,2,1,2,1\n";

/* A column of the table; one buffer an argument. */
static const char *column(const char *name, int slot)
{
    static char where[4][300];

    snprintf(where[slot], sizeof where[slot], "%s:%s", in_root("t.csv"), name);
    return where[slot];
}

static spot_status read_groups(spot_ctx *c, spot_subject *s, const char *groups, const char *features)
{
    const spot_subject_files files = { .embeddings = column(features, 0), .labels = column("y", 1), .probs = column("p", 2),
                                       .skip_bad = !strcmp(features, "hole,e1"),
                                       .groups = groups && strcmp(groups, SPOT_GROUPS_ROWS) ? column(groups, 3) : groups };

    put_text("t.csv", table);
    c->on_log = hear;
    *heard = *murmured = 0;
    return spot_subject_read(c, s, &files);
}

TEST_IN_FOLDER(equal_cells_are_a_group)
{
    static const struct { const char *column; int group[ROWS], groups; const char *name[ROWS], *said, *warned; } list[] = {
        { "word", { 0, 1, 0, 2, 1, 0 }, 3, { "x", "y", "z" }, "6 rows are in 3 groups, the largest, x, has 3 rows", "" },
        { "padded", { 0, 1, 1, 0, 2, 1 }, 3, { "01", "1", "001" }, "6 rows are in 3 groups, the largest, 1, has 3 rows", "" },
        { "number", { 0, 1, 0, 2, 3, 1 }, 4, { "3", "-1", "9007199254740993", "9007199254740992" }, "in 4 groups", "" },
        { "some", { 0, 1, 0, 2, 3, 3 }, 4, { "7", "", "", "8" }, "in 4 groups",
          "2 rows have no group; each is a group of its own" },
        { "own", { 0, 1, 2, 3, 4, 5 }, 6, { "0", "1", "2", "3", "4", "5" }, "each of 6 rows is a group of its own", "" },
        { "y", { 0, 0, 1, 1, 0, 1 }, 2, { "a", "b" }, "in 2 groups", "all rows of the classes \"a\", \"b\" lie in one group" },
    };
    spot_ctx c = check_ctx(1);
    spot_subject s;

    for (int i = 0; i < LEN(list); i++) {
        CHECK_OK(&c, read_groups(&c, &s, list[i].column, "e0,e1"));
        assert_int_equal(s.groups, list[i].groups);
        assert_memory_equal(s.group, list[i].group, sizeof list[i].group);
        for (int g = 0; g < s.groups; g++) assert_string_equal(s.group_name[g], list[i].name[g]);
        assert_non_null(strstr(murmured, list[i].said));
        assert_non_null(strstr(heard, list[i].warned));
        assert_true(*list[i].warned || !*heard);
        assert_int_equal(spot_subject_is_grouped(&s), s.groups < ROWS);
        spot_subject_close(&s);
    }
}

/* The first row is left out: the others keep their groups, which count from 0 again. */
TEST_IN_FOLDER(groups_stay_beside_their_rows)
{
    static const int group[] = { 0, 1, 2, 0, 1 };
    static const char *const name[] = { "y", "x", "z" };
    spot_ctx c = check_ctx(1);
    spot_subject s;

    CHECK_OK(&c, read_groups(&c, &s, "word", "hole,e1"));
    assert_int_equal(s.n, LEN(group));
    assert_int_equal(s.groups, LEN(name));
    assert_memory_equal(s.group, group, sizeof group);
    for (int g = 0; g < s.groups; g++) assert_string_equal(s.group_name[g], name[g]);
    assert_non_null(strstr(murmured, "5 rows are in 3 groups"));
    spot_subject_close(&s);
}

TEST_IN_FOLDER(rows_may_be_told_to_be_alone)
{
    spot_ctx c = check_ctx(1);
    spot_subject s;

    CHECK_OK(&c, read_groups(&c, &s, NULL, "e0,e1"));
    assert_null(s.group);
    assert_int_equal(s.groups, 0);
    spot_subject_close(&s);
    CHECK_OK(&c, read_groups(&c, &s, SPOT_GROUPS_ROWS, "e0,e1"));
    assert_int_equal(s.groups, ROWS);
    for (int i = 0; i < ROWS; i++) assert_int_equal(s.group[i], i);
    assert_null(s.group_name);
    assert_false(spot_subject_is_grouped(&s));
    assert_null(strstr(murmured, "group"));
    spot_subject_close(&s);
}

TEST_IN_FOLDER(groups_that_do_not_fit_are_told)
{
    spot_ctx c = check_ctx(1);
    spot_subject s;
    spot_subject_files files;

    CHECK_FAILS(&c, read_groups(&c, &s, "one", "e0,e1"), SPOT_INPUT, "groups.one: t.csv:one | 6 rows");
    CHECK_FAILS(&c, read_groups(&c, &s, "g0,g1", "e0,e1"), SPOT_INPUT, "subject.dimensions: 2 | (rows)");
    CHECK_FAILS(&c, read_groups(&c, &s, "none", "e0,e1"), SPOT_INPUT, "table.no_column: \"none\"");
    put_text("few.csv", "g\nx\ny\nx\n");
    files = (spot_subject_files){ .embeddings = column("e0,e1", 0), .labels = column("y", 1), .probs = column("p", 2),
                                  .groups = in_root("few.csv") };
    CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_INPUT, "subject.rows: few.csv | 3 | 6");
    files = (spot_subject_files){ .images = root, .model = "m.safetensors", .groups = in_root("few.csv") };
    CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_INPUT, "groups.no_labels: few.csv");
}

/* Numbers and words of the caller; and findings of other groups are other findings, those of groups of one row are not. */
TEST_IN_FOLDER(groups_of_the_caller)
{
    double number[ROWS] = { 1.5, 1.5, NAN, NAN, 2, 2 };
    static const int group[ROWS] = { 0, 0, 1, 2, 3, 3 };
    char *word[ROWS] = { "u", "u", "None", "v", "v", "v" }, hash[3][33];
    spot_array lent[2] = { { .type = SPOT_F64, .rank = 1, .dim = { ROWS }, .count = ROWS, .data = number, .name = "numbers" },
                           { .type = SPOT_WORDS, .rank = 1, .dim = { ROWS }, .count = ROWS, .data = word, .name = "words" } };
    spot_discover_config cfg = { 0 };
    spot_ctx c = check_ctx(1);
    spot_subject s;
    spot_subject_files files = { .embeddings = column("e0,e1", 0), .labels = column("y", 1), .probs = column("p", 2),
                                 .array = lent, .arrays = 2 };

    put_text("t.csv", table);
    for (int i = 0; i < 3; i++) {
        files.groups = (const char *const[]){ "numbers", "words", SPOT_GROUPS_ROWS }[i];
        CHECK_OK(&c, spot_subject_read(&c, &s, &files));
        if (!i) assert_memory_equal(s.group, group, sizeof group);
        if (i == 1) assert_int_equal(s.groups, 3);
        CHECK_OK(&c, spot_discover_config_of(&c, &cfg, &s, NULL, 2));
        strcpy(hash[i], cfg.data);
        spot_memory_close(&cfg.memory);
        spot_subject_close(&s);
    }
    files.groups = NULL;
    CHECK_OK(&c, spot_subject_read(&c, &s, &files));
    CHECK_OK(&c, spot_discover_config_of(&c, &cfg, &s, NULL, 2));
    assert_string_equal(cfg.data, hash[2]);
    assert_string_not_equal(hash[0], hash[1]);
    assert_string_not_equal(hash[0], hash[2]);
    spot_memory_close(&cfg.memory);
    spot_subject_close(&s);
    assert_string_equal(word[2], "None");
}
