/* test_ci_report.c - host/result on a toy: one description of a row makes JUnit, SARIF and the summary; the rows that matter
 * most come first; names that would be markup; a command that failed; how a summary is added to a file. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "check_folder.h"
#include "checks.h"
#include "result/ci_report.h"

enum { ROWS = 40 };

typedef struct { char name[64]; int rule; double share, missing; spot_interval change; } toy_row;

static toy_row toy[ROWS];

static long count_rows(const void *user) { return *(const int *)user; }

/* Row 1 is left out. */
static bool get_row(void *out, const void *user, long i)
{
    (void)user;
    *(toy_row *)out = toy[i];
    return i != 1;
}

static int judge(char name[SPOT_CI_NAME], const void *row)
{
    snprintf(name, SPOT_CI_NAME, "row %s", ((const toy_row *)row)->name);
    return ((const toy_row *)row)->rule;
}

static const spot_quantity columns[] = {
    SPOT_QUANTITY("name", toy_row, name, .title = "name"),
    SPOT_QUANTITY("share", toy_row, share, .title = "share", .unit = SPOT_UNIT_SHARE, .about = "right answers"),
    SPOT_QUANTITY("missing", toy_row, missing, .title = "missing"),
    SPOT_QUANTITY("change", toy_row, change, .title = "change"),
    SPOT_QUANTITY("hidden", toy_row, rule),
    SPOT_QUANTITIES_END
};

/* Rules in turn: fine, cannot tell, warned of, failed; row 0 has the given name. */
static spot_ci_report report(const int *rows, const char *name)
{
    spot_ci_report r = { .command = "compare", .subject = "a -> b", .verdict = "something is worse", .failed = true, .root = rows,
                         .judge = judge, .rules = 4, .named = { "name" }, .input = "a b/p.npy", .page = "p.html",
                         .rule = { { "same", "nothing changed", SPOT_CI_FINE }, { "pending", "who knows", SPOT_CI_OPEN },
                                   { "odd", "it is odd", SPOT_CI_WARNING }, { "worse", "it is worse", SPOT_CI_FAILED } } };

    r.list = (spot_quantity)SPOT_ROWS("rows", SPOT_AS_LIST, columns, toy_row, count_rows, get_row);
    for (int i = 0; i < ROWS; i++) {
        toy[i] = (toy_row){ .rule = i % 4, .share = i / 64.0, .missing = NAN, .change = { i, i - 1, i + 1 } };
        snprintf(toy[i].name, sizeof toy[i].name, "%d", i);
    }
    snprintf(toy[0].name, sizeof toy[0].name, "%s", name);
    return r;
}

static char *text_of(spot_ci_format format, const spot_ci_report *r)
{
    spot_ctx c = check_ctx(1);
    spot_text text = { 0 };

    CHECK_OK(&c, spot_ci_text(&c, &text, format, r));
    assert_true(spot_ci_is_ours(format, text.bytes, text.used < 256 ? text.used : 256));
    spot_text_add(&text, "", 1);
    return text.bytes;
}

static int occurrences(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)); text++) n++;
    return n;
}

static void check_has(spot_ci_format format, const spot_ci_report *r, const char *word, int times)
{
    char *text = text_of(format, r);

    if (occurrences(text, word) != times) print_error("%d and not %d times %s in\n%s\n", occurrences(text, word), times, word, text);
    assert_int_equal(occurrences(text, word), times);
    free(text);
}

TEST(a_row_is_a_test_a_result_and_a_line)
{
    const int rows = 4;
    const spot_ci_report r = report(&rows, "0");
    char *text = text_of(SPOT_CI_SUMMARY, &r);

    check_has(SPOT_CI_JUNIT, &r, "<testcase classname=\"spotter.compare\" name=\"row ", 3);
    check_has(SPOT_CI_JUNIT, &r, "tests=\"3\" failures=\"1\" errors=\"0\"", 2);
    check_has(SPOT_CI_JUNIT, &r, "<failure type=\"worse\" message=\"worse: share 4.7 %; change 3.000 [2.000, 4.000]\">it is worse.\n"
              "name: 3\nshare: 4.7 %  (right answers)\nchange: 3.000 [2.000, 4.000]\n</failure>", 1);
    check_has(SPOT_CI_JUNIT, &r, "missing", 0);
    check_has(SPOT_CI_SARIF, &r, "\"text\": \"row 3: worse; share 4.7 %; change 3.000 [2.000, 4.000]\"", 1);
    check_has(SPOT_CI_SARIF, &r, "\"hidden\": 3", 1);
    check_has(SPOT_CI_SARIF, &r, "\"level\": \"warning\"", 2);         /* of the rule, of row 2 */
    check_has(SPOT_CI_SARIF, &r, "\"uri\": \"a%20b/p.npy\"", 2);
    assert_string_equal(text, "\n### spotter compare: failed\n\n**something is worse.**\n\na -> b\n\n"
                        "| name | share |                change |\n|:---|---:|---:|\n"
                        "| 3    | 4.7 % |  3.000 [2.000, 4.000] |\n| 2    | 3.1 % |  2.000 [1.000, 3.000] |\n"
                        "| 0    | 0.0 % | 0.000 [-1.000, 1.000] |\n\nThe page: `p.html`\n\n");
    free(text);
}

