/* submit.c - spotter sweep --submit.
 *
 *     DIR/config.yaml            the resolved config, which the jobs read: the user's file may change or vanish
 *     DIR/slurm/array.sbatch     tools/slurm/sweep.sbatch
 *     DIR/slurm/merge.sbatch     tools/slurm/merge.sbatch
 *     DIR/slurm/submitted.json   shards and jobs, for `spotter status` and for submitting again
 *     DIR/slurm/JOB_TASK.log     output of a task
 *
 * The scripts are copied without changes: they take everything from their command line. Submitting again keeps the number of
 * shards, and submits those that miss an EC. */
#define _XOPEN_SOURCE 700
#include "cli/submit.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_tree.h"
#include "base/quote.h"
#include "cli/embedded.h"
#include "cli/shell.h"
#include "spotter/work.h"
#include "store/store.h"

/* DIR/slurm/submitted.json. */
typedef struct {
    int  tasks, shards, ecs;           /* shards: tasks times the processes of one */
    char job[32], merge_job[32];       /* "": none */
} record;

typedef struct {
    const cli_array *o;
    const spot_config *cfg;
    const spot_sweep_options *sweep;
    const cli_given *given;
    char   dir[PATH_MAX], program[PATH_MAX];
    record before, now;
    bool  *missing;                    /* (cfg->ecs) */
    double seconds;                    /* time of the whole sweep; NaN: not calibrated */
    size_t memory;
} submission;

static void describe_record(spot_json *j, record *r)
{
    spot_json_int(j, "schema", &(int){ 1 });
    spot_json_int(j, "tasks", &r->tasks);
    spot_json_int(j, "shards", &r->shards);
    spot_json_int(j, "ecs", &r->ecs);
    spot_json_text(j, "job", r->job, sizeof r->job);
    spot_json_text(j, "merge_job", r->merge_job, sizeof r->merge_job);
}

static spot_status write_record(spot_ctx *c, submission *b)
{
    char path[PATH_MAX + 32];
    spot_json j;
    spot_status s;

    SPOT_TRY(spot_json_begin(c, &j, NULL));
    snprintf(path, sizeof path, "%s/slurm/submitted.json", b->dir);
    spot_json_object(&j, NULL);
    describe_record(&j, &b->now);
    spot_json_end(&j);
    yajl_gen_reset(j.gen, "\n");
    s = spot_json_whole(c, &j, path);
    if (s == SPOT_OK) s = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}

/* Refuses while the previous array is in the queue: a second one would do the same work again. */
static spot_status read_record(spot_ctx *c, submission *b)
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
    describe_record(&j, &b->before);
    yajl_tree_free(j.at[0]);
    free(text);
    if (j.wrong || b->before.tasks < 1)
        return spot_fail(c, SPOT_INPUT, "%s is not a record of submitted jobs (\"%s\"); remove it to submit all shards that "
                         "miss an EC", path, j.wrong ? j.wrong : "tasks");
    shell_add(&k, "squeue -h -o %%i");
    shell_word(&k, "-j ", b->before.job);
    shell_add(&k, " 2>/dev/null");           /* squeue prints an error for a job that Slurm has forgotten */
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
    spot_log(c, SPOT_LOG_WARN, "scontrol reports no MaxArraySize; Slurm's default of 1001 tasks is assumed");
    return 1001;
}

static spot_status estimate_time(spot_ctx *c, submission *b)
{
    spot_sweep_cost cost;

    if (b->o->gpus && !c->device)
        return spot_fail(c, SPOT_USAGE, "no GPU on this machine, so the sweep cannot be timed; give --shards N, or run "
                         "`spotter plan` on a node with a GPU");
    spot_log(c, SPOT_LOG_INFO, "timing a few batches on %s, %d thread%s; --shards N skips this", spot_ctx_device_name(c),
             c->threads, c->threads == 1 ? "" : "s");
    SPOT_TRY(spot_sweep_cost_of(c, b->cfg, b->sweep, &cost, true));
    b->seconds = cost.seconds;
    b->memory = cost.memory;
    return SPOT_OK;
}

