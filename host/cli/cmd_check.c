/* cmd_check.c - spotter check: a run against a baseline. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "spotter/background.h"
#include "spotter/check.h"
#include "spotter/examine.h"

typedef struct {
    const char *baseline, *run, *history, *commit;
    bool json;
} options;

static const cli_row table[] = {
    { .word = "BASELINE", .kind = CLI_TEXT, CLI_AT(baseline), .need = "configs/nightly.baseline.json" },
    { .word = "RUN", .kind = CLI_TEXT, CLI_AT(run), .need = "runs/nightly" },
    { "json",    'j', NULL,         CLI_ON,   CLI_AT(json), .help = "one JSON object on stdout" },
    { "history", 'H', "FILE.jsonl", CLI_TEXT, CLI_AT(history),
      .help = "file that gets a line about this night; `spotter report --trend` draws it" },
    { "commit",  'c', "ID",         CLI_TEXT, CLI_AT(commit), .help = "commit of the build, for the line in the history" },
    { .kind = CLI_END }
};

static spot_status check_run(spot_ctx *c, void *input)
{
    const options *o = input;

    if (cli_is_version(o->run, &spot_background_study)) return cli_check_background(c, o->baseline, o->run, o->json);
    if (cli_is_version(o->run, &spot_examine_study)) return cli_check_examine(c, o->baseline, o->run, o->json);
    spot_check *check = NULL;
    spot_status s = spot_check_run(c, &check, o->baseline, o->run);

    if (s == SPOT_OK && o->json) s = spot_check_print_json(c, stdout, check);
    else if (s == SPOT_OK) spot_check_print(stdout, check, cli_colorful(STDOUT_FILENO));
    if (s == SPOT_OK && o->history) s = spot_check_remember(c, check, o->history, o->commit);
    if (s == SPOT_OK && check->failed) s = spot_fail(c, SPOT_CHECK, "%s differs from %s", o->run, o->baseline);
    spot_check_free(check);
    return s;
}

const cli_command cli_check_command = {
    "check", "comparison of a run with a baseline: same, worse, better, broken", "BASELINE RUN",
    "  spotter check configs/nightly.baseline.json runs/tonight\n"
    "  spotter check base.json runs/tonight --history nights.jsonl\n"
    "  spotter check runs/version_1 runs/version_2\n"
    "  spotter accept runs/tonight -o base.json --reason \"more starts\"",
    "Compares a run of `spotter sweep` or `spotter shifts` with a baseline: its bits where the same bits are promised, its "
    "numbers on the same ECs (of shifts: impact, slope, pass rate and classes of every source and shift, on the same classes "
    "and models), and the paper's numbers where a sweep has the paper's settings. The exit code is 1 if something is worse, "
    "better than possible, or broken. A line in quarantine is shown and fails nothing. BASELINE and RUN may also be two runs "
    "of `spotter background` or of `spotter examine`, each DIR or DIR:MODEL: then one version of a model stands against "
    "another, with tests over pictures or objects.", table,
    .work = check_run, CLI_OPTIONS(run)
};
