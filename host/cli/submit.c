/* submit.c - spotter sweep --submit.
 *
 *     DIR/config.yaml            the resolved config, which is what the jobs read: the user's file may change or go
 *     DIR/slurm/array.sbatch     tools/slurm/sweep.sbatch
 *     DIR/slurm/merge.sbatch     tools/slurm/merge.sbatch
 *     DIR/slurm/submitted.json   the cut and the jobs, for `spotter status` and for submitting again
 *     DIR/slurm/JOB_TASK.log     what a task printed
 *
 * The scripts take everything from their command line, so they are copied as they are. What is submitted again has the cut that
 * it had, and consists of the shards of which an EC is missing. */
#define _XOPEN_SOURCE 700
#include "cli/submit.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_tree.h"
#include "cli/shell.h"
#include "spotter/work.h"
#include "spotter/store.h"

enum { SHARDS = 0x200, MINUTES, THROTTLE, PARTITION, GPUS, SBATCH, DRY_RUN, SUBMIT };

static const struct argp_option table[] = {
    { NULL,            0,         NULL,      0, "By Slurm:", 2 },
    { "submit",        SUBMIT,    NULL,      0, "hand it to Slurm, as an array of jobs; again: what is missing of it", 2 },
    { "shards",        SHARDS,    "N",       0, "how many tasks the array has; else as many as take --task-minutes each, by a "
                                                "calibration on this machine", 2 },
    { "task-minutes",  MINUTES,   "N",       0, "how long a task is to take (40); Slurm is told three times that", 2 },
    { "throttle",      THROTTLE,  "N",       0, "at most N tasks at a time", 2 },
    { "partition",     PARTITION, "NAME",    0, "Slurm's partition", 2 },
    { "gpus-per-task", GPUS,      "N",       0, "GPUs of one node for each task, a process a GPU", 2 },
    { "sbatch",        SBATCH,    "OPTIONS", 0, "more options for sbatch: --sbatch '--account=x --mem=16G'", 2 },
    { "dry-run",       DRY_RUN,   NULL,      0, "write the scripts and print the commands, and submit nothing", 2 },
    { 0 }
};