TEST(the_summary_is_short_and_the_failed_come_first)
{
    const int rows = ROWS, none = 0;
    spot_ci_report r = report(&rows, "0");
    char *text = text_of(SPOT_CI_SUMMARY, &r);

    assert_non_null(strstr(text, "\n| 3 "));
    assert_non_null(strstr(text, "\n| 39 "));
    assert_null(strstr(text, "\n| 38 "));
    assert_non_null(strstr(text, "|\n\nand 29 more\n"));
    free(text);
    check_has(SPOT_CI_JUNIT, &r, "<skipped message=\"pending: ", 9);
    check_has(SPOT_CI_SARIF, &r, "\"ruleId\"", 29);
    r.root = &none, r.failed = false;
    check_has(SPOT_CI_SUMMARY, &r, "|", 0);
    check_has(SPOT_CI_SUMMARY, &r, "### spotter compare: passed\n", 1);
    check_has(SPOT_CI_JUNIT, &r, "tests=\"1\" failures=\"0\" errors=\"0\"", 2);
    check_has(SPOT_CI_JUNIT, &r, "<testcase classname=\"spotter.compare\" name=\"the verdict\"", 1);
}

/* Bytes that XML, JSON or Markdown would read as their own, or that XML 1.0 has no character for. */
TEST(names_are_text)
{
    const int rows = 1;
    spot_ci_report r = report(&rows, "]]></failure>&\"'\x01\x1b\xff\xef\xbf\xbf|[a](b)<i>");

    toy[0].rule = 3;
    check_has(SPOT_CI_JUNIT, &r, "name=\"row ]]&gt;&lt;/failure&gt;&amp;&quot;'??\\xffU+FFFF|[a](b)&lt;i&gt;\"", 1);
    check_has(SPOT_CI_JUNIT, &r, "name: ]]&gt;&lt;/failure&gt;&amp;&quot;'\\x01\\x1b\\xffU+FFFF|[a](b)&lt;i&gt;\n", 1);
    check_has(SPOT_CI_JUNIT, &r, "</failure>", 1);
    check_has(SPOT_CI_SARIF, &r, "](b)", 3);              /* in names of the place and the column, not in the message */
    check_has(SPOT_CI_SUMMARY, &r, "\\|[a\\](b)\\<i>", 1);
    check_has(SPOT_CI_SUMMARY, &r, "\n| ]]>\\</failure>", 1);
}

/* A value that the row's name happens to hold is no part of it. */
TEST(columns_that_the_name_has_are_named)
{
    const int rows = 1;
    spot_ci_report r = report(&rows, "0");
    static const spot_quantity texts[] = {
        SPOT_QUANTITY("name", toy_row, name, .title = "name"), SPOT_QUANTITY("predicted", toy_row, name, .title = "taken for"),
        SPOT_QUANTITIES_END
    };

    toy[0].rule = 3;
    r.list = (spot_quantity)SPOT_ROWS("rows", SPOT_AS_LIST, texts, toy_row, count_rows, get_row);
    check_has(SPOT_CI_JUNIT, &r, "message=\"worse: taken for 0\"", 1);
    check_has(SPOT_CI_SARIF, &r, "\"text\": \"row 0: worse; taken for 0\"", 1);
}

TEST(without_a_verdict_the_test_is_skipped)
{
    spot_ci_report r = { .command = "discover", .subject = "rows", .open = true, .verdict = "others are missing" };

    check_has(SPOT_CI_JUNIT, &r, "tests=\"1\" failures=\"0\" errors=\"0\"", 2);
    check_has(SPOT_CI_JUNIT, &r, "skipped=\"1\"", 1);
    check_has(SPOT_CI_JUNIT, &r, "<skipped message=\"others are missing\">", 1);
    check_has(SPOT_CI_SARIF, &r, "\"ruleId\"", 0);
    check_has(SPOT_CI_SUMMARY, &r, "### spotter discover: no verdict yet\n\n**others are missing.**\n", 1);
}

TEST(a_pending_verdict_that_ends_the_command_is_said)
{
    const int rows = 2;
    spot_ci_report r = report(&rows, "0");

    r.failed = false;
    check_has(SPOT_CI_SUMMARY, &r, "### spotter compare: passed\n", 1);
    r.pending = true;
    check_has(SPOT_CI_SUMMARY, &r, "### spotter compare: pending\n", 1);
    check_has(SPOT_CI_SARIF, &r, "\"exitCode\": 7\n", 1);
}

