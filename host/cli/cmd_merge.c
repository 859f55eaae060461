/* cmd_merge.c - spotter merge: the results of many processes in one directory, and the ECs that are missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "base/ranges.h"
#include "cli/cli.h"
#include "spotter/work.h"
#include "sweep/segment.h"

typedef struct {
    cli_rest dir;
    const char *out;
    spot_merge_options merge;
    bool json;
    const spot_study *study;
} options;

static const cli_row table[] = {
    { .word = "DIR", .kind = CLI_REST, CLI_AT(dir), .need = "runs/a runs/b --out runs/all" },
    { "out",         'o', "DIR", CLI_TEXT, CLI_AT(out), .otherwise = "the DIR, if there is one only",
      .help = "run directory for all results; may be one of the others" },
    { "no-pictures", 0,   NULL,  CLI_OFF,  CLI_AT(merge.pictures), .help = "no PNG of each EC" },
    { "cache",       0,   NULL,  CLI_ON,   CLI_AT(merge.cache),
      .help = "stage values, too: `spotter report`, `spotter view` and a sweep that continues need them" },
    { "partial",     0,   NULL,  CLI_ON,   CLI_AT(merge.partial), .help = "exit code 0 also if ECs are missing" },
    { "json",        'j', NULL,  CLI_ON,   CLI_AT(json), .help = "one JSON object on stdout at the end" },
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    const options *o = input;

    if (o->dir.n > 1 && !o->out) argp_error(state, "--out DIR is missing; it may be one of the directories to merge");
}

/* A kind of problem with ECs: a line in the report. */
typedef struct { const char *name, *key, *what; unsigned mask, is; } trouble;

static const trouble troubles[] = {
    { "missing",  "missing_ecs",  "run `spotter %2$s %1$s/config.yaml --out %1$s` again",
      SPOT_EC_MERGED | SPOT_EC_DAMAGED, 0 },
    { "damaged",  "damaged_ecs",  "`spotter %2$s %1$s/config.yaml --out %1$s` makes them again",
      SPOT_EC_MERGED | SPOT_EC_DAMAGED, SPOT_EC_DAMAGED },
    { "conflict", "conflict_ecs", "their segments differ; were they made on different devices or by different builds?",
      SPOT_EC_CONFLICT, SPOT_EC_CONFLICT },
};
enum { TROUBLES = sizeof troubles / sizeof *troubles };

/* Writes the ECs with this problem, ascending, to number (r->ecs). Returns how many. */
static int list_ecs(int *number, const spot_merge_report *r, const trouble *t)
{
    int n = 0;

    for (int i = 0; i < r->ecs; i++)
        if ((r->ec[i] & t->mask) == t->is) number[n++] = i;
    return n;
}

static void print_text(spot_ctx *c, const spot_merge_report *r, const options *o, int *number)
{
    const spot_study *y = o->study;
    const char *out = o->out;
    char ranges[400], what[2400], more[80] = "";
    spot_quoted quoted;

    if (r->duplicates) snprintf(more, sizeof more, ", %d duplicates", r->duplicates);
    if (r->foreign) snprintf(more + strlen(more), sizeof more - strlen(more), ", %d foreign left out", r->foreign);
    spot_log(c, SPOT_LOG_INFO, "%d of %d %s are in %s%s", r->merged, r->ecs, y->units, out, more);
    for (int i = 0; i < TROUBLES; i++) {
        int n = list_ecs(number, r, &troubles[i]);
        if (!n) continue;
        snprintf(what, sizeof what, troubles[i].what, out, y->name);
        spot_log(c, SPOT_LOG_WARN, "%s: %s (%d %s): %s", troubles[i].name, spot_ranges(ranges, sizeof ranges, number, n), n,
                 n == 1 ? y->unit : y->units, what);
    }
    if (r->merged && y == &spot_sweep_study)
        spot_log(c, SPOT_LOG_INFO, "tables: %s tables %s", cli_program, spot_quote(quoted, out));
}

/* [[12,19],[40,40]] */
static void print_ranges(spot_json *j, const char *key, const int *number, int n)
{
    spot_json_array(j, key, n, n);
    for (int i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && number[last + 1] == number[last] + 1; last++) { }
        spot_json_array(j, NULL, 2, 2);
        spot_json_put_int(j, NULL, number[i]);
        spot_json_put_int(j, NULL, number[last]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static spot_status print_json(spot_ctx *c, const spot_merge_report *r, spot_status s, const char *out, int *number)
{
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, s, out));
    spot_json_put_int(&j, "ecs", r->ecs);
    spot_json_put_int(&j, "merged", r->merged);
    spot_json_put_int(&j, "duplicates", r->duplicates);
    spot_json_put_int(&j, "foreign", r->foreign);
    spot_json_put_int(&j, "missing", r->missing);
    spot_json_put_int(&j, "damaged", r->damaged);
    spot_json_put_int(&j, "conflicts", r->conflicts);
    for (int i = 0; i < TROUBLES; i++) print_ranges(&j, troubles[i].key, number, list_ecs(number, r, &troubles[i]));
    spot_json_print(&j, stdout);
    return s;
}

/* Prints the result of a merge that reached its end; a merge that did not has only its error. */
static spot_status print_report(spot_ctx *c, const options *o, spot_merge_report *r, spot_status s)
{
    int *number = r->ec ? malloc(((size_t)r->ecs + 1) * sizeof *number) : NULL;

    if (r->ec && !number) return spot_fail(c, SPOT_NOMEM, "no memory to list %d ECs", r->ecs);
    if (number && r->merged + r->missing + r->damaged == r->ecs) {
        if (o->json) s = print_json(c, r, s, o->out, number);
        else print_text(c, r, o, number);
    }
    free(number);
    return s;
}

static spot_status merge_runs(spot_ctx *c, void *input)
{
    options *o = input;
    spot_merge_report report = { 0 };
    spot_status s;

    if (!o->out) o->out = o->dir.word[0];
    SPOT_TRY(cli_study_of(c, &o->study, o->dir.word[0]));
    s = spot_work_merge(c, o->study, o->dir.word, o->dir.n, o->out, &o->merge, &report);
    cli_log_close();
    s = print_report(c, o, &report, s);
    free(report.ec);
    return s;
}

const cli_command cli_merge_command = {
    "merge", "one run directory from several, and a list of missing ECs", "DIR... --out DIR",
    "  spotter merge runs/big\n"
    "  spotter merge runs/shard-* --out runs/big\n"
    "  spotter merge runs/night1 runs/night2 --out runs/night1 --cache",
    "Copies the result segments of one config from several run directories to one, verifies each, and makes results.sqlite. "
    "Reports ECs that are missing, damaged or in conflict (exit code 3). Directories may overlap; their order does not "
    "matter. Results that are in --out already are kept. A single DIR is verified, and its database is made again.",
    table, check_options,
    .work = merge_runs, CLI_OPTIONS(out)
};
