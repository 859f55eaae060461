/* test_groups.c - groups of rows as they are read: equal cells, missing ones, rows that are left out, what is refused. The
 * numbers that are expected are written out by hand. */
#define _GNU_SOURCE
#include <math.h>

#include "checks.h"
#include "check_findings.h"
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

/* ---- in the files of findings ---- */

/* Findings whose rows are in groups of ten; the groups of what judged are those of the slices' rows of odd place. */
static void group_findings(fake_findings *k, int groups)
{
    spot_subject *s = &k->s;

    s->group = malloc((size_t)s->n * sizeof *s->group);
    s->group_name = malloc((size_t)groups * sizeof *s->group_name);
    s->groups = groups;
    for (int i = 0; i < s->n; i++) s->group[i] = i * groups / s->n;
    for (int g = 0; g < groups; g++) s->group_name[g] = fake_text(g ? "=video %d" : "", g);
    for (int i = 0, used = 0; i < k->f.count; i++)
        for (int j = 0; j < k->f.finding[i].slices; j++, used += 2) {
            spot_slice *p = &k->f.finding[i].slice[j];
            int last = -1;
            for (int r = 0; r < p->size; r++) {
                const bool judged = p->proof->origin[r] == SPOT_ORIGIN_JUDGED;
                p->proof->groups += judged && s->group[p->row[r]] != last;
                if (judged) last = s->group[p->row[r]];
            }
            p->proof->least_p = ldexp(1, -p->proof->groups);
            for (int e = 0; e < 2; e++) p->proof->piece[e].groups = p->proof->groups - e;
        }
}

static void close_groups(fake_findings *k)
{
    for (int g = 0; g < k->s.groups; g++) free(k->s.group_name[g]);
    free(k->s.group_name);
    free(k->s.group);
    fake_close(k);
}

static char *text_of(spot_ctx *c, const char *name)
{
    unsigned char *text;
    size_t n;

    CHECK_OK(c, spot_file_read(c, in_root("%s", name), &text, &n, 1 << 24));
    return (char *)text;
}

TEST_IN_FOLDER(findings_keep_their_groups)
{
    spot_ctx c = check_ctx(1);
    fake_findings k;
    spot_subject s;
    spot_findings f;
    spot_discover_options o;
    char *text, *plain, line[80];

    fake_open(&k, 600, 2, 1, 1);
    fake_prove(&k);
    k.f.map = k.points;
    group_findings(&k, 60);
    CHECK_OK(&c, spot_findings_write(&c, root, &k.f, &k.s, &k.o));
    CHECK_OK(&c, spot_findings_read(&c, root, &s, &f, &o));
    assert_int_equal(s.groups, 60);
    assert_memory_equal(s.group, k.s.group, (size_t)s.n * sizeof *s.group);
    for (int g = 0; g < 60; g++) assert_string_equal(s.group_name[g], k.s.group_name[g]);
    for (int i = 0; i < f.count; i++)
        for (int j = 0; j < f.finding[i].slices; j++) {
            const spot_proof *p = f.finding[i].slice[j].proof;
            assert_true(p->groups > 0 && p->groups == k.f.finding[i].slice[j].proof->groups);
            assert_true(p->least_p == ldexp(1, -p->groups));
            for (int e = 0; e < 2; e++) assert_int_equal(p->piece[e].groups, p->groups - e);
        }
    spot_findings_close(&f);
    spot_subject_close(&s);
    text = text_of(&c, "slices.json");
    assert_non_null(strstr(text, "\"groups\": 60,"));
    assert_non_null(strstr(text, "\"largest_group\": 10,"));
    snprintf(line, sizeof line, "\"judged_groups\": %d,", k.proof[0].groups);
    assert_non_null(strstr(text, line));
    free(text);
    text = text_of(&c, "slices.csv");
    snprintf(line, sizeof line, ",'=video %d\n", k.s.group[k.f.finding[0].slice[0].row[1]]);
    assert_non_null(strstr(text, ",group\n"));
    assert_non_null(strstr(text, line));
    free(text);

    /* groups of one row leave no trace */
    k.s.groups = k.s.n;
    for (int i = 0; i < k.s.n; i++) k.s.group[i] = i;
    for (int i = 0; i < k.f.count; i++)
        for (int j = 0; j < k.f.finding[i].slices; j++) {
            spot_proof *p = k.f.finding[i].slice[j].proof;
            p->groups = p->piece[0].groups = p->piece[1].groups = 0;
            p->least_p = 0;
        }
    CHECK_OK(&c, spot_findings_write(&c, root, &k.f, &k.s, &k.o));
    text = text_of(&c, "slices.json");
    free(k.s.group);
    k.s.group = NULL;
    CHECK_OK(&c, spot_findings_write(&c, root, &k.f, &k.s, &k.o));
    plain = text_of(&c, "slices.json");
    assert_string_equal(text, plain);
    assert_null(strstr(text, "groups\":"));
    free(text), free(plain);
    k.s.groups = 60;
    close_groups(&k);
}

TEST(too_few_groups_are_told)
{
    int row[4] = { 0, 1, 2, 3 }, group[4] = { 0, 0, 1, 1 };
    uint8_t origin[4] = { SPOT_ORIGIN_FOUND, SPOT_ORIGIN_FOUND, SPOT_ORIGIN_BOTH, SPOT_ORIGIN_JUDGED };
    char *name[2] = { "ride 7", "ride 8" }, text[SPOT_GROUPS_NOTE];
    spot_subject s = { .n = 4, .group = group, .groups = 2, .group_name = name };
    spot_proof v = { .claim = SPOT_CLAIM_CHANCE, .judged = 2, .origin = origin };
    const spot_slice p = { .size = 4, .row = row, .proof = &v };

    assert_string_equal(spot_groups_note(text, &s, &p, 0.05), "");
    v.groups = 1;
    assert_string_equal(spot_groups_note(text, &s, &p, 0.05),
                        "fails in this group (ride 8); 1 group proves nothing about others");
    s.group_name = NULL;
    assert_string_equal(spot_groups_note(text, &s, &p, 0.05), "fails in this group; 1 group proves nothing about others");
    v.groups = 4, v.least_p = 0.0625;
    assert_non_null(strstr(spot_groups_note(text, &s, &p, 0.05), "lie in 4 groups"));
    assert_string_equal(spot_groups_note(text, &s, &p, 0.0625), "");
}
