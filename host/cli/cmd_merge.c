/* cmd_merge.c - spotter merge: the results of many processes in one directory, and the ECs that are missing. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
} merge_flags, cli_flags;

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
    const merge_flags *o = input;

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

static void print_text(spot_ctx *c, const spot_merge_report *r, const merge_flags *o, const char *out, int *number)
{
    const spot_study *y = o->study;
    char ranges[400], what[2400], more[80] = "";
    spot_quoted quoted;

    if (r->duplicates) snprintf(more, sizeof more, ", %d duplicates", r->duplicates);
    if (r->foreign) snprintf(more + strlen(more), sizeof more - strlen(more), ", %d foreign left out", r->foreign);
    spot_log(c, SPOT_LOG_INFO, "%d of %d %s are in %s%s", r->merged, r->ecs, y->units, out, more);
    for (int i = 0; i < TROUBLES; i++) {
        int n = list_ecs(number, r, &troubles[i]);
        if (!n) continue;
        if (y->by_words && troubles[i].mask != SPOT_EC_CONFLICT)
            snprintf(what, sizeof what, "the command that began the run, spotter %s with --out %s, makes them", y->name, out);
        else snprintf(what, sizeof what, troubles[i].what, out, y->name);
        spot_log(c, SPOT_LOG_WARN, "%s: %s (%d %s): %s", troubles[i].name, spot_ranges(ranges, sizeof ranges, number, n), n,
                 n == 1 ? y->unit : y->units, what);
    }
    if (r->merged && y->by_words)
        spot_log(c, SPOT_LOG_INFO, "the command that began the run, spotter %s with --out %s, makes its other files of them",
                 y->name, out);
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

/* ---- a run and those that belong to it ---- */

typedef struct { char out[1200]; spot_merge_report report; spot_status status; int *number; } merged;
typedef struct { merged *run; int runs; } merged_runs;

/* A merge that did not reach its end has only its error. */
static bool has_ended(const merged *m)
{
    return m->report.ec && m->report.merged + m->report.missing + m->report.damaged == m->report.ecs;
}

static void put_report(spot_json *j, const merged *m)
{
    const spot_merge_report *r = &m->report;

    spot_json_put_int(j, "ecs", r->ecs);
    spot_json_put_int(j, "merged", r->merged);
    spot_json_put_int(j, "duplicates", r->duplicates);
    spot_json_put_int(j, "foreign", r->foreign);
    spot_json_put_int(j, "missing", r->missing);
    spot_json_put_int(j, "damaged", r->damaged);
    spot_json_put_int(j, "conflicts", r->conflicts);
    for (int i = 0; i < TROUBLES; i++) print_ranges(j, troubles[i].key, m->number, list_ecs(m->number, r, &troubles[i]));
}

static spot_status print_json(spot_ctx *c, const merged_runs *all, spot_status s, const char *out)
{
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, s, out));
    put_report(&j, &all->run[0]);
    if (all->runs > 1) spot_json_array(&j, "parts", all->runs - 1, all->runs - 1);
    for (int i = 1; i < all->runs; i++) {
        spot_json_object(&j, NULL);
        spot_json_put_text(&j, "output", all->run[i].out);
        put_report(&j, &all->run[i]);
        spot_json_end(&j);
    }
    if (all->runs > 1) spot_json_end(&j);
    spot_json_print(&j, stdout);
    return s;
}

static spot_status merge_one(spot_ctx *c, const merge_flags *o, const char *const *dirs, int n, merged *m)
{
    m->status = spot_work_merge(c, o->study, dirs, n, m->out, &o->merge, &m->report);
    if (!m->report.ec) return m->status;
    m->number = malloc(((size_t)m->report.ecs + 1) * sizeof *m->number);
    return m->number ? m->status : spot_fail(c, SPOT_NOMEM, "no memory to list %d ECs", m->report.ecs);
}

/* Directories of part k in the sources that have it. path: a row of `size` for each source. */
static int find_sources(const char **from, char (*path)[1200], const merge_flags *o, const void *config, int k)
{
    char file[1300];
    int n = 0;

    for (int i = 0; i < o->dir.n; i++) {
        o->study->part(path[n], sizeof *path, o->dir.word[i], config, k);
        snprintf(file, sizeof file, "%s/config.yaml", path[n]);
        if (!access(file, F_OK)) from[n] = path[n], n++;
    }
    return n;
}

/* Merges part k; false by *more: there is none. A part that is not whole does not stop the others. */
static spot_status merge_part(spot_ctx *c, const merge_flags *o, merged_runs *all, const void *config, int k, bool *more)
{
    merged *grown = realloc(all->run, ((size_t)all->runs + 1) * sizeof *grown), *m;
    char (*path)[1200] = malloc((size_t)o->dir.n * sizeof *path);
    const char **from = malloc((size_t)o->dir.n * sizeof *from);
    spot_status s = SPOT_OK;

    if (grown) all->run = grown;
    if (!grown || !path || !from) s = spot_fail(c, SPOT_NOMEM, "no memory to merge parts of %s", o->out);
    m = all->run + all->runs;
    if (s == SPOT_OK) *m = (merged){ .status = SPOT_OK };
    *more = s == SPOT_OK && o->study->part(m->out, sizeof m->out, o->out, config, k);
    if (*more) {
        all->runs++;
        s = merge_one(c, o, from, find_sources(from, path, o, config, k), m);
    }
    free(path), free(from);
    return s;
}

/* A run that is not whole, or that nobody began, is reported with the others. */
static bool goes_on(spot_status s) { return s == SPOT_OK || s == SPOT_INPUT; }

static spot_status merge_all(spot_ctx *c, const merge_flags *o, merged_runs *all)
{
    char path[1300], why[1024] = "";
    void *config = NULL;
    bool more = o->study->part;
    spot_status s, first;

    snprintf(all->run[0].out, sizeof all->run[0].out, "%s", o->out);
    first = merge_one(c, o, o->dir.word, o->dir.n, &all->run[0]);
    snprintf(path, sizeof path, "%s/config.yaml", o->out);
    if (!more || !goes_on(first) || access(path, F_OK)) return first;
    if (first != SPOT_OK) snprintf(why, sizeof why, "%s", spot_message(c, first)), spot_forget(c);
    s = spot_study_load(c, o->study, &config, path);
    for (int k = 0; more && goes_on(s); k++) {
        s = merge_part(c, o, all, config, k, &more);
        if (s != SPOT_INPUT) continue;
        if (first == SPOT_OK) first = s, snprintf(why, sizeof why, "%s", spot_message(c, s));
        spot_forget(c);
    }
    spot_study_close(config);
    if (!goes_on(s)) return s;
    return first == SPOT_OK ? SPOT_OK : spot_fail(c, first, "%s", why);
}

static spot_status merge_runs(spot_ctx *c, void *input)
{
    merge_flags *o = input;
    merged_runs all = { calloc(1, sizeof *all.run), 1 };
    spot_status s;

    if (!all.run) return spot_fail(c, SPOT_NOMEM, "no memory to merge");
    if (!o->out) o->out = o->dir.word[0];
    s = cli_study_of(c, &o->study, o->dir.word[0]);
    if (s == SPOT_OK) s = merge_all(c, o, &all);
    cli_log_close();
    if (has_ended(&all.run[0]) && all.run[0].number && o->json) s = print_json(c, &all, s, o->out);
    for (int i = 0; i < all.runs; i++) {
        merged *m = &all.run[i];
        if (!o->json && has_ended(m) && m->number) print_text(c, &m->report, o, m->out, m->number);
        free(m->report.ec), free(m->number);
    }
    free(all.run);
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
