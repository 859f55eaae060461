/* ci_junit.c - a report as JUnit's XML, as Jenkins, GitLab and the readers for GitHub take it. */
#include "result/ci_parts.h"

#include <string.h>

#include "base/platform.h"

/* Adds text as XML's: marks are escaped, and what XML 1.0 has no character for is written out. */
static void put_xml(spot_text *out, const char *text)
{
    static const struct { const char *from, *to; } mark[] = {
        { "&", "&amp;" }, { "<", "&lt;" }, { ">", "&gt;" }, { "\"", "&quot;" }, { "\n", "\n" },
        { "\xef\xbf\xbe", "U+FFFE" }, { "\xef\xbf\xbf", "U+FFFF" },
    };
    enum { MARKS = sizeof mark / sizeof *mark };

    while (*text) {
        const size_t n = spot_utf8_char(text, strlen(text));
        char plain[8];
        int k = 0;
        while (k < MARKS && strncmp(text, mark[k].from, strlen(mark[k].from))) k++;
        snprintf(plain, sizeof plain, "%.*s", n ? (int)n : 1, text);
        if (k < MARKS) spot_text_adds(out, mark[k].to);
        else spot_text_visible(out, plain);
        text += n ? n : 1;
    }
}

static void put_attribute(spot_text *out, const char *name, const char *text)
{
    spot_text_adds(out, " ");
    spot_text_adds(out, name);
    spot_text_adds(out, "=\"");
    put_xml(out, text);
    spot_text_adds(out, "\"");
}

static void put_count(spot_text *out, const char *name, int n)
{
    char text[16];

    snprintf(text, sizeof text, "%d", n);
    put_attribute(out, name, text);
}

/* Without rows there is one test (put_whole). */
static void put_counts(spot_text *out, const spot_ci_report *r)
{
    const int rows = spot_ci_count(r, SPOT_CI_LEVELS);

    put_count(out, "tests", rows ? rows : 1);
    put_count(out, "failures", spot_ci_count(r, SPOT_CI_FAILED));
    put_count(out, "errors", r->status != SPOT_OK);
    put_attribute(out, "time", "0");
}

static void put_property(spot_text *out, const char *name, const char *value)
{
    spot_text_adds(out, "      <property");
    put_attribute(out, "name", name);
    put_attribute(out, "value", value);
    spot_text_adds(out, "/>\n");
}

static void open_case(spot_text *out, const char *class, const char *name)
{
    spot_text_adds(out, "    <testcase");
    put_attribute(out, "classname", class);
    put_attribute(out, "name", name);
    put_attribute(out, "time", "0");
    spot_text_adds(out, ">\n");
}

/* An element with its message and a text. */
static void put_element(spot_text *out, const char *element, const char *type, const char *message, const char *text)
{
    spot_text_adds(out, "      <");
    spot_text_adds(out, element);
    if (type) put_attribute(out, "type", type);
    if (message) put_attribute(out, "message", message);
    spot_text_adds(out, ">");
    put_xml(out, text);
    spot_text_adds(out, "</");
    spot_text_adds(out, element);
    spot_text_adds(out, ">\n");
}

static void put_row(spot_text *out, const spot_ci_walk *w, const char *class)
{
    spot_text line = { 0 }, lines = { 0 };
    const spot_ci_rule *u = w->rule;

    spot_text_adds(&line, u->word), spot_text_adds(&line, ": ");
    spot_ci_columns(&line, w, false), spot_text_add(&line, "", 1);
    spot_text_adds(&lines, u->about), spot_text_adds(&lines, ".\n");
    spot_ci_columns(&lines, w, true), spot_text_add(&lines, "", 1);
    if (line.status || lines.status) out->status = SPOT_NOMEM;
    else {
        open_case(out, class, w->name);
        if (u->level == SPOT_CI_OPEN) put_element(out, "skipped", NULL, line.bytes, "");
        if (u->level == SPOT_CI_FAILED) put_element(out, "failure", u->word, line.bytes, lines.bytes);
        else put_element(out, "system-out", NULL, NULL, lines.bytes);
        spot_text_adds(out, "    </testcase>\n");
    }
    spot_text_free(&line);
    spot_text_free(&lines);
}

/* Without rows the verdict itself is the test, since readers take a file without tests for a failed step. */
static void put_whole(spot_text *out, const spot_ci_report *r, const char *class)
{
    open_case(out, class, r->status ? "the command" : "the verdict");
    if (r->status) put_element(out, "error", spot_status_name(r->status), r->message, r->message);
    else if (r->open) put_element(out, "skipped", NULL, r->verdict, "");
    else put_element(out, "system-out", NULL, NULL, r->verdict);
    spot_text_adds(out, "    </testcase>\n");
}

spot_status spot_ci_junit(spot_ctx *c, spot_text *out, const spot_ci_report *r)
{
    const bool alone = !spot_ci_count(r, SPOT_CI_LEVELS);
    spot_ci_walk w = { .r = r, .level = SPOT_CI_LEVELS };
    char class[64];

    snprintf(class, sizeof class, "spotter.%s", r->command);
    spot_text_adds(out, SPOT_CI_JUNIT_TOP);
    put_xml(out, r->command);
    spot_text_adds(out, "\"");
    put_counts(out, r);
    spot_text_adds(out, ">\n  <testsuite");
    put_attribute(out, "name", r->subject);
    put_counts(out, r);
    put_count(out, "skipped", r->open ? 1 : spot_ci_count(r, SPOT_CI_OPEN));
    spot_text_adds(out, ">\n    <properties>\n");
    put_property(out, "spotter", spot_made_by());
    if (!r->status) put_property(out, "verdict", r->verdict);
    if (r->page) put_property(out, "page", r->page);
    spot_text_adds(out, "    </properties>\n");
    if (alone) put_whole(out, r, class);
    else while (spot_ci_next(&w)) put_row(out, &w, class);
    spot_text_adds(out, "  </testsuite>\n</testsuites>\n");
    return out->status ? spot_fail(c, SPOT_NOMEM, "no memory for a report in JUnit's form") : SPOT_OK;
}
