/* cmd_check.c - spotter check: a run against a baseline. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/compare.h"
#include "spotter/check.h"
#include "versions/version_place.h"

typedef struct {
    cli_machine machine;
    cli_comparison versions;
    const char *baseline, *run, *history, *commit;
    bool json;
} options;

static const cli_row table[] = {
    { .word = "BASELINE", .kind = CLI_TEXT, CLI_AT(baseline) },
    { .word = "RUN", .kind = CLI_TEXT, CLI_AT(run) },
    { "json",    'j', NULL,         CLI_ON,   CLI_AT(json), .help = "one JSON object on stdout" },
    { "history", 'H', "FILE.jsonl", CLI_TEXT, CLI_AT(history),
      .help = "file that gets a line about this night; `spotter report --trend` draws it" },
    { "commit",  'c', "ID",         CLI_TEXT, CLI_AT(commit), .help = "commit of the build, for the line in the history" },
    { .kind = CLI_HEADING, .help = "Two versions of a classifier on the same rows:" },
    { "against",    0,   "P2|DIR", CLI_TEXT, CLI_AT(versions.from.second),
      .help = "probabilities of version 2, as --probs, or its findings; BASELINE, if there, has the findings of version 1" },
    { "embeddings", 'e', "E",     CLI_TEXT, CLI_AT(versions.from.files.embeddings),
      .help = "features of each row: (n, d) numbers in .npy, .npz:NAME, .safetensors:NAME or .csv:e0..e511; not needed where "
              "BASELINE keeps those of all its rows, in fit.safetensors" },
    { "labels",     'y', "Y",     CLI_TEXT, CLI_AT(versions.from.files.labels), .otherwise = "those of BASELINE",
      .help = "true class of each row: numbers or words" },
    { "probs",      'p', "P",     CLI_TEXT, CLI_AT(versions.from.files.probs), .otherwise = "those of BASELINE",
      .help = "probabilities of version 1: of each class, (n, classes), or of each row's true class" },
    { "ids",        'i', "I",     CLI_TEXT, CLI_AT(versions.from.files.ids), .otherwise = "row numbers",
      .help = "names of the rows" },
    { "against-ids", 0,  "I2",    CLI_TEXT, CLI_AT(versions.from.second_ids),
      .help = "names of the rows of --against, if they come in another order" },
    { "name",       0,   "A,B",   CLI_TEXT, CLI_AT(versions.name), .otherwise = "names of the files",
      .help = "names of the two versions" },
    { "data",       0,   "NAME",  CLI_TEXT, CLI_AT(versions.data), .help = "name of the rows" },
    { "class",      0,   "NAME|N|each|all", CLI_TEXT, CLI_AT(versions.cls), .otherwise = "each",
      .help = "class whose slices are compared; each class in turn; or all rows at once" },
    { "method",     'm', "M[,M]", CLI_TEXT, CLI_AT(versions.method), .otherwise = "those of BASELINE, else of discover",
      .help = "methods that find slices" },
    { "config",     0,   "FILE",  CLI_TEXT, CLI_AT(versions.config),
      .help = "methods with settings and a seed, as in discover" },
    { "least",      0,   "N",     CLI_INT, CLI_AT(versions.least), 1, 1000000000, .preset = "20",
      .help = "rows that a class must have to be searched" },
    { "margin",     0,   "X",     CLI_REAL, CLI_AT(versions.margin), 0.001, 0.5, .preset = "0.05",
      .help = "difference of error rates that counts as none" },
    { "out",        'o', "DIR",   CLI_TEXT, CLI_AT(versions.out), .most = 1000,
      .help = "folder for versions.json, versions.csv and report.html" },
    { "html",       0,   "FILE.html", CLI_TEXT, CLI_AT(versions.html), .most = 1000, .otherwise = "report.html in --out",
      .help = "page of the two versions side by side" },
    { "images",     0,   "DIR",   CLI_TEXT, CLI_AT(versions.from.images), .otherwise = "where `spotter discover` saw them",
      .help = "folder of pictures named by --ids, for the page" },
    { "full",       0,   NULL,    CLI_ON,   CLI_AT(versions.full), .help = "all pictures on the page, whatever its size" },
    { "title",      0,   "TEXT",  CLI_TEXT, CLI_AT(versions.title), .otherwise = "names of the versions",
      .help = "title of the page" },
    { "date",       0,   "TEXT",  CLI_TEXT, CLI_AT(versions.date), .help = "date on the page, such as 2026-11-27" },
    CLI_MACHINE_ROWS("cpu"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    options *o = input;
    cli_comparison *k = &o->versions;

    if (!k->from.second && o->run && k->from.files.embeddings) k->from.second = o->run, o->run = NULL;
    if (k->from.second && o->run) argp_error(state, "--against is version 2, and %s is one word too many", o->run);
    if (k->from.second && (o->history || o->commit)) argp_error(state, "--history and --commit belong to nights, not to --against");
    k->from.found = o->baseline;
    k->json = o->json;
    if (k->from.second && !k->from.found && !k->from.files.probs)
        argp_error(state, "version 1 is missing; for example: found --against %s, or --embeddings, --labels and --probs",
                   k->from.second);
    if (k->method && k->config) argp_error(state, "--method and --config both choose the methods; give one of them");
    if (!o->baseline && !k->from.second) argp_error(state, "BASELINE is missing; for example: configs/nightly.baseline.json");
    if (!o->run && !k->from.second) argp_error(state, "RUN is missing; for example: runs/nightly");
}

static bool is_findings(const char *path) { return spot_version_kind_of(path) == SPOT_VERSION_FINDINGS; }

static spot_status check_run(spot_ctx *c, void *input)
{
    options *o = input;

    if (!o->versions.from.second && is_findings(o->baseline) && is_findings(o->run)) o->versions.from.second = o->run;
    if (o->versions.from.second) return cli_compare_rows(c, &o->versions);
    if (spot_is_model_run(o->baseline) && spot_is_model_run(o->run)) return cli_compare_models(c, o->baseline, o->run, o->json);
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
    "check", "comparison with a baseline, or of two versions of a model", "BASELINE RUN\n[BASELINE] --against P2|DIR",
    "  spotter check configs/nightly.baseline.json runs/tonight\n"
    "  spotter check base.json runs/tonight --history nights.jsonl\n"
    "  spotter check runs/version_1 runs/version_2\n"
    "  spotter check found --against probs_v2.npy --html v2.html\n"
    "  spotter check --against p2.npy -e e.npy -y y.npy -p p1.npy --name v1,v2\n"
    "  spotter accept runs/tonight -o base.json --reason \"more starts\"",
    "Compares a run of `spotter sweep` or `spotter shifts` with a baseline: its bits where the same bits are promised, its "
    "numbers on the same ECs (of shifts: impact, slope, pass rate and classes of every source and shift, on the same classes "
    "and models), and the paper's numbers where a sweep has the paper's settings. The exit code is 1 if something is worse, "
    "better than possible, or broken. A line in quarantine is shown and fails nothing. BASELINE and RUN may also be two runs "
    "of `spotter background` or of `spotter examine`, each DIR or DIR:MODEL: then one version of a model stands against "
    "another, with tests over pictures or objects. With --against, two versions of your own classifier are compared on the "
    "same rows: each confirmed blindspot of either, and a slice that changed, is mended, better, same, worse, new, or "
    "pending where the rows cannot tell; the exit code is 1 only if something is worse or new.", table, check_options,
    .work = check_run, CLI_OPTIONS(run), .machine = true
};