static error_t option(int key, char *arg, struct argp_state *state)
{
    cli_array *o = state->input;

    switch (key) {
    case SUBMIT:    o->submit = true; return 0;
    case SHARDS:    o->shards = cli_number(state, "--shards", arg, 1, 1000000); return 0;
    case MINUTES:   o->minutes = cli_number(state, "--task-minutes", arg, 1, 10000); return 0;
    case THROTTLE:  o->throttle = cli_number(state, "--throttle", arg, 1, 1000000); return 0;
    case GPUS:      o->gpus = cli_number(state, "--gpus-per-task", arg, 1, 64); return 0;
    case PARTITION: o->partition = arg; return 0;
    case SBATCH:    o->extra = arg; return 0;
    case DRY_RUN:   o->dry_run = true; return 0;
    case ARGP_KEY_END:
        if (!o->submit && (o->shards || o->throttle || o->gpus || o->partition || o->extra || o->dry_run))
            argp_error(state, "--shards, --throttle, --partition, --gpus-per-task, --sbatch and --dry-run go with --submit");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_array_argp = { table, option, NULL, NULL, NULL, NULL, NULL };

/* What was submitted of a directory: DIR/slurm/submitted.json. */
typedef struct {
    int  tasks, shards, ecs;           /* shards: tasks times the processes of one */
    char job[32], merge_job[32];       /* "": none */
} record;

typedef struct {
    const cli_array *o;
    const spot_config *cfg;
    const spot_sweep_options *sweep;
    const cli_machine *machine;
    char   dir[PATH_MAX], program[PATH_MAX];
    record before, now;
    bool  *missing;                    /* (cfg->ecs) */
    double seconds;                    /* of the whole sweep; NaN: not calibrated */
    size_t memory;
} submission;

static void describe(spot_json *j, record *r)
{
    int schema = 1;

    spot_json_int(j, "schema", &schema);
    spot_json_int(j, "tasks", &r->tasks);
    spot_json_int(j, "shards", &r->shards);
    spot_json_int(j, "ecs", &r->ecs);
    spot_json_text(j, "job", r->job, sizeof r->job);
    spot_json_text(j, "merge_job", r->merge_job, sizeof r->merge_job);
}

static spot_status write_record(spot_ctx *c, submission *b)
{
    spot_json j = { .gen = yajl_gen_alloc(NULL) };
    const unsigned char *text;
    char path[PATH_MAX + 32];
    spot_status s;
    size_t n;

    if (!j.gen) return spot_fail(c, SPOT_NOMEM, "no memory to write down what was submitted");
    snprintf(path, sizeof path, "%s/slurm/submitted.json", b->dir);
    spot_json_object(&j, NULL);
    describe(&j, &b->now);
    spot_json_end(&j);
    yajl_gen_reset(j.gen, "\n");
    yajl_gen_get_buf(j.gen, &text, &n);
    s = spot_file_write(c, path, text, n);
    yajl_gen_free(j.gen);
    return s;
}

/* What was submitted before, if anything was, and that it is over: twice the same array would do everything twice. */
static spot_status look_back(spot_ctx *c, submission *b)
{
    char path[PATH_MAX + 32], line[128];
    spot_json j = { .depth = 1 };
    unsigned char *text;
    shell_command k = { .n = 0 };
    size_t n;

    snprintf(path, sizeof path, "%s/slurm/submitted.json", b->dir);
    if (access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_file_read(c, path, &text, &n, 1 << 20));
    j.at[0] = spot_tree_parse((char *)text, n, NULL, 0);
    describe(&j, &b->before);
    yajl_tree_free(j.at[0]);
    free(text);
    if (j.wrong || b->before.tasks < 1)
        return spot_fail(c, SPOT_INPUT, "%s does not say what was submitted (\"%s\"); remove it, and all shards with something "
                         "missing are submitted", path, j.wrong ? j.wrong : "tasks");
    shell_add(&k, "squeue -h -o %%i");
    shell_word(&k, "-j ", b->before.job);
    shell_add(&k, " 2>/dev/null");           /* of a job that Slurm has forgotten it complains */
    shell_ask(line, sizeof line, k.text);
    if (!*line || b->o->dry_run) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "job %s of %s is still in the queue; wait for it, or end it with scancel %s", b->before.job,
                     b->dir, b->before.job);
}

static int most_tasks(spot_ctx *c)
{
    char line[256];

    shell_ask(line, sizeof line, "scontrol show config 2>/dev/null | sed -n 's/^MaxArraySize *= *//p'");
    if (atoi(line) > 0) return atoi(line);
    spot_log(c, SPOT_LOG_WARN, "scontrol does not say how long an array may be here (MaxArraySize); taking Slurm's 1001");
    return 1001;
}

static spot_status reckon(spot_ctx *c, submission *b)
{
    spot_sweep_cost cost;

    if (b->o->gpus && !c->device)
        return spot_fail(c, SPOT_USAGE, "there is no GPU here to time the sweep on; say --shards N, or see on such a node what "
                         "`spotter plan` says");
    spot_log(c, SPOT_LOG_INFO, "timing a few batches on %s, %d thread%s; --shards N leaves this out", spot_ctx_device_name(c),
             c->threads, c->threads == 1 ? "" : "s");
    SPOT_TRY(spot_sweep_cost_of(c, b->cfg, b->sweep, &cost, true));
    b->seconds = cost.seconds;
    b->memory = cost.memory;
    return SPOT_OK;
}

/* How many tasks: as said, as before, or as the time tells; no more than Slurm allows and no more than there are ECs. */
static spot_status cut(spot_ctx *c, submission *b)
{
    int most = most_tasks(c), processes = b->o->gpus ? b->o->gpus : 1, n = b->o->shards;
    char all[32], each[32];

    b->seconds = NAN;
    if (!n && b->before.ecs == b->now.ecs) n = b->before.tasks;
    if (!n) {
        SPOT_TRY(reckon(c, b));
        n = (int)fmin(1e6, ceil(b->seconds / (60.0 * b->o->minutes * processes)));
    }
    if (n > most) {
        spot_log(c, SPOT_LOG_WARN, "an array may have %d tasks here; %d instead of %d shards", most, most, n);
        n = most;
    }
    if (n > (b->now.ecs - 1) / processes + 1) n = (b->now.ecs - 1) / processes + 1;
    b->now.tasks = n < 1 ? 1 : n;
    b->now.shards = b->now.tasks * processes;
    if (isfinite(b->seconds))
        spot_log(c, SPOT_LOG_INFO, "%s in all on this machine: tasks of %s, with %.1f GB of memory each",
                 cli_duration(all, b->seconds), cli_duration(each, b->seconds / b->now.shards),
                 (double)b->memory / 1e9 * processes);
    return SPOT_OK;
}

/* Adds the tasks whose shard lacks an EC as sbatch takes them, "0-3,7"; returns how many these are. */
static int add_tasks(shell_command *k, const submission *b)
{
    int count = 0, first = -1, runs = 0;

    for (int i = 0; i <= b->now.tasks; i++) {
        bool lacks = false;
        int from = 0, to = 0;
        if (i < b->now.tasks) spot_shard_range(&from, &to, i, b->now.tasks, b->now.ecs);
        while (from < to) lacks |= b->missing[from++];
        count += lacks;
        if (lacks && first < 0) first = i;
        if (lacks || first < 0) continue;
        shell_add(k, first < i - 1 ? "%s%d-%d" : "%s%d", runs++ ? "," : "", first, i - 1);
        first = -1;
    }
    return count;
}

/* What the array and the merge have in common: where they print to, and behind options of their own the script with the
 * command of ours that it runs. What the user says comes last and has the last word. */
static void begin(shell_command *k, const submission *b, const char *log)
{
    char path[PATH_MAX + 32];

    k->n = k->full = 0;
    shell_add(k, "sbatch --parsable");
    snprintf(path, sizeof path, "%s/slurm/%s.log", b->dir, log);
    shell_word(k, "--output=", path);
}

static void end(shell_command *k, const submission *b, const char *script, const char *name)
{
    char path[PATH_MAX + 32];

    if (b->o->partition) shell_word(k, "--partition=", b->o->partition);
    if (b->o->extra) shell_add(k, " %s", b->o->extra);
    snprintf(path, sizeof path, "%s/slurm/%s", b->dir, script);
    shell_word(k, "", path);
    shell_word(k, "", b->program);
    shell_add(k, " %s", name);
}

static int array_command(shell_command *k, const spot_ctx *c, const submission *b)
{
    const spot_sweep_options *w = b->sweep;
    char path[PATH_MAX + 32];
    int count;

    begin(k, b, "%A_%a");
    shell_add(k, " --array=");
    count = add_tasks(k, b);
    if (b->o->throttle) shell_add(k, "%%%d", b->o->throttle);
    shell_add(k, " --cpus-per-task=%d --time=%d", c->threads, 3 * b->o->minutes);
    if (b->o->gpus) shell_add(k, " --ntasks=%d --gpus-per-task=1", b->o->gpus);
    end(k, b, "array.sbatch", "sweep");
    snprintf(path, sizeof path, "%s/config.yaml", b->dir);
    shell_word(k, "", path);
    shell_word(k, "--out ", b->dir);
    shell_add(k, " --shard auto/%d --limit %d --threads %d", b->now.tasks, b->now.ecs, c->threads);
    if (b->o->gpus || b->machine->device) shell_add(k, " --device %s", b->o->gpus ? "cuda" : b->machine->device);
    if (b->machine->log_json) shell_add(k, " --log json");
    if (!w->pictures) shell_add(k, " --no-pictures");
    if (w->keep) shell_add(k, " --keep %s", cli_kept[w->keep]);
    if (w->wave) shell_add(k, " --wave %d", w->wave);
    if (w->at_once) shell_add(k, " --at-once %d", w->at_once);
    shell_add(k, " --starts %d", w->starts);
    return count;
}

static void merge_command(shell_command *k, const submission *b)
{
    begin(k, b, "%j");
    shell_add(k, " --dependency=afterany:%s", *b->now.job ? b->now.job : "JOB");
    end(k, b, "merge.sbatch", "merge");
    shell_word(k, "", b->dir);
    if (!b->sweep->pictures) shell_add(k, " --no-pictures");
}

/* sbatch answers with the job, and on some sites with its cluster behind a semicolon. */
static spot_status send(spot_ctx *c, const submission *b, const shell_command *k, char *job, size_t size)
{
    char line[256];
    int code;

    if (k->full) return spot_fail(c, SPOT_USAGE, "the command for sbatch would be longer than %zu bytes; fewer --shards",
                                  sizeof k->text);
    if (b->o->dry_run) return puts(k->text), SPOT_OK;
    code = shell_ask(line, sizeof line, k->text);
    line[strcspn(line, ";")] = 0;
    if (code || !*line || line[strspn(line, "0123456789")])
        return spot_fail(c, SPOT_IO, "Slurm took no job; its reason is above. The command was: %s", k->text);
    snprintf(job, size, "%.31s", line);
    return SPOT_OK;
}

static spot_status write_scripts(spot_ctx *c, const submission *b)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/slurm", b->dir);
    SPOT_TRY(spot_folder_make(c, path));
    snprintf(path, sizeof path, "%s/slurm/array.sbatch", b->dir);
    SPOT_TRY(spot_file_write(c, path, cli_sweep_sbatch, strlen(cli_sweep_sbatch)));
    snprintf(path, sizeof path, "%s/slurm/merge.sbatch", b->dir);
    return spot_file_write(c, path, cli_merge_sbatch, strlen(cli_merge_sbatch));
}

