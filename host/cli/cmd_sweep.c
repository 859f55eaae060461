/* cmd_sweep.c - spotter sweep: runs the ECs of a config that are missing. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "cli/study_command.h"
#include "cli/submit.h"
#include "spotter/work.h"
#include "spotter/sweep.h"

typedef struct {
    cli_study_flags study;
    const char *gpus;
    spot_sweep_options sweep;
    cli_array array;
} sweep_flags, cli_flags;

static void read_gpus(const struct argp_state *state, const char *word, void *input)
{
    sweep_flags *o = input;

    (void)state;
    o->gpus = strcmp(word, "none") ? word : NULL;          /* "none": a process of --gpus */
}

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(study.config), .need = "configs/quickstart.yaml" },
    { "out",    'o', "DIR", CLI_TEXT, CLI_AT(study.place.out), .need = "runs/quickstart", .flags = CLI_STAYS,
      .help = "run directory; the same command continues the run" },
    { "shard",  's', "I/N", CLI_TEXT, CLI_AT(study.shard), .flags = CLI_STAYS,
      .help = "part I of N of the ECs, counted from 0; all processes share one directory. auto/N: I is SLURM_ARRAY_TASK_ID or "
              "JOB_COMPLETION_INDEX. Without --shard, a Slurm array sets I and N, and the tasks of one srun share their part" },
    CLI_SWEEP_ROWS,
    { "gpus",   0,   "LIST", CLI_CALL, .read = read_gpus, .flags = CLI_STAYS,
      .help = "one process for each GPU of the list: all, or numbers such as 0,1,3; the processes share ECs (as with --shared) "
              "and cores" },
    { "shared", 0,   NULL, CLI_ON, CLI_AT(study.place.shared),
      .help = "a shard that has done its own part takes ECs of the others, which work in the same DIR" },
    { "max-seconds", 0, "N", CLI_INT, CLI_AT(study.max_seconds), 1, 10000000, .flags = CLI_STAYS,
      .help = "time limit: the program ends within N seconds, with exit code 75; it starts no EC that would take longer" },
    { "starts", 0,   "N", CLI_INT, CLI_AT(study.place.starts), 0, 1000000, .preset = "5",
      .help = "number of starts without progress after which the exit code is 5 instead of 75; 0: no limit" },
    { "beside", 0,   NULL, CLI_ON, CLI_AT(study.place.beside), .help = "no stop where another process computes the same ECs" },
    { "json",   'j', NULL, CLI_ON, CLI_AT(study.json), .flags = CLI_STAYS, .help = "one JSON object on stdout at the end" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_HEADING, .help = "Slurm:" },
    { "submit",        0, NULL, CLI_ON, CLI_AT(array.submit), .flags = CLI_STAYS,
      .help = "submission as an array of jobs; the same command again submits what is missing" },
    { "shards",        0, "N", CLI_INT, CLI_AT(array.shards), 1, 1000000, .flags = CLI_SUBMIT,
      .otherwise = "from --task-minutes and a calibration on this machine", .help = "number of tasks in the array" },
    { "task-minutes",  0, "N", CLI_INT, CLI_AT(array.minutes), 1, 10000, .preset = "40", .flags = CLI_SUBMIT,
      .help = "duration of a task; Slurm's time limit is three times as long" },
    { "throttle",      0, "N", CLI_INT, CLI_AT(array.throttle), 1, 1000000, .flags = CLI_SUBMIT, .otherwise = "no limit",
      .help = "largest number of tasks that run at a time" },
    { "partition",     0, "NAME", CLI_TEXT, CLI_AT(array.partition), .flags = CLI_SUBMIT, .help = "Slurm's partition" },
    { "gpus-per-task", 0, "N", CLI_INT, CLI_AT(array.gpus), 1, 64, .flags = CLI_SUBMIT,
      .help = "GPUs of one node for each task, with one process per GPU" },
    { "sbatch",        0, "OPTIONS", CLI_TEXT, CLI_AT(array.extra), .flags = CLI_SUBMIT,
      .help = "more options for sbatch, such as '--account=x --mem=16G'" },
    { "dry-run",       0, NULL, CLI_ON, CLI_AT(array.dry_run), .flags = CLI_SUBMIT,
      .help = "scripts are written and commands printed; nothing is submitted" },
    { .kind = CLI_END }
};

static void check_array(const struct argp_state *state, sweep_flags *o)
{
    static const char *const others[] = { "shard", "max-seconds", "gpus", "json" };

    for (const cli_row *row = table; row->kind && !o->array.submit; row++)
        if (row->flags & CLI_SUBMIT && cli_is_given(state, row->name)) argp_error(state, "--%s needs --submit", row->name);
    for (size_t i = 0; o->array.submit && i < sizeof others / sizeof *others; i++)
        if (cli_is_given(state, others[i]))
            argp_error(state, "--%s does not go with --submit, which sets shards, time limits and GPUs (--gpus-per-task)",
                       others[i]);
    if (o->array.submit && !o->study.machine.threads) o->study.machine.threads = 4;
}

static void check_options(const struct argp_state *state, void *input)
{
    sweep_flags *o = input;

    check_array(state, o);
    if (o->gpus && !cli_is_given(state, "device")) o->study.machine.device = "cuda";
    if (!o->array.submit) cli_study_check(state, o);
    o->sweep.place = o->study.place;
}