TEST(a_list_in_its_own_order_keeps_it_in_the_summary)
{
    const int rows = 4;
    spot_ci_report r = report(&rows, "0");

    check_has(SPOT_CI_SUMMARY, &r, "|\n| 3    | 4.7 % |  3.000 [2.000, 4.000] |\n| 2 ", 1);
    r.ordered = true;
    check_has(SPOT_CI_SUMMARY, &r, "|\n| 0    | 0.0 % | 0.000 [-1.000, 1.000] |\n| 2 ", 1);
}

TEST(a_command_that_failed_is_an_error)
{
    spot_ci_report r = { .command = "check", .subject = "run", .status = SPOT_INPUT, .message = "row 3 is \"nan\"" };

    check_has(SPOT_CI_JUNIT, &r, "tests=\"1\" failures=\"0\" errors=\"1\"", 2);
    check_has(SPOT_CI_JUNIT, &r, "message=\"row 3 is &quot;nan&quot;\">row 3 is &quot;nan&quot;</error>", 1);
    check_has(SPOT_CI_SARIF, &r, "\"executionSuccessful\": false,", 1);
    check_has(SPOT_CI_SARIF, &r, "\"exitCode\": 3,", 1);
    check_has(SPOT_CI_SARIF, &r, "\"text\": \"row 3 is \\\"nan\\\"\"", 1);
    check_has(SPOT_CI_SUMMARY, &r, "### spotter check: not done\n\n**row 3 is \"nan\"**\n\nrun\n", 1);
}

TEST(files_of_others_are_known)
{
    static const char junit[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"pytest tests\">";

    assert_false(spot_ci_is_ours(SPOT_CI_JUNIT, junit, sizeof junit));
    assert_false(spot_ci_is_ours(SPOT_CI_SARIF, "{\"version\": \"2.1.0\"}", 20));
    assert_true(spot_ci_is_ours(SPOT_CI_SARIF, "", 0));
    assert_true(spot_ci_is_ours(SPOT_CI_SUMMARY, "# Title", 7));
}

static void check_file(const char *path, const char *want)
{
    spot_ctx c = check_ctx(1);
    unsigned char *bytes;
    size_t n;

    CHECK_OK(&c, spot_file_read(&c, path, &bytes, &n, 1000));
    assert_string_equal((char *)bytes, want);
    free(bytes);
}

TEST_IN_FOLDER(a_file_is_added_to)
{
    spot_ctx c = check_ctx(1);
    const char *path = in_root("a.md"), *link = in_root("link.md");
    char top[4];

    assert_int_equal(spot_file_peek(path, top, sizeof top), -1);
    assert_int_equal(symlink("a.md", link), 0);
    CHECK_OK(&c, spot_file_append(&c, link, "one", 3));               /* the link's file is made */
    CHECK_OK(&c, spot_file_append(&c, path, "two\n", 4));             /* ends the line first */
    CHECK_OK(&c, spot_file_append(&c, link, "three\n", 6));
    check_file(path, "one\ntwo\nthree\n");
    assert_int_equal(spot_file_peek(link, top, sizeof top), 4);
    assert_memory_equal(top, "one\n", 4);
    assert_int_equal(spot_file_peek(root, top, sizeof top), -2);
    CHECK_FAILS(&c, spot_file_append(&c, root, "x", 1), SPOT_IO, "file.failed");
    assert_int_equal(mkfifo(link, 0600), -1);
    unlink(link);
    assert_int_equal(mkfifo(link, 0600), 0);
    CHECK_FAILS(&c, spot_file_append(&c, link, "x", 1), SPOT_IO, "file.failed");      /* nobody reads it */
    assert_int_equal(spot_file_peek(link, top, sizeof top), -2);
}

TEST_IN_FOLDER(a_place_is_asked_before_it_is_written)
{
    spot_ctx c = check_ctx(1);
    const char *path = in_root("a.md");

    CHECK_OK(&c, spot_file_place(&c, path, false));
    CHECK_OK(&c, spot_file_append(&c, path, "one\n", 4));
    for (int adds = 0; adds < 2; adds++) {
        CHECK_OK(&c, spot_file_place(&c, path, adds));
        CHECK_OK(&c, spot_file_place(&c, "/dev/null", adds));
        CHECK_FAILS(&c, spot_file_place(&c, root, adds), SPOT_IO, "file.failed");
        CHECK_FAILS(&c, spot_file_place(&c, in_root("a.md/b.md"), adds), SPOT_IO, "file.failed");
        CHECK_FAILS(&c, spot_file_place(&c, in_root("none/b.md"), adds), SPOT_IO, "file.failed");
    }
    check_file(path, "one\n");
}
