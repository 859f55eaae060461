/* ci_files.h - --junit, --sarif and --summary of the commands that give a verdict. */
#ifndef SPOTTER_CI_FILES_H
#define SPOTTER_CI_FILES_H

#include "cli/options.h"
#include "result/ci_report.h"
#include "spotter/subject.h"

enum { CLI_CI_TAKEN = 40 };

typedef struct {
    const char *junit, *sarif, *summary;
    bool replace, written;
    struct { const char *folder, *name; } taken[CLI_CI_TAKEN];
    int takens;
} cli_ci;

/* Rows for a command whose struct has a `cli_ci member`; FLAGS: CLI_MORE, or 0. */
#define CLI_CI_ROWS(member, FLAGS)                                                                                           \
    { .kind = CLI_HEADING, .help = "For continuous integration:", .flags = FLAGS },                                          \
    { "junit", 0, "FILE.xml", CLI_TEXT, CLI_AT(member.junit), .most = 1000, .help = "the verdict as JUnit's XML" },          \
    { "sarif", 0, "FILE.sarif", CLI_TEXT, CLI_AT(member.sarif), .most = 1000, .help = "the verdict as SARIF 2.1.0" },        \
    { "summary", 0, "FILE.md", CLI_TEXT, CLI_AT(member.summary), .most = 1000,                                               \
      .help = "file to which the verdict is added in Markdown: a new or empty one, FILE.md, FILE.markdown, FILE.txt, or "    \
              "$GITHUB_STEP_SUMMARY" }
#define CLI_CI_REPLACE_ROW(member)                                                                                           \
    { "replace", 0, NULL, CLI_ON, CLI_AT(member.replace), .flags = CLI_MORE,                                                 \
      .help = "overwriting of files that this program did not write" }

/* In a command's `check`: no file is given twice. */
void cli_ci_check(const struct argp_state *state, const cli_ci *o);

/* The command reads or writes this: a file, FILE:NAME, or a folder, in which --replace then replaces nothing of others. In a
 * folder: its file `name`. NULL is nothing. Before cli_ci_begin; the texts stay. */
void cli_ci_take     (cli_ci *o, const char *path);
void cli_ci_take_in  (cli_ci *o, const char *folder, const char *name);
void cli_ci_take_rows(cli_ci *o, const spot_subject_files *f);

/* SPOT_USAGE where a file is there that is not ours, or that the command reads or writes; SPOT_IO where a file cannot be
 * written. A long run asks this before it begins. */
spot_status cli_ci_begin(spot_ctx *c, const cli_ci *o);

/* Writes the files that were asked for, all that can be; returns the first failure. r->input may be FILE:NAME, a folder, or
 * FOLDER:MODEL. */
spot_status cli_ci_write(spot_ctx *c, cli_ci *o, const spot_ci_report *r);

/* At the end of a command: where it failed before there was a verdict, the files say so. `about`: "compare A B". Returns s. */
spot_status cli_ci_end(spot_ctx *c, spot_status s, cli_ci *o, const char *command, const char *about);

#endif