static spot_status end_run(spot_ctx *c, spot_status s, const sweep_flags *o, const spot_sweep_report *r)
{
    const spot_run_report run = { r->planned, r->already, r->done, r->seconds };

    return cli_study_end(c, s, &o->study, &run, CLI_COUNTS({ "failed", r->failed }, { "not_learned", r->not_learned }));
}

static void log_summary(spot_ctx *c, const spot_sweep_report *r, const spot_run_place *place)
{
    char time[32], failed[40] = "", learned[64] = "";
    spot_quoted quoted;

    if (r->failed) snprintf(failed, sizeof failed, ", %d failed", r->failed);
    if (r->not_learned) snprintf(learned, sizeof learned, ", %d did not learn their blindspots", r->not_learned);
    if ((r->done || r->failed) && place->shared)
        spot_log(c, SPOT_LOG_INFO, "%d EC%s done now in %s, of its own part or of others; %d of its %d were done before%s%s",
                 r->done, r->done == 1 ? "" : "s", cli_duration(time, r->seconds), r->already, r->planned, failed, learned);
    else if (r->done || r->failed)
        spot_log(c, SPOT_LOG_INFO, "%d of %d ECs done, %d of them now in %s%s%s", r->already + r->done, r->planned, r->done,
                 cli_duration(time, r->seconds), failed, learned);
    if (r->already + r->done) spot_log(c, SPOT_LOG_INFO, "tables: %s tables %s", cli_program, spot_quote(quoted, place->out));
}

static void log_shard(spot_ctx *c, const sweep_flags *o, const spot_config *cfg)
{
    const spot_run_place *place = &o->sweep.place;
    char ecs[40] = "no EC";
    int from, to;

    if (!*o->study.shard_from) return;
    spot_shard_range(&from, &to, place->shard, place->shards,
                     o->sweep.limit && o->sweep.limit < cfg->ecs ? o->sweep.limit : cfg->ecs);
    if (from < to) snprintf(ecs, sizeof ecs, "ECs %d-%d", from, to - 1);
    spot_log(c, SPOT_LOG_INFO, "shard %d of %d (%s), from %s", place->shard, place->shards, ecs, o->study.shard_from);
}

static spot_status run_shard(spot_ctx *c, sweep_flags *o, const spot_config *cfg, int argc, char **argv, spot_sweep_report *r,
                             int *code)
{
    if (!o->gpus) cli_log_device(c, &o->study.machine);
    log_shard(c, o, cfg);
    if (o->gpus) return cli_gpus(c, o->gpus, &o->sweep, &o->study.machine, argc, argv, r, code);
    o->sweep.place = cli_study_place(&o->study);
    return spot_sweep_run(c, cfg, &o->sweep, r);
}

static spot_status status_of(int code)
{
    spot_status s = SPOT_OK;

    while (s < SPOT_STATUS_COUNT && spot_exit_code(s) != code) s++;
    return s < SPOT_STATUS_COUNT ? s : SPOT_CHECK;
}

static int run_sweep(int argc, char **argv)
{
    sweep_flags o = { .study.place.shards = 1 };
    cli_given given;
    spot_sweep_report report = { 0 };
    spot_config cfg = { 0 };
    cli_machine machine;
    spot_status s;
    spot_ctx c;
    int code = 0;

    cli_parse(&cli_sweep_command, argc, argv, &o, &given);
    machine = o.study.machine;
    if (o.gpus) machine.device = "cpu";        /* this process only waits for the others */
    if (o.array.submit) machine.device = "auto";       /* the jobs' device may be missing where they are submitted */
    s = cli_open(&c, &machine);
    if (s == SPOT_OK) s = cli_config(&c, &cfg, o.study.config);
    if (o.array.submit) {
        if (s == SPOT_OK) s = cli_submit(&c, &cfg, &o.sweep, &o.array, &given);
        spot_memory_close(&cfg.memory);
        return cli_close(&c, s);
    }
    if (s == SPOT_OK) {
        double since = spot_clock();
        s = run_shard(&c, &o, &cfg, argc, argv, &report, &code);
        report.seconds = spot_clock() - since;
        if (code) end_run(&c, status_of(code), &o, &report);
        else s = end_run(&c, s, &o, &report);
        if (!o.study.json && report.planned) log_summary(&c, &report, &o.sweep.place);
    }
    spot_memory_close(&cfg.memory);
    if (s != SPOT_OK || !code) return cli_close(&c, s);
    cli_close(&c, SPOT_OK);                    /* the processes have printed the reason */
    return code;
}

const cli_command cli_sweep_command = {
    "sweep", "images, classifiers, discovery methods and scores of a config", "CONFIG --out DIR",
    "  spotter sweep configs/quickstart.yaml --out runs/quickstart\n"
    "  spotter sweep configs/mini_synthetic.yaml --out runs/mini --shard 0/4\n"
    "  spotter sweep configs/mini_synthetic.yaml --out runs/mini --submit",
    "Renders the data sets of a config, trains a classifier on each, runs the discovery methods and scores them. The same "
    "command continues a run that was stopped.", table, check_options, .run = run_sweep
};