static spot_status send_all(spot_ctx *c, submission *b)
{
    shell_command *k = malloc(sizeof *k);
    spot_status s;
    int count;

    if (!k) return spot_fail(c, SPOT_NOMEM, "no memory for a command");
    count = array_command(k, c, b);
    s = count ? write_scripts(c, b) : SPOT_OK;
    if (count && s == SPOT_OK) s = send(c, b, k, b->now.job, sizeof b->now.job);
    if (count && s == SPOT_OK && !b->o->dry_run) s = write_record(c, b);       /* whatever becomes of the merge */
    merge_command(k, b);
    if (count && s == SPOT_OK) s = send(c, b, k, b->now.merge_job, sizeof b->now.merge_job);
    if (count && s == SPOT_OK && !b->o->dry_run) s = write_record(c, b);
    free(k);
    SPOT_TRY(s);
    if (!count) {
        spot_log(c, SPOT_LOG_INFO, "%d of %d ECs of %s are done; nothing to submit", b->now.ecs, b->now.ecs, b->dir);
    } else if (!b->o->dry_run) {
        spot_log(c, SPOT_LOG_INFO, "job %s: %d of %d shards of %d ECs; job %s verifies and merges when it has ended",
                 b->now.job, count, b->now.tasks, b->now.ecs, b->now.merge_job);
        spot_log(c, SPOT_LOG_INFO, "how it stands: spotter status %s", b->sweep->out);
        spot_log(c, SPOT_LOG_INFO, "to stop it: scancel %s %s; what is done stays done", b->now.job, b->now.merge_job);
    }
    return SPOT_OK;
}