/* The number of tasks: --shards, or the previous array's, or from the time; at most MaxArraySize, and at most the ECs. */
static spot_status cut_sweep(spot_ctx *c, submission *b)
{
    int most = most_tasks(c), processes = b->o->gpus ? b->o->gpus : 1, n = b->o->shards;
    char all[32], each[32];

    b->seconds = NAN;
    if (!n && b->before.ecs == b->now.ecs) n = b->before.tasks;
    if (!n) {
        SPOT_TRY(estimate_time(c, b));
        n = (int)fmin(1e6, ceil(b->seconds / (60.0 * b->o->minutes * processes)));
    }
    if (n > most) {
        spot_log(c, SPOT_LOG_WARN, "Slurm allows arrays of %d tasks here; %d shards instead of %d", most, most, n);
        n = most;
    }
    if (n > (b->now.ecs - 1) / processes + 1) n = (b->now.ecs - 1) / processes + 1;
    b->now.tasks = n < 1 ? 1 : n;
    b->now.shards = b->now.tasks * processes;
    if (isfinite(b->seconds))
        spot_log(c, SPOT_LOG_INFO, "%s in all on this machine: tasks of %s with %.1f GB of memory each",
                 cli_duration(all, b->seconds), cli_duration(each, b->seconds / b->now.shards),
                 (double)b->memory / 1e9 * processes);
    return SPOT_OK;
}

/* Adds the tasks whose shard lacks an EC, in sbatch's form "0-3,7"; returns their number. */
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

/* begin and end: the parts that array and merge share: the log, the user's options, the script and its command. The user's
 * options come last, so they count. */
static void begin_sbatch(shell_command *k, const submission *b, const char *log)
{
    char path[2 * PATH_MAX + 64];
    size_t n = 0;

    k->n = k->full = 0;
    shell_add(k, "sbatch --parsable");
    for (const char *p = b->dir; *p; p++) {                /* Slurm replaces % and a letter */
        if (*p == '%') path[n++] = '%';
        path[n++] = *p;
    }
    snprintf(path + n, sizeof path - n, "/slurm/%s.log", log);
    shell_word(k, "--output=", path);
}

static void end_sbatch(shell_command *k, const submission *b, const char *script, const char *name)
{
    char path[PATH_MAX + 32];

    if (b->o->partition) shell_word(k, "--partition=", b->o->partition);
    if (b->o->extra) shell_add(k, " %s", b->o->extra);
    snprintf(path, sizeof path, "%s/slurm/%s", b->dir, script);
    shell_word(k, "", path);
    shell_word(k, "", b->program);
    shell_add(k, " %s", name);
}

/* Adds the user's options of `spotter sweep`, without those that the array itself sets. */
static void forward_options(shell_command *k, const cli_given *given)
{
    for (const cli_row *row = given->command->rows; row->kind; row++) {
        const char *word = given->word[row - given->command->rows];
        if (!row->name || !word || row->flags & (CLI_STAYS | CLI_SUBMIT)) continue;
        shell_add(k, " --%s", row->name);
        if (row->word) shell_word(k, "", word);
    }
}

static int array_command(shell_command *k, const spot_ctx *c, const submission *b)
{
    char path[PATH_MAX + 32];
    int count;

    begin_sbatch(k, b, "%A_%a");
    shell_add(k, " --array=");
    count = add_tasks(k, b);
    if (b->o->throttle) shell_add(k, "%%%d", b->o->throttle);
    shell_add(k, " --cpus-per-task=%d --time=%d", c->threads, 3 * b->o->minutes);
    if (b->o->gpus) shell_add(k, " --ntasks=%d --gpus-per-task=1", b->o->gpus);
    end_sbatch(k, b, "array.sbatch", "sweep");
    snprintf(path, sizeof path, "%s/config.yaml", b->dir);
    shell_word(k, "", path);
    shell_word(k, "--out ", b->dir);
    shell_add(k, " --shard auto/%d --limit %d --threads %d", b->now.tasks, b->now.ecs, c->threads);
    forward_options(k, b->given);
    if (b->o->gpus) shell_add(k, " --device cuda");            /* the last --device counts */
    return count;
}

static void merge_command(shell_command *k, const submission *b)
{
    begin_sbatch(k, b, "%j");
    shell_add(k, " --dependency=afterany:%s", *b->now.job ? b->now.job : "JOB");
    end_sbatch(k, b, "merge.sbatch", "merge");
    shell_word(k, "", b->dir);
    if (!b->sweep->pictures) shell_add(k, " --no-pictures");
}

/* sbatch prints the job's number; on some sites a semicolon and the cluster follow. */
static spot_status send_job(spot_ctx *c, const submission *b, const shell_command *k, char *job, size_t size)
{
    char line[256];
    int code;

    if (k->full) return spot_fail(c, SPOT_USAGE, "the command for sbatch would be longer than %zu bytes; fewer --shards",
                                  sizeof k->text);
    if (b->o->dry_run) return puts(k->text), SPOT_OK;
    code = shell_ask(line, sizeof line, k->text);
    line[strcspn(line, ";")] = 0;
    if (code || !*line || line[strspn(line, "0123456789")])
        return spot_fail(c, SPOT_IO, "Slurm refused the job; its reason is above. The command was: %s", k->text);
    snprintf(job, size, "%.31s", line);
    return SPOT_OK;
}

