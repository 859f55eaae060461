/* cmd_sweep.c - spotter sweep: run a config, or what is missing of it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/submit.h"
#include "spotter/work.h"
#include "spotter/sweep.h"

typedef struct {
    cli_machine machine;
    const char *config;
    const char *shard, *gpus;
    char shard_from[64];
    int max_seconds;
    spot_sweep_options sweep;
    cli_array array;
    bool json;
} options;

enum {
    OUT = 'o', SHARD = 's', LIMIT = 'n', JSON = 'j',
    NO_PICTURES = 0x100, WAVE, AT_ONCE, MAX_SECONDS, STARTS, GPUS, KEEP
};

static const struct argp_option table[] = {
    { "out",         OUT,         "DIR", 0, "run directory; the same command again goes on where it was", 0 },
    { "shard",       SHARD,       "I/N", 0,
      "do only the I-th of N equal parts of the ECs, counted from 0: one a process, one directory for all. auto/N takes I from "
      "SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX; without --shard N, too, is taken from a Slurm array, and tasks of one srun "
      "share their part", 0 },
    { "limit",       LIMIT,       "N",   0, "at most N ECs of the config", 0 },
    { "json",        JSON,        NULL,  0, "one final object on stdout", 0 },
    { "wave",        WAVE,        "N",   0,
      "N ECs go together through what follows their views; results do not depend on it (CPU: 1; GPU: 32, or fewer if "
      "they do not fit)", 0 },
    { "at-once",     AT_ONCE,     "N",   0,
      "N ECs of a wave train side by side; results do not depend on it (CPU: 1; GPU: 2)", 0 },
    { "gpus",        GPUS,        "LIST", 0,
      "a process for each GPU of this machine, all or 0,1,3, that share the work; each has a part of the cores", 0 },
    { "max-seconds", MAX_SECONDS, "N",   0,
      "stop in time to be gone after N seconds, with exit code 75: no EC is begun that would take longer", 0 },
    { "starts",      STARTS,      "N",   0,
      "stopped for the N-th time without any progress since the first, it ends with 5, not 75 (5; 0: never)", 0 },
    { "keep",        KEEP,        "all|views|results", 0,
      "what stays in the run directory's cache of an EC that is done: all, all but its networks (45 MB each), or nothing but "
      "its results; for sweeps of thousands (all)", 0 },
    { "no-pictures", NO_PICTURES, NULL,  0, "leave out the PNG of each EC", 0 },
    { 0 }
};

static error_t option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->machine;
        state->child_inputs[1] = &o->array;
        return 0;
    case OUT:           o->sweep.out = arg; return 0;
    case LIMIT:         o->sweep.limit = cli_number(state, "--limit", arg, 1, 1000000); return 0;
    case WAVE:          o->sweep.wave = cli_number(state, "--wave", arg, 1, SPOT_WIDEST_WAVE); return 0;
    case AT_ONCE:       o->sweep.at_once = cli_number(state, "--at-once", arg, 1, SPOT_MOST_AT_ONCE); return 0;
    case JSON:          o->json = true; return 0;
    case KEEP:          o->sweep.keep = (spot_kept)cli_keep(state, arg); return 0;
    case NO_PICTURES:   o->sweep.pictures = false; return 0;
    case SHARD:         o->shard = arg; return 0;
    case GPUS:          o->gpus = strcmp(arg, "none") ? arg : NULL; return 0;
    case MAX_SECONDS:   o->max_seconds = cli_number(state, "--max-seconds", arg, 1, 10000000); return 0;
    case STARTS:        o->sweep.starts = cli_number(state, "--starts", arg, 0, 1000000); return 0;
    case ARGP_KEY_ARG:
        if (o->config) argp_error(state, "one config at a time; \"%s\" is one too many", arg);
        o->config = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->config) argp_error(state, "which config? for example configs/quickstart.yaml");
        if (!o->sweep.out) argp_error(state, "where to? give a run directory with --out DIR");
        if (o->array.submit && (o->shard || o->max_seconds || o->gpus || o->json))
            argp_error(state, "--submit sees to --shard and --max-seconds itself, has --gpus-per-task for --gpus, no --json");
        if (o->array.submit && !o->machine.threads) o->machine.threads = 4;
        if (o->array.submit) return 0;
        cli_pick_shard(state, o->shard, &o->sweep.shard, &o->sweep.shards, o->shard_from);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static spot_status print_json(spot_ctx *c, spot_sweep_report *r, spot_status s, const char *out)
{
    spot_json j;
    char status[32], dir[1024];
    int schema = 1;

    SPOT_TRY(spot_json_open(c, &j));
    snprintf(status, sizeof status, "%s", spot_status_name(s));
    snprintf(dir, sizeof dir, "%s", out);
    spot_json_int(&j, "schema", &schema);
    spot_json_text(&j, "status", status, sizeof status);
    spot_json_text(&j, "out", dir, sizeof dir);
    spot_json_int(&j, "planned", &r->planned);
    spot_json_int(&j, "already", &r->already);
    spot_json_int(&j, "done", &r->done);
    spot_json_int(&j, "failed", &r->failed);
    spot_json_int(&j, "not_learned", &r->not_learned);
    spot_json_real(&j, "seconds", &r->seconds);
    spot_json_print(&j, stdout);
    return s;
}

static void summarise(spot_ctx *c, const spot_sweep_report *r, const char *out)
{
    char time[32], failed[40] = "", learned[64] = "";

    if (r->failed) snprintf(failed, sizeof failed, ", %d failed", r->failed);
    if (r->not_learned) snprintf(learned, sizeof learned, ", %d did not learn their blindspots", r->not_learned);
    if (r->done || r->failed)
        spot_log(c, SPOT_LOG_INFO, "%d of %d ECs done, %d of them now in %s%s%s", r->already + r->done, r->planned, r->done,
                 cli_duration(time, r->seconds), failed, learned);
    if (r->already + r->done) spot_log(c, SPOT_LOG_INFO, "the tables: spotter tables %s", out);
}

/* The stop flag goes up a while before the end: the next safe point is 20 s away at most, and a disk may be slow. */
static void watch_the_clock(options *o)
{
    int margin = o->max_seconds < 120 ? o->max_seconds / 4 : 30;

    if (!o->max_seconds) return;
    o->sweep.seconds = o->max_seconds - margin;
    alarm((unsigned)(o->max_seconds - margin));
}