static spot_status find_slurm(spot_ctx *c, const submission *b)
{
    char line[PATH_MAX];

    if (b->o->dry_run || !shell_ask(line, sizeof line, "command -v sbatch")) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "there is no sbatch here, so no Slurm to submit to; --dry-run shows what would be "
                     "submitted, and without --submit the sweep runs on this machine");
}

/* The program and the directory by names that mean the same on every node, if they share the file system. */
static spot_status find_names(spot_ctx *c, submission *b)
{
    ssize_t n = readlink("/proc/self/exe", b->program, sizeof b->program - 1);

    if (n < 0) return spot_fail(c, SPOT_IO, "cannot tell where this program lies (/proc/self/exe): %s", strerror(errno));
    b->program[n] = 0;
    if (!realpath(b->sweep->out, b->dir))
        return spot_fail(c, SPOT_IO, "cannot find %s: %s", b->sweep->out, strerror(errno));
    return SPOT_OK;
}

spot_status cli_submit(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *sweep, const cli_array *o,
                       const cli_machine *machine)
{
    submission *b = calloc(1, sizeof *b);
    spot_status s;

    if (b) b->missing = calloc((size_t)cfg->ecs + 1, sizeof *b->missing);
    if (!b || !b->missing) {
        free(b);
        return spot_fail(c, SPOT_NOMEM, "no memory to cut a sweep of %d ECs", cfg->ecs);
    }
    b->o = o;
    b->cfg = cfg;
    b->sweep = sweep;
    b->machine = machine;
    b->now.ecs = sweep->limit && sweep->limit < cfg->ecs ? sweep->limit : cfg->ecs;
    s = find_slurm(c, b);
    if (s == SPOT_OK) s = spot_sweep_missing(c, cfg, sweep, b->missing);
    if (s == SPOT_OK) s = find_names(c, b);
    if (s == SPOT_OK) s = look_back(c, b);
    if (s == SPOT_OK) s = cut(c, b);
    if (s == SPOT_OK) s = send_all(c, b);
    free(b->missing);
    free(b);
    return s;
}
