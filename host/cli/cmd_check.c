/* cmd_check.c - spotter check: a run against a baseline. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "check/check_ci.h"
#include "cli/compare.h"
#include "spotter/check.h"
#include "versions/version_place.h"

typedef struct {
    cli_machine machine;
    cli_comparison compared;          /* the old spelling of spotter compare */
    const char *baseline, *run, *history, *commit;
    bool json;
} check_flags, cli_flags;

static const cli_row table[] = {
    { .word = "BASELINE", .kind = CLI_TEXT, CLI_AT(baseline) },
    { .word = "RUN", .kind = CLI_TEXT, CLI_AT(run) },
    { "json",    'j', NULL,         CLI_ON,   CLI_AT(json), .help = "one JSON object on stdout" },
    { "history", 'H', "FILE.jsonl", CLI_TEXT, CLI_AT(history),
      .help = "file that gets a line about this night; `spotter report --trend` draws it" },
    { "commit",  'c', "ID",         CLI_TEXT, CLI_AT(commit), .help = "commit of the build, for the line in the history" },
    CLI_CI_REPLACE_ROW(compared.ci),
    CLI_CI_ROWS(compared.ci, 0),
    CLI_COMPARISON_ROWS(compared, CLI_HIDDEN),
    { "against",     0,   "P2|DIR", CLI_TEXT, CLI_AT(compared.from.second), .help = "version 2" },
    { "against-ids", 0,   "I2", CLI_TEXT, CLI_AT(compared.from.second_ids), .help = "names of the rows of version 2" },
    CLI_MACHINE_ROWS("cpu"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    check_flags *o = input;
    cli_comparison *k = &o->compared;

    if (!k->from.second && o->run && k->from.files.embeddings) k->from.second = o->run, o->run = NULL;
    if (k->from.second && o->run) argp_error(state, "--against is version 2, and %s is one word too many", o->run);
    if (k->from.second && (o->history || o->commit))
        argp_error(state, "--history and --commit belong to nights, not to --against");
    k->from.found = o->baseline;
    k->json = o->json;
    if (k->from.second && !k->from.found && !k->from.files.probs)
        argp_error(state, "version 1 is missing; for example: found --against %s, or --embeddings, --labels and --probs",
                   k->from.second);
    if (k->method && k->config) argp_error(state, "--method and --config both choose the methods; give one of them");
    if (!o->baseline && !k->from.second) argp_error(state, "BASELINE is missing; for example: configs/nightly.baseline.json");
    if (!o->run && !k->from.second) argp_error(state, "RUN is missing; for example: runs/nightly");
    cli_ci_check(state, &k->ci);
}

static bool is_findings(const char *path) { return spot_version_kind_of(path) == SPOT_VERSION_FINDINGS; }

/* The spelling of two versions before there was `spotter compare`. */
static spot_status compare_versions(spot_ctx *c, check_flags *o, bool rows)
{
    spot_log(c, SPOT_LOG_WARN, "two versions are compared by `spotter compare A B`; `spotter check` will take them no more");
    return rows ? cli_compare_rows(c, &o->compared) : cli_compare_models(c, o->baseline, o->run, &o->compared);
}

static spot_status write_verdict(spot_ctx *c, check_flags *o, const spot_check *check)
{
    spot_ci_report r;

    spot_check_ci(&r, check);
    r.input = o->run;
    return cli_ci_write(c, &o->compared.ci, &r);
}

static spot_status check_run(spot_ctx *c, check_flags *o)
{
    SPOT_TRY(cli_ci_begin(c, &o->compared.ci));
    if (!o->compared.from.second && is_findings(o->baseline) && is_findings(o->run)) o->compared.from.second = o->run;
    if (o->compared.from.second) return compare_versions(c, o, true);
    if (spot_is_model_run(o->baseline) && spot_is_model_run(o->run)) return compare_versions(c, o, false);
    SPOT_TRY(cli_study_for(c, NULL, o->run, "check", "sweep shifts"));
    if (o->history) SPOT_TRY(spot_file_place(c, o->history, true));
    spot_check *check = NULL;
    spot_status s = spot_check_run(c, &check, o->baseline, o->run);

    if (s == SPOT_OK && o->json) s = spot_check_print_json(c, stdout, check);
    else if (s == SPOT_OK) spot_check_print(stdout, check, cli_colorful(STDOUT_FILENO));
    if (s == SPOT_OK && o->history) s = spot_check_remember(c, check, o->history, o->commit);
    if (s == SPOT_OK) s = write_verdict(c, o, check);
    if (s == SPOT_OK && check->failed) s = spot_fail(c, SPOT_CHECK, "%s differs from %s", o->run, o->baseline);
    spot_check_free(check);
    return s;
}

static spot_status give_verdict(spot_ctx *c, void *input)
{
    check_flags *o = input;

    cli_ci_take(&o->compared.ci, o->run);
    cli_ci_take(&o->compared.ci, o->history);
    cli_comparison_take(&o->compared);                 /* found: the baseline */
    return cli_ci_end(c, check_run(c, o), &o->compared.ci, "check", o->run ? o->run : o->compared.from.second);
}

static void store_defaults(void *input) { cli_comparison_defaults(&((check_flags *)input)->compared); }

const cli_command cli_check_command = {
    "check", "nightly verdict: a run against a baseline", "BASELINE RUN",
    "  spotter check configs/nightly.baseline.json runs/tonight\n"
    "  spotter check base.json runs/tonight --history nights.jsonl\n"
    "  spotter accept runs/tonight -o base.json --reason \"more starts\"",
    "Compares a run of `spotter sweep` or `spotter shifts` with a baseline: its bits where the same bits are promised, its "
    "numbers on the same ECs (of shifts: impact, slope, pass rate and classes of every source and shift, on the same classes "
    "and models), and the paper's numbers where a sweep has the paper's settings. The exit code is 1 if something is worse, "
    "better than possible, or broken. A line in quarantine is shown and fails nothing. Two versions of a model are compared by "
    "`spotter compare`.", table, check_options,
    .work = give_verdict, CLI_OPTIONS(run), .machine = true, .fill = store_defaults
};
