/* test_versions_ci.c - two versions for continuous integration: the order of parts, their names, and which of them fail, are
 * skipped or pass. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "result/ci_report.h"
#include "versions/versions_ci.h"

enum { PLACES, FOOD, CLASSES };

static char places[] = "places", food[] = "food", *class_name[] = { places, food };

static spot_version_counts counts(double needed)
{
    return (spot_version_counts){ .rows = 200, .wrong = { 20, 50 }, .lost = 40, .gained = 10, .before = 0.12, .margin = 0.05,
                                  .beyond = 0.05, .p_worse = 0.25, .p_better = 0.75, .p_same = 1, .needed = needed,
                                  .change = { 0.13, 0.08, 0.18 }, .corrected = { 0.13, 0.06, 0.2 } };
}

/* A part of each kind and verdict. */
static void fill(spot_versions *v, spot_version_class *of, spot_version_class *guard, spot_version_slice *slice)
{
    of[0] = (spot_version_class){ .cls = SPOT_ALL_CLASSES, .verdict = SPOT_CHANGE_SAME, .counts = counts(0) };
    of[1] = (spot_version_class){ .cls = PLACES, .verdict = SPOT_CHANGE_PENDING, .counts = counts(812.2) };
    of[2] = (spot_version_class){ .cls = FOOD, .verdict = SPOT_CHANGE_BETTER, .counts = counts(0) };
    guard[0] = (spot_version_class){ .cls = PLACES, .name = "places & colour=grey", .verdict = SPOT_CHANGE_WORSE,
                                     .counts = counts(0) };
    guard[1] = (spot_version_class){ .cls = PLACES, .name = "places & colour=grey", .verdict = SPOT_CHANGE_PENDING,
                                     .counts = counts(INFINITY) };
    guard[2] = (spot_version_class){ .cls = SPOT_ALL_CLASSES, .name = "px=16", .verdict = SPOT_CHANGE_SAME,
                                     .counts = counts(0) };
    slice[0] = (spot_version_slice){ .cls = PLACES, .verdict = SPOT_CHANGE_WORSE, .rule = "colour=grey", .counts = counts(0) };
    slice[1] = (spot_version_slice){ .cls = PLACES, .verdict = SPOT_CHANGE_NEW, .counts = counts(0) };
    slice[2] = (spot_version_slice){ .cls = SPOT_ALL_CLASSES, .verdict = SPOT_CHANGE_MENDED, .counts = counts(0) };
    slice[3] = (spot_version_slice){ .cls = SPOT_ALL_CLASSES, .verdict = SPOT_CHANGE_SAME, .rule = "px=8",
                                     .counts = counts(0) };
    *v = (spot_versions){ .name = { "net-1", "net-2" }, .data = "photos", .n = 400, .classes = 3, .of = of, .guards = 3,
                          .guard = guard, .slices = 4, .slice = slice, .failed = true };
}

static char *text_of(spot_ci_format format, const spot_versions *v)
{
    spot_subject s = { .n = 400, .classes = CLASSES, .class_name = class_name };
    const spot_versions_root root = { v, &s };
    spot_ctx c = check_ctx(1);
    spot_text text = { 0 };
    spot_ci_report r;

    spot_versions_ci(&r, &root);
    r.input = "p2.npy";
    CHECK_OK(&c, spot_ci_text(&c, &text, format, &r));
    spot_text_add(&text, "", 1);
    return text.bytes;
}

/* The words come in this order. */
static void check_order(const char *text, const char *const *word)
{
    for (const char *at = text; *word; word++) {
        const char *next = strstr(at, *word);
        if (!next) print_error("%s is not in, or too early in\n%s\n", *word, text);
        assert_non_null(next);
        at = next + strlen(*word);
    }
}

TEST(what_is_worse_comes_first_under_a_name_of_its_own)
{
    static const char *const names[] = {
        "name=\"guard places &amp; colour=grey (1)\"", "name=\"places &amp; colour=grey\"", "name=\"slice 2 of class places\"",
        "name=\"slice 3 of all rows\"", "name=\"class food\"", "name=\"class places\"",
        "name=\"guard places &amp; colour=grey (2)\"",
        "name=\"all rows\"", "name=\"guard px=16\"", "name=\"px=8\"", NULL
    };
    spot_version_class of[3], guard[3];
    spot_version_slice slice[4];
    spot_versions v;
    char *text;

    fill(&v, of, guard, slice);
    text = text_of(SPOT_CI_JUNIT, &v);
    check_order(text, names);
    free(text);
    text = text_of(SPOT_CI_SUMMARY, &v);
    check_order(text, (const char *const[]){ "| guard", "| worse", "| slice 1", "| worse", "| slice 2", "| new", "| slice 3",
                                             "| mended", "| class", "| better", "| pending", "| pending", "| same", NULL });
    free(text);
}

TEST(a_guard_that_is_worse_fails_and_what_is_pending_is_skipped)
{
    spot_version_class of[3], guard[3];
    spot_version_slice slice[4];
    spot_versions v;
    char *text;

    fill(&v, of, guard, slice);
    text = text_of(SPOT_CI_JUNIT, &v);
    check_order(text, (const char *const[]){
        "tests=\"10\" failures=\"3\" errors=\"0\"", "<testsuite name=\"net-1 -&gt; net-2, photos, 400 rows\"", "skipped=\"2\"",
        "value=\"worse: 1 of 3 guards, 2 of 4 slices; pending: 1 of 2 classes, 1 of 3 guards\"",
        "(1)\"", "<failure type=\"worse\" message=\"worse: rows 200; before 12.0 %; now 25.0 %; change [low, high] "
        "+13.0 [+6.0, +20.0]; lost 40; gained 10; p 0.25\"", "name=\"class places\"", "<skipped message=\"pending: ",
        "needs 813\"", "(2)\"", "<skipped message=\"pending: ", "p 0.25\"", NULL });
    free(text);
    v.failed = false, v.guards = 0, v.slices = 0;
    text = text_of(SPOT_CI_SUMMARY, &v);
    check_order(text, (const char *const[]){ "nothing is shown to be worse; pending: 1 of 2 classes.", NULL });
    free(text);
}