static spot_status write_scripts(spot_ctx *c, const submission *b)
{
    char path[PATH_MAX + 32], byte;

    snprintf(path, sizeof path, "%s/slurm", b->dir);
    SPOT_TRY(spot_folder_make(c, path));
    if (readlink(path, &byte, 1) >= 0)
        return spot_fail(c, SPOT_INPUT, "{run.link} %s is a symbolic link, which may lead out of the run; put a folder in its "
                         "place", path);
    snprintf(path, sizeof path, "%s/slurm/array.sbatch", b->dir);
    SPOT_TRY(spot_file_write(c, path, cli_sweep_sbatch, cli_sweep_sbatch_size));
    snprintf(path, sizeof path, "%s/slurm/merge.sbatch", b->dir);
    return spot_file_write(c, path, cli_merge_sbatch, cli_merge_sbatch_size);
}

static spot_status send_all(spot_ctx *c, submission *b)
{
    shell_command *k = malloc(sizeof *k);
    spot_quoted quoted;
    spot_status s;
    int count;

    if (!k) return spot_fail(c, SPOT_NOMEM, "no memory for a command");
    count = array_command(k, c, b);
    s = count ? write_scripts(c, b) : SPOT_OK;
    if (count && s == SPOT_OK) s = send_job(c, b, k, b->now.job, sizeof b->now.job);
    if (count && s == SPOT_OK && !b->o->dry_run) s = write_record(c, b);       /* also if the merge is refused */
    merge_command(k, b);
    if (count && s == SPOT_OK) s = send_job(c, b, k, b->now.merge_job, sizeof b->now.merge_job);
    if (count && s == SPOT_OK && !b->o->dry_run) s = write_record(c, b);
    free(k);
    SPOT_TRY(s);
    if (!count) {
        spot_log(c, SPOT_LOG_INFO, "%d of %d ECs of %s are done; nothing to submit", b->now.ecs, b->now.ecs, b->dir);
    } else if (!b->o->dry_run) {
        spot_log(c, SPOT_LOG_INFO, "job %s: %d of %d shards of %d ECs; job %s verifies and merges at the end",
                 b->now.job, count, b->now.tasks, b->now.ecs, b->now.merge_job);
        spot_log(c, SPOT_LOG_INFO, "state: %s status %s", cli_program, spot_quote(quoted, b->sweep->place.out));
        spot_log(c, SPOT_LOG_INFO, "to stop: scancel %s %s; finished ECs are kept", b->now.job, b->now.merge_job);
    }
    return SPOT_OK;
}

static spot_status find_slurm(spot_ctx *c, const submission *b)
{
    char line[PATH_MAX];

    if (b->o->dry_run || !shell_ask(line, sizeof line, "command -v sbatch")) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "there is no sbatch here, so no Slurm to submit to; --dry-run prints the commands, and "
                     "without --submit the sweep runs on this machine");
}

/* Absolute names of the program and the directory: nodes that share the file system find them. */
static spot_status find_names(spot_ctx *c, submission *b)
{
    ssize_t n = readlink("/proc/self/exe", b->program, sizeof b->program - 1);

    if (n < 0) return spot_fail(c, SPOT_IO, "cannot find this program's file (/proc/self/exe): %s", strerror(errno));
    b->program[n] = 0;
    if (!realpath(b->sweep->place.out, b->dir))
        return spot_fail(c, SPOT_IO, "cannot find %s: %s", b->sweep->place.out, strerror(errno));
    return SPOT_OK;
}

spot_status cli_submit(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *sweep, const cli_array *o,
                       const cli_given *given)
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
    b->given = given;
    b->now.ecs = sweep->limit && sweep->limit < cfg->ecs ? sweep->limit : cfg->ecs;
    s = find_slurm(c, b);
    if (s == SPOT_OK) s = spot_sweep_missing(c, cfg, sweep, b->missing);
    if (s == SPOT_OK) s = find_names(c, b);
    if (s == SPOT_OK) s = read_record(c, b);
    if (s == SPOT_OK) s = cut_sweep(c, b);
    if (s == SPOT_OK) s = send_all(c, b);
    free(b->missing);
    free(b);
    return s;
}
