/* ci_report.h - what a command has decided, for continuous integration: JUnit, SARIF 2.1.0, and a short summary in Markdown.
 *
 * A report is the rows of a described list (result.h) and, for each row, its name and its kind of verdict. The columns of all
 * three come from the list's description: a new number is one row there. */
#ifndef SPOTTER_CI_REPORT_H
#define SPOTTER_CI_REPORT_H

#include "result/result.h"

/* FINE: a test that passed; SARIF leaves it out. OPEN: the data cannot tell; skipped in JUnit, a note in SARIF. WARNING: told,
 * and fails nothing; passed in JUnit. FAILED: the exit code is 1 where a row is. */
typedef enum { SPOT_CI_FINE, SPOT_CI_OPEN, SPOT_CI_WARNING, SPOT_CI_FAILED, SPOT_CI_LEVELS } spot_ci_level;

/* A kind of verdict: "worse"; a sentence without its full stop that says what the word means. */
typedef struct { const char *word, *about; spot_ci_level level; } spot_ci_rule;

enum { SPOT_CI_NAME = 320, SPOT_CI_RULES = 8, SPOT_CI_COLUMNS = 16, SPOT_CI_NAMED = 6 };

typedef struct {
    const char *command;               /* "compare" */
    char subject[640], verdict[500];   /* whose verdict it is: "v1 -> v2"; the verdict, a sentence without its full stop */
    bool failed;                       /* the exit code is 1 */
    bool pending;                      /* not failed, and the exit code says that the data cannot tell (SPOT_PENDING) */
    bool ordered;                      /* the list has what matters most first, and the summary keeps its order */
    bool open;                         /* there is no verdict yet, and no row; `verdict` says why: a skipped test in JUnit */
    spot_quantity list;                /* LIST */
    spot_quantity column[SPOT_CI_COLUMNS];     /* room for columns that are described at run time */
    const void *root;                  /* of the list */
    spot_ci_rule rule[SPOT_CI_RULES];
    int rules;
    int (*judge)(char name[SPOT_CI_NAME], const void *row);    /* returns the row's rule; names it, each row otherwise */
    const char *named[SPOT_CI_NAMED];  /* columns whose text the row's name or its rule has; the last is NULL */
    const char *input, *page;          /* file that was judged; HTML page, or NULL */
    spot_status status;                /* not SPOT_OK: the command failed with this message, and there is no verdict */
    const char *message;
} spot_ci_report;

typedef enum { SPOT_CI_JUNIT, SPOT_CI_SARIF, SPOT_CI_SUMMARY } spot_ci_format;

/* Appends the report to out. The summary has at most ten rows, the failed ones first, or in the list's
 * order; SARIF at most 5,000, which is what GitHub shows. */
spot_status spot_ci_text(spot_ctx *c, spot_text *out, spot_ci_format format, const spot_ci_report *r);

/* Whether a file that begins with these n bytes is a report of ours in this format, or empty. 256 bytes suffice. */
bool spot_ci_is_ours(spot_ci_format format, const char *bytes, size_t n);

#endif
