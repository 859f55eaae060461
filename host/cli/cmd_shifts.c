/* cmd_shifts.c - spotter shifts: how much each distribution shift costs each model. */
#include <stdio.h>

#include "cli/study_command.h"
#include "spotter/report.h"
#include "spotter/shifts.h"

typedef struct {
    cli_study_flags study;
    bool pick;
    int grids;
    const char *votes;
} shifts_flags, cli_flags;

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(study.config), .need = "configs/dataset_interfaces.yaml" },
    CLI_OUT_ROW("runs/shifts"),
    { "pick",   0,   NULL, CLI_ON, CLI_AT(pick),
      .help = "contact sheets in DIR/pick.html, from which to choose the thresholds of the shifts" },
    { "grids",  0,   "N", CLI_INT, CLI_AT(grids), 1, 1000,
      .help = "N grids of 48 pictures for raters about shifts, and N about objects, in DIR/grids, with a form for "
              "answers" },
    { "votes",  0,   "FILE.csv", CLI_TEXT, CLI_AT(votes),
      .help = "filled forms of all raters in one file: selection frequencies, agreement, Figure 6" },
    CLI_STUDY_ROWS("the folders of pictures"),
    { .kind = CLI_END }
};

/* ---- pages for people ---- */

static spot_status write_pick(spot_ctx *c, const shifts_flags *o)
{
    spot_report_options page = spot_report_defaults();
    char path[1100];

    page.thumb = 96;
    snprintf(path, sizeof path, "%s/pick.html", o->study.place.out);
    SPOT_TRY(spot_report_pick(c, path, o->study.place.out, &page));
    spot_log(c, SPOT_LOG_INFO, "%s: open it in a browser, choose, and copy the lines into %s", path, o->study.config);
    return SPOT_OK;
}

/* They need all folders: of a run of which another shard has not ended, nothing is written. */
static spot_status write_pages(spot_ctx *c, const shifts_flags *o, spot_shifts_results *r)
{
    const char *out = o->study.place.out;

    if (!o->pick && !o->grids && !o->votes) return SPOT_OK;
    if (!r->cfg) SPOT_TRY(spot_shifts_read(c, r, out));        /* says which folder is missing */
    if (o->pick) SPOT_TRY(write_pick(c, o));
    if (o->grids) SPOT_TRY(spot_shifts_grids(c, r, out, o->grids));
    if (o->grids)
        spot_log(c, SPOT_LOG_INFO, "%s/grids: %d pages; answers.csv is the form, key.csv is not for raters", out, 2 * o->grids);
    return o->votes ? spot_shifts_votes(c, o->study.json ? stderr : stdout, r, out, o->votes) : SPOT_OK;
}

/* ---- the command ---- */

/* Thresholds of another encoder are refused, but not where they are to be chosen anew. True: they are left out now. */
static bool leaves_out_thresholds(spot_ctx *c, const shifts_flags *o, spot_shifts_config *cfg, spot_status s)
{
    bool any = false;

    for (int i = 0; i < cfg->shifts; i++) any |= cfg->shift[i].threshold > -1;
    if (s != SPOT_USAGE || !o->pick || !any) return false;
    spot_forget(c);
    for (int i = 0; i < cfg->shifts; i++) cfg->shift[i].threshold = -1;
    spot_log(c, SPOT_LOG_WARN, "the thresholds of %s are not used: they were chosen for another encoder", o->study.config);
    return true;
}

static spot_status run_units(spot_ctx *c, const shifts_flags *o, spot_shifts_config *cfg, spot_shifts_results *results,
                             spot_run_report *report)
{
    const spot_shifts_options run = { cli_study_place(&o->study), results };
    const spot_status s = spot_shifts_run(c, cfg, &run, report);

    return leaves_out_thresholds(c, o, cfg, s) ? spot_shifts_run(c, cfg, &run, report) : s;
}

static spot_status make_world(spot_ctx *c, const shifts_flags *o, spot_shifts_config *cfg)
{
    const char *out = o->study.place.out;
    const spot_status s = spot_shifts_planted(c, cfg, out);

    return leaves_out_thresholds(c, o, cfg, s) ? spot_shifts_planted(c, cfg, out) : s;
}

static spot_status run_config(spot_ctx *c, void *config, void *flags)
{
    spot_shifts_config *cfg = config;
    const shifts_flags *o = flags;
    const char *out = o->study.place.out;
    spot_shifts_results results = { 0 };
    spot_shifts_cost cost;
    spot_run_report report = { 0 };
    char memory[32];
    spot_status s;

    if (cfg->plant.pictures) {
        SPOT_TRY(spot_shifts_cost_of(c, cfg, &cost));
        SPOT_TRY(cli_study_world(c, cost.memory, out, "plant/truth.csv"));
    }
    SPOT_TRY(make_world(c, o, cfg));
    SPOT_TRY(spot_shifts_cost_of(c, cfg, &cost));
    const double states = (double)cli_study_states(cost.memory);
    spot_log(c, SPOT_LOG_INFO, "%d folders with %d pictures of %d classes, %d models; at most %s of memory", cost.units,
             cost.pictures, cost.classes, cfg->models, cli_memory(memory, states));
    SPOT_TRY(cli_study_room(c, cost.memory));
    s = run_units(c, o, cfg, &results, &report);
    if (s == SPOT_OK) s = write_pages(c, o, &results);
    s = cli_study_end(c, s, &o->study, &report, CLI_COUNTS({ "pictures", cost.pictures },
                                                           { "memory_bytes", states }));
    if (s == SPOT_OK && results.cfg && !o->votes && !o->study.json) s = spot_shifts_show(c, stdout, &results, out);
    spot_shifts_close(&results);
    return s;
}

static spot_status run_shifts(spot_ctx *c, void *flags)
{
    return cli_study_run(c, &spot_shifts_study, NULL, run_config, flags);
}

const cli_command cli_shifts_command = {
    "shifts", "cost of distribution shifts for models: impact and slope", "CONFIG --out DIR",
    "  spotter shifts configs/dataset_interfaces.yaml --out runs/imagenet_star\n"
    "  spotter shifts my_shifts.yaml --out runs/mine --shard 0/4\n"
    "  spotter shifts my_shifts.yaml --out runs/mine --pick\n"
    "  spotter merge runs/mine && spotter status runs/mine",
    "Filters pictures of distribution shifts by their similarity to captions of class and shift, and measures for each shift "
    "how much accuracy it costs (absolute impact) and how far better models lose less (slope), with intervals. Writes "
    "shifts.json, shifts.csv and, with an encoder, coverage.csv (how much of the real pictures is covered). The same command "
    "continues a run that was stopped, also with other thresholds. --pick makes a page from which to choose them; `spotter "
    "report` and `spotter figures` show the results. `spotter help config shifts` "
    "lists the settings.", table, cli_study_check,
    .work = run_shifts, CLI_OPTIONS(grids), .machine = true
};
