/* cmd_shifts.c - spotter shifts: how much each distribution shift costs each model. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "spotter/report.h"
#include "spotter/shifts.h"


typedef struct {
    cli_machine machine;
    const char *config, *shard;
    char shard_from[64];
    int max_seconds;
    spot_shifts_options run;
    bool json, pick;
    int grids;
    const char *votes;
} options;

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(config), .need = "configs/dataset_interfaces.yaml" },
    { "out",    'o', "DIR", CLI_TEXT, CLI_AT(run.place.out), .most = 1000, .need = "runs/shifts",
      .help = "run directory; the same command continues the run" },
    CLI_RUN_ROWS("the folders of pictures"),
    { "pick",   0,   NULL, CLI_ON, CLI_AT(pick),
      .help = "contact sheets in DIR/pick.html, from which to choose the thresholds of the shifts" },
    { "grids",  0,   "N", CLI_INT, CLI_AT(grids), 1, 1000,
      .help = "N grids of 48 pictures for raters about shifts, and N about objects, in DIR/grids, with a form for "
              "answers" },
    { "votes",  0,   "FILE.csv", CLI_TEXT, CLI_AT(votes),
      .help = "filled forms of all raters in one file: selection frequencies, agreement, Figure 6" },
    { "json",   'j', NULL, CLI_ON, CLI_AT(json), .help = "one JSON object on stdout at the end" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    options *o = input;

    cli_pick_shard(state, o->shard, &o->run.place.shard, &o->run.place.shards, o->shard_from);
}

/* ---- pages for people ---- */

static spot_status write_pick(spot_ctx *c, const options *o)
{
    spot_report_options page = spot_report_defaults();
    char path[1100];

    page.thumb = 96;
    snprintf(path, sizeof path, "%s/pick.html", o->run.place.out);
    SPOT_TRY(spot_report_pick(c, path, o->run.place.out, &page));
    spot_log(c, SPOT_LOG_INFO, "%s: open it in a browser, choose, and copy the lines into %s", path, o->config);
    return SPOT_OK;
}

/* They need all folders: of a run of which another shard has not ended, nothing is written. */
static spot_status write_pages(spot_ctx *c, const options *o, spot_shifts_results *r)
{
    if (!o->pick && !o->grids && !o->votes) return SPOT_OK;
    if (!r->cfg) SPOT_TRY(spot_shifts_read(c, r, o->run.place.out));        /* says which folder is missing */
    if (o->pick) SPOT_TRY(write_pick(c, o));
    if (o->grids) SPOT_TRY(spot_shifts_grids(c, r, o->run.place.out, o->grids));
    if (o->grids)
        spot_log(c, SPOT_LOG_INFO, "%s/grids: %d pages; answers.csv is the form, key.csv is not for raters", o->run.place.out,
                 2 * o->grids);
    return o->votes ? spot_shifts_votes(c, o->json ? stderr : stdout, r, o->run.place.out, o->votes) : SPOT_OK;
}

/* ---- the command ---- */

/* Thresholds of another encoder are refused, but not where they are to be chosen anew. */
static spot_status run_units(spot_ctx *c, const options *o, spot_shifts_config *cfg, spot_run_report *report)
{
    const spot_status s = spot_shifts_run(c, cfg, &o->run, report);
    bool any = false;

    for (int i = 0; i < cfg->shifts; i++) any |= cfg->shift[i].threshold > -1;
    if (s != SPOT_USAGE || !o->pick || !any) return s;
    spot_forget(c);
    for (int i = 0; i < cfg->shifts; i++) cfg->shift[i].threshold = -1;
    spot_log(c, SPOT_LOG_WARN, "the thresholds of %s are not used: they were chosen for another encoder", o->config);
    return spot_shifts_run(c, cfg, &o->run, report);
}

static spot_status run_config(spot_ctx *c, options *o, spot_shifts_config *cfg)
{
    spot_run_report report = { 0 };
    spot_shifts_results results = { 0 };
    spot_shifts_cost cost;
    char memory[32];
    spot_status s;

    SPOT_TRY(spot_shifts_planted(c, cfg, o->run.place.out));
    SPOT_TRY(spot_shifts_cost_of(c, cfg, &cost));
    spot_log(c, SPOT_LOG_INFO, "%d folders with %d pictures of %d classes, %d models; at most %s of memory, beside networks "
             "and decoding", cost.units, cost.pictures, cost.classes, cfg->models, cli_memory(memory, (double)cost.memory));
    o->run.place.seconds = cli_limit_time(o->max_seconds);
    o->run.results = &results;
    s = run_units(c, o, cfg, &report);
    if (s == SPOT_OK) s = write_pages(c, o, &results);
    cli_log_close();
    if (o->json)
        s = cli_json_run(c, s, o->run.place.out, &report, CLI_COUNTS({ "pictures", cost.pictures },
                                                               { "memory_bytes", (double)cost.memory }));
    else if (s == SPOT_OK && !o->votes && results.cfg) s = spot_shifts_show(c, stdout, &results, o->run.place.out);
    spot_shifts_close(&results);
    return s;
}

static spot_status run_shifts(spot_ctx *c, void *input)
{
    options *o = input;
    spot_shifts_config cfg;
    spot_status s;

    cli_log_device(c, &o->machine);
    s = spot_shifts_load(c, &cfg, o->config);
    if (s == SPOT_OK) s = run_config(c, o, &cfg);
    spot_memory_close(&cfg.memory);
    return s;
}

const cli_command cli_shifts_command = {
    "shifts", "cost of distribution shifts for models: impact and slope", "CONFIG --out DIR",
    "  spotter shifts configs/dataset_interfaces.yaml --out runs/imagenet_star\n"
    "  spotter shifts my_shifts.yaml --out runs/mine --shard 0/4\n"
    "  spotter shifts my_shifts.yaml --out runs/mine --pick\n"
    "  spotter merge runs/mine && spotter status runs/mine",
    "Filters pictures of distribution shifts by their similarity to captions of class and shift, and measures for each shift "
    "how much accuracy it costs (absolute impact) and how far better models lose less (slope), with intervals. Writes "
    "shifts.json and shifts.csv. The same command continues a run that was stopped, also with other thresholds. --pick makes a "
    "page from which to choose them; `spotter report` and `spotter figures` show the results. `spotter help config shifts` "
    "lists the settings.", table, check_options,
    .work = run_shifts, CLI_OPTIONS(config), .machine = true
};