static void say_shard(spot_ctx *c, const options *o, const spot_config *cfg)
{
    char ecs[40] = "no EC";
    int from, to;

    if (!*o->shard_from) return;
    spot_shard_range(&from, &to, o->sweep.shard, o->sweep.shards,
                     o->sweep.limit && o->sweep.limit < cfg->ecs ? o->sweep.limit : cfg->ecs);
    if (from < to) snprintf(ecs, sizeof ecs, "ECs %d-%d", from, to - 1);
    spot_log(c, SPOT_LOG_INFO, "shard %d of %d (%s), from %s", o->sweep.shard, o->sweep.shards, ecs, o->shard_from);
}

static spot_status run_here(spot_ctx *c, options *o, const spot_config *cfg, spot_sweep_report *r)
{
    cli_say_device(c, &o->machine);
    say_shard(c, o, cfg);
    watch_the_clock(o);
    return spot_sweep_run(c, cfg, &o->sweep, r);
}

static spot_status share_gpus(spot_ctx *c, options *o, const spot_config *cfg, int argc, char **argv, spot_sweep_report *r,
                              int *code)
{
    say_shard(c, o, cfg);
    return cli_gpus(c, o->gpus, &o->sweep, &o->machine, argc, argv, r, code);
}

static spot_status status_of(int code)
{
    spot_status s = SPOT_OK;

    while (s < SPOT_STATUS_COUNT && spot_exit_code(s) != code) s++;
    return s < SPOT_STATUS_COUNT ? s : SPOT_CHECK;
}

int cli_sweep(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { &cli_array_argp, 0, NULL, 0 },
                                                 { 0 } };
    static const struct argp argp = { table, option, "CONFIG --out DIR",
        "Renders the data sets of a config, trains a classifier on each, runs the discovery methods and scores them."
        "\n\nExamples:\n"
        "  spotter sweep configs/quickstart.yaml --out runs/quickstart\n"
        "  spotter sweep configs/mini_synthetic.yaml --out runs/mini --shard 0/4\n"
        "  spotter sweep configs/mini_synthetic.yaml --out runs/mini --submit --partition cpu\n"
        "A run that was stopped goes on with the same command.", children, NULL, NULL };
    options o = { .sweep = { .shards = 1, .pictures = true, .starts = 5 }, .array.minutes = 40 };
    spot_sweep_report report = { 0 };
    static spot_config cfg;
    cli_machine machine;
    spot_status s;
    spot_ctx c;
    int code = 0;

    cli_parse(&argp, argc, argv, &o);
    machine = o.machine;
    if (o.gpus) machine.device = "cpu";        /* this process only waits for those that compute */
    if (o.array.submit) machine.device = "auto";       /* what the jobs will find is not to be had where they are submitted */
    s = cli_open(&c, &machine);
    if (s == SPOT_OK) s = cli_config(&c, &cfg, o.config);
    if (o.array.submit) {
        if (s == SPOT_OK) s = cli_submit(&c, &cfg, &o.sweep, &o.array, &o.machine);
        return cli_close(&c, s);
    }
    if (s == SPOT_OK) {
        double since = spot_clock();
        s = o.gpus ? share_gpus(&c, &o, &cfg, argc, argv, &report, &code) : run_here(&c, &o, &cfg, &report);
        report.seconds = spot_clock() - since;
        cli_log_close();
        if (o.json && !code) s = print_json(&c, &report, s, o.sweep.out);
        else if (o.json) print_json(&c, &report, status_of(code), o.sweep.out);
        else if (report.planned) summarise(&c, &report, o.sweep.out);
    }
    if (s != SPOT_OK || !code) return cli_close(&c, s);
    cli_close(&c, SPOT_OK);                    /* the processes have said why */
    return code;
}
